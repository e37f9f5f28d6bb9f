// http_server.js - servers that do what the URL asks for, and note what they did. SPDX-License-Identifier: MIT
//
// /NAME?status=200&bytes=5&mode=length|chunked|close&parts=2&delay=MS&pause=MS&...
//   delay: before the head; pause: between the first part of the body and the last; early=1: do not wait for the request's
//   body; processing=1, hints=1: a 102, a 103 before it; trailers=1; cork=1: the socket is corked for this turn of the loop;
//   lookalike=1: the body looks like another response; hang=1: never answers; die=before|middle: the connection is destroyed.
// A record of a server has lower bounds of latencies only: it began before the handler did, and ended after it.
'use strict';
const http = require('http');
const https = require('https');
const http2 = require('http2');
const fs = require('fs');
const path = require('path');
const { now, note, once, pause, tid, later } = require('./common.js');

const pem = fs.readFileSync(path.join(__dirname, 'only-for-tests.pem'));
const lookalike = Buffer.from('HTTP/1.1 500 Not a response\r\nContent-Length: 0\r\n\r\nGET /not-a-request HTTP/1.1\r\n\r\n');

/** n bytes of a body. */
exports.body = (n, isLookalike) => (isLookalike ? Buffer.alloc(n, lookalike) : Buffer.alloc(n, 'x'));
exports.pem = pem;

const arrivals = new Map();
/** Resolves when a request for the URL has reached its handler. */
exports.arrived = (url) => {
	if (!arrivals.has(url)) arrivals.set(url, later());
	return arrivals.get(url).promise;
};

const plain = (address) => (address === undefined ? null : address.replace(/^::ffff:/, ''));
exports.plain = plain;

const headerOf = (req, name) => req.headers[name] ?? null;

/** What is known of a request as soon as its head is there. */
function begin(req, socket, isHttp2) {
	const record = {
		side: 'server', pid: process.pid, tid: tid(), method: req.method, url: req.url, status: null, version: isHttp2 ? '2' : req.httpVersion,
		tls: Boolean(socket.encrypted), raddr: plain(socket.remoteAddress), rport: socket.remotePort ?? null, lport: socket.localPort ?? null,
		fd: isHttp2 ? null : socket._handle?.fd ?? null, host: req.headers[':authority'] ?? headerOf(req, 'host'),
		user_agent: headerOf(req, 'user-agent'), forwarded_for: headerOf(req, 'x-forwarded-for'),
		bytes: 0, request_bytes: 0, aborted: false, began: now(), headed: null, ended: null,
	};
	exports.arrived(req.url);
	arrivals.get(req.url).resolve(record);
	return note(record);
}

function readBody(req, record) {
	return new Promise((resolve) => {
		req.on('data', (data) => (record.request_bytes += data.length));
		req.on('end', resolve);
		req.on('error', resolve);
		req.on('close', resolve);
	});
}

/** Writes, and waits until the system has it all: before a connection is cut, the truth must be on the wire. */
const write = (res, part) => new Promise((resolve) => {
	res.once('close', resolve);
	res.write(part, () => {
		res.removeListener('close', resolve);
		resolve();
	});
});

async function sendBody(res, record, { bytes, parts, pause: ms, lookalike: isLookalike, die }) {
	const whole = exports.body(bytes, isLookalike);
	const size = Math.max(1, Math.ceil(whole.length / parts));
	const last = whole.length ? Math.floor((whole.length - 1) / size) * size : 0;
	for (let at = 0; at < last; at += size) {
		const part = whole.subarray(at, at + size);
		record.bytes += part.length;
		await write(res, part);
		if (res.destroyed || record.aborted) return;
		if (at === 0 && ms) await pause(ms);
	}
	if (die === 'middle') return res.socket ? res.socket.destroy() : res.stream.destroy();
	record.bytes += whole.length - last;
	record.ended = now();
	res.end(whole.subarray(last));
}

function headers(options) {
	const { bytes, mode, trailers } = options;
	const all = { 'Content-Type': 'text/plain' };
	if (mode === 'length') all['Content-Length'] = bytes;
	if (mode === 'close') all.Connection = 'close';
	if (trailers) all.Trailer = 'X-Sum';
	return all;
}

function parse(url) {
	const query = new URLSearchParams(url.split('?')[1] ?? '');
	const number = (name, otherwise) => Number(query.get(name) ?? otherwise);
	const status = number('status', 200);
	return {
		status, bytes: number('bytes', status === 204 || status === 304 ? 0 : 5), parts: number('parts', 1), delay: number('delay', 0), pause: number('pause', 0),
		mode: query.get('mode') ?? (status === 204 ? 'none' : 'length'), die: query.get('die'), hang: query.has('hang'), early: query.has('early'),
		processing: query.has('processing'), hints: query.has('hints'), trailers: query.has('trailers'), cork: query.has('cork'),
		lookalike: query.has('lookalike'),
	};
}

async function answer(res, record, options, isHttp2) {
	if (options.delay) await pause(options.delay);
	if (options.die === 'before') return res.socket.destroy();
	if (options.processing && !isHttp2) res.writeProcessing();
	if (options.hints && res.writeEarlyHints) res.writeEarlyHints({ link: '</style.css>; rel=preload' });
	if ((options.processing || options.hints) && options.pause) await pause(options.pause);
	record.status = options.status;
	record.headed = now();
	res.writeHead(options.status, headers(options));
	if (options.trailers) res.addTrailers({ 'X-Sum': '42' });
	const hasBody = record.method !== 'HEAD' && options.status !== 304 && options.status !== 204;
	await sendBody(res, record, hasBody ? options : { ...options, bytes: 0, parts: 1 });
}

/** The handler of every server here. */
async function handle(req, res) {
	const isHttp2 = req.httpVersionMajor === 2;
	const record = begin(req, isHttp2 ? req.stream.session.socket : req.socket, isHttp2);
	const options = parse(req.url);
	res.on('close', () => (record.aborted = isHttp2 ? req.stream.rstCode !== 0 : !res.writableFinished));
	res.on('error', () => {});
	if (options.cork) {
		const { socket } = req;
		socket.cork();
		setImmediate(() => socket.uncork());
	}
	const read = readBody(req, record);
	if (options.hang) return;
	if (!options.early) await read;
	if (!record.aborted) await answer(res, record, options, isHttp2);
}

/** 101, or 200 to CONNECT: from then on the connection is nobody's HTTP, whatever it looks like; it is echoed. */
function becomeTunnel(req, socket, head, status) {
	const record = begin(req, socket, false);
	Object.assign(record, { status, bytes: null, request_bytes: null, headed: now(), ended: now() });
	const reason = status === 101 ? '101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo' : '200 Connection Established';
	socket.write(`HTTP/1.1 ${reason}\r\n\r\n`);
	if (head.length) socket.write(head);
	socket.on('error', () => {});
	socket.pipe(socket);
}

function equip(server) {
	server.on('upgrade', (req, socket, head) => becomeTunnel(req, socket, head, 101));
	server.on('connect', (req, socket, head) => becomeTunnel(req, socket, head, 200));
	server.on('checkContinue', (req, res) => {
		if (req.url.includes('refuse')) {
			const record = begin(req, req.socket, false);
			Object.assign(record, { status: 417, headed: now(), ended: now() });
			res.writeHead(417, { 'Content-Length': 0, Connection: 'close' });
			return res.end();
		}
		res.writeContinue();
		handle(req, res);
	});
	server.on('tlsClientError', () => {});
	server.keepAliveTimeout = 60_000; // none is closed before its client is done, however slow this machine is
	return server;
}

const kinds = {
	http: () => equip(http.createServer(handle)),
	https: () => equip(https.createServer({ key: pem, cert: pem }, handle)),
	http2: () => http2.createServer(handle),
	https2: () => http2.createSecureServer({ key: pem, cert: pem }, handle),
};

/** Starts a server: kind is http, https, http2 or https2; where as for listen(). */
exports.listen = async (kind, ...where) => {
	const server = kinds[kind]();
	const listening = once(server, 'listening');
	server.listen(...where);
	await listening;
	return server;
};
