'use strict';
// One thread of every kind: workers that are busy, waiting, inside node:vm and idle, and a libuv pool at work. The ready
// line says which threadId is which. With --inspect there is an inspector thread too. SPDX-License-Identifier: MIT
const { Worker, isMainThread, workerData, threadId, parentPort } = require('worker_threads');

const states = {
	busy() {
		for (;;) Math.random();
	},
	wait() {
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
	},
	vm() {
		require('vm').runInNewContext('(function spinInVm() { for (;;) Math.random(); })()', { Math });
	},
	idle() {
		setInterval(() => {}, 1e9);
	},
};

function inWorker() {
	parentPort.postMessage(threadId);
	setTimeout(states[workerData], 20);
}

function inMain() {
	const crypto = require('crypto');
	const work = () => crypto.pbkdf2('password', 'salt', 100000, 64, 'sha512', work);
	work();
	const ids = {};
	const started = (kind) => (id) => {
		ids[kind] = id;
		const ready = JSON.stringify({ pid: process.pid, ids });
		if (Object.keys(ids).length === Object.keys(states).length) setTimeout(() => console.log(ready), 200);
	};
	// Ids do not simply count the workers that run: the first one is gone by then.
	new Worker('', { eval: true }).on('exit', () => {
		for (const kind of Object.keys(states))
			new Worker(__filename, { workerData: kind, name: `the ${kind} one` }).on('message', started(kind));
	});
}

if (isMainThread) inMain();
else inWorker();
