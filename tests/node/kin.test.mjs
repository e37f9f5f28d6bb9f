// kin: what a process does first is seen, however late it was started: nobody has to be fast enough. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRoot, nodes, start, until } from './lib.mjs';
import { startVerb } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

// Children ask their parent one thing and are gone: directly, through a shell, and a grandchild, all at once.
const code = `
	const http = require('http'), { spawn } = require('child_process');
	const child = 'require("http").get("http://127.0.0.1:" + process.argv[1] + "/" + process.pid, (r) => r.resume())';
	const server = http.createServer((q, s) => s.end('x')).listen(0, '127.0.0.1', () => console.log('{}'));
	const run = (...args) => new Promise((resolve) => spawn(...args, { stdio: 'inherit' }).on('exit', resolve));
	process.stdin.on('data', async (data) => {
		const port = String(server.address().port), node = process.execPath;
		if (String(data).includes('beacon')) return http.get('http://127.0.0.1:' + port + '/beacon', (r) => r.resume());
		const grandchild = 'require("child_process").spawn(process.execPath, ["-e", ' + JSON.stringify(child) + ', process.argv[1]])';
		await Promise.all([run(node, ['-e', child, port]), run(node, ['-e', child, port]), run(node, ['-e', grandchild, port]),
			run('/bin/sh', ['-c', 'true; "$0" -e "$1" "$2"', node, child, port])]);
		for (let i = 0; i < 2; i++) await run(node, ['-e', child, port]);
		console.log('over');
	})`;

const script = `node*:::http-client-request
	{
		printf("ask %d %s %s %s %s\\n", pid, probeprov, strjoin(probeprov, "!"), probename, args[0]->url);
		@[probeprov] = count();
	}
	node*:::http-client-response { printf("got %d %s %d %s\\n", pid, probeprov, args[7]->status, args[6]->url); }
	END { printa("sum %s %@d\\n", @); }`;

for (const node of nodes) {
	test(`node ${node.name}: the first request of a new process`, needsRoot, async () => {
		const target = await start(node, { code });
		const verb = startVerb(['trace', '-q', '-x', 'follow=children', '-p', target.pid, '-n', script]);
		try {
			await until(async () => {
				if (verb.stdout.includes('beacon') || verb.isGone()) return true;
				target.child.stdin.write('beacon\n');
				await new Promise((resolve) => setTimeout(resolve, 100));
				return false;
			}, () => `nothing is seen: ${verb.stderr}`);
			target.child.stdin.write('go\n');
			await until(() => target.stdout().includes('over') || verb.isGone(), () => `not over: ${target.stderr()}`);
			const { code: status, stdout, stderr } = await verb.stop();
			assert.equal(status, 0, stderr);
			const lines = stdout.split('\n').map((line) => line.split(' ')).filter((words) => !words.at(-1).includes('beacon'));
			const asked = lines.filter(([what]) => what === 'ask'), got = lines.filter(([what]) => what === 'got');
			assert.equal(asked.length, 6, `${stdout}${stderr}`);
			assert.equal(new Set(asked.map(([, pid]) => pid)).size, 6, stdout);
			for (const [, pid, provider, joined, name, url] of asked)
				assert.deepEqual([provider, joined, name, url], [`node${pid}`, `node${pid}!`, 'http-client-request', `/${pid}`], stdout);
			assert.deepEqual(got.map(([, pid]) => pid).sort(), asked.map(([, pid]) => pid).sort(), stdout);
			for (const [, pid, provider, code, url] of got) assert.deepEqual([provider, code, url], [`node${pid}`, '200', `/${pid}`], stdout);
			const sums = Object.fromEntries(lines.filter(([what]) => what === 'sum').map(([, provider, n]) => [provider, n]));
			for (const [, pid] of asked) assert.equal(sums[`node${pid}`], '1', stdout);
		} finally {
			if (!verb.isGone()) verb.child.kill('SIGKILL');
			await target.stop();
		}
	});
}
