// The HTTP probes of the node provider, in D: what their arguments say of what servers and clients did, on every node.
// SPDX-License-Identifier: MIT
import test from 'node:test';
import { isRoot, nodes } from './lib.mjs';
import { compare, traced } from './truth.mjs';
import { asHttp, clauses, how } from './http.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

for (const node of nodes)
	test(`node ${node.name}: http`, needsRoot, async () => {
		const { truth, records } = await traced(node, 'http.js', clauses);
		compare(truth, records.map(asHttp), how);
	});
