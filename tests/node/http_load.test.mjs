// Under full load every request is counted: as many as the server answered, and as wrk got. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRoot, nodes } from './lib.mjs';
import { connections, countUnderLoad } from './load.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

for (const node of nodes)
	test(`node ${node.name}`, needsRoot, async () => {
		const { counted, answered, statuses, asked, stderr } = await countUnderLoad(node, 1);
		assert.equal(stderr, '');
		assert.equal(counted, answered.requests);
		assert.deepEqual(statuses, answered.statuses);
		assert.ok(counted >= asked.requests && counted <= asked.requests + connections, `${counted}, and ${asked.requests} by wrk`);
		const failed = (statuses[404] ?? 0) + (statuses[500] ?? 0);
		assert.ok(failed >= asked.failed && failed <= asked.failed + connections, `${failed}, and ${asked.failed} by wrk`);
	});
