// gc: every collection, as perf_hooks has it, on every node. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { hasVerb, isRoot, nodes } from './lib.mjs';
import { compare, watched, within } from './truth.mjs';

const needsRoot = { skip: (!isRoot && 'tracing needs root') || (!(await hasVerb('gc')) && 'this build has no verb gc') };

/** perf_hooks begins to look when it is told to and ends before its thread does: what came before and after is left out. */
function observed(truth, records, at) {
	const windows = new Map();
	for (const { tid, start_ms: start, duration_ms: duration } of truth) {
		const [from, to] = windows.get(tid) ?? [Infinity, -Infinity];
		windows.set(tid, [Math.min(from, start), Math.max(to, start + duration)]);
	}
	return records.filter((record) => {
		const [from, to] = windows.get(record.tid) ?? [0, -1];
		return at(record) >= from - 1.5 && at(record) - record.pause_ms <= to + 1.5;
	});
}

for (const node of nodes)
	test(`node ${node.name}`, needsRoot, async () => {
		const { truth, records, at } = await watched(node, 'gc.js', ['gc'], { flags: ['--expose-gc'] });
		compare(truth, observed(truth, records, at), {
			key: ({ type, tid }) => `${type} ${tid}`,
			fields: { pid: 'pid', tid: 'tid', type: 'type' },
			check(expected, seen) {
				const out = within('pause_ms', seen.pause_ms, expected.duration_ms * 0.9, undefined);
				if (expected.freed_bytes && seen.before && !(seen.before - seen.after >= expected.freed_bytes / 2)) out.push('more was freed');
				return out;
			},
		});
		assert.ok(records.every(({ type }) => /^(scavenge|mark-compact|minor-mark-sweep|incremental|weak-callbacks)$/.test(type)));
	});
