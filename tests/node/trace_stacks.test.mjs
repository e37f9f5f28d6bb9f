// ustack(), jstack() and what belongs to them: stacks that trace prints, of programs whose calls are known.
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRoot, node, nodes, noderay, programs, start, tmp } from './lib.mjs';
import { Graph } from './stacks.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

async function trace(args, env) {
	const { code, stdout, stderr } = await noderay(['trace', '-q', ...args], { timeout: 200_000, env });
	assert.equal(code, 0, stderr);
	return { stdout, stderr };
}

function build(name) {
	const program = path.join(tmp(), name);
	execFileSync('cc', ['-O2', '-fomit-frame-pointer', '-o', program, path.join(programs, 'native', `${name}.c`)]);
	return program;
}

/** The stacks of an output: lists of lines; `count` is the number below one, if it was a key. */
function parse(text) {
	const stacks = [];
	let last;
	for (const line of text.split('\n')) {
		const number = /^\s+(\d+)$/.exec(line);
		if (/^ {14}\S/.test(line) && !(number && last)) {
			if (!last) stacks.push((last = []));
			last.push(line.trim());
		} else {
			if (number && last) last.count = Number(number[1]);
			last = undefined;
		}
	}
	return stacks;
}

/** A line as a frame, for Graph. */
function frame(line) {
	const m = /^(.*?) \((.*):(\d+):(\d+)(, defined here)?\)$/.exec(line);
	if (!m) return { kind: 'other', name: line };
	const name = m[1].replace(/^new /, '').replace(/^[\w$]+\.(?=.)/, '');
	return { kind: 'js', name: m[1], function: name, file: m[2], line: Number(m[3]), column: Number(m[4]), exact: !m[5] };
}

const names = (stack) => stack.map((line) => line.replace(/\+0x[0-9a-f]+$/, '').replace(/ \(.*[/:](\w+(\.\w+)?:\d+):\d+\)$/, ' $1'));

/** These lines are in the stack, in this order, others may lie between. */
function assertOrder(stack, patterns) {
	let at = 0;
	for (const pattern of patterns) {
		const found = stack.findIndex((line, i) => i >= at && pattern.test(line));
		assert.ok(found >= 0, `no ${pattern} behind line ${at} of\n${stack.join('\n')}`);
		at = found + 1;
	}
}

const main = [/^\S*`__libc_start_main/, /^\S*`_start/];

// ------------------------------------------------------------------------------- programs in C

test('a program in C: through the C library to its start', needsRoot, async (t) => {
	const program = build('sorter');
	await t.test('at a function, and at a system call, of a program that ends at once', async () => {
		const { stdout } = await trace(['-n', 'pid$target:a.out:compare:entry /!seen/ { seen = 1; ustack(); }' +
			'syscall::write:entry /pid == $target/ { ustack(); }', '-c', `${program} 1`]);
		const [first, second] = parse(stdout.replace('line\n', ''));
		assertOrder(first, [/^sorter`compare/, /^libc\S*`(msort|qsort)/, /^libc\S*`qsort/, /^sorter`sort_some\+0x/, /^sorter`main\+0x/, ...main]);
		assertOrder(second, [/^libc\S*`write\+0x/, /^sorter`write_some\+/, /^sorter`write_some\+/, /^sorter`write_some\+/, /^sorter`main\+/, ...main]);
	});
	await t.test('at a return', async () => {
		const { stdout } = await trace(['-n', 'pid$target:a.out:sort_some:return,pid$target:a.out:main:return {}' +
			'pid$target:a.out:compare:return /!seen/ { seen = 1; ustack(); }', '-c', `${program} 1`]);
		assertOrder(parse(stdout.replace('line\n', ''))[0], [/^libc\S*`(msort|qsort)/, /^sorter`sort_some\+0x/, /^sorter`main\+0x/, ...main]);
	});
	await t.test('as a key, with symbols after its end', async () => {
		const { stdout } = await trace(['-n', 'pid$target:a.out:sort_some:entry { @[ustack(3)] = count(); @c[ufunc(ucaller)] = count();' +
			'@m[umod(arg0 ? ucaller : 0)] = count(); @a[uaddr(uregs[R_RIP])] = count(); @d[ustackdepth] = count(); }', '-c', `${program} 20`]);
		const [stack] = parse(stdout);
		assert.deepEqual(names(stack), ['sorter`sort_some', 'sorter`main', 'libc.so.6`__libc_start_call_main']);
		assert.equal(stack.count, 20);
		assert.match(stdout, /^\s+sorter`main\s+20$/m);
		assert.match(stdout, /^\s+sorter\s+20$/m);
		assert.match(stdout, /^\s+sorter`sort_some(\+0x\w+)?\s+20$/m);
		assert.match(stdout, /^\s+5\s+20$/m);
	});
	await t.test('by the clock', async () => {
		const { stdout } = await trace(['-n', 'profile-499 /pid == $target/ { @[ustack()] = count(); } tick-1s { exit(0); }', '-c', program]);
		const stacks = parse(stdout.replace('line\n', ''));
		const total = stacks.reduce((sum, s) => sum + s.count, 0);
		const whole = stacks.filter((s) => /`_start/.test(s.at(-1))).reduce((sum, s) => sum + s.count, 0);
		assert.ok(total > 10, stdout);
		assert.ok(whole > 0.95 * total, `${whole} of ${total} reach the start\n${stdout}`);
		assert.equal(new Set(stacks.map((s) => s.join('\n'))).size, stacks.length, 'what reads the same is one key');
	});
});

// ------------------------------------------------------------------------------- node

const graph = new Graph(path.join(programs, 'stacks/busy.js'));
const tiers = {
	interpreted: ['--no-opt', '--no-sparkplug', '--no-maglev'],
	baseline: ['--no-opt', '--always-sparkplug', '--no-maglev'],
	default: [],
};

for (const which of nodes) {
	test(`node ${which.name}: by the clock, in every tier, each caller calls what it is said to call`, needsRoot, async (t) => {
		for (const [tier, flags] of Object.entries(tiers)) {
			const target = await start(which, 'stacks/busy.js', { flags: flags.filter((f) => which.major >= 20 || !/maglev/.test(f)) });
			t.after(target.stop);
			await sleep(500); // for the compilers to get to work
			const { stdout, stderr } = await trace(['-n', 'profile-499 /tid == $target/ { ustack(256); } tick-2s { exit(0); }', '-p', target.pid]);
			assert.equal(stderr, '');
			const stacks = parse(stdout);
			assert.ok(stacks.length > 10, stdout);
			for (const stack of stacks) {
				const frames = stack.map(frame);
				// V8 itself, at the end of a collection, or where it replaces a function's frame and all below it cannot be seen.
				if (!frames.some((f) => f.file === graph.file)) continue;
				assert.match(stack.at(-1), /`_start/, `${tier}: ${stack.join('\n')}`);
				assert.ok(!stack.some((line) => /^0x/.test(line)), `${tier}: ${stack.join('\n')}`);
				graph.check({ tid: target.pid, frames, end: 'root' }, 'forever');
			}
			await target.stop();
		}
	});

	test(`node ${which.name}: at system calls and functions, with all frames and without V8's own`, needsRoot, async (t) => {
		const target = await start(which, 'stacks/traced.js');
		t.after(target.stop);
		await sleep(300);
		const js = [/^(Object\.)?openSync \(node:fs:\d+:\d+\)$/, /^(Reader\.)?open \(.*traced\.js:9:13\)$/, /^(Reader\.)?read \(.*traced\.js:12:19\)$/,
			/\(.*traced\.js:20:16\)$/, /^each \(.*traced\.js:19:8\)$/, /^round \(.*traced\.js:24:2\)$/, /loop \(.*traced\.js:27:2\)$/];
		const { stdout } = await trace(['-n', `syscall::open*:entry /pid == $target && tid == pid/ { ustack(100); }
			pid$target::uv_fs_open:entry { jstack(100); @[jstack(100)] = count(); @k[jstack(3, 1024)] = count(); n++; }
			pid$target::uv_fs_open:entry /n == 40/ { exit(0); }`, '-p', target.pid]);
		const stacks = parse(stdout);
		// V8's own locks read the processor's frequency when they first have to wait: that is no call of the program's. Other threads are not looked
		// at for the like: libc's free() reads a setting of the kernel's there before it gives memory back.
		const opens = stacks.filter((s) => /^libc\S*`/.test(s[0]) && !s.some((line) => /absl::/.test(line))), calls = stacks.filter((s) => /`uv_fs_open(\+0x\w+)?$/.test(s[0]) && !s.count);
		assert.ok(opens.length > 10 && calls.length === 40, stdout);
		for (const stack of [...opens, ...calls]) assertOrder(stack, [...js, /`uv_run\+/, ...main]);
		for (const stack of opens) assert.ok(stack.some((line) => /^v8`JSEntry/.test(line) || which.stripped), stack.join('\n'));
		for (const stack of calls) assert.ok(!stack.some((line) => /^v8`/.test(line)), stack.join('\n'));
		const keys = stacks.filter((s) => s.count);
		assert.equal(keys.filter((s) => s.length > 3).reduce((sum, s) => sum + s.count, 0), 40, stdout);
		assert.equal(keys.filter((s) => s.length === 3).reduce((sum, s) => sum + s.count, 0), 40, stdout);
	});

	test(`node ${which.name}: of workers`, needsRoot, async (t) => {
		const target = await start(which, 'stacks/traced.js', { args: ['workers'] });
		t.after(target.stop);
		await sleep(500);
		const { stdout } = await trace(['-n', `syscall::open*:entry /pid == $target && tid != $target/ { @[tid, jstack(100)] = count(); }
			tick-1s { exit(0); }`, '-p', target.pid]);
		const stacks = parse(stdout).filter((s) => s.some((line) => /traced\.js/.test(line)));
		assert.ok(stacks.length >= 2, stdout);
		for (const stack of stacks)
			assertOrder(stack, [/^(Reader\.)?open \(.*traced\.js:9:13\)$/, /^each \(/, /^round \(/, /loop \(/, /`(start_thread|clone)/]);
	});
}

test('a target that was not named, and one that ends while it is traced', needsRoot, async (t) => {
	const target = await start(node(22), 'stacks/traced.js');
	t.after(target.stop);
	const { stdout } = await trace(['-n', `syscall::open*:entry /pid == ${target.pid}/ { @[jstack(100)] = count(); } tick-1s { exit(0); }`]);
	const stacks = parse(stdout).filter((s) => s.some((line) => /traced\.js/.test(line)));
	assertOrder(stacks.at(-1), [/^(Reader\.)?open /, /^each \(/, /`uv_run\+/, ...main]);
	const running = trace(['-n', 'syscall::open*:entry /pid == $target/ { @[jstack(100)] = count(); }', '-p', target.pid]);
	setTimeout(target.stop, 2500);
	const ended = parse((await running).stdout);
	assertOrder(ended.at(-1), [/^(Reader\.)?open /, /^each \(/, /`uv_run\+/, ...main]);
});

test('names of a script that runs for a moment only', needsRoot, async () => {
	const file = path.join(tmp(), 'short.js');
	fs.writeFileSync(file, 'function inner() { require("fs").openSync("/dev/null"); }\nfunction outer() { inner(); }\n' +
		'const end = Date.now() + 300;\nwhile (Date.now() < end) outer();\n');
	const { stdout } = await trace(['-n', 'pid$target::uv_fs_open:entry { @[jstack(100)] = count(); }', '-c', `${node(24).path} ${file}`]);
	const stacks = parse(stdout).filter((s) => s.some((line) => /short\.js/.test(line)));
	assert.ok(stacks.length > 0, stdout);
	const last = stacks.at(-1);
	assertOrder(last, [/^inner \(.*short\.js:1:34\)$/, /^outer \(.*short\.js:2:20\)$/, /short\.js:4:\d+\)$/, ...main]);
	assert.ok(last.count > 10, stdout);
});

test('stacks of the kernel, without what looks at it', needsRoot, async () => {
	const { stdout } = await trace(['-n', 'syscall::write:entry { stack(); @w[stack(2)] = count(); } tracepoint:sched:sched_switch { @[stack()] = count(); }' +
		'tick-500ms { exit(0); }', '-c', build('sorter')]);
	const stacks = parse(stdout.replace('line\n', ''));
	assert.ok(stacks.length > 1, stdout);
	for (const stack of stacks) {
		for (const line of stack) assert.match(line, /^\w+`\w[\w.]*(\+0x[0-9a-f]+)?$/);
		assert.doesNotMatch(stack[0], /bpf|__traceiter/);
	}
	assert.ok(stacks.some((s) => /`__schedule\+/.test(s[0])), stdout);
	assert.ok(stacks.some((s) => s.length === 2 && /^vmlinux`do_syscall_64|^vmlinux`\w*syscall/.test(s[1])), stdout);
});

test('a stack of the kernel that we walk is the one that the kernel tells', needsRoot, async () => {
	// Of one record the first is walked, the second asked for.
	const { stdout } = await trace(['-n', 'profile-1999 /arg0/ { printf("<%k|%k>\\n", stack(64), stack(64)); } tick-1s { exit(0); }',
		'-c', 'find /usr -newer /etc/passwd -name nonesuch']);
	const pairs = [...stdout.matchAll(/<([^|<>]+)\|([^|<>]+)>/g)];
	assert.ok(pairs.length > 50, stdout);
	for (const [, ours, theirs] of pairs) assert.equal(ours, theirs);
});

test('without names when they are not wanted', needsRoot, async () => {
	const program = build('sorter');
	const { stdout } = await trace(['-x', 'noresolve', '-n', 'pid$target:a.out:sort_some:entry { ustack(3); }', '-c', `${program} 1`]);
	const [stack] = parse(stdout.replace('line\n', ''));
	assert.equal(stack.length, 3);
	assert.match(stack[0], /^sorter:0x[0-9a-f]+$/);
	assert.match(stack[2], /^libc\.so\.6:0x[0-9a-f]+$/);
});
