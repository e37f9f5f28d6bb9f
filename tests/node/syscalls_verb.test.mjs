// syscalls: counts, distributions, who called, what is chosen. That every call is there, in its order, is syscalls.test.mjs's.
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binary, isRoot, jsonLines, node, nodes, noderay, run, start, tmp, until } from './lib.mjs';
import { startVerb } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

const program = path.join(tmp(), 'program.js');
fs.writeFileSync(program, `
const fs = require('fs');
function lookForIt() {
	for (let i = 0; i < 37; i++) try { fs.accessSync('/nowhere/it.txt'); } catch {}
}
lookForIt();
const file = process.argv[2];
fs.writeFileSync(file, 'hello "there"\\n\\0\\x01 and so on, for longer than 32 bytes');
require('child_process').execFileSync('/bin/cat', [file, 'two words']
	.slice(0, process.argv[3] === 'child' ? 1 : 0), { input: '' });
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120);
process.exit(7);
`);

/** noderay syscalls ... -- node program.js: { code, stdout, stderr, file } */
async function traced(which, ...options) {
	const file = path.join(tmp(), 'written');
	const env = which.env;
	return { file, ...(await noderay(['syscalls', ...options, '--', which.path, program, file, 'child'], { env, timeout: 60_000 })) };
}

for (const one of nodes)
	test(`node ${one.name}: counted, and who called`, needsRoot, async () => {
		const counted = await traced(one, '-c', '--latency', '--json', '-e', '%file,write,futex');
		assert.equal(counted.code, 0, counted.stderr);
		const rows = jsonLines(counted.stdout);
		const access = rows.filter(({ name }) => name === 'access');
		assert.equal(access.length, 2, counted.stdout);
		// V8 and libraries may look for files of their own.
		assert.ok(access[0].count >= 37 && access[0].errors >= 37, JSON.stringify(access));
		assert.ok(access[0].total_ms >= access[0].max_ms && access[0].max_ms >= access[0].avg_ms && access[0].avg_ms > 0);
		assert.equal(access[1].buckets.reduce((sum, { count }) => sum + count, 0), access[0].count);
		assert.equal(access[1].count, access[0].count);
		assert.ok(access[1].p50_ms <= access[1].p99_ms && access[1].p99_ms <= access[1].max_ms);
		assert.equal(rows.filter(({ name }) => name === 'read').length, 0);
		assert.ok(rows.find(({ name }) => name === 'execve').count >= 1, 'the child runs another program');

		const listed = await traced(one, '--stack', '--json', '-e', 'access', '--failed');
		const looked = jsonLines(listed.stdout.replace(/^hello.*[^]\n?/gm, '')).filter(({ args }) => args[0] === '"/nowhere/it.txt"');
		assert.equal(looked.length, 37);
		for (const call of looked) {
			assert.deepEqual([call.name, call.args, call.result, call.error], ['access', ['"/nowhere/it.txt"', 'F_OK'], -1, 'ENOENT']);
			assert.ok(call.stack.some((frame) => /^lookForIt \(.*program\.js:4:\d+\)/.test(frame)), call.stack.join('\n'));
		}
	});

test('a list: files, children, bytes, the end', needsRoot, async () => {
	const { code, stdout, stderr, file } = await traced(node(22), '-s', '10');
	assert.equal(code, 0, stderr);
	assert.match(stdout, /^TIME +TID LATENCY CALL\n/);
	assert.match(stdout, new RegExp(` openat\\(AT_FDCWD, "${file}", O_WRONLY\\|O_CREAT\\|O_TRUNC\\|O_CLOEXEC, 0666\\) = \\d+<${file}>\\n`));
	assert.match(stdout, new RegExp(` write\\(\\d+<${file}>, "hello \\\\"the"\\.\\.\\., (\\d+)\\) = \\1\\n`));
	assert.match(stdout, new RegExp(` execve\\("/bin/cat", \\["/bin/cat", "${file}"\\]\\) = 0\\n`));
	assert.match(stdout, / - exit_group\(7\) = \?\n/);
	assert.match(stdout, / prctl\(PR_SET_NAME, "[^"]+"\) = 0\n| clone3?\(/);
});

test('what is chosen', needsRoot, async () => {
	const slow = jsonLines((await traced(node(20), '--json', '--slow', '100ms', '--thread', 'main', '-e', 'futex')).stdout.replace(/^hello.*[^]\n?/gm, ''));
	assert.ok(slow.length >= 1 && slow.every(({ name, ms, pid, tid }) => name === 'futex' && ms >= 100 && pid === tid), JSON.stringify(slow));
	assert.ok(slow.some(({ ms }) => ms >= 120));
	const alone = (await traced(node(24), '--no-children', '-e', '%process', '-o', 'pid,error,call')).stdout;
	assert.match(alone, /^ +PID ERROR +CALL\n/);
	assert.doesNotMatch(alone, /execve|exit_group\(0\)/);
	assert.match(alone, /^ *\d+ +exit_group\(7\) = \?$/m);
	const names = (await traced(node(18), '--no-names', '-e', 'openat,close')).stdout;
	assert.match(names, / close\(\d+\) = 0\n/);
	assert.doesNotMatch(names, /</);
	assert.match((await traced(node(22), '-c')).stdout, /^CALL +COUNT +RATE +ERRORS +TOTAL +AVG +MAX\n[^]*^all +\d+/m);
	assert.match((await traced(node(22), '--latency', '-e', 'access')).stdout, /access: \d+ calls, p50 .*, p90 .*, p99 .*, max .*\n +\S+ to +\S+ \|@+/);
});

test('a process that runs, until the time is over, Ctrl-C, or its end', needsRoot, async () => {
	const target = await start(node(26), { code: `
		console.log('ready');
		let n = 0;
		setInterval(() => require('fs').existsSync('/nowhere/' + n++), 5);
		process.stdin.resume().on('end', () => process.exit());` });
	const began = Date.now();
	const timed = await noderay(['syscalls', '--json', '-d', '300ms', '-e', '%file', '-p', target.pid]);
	assert.ok(Date.now() - began >= 300);
	const calls = jsonLines(timed.stdout);
	assert.ok(calls.length && calls.every(({ pid, args }) => pid === target.pid && /nowhere/.test(JSON.stringify(args))), timed.stdout);
	const interrupted = startVerb(['syscalls', '-c', '-e', '%file', `${target.pid},${process.pid}`, '--json']);
	const ended = startVerb(['syscalls', '-e', '%file', target.pid]);
	await until(() => /nowhere/.test(ended.stdout) || ended.isGone(), () => ended.stderr);
	const { code, stdout } = await interrupted.stop();
	assert.equal(code, 0);
	assert.ok(stdout === '' || jsonLines(stdout).every(({ name }) => /access|stat|open/.test(name)), stdout);
	target.child.stdin.end();
	await until(ended.isGone, 'it does not end with its target');
	assert.equal((await ended.stop()).code, 0);
});

test('what cannot be is told', async () => {
	const told = async (args, code, pattern, options) => {
		const result = await noderay(['syscalls', ...args], options);
		assert.equal(result.code, code, `${args}: ${result.stderr}`);
		assert.match(result.stderr, pattern);
	};
	await told(['-e', 'raed', '1'], 2, /no system call 'raed'\ndid you mean 'read'\?/);
	await told(['-e', '%flie', '1'], 2, /no class '%flie'\nclasses are %file/);
	await told(['--slow', 'soon', '1'], 2, /--slow needs a time such as/);
	await told(['-d', '0', '1'], 2, /--duration must be more than 0/);
	await told(['-s', '0', '1'], 2, /--size must be from 1 to/);
	await told(['--thread', 'mian', '1'], 2, /--thread needs 'main' or a thread's number/);
	await told(['-o', 'tmie', '1'], 2, /no column 'tmie'\ncolumns are time, /);
	await told(['-p', '12x'], 2, /'12x' is no process id/);
	await told(['--all', '1'], 2, /--all and a target/);
	await told(['999999999'], 1, /no process 999999999\n'noderay ps' lists/);
	if (isRoot) {
		await told(['--', '/nowhere/program'], 1, /nowhere\/program/);
		await told([String(process.pid)], 3, /Operation not permitted[^]*setcap cap_bpf,cap_perfmon/, { user: 'nobody' });
	}
});

test('the script that would run can be seen, and runs', needsRoot, async () => {
	const { stdout } = await noderay(['syscalls', '--show-script', '-c', '--slow', '2us', '-e', 'open,read', '--no-children']);
	assert.match(stdout, /^inline int counting = 1;/m);
	assert.match(stdout, /^inline uint64_t slow = 2000;/m);
	assert.match(stdout, /^#pragma D option syscalls=open,openat,read$/m);
	assert.match(stdout, /^#pragma D option follow=targets$/m);
	const script = path.join(tmp(), 'saved.d');
	fs.writeFileSync(script, stdout);
	const { code, stdout: printed, stderr } = await run(binary, ['trace', '-s', script, '-c', '/bin/cat /etc/passwd']);
	assert.equal(code, 0, stderr);
	assert.match(printed, /^calls name=openat avg=\d+ max=\d+ errors=\d+$/m);
});

/** A shell that is nobody's child, and so is not followed with the node that runs this: say(command) has it run one; end() ends it. */
async function orphan() {
	const pipe = path.join(tmp(), 'commands');
	await run('/usr/bin/mkfifo', [pipe]);
	await run('/bin/sh', ['-c', '(while read -r line; do sh -c "$line"; done > /dev/null 2>&1 < "$0" &)', pipe]);
	const fd = fs.openSync(pipe, 'w');
	return { say: (command) => fs.writeSync(fd, `${command}\n`), end: () => fs.closeSync(fd) };
}

test('--all: nodes that start later, of programs that ran before and of others', needsRoot, async () => {
	const shell = await orphan();
	const known = await start(node(22), { code: 'console.log("{}"); setInterval(() => {}, 1e6)' });
	const verb = startVerb(['syscalls', '--all', '--json', '-e', 'access,openat,execve']);
	const look = (which, name, rest = '') => `${which.path} -e 'try { require("fs").accessSync("/nowhere/${name}") } catch {} ${rest}'`;
	const seen = (name) => verb.stdout.split(`"\\"/nowhere/${name}\\""`).length - 1;
	try {
		// It is there when it sees what this process does.
		await until(() => {
			fs.existsSync('/nowhere/beacon');
			return seen('beacon') || verb.isGone();
		}, () => `nothing is seen: ${verb.stderr}`);
		// Nobody knows the program of these, unless others on the machine run it, too: it is seen when it has been looked at.
		shell.say(`${look(node(20), 'unknown', 'let n = 0; setInterval(() => { try { require("fs").accessSync("/nowhere/unknown") } catch {} n++ < 200 || process.exit() }, 50)')} &`);
		await until(() => seen('unknown') || verb.isGone(), () => `what runs a new program is not seen: ${verb.stderr}`);
		// From now on it is known as the other one: what they do, they do once.
		for (const which of [22, 20]) for (let i = 0; i < 2; i++) shell.say(look(node(which), `node-${which}-${i}`));
		shell.say('cat /nowhere/shell');
		shell.say(look(node(22), 'last'));
		await until(() => seen('last') || verb.isGone(), () => `the last one is not seen: ${verb.stderr}`);
		const { code, stderr } = await verb.stop();
		assert.equal(code, 0, stderr);
		for (const which of [22, 20]) for (let i = 0; i < 2; i++) assert.equal(seen(`node-${which}-${i}`), 1, `${which} ${i}: ${stderr}`);
		assert.equal(seen('shell'), 0, 'a process that is no node');
	} finally {
		shell.end();
		if (!verb.isGone()) verb.child.kill('SIGKILL');
		await known.stop();
	}
});
