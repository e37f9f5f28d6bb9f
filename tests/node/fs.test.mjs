// fs: every operation on files, as the program that asked for it knows it, on every node. SPDX-License-Identifier: MIT
import test from 'node:test';
import { isRoot, node as nodeOf, nodes, tmp } from './lib.mjs';
import { compare, watched, within } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

const how = {
	key: ({ op, sync, path, fd, error }) => [op, sync, (path ?? fd ?? '').slice?.(0, 200) ?? fd, error].join(' '),
	fields: Object.fromEntries(['pid', 'path', 'new_path', 'sync', 'error', 'result'].map((name) => [name, name])),
	check(expected, seen) {
		const out = within('total_ms', seen.total_ms, expected.min_wait_ms, expected.max_ms);
		out.push(...within('wait_ms', seen.wait_ms ?? 0, expected.min_wait_ms, expected.max_ms));
		return out.concat(within('run_ms', seen.run_ms, 0, expected.max_ms));
	},
};

for (const node of nodes)
	test(`node ${node.name}`, needsRoot, async () => {
		const directory = tmp();
		const { truth, records } = await watched(node, 'fs.js', ['fs'], { args: [directory] });
		compare(truth, records, how);
	});

test('node 20 with io_uring', needsRoot, async () => {
	const { truth, records } = await watched(nodeOf(20), 'fs.js', ['fs'], { args: [tmp()], env: { UV_USE_IO_URING: '1' } });
	// What the kernel does by itself waits for no thread.
	compare(truth, records, { ...how, check: (expected, seen) => within('total_ms', seen.total_ms, 0, expected.max_ms) });
});
