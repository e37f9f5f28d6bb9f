// Workers that live for a few milliseconds, one after the other: their heaps come and go, and are collected all the time.
'use strict';
const { Worker, isMainThread } = require('worker_threads');

if (isMainThread) {
	const next = () => new Worker(__filename).on('exit', next);
	for (let i = 0; i < 3; i++) next();
	console.log(JSON.stringify({ ready: true }));
} else {
	let sum = 0;
	for (let i = 0; i < 1e6; i++) sum += i;
}
