// http.js - a server and its clients in one process that do everything that HTTP can do, and print what both saw.
// SPDX-License-Identifier: MIT
//
//   node http.js [CASE...]       all of them if none is named; see http_cases.js, and `others` below
//
// A record is one request as one side saw it: side, pid, tid, method, url, status (null: never answered), version, tls,
// raddr, rport, lport, fd, bytes and request_bytes (of the bodies; null: not known), aborted, and for a server host,
// user_agent, forwarded_for. min_ms, max_ms, min_ttfb_ms, max_ttfb_ms bound what its latencies can be.
'use strict';
const net = require('net');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const { noted, once, serve } = require('./common.js');
const { listen, arrived, body } = require('./http_server.js');
const { request, fetch: fetchOne, connect2, request2 } = require('./http_client.js');
const { cases } = require('./http_cases.js');

process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; // for fetch, which takes no other word for it
process.removeAllListeners('warning');

const times = (n, make) => Promise.all(Array.from({ length: n }, (_, i) => make(i)));
const places = {};

async function listenEverywhere() {
	const at = (server, host) => ({ port: server.address().port, host });
	places.v4 = { kind: 'http', to: at(await listen('http', 0, '127.0.0.1'), '127.0.0.1') };
	places.tls = { kind: 'https', to: at(await listen('https', 0, '127.0.0.1'), '127.0.0.1') };
	try {
		const both = await listen('http', 0, '::');
		places.v6 = { kind: 'http', to: at(both, '::1') };
		places.mapped = { kind: 'http', to: at(both, '127.0.0.1') };
	} catch { /* no IPv6 on this machine */ }
	places.http2 = { kind: 'http2', to: at(await listen('http2', 0, '127.0.0.1'), '127.0.0.1') };
	places.https2 = { kind: 'https2', to: at(await listen('https2', 0, '127.0.0.1'), '127.0.0.1') };
	const local = path.join(os.tmpdir(), `noderay-truth-${process.pid}`);
	fs.rmSync(local, { force: true }); // of one that was killed and had the same number
	places.unix = { kind: 'http', to: { socketPath: local } };
	await listen('http', local);
	// Before libuv 1.46 the name is cut at its first byte, which is 0.
	if (Number(process.versions.uv.split('.')[1]) < 46) return;
	places.abstract = { kind: 'http', to: { socketPath: `\0noderay-truth-${process.pid}` } };
	await listen('http', places.abstract.to.socketPath);
}

async function elsewhere(name) {
	const { kind, to } = places[name];
	for (const what of ['keepAlive', 'pipelined', 'bodies']) await cases[what]({ kind, to, name });
}

async function overTwo(name) {
	const { kind, to } = places[name];
	const session = await connect2(kind, to);
	const ask = (what, options) => request2(session, kind, to, `/${name}/${what}`, options);
	await ask('first');
	await times(10, (i) => ask(`streams/${i}?bytes=${i * 1000}&delay=${i % 3 ? 0 : 10}`));
	await ask('404?status=404&mode=none', { headers: { 'user-agent': 'two', 'x-forwarded-for': '10.2.3.4' } });
	await ask('head?bytes=100', { method: 'HEAD' });
	await ask('post', { method: 'POST', body: body(1000) });
	await ask('large?bytes=300000&mode=none&parts=3', { method: 'PUT', body: body(200000) });
	await ask('204?status=204');
	await ask('pause?delay=10&pause=30&bytes=40&parts=2&mode=none');
	await ask(`${'long/'.repeat(100)}url`);
	const cancelled = `/${name}/cancelled?hang=1`;
	await request2(session, kind, to, cancelled, { leave: arrived(cancelled) });
	await times(3, (i) => ask(`last/${i}`));
	session.close();
	await once(session, 'close');
}

async function byFetch(name) {
	const { kind, to } = places[name];
	const ask = (what, options) => fetchOne(kind, to, `/${name}/fetch/${what}`, options);
	for (let i = 0; i < 3; i++) await ask(i);
	await times(5, (i) => ask(`concurrent/${i}?delay=${i}&bytes=${i * 500}`));
	await ask('post?mode=chunked&bytes=900&parts=3', { method: 'POST', body: body(400), headers: { 'User-Agent': 'fetcher' } });
	await ask('stream', { method: 'POST', body: body(4000), chunks: 4 });
	await ask('large?bytes=1000000');
	await ask('404?status=404');
	await ask('204?status=204');
}

/** A connection whose bytes are no HTTP, and one that carries nothing. */
async function notHttp() {
	const server = net.createServer((socket) => socket.on('error', () => {}).pipe(socket));
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	for (const text of ['*1\r\n$4\r\nPING\r\n', '\x00\x01\x02', 'POSTAL SERVICE\n', 'HTTP is a protocol', '']) {
		const socket = net.connect(server.address().port, '127.0.0.1');
		const closed = new Promise((resolve) => socket.once('close', resolve));
		socket.end(text, 'latin1');
		socket.resume();
		await closed;
	}
	server.close();
}

/** A worker asks its own server; its records are part of ours. */
async function inWorkers() {
	const run = async (name) => {
		const worker = new Worker(__filename, { workerData: name });
		noted.push(...(await once(worker, 'message')));
		await worker.terminate();
	};
	await Promise.all([run('worker1'), run('worker2')]);
}

async function beWorker(name) {
	const server = await listen('http', 0, '127.0.0.1');
	const secure = await listen('https', 0, '127.0.0.1');
	for (const [kind, at] of Object.entries({ http: server, https: secure })) {
		const to = { port: at.address().port, host: '127.0.0.1' };
		for (const what of ['keepAlive', 'pipelined']) await cases[what]({ kind, to, name: `${name}-${kind}` });
	}
	bound();
	parentPort.postMessage(noted);
}

const others = {
	elsewhere: () => Object.keys(places).filter((name) => /v6|mapped|unix|abstract/.test(name)).reduce((before, name) => before.then(() => elsewhere(name)), Promise.resolve()),
	http2: async () => {
		await overTwo('http2');
		await overTwo('https2');
	},
	fetch: async () => {
		if (typeof fetch !== 'function') return;
		await byFetch('v4');
		await byFetch('tls');
	},
	notHttp,
	workers: inWorkers,
};
// What makes no difference to what is above TLS is not done twice.
const plainOnly = new Set(['garbage', 'splitAnswers', 'urls']);

/** Each tells the other what it does not know. When a connection was cut, only what both saw is known to have gone over it. */
function agree(server, client) {
	client.lport ??= server.rport; // fetch does not say it
	for (const name of ['bytes', 'request_bytes'])
		if ((server.aborted || server.url.includes('/early')) && server[name] !== client[name]) server[name] = client[name] = null;
}

/** A server knows the least that a latency can be, its client the most; both are of one thread here, so both hold for both. */
function bound() {
	const byUrl = new Map();
	for (const record of noted) {
		const key = `${record.url} ${record.pid} ${record.tid}`;
		if (!byUrl.has(key)) byUrl.set(key, {});
		byUrl.get(key)[record.side] = record;
	}
	const between = (record, name) => (record?.began && record[name] ? record[name] - record.began : undefined);
	for (const { server, client } of byUrl.values()) {
		if (server && client) agree(server, client);
		// Who leaves does not know when the other hears of it.
		const isCut = server?.aborted || client?.aborted;
		for (const record of [server, client].filter(Boolean))
			Object.assign(record, {
				min_ms: between(server, 'ended'), min_ttfb_ms: between(server, 'headed'),
				max_ms: isCut ? undefined : between(client, 'ended'), max_ttfb_ms: between(client, 'headed'),
			});
	}
	for (const record of noted) delete record.began, delete record.headed, delete record.ended;
}

async function go() {
	const named = process.argv.slice(2);
	const isWanted = (name) => !named.length || named.includes(name);
	for (const [name, run] of Object.entries(cases)) {
		if (!isWanted(name)) continue;
		await run({ ...places.v4, name: 'v4' });
		if (!plainOnly.has(name)) await run({ ...places.tls, name: 'tls' });
	}
	for (const [name, run] of Object.entries(others)) if (isWanted(name)) await run();
	bound();
}

let beacons = 0;
async function main() {
	await listenEverywhere();
	serve({
		ready: { places },
		beacon: async () => {
			await request('http', places.v4.to, `/beacon/${++beacons}`, { agent: false });
			noted.length = 0;
		},
		go,
	});
}

if (isMainThread) main();
else beWorker(workerData);
