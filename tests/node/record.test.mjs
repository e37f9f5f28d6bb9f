// record: what is in the file, on all nodes; its modes, on programs whose answer is known; how it ends. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binary, isRoot, jsonLines, node, noderay, nodes, run, start, tmp, until } from './lib.mjs';
import { startVerb } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

/** Folded stacks: { thread, pid, tid, frames, weight }, the root first. */
function parse(text) {
	return text.trim().split('\n').filter(Boolean).map((line) => {
		const [, stack, weight] = line.match(/^(.*) (-?\d+)$/);
		const [head, ...frames] = stack.split(';');
		const [, thread, pid, tid] = head.match(/^(.*)-(\d+)\/(\d+)$/);
		return { thread, pid: Number(pid), tid: Number(tid), frames, weight: Number(weight) };
	});
}

/** Records until what is wanted is there: a machine that is busy gives a program little time. */
async function record(args, wanted, { seconds = 1 } = {}) {
	const file = path.join(tmp(), 'out.folded');
	let stacks, about, stderr;
	for (let tries = 0; tries < 5; tries++, seconds *= 2) {
		const result = await noderay(['record', '--json', '-o', file, '-d', seconds, ...args]);
		assert.equal(result.code, 0, result.stderr);
		({ stderr } = result);
		[about] = jsonLines(result.stdout);
		stacks = parse(fs.readFileSync(file, 'utf8'));
		if (wanted(stacks)) break;
	}
	assert.ok(wanted(stacks), `${stderr}\n${JSON.stringify(about)}\n${stacks.map(({ thread, frames }) => `${thread}: ${frames.join(' > ')}`).join('\n')}`);
	return { stacks, about, stderr };
}

const patterns = new Map();
/** Is it this function, called on whatever? */
function isFrame(frame, name) {
	if (!patterns.has(name)) patterns.set(name, new RegExp(`^(\\w+\\.)?${name.replace(/[.()]/g, '\\$&')}( \\(|_\\[|$)`));
	return patterns.get(name).test(frame);
}
/** The names one after the other, each called by the one before; others may lie between. */
const hasPath = (stack, ...names) => {
	let at = 0;
	for (const frame of stack.frames) if (at < names.length && isFrame(frame, names[at])) at++;
	return at === names.length;
};
const some = (stacks, ...names) => stacks.some((s) => hasPath(s, ...names));
const sum = (stacks) => stacks.reduce((total, { weight }) => total + weight, 0);

for (const version of nodes) {
	test(`node ${version.name}: names, places, kinds, threads`, needsRoot, async () => {
		const target = await start(version, 'record/busy.js');
		const isMain = (s) => s.tid === target.pid;
		const { stacks, about } = await record(['-F', 499, target.pid], (all) => {
			const main = all.filter(isMain);
			return some(main, 'outer', 'middle', 'hot') && some(main, 'sorting', 'Array.sort', 'byValue') && some(main, 'burn') &&
				main.some((s) => s.frames.some((f) => /^(Ledger\.)?balance \(/.test(f))) && all.some((s) => s.frames.at(-1).endsWith('_[k]')) &&
				all.some((s) => /^worker_threads worker 1( \(cruncher\))?$/.test(s.thread) && hasPath(s, 'outer', 'middle', 'hot'));
		});
		const all = stacks.flatMap(({ frames }) => frames);
		// Where functions begin.
		const lines = fs.readFileSync(target.file, 'utf8').split('\n');
		for (const name of ['outer', 'middle', 'hot', 'sorting', 'reading']) {
			const line = lines.findIndex((text) => text.startsWith(`function ${name}(`)) + 1;
			for (const frame of all.filter((f) => isFrame(f, name))) assert.match(frame, new RegExp(`busy\\.js:${line}:${`function ${name}`.length + 1}\\)`));
		}
		assert.ok(all.some((f) => /^burn \(.*\/node_modules\/burner\/index\.js:2:/.test(f)));
		// Nothing of V8 that only leads from one function to the next; its own builtins stay.
		assert.deepEqual(all.filter((f) => /^(InterpreterEntryTrampoline|JSEntry|CEntry|.*Handler_\[|.*\[\w+Frame\])/.test(f)), []);
		// Callers are right: hot is called by middle alone, middle by outer.
		for (const { frames } of stacks)
			frames.forEach((f, i) => {
				if (isFrame(f, 'hot')) assert.ok(isFrame(frames[i - 1], 'middle'), frames.join(';'));
				if (isFrame(f, 'middle')) assert.ok(isFrame(frames[i - 1], 'outer'), frames.join(';'));
			});
		assert.equal(about.unnamed_frames, 0, JSON.stringify(all.filter((f) => f.includes('unknown'))));
		assert.equal(about.unit, 'samples');
		assert.equal(about.weight, sum(stacks));
		assert.ok(about.cut_stacks <= 1 + about.samples / 50, `${about.cut_stacks} of ${about.samples}`);
		assert.ok(stacks.every(({ pid }) => pid === target.pid));
		await target.stop();
	});

	test(`node ${version.name}: who takes memory, who makes it collect`, needsRoot, async () => {
		const target = await start(version, 'record/grows.js');
		const [alloc, gc] = await Promise.all([
			record(['--alloc', target.pid], (all) => some(all, '(V8 heap)', 'growHeap') && all.some((s) => /^\((array buffers|native heap)\)$/.test(s.frames[0]) && hasPath(s, 'growBuffers'))),
			record(['--gc', target.pid], (all) => all.some((s) => hasPath(s, 'litter') && /^scavenge: /.test(s.frames.at(-1)))),
		]);
		assert.equal(alloc.about.unit, 'bytes');
		assert.equal(gc.about.unit, 'nanoseconds');
		assert.ok(alloc.stacks.every((s) => s.weight >= 0 && /^\(.*\)$/.test(s.frames[0])));
		const buffers = alloc.stacks.filter((s) => hasPath(s, 'growBuffers'));
		assert.ok(sum(buffers) >= 3 << 20, String(sum(buffers)));
		assert.ok(gc.stacks.every((s) => s.weight > 0));
		await target.stop();
	});
}

test('what it waits for, and both', needsRoot, async () => {
	const target = await start(node(24), 'record/waits.js');
	const isMain = (s) => s.tid === target.pid;
	const waitsIn = (all, name) => all.filter((s) => isMain(s) && hasPath(s, name) && s.frames.at(-1) === 'waiting: futex');
	const [off, wall] = await Promise.all([
		record(['--off-cpu', target.pid], (all) => waitsIn(all, 'sleepy').length && all.some((s) => isMain(s) && /^waiting: epoll_p?wait$/.test(s.frames.at(-1)))),
		record(['--wall', '--thread', 'main', target.pid], (all) => waitsIn(all, 'sleepy').length && all.some((s) => hasPath(s, 'working') && !s.frames.at(-1).startsWith('waiting'))),
	]);
	assert.ok(off.stacks.every((s) => s.frames.at(-1).startsWith('waiting: ')));
	assert.equal(off.about.unit, 'nanoseconds');
	// It sleeps 40 ms each time.
	assert.ok(sum(waitsIn(off.stacks, 'sleepy')) >= 30_000_000);
	assert.ok(wall.stacks.every(isMain));
	assert.match(wall.about.event, /99 Hz.*off-CPU/);
	await target.stop();
});

test('stacks at events', needsRoot, async () => {
	const target = await start(node(22), { code: `
		const fs = require('fs'), fd = fs.openSync('/dev/null', 'w');
		function small() { fs.writeSync(fd, 'x'); }
		function large() { fs.writeSync(fd, 'x'.repeat(5000)); }
		setInterval(() => { small(); large(); Buffer.alloc(1 << 20, 1); }, 5);
		console.log('{}');` });
	const probes = ['syscall::write:entry /arg2 > 4096/', 'syscalls:sys_enter_write', 'page-faults'];
	const [some_, all, faults] = await Promise.all(probes.map((probe) => record(['--event', probe, target.pid], (s) => s.length > 0)));
	assert.ok(some(some_.stacks, 'large') && !some(some_.stacks, 'small'));
	assert.ok(some(all.stacks, 'large') && some(all.stacks, 'small'));
	assert.equal(some_.about.weight, some_.about.samples);
	assert.equal(some_.about.unit, 'count');
	assert.equal(some_.about.event, probes[0]);
	assert.ok(faults.about.samples > 0);
	await target.stop();
});

test('children of cluster, several targets', needsRoot, async () => {
	const target = await start(node(22), { code: `
		const cluster = require('cluster');
		function inChild() { for (const end = Date.now() + 10; Date.now() < end; ); }
		if (cluster.isPrimary) {
			const pids = [0, 1].map(() => cluster.fork().process.pid);
			cluster.on('online', () => { if (Object.values(cluster.workers).every((w) => w.isConnected())) setTimeout(() => console.log(JSON.stringify(pids)), 300); });
		} else setInterval(inChild, 20);` });
	const [first, second] = target.ready;
	const hasBoth = (all) => [first, second].every((pid) => all.some((s) => s.pid === pid && hasPath(s, 'inChild')));
	await record([target.pid], hasBoth);
	await record(['--no-children', `${first},${second}`], hasBoth);
	await record(['--all'], hasBoth);
	await target.stop();
});

test('a command from its first to its last moment', needsRoot, async () => {
	const directory = tmp(), file = path.join(directory, 'x.js'), out = path.join(directory, 'run-%p.folded');
	fs.writeFileSync(file, 'function whole() { for (const end = Date.now() + 400; Date.now() < end; ); }\nwhole(); console.log("mine", process.pid);');
	const { code, stdout, stderr } = await noderay(['record', '-o', out, '--', node(24).path, file]);
	assert.equal(code, 0, stderr);
	const [, pid] = stdout.match(/^mine (\d+)\n$/);
	const stacks = parse(fs.readFileSync(path.join(directory, `run-${pid}.folded`), 'utf8'));
	assert.ok(some(stacks, 'whole'), JSON.stringify(stacks));
	assert.match(stderr, new RegExp(`^noderay: .*run-${pid}\\.folded: .*, \\d+ samples in [\\d.]+ s\\n`, 'm'));
});

test('Ctrl-C writes what there is; without -o there is a page', needsRoot, async () => {
	const target = await start(node(24), 'record/busy.js', { args: ['0'] });
	const cwd = tmp(), before = process.cwd();
	process.chdir(cwd);
	const verb = startVerb(['record', target.pid]);
	process.chdir(before);
	const isOn = () => fs.readdirSync(`/proc/${verb.child.pid}/fd`).some((fd) => {
		try {
			return fs.readlinkSync(`/proc/${verb.child.pid}/fd/${fd}`).includes('bpf_link');
		} catch {
			return false;
		}
	});
	await until(() => verb.isGone() || isOn(), 'no probe is on');
	await new Promise((resolve) => setTimeout(resolve, 500));
	const { code, stderr } = await verb.stop();
	assert.equal(code, 0, stderr);
	const [file] = fs.readdirSync(cwd);
	assert.match(file, new RegExp(`^noderay-${target.pid}-\\d{8}-\\d{6}\\.html$`));
	assert.match(stderr, new RegExp(`^noderay: ${file}: .* samples in `, 'm'));
	assert.match(fs.readFileSync(path.join(cwd, file), 'latin1').slice(0, 200), /<!doctype html>/i);
	await target.stop();
});

for (const version of ['18', '24'])
	test(`node ${version}: code that never stays the same keeps its names, in little memory`, needsRoot, async () => {
		const target = await start(node(version), 'record/made.js');
		const { code, stdout, stderr } = await noderay(['trace', '-q', '-x', 'stackmemory=64k', '-x', 'bufsize=8m', '-x', 'follow=children', '-p', target.pid,
			'-n', 'profile-997 { printf("%k\\n", ustack(256)); } tick-3s { exit(0); }']);
		assert.equal(code, 0, stderr);
		assert.doesNotMatch(stdout, /<stack dropped>/);
		let last = null, calls = 0;
		for (const line of stdout.split('\n')) {
			const number = Number(line.match(/^\s*made(\d+) /)?.[1] ?? NaN);
			if (number && last) {
				assert.equal(number, last + 1, 'called by the one that was made after it');
				calls++;
			}
			last = number || null;
		}
		assert.ok(calls > 20, String(calls));
		await target.stop();
	});

test('as often as can be asked for', needsRoot, async (t) => {
	const target = await start(node(24), 'record/busy.js');
	t.after(target.stop);
	const { about, stderr } = await record(['-F', 10000, target.pid], (stacks) => some(stacks, 'outer', 'middle', 'hot'));
	assert.equal(about.event, 'on-CPU, 10000 Hz');
	assert.equal(about.lost_samples > 0, /samples were lost/.test(stderr), stderr);
	// What is more often than the kernel allows would be left out without a word.
	const rate = path.join(tmp(), 'rate');
	fs.writeFileSync(rate, '1000\n');
	const refused = await run('/usr/bin/unshare', ['-m', 'sh', '-c', 'mount --bind "$1" /proc/sys/kernel/perf_event_max_sample_rate && exec "$0" record -F 1001 -o x.folded "$2"', binary, rate, target.pid], { cwd: tmp() });
	assert.deepEqual([refused.code, refused.stderr], [2, `noderay: record: the kernel takes at most 1000 samples a second here, not 1001
sudo sysctl kernel.perf_event_max_sample_rate=1001, or -F 1000
`]);
});

test('what is asked for wrongly is told, before anything is recorded', needsRoot, async () => {
	const cases = [
		[['-F', '0'], 2, /--frequency can be 1 to 10000, not 0/],
		[['-F', 'often'], 2, /--frequency/],
		[['-f', 'nothing'], 2, /no such format: 'nothing'/],
		[['-o', '/nowhere/x.folded'], 1, /\/nowhere: No such file or directory/],
		[['-o', '/tmp', '-f', 'folded'], 2, /\/tmp is a directory/],
		[['-o', ''], 2, /--output needs the name of a file/],
		[['--json', '-f', 'folded', '-o', '-'], 2, /cannot both go to standard output/],
		[['--gc', '--alloc', '-o', 'x.folded'], 2, /--alloc and --gc: which one\?/],
		[['--gc', '-F', '99', '-o', 'x.folded'], 2, /--frequency is of what runs/],
		[['--thread', 'first', '-o', 'x.folded'], 2, /--thread needs 'main' or a thread's number/],
		[['--event', 'a { }', '-o', 'x.folded'], 2, /--event needs a probe/],
		[['--event', 'syscalls:sys_enter_nothing', '-o', 'x.folded', process.pid], 1, /does not match any probes/],
		[['-d', '0', '-o', 'x.folded', process.pid], 2, /--duration must be more than 0/],
		[['-o', 'x.folded', '4194305'], 1, /no process 4194305/],
	];
	await Promise.all(cases.map(async ([args, exit, what]) => {
		const { code, stderr } = await noderay(['record', ...args], { cwd: tmp() });
		assert.equal(code, exit, `${args}: ${stderr}`);
		assert.match(stderr, what);
	}));
	const { stdout } = await noderay(['record', '--show-script', '-F', '997', '--wall', '--thread', 'main']);
	assert.match(stdout, /inline int waits = 1;[^]*inline int thread = -1;[^]*\nprofile-997\n/);
	assert.match((await noderay(['record', '--show-script', '--event', 'page-faults'])).stdout, /\ntracepoint:exceptions::page_fault_user\n/);
});
