// core-safety.test.mjs - `noderay core` harms nobody: it is killed at any moment, interrupted, refused, out of
// room, and the target works on and nothing is left behind. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { childrenOf } from './corefile.mjs';
import { binary, isKernelThread, isRoot, jsonLines, node, noderay, nodes, run, start, tmp, until } from './lib.mjs';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** State and tracer of each thread; a thread that has just ended has none. */
function threads(pid) {
	return fs.readdirSync(`/proc/${pid}/task`).flatMap((tid) => {
		try {
			const text = fs.readFileSync(`/proc/${pid}/task/${tid}/status`, 'utf8');
			return [`${/State:\t(\S)/.exec(text)[1]} ${/TracerPid:\t(\d+)/.exec(text)[1]}`];
		} catch {
			return [];
		}
	});
}

/** All threads run or sleep, and nobody traces them. The kernel may take a moment to let them go. */
async function assertFree(pid) {
	const bad = () => threads(pid).filter((t) => !/^[RSD] 0$/.test(t));
	await until(() => !bad().length, () => `threads are held: ${bad()}`);
}

async function ticks(target) {
	const before = target.stdout().length;
	target.child.stdin.write('?\n');
	await until(() => {
		assert.ok(target.child.exitCode === null && target.child.signalCode === null, 'the target lives');
		return target.stdout().slice(before).includes('\n');
	}, 'the target does not answer');
	return JSON.parse(target.stdout().slice(before).split('\n').find((line) => line.startsWith('{"ticks"'))).ticks;
}

/** Every part of it has done something since. */
async function assertWorks(target, before) {
	let now;
	await until(async () => (now = await ticks(target)).slice(0, 3).every((n, k) => n > before[k]), () => `stuck: ${before}, then ${now}`);
	assert.doesNotMatch(target.stdout(), /wrong/);
}

async function assertNoChildRuns(pid) {
	const running = () => childrenOf(pid).filter((child) => {
		try {
			return !/State:\tZ/.test(fs.readFileSync(`/proc/${child}/status`, 'utf8'));
		} catch {
			return false;
		}
	});
	await until(() => !running().length, () => `children of ${pid} run: ${running()}`);
}

for (const which of nodes) {
	test(`node ${which.name}: works on when noderay is killed at any moment`, async (t) => {
		const target = await start(which, 'steadfast.js', { args: ['loop,wait,sleep,read'] });
		t.after(target.stop);
		for (const args of [[], ['--fork']]) {
			const before = await ticks(target);
			const file = path.join(tmp(), 'core');
			const began = Date.now();
			assert.equal((await noderay(['core', ...args, '-o', file, target.pid])).code, 0);
			const whole = Date.now() - began;
			for (let i = 0; i < 10; i++) {
				const killed = spawn(binary, ['core', '-f', ...args, '-o', file, String(target.pid)], { stdio: 'ignore' });
				await sleep(Math.random() * whole);
				killed.kill('SIGKILL');
				if (killed.exitCode === null && killed.signalCode === null) await once(killed, 'exit');
				await assertFree(target.pid);
			}
			await assertNoChildRuns(target.pid);
			assert.deepEqual(fs.readdirSync(path.dirname(file)), ['core'], 'nothing is left behind');
			await assertWorks(target, before);
		}
	});
}

test('killed at each of its ptrace calls', { skip: !fs.existsSync('/usr/bin/strace') && 'needs strace' }, async (t) => {
	const target = await start(node(24), 'steadfast.js', { args: ['loop,wait'] });
	t.after(target.stop);
	const file = path.join(tmp(), 'core');
	const before = await ticks(target);
	let call = 1;
	for (;; call += 1 + Math.floor(Math.random() * 8)) {
		const { stderr, signal } = await run('/usr/bin/strace', ['-f', '-o', '/dev/null', '-e', 'trace=ptrace', '-e', `inject=ptrace:signal=KILL:when=${call}`,
			binary, 'core', '-f', '--fork', '-o', file, target.pid]);
		await assertFree(target.pid);
		if (!signal) {
			assert.match(stderr, /paused/);
			break;
		}
	}
	assert.ok(call > 50, `only ${call} calls`);
	await assertNoChildRuns(target.pid);
	await assertWorks(target, before);
});

test('interrupted, it leaves nothing', async (t) => {
	const target = await start(node(22), { code: `
		const kept = []; for (let i = 0; i < 40; i++) kept.push(Buffer.alloc(4 << 20, 'x' + i)); globalThis.kept = kept;
		setInterval(() => {}, 1000); console.log('{}');` });
	t.after(target.stop);
	let interrupted = 0;
	for (let i = 0; i < 12; i++) {
		const directory = tmp();
		const child = spawn(binary, ['core', '-z', '-o', path.join(directory, 'core'), String(target.pid)], { stdio: ['ignore', 'pipe', 'pipe'] });
		let stderr = '';
		child.stderr.on('data', (text) => (stderr += text));
		const timer = setTimeout(() => child.kill(i % 2 ? 'SIGINT' : 'SIGTERM'), 20 + Math.random() * 250);
		const [code, signal] = await once(child, 'close');
		clearTimeout(timer);
		await assertFree(target.pid);
		assert.deepEqual(fs.readdirSync(directory), code === 0 ? ['core'] : []);
		if (code === 0 || signal) continue; // whole, or before main() began
		interrupted++;
		assert.equal(code, 1);
		assert.match(stderr, /interrupted/);
	}
	assert.ok(interrupted > 0);
});

test('what cannot be dumped, and where it cannot be written', async (t) => {
	const target = await start(node(22), 'steadfast.js', { args: ['wait'] });
	t.after(target.stop);
	const directory = tmp();
	const file = path.join(directory, 'core');
	const refused = async (args, code, message, options) => {
		const result = await noderay(['core', ...args], { cwd: directory, ...options });
		assert.equal(result.code, code, result.stderr);
		assert.match(result.stderr, message);
		assert.equal(result.stdout, '');
		await assertFree(target.pid);
	};
	await refused(['999999999'], 1, /no such process|no process/);
	await refused(['2147483648000'], 1, /2147483648000/);
	if (isKernelThread(2)) await refused(['2'], isRoot ? 4 : 3, /thread of the kernel|permission|permitted|denied/i);
	await refused(['-o', file, '--nonsense', target.pid], 2, /nonsense/);
	await refused(['--max-memory', 'x', target.pid], 2, /max-memory/);
	await refused(['-o', '', target.pid], 2, /file name/);
	await refused(['-o', '/nonexistent/core', target.pid], 1, /nonexistent/);
	await refused(['-o', '/dev/null', '-f', target.pid], 1, /regular file/);
	fs.writeFileSync(file, 'mine');
	await refused(['-o', file, target.pid], 1, /exists[^]*-f/);
	assert.equal(fs.readFileSync(file, 'utf8'), 'mine');
	assert.deepEqual(fs.readdirSync(directory), ['core']);

	assert.equal((await noderay(['core', '-f', '-o', path.join(directory, 'c%pre'), '-p', target.pid])).code, 0);
	const named = path.join(directory, `c${target.pid}re`);
	assert.ok(fs.statSync(named).size > 1 << 20);
	await refused([named], 2, /core already/);
	assert.equal((await noderay(['core', '-f', '-o', file, `${target.pid}/${target.pid}`])).code, 0);
	assert.ok(fs.statSync(file).size > 1 << 20);

	const limited = await run('/usr/bin/prlimit', ['--fsize=1000000', binary, 'core', '-f', '-o', file, target.pid]);
	assert.equal(limited.code, 1);
	assert.match(limited.stderr, /may be 977K long at most/);
	const packed = await run('/usr/bin/prlimit', ['--fsize=1000000', binary, 'core', '-f', '-z', '-o', file, target.pid]);
	assert.equal(packed.code, 1);
	assert.match(packed.stderr, /File too large/);
	await assertFree(target.pid);
	assert.deepEqual(fs.readdirSync(directory).sort(), [path.basename(named), 'core'].sort());
});

test('as somebody else', { skip: !isRoot && 'needs root to become another user' }, async (t) => {
	const target = await start(node(22), 'park.js');
	t.after(target.stop);
	for (const args of [[], ['--fork']]) {
		const result = await noderay(['core', ...args, '-o', path.join(tmp(), 'core'), target.pid], { user: 'nobody' });
		assert.equal(result.code, 3, result.stderr);
		assert.match(result.stderr, /root|cap_sys_ptrace/i);
	}
});

test('a full disk', { skip: !isRoot && 'needs root to mount one' }, async (t) => {
	const target = await start(node(22), 'steadfast.js', { args: ['wait'] });
	const directory = tmp();
	const mounted = await run('/bin/mount', ['-t', 'tmpfs', '-o', 'size=8m', 'none', directory]);
	if (mounted.code !== 0) {
		await target.stop();
		return t.skip(`nothing can be mounted here: ${mounted.stderr.trim()}`);
	}
	t.after(async () => {
		await run('/bin/umount', ['-l', directory]);
		await target.stop();
	});
	const plain = await noderay(['core', '-o', path.join(directory, 'core'), target.pid]);
	assert.equal(plain.code, 1);
	assert.match(plain.stderr, /about \d+M needed, 8\.0M free/);
	// The guess is that it shrinks to an eighth: here the room ends while it is written.
	fs.writeFileSync(path.join(directory, 'fill'), Buffer.alloc(1 << 20));
	const packed = await noderay(['core', '-z', '-o', path.join(directory, 'core'), target.pid]);
	if (packed.code !== 0) {
		assert.equal(packed.code, 1);
		assert.match(packed.stderr, /No space left|needed/);
		assert.deepEqual(fs.readdirSync(directory), ['fill']);
	}
	await assertFree(target.pid);
});

test('any process will do', async (t) => {
	const child = spawn('/bin/sleep', ['1000']);
	t.after(() => child.kill());
	await sleep(100);
	for (const args of [[], ['--fork']]) {
		const file = path.join(tmp(), 'core');
		const result = await noderay(['core', '--json', ...args, '-o', file, child.pid]);
		assert.equal(result.code, 0, result.stderr);
		assert.equal(jsonLines(result.stdout)[0].threads, 1);
		assert.equal(child.exitCode, null);
		await assertFree(child.pid);
	}
});
