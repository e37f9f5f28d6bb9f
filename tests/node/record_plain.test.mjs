// record and top as a user without capabilities: by the kernel's clock, and by stopping where that is forbidden. Programs whose calls are
// known, on all nodes. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { isRoot, jsonLines, node, noderay, nodes, settle, start, tmp, until } from './lib.mjs';
import { perfDenied } from './denied.mjs';
import { Graph } from './stacks.mjs';

// On a machine that is busy, looks come late: more functions are gone by then. Bounds are wide, wrong answers have none.
// Who runs the tests as somebody else than root is without capabilities already.
const user = isRoot ? 'nobody' : undefined;
const begin = (version, program, options) => start(version, program, { user, ...options });
const remedy = /setcap cap_bpf,cap_perfmon/;

/** Records until there are enough samples: a machine that is busy gives a program little time. */
async function record(args, { format = 'cpuprofile', least = 5, env, seconds = 1 } = {}) {
	const file = path.join(tmp(), `out.${format}`);
	for (;; seconds *= 2) {
		const { code, stdout, stderr } = await noderay(['record', '--json', '-d', seconds, '-o', file, ...args], { user, env });
		assert.equal(code, 0, stderr);
		const [about] = jsonLines(stdout);
		if (about.samples >= least) return { about, stderr, text: fs.readFileSync(file, 'utf8') };
		assert.ok(seconds < 32, `${about.samples} samples in ${seconds} s: ${stderr}`);
	}
}

/** A DevTools profile against the call graph of its program: each function is called by one that calls it, and no line is of another function. */
function check(text, graph, file) {
	const { nodes: list } = JSON.parse(text);
	const byId = new Map(list.map((n) => [n.id, n]));
	for (const n of list) for (const child of n.children ?? []) byId.get(child).parent = n;
	const own = (n) => n.callFrame.url.endsWith(file);
	const name = ({ callFrame }) => callFrame.functionName.replace(/^(new|get|set) /, '').replace(/^[\w$]+\.(?=.)/, '');
	let edges = 0, lines = 0;
	for (const n of list.filter(own)) {
		const callee = name(n);
		for (const { line } of n.positionTicks ?? []) {
			assert.ok(graph.isIn(callee, line), `${callee} has no line ${line}`);
			lines++;
		}
		let caller = n.parent;
		const isUnknown = ({ callFrame }) => callFrame.functionName.startsWith('[');
		while (caller && !own(caller) && !isUnknown(caller)) caller = caller.parent;
		if (!caller || isUnknown(caller) || name(caller) === '<anonymous>' || callee === '<anonymous>') continue;
		const calls = graph.ranges.some(([f, first, last]) => f === name(caller) &&
			graph.calls.slice(first - 1, last).some((set) => set.has(callee)));
		assert.ok(calls, `${name(caller)} does not call ${callee}`);
		edges++;
	}
	return { edges, lines };
}

for (const version of nodes) {
	test(`node ${version.name}: by the clock and by stops, callers and lines are right`, async (t) => {
		const target = await begin(version, 'stacks/busy.js');
		t.after(target.stop);
		const graph = new Graph(target.file);
		const clock = await record(['-F', 499, target.pid], { least: 50 });
		assert.match(clock.stderr, /^noderay: without capabilities: what runs in user space is sampled; kernel frames/);
		assert.match(clock.stderr, remedy);
		assert.equal(clock.about.event, 'on-CPU in user space, 499 Hz');
		const seen = check(clock.text, graph, 'busy.js');
		assert.ok(seen.edges > 10 && seen.lines > 5, JSON.stringify(seen));
		assert.ok(clock.about.cut_stacks <= clock.about.samples / 5, JSON.stringify(clock.about));
		assert.ok(clock.about.unnamed_frames <= clock.about.samples / 5, JSON.stringify(clock.about));
		const env = await perfDenied();
		if (!env) return;
		const stops = await record([target.pid], { env, least: 2 });
		assert.match(stops.stderr, /perf_event_open: Permission denied|perf_event_paranoid/);
		assert.match(stops.stderr, /stopped for a moment instead, for at most 2% of the time/);
		assert.match(stops.stderr, /^noderay: stopped \d+ times for [\d.]+ ms on average, [\d.]+% of the time; looked [\d.]+ times a second$/m);
		check(stops.text, graph, 'busy.js');
		assert.equal(stops.about.unnamed_frames, 0, JSON.stringify(stops.about));
		assert.doesNotMatch(fs.readFileSync(`/proc/${target.pid}/status`, 'utf8'), /^State:\s*[tT]/m);
	});
}

test('threads of workers, and processes that are started, are seen and named', async (t) => {
	const threads = await begin(node(24), 'record/busy.js');
	t.after(threads.stop);
	const { text } = await record(['-F', 997, threads.pid], { format: 'folded', least: 200 });
	assert.match(text, /^main JS thread-\d+\/\d+;/m);
	assert.match(text, /^worker_threads worker 1 \(cruncher\)-\d+\/\d+;.*;outer \(.*;middle \(.*;hot \(/m);
	const code = `const { fork } = require('child_process');
		if (process.argv[2]) { const end = Date.now() + 60_000; const child = function child() { let s = 0; for (let i = 0; i < 1e6; i++) s += i % 7; return s; }; while (Date.now() < end) child(); }
		const first = fork(__filename, ['1']); setTimeout(() => fork(__filename, ['2']), 1000); setInterval(() => {}, 1000);
		process.on('exit', () => first.kill()); console.log(first.pid);`;
	const family = await begin(node(22), { code });
	t.after(family.stop);
	for (const env of [undefined, await perfDenied()]) {
		const { text: both } = await record([family.pid], { format: 'folded', env, least: 1 });
		assert.match(both, /;child \(/);
		const alone = await noderay(['record', '-d', '1', '-f', 'folded', '-o', '-', '--no-children', family.pid], { user, env });
		assert.equal(alone.code, 0, alone.stderr);
		assert.doesNotMatch(alone.stdout, /child \(/);
	}
	for (const line of fs.readFileSync(`/proc/${family.pid}/task/${family.pid}/children`, 'utf8').trim().split(' ')) process.kill(Number(line), 'SIGKILL');
});

test('samples for which there was no room are counted and told', async (t) => {
	const target = await begin(node(24), 'record/busy.js');
	t.after(target.stop);
	const file = path.join(tmp(), 'lost.folded');
	const recorded = noderay(['record', '--json', '-F', '4999', '-d', '600', '-o', file, target.pid], { user });
	const read = (pid, name) => {
		try {
			return fs.readFileSync(`/proc/${pid}/${name}`, 'utf8');
		} catch {
			return '';
		}
	};
	const isTicking = (pid) => /perf_event/.test(fs.readdirSync(`/proc/${pid}/fd`).map((fd) => {
		try {
			return fs.readlinkSync(`/proc/${pid}/fd/${fd}`);
		} catch {
			return '';
		}
	}).join());
	const ticks = (pid) => read(pid, 'stat').replace(/^.*\) /, '').split(' ').slice(11, 13).reduce((sum, one) => sum + Number(one), 0);
	const works = async (pid, more) => {
		const since = ticks(pid);
		await until(() => ticks(pid) >= since + more, `process ${pid} does nothing`);
	};
	let pid;
	await until(() => (pid = fs.readdirSync('/proc').find((name) => /^\d+$/.test(name) && read(name, 'cmdline').includes(file))), 'no noderay');
	await until(() => isTicking(pid), 'no events');
	// Nobody reads, and the target goes on.
	process.kill(pid, 'SIGSTOP');
	await works(target.pid, 20);
	process.kill(pid, 'SIGCONT');
	await works(pid, 5);
	process.kill(pid, 'SIGINT');
	const { code, stdout, stderr } = await recorded;
	assert.equal(code, 0, stderr);
	const [about] = jsonLines(stdout);
	assert.ok(about.lost_samples > 0, stdout);
	assert.match(stderr, new RegExp(`^noderay: ${about.lost_samples} samples were lost: no room in a buffer; -F asks for fewer$`, 'm'));
});

test('a command is recorded from its start, and a thread alone', async (t) => {
	const file = path.join(tmp(), 'short.js');
	fs.writeFileSync(file, 'const end = Date.now() + 700;\nfunction work() { let s = 0; for (let i = 0; i < 1e5; i++) s += i % 3; return s; }\nwhile (Date.now() < end) work();\n');
	const { code, stdout, stderr } = await noderay(['record', '-F', 499, '-f', 'folded', '-o', '-', '--', node(26).path, file], { user });
	assert.equal(code, 0, stderr);
	assert.match(stdout, /;work \(.*short\.js:2:14\)/);
	const target = await begin(node(22), 'record/busy.js');
	t.after(target.stop);
	const { text } = await record(['-F', 499, '--thread', 'main', target.pid], { format: 'folded' });
	assert.ok(text.trim().split('\n').every((line) => line.startsWith(`main JS thread-${target.pid}/${target.pid};`)), text);
});

test('who sleeps is left alone', async (t) => {
	const target = await begin(node(22), 'park.js');
	t.after(target.stop);
	const env = await perfDenied();
	if (!env) return;
	await settle(target);
	const { code, stderr } = await noderay(['record', '-d', '1', '-f', 'folded', '-o', '-', target.pid], { user, env });
	assert.equal(code, 0, stderr);
	assert.match(stderr, /no sample/);
	assert.doesNotMatch(stderr, /stopped \d+ times/);
});

test('what needs rights says so', async (t) => {
	const target = await begin(node(22), 'park.js');
	t.after(target.stop);
	for (const args of [['--off-cpu'], ['--wall'], ['--gc'], ['--alloc'], ['--event', 'page-faults']]) {
		const { code, stderr } = await noderay(['record', ...args, '-d', '1', '-f', 'folded', '-o', '-', target.pid], { user });
		assert.equal(code, 3, `${args}: ${stderr}`);
		assert.match(stderr, /not permitted|denied/i);
		assert.match(stderr, remedy);
	}
	if (!isRoot) return;
	const other = await noderay(['record', '-d', '1', '-f', 'folded', '-o', '-', target.pid], { user: 'stranger' });
	assert.equal(other.code, 3, other.stderr);
	assert.match(other.stderr, remedy);
});

test('top shows what runs', async (t) => {
	const target = await begin(node(22), 'record/busy.js');
	t.after(target.stop);
	const { code, stdout, stderr } = await noderay(['top', '-b', '-n', '2', '-i', '1', target.pid], { user });
	assert.equal(code, 0, stderr);
	assert.match(stderr, /without capabilities/);
	assert.match(stdout, /99 Hz in user space/);
	assert.match(stdout, /\bjs +\S*hot\b/);
});
