// dns: every name that a program looked up or resolved, as it knows it, on every node. SPDX-License-Identifier: MIT
import test from 'node:test';
import { isRoot, nodes } from './lib.mjs';
import { compare, watched, within } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

const how = {
	key: ({ kind, host, type, error }) => [kind, host, kind === 'resolve' ? type : '', error].join(' '),
	fields: Object.fromEntries(['pid', 'error', 'service'].map((name) => [name, name])),
	check: (expected, seen) => within('total_ms', seen.total_ms, expected.min_ms, expected.max_ms),
};

for (const node of nodes)
	test(`node ${node.name}`, needsRoot, async () => {
		const { truth, records } = await watched(node, 'dns.js', ['dns']);
		compare(truth, records, how);
	});
