// gc: stacks, sums, options. Every collection is compared with perf_hooks' in gc.test.mjs. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRoot, jsonLines, node, noderay } from './lib.mjs';
import { startTruth, startVerb } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };
const flags = ['--expose-gc'];
test('who allocated, and the sum of it', needsRoot, async () => {
	const target = await startTruth(node(22), 'gc.js', { flags });
	const verbs = [startVerb(['gc', '--json', '--stack', target.pid]), startVerb(['gc', '--summary', target.pid]),
		startVerb(['gc', '--summary', '--stack', '--json', target.pid])];
	for (const isThere = () => verbs[0].stdout; !isThere(); ) {
		target.say('beacon');
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
	await target.go();
	const [all, text, sums] = await Promise.all(verbs.map((verb) => verb.stop()));
	const records = jsonLines(all.stdout);
	await target.finish();
	assert.ok(records.some(({ type, stack }) => type === 'scavenge' && stack.some((frame) => /^litter \(.*gc\.js:\d+/.test(frame))), JSON.stringify(records));
	assert.ok(records.some(({ type, stack }) => type === 'mark-compact' && stack.some((frame) => /^collect \(/.test(frame))));
	assert.match(text.stdout, /^\d+ collections in .*: .*% of the time.*; the longest took /);
	assert.match(text.stdout, /TID +TYPE +COUNT +TOTAL +SHARE +AVERAGE +MAX +FREED\n/);
	assert.ok(jsonLines(sums.stdout).some(({ type, count, share, total_ms }) => type === 'mark-compact' && count > 0 && share > 0 && total_ms > 0));
	assert.ok(jsonLines(sums.stdout).some(({ stack, count }) => count > 0 && stack?.some((frame) => /^litter \(/.test(frame))));
});

test('what is asked for wrongly is told', needsRoot, async () => {
	const { code, stderr } = await noderay(['gc', '-o', 'nothing', '1']);
	assert.equal(code, 2);
	assert.match(stderr, /no column 'nothing'/);
	assert.match((await noderay(['gc', '--slow', 'soon'])).stderr, /--slow needs a time/);
	assert.match((await noderay(['gc', '--show-script', '--stack', '--slow', '5ms'])).stdout, /inline int stacks = 1;[^]*inline uint64_t slow = 5000000;/);
});
