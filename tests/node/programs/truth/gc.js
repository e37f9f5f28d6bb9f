// gc.js - collects garbage of each kind, and prints what V8 told node of each collection. SPDX-License-Identifier: MIT
//
// A record: type, forced, pid, tid, start_ms (of CLOCK_MONOTONIC) and duration_ms as perf_hooks has them; for those that
// this program asked for also freed_bytes: so much of the heap at least was garbage. Flag: --expose-gc.
'use strict';
const { PerformanceObserver, performance, constants } = require('perf_hooks');
const { Worker, isMainThread, parentPort } = require('worker_threads');
const v8 = require('v8');
const { noted, now, note, once, pause, serve, tid } = require('./common.js');

const types = {
	2: 'minor-mark-sweep', // has no constant; node 16 has no such thing, and its mark-compact is 2
	[constants.NODE_PERFORMANCE_GC_MINOR]: 'scavenge', [constants.NODE_PERFORMANCE_GC_MAJOR]: 'mark-compact',
	[constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental', [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak-callbacks',
};
const origin = now() - performance.now();

function observe() {
	const observer = new PerformanceObserver((list) => {
		for (const entry of list.getEntries()) {
			const { kind, flags } = entry.detail ?? entry; // node 14 has them on the entry itself
			note({
				type: types[kind] ?? `kind ${kind}`, forced: Boolean(flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED), flags,
				pid: process.pid, tid: tid(), start_ms: origin + entry.startTime, duration_ms: entry.duration,
			});
		}
	});
	observer.observe({ entryTypes: ['gc'] });
	return observer;
}

/** The observer is told some turns of the loop later. */
async function told(type, count) {
	const found = () => noted.filter((record) => record.forced && record.type === type);
	while (found().length < count) await pause(5);
	return found()[count - 1];
}

function allocate(megabytes) {
	const kept = [];
	for (let i = 0; i < megabytes * 8; i++) kept.push(new Array(16 << 10).fill(i)); // 128 KiB each
	return kept.length;
}

function litter() { // small things that die young: V8 itself sees when it is time
	let last;
	for (let i = 0; i < 2e6; i++) last = { i, last: i % 10 ? last : null };
	return last;
}

async function collect() {
	const observer = observe();
	await pause(5);
	global.gc();
	await told('mark-compact', 1);
	allocate(20);
	const used = v8.getHeapStatistics().used_heap_size;
	global.gc();
	const freed = used - v8.getHeapStatistics().used_heap_size;
	(await told('mark-compact', 2)).freed_bytes = freed - (1 << 20); // so much may be new
	litter();
	global.gc(); // all that came before it is told before it
	await told('mark-compact', 3);
	observer.disconnect();
}

if (isMainThread) {
	serve({
		beacon: () => global.gc(),
		go: async () => {
			await collect();
			const worker = new Worker(__filename);
			const gone = once(worker, 'exit'); // may come in the same turn as the message
			noted.push(...(await once(worker, 'message')));
			await gone;
		},
	});
} else {
	collect().then(() => parentPort.postMessage(noted));
}
