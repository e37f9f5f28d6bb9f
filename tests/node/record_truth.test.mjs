// record on programs whose calls are known, in every tier and on workers: each stack, each caller, each line that ran.
// SPDX-License-Identifier: MIT
//
// NODERAY_TRUTH_SECONDS makes it look for longer, NODERAY_TRUTH_REPORT=1 prints what it counted.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRoot, jsonLines, noderay, nodes, programs, start, tmp } from './lib.mjs';
import { unpack } from './packed.mjs';
import { Graph } from './stacks.mjs';

const needsRoot = { skip: !isRoot && 'sampling with the kernel needs root' };
const seconds = Number(process.env.NODERAY_TRUTH_SECONDS || 2);
const graph = new Graph(path.join(programs, 'stacks/busy.js'));

/** Flags that keep a program in one tier, or let it rise to it. */
const tiersOf = ({ major }) => Object.fromEntries(Object.entries({
	interpreted: ['--no-opt', '--no-sparkplug', '--no-maglev'],
	baseline: ['--no-opt', '--always-sparkplug', '--no-maglev'],
	maglev: ['--no-opt', '--maglev'],
	turbofan: ['--no-sparkplug', '--no-maglev'],
	default: [],
}).filter(([tier]) => major >= 20 || tier !== 'maglev').map(([tier, flags]) => [tier, flags.filter((f) => major >= 20 || !/maglev/.test(f))]));

async function record(...targets) {
	const file = path.join(tmp(), 'truth.html');
	for (let d = seconds; ; d *= 2) {
		const { code, stdout, stderr } = await noderay(['record', '--json', '-F', 997, '-d', d, '-o', file, ...targets.map(({ pid }) => pid)]);
		assert.equal(code, 0, stderr);
		const [about] = jsonLines(stdout);
		// A machine that is busy gives a program little time.
		if (about.samples >= 100 * targets.length || d > 16) return { about, stderr, ...unpack(fs.readFileSync(file, 'utf8')) };
	}
}

// As Graph wants it: "Shape.area" is area, "new Shape" is Shape.
const asFrame = (f) => ({
	...f, kind: f.file === graph.file ? 'js' : f.kind, exact: f.line > 0, line: f.line || f.beginLine,
	function: f.name.replace(/^new /, '').replace(/^[\w$]+\.(?=.)/, ''),
});
const text = ({ thread, frames }) => `${thread.name}: ${frames.map((f) => `${f.kind} ${f.name} ${path.basename(f.file)}:${f.line}${f.isInlined ? ' inlined' : ''}`).join('\n\t')}`;

const roots = /^(_start|clone3?|__clone3?|start_thread)$/;
const isCut = ({ frames }) => frames.at(-1)?.name === '[stack cut]';

/** Kinds follow from where a function is; the kernel is innermost. */
function checkKinds(sample) {
	const { frames } = sample;
	const user = frames.findIndex((f) => f.kind !== 'kernel');
	for (const f of frames.slice(user)) assert.notEqual(f.kind, 'kernel', `a kernel below ${text(sample)}`);
	for (const f of frames) {
		if (f.file === graph.file) assert.equal(f.kind, 'js', text(sample));
		if (/^node:/.test(f.file)) assert.equal(f.kind, 'node', text(sample));
		if (f.file.startsWith('/') && !/\.m?js$/.test(f.file)) assert.match(f.kind, /^(native|gc|compiler|unknown)$/, text(sample));
		assert.ok(f.kind !== 'unknown' || f.name.startsWith('['), text(sample));
		assert.doesNotMatch(f.name, /unknown/, text(sample));
	}
	frames.forEach((f, i) => {
		if (f.isInlined) assert.ok(['js', 'node', 'builtin'].includes(frames[i + 1]?.kind), `inlined into nothing: ${text(sample)}`);
	});
}

function checkSample(sample, scenarios) {
	checkKinds(sample);
	// While V8 puts frames on the stack in the place of a compiled function's, no stack can be walked: then nothing is said of callers.
	if (isCut(sample)) {
		assert.ok(!sample.frames.some((f) => f.kind === 'js' || f.kind === 'node'), `cut: ${text(sample)}`);
		return;
	}
	assert.match(sample.frames.at(-1).name, roots, text(sample));
	const frames = sample.frames.map(asFrame);
	if (!frames.some((f) => f.file === graph.file)) return; // V8 itself, at the end of a collection
	const mine = graph.check({ tid: sample.thread.tid, frames, end: 'root' }, 'forever');
	const at = mine.findIndex((f) => f.function === 'forever');
	if (at > 0) assert.ok(scenarios.includes(mine[at - 1].function), `${mine[at - 1].function} is not what runs here: ${text(sample)}`);
}

/** Every sample of these threads; what is wrong is counted, and then told. */
function check(samples, scenarios, about) {
	const wrong = [];
	for (const sample of samples) {
		try {
			checkSample(sample, scenarios);
		} catch (error) {
			wrong.push(error.message);
		}
	}
	const count = (list) => list.reduce((sum, { weight }) => sum + weight, 0), cut = count(samples.filter(isCut));
	const inlined = count(samples.filter(({ frames }) => frames.some((f) => f.isInlined)));
	if (process.env.NODERAY_TRUTH_REPORT) console.log(`${about}: samples ${count(samples)} wrong ${wrong.length} cut ${cut} inlined ${inlined}`);
	assert.ok(samples.length > 10, `${about}: only ${samples.length} samples`);
	assert.equal(wrong.length, 0, `${about}: ${wrong.length} of ${samples.length} wrong:\n${wrong.slice(0, 4).join('\n')}`);
	assert.ok(cut <= Math.max(1, count(samples) / 200), `${about}: ${cut} of ${count(samples)} are cut`);
	return { inlined };
}

const all = graph.ranges.map(([name]) => name);

for (const which of nodes) {
	test(`node ${which.name}: each caller calls what it is said to call, on the line that ran, in every tier`, needsRoot, async (t) => {
		const tiers = Object.entries(tiersOf(which)), targets = [];
		for (const [tier, flags] of tiers) {
			targets.push(Object.assign(await start(which, 'stacks/busy.js', { flags }), { tier }));
			t.after(targets.at(-1).stop);
		}
		await sleep(500); // for the compilers to get to work
		const { about, samples, stderr } = await record(...targets);
		for (const { tier, pid } of targets) {
			const { inlined } = check(samples.filter(({ thread }) => thread.tid === pid), all, `node ${which.name}, ${tier}`);
			if (/interpreted|baseline/.test(tier)) assert.equal(inlined, 0, `${tier} code inlines nothing`);
			if (/turbofan|default/.test(tier)) assert.ok(inlined > 0, `${tier}: nothing is inlined`);
		}
		assert.equal(about.unnamed_frames, 0, stderr);
		assert.equal(about.lost_samples, 0, stderr);
	});

	test(`node ${which.name}: workers that do different things`, needsRoot, async (t) => {
		const target = await start(which, 'stacks/pair.js');
		t.after(target.stop);
		await sleep(500);
		const { about, samples, stderr } = await record(target);
		const workers = new Set(samples.map(({ thread }) => thread).filter(({ name }) => /^worker_threads worker/.test(name)));
		assert.equal(workers.size, 2, [...new Set(samples.map(({ thread }) => thread.name))].join());
		const seen = [];
		for (const worker of workers) {
			const own = samples.filter(({ thread }) => thread === worker);
			const name = /\((\w+)\)$/.exec(worker.name)?.[1] ??
				Object.keys(target.ready.parts).find((part) => own.some(({ frames }) => frames.some((f) => target.ready.parts[part].includes(f.name))));
			seen.push(name);
			check(own, target.ready.parts[name], `node ${which.name}, ${worker.name}`);
		}
		assert.deepEqual(seen.sort(), ['left', 'right']);
		assert.equal(about.unnamed_frames, 0, stderr);
	});
}
