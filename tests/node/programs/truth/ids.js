// ids.js - handlers of requests that ask for files, names and connections, so that each is known to be a request's.
// SPDX-License-Identifier: MIT
//
// A record: url, and `files`, `hosts`, `ports`: what its handler asked for while it ran; `later`: files that were asked
// for by nobody's handler. Requests come one by one, pipelined, and several at once.
'use strict';
const dns = require('dns');
const fs = require('fs');
const http = require('http');
const net = require('net');
const { connect } = require('./http_raw.js');
const { note, noted, once, serve, turns } = require('./common.js');

const file = (kind, url) => `/ids-${kind}${url.replace(/\//g, '-')}`;

async function start() {
	const echo = net.createServer((socket) => socket.end());
	echo.listen(0, '127.0.0.1');
	await once(echo, 'listening');
	const server = http.createServer(async (req, res) => {
		const { url } = req;
		const files = ['sync', 'callback', 'promise'].map((kind) => file(kind, url));
		const record = { url, pid: process.pid, files, hosts: [`${url.slice(1).replace(/\//g, '-')}-${'x'.repeat(60)}.test`], later: [file('later', url)] };
		fs.existsSync(files[0]);
		const all = [
			new Promise((resolve) => fs.stat(files[1], resolve)), fs.promises.access(files[2]).catch(() => {}),
			new Promise((resolve) => dns.lookup(record.hosts[0], resolve)),
		];
		const socket = net.connect(echo.address().port, '127.0.0.1');
		await Promise.all([...all, once(socket.resume(), 'close')]);
		await turns(2);
		setTimeout(() => {
			fs.existsSync(record.later[0]);
			note(record);
			res.end('done');
		}, 1);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return server;
}

async function go(port) {
	const to = { port, host: '127.0.0.1' };
	const raw = await connect(to);
	for (let i = 0; i < 3; i++) {
		await raw.send(raw.get(`/one/${i}`));
		await raw.answered();
	}
	await raw.send([0, 1, 2].map((i) => raw.get(`/pipelined/${i}`)).join(''));
	const others = await Promise.all(Array.from({ length: 5 }, () => connect(to)));
	await Promise.all(others.map((other, i) => other.send(other.get(`/several/${i}`))));
	for (const one of [raw, ...others]) await one.done();
	for (let i = noted.length; i--; ) if (!noted[i].files) noted.splice(i, 1); // the clients' own
}

start().then((server) => {
	const { port } = server.address();
	serve({
		ready: { port },
		beacon: async () => {
			const raw = await connect({ port, host: '127.0.0.1' });
			await raw.send(raw.get('/beacon'));
			await raw.done();
			noted.length = 0;
		},
		go: () => go(port),
	});
});
