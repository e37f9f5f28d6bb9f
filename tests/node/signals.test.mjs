// signals.test.mjs - every verb terminates within one second of SIGINT, SIGTERM or SIGHUP, at random moments. Its
// output and files are complete or absent, and the target is unharmed. SPDX-License-Identifier: MIT
//
//   NODERAY_SIGNALS=200 tests/run node/signals     200 moments for each verb instead of 4
//
// Moments are random with fixed seeds. This file asserts times because the product promises them.
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

/** A random number generator seeded with the name. */
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

/** Sends a signal, and once more after `again` ms if given. Returns the milliseconds until the exit. */
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

// collects: prints its results after a signal, and this checks them. prints: checks the output of a verb that exits by itself.
// file: checks the output file.
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

/** Checks exit status, output and files. */
async function checkEnd(one, child, { file, directory, mustCollect, how }) {
	const byUs = child.signalCode === null;
	if (byUs && child.exitCode === 0) {
		if (one.collects) assert.ok(one.collects(child.out), `${how}: incomplete: ...${child.out.slice(-300)}`);
		else if (one.prints) assert.ok(one.prints(child.out), `${how}: incomplete: ...${child.out.slice(-300)}`);
		if (one.file) assert.ok(one.file(fs.readFileSync(file, 'latin1')), `${how}: its file is incomplete`);
	} else if (byUs) {
		// `core` exits with an error after its cleanup.
		assert.ok(child.exitCode === 1 && /interrupted/.test(child.err), `${how}: exit ${child.exitCode}: ${child.err}`);
	} else {
		assert.ok(!mustCollect, `${how}: no results: ${child.signalCode}: ${child.err}`);
		assert.ok(signals.includes(child.signalCode), `${how}: ${child.signalCode}: ${child.err}`);
		assert.ok(wholeLines(child.out), `${how}: half a line: ${child.out.slice(-100)}`);
	}
	const finished = byUs && child.exitCode === 0;
	const left = fs.readdirSync(directory).filter((name) => !name.endsWith('.pid'));
	// `trace -o` creates its file at the start.
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
	}, `process ${pid}, a child of noderay, is still running`, 5);
}

async function checkTarget(target) {
	const tracer = () => /TracerPid:\s*(\d+)/.exec(fs.readFileSync(`/proc/${target.pid}/status`, 'utf8'))[1];
	await until(() => tracer() === '0', 'the target has a tracer', 5);
	const before = target.stdout().length;
	target.child.stdin.write('?\n');
	await until(() => target.stdout().slice(before).includes('\n'), 'the target does not answer', 20);
}

/** Milliseconds until the verb has attached its probes, or until it exits. */
async function measure(one, target, given) {
	const directory = tmp();
	const began = performance.now();
	const child = begin(one.args(target.pid, path.join(directory, 'out'), given));
	if (one.collects) {
		// File descriptors of links and perf events show that probes are attached.
		const hasBegun = () => child.endedAt || fs.readdirSync(`/proc/${child.pid}/fd`).some((fd) => {
			try {
				return /perf_event|bpf_link/.test(fs.readlinkSync(`/proc/${child.pid}/fd/${fd}`));
			} catch {
				return false;
			}
		});
		await until(hasBegun, `${child.spawnargs} does not begin`, 60);
		const begun = performance.now() - began;
		await end(child, one.child ? 'SIGTERM' : 'SIGKILL'); // after SIGKILL its child would keep running
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
			// Half of the moments are during start-up; every fourth one is long after it.
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
		// Large, so that the signal can arrive while it is written.
		let text = '';
		for (let i = 0; i < 60000; i++) text += `main (/a.js:1:1);f${i % 5000} (/a.js:${i % 300}:3);g${i} (/b.js:${i % 900}:7) ${(i % 9) + 1}\n`;
		fs.writeFileSync(profile, text);
		return { core, profile };
	})();
	return made;
}

// ------------------------------------------------------------------------------- blocked output and input

const longLines = 'syscall:::entry { printf("%0200d\\n", 1); } profile-997 { printf("%0200d\\n", 2); }';

/** A trace whose output pipe is full and not read. */
async function beginStalled() {
	const child = begin(['trace', '-qn', longLines]);
	child.stdout.pause();
	child.stdout.removeAllListeners('data');
	await sleep(3000);
	return child;
}

/** Like end(), but does not wait until all writers have closed the pipes. */
async function exit(child, signal) {
	const gone = once(child, 'exit');
	const sentAt = performance.now();
	child.kill(signal);
	await gone;
	return performance.now() - sentAt;
}

test('stalled standard output', needsRoot, async () => {
	for (const signal of signals) {
		const child = await beginStalled();
		const took = await exit(child, signal);
		child.stdout.destroy();
		assert.ok(took < limit, `${signal}: it took ${took.toFixed(0)} ms`);
		assert.equal(child.signalCode, signal);
		assert.match(child.err, /terminated before all results were written/);
	}
});

test('system() with a long command', needsRoot, async () => {
	for (const signal of signals) {
		const mark = `${600 + Math.floor(Math.random() * 1e6)}.5`;
		const child = begin(['trace', '-qwn', `tick-10ms { @ = count(); system("exec sleep ${mark}"); }`]);
		await sleep(2500);
		const took = await exit(child, signal);
		const sleeping = (await run('pgrep', ['-fx', `sleep ${mark}`])).stdout.trim().split('\n').filter(Boolean);
		for (const pid of sleeping) process.kill(Number(pid), 'SIGKILL'); // it has the pipe open
		await child.closed;
		assert.ok(took < limit, `${signal}: it took ${took.toFixed(0)} ms`);
		assert.equal(child.exitCode, 0, child.err);
		assert.match(child.err, /it is still running/);
		assert.match(child.err, /\d+ commands of system\(\) not run after the signal/);
		assert.match(child.out, /^\s+\d+$/m, 'the aggregation is printed');
		assert.equal(sleeping.length, 1, 'no further command is started after the signal');
	}
});

test('standard input without an end', async () => {
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

test('output to a FIFO without a reader', needsRoot, async (t) => {
	const target = await start(node(22), 'signals.js');
	t.after(target.stop);
	const fifo = path.join(tmp(), 'fifo');
	await run('mkfifo', [fifo]);
	const child = begin(['record', '-f', 'folded', '-o', fifo, '-d', '1', target.pid]);
	await sleep(4000);
	const took = await end(child, 'SIGTERM');
	assert.ok(took < limit, `it took ${took.toFixed(0)} ms`);
});

test('a second signal after 550 ms', needsRoot, async () => {
	// With one signal, a stalled output delays the exit until 900 ms.
	const child = await beginStalled();
	child.kill('SIGINT');
	await sleep(550);
	const took = await exit(child, 'SIGINT');
	child.stdout.destroy();
	assert.ok(took < 250, `it took ${took.toFixed(0)} ms`);
	assert.equal(child.signalCode, 'SIGINT');
});

test('records that are not read before the deadline are counted', needsRoot, async () => {
	// Reading a record prints thousands of keys, so records accumulate in the ring.
	const child = begin(['trace', '-w', '-x', 'aggsize=64m', '-x', 'bufsize=16m', '-qn', `profile-4999 { @keys[timestamp] = count(); }
		tick-1ms { @sent = count(); freopen("/dev/null"); printa(@keys); freopen(""); printf("read\\n"); }
		END { printa("sent %@d\\n", @sent); trunc(@keys); }`]);
	await sleep(5000);
	const took = await end(child, 'SIGTERM');
	assert.ok(took < limit, `it took ${took.toFixed(0)} ms`);
	assert.equal(child.exitCode, 0, child.err);
	const read = child.out.match(/^read$/gm).length;
	const unread = Number(/(\d+) records not read before the deadline/.exec(child.err)?.[1]);
	const drops = [...child.err.matchAll(/(\d+) drops? on CPU/g)].reduce((sum, [, n]) => sum + Number(n), 0);
	assert.ok(unread > 0, child.err);
	assert.equal(read + unread + drops, Number(/^sent (\d+)$/m.exec(child.out)[1]));
});

// ------------------------------------------------------------------------------- full disks

async function fullDisk(t) {
	const directory = tmp();
	await run('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'none', directory]);
	t.after(() => run('umount', ['-l', directory]));
	return directory;
}

test('a full disk is an error and leaves no partial file', needsRoot, async (t) => {
	const target = await start(node(22), 'signals.js');
	t.after(target.stop);
	const disk = await fullDisk(t);
	const trace = await noderay(['trace', '-qn', `${longLines} tick-2s { exit(0); }`, '-o', path.join(disk, 'out')]);
	assert.equal(trace.code, 1, trace.stderr);
	assert.match(trace.stderr, /out: cannot write the output: No space left on device/);
	const given = await makeGiven();
	for (const args of [['convert', given.profile, '-o', path.join(disk, 'a.html')], ['core', '-o', path.join(disk, 'core'), target.pid],
		['core', '--zstd', '-o', path.join(disk, 'core.zst'), target.pid]]) {
		const { code, stderr } = await noderay(args);
		assert.equal(code, 1, stderr);
		assert.match(stderr, /No space left on device|free on that file system/);
		if (args[1] === '--zstd') assert.doesNotMatch(stderr, /compress with --zstd/);
	}
	assert.deepEqual(fs.readdirSync(disk), ['out']);
});

test('RLIMIT_FSIZE is an error and leaves no partial file', needsRoot, async (t) => {
	const target = await start(node(22), 'signals.js');
	t.after(target.stop);
	const directory = tmp();
	const { code, signal, stderr } = await run('prlimit', ['--fsize=4096', binary, 'record', '-d', '1', '-o', path.join(directory, 'a.html'), target.pid]);
	assert.equal(code, 1, `${signal} ${stderr}`);
	assert.match(stderr, /File too large/);
	assert.deepEqual(fs.readdirSync(directory), []);
});
