// The probes of the node provider, in D: what their arguments say of what a program did. The verbs' own tests are about
// the rest. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import os from 'node:os';
import test from 'node:test';
import { isRoot, nodes, tmp } from './lib.mjs';
import { compareCollections } from './gc.mjs';
import { compare, traced, within } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

const times = { result: ['%d', 'args[0]->result'], wait: ['%d', 'args[0]->wait'], run: ['%d', 'args[0]->run'], total: ['%d', 'args[0]->total'] };
const file = {
	op: ['%s', 'args[0]->operation'], path: ['%s', 'args[0]->path'], new_path: ['%s', 'args[0]->newPath'], fd: ['%d', 'args[0]->fd'],
	sync: ['%d', 'args[0]->isSync'], ...times,
};
const name = { kind: ['%s', 'args[0]->kind'], type: ['%s', 'args[0]->type'], host: ['%s', 'args[0]->host'], service: ['%s', 'args[0]->service'], ...times };
const work = { kind: ['%s', 'args[0]->kind'], wait: ['%d', 'args[0]->wait'], run: ['%d', 'args[0]->run'] };

const collection = {
	type: ['%s', 'args[2]->type'], reason: ['%s', 'args[2]->reason'], before: ['%d', 'args[2]->before'], after: ['%d', 'args[2]->after'],
	duration: ['%d', 'args[2]->duration'], number: ['%d', 'arg0'],
};
const phase = { phase: ['%s', 'args[0]->phase'], duration: ['%d', 'args[0]->duration'] };
const callback = { kind: ['%s', 'args[0]->kind'], fd: ['%d', 'args[0]->fd'], duration: ['%d', 'args[0]->duration'] };

const errors = Object.fromEntries(Object.entries(os.constants.errno).map(([key, value]) => [-value, key]));
const orNull = (text) => (text === '' ? null : String(text));
const asFile = (record) => ({
	...record, sync: Boolean(record.sync), path: orNull(record.path), new_path: orNull(record.new_path), error: record.result < 0 ? errors[record.result] : null,
});

const files = {
	key: ({ op, sync, path, error }) => [op, sync, (path ?? '').slice(0, 200), error].join(' '),
	fields: { pid: 'pid', path: 'path', new_path: 'new_path', result: 'result' },
	check: (expected, { wait, run, total }) => [
		...within('wait', wait / 1e6, expected.min_wait_ms, expected.max_ms), ...within('run', run / 1e6, 0, expected.max_ms),
		...within('total', total / 1e6, expected.min_wait_ms, expected.max_ms),
	],
};
const names = {
	key: ({ kind, host, type, error }) => [kind, host, kind === 'resolve' ? type : '', Boolean(error)].join(' '),
	seenKey: ({ kind, host, type, result }) => [kind, host, kind === 'resolve' ? type : '', result !== 0].join(' '),
	fields: { pid: 'pid' },
	check: (expected, { total }) => within('total', total / 1e6, expected.min_ms, expected.max_ms),
};

for (const node of nodes) {
	test(`node ${node.name}: fs-done`, needsRoot, async () => {
		const { truth, records } = await traced(node, 'fs.js', [['node$target:::fs-done', file]], { args: [tmp()] });
		compare(truth, records.map(asFile), files);
	});
	test(`node ${node.name}: dns-done`, needsRoot, async () => {
		const { truth, records } = await traced(node, 'dns.js', [['node$target:::dns-done', name]]);
		compare(truth, records, names);
	});
	test(`node ${node.name}: work-done`, needsRoot, async () => {
		const { truth, records } = await traced(node, 'pool.js', [['node$target:::work-done', work]], { args: [tmp()] });
		// Jobs of node 16 do not say what they are.
		const kindOf = ({ kind }) => (node.major === 16 && /crypto|zlib/.test(kind) ? 'work' : kind);
		compare(truth, records, { key: kindOf, fields: { pid: 'pid' } });
		const least = Math.max(...truth.map(({ min_wait_ms: ms }) => ms ?? 0)), longest = Math.max(...records.map(({ wait }) => wait / 1e6));
		assert.deepEqual(within('wait', longest, least), []);
	});
	test(`node ${node.name}: gc-done`, needsRoot, async () => {
		const { truth, records, at } = await traced(node, 'gc.js', [['node$target:::gc-done', collection]], { flags: ['--expose-gc'] });
		compareCollections(truth, records.map((record) => ({ ...record, pause_ms: record.duration / 1e6 })), at);
	});
	test(`node ${node.name}: loop-phase-done, callback-done`, needsRoot, async () => {
		const long = 'args[0]->duration > 100000000';
		const { truth, records, at } = await traced(node, 'loop.js', [['node$target:::loop-phase-done', phase, long], ['node$target:::callback-done', callback, long]]);
		const kinds = { timers: 'timer', check: 'check', closing: 'close' };
		for (const block of truth) {
			// It was told after the block ended, and before the next began. walltimestamp and Date.now() may be a few milliseconds apart.
			const during = (record) => record.tid === block.tid && at(record) - record.duration / 1e6 <= block.start_ms + 3 && at(record) >= block.start_ms + block.min_ms - 3;
			const seen = records.filter(during), text = JSON.stringify([block, seen]);
			const [run, ...rest] = seen.filter(({ kind }) => kind);
			assert.ok(run && !rest.length, `one callback: ${text}`);
			assert.ok(run.duration / 1e6 >= block.min_ms, text);
			if (kinds[block.phase]) assert.equal(run.kind, kinds[block.phase], text);
			assert.ok(seen.some((record) => record.phase === block.phase && record.duration >= run.duration), text);
		}
	});
}
