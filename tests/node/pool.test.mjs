// pool: what libuv's pool was given, how long it waited, on every node. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRoot, nodes, tmp } from './lib.mjs';
import { watched } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

/** The kinds of all intervals together: { fs: { count, wait } }. */
function sum(records) {
	const kinds = {};
	for (const record of records)
		for (const { kind, what, count, wait_ms: wait } of record.kinds) {
			if (what === 'lstat') continue; // the beacon's
			kinds[kind] ??= { count: 0, wait: 0 };
			kinds[kind].count += count;
			kinds[kind].wait = Math.max(kinds[kind].wait, wait.max);
		}
	return kinds;
}

for (const node of nodes)
	test(`node ${node.name}`, needsRoot, async () => {
		const { truth, records } = await watched(node, 'pool.js', ['pool'], { args: [tmp()] });
		const seen = sum(records);
		for (const kind of ['fs', 'dns', 'crypto', 'zlib']) {
			const jobs = truth.filter((job) => job.kind === kind);
			assert.equal(seen[kind]?.count, jobs.length, `${kind}: ${JSON.stringify(seen)}`);
			const least = Math.max(...jobs.map(({ min_wait_ms: ms }) => ms ?? 0)), most = Math.max(...jobs.map(({ max_ms: ms }) => ms));
			assert.ok(seen[kind].wait >= least - 0.001 && seen[kind].wait <= most + 0.001, `${kind} waited ${least} to ${most}: ${JSON.stringify(seen)}`);
		}
		assert.ok(records.every(({ threads }) => threads === undefined || threads === null || threads === 4));
	});
