// trace, beside bpftrace and, for what it can do, strace. SPDX-License-Identifier: MIT
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { binary, node, start, tmp } from '../tests/node/lib.mjs';
import { peakMemory, wallTime } from './lib.mjs';

export const title = 'trace: starting, per hit, and how much gets through';
export const rounds = 5;

const bpftrace = '/usr/bin/bpftrace';

// Opens a file every millisecond; a line on stdin makes it do n system calls or calls of libuv and tell the time.
const code = `
const fs = require('fs');
setInterval(() => fs.closeSync(fs.openSync('/dev/null')), 1);
process.stdin.on('data', (line) => {
	const n = Number(line);
	const begun = process.hrtime.bigint();
	for (let i = 0; i < n; i++) fs.existsSync('/');
	console.log(Number(process.hrtime.bigint() - begun) / n);
});
console.log('{}');
`;

export const setUp = async () => ({ target: await start(node(22), { code }), scratch: tmp() });
export const tearDown = ({ target }) => target.stop();

/** From the start of a command to its first line on stdout that matches, in ms; it is interrupted then. */
function firstLine(command, args, pattern) {
	return new Promise((resolve, reject) => {
		const begun = process.hrtime.bigint();
		const child = spawn(command, args.map(String), { stdio: ['ignore', 'pipe', 'pipe'] });
		let text = '', errors = '', found = null;
		child.stderr.on('data', (data) => (errors += data));
		child.stdout.on('data', (data) => {
			text += data;
			if (found !== null || !pattern.test(text)) return;
			found = Number(process.hrtime.bigint() - begun) / 1e6;
			child.kill('SIGINT');
		});
		child.on('close', () => (found === null ? reject(new Error(`${command}: ${errors}`)) : resolve(found)));
	});
}

/** Asks the target for n turns and reads what one cost, in ns. */
async function turn(target, n) {
	const answer = new Promise((resolve) => target.child.stdout.once('data', (data) => resolve(Number(data))));
	target.child.stdin.write(`${n}\n`);
	return answer;
}

/** What one turn costs more while a tracer is attached, in ns. */
async function costPerHit(target, command, args, ready) {
	const child = spawn(command, args.map(String), { stdio: ['ignore', 'pipe', 'pipe'] });
	await new Promise((resolve, reject) => {
		let text = '';
		const look = (data) => ready.test((text += data)) && resolve();
		child.stdout.on('data', look);
		child.stderr.on('data', look);
		child.on('close', () => reject(new Error(`${command}: ${text}`)));
	});
	await new Promise((resolve) => setTimeout(resolve, 300));
	await turn(target, 20_000);
	const traced = [], plain = [];
	for (let i = 0; i < 5; i++) traced.push(await turn(target, 20_000));
	const ended = new Promise((resolve) => child.on('close', resolve));
	child.kill('SIGINT');
	await ended;
	await turn(target, 20_000);
	for (let i = 0; i < 5; i++) plain.push(await turn(target, 20_000));
	return Math.max(0, Math.min(...traced) - Math.min(...plain));
}

/** CPU time of an idle tracer, in per cent of a core. */
async function idleCost(args) {
	const child = spawn(binary, args.map(String), { stdio: ['ignore', 'ignore', 'ignore'] });
	const ticks = () => {
		const fields = fs.readFileSync(`/proc/${child.pid}/stat`, 'latin1').split(') ')[1].split(' ');
		return Number(fields[11]) + Number(fields[12]);
	};
	await new Promise((resolve) => setTimeout(resolve, 1000));
	const before = ticks();
	await new Promise((resolve) => setTimeout(resolve, 5000));
	const used = ticks() - before;
	child.kill('SIGINT');
	return (used / 500) * 100;
}

/** A script that records `rate` lines a second for 3 s: how many per cent of them arrive. */
async function arriving(scratch, target) {
	const out = path.join(scratch, 'lines');
	fs.rmSync(out, { force: true });
	const script = 'syscall::getppid:entry { printf("%d %s\\n", timestamp, execname); @n = count(); } END { printa("total %@d\\n", @n); }';
	const program = path.join(scratch, 'storm.c');
	fs.writeFileSync(program, `#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	struct timespec t;
	long long begun, now, done = 0;
	clock_gettime(CLOCK_MONOTONIC, &t);
	begun = t.tv_sec * 1000000000LL + t.tv_nsec;
	do {
		clock_gettime(CLOCK_MONOTONIC, &t);
		now = t.tv_sec * 1000000000LL + t.tv_nsec;
		while (done < (now - begun) / 5000) { syscall(SYS_getppid); done++; }
	} while (now - begun < 3000000000LL);
	return 0;
}
`);
	await wallTime('cc', ['-O2', '-o', path.join(scratch, 'storm'), program]);
	await wallTime(binary, ['trace', '-q', '-o', out, '-n', script, '-c', path.join(scratch, 'storm')]);
	const text = fs.readFileSync(out, 'latin1');
	const total = Number(text.match(/total (\d+)/)[1]);
	return ((text.split('\n').filter((line) => /^\d+ \S/.test(line)).length) / total) * 100;
}

export const rows = ({ target, scratch }) => [
	{
		what: "BEGIN{exit(0);}", unit: 'ms', ratio: 1 / 5,
		ours: () => wallTime(binary, ['trace', '-n', 'BEGIN{exit(0);}']),
		peer: { name: 'bpftrace', measure: () => wallTime(bpftrace, ['-e', 'BEGIN{exit();}']) },
	},
	{
		what: 'first event of uv_fs_open by name', unit: 'ms', atMost: 150,
		ours: () => firstLine(binary, ['trace', '-q', '-p', target.pid, '-n', 'pid$target::uv_fs_open:entry{printf("hit\\n");}'], /hit/),
		peer: { name: 'bpftrace', measure: () => firstLine(bpftrace, ['-p', target.pid, '-e', `uprobe:${fs.realpathSync(`/proc/${target.pid}/exe`)}:uv_fs_open{printf("hit\\n");}`], /hit/) },
	},
	{
		what: 'all system calls, counted for 1 s', unit: 'ms', atMost: 1400,
		ours: () => wallTime(binary, ['trace', '-n', 'syscall:::entry{@[probefunc]=count();} tick-1s{exit(0);}']),
	},
	{
		what: '1000 pid probes on and off', unit: 'ms', atMost: 2000,
		ours: () => wallTime(binary, ['trace', '-p', target.pid, '-n', 'pid$target:a.out:uv_*:entry{@=count();} pid$target:a.out:nghttp2_*:entry{@=count();} pid$target:a.out:ares_*:entry{@=count();} pid$target:a.out:SSL_*:entry{@=count();} tick-1ms{exit(0);}']),
	},
	{
		what: "counting at a function's entry", unit: 'ns/hit', ratio: 1.1,
		ours: () => costPerHit(target, binary, ['trace', '-p', target.pid, '-n', 'BEGIN{printf("on\\n");} pid$target::uv_fs_access:entry{@=count();}'], /on/),
		peer: { name: 'bpftrace', measure: () => costPerHit(target, bpftrace, ['-p', target.pid, '-e', `BEGIN{printf("on\\n");} uprobe:${fs.realpathSync(`/proc/${target.pid}/exe`)}:uv_fs_access{@=count();}`], /on/) },
	},
	{
		what: 'counting a system call', unit: 'ns/hit',
		ours: () => costPerHit(target, binary, ['trace', '-p', target.pid, '-n', 'BEGIN{printf("on\\n");} syscall:::entry/pid==$target/{@[probefunc]=count();}'], /on/),
		peer: { name: 'strace -c', measure: () => costPerHit(target, '/usr/bin/strace', ['-f', '-c', '-p', target.pid], /attached/) },
	},
	{ what: 'of 200,000 records a second arrive', unit: '%', ours: () => arriving(scratch, target) },
	{
		what: '100,000 keys printed', unit: 'ms', atMost: 2500,
		ours: () => wallTime(binary, ['trace', '-q', '-c', path.join(scratch, 'storm'), '-n', 'syscall::getppid:entry/i < 100000/{@[i++]=count();} syscall::getppid:entry/i == 100000/{exit(0);}']),
	},
	{ what: 'idle tracer', unit: '% of a core', atMost: 0.5, ours: () => idleCost(['trace', '-p', target.pid, '-n', 'pid$target::uv_fs_rename:entry{@=count();}']) },
	{ what: 'memory', unit: 'MiB', atMost: 100, ours: () => peakMemory(binary, ['trace', '-n', 'BEGIN{exit(0);}']) },
];
