// gc.mjs - how what noderay says of collections is compared with what perf_hooks says. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { compare } from './truth.mjs';

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

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

/** Fails unless the collections are those of the truth. at(record) is when it was told. */
export function compareCollections(truth, records, at) {
	const ratios = [];
	compare(truth, observed(truth, records, at), {
		key: ({ type, tid }) => `${type} ${tid}`,
		fields: { pid: 'pid', tid: 'tid', type: 'type' },
		check(expected, seen) {
			ratios.push(seen.pause_ms / expected.duration_ms);
			return seen.pause_ms > 0 ? [] : ['it took no time'];
		},
	});
	// One gc() may be two collections, of which the first frees it all.
	for (const { freed_bytes: freed, tid } of truth.filter(({ freed_bytes: bytes }) => bytes)) {
		const known = records.filter((record) => record.tid === tid && record.before);
		assert.ok(!known.length || known.some(({ before, after }) => before - after > freed / 2), `none of ${JSON.stringify(known)} freed ${freed}`);
	}
	// perf_hooks' callbacks are a part of what it measures, and may be held up; most are not.
	assert.ok(median(ratios) > 0.2 && median(ratios) < 5, `the times of perf_hooks are others: ${ratios}`);
}
