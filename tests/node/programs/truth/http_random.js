// http_random.js - HTTP in shapes that nobody chose: messages of any size, cut anywhere, many connections at once.
// SPDX-License-Identifier: MIT
//
//   node http_random.js SEED [CONNECTIONS]      the same seed does the same
//
// Records as http.js prints them.
'use strict';
const { noted, once, serve, turns } = require('./common.js');
const { listen } = require('./http_server.js');
const { request } = require('./http_client.js');
const { connect } = require('./http_raw.js');
const http = require('http');
const https = require('https');

const seed = Number(process.argv[2]) >>> 0 || 1;
const count = Number(process.argv[3] ?? 12);

/** Numbers 0 <= n < limit, by xorshift; each connection has its own, so that who comes first does not matter. */
function dice(which) {
	let state = (seed * 2654435761 + which * 40503 + 1) >>> 0 || 1;
	const random = (limit) => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) % limit;
	};
	for (let i = 0; i < 8; i++) random(2);
	const one = (...list) => list[random(list.length)];
	const size = (large) => (random(4) ? random(40) : random(large)); // small as a rule
	const letters = (n) => Array.from({ length: n }, () => 'abcdefghijklmnopqrstuvwxyz0123456789-_.~'[random(40)]).join('');
	return { random, one, size, letters };
}

let serial = 0;
/** A URL of its own that asks for a random answer. */
function url({ random, one, size, letters }, name, isAlone) {
	const status = one(200, 200, 200, 201, 204, 304, 404, 500);
	const query = [`status=${status}`, `mode=${one('length', 'chunked')}`, `parts=${1 + random(5)}`, `bytes=${status === 204 || status === 304 ? 0 : size(70_000)}`];
	if (!random(6)) query.push(`delay=${random(5)}`);
	if (!random(6)) query.push('lookalike=1');
	if (!random(8) && !name.startsWith('https')) query.push('cork=1'); // node 16 forgets what it has corked over TLS
	if (!random(8) && isAlone) query.push('processing=1'); // node puts a 102 behind the head of a response that has to wait for others
	return `/${name}/random/${++serial}?${query.join('&')}&x=${letters(size(700))}`;
}

const heads = ({ random, one, size, letters }) =>
	Object.fromEntries(Array.from({ length: random(12) }, (_, i) => [one(`X-${i}`, `x-Other-Header-${i}`, `Cookie${i}`), letters(size(600))]));

function chunked({ random, one, letters }, bytes) {
	let text = '';
	for (let at = 0; at < bytes.length; ) {
		const n = 1 + random(Math.min(bytes.length - at, one(10, 5000)));
		text += `${one(n.toString(16), n.toString(16).toUpperCase().padStart(5, '0'))}${one('', '', ';name=value')}\r\n${bytes.slice(at, at + n)}\r\n`;
		at += n;
	}
	return `${text}0\r\n${one('', '', `X-Trailer: ${letters(20)}\r\n`)}\r\n`;
}

function message(luck, raw, name) {
	const { random, one, size, letters } = luck;
	const method = one('GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'REPORT', 'M-SEARCH');
	const head = heads(luck);
	if (method !== 'POST' && method !== 'PUT' && method !== 'PATCH') return raw.text(method, url(luck, name), { head });
	const body = one(letters(size(20_000)), 'POST /not-a-request HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(random(20)), '\r\n\r\n', '0\r\n\r\n');
	if (random(2)) return raw.text(method, url(luck, name), { head, body });
	return raw.text(method, url(luck, name), { head: { ...head, [one('Transfer-Encoding', 'transfer-encoding', 'TRANSFER-ENCODING')]: one('chunked', 'Chunked') }, body: chunked(luck, body), bytes: body.length });
}

/** Cuts into pieces, mostly few. */
function cut({ random, one }, text) {
	const pieces = [];
	for (let at = 0; at < text.length; ) {
		const n = 1 + random(one(text.length, text.length, 3000, 100, 7));
		pieces.push(text.slice(at, at + n));
		at += n;
	}
	return pieces;
}

async function converse(luck, to, kind, name) {
	const { random } = luck;
	const raw = await connect(to, kind === 'https');
	for (let round = 1 + random(3); round--; ) {
		const text = Array.from({ length: 1 + random(6) }, () => message(luck, raw, name)).join('');
		for (const piece of text.length > 30_000 ? [text] : cut(luck, text)) {
			await raw.send(piece);
			if (random(3)) await turns(1);
		}
		if (random(2)) await raw.answered();
	}
	await raw.done();
}

async function ask(luck, to, kind, name) {
	const { random, one, size } = luck;
	const agent = new (kind === 'https' ? https : http).Agent({ keepAlive: Boolean(random(3)), maxSockets: 1 + random(3) });
	const body = () => Buffer.alloc(size(30_000), 'b');
	await Promise.all(Array.from({ length: 1 + random(6) }, () => {
		const method = one('GET', 'GET', 'POST', 'PUT', 'HEAD');
		const rest = method === 'POST' || method === 'PUT' ? { body: body(), chunks: 1 + random(4) } : {};
		return request(kind, to, url(luck, name, true), { agent, method, headers: heads(luck), ...rest });
	}));
	agent.destroy();
}

async function main() {
	const places = {};
	for (const kind of ['http', 'https']) places[kind] = { port: (await listen(kind, 0, '127.0.0.1')).address().port, host: '127.0.0.1' };
	let beacons = 0;
	serve({
		beacon: async () => {
			await request('http', places.http, `/beacon/${++beacons}`, { agent: false });
			noted.length = 0;
		},
		go: async () => {
			const all = Array.from({ length: count }, (_, i) => {
				const kind = i % 3 ? 'http' : 'https';
				return (i % 2 ? converse : ask)(dice(i), places[kind], kind, `${kind}-${i}`);
			});
			await Promise.all(all);
			for (const record of noted) delete record.began, delete record.headed, delete record.ended;
		},
	});
}

main();
