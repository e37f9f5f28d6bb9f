// common.js - what the programs of this directory share: they wait until a tracer is there, do things that they know,
// and print what they did, a JSON object a line. SPDX-License-Identifier: MIT
//
// Lines on standard input: "beacon" does a small thing that a tracer must see (so that the test knows that it is there),
// "go" does everything and prints it, "end" (or the end of input) ends the program.
// Times are milliseconds of CLOCK_MONOTONIC, which is what tracers use; `time` is seconds since the epoch.
'use strict';
const fs = require('fs');

/** Milliseconds of CLOCK_MONOTONIC. */
exports.now = () => Number(process.hrtime.bigint()) / 1e6;

// What is asked for runs on the calling thread, and each thread has this module for itself.
const tid = Number(fs.readlinkSync('/proc/thread-self').split('/').pop());
/** This thread's number in the system. */
exports.tid = () => tid;

exports.pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Lets what has come in be handled: n turns of the event loop. */
exports.turns = async (n = 1) => {
	for (let i = 0; i < n; i++) await new Promise((resolve) => setImmediate(resolve));
};

/** A promise that somebody else keeps. */
exports.later = () => {
	const later = {};
	later.promise = new Promise((resolve, reject) => Object.assign(later, { resolve, reject }));
	return later;
};

/** Waits for an event; an 'error' before it is a failure. */
exports.once = (emitter, name) =>
	new Promise((resolve, reject) => {
		const failed = (error) => {
			emitter.removeListener(name, came);
			reject(error);
		};
		const came = (...what) => {
			emitter.removeListener('error', failed);
			resolve(what[0]);
		};
		if (name !== 'error') emitter.once('error', failed);
		emitter.once(name, came);
	});

const records = [];
/** Notes one thing that was done; go() prints them all at its end, so that printing is no part of it. */
exports.note = (record) => records.push(record) && record;
exports.noted = records;

const print = (object) => process.stdout.write(`${JSON.stringify(object)}\n`);

/** The same moment by both clocks: of some tries the one that was interrupted least, when Date.now() has just changed. */
function clocks() {
	let best = { error: Infinity };
	for (let i = 0; i < 5; i++) {
		let wall = Date.now(), before = exports.now(), next;
		while ((next = Date.now()) === wall) before = exports.now();
		const error = exports.now() - before;
		if (error < best.error) best = { error, began: next / 1000, began_ms: before };
	}
	return best;
}

/** Prints `ready`, then does what standard input says. */
exports.serve = ({ ready = {}, beacon, go, end = () => {} }) => {
	let queue = Promise.resolve();
	const commands = {
		beacon,
		async go() {
			// The last beacon lies before it, also by a clock that knows milliseconds only.
			await new Promise((resolve) => setTimeout(resolve, 10));
			const { began, began_ms } = clocks();
			await go();
			for (const record of records) print(record);
			print({ done: true, began, began_ms, count: records.length });
		},
		async end() {
			await end();
			process.exit(0);
		},
	};
	const failed = (error) => {
		console.error(error);
		process.exit(1);
	};
	let rest = '';
	process.stdin.setEncoding('utf8');
	process.stdin.on('data', (text) => {
		const lines = (rest + text).split('\n');
		rest = lines.pop();
		for (const line of lines) queue = queue.then(() => commands[line]()).catch(failed);
	});
	process.stdin.on('end', () => (queue = queue.then(commands.end).catch(failed)));
	print({ pid: process.pid, tid, version: process.versions.node, ...ready });
};
