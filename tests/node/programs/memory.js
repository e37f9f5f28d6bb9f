// Fills every kind of memory that `noderay maps` tells apart, in the main thread and in a worker, prints what
// V8 and node say of it, and then holds still. SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const v8 = require('v8');
const { Worker, isMainThread, parentPort, threadId } = require('worker_threads');

const keep = (globalThis.keep = []);

function fillHeap(count) {
	for (let i = 0; i < count; i++) keep.push({ i, text: 'text ' + i, list: [i, i + 1] });
	keep.push(new Array(300000).fill(1), new Array(200000).fill({})); // large objects
}

function compile() {
	const hot = new Function('a', 'let s = 0; for (let i = 0; i < 20000; i++) s += a[i % a.length] * i; return s;');
	for (let i = 0; i < 50; i++) hot([1, 2, 3]);
	keep.push(hot);
}

function fillOutside() {
	const buffer = new ArrayBuffer(8 << 20);
	new Uint8Array(buffer).fill(1);
	keep.push(buffer, Buffer.alloc(3 << 20, 1));
	if (!isMainThread) return;
	const memory = new WebAssembly.Memory({ initial: 10 });
	new Uint8Array(memory.buffer).fill(3);
	keep.push(memory);
}

function report() {
	const spaces = {};
	for (const s of v8.getHeapSpaceStatistics()) spaces[s.space_name.replace(/_space$/, '')] = s.space_size;
	return { threadId, spaces, memory: process.memoryUsage() };
}

function hold() {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

fillHeap(isMainThread ? 100000 : 30000);
compile();
fillOutside();
if (isMainThread) {
	const worker = new Worker(__filename);
	worker.on('message', (other) => {
		fs.writeSync(1, JSON.stringify({ pid: process.pid, main: report(), worker: other }) + '\n');
		hold();
	});
} else {
	parentPort.postMessage(report());
	hold();
}
