// hot.js - a program whose hottest functions are known. SPDX-License-Identifier: MIT
//
//   node hot.js [worker]
//
// The main thread is in spin() most of the time, called by burst() from a timer; with `worker` a worker named "miller" is in grind(). Both make some garbage.
'use strict';
const { Worker, isMainThread } = require('worker_threads');

function spin(ms) {
	const end = Date.now() + ms;
	let x = 1;
	while (Date.now() < end) for (let i = 0; i < 20000; i++) x = (x * 16807 + i) % 2147483647;
	return x;
}

function garbage() {
	const list = [];
	for (let i = 0; i < 2000; i++) list.push({ i, text: `item ${i}` });
	return list.length;
}

function burst() {
	garbage();
	return spin(60);
}

function grind() {
	garbage();
	return spin(20);
}

if (isMainThread) {
	setInterval(burst, 80);
	if (process.argv[2] === 'worker') new Worker(__filename, { name: 'miller' });
	console.log('ready');
} else {
	setInterval(grind, 80);
}
