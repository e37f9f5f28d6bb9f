// record on a program whose compiled functions V8 takes down all the time: each stack that is met then is whole, and has the callers that the program says.
// SPDX-License-Identifier: MIT
//
// NODERAY_TRUTH_SECONDS makes it look for longer, NODERAY_TRUTH_REPORT=1 prints what it counted.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { isRoot, jsonLines, noderay, nodes, programs, start, tmp } from './lib.mjs';
import { unpack } from './packed.mjs';

const needsRoot = { skip: !isRoot && 'sampling with the kernel needs root' };
const seconds = Number(process.env.NODERAY_TRUTH_SECONDS || 2);
const file = path.join(programs, 'record/deopt.js');
// Where each function's text is: [name, its first line, its last].
const ranges = (() => {
	const found = [];
	fs.readFileSync(file, 'utf8').split('\n').forEach((line, i) => {
		const name = /^function (\w+)/.exec(line)?.[1];
		if (name) found.push([name, i + 1, 0]);
		if (line === '}' && found.at(-1)) found.at(-1)[2] ||= i + 1;
	});
	return new Map(found.map(([name, first, last]) => [name, { first, last }]));
})();

const isEntry = ({ name }) => name.startsWith('DeoptimizationEntry');
const isCut = ({ frames }) => frames.at(-1)?.name === '[stack cut]';
const text = ({ thread, frames }) => `${thread.name}: ${frames.map((f) => `${f.kind} ${f.name} ${path.basename(f.file)}:${f.line}${f.isInlined ? ' inlined' : ''}`).join('\n\t')}`;

/** Every function of the program has a caller that the program says it has, and is on one of its own lines. */
function checkCallers(sample, callers) {
	const own = sample.frames.filter((f) => f.file === file).map((f) => ({ ...f, name: f.name.replace(/^.*\./, '') }));
	own.forEach(({ name, line }, i) => {
		if (name === 'forever') return assert.equal(i, own.length - 1, text(sample));
		assert.ok(callers[name], `${name} is no function of it: ${text(sample)}`);
		assert.ok(callers[name].includes(own[i + 1]?.name), `${name} is not called by ${own[i + 1]?.name}: ${text(sample)}`);
		const { first, last } = ranges.get(name);
		assert.ok(!line || (line >= first && line <= last), `${name} is not on line ${line}: ${text(sample)}`);
	});
	return own;
}

function checkEntry(sample, own) {
	const { frames } = sample, at = frames.findIndex(isEntry);
	assert.equal(frames.findLastIndex(isEntry), at, `more than one: ${text(sample)}`);
	assert.match(frames.at(-1).name, /^(_start|clone3?|__clone3?|start_thread)$/, text(sample));
	for (const f of frames.slice(0, at)) assert.match(f.kind, /^(native|kernel|gc|compiler|unknown)$/, `not of C++: ${text(sample)}`);
	if (!own.length) return; // a function of node's own, at its start
	assert.equal(own.at(-1).name, 'forever', text(sample));
	assert.equal(frames[at + 1].file, file, `replaced, but not told: ${text(sample)}`);
}

for (const which of nodes)
	test(`node ${which.name}: stacks are whole while V8 replaces their frames`, needsRoot, async (t) => {
		const target = await start(which, 'record/deopt.js', { flags: ['--allow-natives-syntax'] });
		t.after(target.stop);
		const { callers } = target.ready, html = path.join(tmp(), 'deopt.html');
		const seen = { samples: 0, entries: 0, cut: 0, places: 0, inlined: 0, threads: new Set() };
		for (let d = seconds; ; d *= 2) {
			const { code, stdout, stderr } = await noderay(['record', '--json', '-F', 997, '-d', d, '-o', html, target.pid]);
			assert.equal(code, 0, stderr);
			const [{ unnamed_frames: unnamed, lost_samples: lost }] = jsonLines(stdout);
			assert.deepEqual({ unnamed, lost }, { unnamed: 0, lost: 0 }, stderr);
			for (const sample of unpack(fs.readFileSync(html, 'utf8')).samples) {
				seen.samples += sample.weight;
				// Before it begins, a worker is started, and the file is run.
				const own = isCut(sample) || !sample.frames.some((f) => f.file === file && /\bforever$/.test(f.name)) ? [] : checkCallers(sample, callers);
				if (!sample.frames.some(isEntry)) continue;
				seen.entries += sample.weight;
				// Some instructions have neither the old frame nor the new one: then nothing is said of callers.
				if (isCut(sample)) {
					assert.ok(!sample.frames.some((f) => f.kind === 'js' || f.kind === 'node'), `cut: ${text(sample)}`);
					seen.cut += sample.weight;
					continue;
				}
				checkEntry(sample, own);
				seen.places += Boolean(own[0]?.line);
				seen.inlined += Boolean(own[0]?.isInlined);
				seen.threads.add(sample.thread.tid);
			}
			if ((seen.entries >= 30 && seen.threads.size > 1) || d > 16) break;
		}
		if (process.env.NODERAY_TRUTH_REPORT) console.log(`node ${which.name}: ${JSON.stringify({ ...seen, threads: seen.threads.size })}`);
		assert.ok(seen.entries >= 20, `only ${seen.entries} of ${seen.samples} are such stacks`);
		assert.equal(seen.threads.size, 2, 'of one thread only');
		assert.ok(seen.cut <= Math.max(2, seen.entries / 5), `${seen.cut} of ${seen.entries} are cut`);
	});
