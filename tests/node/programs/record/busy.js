// A call graph that is known: main runs outer > middle > hot, a method, a callback of sort, a package; a worker runs inWorker. SPDX-License-Identifier: MIT
const fs = require('fs');
const { Worker, isMainThread, workerData } = require('worker_threads');
const { burn } = require('burner');

function hot(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) sum += Math.sqrt(i) * (i % 7);
	return sum;
}
function middle(n) {
	return hot(n) + 1;
}
function outer(n) {
	return middle(n) + 1;
}
class Ledger {
	balance(n) {
		let s = '';
		for (let i = 0; i < n; i++) s = JSON.stringify({ s: String(i), n: [i, i + 1] });
		return s;
	}
}
function sorting() {
	const list = [];
	for (let i = 0; i < 4000; i++) list.push((i * 7919) % 4003);
	return list.sort(function byValue(a, b) {
		return a < b ? -1 : a > b ? 1 : 0;
	});
}
function reading() {
	const fd = fs.openSync('/dev/zero', 'r'), buffer = Buffer.alloc(1 << 20);
	for (let i = 0; i < 5; i++) fs.readSync(fd, buffer);
	fs.closeSync(fd);
}

if (isMainThread) {
	const workers = Number(process.argv[2] ?? 1), ledger = new Ledger();
	for (let i = 0; i < workers; i++) new Worker(__filename, { name: 'cruncher', workerData: i });
	setInterval(function tick() {
		const end = Date.now() + 20;
		while (Date.now() < end) {
			outer(200000);
			ledger.balance(500);
			sorting();
			burn(100000);
			reading();
		}
	}, 25);
	setTimeout(() => console.log(JSON.stringify({ pid: process.pid })), 200);
} else {
	setInterval(function inWorker() {
		const end = Date.now() + 20;
		while (Date.now() < end) outer(5000 + workerData);
	}, 25);
}
