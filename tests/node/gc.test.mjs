// gc: every collection, as perf_hooks has it, on every node. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRoot, nodes } from './lib.mjs';
import { compareCollections } from './gc.mjs';
import { watched } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

for (const node of nodes)
	test(`node ${node.name}`, needsRoot, async () => {
		const { truth, records, at } = await watched(node, 'gc.js', ['gc'], { flags: ['--expose-gc'] });
		const collections = records.filter((record) => 'pause_ms' in record);
		compareCollections(truth, collections, at);
		assert.ok(collections.every(({ reason }) => typeof reason === 'string' && reason));
	});
