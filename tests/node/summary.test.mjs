// noderay summary: the page says what a program that does a bit of everything did, and names its troubles. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRoot, noderay, nodes, start } from './lib.mjs';

const program = `
const http = require('http'), fs = require('fs'), crypto = require('crypto'), dns = require('dns');
// Of its own time, so that a busy machine takes none of it away.
function culprit(ms) { const start = process.cpuUsage(); for (let u = { user: 0, system: 0 }, x = 0; u.user + u.system < ms * 1000; u = process.cpuUsage(start)) for (let i = 0; i < 1e6; i++) x += Math.sqrt(i); }
const server = http.createServer((request, response) => {
	if (request.url === '/block') culprit(150);
	if (request.url === '/sync') fs.readFileSync(__filename);
	if (request.url === '/fail') response.statusCode = 500;
	if (request.url === '/hash') return crypto.pbkdf2('a', 'b', 20000, 64, 'sha512', () => response.end('x'));
	if (request.url === '/name') return dns.lookup('localhost', () => response.end('d'));
	response.end('hello');
}).listen(0, '127.0.0.1', () => {
	const get = (url) => http.get({ port: server.address().port, path: url }, (response) => response.resume());
	setInterval(() => ['/user/1', '/user/2', '/sync', '/fail', '/hash', '/name'].forEach(get), 60);
	setInterval(() => get('/block'), 500);
	console.log('{}');
});`;

for (const n of nodes)
	test(`node ${n.name}`, { skip: !isRoot && 'tracing needs root' }, async (t) => {
		const target = await start(n, { code: program, name: 'app.js' });
		const { file } = target;
		t.after(() => target.stop());
		const { code, stdout, stderr } = await noderay(['summary', '-d', '3', '--json', String(target.pid)], { timeout: 120_000 });
		assert.equal(code, 0, stderr);
		const page = JSON.parse(stdout);
		assert.equal(page.pid, target.pid);
		assert.equal(page.script, file);
		assert.ok(page.seconds >= 3);
		const urls = new Map(page.urls.map((row) => [row.url, row]));
		for (const url of ['/user/:n', '/sync', '/fail', '/hash', '/name']) assert.ok(urls.get(url)?.count > 0, `${url} in ${stdout}`);
		assert.ok(!urls.has('/user/1'));
		assert.ok(urls.get('/fail').failed > 0);
		assert.ok(page.outgoing.length > 0, stdout);
		assert.ok(page.loop.iterations > 0 && page.loop.lag_ms.max >= 150, JSON.stringify(page.loop));
		assert.ok(page.memory.rss > 1e7 && page.files > 5, stdout);
		assert.ok(page.functions.some((row) => /culprit/.test(row.function)), JSON.stringify(page.functions));
		assert.ok(page.names.some((row) => row.host === 'localhost'), stdout);
		assert.ok(page.paths.some((row) => row.path === file), stdout);
		assert.ok(page.works.length > 0, stdout);
		const commands = page.advice.map((advice) => advice.command).join('\n');
		assert.ok(page.advice.length > 0 && page.advice.length <= 3);
		assert.match(commands, new RegExp(` ${target.pid}$`, 'm'));
		// One request in six fails, and a block of 150 ms comes twice a second: both are said.
		assert.match(commands, /http --status 5xx/);
	});

test('the page itself', { skip: !isRoot && 'tracing needs root' }, async (t) => {
	const target = await start(nodes.at(-2), { code: 'setInterval(() => {}, 50); console.log("{}")' });
	t.after(() => target.stop());
	const { code, stdout, stderr } = await noderay(['summary', '-d', '500ms', String(target.pid)], { timeout: 120_000 });
	assert.equal(code, 0, stderr);
	for (const word of ['CPU', 'loop', 'GC', 'memory', 'files']) assert.match(stdout, new RegExp(`^${word} +\\S`, 'm'));
	assert.match(stdout, /Nothing stands out|Worth a look/);
	assert.ok(stdout.split('\n').every((line) => line.length <= 80), stdout);
});

test('another user\'s process is not ours to look at', { skip: !isRoot && 'needs root to become somebody else' }, async (t) => {
	const target = await start(nodes[0], { code: 'setInterval(() => {}, 50); console.log("{}")' });
	t.after(() => target.stop());
	for (const verb of ['summary', 'http', 'gc', 'loop', 'fs', 'dns', 'net', 'pool', 'syscalls']) {
		const { code, stderr } = await noderay([verb, '-d', '1', String(target.pid)], { user: 'nobody', timeout: 60_000 });
		assert.equal(code, 3, `${verb}: ${stderr}`);
		assert.match(stderr, /setcap cap_bpf,cap_perfmon,cap_sys_ptrace/);
	}
});
