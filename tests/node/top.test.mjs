// top.test.mjs - `noderay top`: tables and objects on every node. SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { nodes, node, start, noderay, jsonLines, isRoot, tmp } from './lib.mjs';

const options = { skip: !isRoot && 'needs root' };

// A machine with much else to do gives it little: then once more.
async function look(target, args = [], isEnough = () => true) {
	for (let tries = 0; ; tries++) {
		const result = await noderay(['top', '--json', '-n', 1, ...args, target.pid]);
		assert.equal(result.code, 0, result.stderr);
		const [object] = jsonLines(result.stdout);
		if ((object.samples >= 10 && isEnough(object)) || tries === 20) return object;
	}
}

for (const each of nodes)
	test(`node ${each.name}`, options, async (t) => {
		const target = await start(each, 'hot.js', { args: ['worker'] });
		t.after(target.stop);
		const top = await look(target, ['--rows', 0], ({ gc, threads: [main, worker] }) =>
			gc?.count && worker?.cpu && main.loop?.lag_ms.max >= 60);

		assert.equal(top.functions[0].name, 'spin');
		assert.equal(top.functions[0].kind, 'js');
		assert.equal(top.functions[0].file, target.file);
		assert.equal(top.functions[0].line, 9);
		assert.ok(top.functions[0].self > 0.5, `${top.functions[0].self}`);
		const burst = top.functions.find((f) => f.name.endsWith('burst'));
		assert.ok(burst.total > burst.self && burst.total <= 1);
		assert.equal(top.functions.reduce((sum, f) => sum + f.self_samples, 0) <= top.samples, true);
		assert.ok(Math.abs(Object.values(top.kinds).reduce((a, b) => a + b) - 1) < 1e-6);

		assert.equal(top.pid, target.pid);
		assert.equal(top.node, each.version);
		assert.match(top.title, /^node .*hot\.js worker$/);
		assert.ok(top.rss > 10e6);
		assert.ok(top.cpu > 0);
		const [main, worker] = top.threads;
		assert.deepEqual([main.role, main.tid, main.name], ['main', target.pid, 'main']);
		assert.equal(worker.role, 'worker');
		assert.match(worker.name, /^worker( 1)?( \(miller\))?$/);
		assert.ok(main.cpu > 0 && worker.cpu > 0);
		assert.ok(top.threads.some((x) => x.role === 'platform' && x.threads > 1));
		assert.ok(main.loop.utilization > 0.3 && main.loop.utilization <= 1);
		assert.ok(main.loop.lag_ms.max >= 60); // spin() has no end before
		assert.ok(top.gc.count > 0 && top.gc.share > 0 && top.gc.max_ms > 0);
		assert.ok(top.heap > 1e6);
		assert.equal(top.requests_per_s, null);
	});

test('tables', options, async (t) => {
	const target = await start(node(22), 'hot.js');
	t.after(target.stop);
	let tables;
	for (let tries = 0; tries < 20 && !(tables?.length === 2 && tables.every((text) => text.includes('  spin '))); tries++) {
		const { code, stdout, stderr } = await noderay(['top', '-b', '-n', 2, '-i', '500ms', '--rows', 3, target.pid]);
		assert.equal(code, 0, stderr);
		tables = stdout.split('\n\n');
	}
	for (const table of tables) {
		assert.match(table, new RegExp(`^\\d\\d:\\d\\d:\\d\\d ${target.pid} node .*hot.js  node 22\\.`));
		assert.match(table, /^CPU [\d.]+%  RSS \d+M/m);
		assert.match(table, /^ +SELF +TOTAL  KIND +FUNCTION +PLACE$/m);
		assert.match(table, /^ *[\d.]+% +[\d.]+% {2}js +spin +\/.*hot\.js:9$/m);
		const lines = table.trimEnd().split('\n');
		assert.equal(lines.length - lines.findIndex((l) => l.includes('TOTAL')), 4);
	}

	const filtered = await look(target, ['--filter', 'BURST', '--sort', 'name']);
	assert.deepEqual(filtered.functions.map((f) => f.name.replace(/.*\./, '')), ['burst']);
	const own = await look(target, ['--hide', 'native,kernel,builtin,node,gc,compiler,unknown']);
	assert.ok(own.functions.every((f) => f.kind === 'js'));
	const bare = await look(target, ['--no-events', '--http', '-F', '499']);
	assert.deepEqual([bare.gc, bare.loop, bare.heap, bare.requests_per_s], [null, null, null, 0]);
	assert.equal(bare.source, '499 Hz');
});

test('processes that a target starts, and all of them', options, async (t) => {
	const code = `const cluster = require('cluster');
if (cluster.isMaster) { cluster.fork(); console.log(1); setInterval(() => {}, 1000); }
else setInterval(function child() { const e = Date.now() + 40; while (Date.now() < e); }, 60);`;
	const target = await start(node(20), { code, name: 'parent.js' });
	t.after(target.stop);
	const top = await look(target, ['--rows', 0], ({ processes }) => processes === 2);
	assert.equal(top.processes, 2);
	assert.equal(top.pid, target.pid);
	const mains = top.threads.filter((x) => x.role === 'main');
	assert.deepEqual(mains.map((x) => x.name.replace(/\d+/, 'N')), ['N main', 'N main']);
	assert.ok(top.functions.some((f) => f.name.endsWith('child')));
	const { stdout } = await noderay(['top', '--json', '-n', 1, '--no-children', target.pid]);
	assert.equal(jsonLines(stdout)[0].processes, 1);

	// Nothing but nodes: a shell that is busy is not seen.
	const busy = spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' });
	try {
		const all = await noderay(['top', '--json', '-n', 1, '--all', '--no-children']);
		const [{ threads }] = jsonLines(all.stdout);
		assert.ok(threads.some((x) => x.pid === target.pid));
		assert.ok(threads.every((x) => x.pid !== busy.pid));
	} finally {
		busy.kill('SIGKILL');
	}
});

test('without rights', options, async (t) => {
	const target = await start(node(24), 'hot.js', { user: 'nobody' });
	t.after(target.stop);
	const { code, stdout, stderr } = await noderay(['top', '--json', '-n', 1, '-i', 2, target.pid], { user: 'nobody' });
	assert.equal(code, 0, stderr);
	assert.match(stderr, /without capabilities/);
	const [top] = jsonLines(stdout);
	assert.match(top.source, /^\d+ Hz in user space$/);
	assert.equal(top.functions[0].name, 'spin');
	assert.deepEqual([top.gc, top.loop, top.threads[0].role], [null, null, 'main']);
});

test('targets that end, or are started', options, async (t) => {
	const target = await start(node(24), 'hot.js');
	t.after(target.stop);
	const watching = noderay(['top', '-b', '-i', '200ms', target.pid]);
	setTimeout(() => target.child.kill(), 1500); // whenever that is, it ends by itself, and says something
	const dead = await watching;
	assert.equal(dead.code, 0, dead.stderr);
	assert.match(dead.stdout + dead.stderr, /hot\.js|the process ended before it was seen/);
	const code = '(function hot() { const e = Date.now() + 5; while (Date.now() < e); if (process.uptime() < 1) setImmediate(hot); })()';
	const file = path.join(tmp(), 'short.js');
	fs.writeFileSync(file, code);
	const started = await noderay(['top', '--json', '--rows', 0, '--', node(24).path, file]);
	assert.equal(started.code, 0, started.stderr);
	const objects = started.stdout.split('\n').filter((l) => l.startsWith('{')).map((l) => JSON.parse(l));
	assert.ok(objects.some((o) => o.functions.some((f) => f.name.endsWith('hot'))));
});

test('what is asked wrongly', async () => {
	for (const [args, says] of [
		[['--sort', 'size', '1'], /--sort is self, total or name, not 'size'/],
		[['--hide', 'js,foo', '1'], /there is no kind 'foo'/],
		[['-i', '10ms', '1'], /--interval can be 100ms to 1h/],
		[['-w', '3', '1'], /--window can be 1, 2, 5, 10, 30 or 60|each table is of its interval/],
		[['-b', '-n', '0', '1'], /--count must be 1 or more/],
		[['-F', '0', '1'], /--frequency can be 1 to 10000/],
		[['--filter', 'x'.repeat(200), '1'], /--filter takes at most/],
	]) {
		const { code, stderr, stdout } = await noderay(['top', ...args]);
		assert.deepEqual([code, stdout], [2, '']);
		assert.match(stderr, says);
	}
	const { code, stdout } = await noderay(['top', '--show-script', '-i', '2', '--http', '-F', '997']);
	assert.equal(code, 0);
	assert.match(stdout, /^inline int every = 20;.*^inline int requests = 1;.*^profile-997$/ms);
});
