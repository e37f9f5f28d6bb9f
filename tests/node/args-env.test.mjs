// args-env.test.mjs - noderay args and env, on every node: live, from each kind of core, as an
// unprivileged user, and after the program has written over both. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binary, crash, hasVerb, isRoot, jsonLines, noderay, noKernelCores, nodes, run, start, takeCore, tmp } from './lib.mjs';

const words = ['a b', '', "it's", 'grüße', 'new\nline', '\x1b[31mred', '--flag=1', '$HOME'];
const variables = { NODERAY_TEST_A: 'x=y', NODERAY_TEST_EMPTY: '', NODERAY_TEST_LINES: 'one\ntwo', NODERAY_TEST_UTF: 'ü' };
const byNoderay = await hasVerb('core');
const noCores = noKernelCores();

const splitNul = (file) => fs.readFileSync(file, 'utf8').split('\0').slice(0, -1);

// What noderay prints for a target, without the pid.
async function ask(target, options) {
	const args = await noderay(['args', '--json', target], options);
	assert.equal(args.code, 0, args.stderr);
	const env = await noderay(['env', '--json', target], options);
	assert.equal(env.code, 0, env.stderr);
	const { args: list, note, pid } = jsonLines(args.stdout)[0];
	return { pid, note, args: list, env: jsonLines(env.stdout).map(({ name, value }) => `${name}=${value}`), stderr: args.stderr };
}

// The core is removed: all of them together would take gigabytes.
async function assertSame(target, core, options) {
	const live = await ask(target.pid, options);
	const dead = await ask(core, options);
	fs.rmSync(core);
	assert.deepEqual(dead.args, live.args);
	assert.deepEqual(dead.env, live.env);
	assert.equal(dead.pid, target.pid);
	assert.equal(dead.note, live.note);
	assert.equal(dead.stderr, '');
}

for (const node of nodes) {
	test(`node ${node.name}: args and env, live and from cores`, async (t) => {
		const cwd = tmp();
		const target = await start(node, 'park.js', { args: words, env: variables, cwd });
		t.after(target.stop);
		await t.test('live: what /proc has', async () => {
			const live = await ask(target.pid);
			assert.deepEqual(live.args, [node.path, target.file, ...words]);
			assert.deepEqual(live.env, splitNul(`/proc/${target.pid}/environ`));
			assert.equal(live.note, null);
		});
		await t.test('one line for a shell gives the same words', async () => {
			const { stdout } = await noderay(['args', '-l', target.pid]);
			assert.equal(stdout.trim().split('\n').length, 1);
			const back = await run('/bin/bash', ['-c', `printf '%s\\0' ${stdout}`]);
			assert.deepEqual(back.stdout.split('\0').slice(0, -1), [node.path, target.file, ...words]);
		});
		await t.test('a core by gdb', async () => assertSame(target, await takeCore(target, { by: 'gdb' })));
		await t.test('a core by noderay', { skip: !byNoderay }, async () =>
			assertSame(target, await takeCore(target, { by: 'noderay' })));
		await t.test('a core by the kernel', { skip: noCores }, async () => {
			const live = await ask(target.pid);
			const core = await crash(target, cwd);
			const dead = await ask(core);
			fs.rmSync(core);
			assert.deepEqual({ ...dead }, { ...live });
		});
	});

	test(`node ${node.name}: a title over the arguments, and a changed environment`, async (t) => {
		const cwd = tmp();
		const env = { NODERAY_TEST_CHANGED: 'at the start', NODERAY_TEST_DELETED: 'not yet' };
		const target = await start(node, 'title.js', { args: ['my title', 'lost'], env, cwd });
		t.after(target.stop);
		const assertTitle = async (what) => {
			const { args, note, env: found } = await ask(what);
			assert.deepEqual(args, ['my title']);
			assert.match(note, /written over its arguments/);
			assert.ok(found.includes('NODERAY_TEST_CHANGED=at the start'));
			assert.ok(found.includes('NODERAY_TEST_DELETED=not yet'));
			assert.ok(!found.some((line) => line.startsWith('NODERAY_TEST_SET')));
		};
		await assertTitle(target.pid);
		if (noCores) t.diagnostic(`not on a core: ${noCores}`);
		else await assertTitle(await crash(target, cwd));
	});

	test(`node ${node.name}: as an unprivileged user`, { skip: !isRoot && 'needs root to become one' }, async (t) => {
		const cwd = tmp();
		const target = await start(node, 'park.js', { args: words, env: variables, cwd, user: 'nobody' });
		t.after(target.stop);
		const live = await ask(target.pid, { user: 'nobody' });
		assert.deepEqual(live.args.slice(2), words);
		if (!noCores) {
			const dead = await ask(await crash(target, cwd), { user: 'nobody' });
			assert.deepEqual([dead.args, dead.env], [live.args, live.env]);
		}
	});
}

test('what people read', async (t) => {
	const target = await start(nodes.at(-1), 'park.js', { args: words, env: variables });
	t.after(target.stop);
	await t.test('args: a heading and a line for each, escaped', async () => {
		const { stdout, stderr } = await noderay(['args', target.pid]);
		const lines = stdout.trimEnd().split('\n');
		assert.ok(lines[0].startsWith(`${target.pid}:`));
		assert.equal(lines.length, 1 + 2 + words.length);
		assert.ok(lines.includes('argv[2]: a b'));
		assert.ok(lines.includes('argv[3]: '));
		assert.ok(lines.includes('argv[6]: new\\nline'));
		assert.ok(!stdout.includes('\x1b'));
		assert.equal(stderr, '');
	});
	await t.test('env: a heading and a line for each, escaped', async () => {
		const { stdout } = await noderay(['env', target.pid]);
		const lines = stdout.trimEnd().split('\n');
		assert.ok(lines[0].startsWith(`${target.pid}:`));
		assert.ok(lines.includes('NODERAY_TEST_LINES=one\\ntwo'));
		assert.ok(lines.includes('NODERAY_TEST_EMPTY='));
		const line = (await noderay(['env', '-l', target.pid])).stdout;
		const back = await run('/bin/bash', ['-c', `printf '%s\\0' ${line}`]);
		assert.deepEqual(back.stdout.split('\0').slice(0, -1), splitNul(`/proc/${target.pid}/environ`));
	});
	await t.test('links named pargs and penv', async () => {
		const directory = tmp();
		for (const [link, verb] of [['pargs', 'args'], ['penv', 'env']]) {
			fs.symlinkSync(binary, path.join(directory, link));
			const linked = await run(path.join(directory, link), [target.pid]);
			assert.equal(linked.code, 0);
			assert.equal(linked.stdout, (await noderay([verb, target.pid])).stdout);
		}
	});
	await t.test('-p, /proc/PID and PID/TID', async () => {
		const { stdout } = await noderay(['args', target.pid]);
		for (const words of [['-p', target.pid], [`/proc/${target.pid}`], [`${target.pid}/${target.pid}`]])
			assert.equal((await noderay(['args', ...words])).stdout, stdout);
	});
});

test('bad targets', async (t) => {
	const cases = [
		[['/nonexistent'], 1, /no such process or file/],
		[['/etc/passwd'], 5, /is not a core file/],
		[['/'], 5, /is a directory/],
		[['/bin/sh'], 5, /is an ELF executable or library, not a core/],
		[['4194304'], 1, /no such process/],
		[['1', '2'], 2, /./],
		[['--nonsense'], 2, /nonsense/],
	];
	for (const verb of ['args', 'env'])
		for (const [words, code, text] of cases)
			await t.test(`${verb} ${words.join(' ')}`, async () => {
				const result = await noderay([verb, ...words]);
				assert.equal(result.code, code);
				assert.match(result.stderr, text);
				assert.equal(result.stdout, '');
			});
	await t.test('the process of another user', { skip: !isRoot && 'needs root to become one' }, async () => {
		for (const verb of ['args', 'env']) {
			const result = await noderay([verb, process.pid], { user: 'nobody' });
			assert.equal(result.code, 3);
			assert.match(result.stderr, new RegExp(`${process.pid}`));
		}
	});
});
