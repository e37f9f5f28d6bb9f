// net.js - connections whose bytes are counted: TCP over IPv4 and IPv6, unix sockets, refused, reset. SPDX-License-Identifier: MIT
//
// A record is one end of one connection: side (server or client), family (ipv4, ipv6, unix), raddr, rport, lport, fd, read and
// written (bytes; null: not known), ended (this end said that it sends no more), error (ECONNREFUSED, ECONNRESET or null).
'use strict';
const net = require('net');
const os = require('os');
const path = require('path');
const { note, noted, once, serve, tid, turns } = require('./common.js');

const plain = (address) => address?.replace(/^::ffff:/, '') ?? null;

/** Notes one end from now on. */
function watch(side, socket, family) {
	const record = note({
		side, family, pid: process.pid, tid: tid(), raddr: plain(socket.remoteAddress), rport: socket.remotePort ?? null,
		lport: socket.localPort ?? null, fd: socket._handle.fd, read: 0, written: 0, ended: false, error: null,
	});
	socket.on('data', (data) => (record.read += data.length));
	socket.on('error', (error) => (record.error = error.code));
	socket.on('close', () => (record.written = socket.bytesWritten));
	socket.on('finish', () => (record.ended = true));
	return record;
}

async function listen(family, ...where) {
	const server = net.createServer({ allowHalfOpen: true }, (socket) => {
		watch('server', socket, family);
		socket.on('data', (data) => socket.write(data));
		socket.on('end', () => socket.end('bye'));
	});
	server.listen(...where);
	await once(server, 'listening');
	return server;
}

async function converse(to, family, sizes) {
	const socket = net.connect({ ...to, allowHalfOpen: true });
	await once(socket, 'connect');
	const record = watch('client', socket, family);
	if (to.path) record.raddr = to.path;
	let wanted = 0;
	for (const size of sizes) {
		wanted += size;
		socket.write(Buffer.alloc(size, 'n'));
		while (record.read < wanted) await once(socket, 'data');
	}
	const closed = once(socket, 'close');
	socket.end();
	await closed;
}

/** Nobody listens on a port that was just given back. */
async function refused() {
	const server = net.createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address();
	await new Promise((resolve) => server.close(resolve));
	const socket = net.connect(port, '127.0.0.1');
	const error = await once(socket, 'error');
	note({ side: 'client', family: 'ipv4', pid: process.pid, tid: tid(), raddr: '127.0.0.1', rport: port, lport: null, fd: null, read: 0, written: 0, ended: false, error: error.code });
}

/** The client's system answers with a reset: there was something that it had not read. */
async function reset() {
	const server = net.createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const accepted = once(server, 'connection');
	const client = net.connect(server.address().port, '127.0.0.1').pause(); // before it connects: else node reads ahead
	const [socket] = await Promise.all([accepted, once(client, 'connect')]);
	const record = watch('server', socket, 'ipv4');
	const mine = watch('client', client, 'ipv4');
	await new Promise((resolve) => socket.write('unread', resolve));
	await turns(2);
	const closed = new Promise((resolve) => socket.once('close', resolve));
	client.destroy();
	await closed;
	record.ended = mine.ended = null; // it came to no orderly end
	mine.read = null;
	server.close();
}

async function main() {
	const servers = { ipv4: await listen('ipv4', 0, '127.0.0.1') };
	const local = path.join(os.tmpdir(), `noderay-net-${process.pid}`);
	servers.unix = await listen('unix', local);
	await listen('ipv6', 0, '::1').then((server) => (servers.ipv6 = server), () => {});
	const to = (family) => (family === 'unix' ? { path: local } : { port: servers[family].address().port, host: family === 'ipv4' ? '127.0.0.1' : '::1' });
	serve({
		ready: { ports: Object.fromEntries(Object.keys(servers).map((family) => [family, to(family)])) },
		beacon: async () => {
			await converse(to('ipv4'), 'ipv4', [1]);
			noted.length = 0;
		},
		go: async () => {
			for (const family of Object.keys(servers)) {
				await converse(to(family), family, [1, 10, 1000]);
				await converse(to(family), family, [300_000, 7]);
			}
			await Promise.all(Array.from({ length: 10 }, (_, i) => converse(to('ipv4'), 'ipv4', [i + 1, 100])));
			await refused();
			await reset();
		},
	});
}

main();
