// cluster.js - a cluster whose children share a port; each says what it served, the parent what it asked for.
// SPDX-License-Identifier: MIT
//
// Two children are there before "go", a third one comes after it. Records as http.js prints them.
'use strict';
const cluster = require('cluster');
const { noted, once, serve } = require('./common.js');
const { listen } = require('./http_server.js');
const { request } = require('./http_client.js');

async function beChild() {
	const server = await listen('http', Number(process.argv[2]) || 0, '127.0.0.1');
	process.on('message', () => {
		process.send({ records: noted });
		noted.length = 0;
	});
	process.on('disconnect', () => process.exit());
	process.send({ port: server.address().port });
}

const children = [];
async function fork() {
	const child = cluster.fork();
	children.push(child);
	return (await once(child, 'message')).port;
}

async function ask(port, round) {
	for (let i = 0; i < 4; i++)
		await Promise.all(Array.from({ length: 6 }, (_, j) =>
			request('http', { port, host: '127.0.0.1' }, `/cluster/${round}/${i}/${j}?bytes=${j * 10}`, { agent: false })));
}

async function collect() {
	for (const child of children) {
		const answer = once(child, 'message');
		child.send('records');
		noted.push(...(await answer).records);
	}
	for (const record of noted) delete record.began, delete record.headed, delete record.ended;
}

async function main() {
	const port = await fork();
	await fork();
	let beacons = 0;
	serve({
		ready: { port, pids: children.map((child) => child.process.pid) },
		beacon: async () => {
			await request('http', { port, host: '127.0.0.1' }, `/beacon/${++beacons}`, { agent: false });
			await collect();
			noted.length = 0;
		},
		go: async () => {
			await ask(port, 'first');
			await fork();
			await ask(port, 'second');
			await collect();
		},
		end: () => children.forEach((child) => child.process.kill()),
	});
}

if (cluster.isMaster) main();
else beChild();
