// loop.js - holds up its event loop for known times, in every phase, by functions with names. SPDX-License-Identifier: MIT
//
//   node loop.js [MS]         how long each block is at least; 120 if not given
//
// A record: phase (of libuv's loop), culprit (the function that ran), how (cpu, or what it waited in), min_ms, start_ms
// (CLOCK_MONOTONIC), pid, tid. All else that the program does takes a small part of that.
'use strict';
const { execFileSync } = require('child_process');
const fs = require('fs');
const net = require('net');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const { note, noted, now, once, pause, serve, tid } = require('./common.js');

const length = Number(isMainThread ? process.argv[2] ?? 120 : workerData);
const cell = new Int32Array(new SharedArrayBuffer(4));

function spin(ms) {
	for (const end = now() + ms; now() < end; );
}
const waits = {
	cpu: spin,
	wait: (ms) => Atomics.wait(cell, 0, 0, ms),
	exec: (ms) => execFileSync('sleep', [ms / 1000]),
	// Reading is of the same kind, and can take its time: all of /proc/self is made when it is read.
	fs: (ms) => {
		for (const end = now() + ms; now() < end; ) fs.readFileSync('/proc/self/smaps');
	},
};

/** Blocks, and notes it. It is called by a function that has the culprit's name. */
function block(phase, culprit, how = 'cpu') {
	const start = now();
	waits[how](length);
	note({ phase, culprit, how, pid: process.pid, tid: tid(), start_ms: start, min_ms: now() - start });
}

/** Each gets a callback that it calls when it has blocked. */
const blocks = {
	timer(done) {
		setTimeout(function spinInTimer() {
			block('timers', 'spinInTimer');
			done();
		}, 1);
	},
	immediate(done) {
		setImmediate(function spinInImmediate() {
			block('check', 'spinInImmediate');
			done();
		});
	},
	socket(done) {
		const server = net.createServer((socket) => {
			socket.on('data', function spinInSocket() {
				block('poll', 'spinInSocket');
				socket.destroy();
				server.close(done);
			});
		});
		server.listen(0, '127.0.0.1', () => net.connect(server.address().port, '127.0.0.1').on('error', () => {}).write('x'));
	},
	nextTick(done) {
		setTimeout(() => process.nextTick(function spinInTick() {
			block('timers', 'spinInTick');
			done();
		}), 1);
	},
	microtask(done) {
		setImmediate(() => Promise.resolve().then(function spinInPromise() {
			block('check', 'spinInPromise');
			done();
		}));
	},
	pool(done) {
		fs.stat('/', function spinAfterStat() {
			block('poll', 'spinAfterStat');
			done();
		});
	},
	closing(done) { // of a server it would be the next tick
		const server = net.createServer().listen(0, '127.0.0.1', () => {
			const socket = net.connect(server.address().port, '127.0.0.1', () => socket.destroy());
			socket.on('close', function spinInClose() {
				block('closing', 'spinInClose');
				server.close(done);
			});
		});
	},
	wait(done) {
		setTimeout(function waitInTimer() {
			block('timers', 'waitInTimer', 'wait');
			done();
		}, 1);
	},
	exec(done) {
		setImmediate(function execInImmediate() {
			block('check', 'execInImmediate', 'exec');
			done();
		});
	},
	files(done) {
		setTimeout(function readInTimer() {
			block('timers', 'readInTimer', 'fs');
			done();
		}, 1);
	},
};

async function go() {
	for (const begin of Object.values(blocks)) {
		await new Promise((resolve) => begin(resolve));
		await pause(5); // a turn of its own
	}
}

async function inWorker() {
	const worker = new Worker(__filename, { workerData: length });
	noted.push(...(await once(worker, 'message'))); // it lives on: who looks late finds its functions still there
}

if (isMainThread) {
	serve({
		ready: { length },
		beacon: () => new Promise((resolve) => setTimeout(function beacon() {
			spin(length);
			resolve();
		}, 1)),
		go: async () => {
			await go();
			await inWorker();
		},
	});
} else {
	const some = { timer: blocks.timer, immediate: blocks.immediate };
	(async () => {
		for (const begin of Object.values(some)) await new Promise((resolve) => begin(resolve));
		parentPort.postMessage(noted);
		setInterval(() => {}, 60_000);
	})();
}
