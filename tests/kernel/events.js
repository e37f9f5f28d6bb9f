// events.js - a process in which everything happens that probes of the node provider tell, over and over. SPDX-License-Identifier: MIT
'use strict';
const dns = require('dns');
const fs = require('fs');
const http = require('http');
const http2 = require('http2');
const https = require('https');
const path = require('path');
const { Worker } = require('worker_threads');

const pem = fs.readFileSync(path.join(__dirname, 'only-for-tests.pem'));
const answer = (request, response) => response.end('hello');
const servers = { http: http.createServer(answer), https: https.createServer({ key: pem, cert: pem }, answer), h2: http2.createServer(answer) };
const port = (name) => servers[name].address().port;
for (const server of Object.values(servers)) server.listen(0, '127.0.0.1');

function throwSome() {
	try {
		throw new Error('some trouble');
	} catch { /* as it should be */ }
}

// On a slow machine a connection may be given up by one side when the other goes on with it.
const never = () => {};

setInterval(() => {
	http.get({ port: port('http'), host: '127.0.0.1', path: '/plain' }, (response) => response.resume()).on('error', never);
	https.get({ port: port('https'), host: '127.0.0.1', path: '/secret', rejectUnauthorized: false }, (response) => response.resume()).on('error', never);
	const session = http2.connect(`http://127.0.0.1:${port('h2')}`).on('error', never);
	session.request({ ':path': '/two' }).on('error', never).resume().on('close', () => session.close());
	fs.stat(__filename, () => {});
	dns.lookup('127.0.0.1', () => dns.lookup('localhost', () => {}));
	throwSome();
	Array.from({ length: 200000 }, (_, i) => ({ i }));
}, 500);
setInterval(() => new Worker('', { eval: true }), 5000);
