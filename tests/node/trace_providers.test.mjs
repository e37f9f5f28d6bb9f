// trace_providers.test.mjs - the kernel's providers: dtrace, profile, syscall, proc, sched, tracepoint, and their listing.
// SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { binary, isRoot, node, noderay, run, tmp } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'needs root' };
const trace = (...args) => noderay(['trace', ...args]);

/** Runs a script to its end; it must leave without an error. */
async function ran(script, ...args) {
	const result = await trace('-q', ...args, '-n', script);
	assert.equal(result.code, 0, result.stderr + result.stdout);
	assert.equal(result.stderr, '');
	return result.stdout.replace(/\n$/, ''); // dtrace ends with an empty line
}

/** A command for -c: this node, running some JavaScript. */
function command(code) {
	const file = `${tmp()}/child.js`;
	fs.writeFileSync(file, code);
	return `${node(22).path} ${file}`;
}

test('BEGIN is first, END is last, each once', needsRoot, async () => {
	assert.equal(await ran('END{printf("end ");} syscall:::entry{n++;} BEGIN{printf("begin ");} tick-50ms{exit(0);}'), 'begin end ');
});

test('what follows exit() does not run', needsRoot, async () => {
	assert.equal(await ran('BEGIN{printf("a");exit(0);} BEGIN{printf("b");} tick-1ms{printf("c");} END{printf("d");}'), 'ad');
});

test('clocks fire, on one CPU or on all', needsRoot, async () => {
	assert.equal(await ran('tick-10ms{i++;} tick-10ms/i==3/{printf("%s %s", probeprov, probename); exit(0);}'), 'profile tick-10ms');
	const out = await ran('profile-997{@[cpu]=count();} tick-500ms{exit(0);}');
	const cpus = out.trim().split('\n').map((line) => Number(line.trim().split(/\s+/)[0]));
	assert.ok(cpus.length >= 1 && cpus.every(Number.isInteger), out);
});

test('system calls have names, typed arguments, values and errno', needsRoot, async () => {
	const out = await ran(
		`syscall::mkdir:entry/pid == $target/{printf("%s %s %o\\n", probefunc, copyinstr(arg0), args[1]);}
		 syscall::mkdir:return/pid == $target/{printf("%d %d %d\\n", arg0, arg1, errno);}`,
		'-c', command('try { require("fs").mkdirSync("/does/not/exist", 0o751) } catch {}'));
	assert.match(out, /^mkdir \/does\/not\/exist 751\n-2 -2 2\n$/);
});

test('the C library\'s name of a call will do', needsRoot, async () => {
	assert.match((await trace('-ln', 'syscall::fstat:entry')).stdout, / newfstat entry\n/);
});

test('a process is seen to start, exec, be signalled and exit', needsRoot, async () => {
	const script = `proc:::exec-success/progenyof($target) && pid != $target/{printf("exec %s\\n", execname);}
		proc:::start/ppid == $target/{printf("start\\n");}
		proc:::exit/progenyof($target) && pid != $target/{printf("exit %d\\n", args[0]);}`;
	const out = await ran(script, '-c', command('require("child_process").spawnSync("/bin/sleep", ["0"])'));
	assert.match(out, /start\n(.*\n)*exec sleep\n(.*\n)*exit 1\n/);
});

test('a signal is sent and discarded', needsRoot, async () => {
	const script = `proc:::signal-send/pid == $target && args[2] == 10/{printf("send %d\\n", args[1]->pr_pid == $target);}
		proc:::signal-discard/pid == $target && args[2] == 23/{printf("discard\\n");}`;
	const code = `process.on('SIGUSR1', () => process.exit()); process.kill(process.pid, 'SIGURG');
		process.kill(process.pid, 'SIGUSR1'); setTimeout(() => {}, 10000);`;
	assert.match(await ran(script, '-c', command(code)), /discard\nsend 1\n/);
});

test('threads get and leave a CPU', needsRoot, async () => {
	const script = `sched:::on-cpu/pid == $target/{on++;} sched:::off-cpu/pid == $target/{off++;}
		sched:::wakeup/args[1]->pr_pid == $target/{woken++;} END{printf("%d %d %d", on > 5, off > 5, woken > 5);}`;
	const code = 'let n = 0; const t = setInterval(() => { if (++n > 20) clearInterval(t); }, 2);';
	assert.equal(await ran(script, '-c', command(code)), '1 1 1');
});

test('a tracepoint, written either way, has the fields of its record', needsRoot, async () => {
	for (const name of ['tracepoint:sched:sched_process_exec', 'tracepoint:sched::sched_process_exec']) {
		const script = `${name}/args[1] == $target/{printf("%s %d\\n", args[0], args[1] == pid);}`;
		assert.match(await ran(script, '-c', '/bin/true'), /^(\/bin\/true 1\n)?$/);
	}
	const out = await ran('tracepoint:sched:sched_switch{@[args[1] >= 0, strlen(args[4]) > 0]=count();} tick-200ms{exit(0);}');
	assert.match(out, /1\s+1\s+\d+/);
});

test('-l lists, and a number means the same probe each time', needsRoot, async () => {
	const all = (await trace('-l')).stdout;
	assert.match(all, /^ {3}ID {3}PROVIDER {12}MODULE {26}FUNCTION NAME\n/);
	assert.match(all, /\n {4}1 {5}dtrace +BEGIN\n/);
	for (const provider of ['profile', 'syscall', 'proc', 'sched', 'tracepoint']) assert.match(all, new RegExp(`\\n *\\d+ +${provider} `));
	const id = all.match(/\n *(\d+) +syscall +vmlinux +openat return\n/)[1];
	assert.match((await trace('-l', '-i', id)).stdout, /syscall +vmlinux +openat return\n$/);
	assert.match((await trace('-lvn', 'syscall::read:entry')).stdout, /args\[0\]: unsigned int\n\t\targs\[1\]: char \*\n\t\targs\[2\]: size_t\n/);
});

// Programs that a process holds, from what /proc tells of its file descriptors.
function programsOf(pid) {
	const ids = new Set();
	for (const fd of fs.readdirSync(`/proc/${pid}/fdinfo`)) {
		const id = fs.readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8').match(/^prog_id:\s*(\d+)$/m)?.[1];
		if (id) ids.add(id);
	}
	return [...ids];
}

test('a killed tracer leaves nothing behind', needsRoot, async (t) => {
	const script = 'BEGIN{printf("on\\n");} tracepoint:sched:sched_switch{n++;} syscall:::{n++;} tick-1s{n++;}';
	const child = spawn(binary, ['trace', '-qn', script], { stdio: ['ignore', 'pipe', 'inherit'] });
	await once(child.stdout, 'data');
	const ids = programsOf(child.pid);
	assert.ok(ids.length >= 4, String(ids));
	const gone = once(child, 'exit');
	child.kill('SIGKILL');
	await gone;
	if ((await run('/usr/sbin/bpftool', ['version']).catch(() => ({ code: 1 }))).code !== 0) return t.skip('no bpftool');
	for (const id of ids) {
		// The kernel takes them away a moment later, when nobody can be running them any more.
		let code = 0;
		for (let i = 0; i < 200 && code === 0; i++) {
			({ code } = await run('/usr/sbin/bpftool', ['prog', 'show', 'id', id]));
			if (code === 0) await new Promise((resolve) => setTimeout(resolve, 50));
		}
		assert.notEqual(code, 0, `program ${id} is still there`);
	}
});
