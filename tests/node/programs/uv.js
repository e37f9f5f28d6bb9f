'use strict';
// uv.js DIRECTORY: does one thing after the other by way of libuv, below DIRECTORY where files are concerned, and prints
// what it did: a line of JSON each. SPDX-License-Identifier: MIT
const childProcess = require('child_process');
const crypto = require('crypto');
const dgram = require('dgram');
const dns = require('dns');
const fs = require('fs');
const net = require('net');
const path = require('path');
const { Worker, isMainThread, workerData } = require('worker_threads');

const directory = isMainThread ? process.argv[2] : workerData;
const file = (name) => path.join(directory, name);
const did = (record) => console.log(JSON.stringify(record));
const call = (f, ...args) => new Promise((resolve) => f(...args, (error, value) => resolve(error ?? value)));

if (!isMainThread) {
	fs.closeSync(fs.openSync(file('from-worker'), 'w', 0o600));
	return;
}

function opened(name, how, sync, fd) {
	did({ what: 'open', path: file(name), flags: how, mode: 0o640, sync, result: typeof fd === 'number' ? 1 : fd.errno });
	return fd;
}

async function files() {
	const { O_RDONLY, O_WRONLY, O_CREAT } = fs.constants;
	fs.closeSync(opened('sync', O_WRONLY | O_CREAT, true, fs.openSync(file('sync'), O_WRONLY | O_CREAT, 0o640)));
	try {
		fs.openSync(file('missing'), O_RDONLY, 0o640);
	} catch (error) {
		opened('missing', O_RDONLY, true, error);
	}
	const fd = opened('async', O_WRONLY | O_CREAT, false, await call(fs.open, file('async'), O_WRONLY | O_CREAT, 0o640));
	did({ what: 'write', bytes: await call(fs.write, fd, Buffer.from('twelve bytes'), 0, 12, 3), offset: 3 });
	await call(fs.close, fd);
	opened('lost', O_RDONLY, false, await call(fs.open, file('lost'), O_RDONLY, 0o640));
	fs.renameSync(file('sync'), file('renamed'));
	did({ what: 'rename', path: file('sync'), newPath: file('renamed') });
	await call(fs.utimes, file('renamed'), 1.5, 2.5);
	did({ what: 'utime', path: file('renamed') });
	did({ what: 'size', path: file('renamed'), size: fs.lstatSync(file('renamed')).size });
}

const listening = (server, ...args) => new Promise((resolve) => server.listen(...args, resolve));
const closed = (socket) => new Promise((resolve) => socket.on('close', resolve).on('error', () => {}));

async function tcp() {
	const server = net.createServer((socket) => socket.end('good day').resume());
	await listening(server, 0, '127.0.0.1');
	const { port } = server.address();
	const socket = net.connect(port, '127.0.0.1').resume();
	socket.end('hello');
	await closed(socket);
	server.close();
	did({ what: 'connect', address: '127.0.0.1', port, sent: [5, 8] });
	await closed(net.connect(file('socket')));
	did({ what: 'pipe', path: file('socket') });
}

async function udp() {
	const socket = dgram.createSocket('udp4');
	await call(socket.send.bind(socket), 'datagram', 9, '127.0.0.1');
	socket.close();
	did({ what: 'udp', address: '127.0.0.1', port: 9, bytes: 8 });
}

async function others() {
	await call(dns.lookup, 'localhost', { family: 4 });
	did({ what: 'dns', host: 'localhost' });
	const child = childProcess.execFile('/bin/true', ['first argument']);
	const { pid } = child;
	await closed(child);
	did({ what: 'spawn', file: '/bin/true', argument: 'first argument', pid });
	await call(crypto.pbkdf2, 'a', 'b', 1, 16, 'sha1');
	did({ what: 'work' });
	await new Promise((resolve) => setTimeout(resolve, 123));
	did({ what: 'timer', timeout: 123 });
	await new Promise((resolve) => new Worker(__filename, { workerData: directory }).on('exit', resolve));
	did({ what: 'worker', path: file('from-worker') });
}

(async () => {
	await files();
	await tcp();
	await udp();
	await others();
})();
