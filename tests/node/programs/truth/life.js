// life.js - workers that come and go, timers that fire, exceptions that are thrown, an end with a known code.
// SPDX-License-Identifier: MIT
//
// A record: what (worker-start, worker-exit, timer, exception, process-exit) and what is known of it. "end" exits with 7.
'use strict';
const { Worker, isMainThread, parentPort, workerData, threadId } = require('worker_threads');
const { note, noted, now, pause, serve, tid } = require('./common.js');

function runWorker(how) {
	return new Promise((resolve) => {
		const worker = new Worker(__filename, { workerData: how });
		const record = { pid: process.pid };
		worker.on('message', (message) => Object.assign(record, message));
		worker.on('error', () => {});
		worker.on('exit', (code) => {
			note({ what: 'worker-start', ...record });
			note({ what: 'worker-exit', ...record, code });
			resolve();
		});
	});
}

async function fireTimers() {
	for (const ms of [1, 5, 20]) {
		const began = now();
		await pause(ms);
		note({ what: 'timer', timeout_ms: ms, min_ms: ms - 1, max_ms: now() - began, tid: tid() });
	}
}

function throwSome() {
	for (const message of ['first trouble', 'second trouble']) {
		try {
			(function thrower() {
				throw new TypeError(message);
			})();
		} catch (error) {
			note({ what: 'exception', type: error.name, message: error.message, culprit: 'thrower', tid: tid() });
		}
	}
}

if (isMainThread) {
	serve({
		beacon: () => pause(1),
		go: async () => {
			await runWorker('return');
			await Promise.all([runWorker('exit'), runWorker('throw')]);
			await fireTimers();
			throwSome();
			note({ what: 'process-exit', code: 7, pid: process.pid });
		},
		end: () => process.exit(7),
	});
} else {
	const throwInWorker = () => {
		try {
			throw new Error('of a worker');
		} catch { /* it was thrown */ }
	};
	parentPort.postMessage({ thread: threadId, tid: tid() });
	setTimeout(() => {
		if (workerData === 'exit') process.exit(3);
		if (workerData !== 'throw') return;
		// It ends a little later: a heap that is gone names nothing.
		setTimeout(() => process.exit(1), 100);
		throwInWorker();
	}, 5);
}
