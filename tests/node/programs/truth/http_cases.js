// http_cases.js - everything that HTTP/1 can do, by name; each case takes { to, kind }: the server, and http or https.
// SPDX-License-Identifier: MIT
//
// Every URL is asked for once, so that it names its request: /NAME/N.
'use strict';
const http = require('http');
const https = require('https');
const { request } = require('./http_client.js');
const { connect, serve } = require('./http_raw.js');
const { arrived, body } = require('./http_server.js');
const { once, turns } = require('./common.js');

const agentOf = (kind, options) => new (kind === 'https' ? https : http).Agent({ keepAlive: true, ...options });
const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));
/** Text that a parser must not take for a message of its own: it is in a body. */
const nested = 'POST /not-a-request HTTP/1.1\r\nHost: nobody\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 500 No\r\n\r\n';

/** An agent that is destroyed at the end. */
async function withAgent(kind, options, use) {
	const agent = agentOf(kind, options);
	await use(agent);
	agent.destroy();
}

const cases = (exports.cases = {});

cases.keepAlive = ({ to, kind, name }) =>
	withAgent(kind, { maxSockets: 1 }, async (agent) => {
		for (let i = 0; i < 5; i++) await request(kind, to, `/${name}/keep-alive/${i}?bytes=${i}`, { agent });
	});

cases.closing = async ({ to, kind, name }) => {
	await request(kind, to, `/${name}/closing/0`, { agent: false });
	await request(kind, to, `/${name}/closing/1?mode=close`, { agent: false });
	await request(kind, to, `/${name}/closing/2?mode=chunked&parts=3&bytes=100`, { agent: false });
};

cases.concurrent = ({ to, kind, name }) =>
	withAgent(kind, { maxSockets: 20 }, async (agent) => {
		for (let round = 0; round < 2; round++)
			await Promise.all(times(20, (i) => request(kind, to, `/${name}/concurrent/${round}/${i}?delay=${i % 3 ? 0 : 5}&bytes=${i * 100}`, { agent })));
	});

cases.pipelined = async ({ to, kind, name }) => {
	const raw = await connect(to, kind === 'https');
	await raw.send(times(5, (i) => raw.get(`/${name}/pipelined/${i}`)).join(''));
	// The second is answered first by its handler, but not on the wire.
	await raw.send(raw.get(`/${name}/pipelined/slow?delay=30`) + raw.get(`/${name}/pipelined/fast?bytes=7`) + raw.get(`/${name}/pipelined/last?delay=10&mode=chunked`));
	await raw.done();
};

cases.corked = async ({ to, kind, name }) => {
	const raw = await connect(to, kind === 'https');
	await raw.send(times(4, (i) => raw.get(`/${name}/corked/${i}?cork=1&bytes=${10 + i}&mode=${i % 2 ? 'chunked' : 'length'}&status=${200 + i}`)).join(''));
	await raw.done();
};

cases.splitHeads = async ({ to, kind, name }) => {
	const raw = await connect(to, kind === 'https');
	await raw.sendParts([...raw.get(`/${name}/split/bytes`)]);
	const text = raw.text('PROPFIND', `/${name}/split/places`, { head: { 'User-Agent': 'in parts' } });
	const places = [1, 7, 12, text.indexOf(' HTTP') + 3, text.indexOf('\r') + 1, text.indexOf('User') + 2, text.length - 3, text.length - 1];
	await raw.sendParts(times(places.length + 1, (i) => text.slice(places[i - 1] ?? 0, places[i])));
	// The end of one and the beginning of the next in one write.
	const next = raw.text('POST', `/${name}/split/post`, { body: 'hello world' }), after = raw.get(`/${name}/split/after`);
	await raw.sendParts([next.slice(0, -5), next.slice(-5) + after.slice(0, 3), after.slice(3)]);
	await raw.done();
};

cases.rawBodies = async ({ to, kind, name }) => {
	const raw = await connect(to, kind === 'https');
	const chunked = { head: { 'Transfer-Encoding': 'chunked' } };
	await raw.send(
		raw.text('POST', `/${name}/raw/nested`, { body: nested }) +
		raw.text('PUT', `/${name}/raw/extension`, { ...chunked, body: '5;name=value\r\nhello\r\n1A\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n', bytes: 31 }) +
		raw.text('POST', `/${name}/raw/trailer`, { ...chunked, body: '3\r\nabc\r\n0\r\nX-Sum: 3\r\nX-Other: 4\r\n\r\n', bytes: 3 }) +
		raw.text('POST', `/${name}/raw/empty`, { ...chunked, body: '0\r\n\r\n', bytes: 0 }) +
		raw.get(`/${name}/raw/next`));
	const slow = raw.text('POST', `/${name}/raw/chunks-in-parts`, { ...chunked, body: '10\r\n0123456789abcdef\r\n3\r\nxyz\r\n0\r\n\r\n', bytes: 19 });
	const at = slow.indexOf('\r\n\r\n');
	await raw.sendParts([slow.slice(0, at + 2), ...slow.slice(at + 2)]);
	// Empty lines before a request are to be ignored.
	await raw.send('\r\n\r\n' + raw.get(`/${name}/raw/after-lines`));
	await raw.done();
};

cases.bodies = ({ to, kind, name }) =>
	withAgent(kind, { maxSockets: 1 }, async (agent) => {
		const send = (what, options) => request(kind, to, `/${name}/bodies/${what}`, { method: 'POST', agent, ...options });
		await send('length', { body: body(1000), headers: { 'Content-Length': 1000 } });
		await send('chunked?mode=chunked&bytes=3000&parts=3', { body: body(2000), chunks: 4 });
		await send('none', { method: 'GET' });
		await send('lookalike?lookalike=1&bytes=500&parts=4', { body: body(300, true), chunks: 3 });
		await send('trailers?mode=chunked&trailers=1&bytes=50', { body: body(20), trailers: true, headers: { Trailer: 'X-Sum' } });
		await send('pause?mode=chunked&delay=10&pause=40&bytes=50&parts=2', {});
		await send('paused-length?delay=10&pause=40&bytes=50&parts=2', {});
	});

cases.large = ({ to, kind, name }) =>
	withAgent(kind, { maxSockets: 1 }, async (agent) => {
		const n = kind === 'https' ? 1 << 20 : 8 << 20;
		await request(kind, to, `/${name}/large/down?bytes=${n}`, { agent, slowly: 30 });
		await request(kind, to, `/${name}/large/down-chunked?bytes=${n + 1}&mode=chunked&parts=50`, { agent });
		await request(kind, to, `/${name}/large/up`, { agent, method: 'POST', body: body(n), headers: { 'Content-Length': n } });
		await request(kind, to, `/${name}/large/both?bytes=${n}&lookalike=1`, { agent, method: 'PUT', body: body(n, true), chunks: 20 });
	});

cases.informational = async ({ to, kind, name }) => {
	await withAgent(kind, { maxSockets: 1 }, async (agent) => {
		const headers = { Expect: '100-continue', 'Content-Length': 100 };
		await request(kind, to, `/${name}/info/continue`, { agent, method: 'POST', headers, body: body(100), expect: true });
		await request(kind, to, `/${name}/info/processing?processing=1&pause=20`, { agent });
		await request(kind, to, `/${name}/info/hints?hints=1&processing=1&pause=20`, { agent });
		await request(kind, to, `/${name}/info/next`, { agent });
	});
	const raw = await connect(to, kind === 'https');
	await raw.send(raw.text('POST', `/${name}/info/refuse`, { head: { Expect: '100-continue', 'Content-Length': 100 } }));
	await raw.done();
};

async function echo(socket) {
	socket.on('error', () => {});
	for (const text of [nested, 'HTTP/1.1 200 OK\r\n\r\n', '\x81\x05hello']) {
		const back = once(socket, 'data');
		socket.write(text, 'latin1');
		await back;
	}
	socket.destroy();
	await once(socket, 'close');
}

cases.tunnels = async ({ to, kind, name }) => {
	const headers = { Connection: 'Upgrade', Upgrade: 'echo' };
	await request(kind, to, `/${name}/upgrade`, { headers, agent: false, tunnel: echo });
	await request(kind, to, `${name}.example.org:443`, { method: 'CONNECT', agent: false, tunnel: echo });
};

cases.noBody = ({ to, kind, name }) =>
	withAgent(kind, { maxSockets: 1 }, async (agent) => {
		await request(kind, to, `/${name}/head?bytes=100`, { agent, method: 'HEAD' });
		await request(kind, to, `/${name}/head-chunked?bytes=100&mode=chunked`, { agent, method: 'HEAD' });
		await request(kind, to, `/${name}/204?status=204`, { agent });
		await request(kind, to, `/${name}/304?status=304&bytes=100`, { agent });
		await request(kind, to, `/${name}/404?status=404`, { agent });
		await request(kind, to, `/${name}/500?status=500&bytes=0`, { agent });
	});

cases.http10 = async ({ to, kind, name }) => {
	let raw = await connect(to, kind === 'https');
	await raw.send(raw.get(`/${name}/1.0/until-close?mode=close&bytes=1000&parts=3`, { version: '1.0' }));
	await raw.done();
	raw = await connect(to, kind === 'https');
	await raw.send(raw.get(`/${name}/1.0/keep-alive`, { version: '1.0', head: { Connection: 'keep-alive' } }));
	await raw.send(raw.get(`/${name}/1.0/last`, { version: '1.0' }));
	await raw.done();
};

cases.aborted = async ({ to, kind, name }) => {
	const options = { agent: false };
	const hang = `/${name}/aborted/hang?hang=1`, upload = `/${name}/aborted/upload?hang=1`, down = `/${name}/aborted/down?bytes=${4 << 20}&parts=64&pause=1`;
	await request(kind, to, hang, { ...options, leave: arrived(hang) });
	await request(kind, to, `/${name}/aborted/before?die=before`, options);
	await request(kind, to, `/${name}/aborted/middle?die=middle&bytes=1000&parts=2`, options);
	await request(kind, to, `/${name}/aborted/chunked?die=middle&bytes=1000&parts=2&mode=chunked`, options);
	await Promise.all([hang, upload, down].slice(1).map(async (url) => {
		const raw = await connect(to, kind === 'https');
		const isUpload = url === upload;
		await raw.send(isUpload ? raw.text('POST', url, { head: { 'Content-Length': 1000 }, bytes: null }) + 'only a part' : raw.get(url));
		await arrived(url);
		await turns(2);
		if (!isUpload) raw.pending[0].bytes = null;
		raw.socket.destroy();
		await raw.done();
	}));
};

cases.early = async ({ to, kind, name }) => {
	// It is answered before its body is there.
	const raw = await connect(to, kind === 'https');
	await raw.send(raw.text('POST', `/${name}/early?early=1&status=413&mode=close`, { head: { 'Content-Length': 100 }, bytes: null }) + 'some');
	await raw.done();
};

cases.urls = ({ to, kind, name }) =>
	withAgent(kind, { maxSockets: 1 }, async (agent) => {
		for (const n of [200, 255, 256, 257, 300, 1023, 1100, 4000])
			await request(kind, to, `/${name}/url/${n}?`.padEnd(n, '0123456789'), { agent });
		await request(kind, to, `/${name}/caf%C3%A9/%2F?a=b&c[]=%20"'&d=<>`, { agent });
		await request(kind, to, `http://localhost/${name}/absolute`, { agent });
		for (const method of ['PURGE', 'PROPFIND', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'M-SEARCH', 'TRACE'])
			await request(kind, to, `/${name}/method/${method}`, { agent, method });
	});

cases.headers = async ({ to, kind, name }) => {
	const raw = await connect(to, kind === 'https');
	await raw.send(raw.get(`/${name}/headers/mixed`, { head: { Host: 'one.example:80', 'X-FORWARDED-for': '10.1.2.3, 10.9.9.9', 'uSER-aGENT': 'test/1 (a b)', 'X-Empty': '' } }));
	await raw.send(raw.get(`/${name}/headers/many`, { head: Object.fromEntries(times(40, (i) => [`X-Header-${i}`, 'v'.repeat(60)])) }));
	await raw.send(raw.get(`/${name}/headers/late`, { head: { 'X-Long': 'l'.repeat(3000), 'User-Agent': 'behind', 'X-Forwarded-For': '192.0.2.7' } }));
	await raw.send(raw.text('POST', `/${name}/headers/after-long`, { head: { Cookie: 'c'.repeat(5000) }, body: 'the body' }));
	await raw.done();
};

/** What no parser takes: the server answers 400 to whatever was sent, or just closes. */
cases.garbage = async ({ to, kind, name }) => {
	for (const text of ['\x16\x03\x01\x02\x00\x01garbage', 'HELLO WORLD\r\n\r\n', 'GET', '\r\n\r\n', '\0\0\0\0']) {
		const raw = await connect(to, kind === 'https');
		raw.socket.end(text, 'latin1');
		await new Promise((resolve) => raw.socket.once('close', resolve));
	}
	// A method that node's server does not know; a client may send it all the same.
	const raw = await connect(to, kind === 'https');
	await raw.send(raw.text('GETX', `/${name}/garbage/method`));
	await raw.done();
};

/** Answers in parts, as no node sends them; the client is node's. */
cases.splitAnswers = async ({ name }) => {
	const answers = {
		bytes: { parts: [...'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello'], bytes: 5 },
		chunks: { parts: [...'HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0A\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n'], bytes: 15 },
		untilClose: { parts: ['HTTP/1.1 203 Else\r\n\r', '\nuntil ', 'the end'], bytes: 13 },
		old: { parts: ['HTTP/1.0 200 OK\r\n\r\nold'], bytes: 3 },
		noReason: { parts: ['HTTP/1.1 299 \r\ncontent-length:   4   \r\nConnection: close\r\n\r\nabcd'], bytes: 4 },
		cut: { parts: ['HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort'], bytes: 5, aborted: true },
	};
	for (const [what, { parts, ...rest }] of Object.entries(answers)) {
		const server = await serve(parts, rest);
		await request('http', { port: server.address().port, host: '127.0.0.1' }, `/${name}/answers/${what}`, { agent: false });
		server.close();
	}
};
