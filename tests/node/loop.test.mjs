// loop --block: every block, in its phase, for its time, with the function that ran meanwhile, on every node.
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRoot, nodes } from './lib.mjs';
import { compare, watched } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };
const names = ({ stacks }) => JSON.stringify(stacks ?? []);

for (const node of nodes)
	test(`node ${node.name}`, needsRoot, async () => {
		const { truth, records } = await watched(node, 'loop.js', ['loop', '--block', '100ms']);
		const blocks = records.filter((record) => 'block_ms' in record);
		// On a busy machine anything can take as long; what is known must be there.
		const known = blocks.filter((block) => truth.some(({ culprit }) => names(block).includes(culprit)));
		const culprit = (block) => truth.find((record) => names(block).includes(record.culprit)).culprit;
		compare(truth, known, {
			key: (record) => `${record.culprit} ${record.tid}`,
			seenKey: (block) => `${culprit(block)} ${block.tid}`,
			fields: { phase: 'phase', pid: 'pid', tid: 'tid' },
			check: (expected, seen) => (seen.block_ms >= expected.min_ms - 0.001 ? [] : [`it took ${expected.min_ms}`]),
		});
		assert.ok(known.every(({ stacks }) => stacks.every(({ count, frames }) => count > 0 && frames.length > 0)));
	});
