// stripped: a node without its symbols has the same probes, and they tell the same. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import test from 'node:test';
import { compareCollections } from './gc.mjs';
import { isRoot, node, noderay, start, tmp } from './lib.mjs';
import { watched } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };
const directory = tmp();

function stripped(original) {
	const copy = { ...original, path: path.join(directory, original.name), stripped: true };
	execFileSync('strip', ['-s', '-o', copy.path, original.path]);
	return copy;
}

async function probes(of) {
	const target = await start(of, 'park.js');
	const { code, stdout, stderr } = await noderay(['trace', '-l', '-P', `node${target.pid}`]);
	await target.stop();
	assert.equal(code, 0, stderr);
	return stdout.trim().split('\n').slice(1).map((line) => line.split(/\s+/).slice(-2).join(' ')).sort();
}

for (const name of [16, 22, 24, 26])
	test(`node ${name}`, needsRoot, async () => {
		const copy = stripped(node(name));
		const all = await probes(node(name));
		assert.ok(all.length > 30, all.join());
		assert.deepEqual(await probes(copy), all);
		// V8 exports its own functions up to 22: later on they are found by following code.
		if (name < 24) return;
		const { truth, records, at } = await watched(copy, 'gc.js', ['gc'], { flags: ['--expose-gc'] });
		const collections = records.filter((record) => 'pause_ms' in record);
		compareCollections(truth, collections, at);
		assert.ok(collections.some(({ before, after, reason }) => before > after && after > 0 && reason), JSON.stringify(collections));
	});
