// Texts of a request that a script does not read are not kept: whatever way it reads them, they are there.
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import { isRoot, node, start, until } from './lib.mjs';
import { startVerb } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };
const code = `require('http').createServer((q, s) => s.end('x')).listen(0, '127.0.0.1', function () { console.log(JSON.stringify(this.address())); })`;
const on = (event, body) => `node$target:::http-server-${event} { ${body} }`;

// [the program, what it prints for a request]
const ways = [
	[on('request', 'printf("%s\\n", args[0]->host);'), 'h.example'],
	[on('response', 'printf("%s\\n", args[6]->userAgent);'), 'agent/1'],
	[on('response', 'printf("%s\\n", args[6]->forwardedFor);'), '10.0.0.9'],
	[on('response', 'printf("%s %s\\n", args[6]->url, stringof(((struct node_native_request *)arg6)->user_agent));'), '/a agent/1'],
	[on('response', 'printf("%s\\n", strjoin(args[6]->host, args[6]->url));'), 'h.example/a'],
	[on('request', 'self->host = args[0]->host;') + on('response', 'printf("%s %s\\n", args[6]->url, self->host);'), '/a h.example'],
	[`node$target:::http-server-response /args[6]->host == "h.example"/ { printf("%s\\n", args[6]->method); }`, 'GET'],
	[`node$target:::http-server-response { @[args[6]->forwardedFor] = count(); printf("%s\\n", args[6]->url); } END { printa("%s\\n", @); }`, '/a', '10.0.0.9'],
	[on('response', 'printf("%s\\n", args[6]->url);'), '/a'],
];

test('texts of requests', needsRoot, async () => {
	const target = await start(node(24), { code });
	const verbs = ways.map(([program]) => startVerb(['trace', '-q', '-p', target.pid, '-n', program]));
	const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
	const headers = { Host: 'h.example', 'User-Agent': 'agent/1', 'X-Forwarded-For': '10.0.0.9' };
	const ask = () => new Promise((resolve, reject) => {
		http.get({ port: target.ready.port, path: '/a', agent, headers }, (answer) => answer.resume().on('end', resolve)).on('error', reject);
	});
	try {
		// Several on one connection: what the last one left there is not what this one says.
		await until(async () => {
			await ask();
			return verbs.every((verb) => verb.isGone() || verb.stdout.split('\n').length > 8);
		}, () => verbs.map((verb, i) => `${ways[i][0]}: ${verb.stdout.slice(0, 100)} ${verb.stderr}`).join('\n'));
		for (const [i, verb] of verbs.entries()) {
			const [program, expected, last] = ways[i], { code: status, stdout, stderr } = await verb.stop();
			assert.equal(status, 0, `${program}: ${stderr}`);
			const lines = stdout.split('\n').filter(Boolean);
			if (last) assert.equal(lines.pop(), last, program);
			assert.deepEqual([...new Set(lines)], [expected], program);
		}
	} finally {
		agent.destroy();
		for (const verb of verbs) if (!verb.isGone()) verb.child.kill('SIGKILL');
		await target.stop();
	}
});
