// pool.js - gives libuv's pool more than it can do at once, of each kind, with known times in its queue.
// SPDX-License-Identifier: MIT
//
//   node pool.js DIRECTORY
//
// A record: kind (fs, dns, crypto, zlib), what, pid, tid (of the thread that asked), max_ms (asked for to called back),
// min_wait_ms (in the queue at least), min_run_ms.
'use strict';
const async_hooks = require('async_hooks');
const crypto = require('crypto');
const dns = require('dns');
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { execFileSync } = require('child_process');
const { note, noted, now, pause, serve, tid } = require('./common.js');

const at = (name) => path.join(process.argv[2], name);
const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);

function submit(kind, what, call) {
	const record = { kind, what, pid: process.pid, tid: tid() }, asked = now();
	const done = new Promise((resolve) =>
		call((error, value) => {
			record.max_ms = now() - asked;
			record.value = value;
			resolve(note(record));
		}));
	record.submitted = now();
	return done;
}

const jobs = [
	['crypto', 'pbkdf2', (done) => crypto.pbkdf2('password', 'salt', 2000, 32, 'sha256', done)],
	['crypto', 'randomBytes', (done) => crypto.randomBytes(1000, done)],
	['crypto', 'scrypt', (done) => crypto.scrypt('password', 'salt', 32, { N: 1024 }, done)],
	['fs', 'stat', (done) => fs.stat('/', done)],
	['fs', 'access', (done) => fs.access(at('missing'), done)],
	['dns', 'getaddrinfo', (done) => dns.lookup('localhost', done)],
	['dns', 'getnameinfo', (done) => dns.lookupService('127.0.0.1', 80, done)],
];

/** One gzip is one job or two, by the version of node; each tells its stream when it is done, and that is a callback. */
function gzip() {
	const ids = new Set();
	const asked = now();
	const hook = async_hooks.createHook({
		init: (id, type) => type === 'ZLIB' && ids.add(id),
		before: (id) => ids.has(id) && note({ kind: 'zlib', what: 'gzip', pid: process.pid, tid: tid(), submitted: Infinity /* later */, max_ms: now() - asked }),
	}).enable();
	return new Promise((resolve) => zlib.gzip(Buffer.alloc(1000), () => {
		hook.disable();
		resolve(noted.find((record) => record.what === 'gzip'));
	}));
}

/** Holds every thread of the pool in a pipe's open until free() is called. */
function hold() {
	const pipes = Array.from({ length: threads }, (_, i) => at(`pipe-${now()}-${i}`));
	execFileSync('mkfifo', pipes);
	const held = pipes.map((pipe) => submit('fs', 'open', (done) => fs.open(pipe, 'r', done)));
	return async () => {
		const freed = now();
		const writers = pipes.map((pipe) => fs.openSync(pipe, 'w'));
		const readers = await Promise.all(held);
		for (const fd of [...writers, ...readers.map((record) => record.value)]) fs.closeSync(fd);
		return freed;
	};
}

async function go() {
	const free = hold();
	const asked = jobs.flatMap(([kind, what, call]) => [1, 2, 3].map(() => submit(kind, what, call))).concat(gzip());
	await pause(80);
	const freed = await free();
	for (const record of await Promise.all(asked)) record.min_wait_ms = Math.max(freed - record.submitted, 0);
	for (const record of noted) delete record.submitted, delete record.value;
}

serve({
	ready: { threads },
	beacon: async () => {
		await submit('fs', 'lstat', (done) => fs.lstat('/beacon', done)); // no other work is one
		noted.length = 0;
	},
	go,
});
