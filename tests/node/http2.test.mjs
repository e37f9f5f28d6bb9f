// Streams of HTTP/2 by their own probes, and what passes through TLS, on every node. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRoot, nodes } from './lib.mjs';
import { compare, traced } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };
const CANCEL = 8; // of a stream that its client gave up

// The beacon of http.js is HTTP/1, and over TLS only when that is asked for.
const beacon = ['node$target:::http-server-request', { what: ['%s', '"beacon"'] }];
const stream = {
	what: ['%s', 'probename'], probe: ['%s', 'args[0]->isServer ? "server" : "client"'], stream: ['%d', 'args[0]->stream'], status: ['%d', 'args[0]->status'],
	code: ['%d', 'args[0]->code'], duration: ['%d', 'args[0]->duration'], fd: ['%d', 'args[1]->fd'], tls: ['%d', 'args[1]->isTls'],
	raddr: ['%s', 'args[1]->remoteAddress'], rport: ['%d', 'args[1]->remotePort'], method: ['%s', 'args[2]->method'], host: ['%s', 'args[2]->host'],
	user_agent: ['%s', 'args[2]->userAgent'], forwarded_for: ['%s', 'args[2]->forwardedFor'], url: ['%s', 'args[2]->url'],
};
const key = ({ side, probe, url }) => `${side ?? probe} ${url}`;
const named = (...names) => Object.fromEntries(names.map((name) => [name, name]));

for (const node of nodes) {
	test(`node ${node.name}: streams open and close`, needsRoot, async () => {
		const clauses = [['node$target:::http2-stream-open, node$target:::http2-stream-close', stream], beacon];
		const { truth, records } = await traced(node, 'http.js', clauses, { args: ['http2'] });
		const expected = truth.map((record) => ({ ...record, tls: Number(record.tls), status: record.status ?? 0, code: record.aborted ? CANCEL : 0 }));
		const only = (what) => records.filter((record) => record.what === what);
		const always = named('method', 'tls', 'fd', 'raddr', 'rport', 'host');
		assert.ok(expected.length > 40, 'it did much');
		compare(expected, only('http2-stream-open'), { key, fields: always });
		compare(expected, only('http2-stream-close'), {
			key, fields: { ...always, ...named('status', 'code') },
			check: (wanted, { stream: id, duration }) => (id % 2 === 1 && duration > 0 ? [] : ['no number, or no time']),
		});
		const agents = only('http2-stream-open').filter(({ url, probe }) => url.includes('/404') && probe === 'server');
		assert.deepEqual(agents.map(({ user_agent: agent, forwarded_for: by }) => [agent, by]), [['two', '10.2.3.4'], ['two', '10.2.3.4']]);
	});

	test(`node ${node.name}: TLS in clear`, needsRoot, async () => {
		const bytes = {
			what: ['%s', 'probename'], fd: ['%d', 'args[0]->fd'], tls: ['%d', 'args[0]->isTls'], size: ['%d', 'args[2]'],
			line: ['%s', 'strtok(copyinstr(arg1, args[2] < 200 ? args[2] : 200), "\\r")'],
		};
		const clauses = [['node$target:::tls-read, node$target:::tls-write', bytes], beacon];
		const { truth, records } = await traced(node, 'http.js', clauses, { args: ['keepAlive'] });
		const secure = truth.filter(({ tls }) => tls);
		const lines = (name) => records.filter(({ what }) => what === name).map(({ line, fd }) => `${line} ${fd}`);
		assert.ok(secure.length > 2);
		for (const { side, method, url, fd, status } of secure) {
			const [asked, answered] = side === 'server' ? ['tls-read', 'tls-write'] : ['tls-write', 'tls-read'];
			assert.equal(lines(asked).filter((line) => line === `${method} ${url} HTTP/1.1 ${fd}`).length, 1, `${url} is asked once: ${lines(asked).join('\n')}`);
			assert.ok(lines(answered).some((line) => line.startsWith(`HTTP/1.1 ${status} `) && line.endsWith(` ${fd}`)), `${url} is answered`);
		}
		assert.ok(records.every(({ what, tls, size }) => what === 'beacon' || (tls === 1 && size > 0)));
	});
}
