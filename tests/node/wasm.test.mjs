// WebAssembly frames: noderay stack must say of them what V8 itself says in Error.stack. SPDX-License-Identifier: MIT
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { nodes, settle, start, noderay, takeCore, jsonLines, until, isRoot } from './lib.mjs';

const named = ['imported_enter', 'leaf', 'récurse', 'run_it', 'spin_forever'];
const exported = { 3: 'run', 4: 'spin' };

// Also those of tests that fail: a target that is left keeps the file from ending.
const targets = [];
after(async () => {
	for (const target of targets) await target.stop();
});

async function begin(node, options) {
	const target = await start(node, 'wasm.js', options);
	targets.push(target);
	if (!options?.args?.includes('spin')) await settle(target);
	return target;
}

async function mainFrames(what, options) {
	const { code, stdout, stderr } = await noderay(['stack', '--json', '-t', 'main', what], options);
	assert.equal(code, 0, stderr);
	return jsonLines(stdout)[0].frames;
}

function checkNames(frames) {
	for (const f of frames) {
		assert.match(f.file, /^wasm:\/\/wasm\/(demo-)?[0-9a-f]{8}$/);
		const isNamed = f.file.includes('/demo-');
		assert.equal(f.function, isNamed ? named[f.index] : (exported[f.index] ?? `wasm-function[${f.index}]`));
	}
}

// Names of the JavaScript functions, and how many WebAssembly frames lie between them.
function outline(frames) {
	const out = [];
	for (const f of frames) {
		if (f.kind === 'js') out.push(f.function);
		else if (f.kind === 'wasm' && typeof out.at(-1) === 'number') out[out.length - 1]++;
		else if (f.kind === 'wasm') out.push(1);
	}
	return out;
}

function check(frames, { ready }) {
	const wasm = frames.filter((f) => f.kind === 'wasm');
	checkNames(wasm);
	assert.deepEqual(wasm.map(({ index, offset }) => ({ index, offset })), ready.wasm);
	const inner = 6; // of plain: leaf, recurse four times, run
	assert.deepEqual(outline(frames).slice(0, 4), ['blockHere', inner, 'betweenModules', wasm.length - inner]);
}

async function spinning(what) {
	let frames;
	await until(async () => (frames = await mainFrames(what))[0].kind === 'wasm', () => JSON.stringify(frames));
	return frames;
}

for (const node of nodes) {
	for (const how of ['wait', 'hot', 'stale', 'deep']) {
		test(`node ${node.name}: WebAssembly frames as V8 itself has them: ${how}`, async () => {
			const target = await begin(node, { args: [how] });
			check(await mainFrames(target.pid), target);
			if (how === 'hot' || how === 'stale') check(await mainFrames(await takeCore(target)), target); // and in a core
			await target.stop();
		});
	}

	test(`node ${node.name}: an endless loop inside WebAssembly`, async () => {
		const target = await begin(node, { args: ['spin'] });
		const frames = await spinning(target.pid);
		assert.equal(frames[0].function, 'spin_forever');
		check(frames.slice(1), target);
		await target.stop();
	});

	test(`node ${node.name}: the same for an unprivileged user`, { skip: !isRoot && 'needs root to become another user' }, async () => {
		const target = await begin(node, { user: 'nobody' });
		check(await mainFrames(target.pid, { user: 'nobody' }), target);
		await target.stop();
	});
}

test('WebAssembly frames read as in a stack trace', async () => {
	const target = await begin(nodes[0]);
	const { stdout } = await noderay(['stack', '--js', '-t', 'main', target.pid]);
	assert.match(stdout, /^ +\d+ wasm récurse \(wasm:\/\/wasm\/demo-[0-9a-f]{8}:wasm-function\[2\]:0x59\)$/m);
	assert.match(stdout, /^ +\d+ wasm wasm-function\[1\] \(wasm:\/\/wasm\/[0-9a-f]{8}:0x4b\)$/m);
	assert.match(stdout, /^ +\d+ wasm run \(wasm:\/\/wasm\/[0-9a-f]{8}:wasm-function\[3\]:0x69\)$/m);
	await target.stop();
});
