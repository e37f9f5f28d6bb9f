// signals.js - an HTTP server under its own load, with file operations, DNS lookups, GC, blocking callbacks and pool work.
// SPDX-License-Identifier: MIT
//
//   node signals.js [FILE]      writes its PID to FILE
'use strict';
const crypto = require('crypto');
const dns = require('dns');
const fs = require('fs');
const http = require('http');

if (process.argv[2]) fs.writeFileSync(process.argv[2], String(process.pid));

let kept = [];
let served = 0;
const server = http.createServer((request, response) => {
	served++;
	fs.stat(__filename, () => response.end('x'.repeat(200)));
});

function ask(port) {
	http.get({ port, path: `/item/${Math.floor(Math.random() * 50)}` }, (response) => {
		response.resume();
		response.on('end', () => setTimeout(ask, 5, port));
	}).on('error', () => setTimeout(ask, 50, port));
}

server.listen(0, '127.0.0.1', () => {
	const { port } = server.address();
	for (let i = 0; i < 4; i++) ask(port);
	setInterval(() => {
		const end = Date.now() + 3;
		while (Date.now() < end) kept.push({ end });
		if (kept.length > 1e6) kept = [];
	}, 20);
	setInterval(() => crypto.pbkdf2('a', 'b', 1000, 32, 'sha1', () => {}), 50);
	setInterval(() => dns.lookup('localhost', () => {}), 50);
	console.log(process.pid);
});
process.stdin.on('data', () => console.log(JSON.stringify({ served })));
