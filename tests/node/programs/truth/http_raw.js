// http_raw.js - HTTP by hand, byte for byte: what node's modules would never send. SPDX-License-Identifier: MIT
//
//   const raw = await connect({ port, host });          a client; raw.get('/a') only notes the request and returns its text
//   await raw.send(raw.get('/a') + raw.get('/b'));       one write
//   await raw.done();                                    all answers are there, and noted
'use strict';
const net = require('net');
const tls = require('tls');
const { now, note, once, turns, tid, later } = require('./common.js');
const { begin } = require('./http_client.js');
const { plain } = require('./http_server.js');

/** Where a chunked body that begins at `at` ends: { end, bytes }, or null if it is not there yet. */
function readChunks(bytes, at) {
	for (let total = 0; ;) {
		const eol = bytes.indexOf('\r\n', at);
		if (eol < 0) return null;
		const size = parseInt(bytes.toString('latin1', at, eol), 16);
		if (size === 0) {
			const trailersEnd = bytes.indexOf('\r\n\r\n', eol);
			return trailersEnd < 0 ? null : { end: trailersEnd + 4, bytes: total };
		}
		at = eol + 2 + size + 2;
		if (at > bytes.length) return null;
		total += size;
	}
}

/** The first response in these bytes, or as much of it as is there: { status, end, bytes, untilClose }, null if its head is not whole. */
function readResponse(bytes, method) {
	const end = bytes.indexOf('\r\n\r\n');
	if (end < 0) return null;
	const head = bytes.toString('latin1', 0, end);
	const status = Number(head.slice(9, 12)), at = end + 4;
	if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return { status, end: at, bytes: 0 };
	if (/transfer-encoding: chunked/i.test(head)) return { status, end: null, ...readChunks(bytes, at) };
	const length = head.match(/content-length: (\d+)/i);
	if (!length) return { status, end: null, bytes: bytes.length - at, untilClose: true };
	const whole = at + Number(length[1]);
	return whole <= bytes.length ? { status, end: whole, bytes: Number(length[1]) } : { status, end: null, bytes: bytes.length - at };
}

class Raw {
	constructor(socket, to, isTls) {
		Object.assign(this, { socket, to, isTls, pending: [], got: Buffer.alloc(0), statuses: [], waiting: later() });
		socket.on('data', (data) => this.receive(data));
		socket.on('error', () => {});
		socket.on('close', () => this.close());
	}

	/** Notes a request, and returns its text. body goes with a Content-Length unless it is marked as chunked in `head`. */
	text(method, url, { version = '1.1', head = {}, body = '', bytes = body.length } = {}) {
		const record = begin(method, url, this.to, this.isTls, version);
		Object.assign(record, { lport: this.socket.localPort ?? null, fd: this.socket._handle?.fd ?? null, request_bytes: bytes });
		if (this.socket.remoteAddress) record.raddr = plain(this.socket.remoteAddress);
		this.pending.push(record);
		const fields = { Host: 'localhost', ...head };
		if (body && !Object.keys(fields).some((name) => /^transfer-encoding$/i.test(name))) fields['Content-Length'] = body.length;
		const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
		return `${method} ${url} HTTP/${version}\r\n${lines.join('')}\r\n${body}`;
	}

	get(url, options) {
		return this.text('GET', url, options);
	}

	/** One write. */
	send(text) {
		return new Promise((resolve) => this.socket.write(text, 'latin1', resolve));
	}

	/** A write for each of these parts, each in a read of its own if the reader is this thread too. */
	async sendParts(parts) {
		for (const part of parts) {
			await this.send(part);
			await turns(2);
		}
	}

	receive(data) {
		if (this.tunnel) return this.tunnel(data);
		this.got = Buffer.concat([this.got, data]);
		for (let response; this.pending.length && (response = readResponse(this.got, this.pending[0].method)); ) {
			const [record] = this.pending;
			if (response.status >= 200 || response.status === 101) {
				record.status = response.status;
				record.headed ??= now();
				record.bytes = response.bytes ?? null;
			}
			if (response.end === null) return;
			this.got = this.got.subarray(response.end);
			this.statuses.push(response.status);
			if (response.status < 200 && response.status !== 101) continue;
			record.ended = now();
			this.pending.shift();
		}
		if (!this.pending.length) this.waiting.resolve();
	}

	close() {
		for (const record of this.pending) {
			const response = readResponse(this.got, record.method);
			record.ended = now();
			record.aborted = !(response && response.untilClose);
			this.got = Buffer.alloc(0);
		}
		this.pending = [];
		this.waiting.resolve();
	}

	/** All that was asked for has been answered, or never will be. */
	async answered() {
		if (this.socket.destroyed) this.close();
		if (this.pending.length) await (this.waiting = later(), this.waiting.promise);
	}

	/** The same, and the connection is closed. */
	async done() {
		await this.answered();
		this.socket.destroy();
	}
}

/** A client's connection; options as for net.connect or, with isTls, tls.connect. */
exports.connect = async (to, isTls = false) => {
	const options = to.socketPath ? { path: to.socketPath } : to;
	const socket = isTls ? tls.connect({ ...options, rejectUnauthorized: false }) : net.connect(options);
	await once(socket, isTls ? 'secureConnect' : 'connect');
	socket.setNoDelay?.(true);
	return new Raw(socket, to, isTls);
};

/** A server that answers each connection's first request with these parts, a write each, and closes it then; `bytes` of
 *  them are the body. It notes what it did as any other server. */
exports.serve = async (parts, { bytes, aborted = false }) => {
	const whole = parts.join('');
	const server = net.createServer((socket) => {
		socket.setNoDelay(true);
		socket.on('error', () => {});
		socket.once('data', async (data) => {
			const [method, url, version] = data.toString('latin1').split('\r\n')[0].split(/ (?:HTTP\/)?/);
			const record = note({
				side: 'server', pid: process.pid, tid: tid(), method, url, version, tls: false, raddr: plain(socket.remoteAddress),
				rport: socket.remotePort, lport: socket.localPort, fd: socket._handle.fd, status: Number(whole.slice(9, 12)), bytes, aborted,
				request_bytes: 0, began: now(), headed: null, ended: null,
			});
			for (const part of parts) {
				record.ended = now();
				await new Promise((resolve) => socket.write(part, 'latin1', resolve));
				await turns(2);
			}
			if (aborted) socket.destroy();
			else socket.end();
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return server;
};
