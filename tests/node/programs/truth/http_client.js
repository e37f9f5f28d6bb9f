// http_client.js - clients of node's own modules that note what they sent and got. SPDX-License-Identifier: MIT
//
// A record of a client has upper bounds of latencies only: it began after request() was called, and ended before the
// last event came.
'use strict';
const http = require('http');
const https = require('https');
const http2 = require('http2');
const { now, note, once, pause, tid } = require('./common.js');
const { plain } = require('./http_server.js');

/** A record; `to` is { port, host } or { path } of the server. */
function begin(method, url, to, isTls, version) {
	return note({
		side: 'client', pid: process.pid, tid: tid(), method, url, status: null, version, tls: isTls,
		raddr: to.socketPath?.replace(/^\0/, '@') ?? to.host, rport: to.port ?? null, lport: null, fd: null, bytes: 0, request_bytes: 0, aborted: false,
		began: now(), headed: null, ended: null,
	});
}
exports.begin = begin;

const noteSocket = (record, socket) => {
	record.lport = socket.localPort ?? null;
	record.fd = socket._handle?.fd ?? null;
	if (socket.remoteAddress) record.raddr = plain(socket.remoteAddress);
};

async function receive(res, record, { slowly }) {
	record.headed = now();
	record.status = res.statusCode;
	noteSocket(record, res.socket);
	res.on('data', (data) => (record.bytes += data.length));
	if (slowly) {
		res.pause();
		await pause(slowly);
		res.resume();
	}
	await new Promise((resolve) => res.once('end', resolve).once('error', resolve).once('close', resolve));
	record.ended = now();
	record.aborted = !res.complete;
}

const fill = async (req, record, { body, chunks, wait, trailers }) => {
	if (wait) await wait;
	if (body) record.request_bytes = body.length;
	const size = body ? Math.ceil(body.length / (chunks ?? 1)) : 0;
	for (let at = 0; body && at < body.length; at += size)
		if (!req.write(body.subarray(at, at + size)) && !req.destroyed) await new Promise((resolve) => req.once('drain', resolve).once('close', resolve));
	if (trailers) req.addTrailers({ 'X-Sum': '42' });
	req.end();
};

/** One request by http.request or https.request; resolves to its record.
 *  options: method, headers, agent, body, chunks (parts to write it in), trailers, slowly (ms before it reads),
 *  expect (send the body when told to), leave (a promise: the connection is destroyed then), tunnel(socket). */
exports.request = async (kind, to, url, options = {}) => {
	const { method = 'GET', headers = {}, agent, expect, leave, tunnel } = options;
	const record = begin(method, url, to, kind === 'https', '1.1');
	const req = (kind === 'https' ? https : http).request({ ...to, path: url, method, headers, agent, rejectUnauthorized: false });
	req.on('socket', (socket) => {
		if (!socket.connecting) noteSocket(record, socket);
		else socket.once('connect', () => noteSocket(record, socket));
	});
	const answered = new Promise((resolve) => {
		req.once('error', () => resolve(null)).once('close', () => resolve(null)).once('response', resolve);
		for (const name of ['upgrade', 'connect']) req.once(name, (res, socket) => resolve({ res, socket }));
	});
	if (expect) req.flushHeaders();
	const filled = fill(req, record, { ...options, wait: expect && Promise.race([once(req, 'continue').catch(() => {}), answered]) });
	if (leave) leave.then(() => req.destroy());
	const res = await answered;
	if (!res) Object.assign(record, { aborted: true, ended: now() });
	else if (res.socket && res.res) {
		Object.assign(record, { status: res.res.statusCode, bytes: null, request_bytes: null, headed: now(), ended: now() });
		noteSocket(record, res.socket);
		await tunnel(res.socket);
	} else await receive(res, record, options);
	if (!record.aborted) await filled;
	return record;
};

/** One request by fetch. */
exports.fetch = async (kind, to, url, { method = 'GET', headers = {}, body, chunks } = {}) => {
	const record = begin(method, url, to, kind === 'https', '1.1');
	record.fd = undefined;
	if (body) record.request_bytes = body.length;
	let sent = body;
	if (chunks) { // a stream: it is sent in chunks
		const size = Math.ceil(body.length / chunks);
		let at = 0;
		sent = new ReadableStream({
			pull(controller) {
				if (at >= body.length) return controller.close();
				controller.enqueue(new Uint8Array(body.subarray(at, at + size)));
				at += size;
			},
		});
	}
	const res = await fetch(`${kind}://${to.host.includes(':') ? `[${to.host}]` : to.host}:${to.port}${url}`, { method, headers, body: sent, duplex: 'half' });
	record.headed = now();
	record.status = res.status;
	record.bytes = (await res.arrayBuffer()).byteLength;
	record.ended = now();
	return record;
};

/** A connection of HTTP/2. */
exports.connect2 = async (kind, to) => {
	const session = http2.connect(`${kind === 'https2' ? 'https' : 'http'}://${to.host}:${to.port}`, { rejectUnauthorized: false });
	session.on('error', () => {});
	await once(session, 'connect');
	return session;
};

/** One stream of it. options: method, headers, body, leave (a promise: the stream is cancelled then). */
exports.request2 = async (session, kind, to, url, { method = 'GET', headers = {}, body, leave } = {}) => {
	const record = begin(method, url, to, kind === 'https2', '2');
	record.lport = session.socket.localPort;
	const stream = session.request({ ':method': method, ':path': url, ...headers }, { endStream: !body });
	stream.on('error', () => {});
	stream.on('response', (head) => Object.assign(record, { status: head[':status'], headed: now() }));
	stream.on('data', (data) => (record.bytes += data.length));
	if (body) {
		record.request_bytes = body.length;
		stream.end(body);
	}
	if (leave) leave.then(() => stream.close(http2.constants.NGHTTP2_CANCEL));
	await new Promise((resolve) => stream.once('close', resolve));
	record.ended = now();
	record.aborted = stream.rstCode !== 0;
	return record;
};
