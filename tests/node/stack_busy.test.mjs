// A process in a synchronous loop, looked at again and again: whatever the moment, every frame is one that can be.
// SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodes, programs, start } from './lib.mjs';
import { Graph, checkWhole, stack } from './stacks.mjs';

const samples = 12; // of each tier
const graph = new Graph(path.join(programs, 'stacks/busy.js'));
const tiers = {
	interpreted: ['--no-opt', '--no-sparkplug', '--no-maglev'],
	baseline: ['--no-opt', '--always-sparkplug', '--no-maglev'],
	default: [],
};

for (const node of nodes) {
	test(`node ${node.name}: a busy process at ${3 * samples} moments`, async (t) => {
		await Promise.all(Object.entries(tiers).map(async ([tier, flags]) => {
			const target = await start(node, 'stacks/busy.js', { flags: flags.filter((f) => node.major >= 20 || !/maglev/.test(f)) });
			t.after(target.stop);
			await sleep(500); // for the compilers to get to work
			for (let i = 0; i < samples; i++) {
				const { main } = await stack(target, ['--thread', 'main']);
				checkWhole(main);
				const frames = graph.check(main, 'forever');
				// A frame that says itself that it is not exact knows no tier.
				if (tier === 'interpreted') for (const f of frames) if (f.exact !== false) assert.equal(f.tier, 'interpreted', JSON.stringify(f));
				await sleep(Math.random() * 30);
			}
			assert.equal(target.child.exitCode, null, 'it runs on');
		}));
	});
}
