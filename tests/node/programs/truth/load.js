// load.js - a server that counts what it answers, for a load from outside. SPDX-License-Identifier: MIT
//
// "go" prints one record: requests (that reached the handler), statuses (of those whose answer went out whole: { 200: n, ... }).
'use strict';
const http = require('http');
const { note, noted, serve } = require('./common.js');

const counts = { requests: 0, statuses: {} };

const server = http.createServer((req, res) => {
	counts.requests++;
	const status = [200, 200, 200, 404, 500][counts.requests % 5];
	res.on('finish', () => (counts.statuses[status] = (counts.statuses[status] ?? 0) + 1));
	res.statusCode = status;
	res.end('hello world\n');
});

const ask = (path) => new Promise((resolve) =>
	http.get({ port: server.address().port, host: '127.0.0.1', path, agent: false }, (res) => res.resume().on('close', resolve)));

server.listen(0, '127.0.0.1', () =>
	serve({
		ready: { port: server.address().port },
		beacon: async () => {
			await ask('/beacon');
			Object.assign(counts, { requests: 0, statuses: {} });
			noted.length = 0;
		},
		go: () => note({ ...counts }),
	}));
