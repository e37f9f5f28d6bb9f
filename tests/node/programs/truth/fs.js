// fs.js - every operation on files, synchronous, with a callback and as a promise, those that fail too; prints each as
// libuv is asked for it. SPDX-License-Identifier: MIT
//
//   node fs.js DIRECTORY        a new empty one
//
// A record: op (libuv's name), path, new_path, fd, sync, form, result, error (a name such as ENOENT, or null),
// max_ms (what the whole took as JavaScript saw it), min_wait_ms (how long it was in the pool's queue at least).
'use strict';
const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');
const { now, note, noted, pause, serve, tid } = require('./common.js');

const directory = process.argv[2];
const at = (name) => path.join(directory, name);

/** How each is called: the name in `fs`, libuv's name for it if it is another one, and where its path and its fd are. */
const libuvNames = { utimes: 'utime', futimes: 'futime', lutimes: 'lutime', copyFile: 'copyfile', readdir: 'scandir', exists: 'access', readv: 'read', writev: 'write' };
const onDescriptors = new Set(['close', 'read', 'write', 'readv', 'writev', 'fstat', 'fchmod', 'fchown', 'futimes', 'ftruncate', 'fsync', 'fdatasync']);
const withTwoPaths = new Set(['rename', 'link', 'symlink', 'copyFile']);

const paths = new Map(); // by descriptor

function describe(name, form, args) {
	const onFd = onDescriptors.has(name);
	return {
		op: libuvNames[name] ?? name, pid: process.pid, tid: tid(), form, sync: form === 'sync', path: onFd ? paths.get(args[0]) ?? null : args[0],
		new_path: withTwoPaths.has(name) ? args[1] : null, fd: onFd ? args[0] : null, result: 0, error: null, began: now(),
	};
}

function finish(record, name, error, value) {
	record.max_ms = now() - record.began;
	delete record.began;
	if (error) {
		record.error = error.code;
		record.result = null;
	} else if (name === 'open') {
		record.result = value;
		paths.set(value, record.path);
	} else if (typeof value === 'number') record.result = value;
	else if (name === 'readdir') record.result = value.length;
	if (name === 'mkdtemp' && !error) record.path = value; // what it became
	if (name === 'close') paths.delete(record.fd);
	note(record);
	return value;
}

const forms = {
	sync(name, ...args) {
		const record = describe(name, 'sync', args);
		try {
			return finish(record, name, null, fs[`${name}Sync`](...args));
		} catch (error) {
			return finish(record, name, error);
		}
	},
	callback(name, ...args) {
		const record = describe(name, 'callback', args);
		return new Promise((resolve) => fs[name](...args, (error, value) => resolve(finish(record, name, error, value))));
	},
	async promise(name, ...args) {
		if (onDescriptors.has(name) || !fs.promises[name]) return forms.callback(name, ...args); // those are a FileHandle's
		const record = describe(name, 'promise', args);
		try {
			const value = await fs.promises[name](...args);
			if (name !== 'open') return finish(record, name, null, value);
			finish(record, name, null, value.fd);
			return value;
		} catch (error) {
			return finish(record, name, error);
		}
	},
};

/** The same by a FileHandle's own method. */
async function byHandle(handle, name, op, args, count = () => 0) {
	const record = describe(op, 'promise', [handle.fd]);
	const value = await handle[name](...args);
	record.result = count(value);
	finish(record, op, null, record.result);
}

/** All that a form can do, in a directory of its own. */
async function everything(form) {
	const call = forms[form];
	const here = (name) => at(`${form}/${name}`);
	const file = here('file'), time = new Date(1e12);
	await call('mkdir', at(form));
	await call('mkdir', at(form)); // EEXIST
	await call('mkdtemp', here('temporary-'));
	let handle = await call('open', file, 'w+');
	const fd = handle.fd ?? handle;
	await call('write', fd, Buffer.alloc(1000, 'x'), 0, 1000, 0);
	await call('writev', fd, [Buffer.alloc(10), Buffer.alloc(20)], 1000);
	await call('read', fd, Buffer.alloc(100), 0, 100, 0);
	await call('readv', fd, [Buffer.alloc(10), Buffer.alloc(2000)], 0);
	await call('read', fd, Buffer.alloc(100), 0, 100, 5000); // behind the end
	for (const name of ['fstat', 'fsync', 'fdatasync']) await call(name, fd);
	await call('ftruncate', fd, 100);
	await call('fchmod', fd, 0o600);
	await call('fchown', fd, process.getuid(), process.getgid());
	await call('futimes', fd, time, time);
	if (form === 'promise') {
		await byHandle(handle, 'write', 'write', ['hello', 0], ({ bytesWritten }) => bytesWritten);
		await byHandle(handle, 'read', 'read', [Buffer.alloc(50), 0, 50, 0], ({ bytesRead }) => bytesRead);
		await byHandle(handle, 'stat', 'fstat', []);
		await byHandle(handle, 'datasync', 'fdatasync', []);
		await byHandle(handle, 'close', 'close', []);
		handle = null;
	} else {
		await call('close', fd);
	}
	for (const name of ['stat', 'lstat', 'access']) await call(name, file);
	await call('chmod', file, 0o644);
	for (const name of ['chown', 'lchown']) await call(name, file, process.getuid(), process.getgid());
	for (const name of ['utimes', 'lutimes']) await call(name, file, time, time);
	await call('copyFile', file, here('copy'));
	await call('copyFile', file, here('copy'), fs.constants.COPYFILE_EXCL); // EEXIST
	await call('link', file, here('link'));
	await call('symlink', file, here('symlink'));
	await call('readlink', here('symlink'));
	await call('readlink', file); // EINVAL
	await call('rename', here('copy'), here('renamed'));
	await call('readdir', at(form));
	await call('mkdir', here('sub'));
	await call('mkdir', here('sub/sub'));
	await call('rmdir', here('sub')); // ENOTEMPTY
	await call('rmdir', here('sub/sub'));
	await call('unlink', here('link'));
	if (fs.statfsSync) await call('statfs', file);
	for (const name of ['stat', 'lstat', 'open', 'unlink', 'rmdir', 'readlink', 'readdir', 'access', 'chmod'])
		await call(name, here('missing'), ...(name === 'open' ? ['r'] : name === 'chmod' ? [0o600] : []));
	await call('stat', path.join(file, 'below')); // ENOTDIR
	await call('readdir', file); // ENOTDIR
	await call('rename', here('missing'), here('nowhere'));
	if (form !== 'promise') {
		await call('fstat', 999); // EBADF
		await call('close', 999);
	}
	await call('stat', here(`long/${'name/'.repeat(60)}end`)); // ENOENT
	await call('stat', here('n\u00e4me with spaces and "quotes"'));
}

async function walk(form) {
	const record = describe('opendir', form, [directory]);
	const dir = form === 'sync' ? fs.opendirSync(directory) : await fs.promises.opendir(directory);
	finish(record, 'opendir', null, 0);
	const closing = describe('closedir', form, [directory]);
	if (form === 'sync') dir.closeSync();
	else await dir.close();
	finish(closing, 'closedir', null, 0);
}

/** The pool's threads are all held by pipes that nobody writes to; what is asked for then waits in the queue. */
async function inQueue() {
	const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
	const pipes = Array.from({ length: threads }, (_, i) => at(`pipe-${i}`));
	execFileSync('mkfifo', pipes);
	const held = pipes.map((pipe) => forms.callback('open', pipe, 'r'));
	const waiting = ['one', 'two', 'three'].map((name) => forms.callback('stat', at(name)));
	const asked = now(); // they are in the queue
	await pause(60);
	const freed = now();
	const writers = pipes.map((pipe) => forms.sync('open', pipe, 'w'));
	await Promise.all(waiting);
	for (const record of noted) if (['one', 'two', 'three'].some((name) => record.path === at(name))) record.min_wait_ms = freed - asked;
	for (const fd of [...writers, ...(await Promise.all(held))]) forms.sync('close', fd);
}

let beacons = 0;
serve({
	ready: { directory },
	beacon: () => forms.sync('access', at(`beacon-${++beacons}`)) ?? (noted.length = 0),
	go: async () => {
		for (const form of Object.keys(forms)) await everything(form);
		await walk('sync');
		await walk('promise');
		await inQueue();
	},
});
