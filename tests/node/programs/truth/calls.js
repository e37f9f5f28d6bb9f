// calls.js - system calls of many kinds on the main thread, between two that mark the beginning and the end.
// SPDX-License-Identifier: MIT
//
//   node calls.js DIRECTORY
//
// A record: name, path (where it has one), result or error. There are many more calls than those: what another tracer
// lists between access("DIRECTORY/begin") and access("DIRECTORY/end") is all of them.
'use strict';
const fs = require('fs');
const net = require('net');
const path = require('path');
const dgram = require('dgram');
const { spawn } = require('child_process');
const { note, noted, once, serve, tid, turns } = require('./common.js');

const at = (name) => path.join(process.argv[2], name);

function call(name, file, run) {
	const record = { name, path: file, pid: process.pid, tid: tid(), result: null, error: null };
	try {
		const result = run();
		record.result = typeof result === 'number' ? result : 0;
	} catch (error) {
		record.error = error.code;
	}
	return note(record).result;
}

function files() {
	const file = at('file with "quotes" and \u00e4');
	const fd = call('openat', file, () => fs.openSync(file, 'w+'));
	call('write', null, () => fs.writeSync(fd, 'hello\nworld\0\x01'));
	call('pread64', null, () => fs.readSync(fd, Buffer.alloc(100), 0, 100, 0));
	call('close', null, () => fs.closeSync(fd));
	call('mkdir', at('directory'), () => fs.mkdirSync(at('directory')));
	call('mkdir', at('directory'), () => fs.mkdirSync(at('directory')));
	call('rename', file, () => fs.renameSync(file, at('renamed')));
	call('unlink', at('renamed'), () => fs.unlinkSync(at('renamed')));
	call('openat', at('missing'), () => fs.openSync(at('missing')));
	call('readlink', '/proc/self/exe', () => fs.readlinkSync('/proc/self/exe').length);
}

async function sockets() {
	const server = net.createServer((socket) => socket.end('bye')).listen(0, '127.0.0.1');
	await once(server, 'listening');
	const client = net.connect(server.address().port, '127.0.0.1').resume();
	await once(client, 'close');
	await new Promise((resolve) => server.close(resolve));
	const udp = dgram.createSocket('udp6').bind(0, '::1');
	await once(udp, 'listening').catch(() => {});
	await new Promise((resolve) => udp.close(resolve));
}

async function go() {
	call('access', at('begin'), () => fs.accessSync(at('begin')));
	files();
	await sockets();
	const child = spawn('true');
	await once(child, 'exit');
	await turns(3);
	call('access', at('end'), () => fs.accessSync(at('end')));
}

serve({
	beacon: () => {
		call('access', at('beacon'), () => fs.accessSync(at('beacon')));
		noted.length = 0;
	},
	go,
});
