'use strict';
// One thread of every kind: workers that are busy, waiting, inside node:vm and idle, and a libuv pool at work. The ready
// line says which threadId is which. With --inspect there is an inspector thread too. SPDX-License-Identifier: MIT
const { Worker, isMainThread, workerData, threadId, parentPort } = require('worker_threads');

// Each says so when it has got there.
const states = {
	busy(there) {
		there();
		for (;;) Math.random();
	},
	wait(there) {
		there();
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
	},
	vm(there) {
		require('vm').runInNewContext('(function spinInVm() { there(); for (;;) Math.random(); })()', { Math, there });
	},
	idle(there) {
		setInterval(() => {}, 1e9);
		there();
	},
};

function inWorker() {
	setTimeout(states[workerData], 20, () => parentPort.postMessage(threadId));
}

function inMain() {
	const crypto = require('crypto');
	const work = () => crypto.pbkdf2('password', 'salt', 100000, 64, 'sha512', work);
	work();
	const ids = {};
	const started = (kind) => (id) => {
		ids[kind] = id;
		const ready = JSON.stringify({ pid: process.pid, ids });
		if (Object.keys(ids).length === Object.keys(states).length) console.log(ready);
	};
	// Ids do not simply count the workers that run: the first one is gone by then.
	new Worker('', { eval: true }).on('exit', () => {
		for (const kind of Object.keys(states))
			new Worker(__filename, { workerData: kind, name: `the ${kind} one` }).on('message', started(kind));
	});
}

if (isMainThread) inMain();
else inWorker();
