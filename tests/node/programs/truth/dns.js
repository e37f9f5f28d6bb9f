// dns.js - names looked up by the system (getaddrinfo, getnameinfo) and by c-ares, which asks a server in this program.
// SPDX-License-Identifier: MIT
//
// A record: kind (lookup: getaddrinfo, reverse: getnameinfo or c-ares, resolve: c-ares), host, service, type, error (dns's own name, null if none),
// result (how many addresses or records), max_ms, min_ms (the server waited so long).
'use strict';
const dgram = require('dgram');
const dns = require('dns');
const { now, note, noted, once, pause, serve, tid } = require('./common.js');

const types = { 1: 'A', 28: 'AAAA', 12: 'PTR', 16: 'TXT', 15: 'MX', 5: 'CNAME', 2: 'NS', 33: 'SRV' };
const name = (text) => Buffer.concat([...text.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])), Buffer.from([0])]);
const data = {
	A: [Buffer.from([10, 0, 0, 1]), Buffer.from([10, 0, 0, 2])],
	AAAA: [Buffer.from('20010db8000000000000000000000001', 'hex')],
	PTR: [name('here.test')],
	TXT: [Buffer.from([5, ...Buffer.from('hello')])],
	MX: [Buffer.concat([Buffer.from([0, 10]), name('mail.test')])],
	NS: [name('ns.test')],
	SRV: [Buffer.concat([Buffer.from([0, 1, 0, 2, 0, 80]), name('srv.test')])],
};
const slowness = 40;

/** Answers a query: names that begin with "no" do not exist, "fail" has a broken server, "slow" takes its time. */
function reply(query) {
	const labels = [];
	let at = 12;
	for (; query[at]; at += query[at] + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]));
	const type = types[query.readUInt16BE(at + 1)], question = query.subarray(12, at + 5);
	const code = labels[0].startsWith('no') ? 3 : labels[0].startsWith('fail') ? 2 : 0;
	const answers = code === 0 ? data[type] ?? [] : [];
	const head = Buffer.from([query[0], query[1], 0x81, 0x80 | code, 0, 1, 0, answers.length, 0, 0, 0, 0]);
	const records = answers.map((bytes) =>
		Buffer.concat([Buffer.from([0xc0, 12]), question.subarray(-4), Buffer.from([0, 0, 0, 60, bytes.length >> 8, bytes.length & 255]), bytes]));
	return { wait: labels[0].startsWith('slow') ? slowness : 0, bytes: Buffer.concat([head, question, ...records]) };
}

async function startServer() {
	const server = dgram.createSocket('udp4');
	server.on('message', async (query, from) => {
		const { wait, bytes } = reply(query);
		if (wait) await pause(wait);
		server.send(bytes, from.port, from.address);
	});
	server.bind(0, '127.0.0.1');
	await once(server, 'listening');
	return server.address().port;
}

/** Notes what a function with a callback finds out. */
function ask(record, call) {
	const began = now();
	Object.assign(record, { pid: process.pid, tid: tid(), result: 0, error: null });
	return new Promise((resolve) =>
		call((error, ...values) => {
			record.max_ms = now() - began;
			if (error) record.error = error.code;
			else record.result = Array.isArray(values[0]) ? values[0].length : 1;
			resolve(note(record));
		}));
}

const lookup = (host, options = {}) => ask({ kind: 'lookup', host }, (done) => dns.lookup(host, options, done));

async function go(resolver) {
	await lookup('localhost');
	await lookup('localhost', { family: 4, all: true });
	await lookup(`${'a'.repeat(64)}.test`); // no label may be so long: it fails without a server
	await Promise.all([1, 2, 3].map(() => lookup('localhost', { family: 4 })));
	await ask({ kind: 'lookup', host: 'localhost' }, (done) => dns.promises.lookup('localhost').then(() => done(null, 1), done));
	await ask({ kind: 'reverse', host: '127.0.0.1', service: '80' }, (done) => dns.lookupService('127.0.0.1', 80, done));
	const resolve = (host, type, more) => ask({ kind: 'resolve', host, type, ...more }, (done) => resolver.resolve(host, type, done));
	for (const type of ['A', 'AAAA', 'TXT', 'MX', 'NS', 'SRV']) await resolve(`${type.toLowerCase()}.test`, type);
	await resolve('none.test', 'A');
	await resolve('fail.test', 'MX');
	await resolve('slow.test', 'A', { min_ms: slowness - 2 }); // a timer of libuv counts whole milliseconds
	await Promise.all([1, 2, 3, 4].map((i) => resolve(`many${i}.test`, 'A')));
	await ask({ kind: 'reverse', host: '1.2.3.4' }, (done) => resolver.reverse('1.2.3.4', done));
}

startServer().then((port) => {
	const resolver = new dns.Resolver();
	resolver.setServers([`127.0.0.1:${port}`]);
	serve({
		ready: { port },
		beacon: async () => {
			await lookup('localhost');
			noted.length = 0;
		},
		go: () => go(resolver),
	});
});
