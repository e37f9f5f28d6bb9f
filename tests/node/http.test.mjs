// http: every request of a server and of its clients, as both saw it, on every node. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRoot, nodes } from './lib.mjs';
import { how } from './http.mjs';
import { compare, watched } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };
const both = ['http', '-s', '-c'];

/** Ids are of one request each. */
function checkIds(records) {
	const ids = records.map(({ pid, id }) => `${pid} ${id}`);
	assert.equal(new Set(ids).size, ids.length, 'two requests have one id');
}

for (const node of nodes) {
	test(`node ${node.name}: servers and clients`, needsRoot, async () => {
		const { truth, records } = await watched(node, 'http.js', both);
		compare(truth, records, how);
		checkIds(records);
	});
	test(`node ${node.name}: a cluster`, needsRoot, async () => {
		const { truth, records } = await watched(node, 'cluster.js', both);
		compare(truth, records, how);
		checkIds(records);
	});
}
