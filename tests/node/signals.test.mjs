// signals.test.mjs - every verb ends within a second of SIGINT, SIGTERM or SIGHUP, at whatever moment it comes, once or twice. What was collected is there as
// a whole, or nothing of it; the target works on. SPDX-License-Identifier: MIT
//
//   NODERAY_SIGNALS=200 tests/run node/signals     so many moments for each verb, in a full run
//
// The moments are chosen by fixed seeds. In this file times are asserted, since they are what is promised.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binary, isRoot, jsonLines, node, noderay, run, start, takeCore, tmp, until } from './lib.mjs';

const rounds = Number(process.env.NODERAY_SIGNALS ?? 4);
const limit = 1000; // ms
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const needsRoot = isRoot ? {} : { skip: 'only root can trace' };
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Numbers from 0 to 1 that are the same for the same name. */
function randomBy(name) {
	let state = 2166136261;
	for (const c of name) state = Math.imul(state ^ c.charCodeAt(0), 16777619);
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
	};
}

function begin(args, { stdio = ['ignore', 'pipe', 'pipe'], cwd } = {}) {
	const child = spawn(binary, args.map(String), { stdio, cwd, env: { ...process.env, TERM: 'dumb' } });
	child.out = child.err = '';
	child.stdout?.setEncoding('utf8').on('data', (text) => (child.out += text));
	child.stderr?.setEncoding('utf8').on('data', (text) => (child.err += text));
	child.closed = once(child, 'close');
	child.on('exit', () => (child.endedAt = performance.now()));
	return child;
}

/** Sends a signal, again after `again` ms if that is a number; how long the end took. */
async function end(child, signal, again) {
	const sentAt = performance.now();
	child.kill(signal);
	if (again !== undefined) {
		await sleep(again);
		child.kill(signal);
	}
	const guard = setTimeout(() => child.kill('SIGKILL'), 20_000);
	await child.closed;
	clearTimeout(guard);
	return child.endedAt - sentAt;
}

const wholeLines = (text) => text === '' || text.endsWith('\n');
const json = (text) => jsonLines(text).length > 0;
const something = (text) => text.trim() !== '' && wholeLines(text);

// What a verb prints when it has run to its end. collects: a signal ends it early, and it prints what it has. A list of events may be empty.
const cases = [
	{ args: (pid) => ['http', '-c', pid], collects: wholeLines },
	{ args: (pid) => ['http', '--json', pid], collects: wholeLines },
	{ args: (pid) => ['http', '--top', pid], collects: something },
	{ args: (pid) => ['summary', pid], collects: something },
	{ args: (pid) => ['fs', pid], collects: wholeLines },
	{ args: (pid) => ['fs', '-c', pid], collects: something },
	{ args: (pid) => ['dns', '--stack', pid], collects: wholeLines },
	{ args: (pid) => ['net', '-c', pid], collects: something },
	{ args: (pid) => ['gc', pid], collects: wholeLines },
	{ args: (pid) => ['loop', pid], collects: wholeLines },
	{ args: (pid) => ['loop', '--block', '1ms', pid], collects: wholeLines },
	{ args: (pid) => ['pool', pid], collects: wholeLines },
	{ args: (pid) => ['syscalls', pid], collects: wholeLines },
	{ args: (pid) => ['syscalls', '-c', pid], collects: something },
	{ args: (pid) => ['top', '-b', pid], collects: wholeLines },
	{ args: (pid, file) => ['record', '-f', 'cpuprofile', '-o', file, pid], collects: wholeLines, file: (text) => JSON.parse(text).nodes.length > 0 },
	{ args: (pid, file) => ['record', '--wall', '-f', 'folded', '-o', file, pid], collects: wholeLines, file: wholeLines },
	{ args: (pid) => ['record', '-f', 'folded', '-o', '-', pid], collects: wholeLines },
	{ args: (pid) => ['trace', '-qn', 'profile-997 { @[jstack(20)] = count(); } tick-1s { printa(@); trunc(@, 5); } END { printf("end\\n"); }', '-p', pid], collects: (text) => /^end$/m.test(text) },
	{ args: (pid) => ['trace', '-qn', 'pid$target:node:uv__*:entry { @[probefunc] = count(); }', '-p', pid], collects: wholeLines },
	{ args: (pid, file) => ['trace', '-qn', 'syscall:::entry /pid == $target/ { trace(probefunc); printf("\\n"); }', '-o', file, '-p', pid], collects: wholeLines, file: wholeLines },
	{ args: (pid, file) => ['http', '--json', '--', node(22).path, path.join(import.meta.dirname, 'programs/signals.js'), `${file}.pid`], collects: () => true, child: true },
	{ args: (pid, file) => ['core', '-o', file, pid], file: () => true },
	{ args: (pid, file) => ['core', '--zstd', '-o', file, pid], file: () => true },
	{ args: () => ['ps'], prints: something },
	{ args: (pid) => ['stack', pid], prints: something },
	{ args: (pid) => ['maps', pid], prints: something },
	{ args: (pid) => ['files', '--json', pid], prints: json },
	{ args: (pid) => ['args', pid], prints: something },
	{ args: (pid) => ['env', pid], prints: something },
	{ args: () => ['doctor'], prints: something },
	{ args: (pid, file, given) => ['stack', given.core], prints: something },
	{ args: (pid, file, given) => ['convert', given.profile, '-o', file], file: () => true },
	{ args: (pid, file, given) => ['diff', given.profile, given.profile, '-o', file], file: () => true },
	{ args: () => ['trace', '-l'], prints: something },
	{ args: () => ['completion', 'bash'], prints: something },
];

/** What is true of every end; how it ended for the message. */
async function checkEnd(one, child, { file, directory, mustCollect, how }) {
	const byUs = child.signalCode === null;
	if (byUs && child.exitCode === 0) {
		if (one.collects) assert.ok(one.collects(child.out), `${how}: not whole: ...${child.out.slice(-300)}`);
		else if (one.prints) assert.ok(one.prints(child.out), `${how}: not whole: ...${child.out.slice(-300)}`);
		if (one.file) assert.ok(one.file(fs.readFileSync(file, 'latin1')), `${how}: its file is not whole`);
	} else if (byUs) {
		// Only `core` has to clean up before it ends.
		assert.ok(child.exitCode === 1 && /interrupted/.test(child.err), `${how}: exit ${child.exitCode}: ${child.err}`);
	} else {
		assert.ok(!mustCollect, `${how}: nothing of what was collected is printed: ${child.signalCode}: ${child.err}`);
		assert.ok(signals.includes(child.signalCode), `${how}: ${child.signalCode}: ${child.err}`);
		assert.ok(wholeLines(child.out), `${how}: half a line: ${child.out.slice(-100)}`);
	}
	const finished = byUs && child.exitCode === 0;
	const left = fs.readdirSync(directory).filter((name) => !name.endsWith('.pid'));
	// `trace -o` appends to its file from the start.
	if (!finished && one.file && child.spawnargs[1] !== 'trace') assert.deepEqual(left, [], `${how}: left behind`);
	assert.deepEqual(left.filter((name) => name.includes('partial')), [], how);
}

async function isGone(file) {
	if (!fs.existsSync(file)) return;
	const pid = Number(fs.readFileSync(file, 'utf8'));
	await until(() => {
		try {
			return !pid || /State:\s*Z/.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
		} catch {
			return true;
		}
	}, `what noderay had started goes on as ${pid}`, 5);
}

async function checkTarget(target) {
	const tracer = () => /TracerPid:\s*(\d+)/.exec(fs.readFileSync(`/proc/${target.pid}/status`, 'utf8'))[1];
	await until(() => tracer() === '0', 'somebody traces the target', 5);
	const before = target.stdout().length;
	target.child.stdin.write('?\n');
	await until(() => target.stdout().slice(before).includes('\n'), 'the target does not answer', 20);
}

/** How long the verb takes until it has started, or to its end. */
async function measure(one, target, given) {
	const directory = tmp();
	const began = performance.now();
	const child = begin(one.args(target.pid, path.join(directory, 'out'), given));
	if (one.collects) {
		// It says nothing when it begins: once links are attached there are file descriptors for them. `record` may do without.
		const hasBegun = () => child.endedAt || fs.readdirSync(`/proc/${child.pid}/fd`).some((fd) => {
			try {
				return /perf_event|bpf_link/.test(fs.readlinkSync(`/proc/${child.pid}/fd/${fd}`));
			} catch {
				return false;
			}
		});
		await until(hasBegun, `${child.spawnargs} does not begin`, 60);
		const begun = performance.now() - began;
		await end(child, one.child ? 'SIGTERM' : 'SIGKILL'); // SIGKILL would let go what it has started
		return begun;
	}
	await child.closed;
	return performance.now() - began;
}

for (const one of cases)
	test(`${one.args(1, 'FILE', { core: 'CORE', profile: 'PROFILE' }).slice(0, 4).join(' ').replace(/\/\S*\//g, '')}`, needsRoot, async (t) => {
		const target = await start(node(22), 'signals.js');
		t.after(target.stop);
		const given = await makeGiven();
		const name = one.args(1, 'FILE', { core: 'CORE', profile: 'PROFILE' }).join(' ');
		const random = randomBy(name.replace(/\/\S*\//g, ''));
		const takes = await measure(one, target, given);
		for (let round = 0; round < rounds; round++) {
			const directory = tmp(), file = path.join(directory, 'out');
			const signal = signals[Math.floor(random() * 3)];
			// Start-up has as many moments as the time after it.
			const delay = random() * takes * (one.collects ? 2 : 1) + (one.collects && round % 4 === 3 ? 3 * takes + 1000 : 0);
			const again = random() < 0.4 ? random() * 400 : undefined;
			const how = `round ${round}: ${signal} after ${delay.toFixed(0)} ms${again === undefined ? '' : `, again after ${again.toFixed(0)} ms`}`;
			const child = begin(one.args(target.pid, file, given));
			await sleep(delay);
			const took = await end(child, signal, again);
			assert.ok(took < limit, `${how}: it took ${took.toFixed(0)} ms: ${child.signalCode ?? child.exitCode}: ${child.err}`);
			await checkEnd(one, child, { file, directory, mustCollect: one.collects && delay > 3 * takes + 1000, how });
			if (one.child) await isGone(`${file}.pid`);
			fs.rmSync(directory, { recursive: true });
		}
		await checkTarget(target);
	});

let made;
async function makeGiven() {
	made ??= (async () => {
		const target = await start(node(22), 'signals.js');
		const core = await takeCore(target);
		const profile = path.join(tmp(), 'profile.folded');
		await target.stop();
		// Large enough that writing it takes a moment.
		let text = '';
		for (let i = 0; i < 60000; i++) text += `main (/a.js:1:1);f${i % 5000} (/a.js:${i % 300}:3);g${i} (/b.js:${i % 900}:7) ${(i % 9) + 1}\n`;
		fs.writeFileSync(profile, text);
		return { core, profile };
	})();
	return made;
}

// ------------------------------------------------------------------------------- where it waits for others

const longLines = 'syscall:::entry { printf("%0200d\\n", 1); } profile-997 { printf("%0200d\\n", 2); }';

test('nobody reads what it prints: it ends all the same, and by the signal', needsRoot, async () => {
	for (const signal of signals) {
		const child = begin(['trace', '-qn', longLines]);
		child.stdout.pause();
		child.stdout.removeAllListeners('data');
		await sleep(3000);
		const closed = once(child, 'exit');
		const sentAt = performance.now();
		child.kill(signal);
		await closed;
		const took = performance.now() - sentAt;
		child.stdout.destroy();
		assert.ok(took < limit, `${signal}: it took ${took.toFixed(0)} ms`);
		assert.equal(child.signalCode, signal);
		assert.match(child.err, /had to end before all results were written/);
	}
});

test('a command of system() goes on', needsRoot, async () => {
	for (const signal of signals) {
		const mark = `${600 + Math.floor(Math.random() * 1e6)}.5`;
		const child = begin(['trace', '-qwn', `tick-10ms { @ = count(); system("exec sleep ${mark}"); }`]);
		await sleep(2500);
		const gone = once(child, 'exit');
		const sentAt = performance.now();
		child.kill(signal);
		await gone;
		const took = performance.now() - sentAt;
		const sleeping = (await run('pgrep', ['-fx', `sleep ${mark}`])).stdout.trim().split('\n').filter(Boolean);
		for (const pid of sleeping) process.kill(Number(pid), 'SIGKILL'); // until then it holds the pipe
		await child.closed;
		assert.ok(took < limit, `${signal}: it took ${took.toFixed(0)} ms`);
		assert.equal(child.exitCode, 0, child.err);
		assert.match(child.err, /it goes on, and is not waited for/);
		assert.match(child.out, /^\s+\d+$/m, 'the aggregation is printed');
		assert.equal(sleeping.length, 1, 'no other command is started once it is to end');
	}
});

test('standard input that does not end', async () => {
	for (const args of [['convert', '-', '-o', '-'], ['diff', '-', '-']])
		for (const signal of signals) {
			const child = begin(args, { stdio: ['pipe', 'pipe', 'pipe'] });
			child.stdin.on('error', () => {});
			child.stdin.write('main;f 1\n');
			await sleep(300);
			const took = await end(child, signal);
			assert.ok(took < limit, `${args}: ${signal}: it took ${took.toFixed(0)} ms`);
		}
});

test('a pipe with a name that nobody opens', needsRoot, async (t) => {
	const target = await start(node(22), 'signals.js');
	t.after(target.stop);
	const fifo = path.join(tmp(), 'fifo');
	await run('mkfifo', [fifo]);
	const child = begin(['record', '-f', 'folded', '-o', fifo, '-d', '1', target.pid]);
	await sleep(4000);
	const took = await end(child, 'SIGTERM');
	assert.ok(took < limit, `it took ${took.toFixed(0)} ms`);
});

test('a later second signal ends it at once', needsRoot, async () => {
	// Output that nobody reads would keep it for 0.9 seconds.
	const child = begin(['trace', '-qn', longLines]);
	child.stdout.pause();
	child.stdout.removeAllListeners('data');
	await sleep(3000);
	const closed = once(child, 'exit');
	child.kill('SIGINT');
	await sleep(550);
	const sentAt = performance.now();
	child.kill('SIGINT');
	await closed;
	child.stdout.destroy();
	assert.ok(performance.now() - sentAt < 250, `it took ${(performance.now() - sentAt).toFixed(0)} ms more`);
	assert.equal(child.signalCode, 'SIGINT');
});

test('more was recorded than can be read in a second: the rest is counted', needsRoot, async (t) => {
	const target = await start(node(22), 'signals.js');
	t.after(target.stop);
	const child = begin(['trace', '-x', 'bufsize=64m', '-x', 'switchrate=60s', '-qn', 'profile-4999,syscall:::entry { jstack(60); ustack(60); }']);
	await sleep(9000);
	const took = await end(child, 'SIGTERM');
	assert.ok(took < limit, `it took ${took.toFixed(0)} ms`);
	assert.equal(child.exitCode, 0, child.err);
});

// ------------------------------------------------------------------------------- disks that are full

async function fullDisk(t) {
	const directory = tmp();
	await run('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'none', directory]);
	t.after(() => run('umount', ['-l', directory]));
	return directory;
}

test('a full disk is an error, and leaves nothing half-written', needsRoot, async (t) => {
	const target = await start(node(22), 'signals.js');
	t.after(target.stop);
	const disk = await fullDisk(t);
	const trace = await noderay(['trace', '-qn', `${longLines} tick-2s { exit(0); }`, '-o', path.join(disk, 'out')]);
	assert.equal(trace.code, 1, trace.stderr);
	assert.match(trace.stderr, /out: cannot write the output: No space left on device/);
	const { given } = { given: await makeGiven() };
	for (const args of [['convert', given.profile, '-o', path.join(disk, 'a.html')], ['core', '-o', path.join(disk, 'core'), target.pid],
		['core', '--zstd', '-o', path.join(disk, 'core.zst'), target.pid]]) {
		const { code, stderr } = await noderay(args);
		assert.equal(code, 1, stderr);
		assert.match(stderr, /No space left on device|free on that file system/);
		if (args[1] === '--zstd') assert.doesNotMatch(stderr, /compress with --zstd/);
	}
	assert.deepEqual(fs.readdirSync(disk), ['out']);
});

test('a limit on the size of files is an error, too', needsRoot, async (t) => {
	const target = await start(node(22), 'signals.js');
	t.after(target.stop);
	const directory = tmp();
	const { code, signal, stderr } = await run('prlimit', ['--fsize=4096', binary, 'record', '-d', '1', '-o', path.join(directory, 'a.html'), target.pid]);
	assert.equal(code, 1, `${signal} ${stderr}`);
	assert.match(stderr, /File too large/);
	assert.deepEqual(fs.readdirSync(directory), []);
});
