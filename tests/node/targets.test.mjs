// What all verbs that take a target have in common: the same keys, and the same words for what cannot be.
// SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { isRoot, noderay, nodes, start, takeCore, tasks, tmp, until } from './lib.mjs';

const lines = (text) => text.trim().split('\n').map((line) => JSON.parse(line));

test('every line of JSON begins with the pid', async (t) => {
	const target = await start(nodes.at(-1), 'park.js');
	t.after(() => target.stop());
	const core = await takeCore(target);
	for (const words of [['stack'], ['maps'], ['maps', '--summary'], ['maps', '-v'], ['files'], ['files', '-s'], ['args'], ['env']])
		for (const name of [target.pid, core]) {
			const { stdout } = await noderay([...words, '--json', name]);
			for (const line of lines(stdout)) {
				assert.equal(line.pid, target.pid, `${words} ${name}`);
				assert.equal(Object.keys(line)[0], 'pid', `${words} ${name}`);
			}
		}
	const { stdout } = await noderay(['core', '--json', '-o', path.join(tmp(), 'core'), target.pid]);
	assert.equal(lines(stdout)[0].pid, target.pid);
});

test('a zombie is called one', async (t) => {
	const child = spawn('/bin/bash', ['-c', 'sleep 0.2 & echo $!; exec sleep 100'], { stdio: ['ignore', 'pipe', 'inherit'] });
	t.after(() => child.kill());
	const pid = await new Promise((resolve) => child.stdout.once('data', (data) => resolve(Number(data))));
	await until(() => /^State:\s*Z/m.test(tasks(pid, 'status')[0]), 'it does not end');
	const { code, stderr } = await noderay(['stack', pid]);
	assert.equal(stderr, `noderay: ${pid}: has ended; only its parent has not taken note of it yet (zombie)\n`);
	assert.equal(code, 1);
});

test('another user is told whose it is and what would help', { skip: !isRoot && 'needs root to become others' }, async (t) => {
	const target = await start(nodes.at(-1), 'park.js');
	t.after(() => target.stop());
	for (const verb of ['stack', 'maps', 'files', 'args', 'env', 'core']) {
		const { code, stdout, stderr } = await noderay([verb, target.pid], { user: 'nobody', cwd: tmp() });
		assert.equal(code, 3, verb);
		assert.equal(stdout, '', verb);
		assert.match(stderr, /cannot read the memory .*\nit belongs to uid 0 and you are uid 65534: .*setcap/, verb);
	}
});

test('a wrong --thread is refused before the target is paused', async (t) => {
	const target = await start(nodes.at(-1), 'park.js');
	t.after(() => target.stop());
	for (const which of ['mian', 'main,mian', `${target.pid}x`]) {
		const { code, stderr } = await noderay(['stack', '--thread', which, target.pid]);
		assert.equal(code, 2, which);
		assert.match(stderr, /^noderay: no kind of thread is '.*'\n--thread takes main, /, which);
		assert.doesNotMatch(stderr, /paused/, which);
	}
});

test('options for cores are no help with a process, and that is said', async (t) => {
	const target = await start(nodes.at(-1), 'park.js');
	t.after(() => target.stop());
	const { code, stderr } = await noderay(['args', '--exe', '/bin/true', target.pid]);
	assert.equal(code, 0);
	assert.equal(stderr, 'noderay: warning: --exe and --sysroot are for core files: a process is read as it is\n');
	const wrong = await noderay(['args', '--exe', tmp(), await takeCore(target)]);
	assert.equal(wrong.code, 1);
	assert.match(wrong.stderr, /--exe .*: Is a directory\n--sysroot DIR /);
});
