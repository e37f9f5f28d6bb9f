// Whatever happens to noderay or to the target: nothing is left stopped, nothing hangs, the message says what it was.
// SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { binary, halt, halted, isKernelThread, isRoot, nodes, noderay, programs, start, tasks, tmp, until } from './lib.mjs';
import { Graph, checkWhole, stack } from './stacks.mjs';

const node = nodes.find((n) => n.major === 24) ?? nodes[0];
const graph = new Graph(path.join(programs, 'stacks/busy.js'));

const status = (pid, key) => new RegExp(`^${key}:\\s*(\\S+)`, 'm').exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1];
const ticks = (pid) => Number(fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[11]);

/** A busy target that has got from its first line into the loop: it uses the processor. */
async function busy(t) {
	const target = await start(node, 'stacks/busy.js');
	t.after(target.stop);
	const before = ticks(target.pid);
	await until(() => ticks(target.pid) >= before + 30, 'it does not get going');
	return target;
}

/** It runs, and nobody traces any of its threads. */
async function checkFree(pid) {
	const before = ticks(pid);
	const isHeld = (text) => !/^TracerPid:\s*0$/m.test(text) || /^State:\s*[tT]/m.test(text);
	await until(() => !tasks(pid, 'status').some(isHeld), 'it is held');
	await until(() => ticks(pid) > before, 'it does not run any more');
}

async function checkBusy(target, args = []) {
	const { main } = await stack(target, ['--thread', 'main', ...args]);
	checkWhole(main);
	graph.check(main, 'forever');
	return main;
}

test('noderay killed at 100 moments', async (t) => {
	const target = await busy(t);
	const begun = performance.now();
	for (let i = 0; i < 5; i++) await noderay(['stack', target.pid]);
	const usual = (performance.now() - begun) / 5; // so that most moments are inside, however fast the machine is
	let killed = 0;
	for (let i = 0; i < 100; i++) {
		const child = spawn(binary, ['stack', String(target.pid)], { stdio: 'ignore' });
		const gone = once(child, 'exit');
		await sleep(Math.random() * usual);
		child.kill('SIGKILL');
		const [, signal] = await gone;
		killed += signal === 'SIGKILL';
		if (i % 10 === 9) await checkFree(target.pid);
	}
	assert.ok(killed >= 10, `${killed} of 100 were killed in time`);
	await checkBusy(target);
});

test('several noderays at once', async (t) => {
	const target = await busy(t);
	await Promise.all(Array.from({ length: 8 }, () => checkBusy(target)));
	await checkFree(target.pid);
});

test('a target that ends while it is looked at', async () => {
	const code = 'const end = Date.now() + Number(process.argv[2]);\nconsole.log("{}");\nwhile (Date.now() < end);\nprocess.exit(0);';
	for (let i = 0; i < 25; i++) {
		const target = await start(node, { code }, { args: [Math.random() * 40] });
		const result = await noderay(['stack', target.pid]);
		await target.stop();
		assert.equal(result.signal, null, result.stderr);
		assert.ok([0, 1].includes(result.code), `${result.code}: ${result.stderr}`);
		if (result.code === 1) assert.match(result.stderr, /ended|no such process|no process/);
	}
});

test('a target that becomes another program', { skip: node.major < 24 && 'this node has no process.execve()' }, async () => {
	const code = 'const end = Date.now() + Number(process.argv[2]);\nconsole.log("{}");\nwhile (Date.now() < end);\nprocess.execve("/bin/sleep", ["sleep", "5"]);';
	for (let i = 0; i < 15; i++) {
		const target = await start(node, { code }, { args: [Math.random() * 40], flags: ['--no-warnings'] });
		const result = await noderay(['stack', target.pid]);
		await target.stop();
		assert.equal(result.signal, null, result.stderr);
		assert.ok([0, 1, 4].includes(result.code), `${result.code}: ${result.stderr}`);
	}
});

const tracers = {
	strace: (pid) => ['-f', '-qq', '-o', '/dev/null', '-p', pid],
	gdb: (pid) => ['-q', '-nx', '-batch', '-iex', 'set debuginfod enabled off', '-p', pid, '-ex', 'continue'],
};
for (const [name, args] of Object.entries(tracers))
	test(`a target that ${name} holds already`, async (t) => {
		const target = await start(node, 'stacks/busy.js');
		const tracer = spawn(name, args(target.pid).map(String), { stdio: 'ignore' });
		t.after(() => tracer.kill('SIGKILL')); // first: what it traces cannot end before
		t.after(target.stop);
		await until(() => status(target.pid, 'TracerPid') !== '0', `${name} does not attach`);
		const { code, stderr } = await noderay(['stack', target.pid]);
		assert.equal(code, 3, stderr);
		assert.match(stderr, new RegExp(`process ${tracer.pid} \\(${name}\\) traces it already`));
	});

test('a stopped target stays stopped', async (t) => {
	const target = await busy(t);
	await halt(target);
	const main = await checkBusy(target);
	assert.equal(main.state, 'T');
	// There is nothing to pause, so nothing need be missing.
	assert.deepEqual((await checkBusy(target, ['--nonblocking'])).frames, main.frames);
	await halted(target);
	assert.equal(status(target.pid, 'TracerPid'), '0');
	target.child.kill('SIGCONT');
	await checkFree(target.pid);
});

test('no node at all', async (t) => {
	const parent = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'ignore'] });
	t.after(() => parent.kill('SIGKILL'));
	const zombie = Number(String((await once(parent.stdout, 'data'))[0]));
	await until(() => status(zombie, 'State') === 'Z', 'it does not end');
	const cases = [[zombie, 1, /zombie/], [parent.pid, 4, /not a node/]];
	if (isKernelThread(2)) cases.push([2, 4, /thread of the kernel/]);
	for (const [target, want, message] of cases) {
		const { code, stderr } = await noderay(['stack', target]);
		if (!isRoot && code === 3) continue; // another's, and not ours to look at
		assert.equal(code, want, stderr);
		assert.match(stderr, message);
	}
});

test('two hundred threads', async (t) => {
	const code = `
		const fs = require('fs');
		const fifo = process.argv[2];
		require('child_process').execFileSync('mkfifo', [fifo]);
		const fd = fs.openSync(fifo, 'r+');
		for (let i = 0; i < 200; i++) fs.read(fd, Buffer.alloc(1), () => {}); // each blocks a thread of the pool
		setTimeout(() => console.log('{}'), 300);`;
	const target = await start(node, { code }, { args: [path.join(tmp(), 'fifo')], env: { UV_THREADPOOL_SIZE: '200' } });
	t.after(target.stop);
	const { threads } = await stack(target);
	assert.ok(threads.filter((one) => one.role === 'pool').length >= 195, `${threads.length} threads`);
	for (const thread of threads) checkWhole(thread);
});
