// Thread roles: what noderay stack says each thread of a node is for. SPDX-License-Identifier: MIT
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { node as nodeOf, nodes, start, noderay, takeCore, jsonLines, tmp, isRoot } from './lib.mjs';

const targets = [];
after(async () => {
	for (const target of targets) await target.stop();
});

async function begin(node, { program = 'threads.js', ...options } = {}) {
	const target = await start(node, program, { flags: ['--inspect=0'], ...options });
	targets.push(target);
	return target;
}

async function stacks(what, options) {
	const { code, stdout, stderr } = await noderay(['stack', '--json', what], options);
	assert.equal(code, 0, stderr);
	return jsonLines(stdout);
}

/** Whether this release of node keeps the name that a worker is given. */
function keepsNames({ version, major }) {
	const minor = Number(version.split('.')[1]);
	return major >= 20 || (major === 19 && minor >= 8) || (major === 18 && minor >= 16);
}

const names = (thread) => thread.frames.map((f) => f.function);

function check(threads, { pid, ready, node }) {
	const of = (role) => threads.filter((t) => t.role === role);

	assert.deepEqual(of('main').map((t) => t.tid), [pid]);
	assert.deepEqual(of('other').filter((t) => !t.thread.startsWith('iou-')).map((t) => names(t)), []);
	assert.equal(of('platform').length, 4);
	assert.equal(of('pool').length, 4);
	for (const single of ['delayed', 'inspector', 'signal']) assert.equal(of(single).length, 1, single);
	assert.deepEqual(of('pool').map((t) => t.role_text), [1, 2, 3, 4].map((n) => `libuv pool worker ${n}`));

	const workers = new Map(of('worker').map((t) => [t.worker, t]));
	assert.deepEqual([...workers.keys()].sort(), Object.values(ready.ids).sort());
	for (const [kind, within] of [['busy', 'busy'], ['wait', 'wait'], ['vm', 'spinInVm']])
		assert.ok(names(workers.get(ready.ids[kind])).includes(within), `worker ${kind} runs ${within}`);
	for (const [kind, id] of Object.entries(ready.ids)) {
		const name = keepsNames(node) ? ` (the ${kind} one)` : '';
		assert.equal(workers.get(id).role_text, `worker_threads worker ${id}${name}`);
	}
}

const roles = (threads) => threads.map(({ tid, role, role_text, worker }) => ({ tid, role, role_text, worker }));

for (const node of nodes) {
	test(`node ${node.name}: every thread has its role, alive and in a core`, async () => {
		const target = await begin(node);
		const alive = await stacks(target.pid);
		check(alive, target);
		const dead = await stacks(await takeCore(target));
		check(dead, target);
		assert.deepEqual(roles(dead), roles(alive));
		await target.stop();
	});

	test(`node ${node.name}: the same for an unprivileged user`, { skip: !isRoot && 'needs root to become another user' }, async () => {
		const user = 'nobody';
		const target = await begin(node, { user });
		check(await stacks(target.pid, { user }), target);
		await target.stop();
	});
}

for (const node of nodes) {
	test(`node ${node.name}: profiler, watchdogs and the writer of trace events`, async () => {
		const trace = path.join(tmp(), 'trace.log');
		const flags = ['--trace-event-categories', 'node.perf', '--trace-event-file-pattern', trace];
		const target = await begin(node, { program: 'helpers.js', flags });
		const others = (await stacks(target.pid)).filter((t) => t.role === 'other' && !t.thread.startsWith('iou-'));
		const expected = ['V8 CPU profiler', 'watchdog (SIGINT in vm or repl)', 'watchdog (timeout of vm code)'];
		// A stripped node does not tell what the writer's function is; newer ones name the thread.
		const told = !node.stripped || others.some((t) => t.thread === 'TraceEventWorke');
		expected.push(told ? 'trace-events writer' : 'other thread');
		assert.deepEqual(others.map((t) => t.role_text).sort(), expected.sort());
		await target.stop();
	});
}

// The first and the last official release without their symbol tables; node 16 names its threads like the process.
for (const node of [nodes[0], nodes.filter((n) => n.name !== 'debian').at(-1)]) {
	test(`node ${node.name}, stripped: every thread has its role`, async () => {
		const file = path.join(tmp(), 'node');
		execFileSync('strip', ['-o', file, node.path]);
		const target = await begin({ ...node, path: file });
		check(await stacks(target.pid), target);
		await target.stop();
	});
}

// libuv 1.45 to 1.48 asks for them: when told to, in node 20.3, 20.9 and others unasked.
test('threads that the kernel runs for io_uring are called so and get no role of node', async (t) => {
	const code = `
		const { Worker, isMainThread } = require('worker_threads');
		const ready = () => require('fs').stat(__filename, () => console.log('{}'));
		if (isMainThread) new Worker(__filename).on('online', ready);
		setInterval(() => {}, 1000);`;
	const target = await begin(nodeOf(20), { program: { code }, flags: [], env: { UV_USE_IO_URING: '1' } });
	const alive = await stacks(target.pid);
	const kernels = (threads) => threads.filter((thread) => thread.thread.startsWith('iou-'));
	if (!kernels(alive).length) return t.skip('this kernel does not let node use io_uring');
	const dead = await stacks(await takeCore(target));
	for (const threads of [alive, dead]) {
		for (const { role, role_text, frames, worker } of kernels(threads))
			assert.deepEqual({ role, role_text, frames, worker }, { role: 'other', role_text: 'io_uring thread of the kernel', frames: [], worker: null });
		assert.deepEqual(threads.filter((thread) => thread.role === 'worker').map((thread) => thread.worker), [1]);
	}
	assert.deepEqual(roles(dead), roles(alive));
	assert.doesNotMatch((await noderay(['maps', '--summary', target.pid])).stderr, /stacks could not be told/);
	const row = jsonLines((await noderay(['ps', '--json'])).stdout).find((r) => r.pid === target.pid);
	assert.equal(row.workers, 1);
	await target.stop();
});
