// Scenes that are hard to name, each in a worker, compared with V8's own stack of the same moment.
// SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import { nodes, startStill, takeCore } from './lib.mjs';
import { checkWhole, compare, show, stack } from './stacks.mjs';

const scenes = ['sources.js', 'classes.js', 'events.js', 'ticks.js', 'module.mjs', 'debugged.js', 'deep.js'];

function framesAbovePark(thread) {
	const js = thread.frames.filter((f) => f.kind === 'js');
	const at = js.findIndex((f) => f.function === 'park');
	assert.ok(at >= 0, show(thread));
	return js.slice(at + 1);
}

function checkAll(threads, ready) {
	const main = threads.find((t) => t.role === 'main');
	checkWhole(main);
	compare(framesAbovePark(main), ready.frames);
	assert.ok(ready.frames.length > 5000, `${ready.frames.length} frames are not deep`);
	for (const [scene, { id, frames }] of Object.entries(ready.workers)) {
		const worker = threads.find((t) => t.worker === id);
		assert.ok(worker, `no thread is worker ${id} (${scene})`);
		assert.equal(worker.role, 'worker');
		checkWhole(worker);
		try {
			compare(framesAbovePark(worker), frames.filter((f) => !/^async /.test(f.text)));
		} catch (e) {
			e.message = `${scene}: ${e.message}`;
			throw e;
		}
	}
}

for (const node of nodes)
	test(`node ${node.name}: scenes as V8 sees them`, async (t) => {
		// Who still runs may move its objects while they are named.
		const target = await startStill(node, 'stacks/scenes.js', { args: scenes });
		t.after(target.stop);
		checkAll((await stack(target)).threads, target.ready);
		if (node === nodes.at(-1) || node === nodes[4]) // once with, once without symbols
			await t.test('from a core', async () => checkAll((await stack(await takeCore(target))).threads, target.ready));
	});
