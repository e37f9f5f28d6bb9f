// Stacks of workers that start, collect garbage and end all the time. SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import { noderay, nodes, start } from './lib.mjs';

const LOOKS = 8;

for (const node of nodes)
	test(`node ${node.name}: frames of workers that come and go are named, or it is said why not`, async (t) => {
		const target = await start(node, 'short-workers.js');
		t.after(() => target.stop());
		for (let i = 0; i < LOOKS; i++) {
			const { code, stdout, stderr } = await noderay(['stack', '--js', '--json', target.pid]);
			assert.equal(code, 0, stderr);
			for (const line of stdout.trim().split('\n')) {
				const { tid, ended, unnamed, frames } = JSON.parse(line);
				if (ended) continue; // with its heap
				assert.equal(unnamed, 0, `${tid}: ${JSON.stringify(frames)}`);
			}
		}
	});
