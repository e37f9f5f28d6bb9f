// trace: D scripts from the command line to the last line printed. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binary, isRoot, node, nodes, noderay, programs, run, start, tmp, tree } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };
const trace = (...args) => noderay(['trace', ...args], { timeout: 120_000 });

/** Builds a C program of tests/node/programs/native. */
function build(name) {
	const program = path.join(tmp(), name);
	execFileSync('cc', ['-O2', '-o', program, path.join(programs, 'native', `${name}.c`)]);
	return program;
}

/** Runs trace until it prints something that matches, then interrupts it. */
async function until(pattern, args) {
	const child = spawn(binary, ['trace', ...args.map(String)], { stdio: ['ignore', 'pipe', 'pipe'] });
	let stdout = '', stderr = '';
	child.stderr.on('data', (data) => (stderr += data));
	const guard = setTimeout(() => child.kill('SIGKILL'), 60_000);
	let isDone = false; // a second SIGINT would end it at once
	child.stdout.on('data', (data) => {
		stdout += data;
		if (!isDone && pattern.test(stdout)) isDone = child.kill('SIGINT');
	});
	const [code, signal] = await once(child, 'close');
	clearTimeout(guard);
	return { code, signal, stdout, stderr };
}

/** Waits until the child has printed something that matches. Fails when it ends before, or after a minute. */
function prints(child, pattern) {
	return new Promise((resolve, reject) => {
		child.text ??= '';
		const guard = setTimeout(() => child.kill('SIGKILL'), 60_000);
		const look = (data) => {
			child.text += data;
			if (!pattern.test(child.text)) return;
			clearTimeout(guard);
			child.stdout.off('data', look);
			resolve();
		};
		child.stdout.on('data', look);
		child.once('close', () => reject(new Error(`it ended before it printed ${pattern}: ${child.text}`)));
		look('');
	});
}

test('the first program', needsRoot, async () => {
	const { code, stdout, stderr } = await trace('-n', 'BEGIN { printf("hello %d %s", 42, "world"); exit(3); }');
	assert.equal(code, 3);
	assert.match(stdout, /^CPU +ID +FUNCTION:NAME\n +\d+ +1 +:BEGIN hello 42 world\n/);
	assert.equal(stderr, "dtrace: description 'BEGIN ' matched 1 probe\n");
});

test('errors are told before anything starts', needsRoot, async (t) => {
	const cases = [
		['BEGIN { x = ; }', /syntax error/],
		['BEGIN { nowhere(1); }', /undefined function name: nowhere/],
		['nothing:like:this:ever { }', /does not match any probes/],
		['BEGIN { printf("%d", "text"); }', /printf/],
	];
	for (const [text, message] of cases)
		await t.test(text, async () => {
			const { code, stdout, stderr } = await trace('-n', text);
			assert.equal(code, 1);
			assert.equal(stdout, '');
			assert.match(stderr, message);
		});
	await t.test('with line, column and caret', async () => {
		const file = path.join(tmp(), 'bad.d');
		fs.writeFileSync(file, 'BEGIN\n{\n\tx = 1 +;\n}\n');
		const { code, stderr } = await trace('-s', file);
		assert.equal(code, 1);
		assert.match(stderr, /line 3: syntax error near ";"/);
		assert.match(stderr, /bad\.d:3:\d+\n.*x = 1 \+;\n\s+\^/);
		const tagged = await trace('-x', 'errtags', '-s', file);
		assert.match(tagged.stderr, /\[D_SYNTAX\] line 3:/);
	});
});

test('destructive actions need -w', needsRoot, async () => {
	const { code, stderr } = await trace('-n', 'BEGIN { system("true"); exit(0); }');
	assert.equal(code, 1);
	assert.match(stderr, /Destructive actions not allowed/);
	const allowed = await trace('-qwn', 'BEGIN { system("echo done %d", 7); exit(0); }');
	assert.equal(allowed.code, 0, allowed.stderr);
	assert.match(allowed.stdout, /done 7/);
});

test('system calls of a command, from its first', needsRoot, async () => {
	const { code, stdout, stderr } = await trace('-qn', 'syscall:::entry /pid == $target/ { @[probefunc] = count(); }', '-c', '/bin/true');
	assert.equal(code, 0, stderr);
	for (const name of ['execve', 'mmap', 'exit_group', 'openat'])
		if (name !== 'execve') assert.match(stdout, new RegExp(`\\b${name} +\\d+`), name);
});

test('paths of files', needsRoot, async () => {
	const file = path.join(tmp(), 'known file');
	fs.writeFileSync(file, 'x'.repeat(100));
	const script = 'syscall::read:entry /pid == $target/ { printf("%s %s\\n", fds[arg0].fi_pathname, execname); }';
	const { code, stdout, stderr } = await trace('-qn', script, '-c', `/bin/cat ${file.replaceAll(' ', '?')}`);
	assert.equal(code, 0, stderr);
	assert.match(stdout, /libc|cat/);
	const plain = path.join(path.dirname(file), 'plain');
	fs.writeFileSync(plain, 'x');
	const again = await trace('-qn', script, '-c', `/bin/cat ${plain}`);
	assert.match(again.stdout, new RegExp(`^${plain} cat$`, 'm'));
});

test('Ctrl-C prints END and aggregations', needsRoot, async () => {
	const { code, stdout } = await until(/tick/, ['-qn', 'tick-100ms { printf("tick\\n"); @ = count(); } END { printf("the end\\n"); }']);
	assert.equal(code, 0);
	assert.match(stdout, /the end\n/);
	assert.match(stdout, /\n +\d+\n/);
});

test('a process that exits ends the trace, with its results', needsRoot, async () => {
	const target = await start(node(22), { code: 'console.log("{}"); setTimeout(() => {}, 1500)' });
	const { code, stdout, stderr } = await trace('-p', target.pid, '-n', 'syscall:::entry /pid == $target/ { @[probefunc] = count(); }');
	assert.equal(code, 0, stderr);
	assert.match(stdout, /exit_group +1\n/);
});

test('nothing is left behind by SIGKILL', needsRoot, async () => {
	const target = await start(node(22), { code: 'setInterval(() => require("fs").openSync("/dev/null"), 5); console.log("{}")' });
	const child = spawn(binary, ['trace', '-qp', String(target.pid), '-n', 'pid$target::uv_fs_open:entry { printf("hit\\n"); }'], { stdio: ['ignore', 'pipe', 'ignore'] });
	await once(child.stdout, 'data');
	child.kill('SIGKILL');
	await once(child, 'close');
	await new Promise((resolve) => setTimeout(resolve, 300));
	process.kill(target.pid, 0); // it lives
	const progs = JSON.parse(execFileSync('/usr/sbin/bpftool', ['-j', 'prog', 'list'], { encoding: 'utf8' }));
	const pids = progs.filter(({ name }) => name === 'noderay').flatMap((p) => p.pids ?? []);
	assert.ok(!pids.some(({ pid }) => pid === child.pid));
	await target.stop();
});

test('a description that matches nothing yet', needsRoot, async () => {
	const { code, stderr } = await trace('-qZn', 'nobodyhasthis*:::never { } tick-100ms { exit(4); }');
	assert.equal(code, 4, stderr);
});

test('static probes', needsRoot, async (t) => {
	const program = build('sdt');
	const child = spawn(program, [], { stdio: ['ignore', 'pipe', 'inherit'] });
	t.after(() => child.kill('SIGKILL'));
	await once(child.stdout, 'data');
	const values = 'printf("%d %d %d %d %d %d %d %d\\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7);';

	await t.test('all kinds of arguments', async () => {
		const { code, stdout, stderr } = await trace('-qp', child.pid, '-n', `app$target:::values { ${values} exit(0); }`);
		assert.equal(code, 0, stderr);
		assert.match(stdout, /^-5 250 -1234 -1234567890123 77 (10|20|30|40) \d+ 99\n/);
	});
	await t.test('typed arguments, and dashes in names', async () => {
		const { code, stdout, stderr } = await trace('-qp', child.pid, '-n', 'app$target:::request-start { printf("%d %s %s\\n", args[0] >= 0, copyinstr(arg1), probename); exit(0); }');
		assert.equal(code, 0, stderr);
		assert.equal(stdout, '1 /index.html request-start\n\n');
	});
	await t.test('listed', async () => {
		const { code, stdout } = await trace('-lp', child.pid, '-n', 'app$target:::');
		assert.equal(code, 0);
		assert.match(stdout, new RegExp(`app${child.pid} +sdt +\\S* request-start\\n`));
		assert.match(stdout, / values\n/);
	});
	await t.test('by wildcard, in a process that starts later', async () => {
		const late = spawn(binary, ['trace', '-qZn', 'app*:::request-start { printf("%d %d\\n", pid, arg0); } BEGIN { printf("on\\n"); }'], { stdio: ['ignore', 'pipe', 'inherit'] });
		t.after(() => late.kill('SIGKILL'));
		await prints(late, /on\n/);
		const second = spawn(program, ['500'], { stdio: 'ignore' });
		t.after(() => second.kill('SIGKILL'));
		await prints(late, new RegExp(`\\n${second.pid} `));
		late.kill('SIGINT');
		await once(late, 'close');
	});
});

for (const n of nodes)
	test(`functions of node ${n.name}`, needsRoot, async (t) => {
		const target = await start(n, { code: 'setInterval(() => require("fs").openSync("/dev/null"), 5); console.log("{}")' });
		t.after(() => target.stop());
		await t.test('entry and its arguments', async () => {
			const { code, stdout, stderr } = await trace('-qp', target.pid, '-n', 'pid$target::uv_fs_open:entry { printf("%s %s\\n", probefunc, copyinstr(arg2)); exit(0); }');
			assert.equal(code, 0, stderr);
			assert.equal(stdout, 'uv_fs_open /dev/null\n\n');
		});
		await t.test('return', async () => {
			const { code, stdout, stderr } = await trace('-qp', target.pid, '-n', 'pid$target::uv_fs_open:entry { self->in = 1; } pid$target::uv_fs_open:return /self->in/ { printf("%d\\n", arg1 > 2); exit(0); }');
			assert.equal(code, 0, stderr);
			assert.equal(stdout, '1\n\n');
		});
		await t.test('return alone', async () => {
			const { code, stdout, stderr } = await trace('-qp', target.pid, '-n', 'pid$target::uv_fs_open:return /arg1 > 2/ { printf("%s\\n", probename); exit(0); }');
			assert.equal(code, 0, stderr);
			assert.equal(stdout, 'return\n\n');
		});
		await t.test('by pattern', async () => {
			const { code, stdout, stderr } = await trace('-qp', target.pid, '-n', 'pid$target::uv_fs_o*:entry { @[probefunc] = count(); } tick-300ms { exit(0); }');
			assert.equal(code, 0, stderr);
			assert.match(stdout, /uv_fs_open +\d+/);
		});
	});

test('examples compile', needsRoot, async (t) => {
	const directory = path.join(tree, 'examples/d');
	for (const name of fs.readdirSync(directory))
		await t.test(name, async () => {
			const { code, stderr } = await trace('-ew', '-p', process.pid, '-x', 'defaultargs', '-s', path.join(directory, name), ...(name === 'file-io.d' || name === 'core-on-open.d' ? ['x'] : name === 'cpu-stacks.d' ? ['1'] : []));
			assert.equal(code, 0, stderr);
		});
});

test('without the right to, the remedy is told', { skip: !isRoot && 'needs root to become somebody else' }, async () => {
	const { code, stderr } = await noderay(['trace', '-n', 'BEGIN { exit(0); }'], { user: 'nobody' });
	assert.equal(code, 3);
	assert.match(stderr, /CAP_BPF/);
});

test('with three capabilities and nothing else', needsRoot, async (t) => {
	const program = path.join(tmp(), 'noderay');
	fs.copyFileSync(binary, program);
	fs.chmodSync(program, 0o755);
	const target = await start(node(22), { code: 'setInterval(() => require("fs").openSync("/dev/null"), 5); console.log("{}")' });
	t.after(() => target.stop());
	const some = '+bpf,+perfmon,+sys_ptrace';
	const capable = (...args) => run('/usr/bin/setpriv', ['--reuid', '65534', '--regid', '65534', '--clear-groups', '--inh-caps', some,
		'--ambient-caps', some, '--bounding-set', `-all,${some}`, program, 'trace', ...args.map(String)], { timeout: 60_000 });
	const cases = [
		[['-qn', 'BEGIN { printf("begun\\n"); exit(0); }'], /^begun$/m],
		[['-qn', 'syscall:::entry { @[probefunc] = count(); } tick-300ms { exit(0); }'], /epoll|read|openat/],
		[['-qp', target.pid, '-n', 'pid$target::uv_fs_open:entry { printf("%s\\n", copyinstr(arg2)); jstack(); exit(0); }'], /^\/dev\/null\n[^]*openSync \(node:fs/m],
		[['-qn', 'profile-199 { @[cpu] = count(); } tick-300ms { exit(0); }'], /\d/],
	];
	for (const [args, wanted] of cases)
		await t.test(args.at(-1), async () => {
			const { code, stdout, stderr } = await capable(...args);
			assert.equal(code, 0, stderr);
			assert.match(stdout, wanted);
		});
});
