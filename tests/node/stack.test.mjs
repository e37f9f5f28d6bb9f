// noderay stack against V8's own stack of the same moment. SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { compare } from './stacks.mjs';
import { jsonLines, nodes, noderay, programs, startStill, takeCore, tmp } from './lib.mjs';

async function stacks(target, ...args) {
	const run = await noderay(['stack', '--json', ...args, target]);
	assert.equal(run.code, 0, run.stderr);
	return { threads: jsonLines(run.stdout), notes: run.stderr };
}

/** JS frames of the main thread above park(), as V8 lists them: without builtins. */
async function mainFrames(target, ...args) {
	const { threads, notes } = await stacks(target, '--js', '--thread', 'main', ...args);
	const frames = threads[0].frames;
	assert.equal(threads[0].unnamed, 0, JSON.stringify(frames));
	// It may still be on its way from printing to waiting.
	const at = frames.findIndex((f) => f.function === 'park');
	assert.ok(at >= 0, JSON.stringify(frames));
	return { frames: frames.slice(at + 1), notes };
}

const tierFlags = {
	interpreted: ['--no-opt', '--no-sparkplug', '--no-maglev'],
	baseline: ['--no-opt', '--always-sparkplug', '--no-maglev'],
	maglev: ['--maglev', '--no-turbofan', '--allow-natives-syntax'],
	default: ['--allow-natives-syntax'],
};
const flagsFor = (node, tier) =>
	tierFlags[tier].filter((f) => node.major >= 20 || !/maglev/.test(f));
// Node 22.9 and later 22s are built without Maglev.
const tiersOf = (node) => Object.keys(tierFlags).filter((tier) => tier !== 'maglev' || node.major > 22 || /^22\.[0-8]\./.test(node.version));
// V8 9.0, where baseline code was an experiment, wrote its table in another way.
const knowsLines = (node, tier) => tier !== 'baseline' || !/^16\.[0-3]\./.test(node.version);

for (const node of nodes) {
	test(`node ${node.name}: every shape of function and call`, async (t) => {
		const target = await startStill(node, 'stacks/shapes.js');
		t.after(target.stop);
		await t.test('live', async () => {
			const { frames, notes } = await mainFrames(target.pid);
			compare(frames, target.ready.frames);
			assert.match(notes, /paused for \d+\.\d+ ms/);
		});
		await t.test('core', async () => {
			const { frames } = await mainFrames(await takeCore(target));
			compare(frames, target.ready.frames);
		});
	});

	for (const tier of tiersOf(node)) {
		test(`node ${node.name}: ${tier} tier`, async (t) => {
			const target = await startStill(node, 'stacks/tiers.js', { flags: flagsFor(node, tier) });
			t.after(target.stop);
			const { frames } = await mainFrames(target.pid);
			const hot = frames.filter((f) => /leaf|small|area|middle|outer/.test(f.function));
			compare(frames, target.ready.frames, { exact: knowsLines(node, tier) });
			if (tier === 'default') assert.ok(hot.some((f) => /turbofan|maglev/.test(f.tier)), JSON.stringify(hot.map((f) => f.tier)));
			else if (tier === 'maglev') assert.ok(hot.some((f) => f.tier === 'maglev'), JSON.stringify(hot.map((f) => f.tier)));
			else for (const f of hot) assert.equal(f.tier, tier, f.name);
		});
	}

	test(`node ${node.name}: ES modules and async functions`, async (t) => {
		const target = await startStill(node, 'stacks/module.mjs');
		t.after(target.stop);
		const { frames } = await mainFrames(target.pid);
		const truth = target.ready.frames.filter((f) => !/^async /.test(f.text));
		compare(frames, truth);
		assert.equal(frames[0].function, 'third');
		assert.equal(frames[0].file, 'file://' + path.join(programs, 'stacks/module.mjs'));
	});
}

// How V8 writes down where Maglev's code is, a table in the binary tells, whose symbol goes when it is stripped.
for (const node of nodes.filter((n) => n.major >= 24 && !n.stripped)) {
	test(`node ${node.name}, stripped: maglev tier`, async (t) => {
		const stripped = path.join(tmp(), 'node');
		execFileSync('strip', ['-o', stripped, node.path]);
		const target = await startStill({ ...node, path: stripped }, 'stacks/tiers.js', { flags: tierFlags.maglev });
		t.after(target.stop);
		const { frames } = await mainFrames(target.pid);
		compare(frames, target.ready.frames);
		assert.ok(frames.some((f) => f.tier === 'maglev'));

		await t.test('without that table no line is claimed that is not exact', async () => {
			const core = await takeCore(target);
			const unknown = path.join(tmp(), 'node');
			const bytes = fs.readFileSync(stripped);
			const begin = Buffer.from(Int32Array.of(6, 4, 3, 3, 2, 1, 3, 4, 3, 3, 3, 1, 0, 0, 3, 3, 1, 1, 1, 0).buffer);
			const at = bytes.indexOf(begin);
			assert.ok(at > 0);
			bytes[at + 4] ^= 1;
			fs.writeFileSync(unknown, bytes);
			const { frames } = await mainFrames(core, '--exe', unknown);
			compare(frames, target.ready.frames, { exact: false });
			const hot = frames.filter((f) => f.tier === 'maglev');
			assert.ok(hot.length && hot.every((f) => !f.exact), JSON.stringify(hot));
		});
	});
}

test('a core without its executable: threads and addresses, exit 5', async (t) => {
	const copy = path.join(tmp(), 'moved-away');
	const node = { ...nodes[0], path: copy };
	fs.copyFileSync(nodes[0].path, copy);
	const target = await startStill(node, 'stacks/shapes.js');
	t.after(target.stop);
	const core = await takeCore(target);
	fs.unlinkSync(copy);
	const run = await noderay(['stack', '--json', core]);
	assert.equal(run.code, 5);
	assert.match(run.stderr, /executable cannot be read.*\n--exe FILE/s);
	const threads = jsonLines(run.stdout);
	assert.equal(threads[0].role, 'main');
	assert.ok(threads[0].frames.length > 10);
	assert.ok(threads[0].frames.some((f) => /libc/.test(f.module) && f.function));
	const found = await noderay(['stack', '--json', '--js', '--thread', 'main', '--exe', nodes[0].path, core]);
	assert.equal(found.code, 0, found.stderr);
	compare(jsonLines(found.stdout)[0].frames.slice(1), target.ready.frames);
});

test('a core cut inside its notes is unreadable, not "not a node"', async (t) => {
	const target = await startStill(nodes[0], 'park.js');
	t.after(target.stop);
	const core = await takeCore(target);
	for (const size of [64, 200, 4096, 8192]) {
		const cut = path.join(tmp(), `cut-${size}`);
		fs.writeFileSync(cut, fs.readFileSync(core).subarray(0, size));
		const { code, stderr, signal } = await noderay(['stack', cut]);
		assert.equal(signal, null);
		assert.equal(code, 5, `${size} bytes: ${stderr}`);
		assert.doesNotMatch(stderr, /\(null\)/);
	}
});
