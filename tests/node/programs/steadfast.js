// Does a bit of everything that a debugger can upset, and says so when it was upset: timers, waits with
// and without a timeout, a blocking read, floating point in a loop, a child process, every signal it can catch.
// A line "wrong: ..." is a fault of whoever looked at it; {"ticks": n} comes on each line of input.
'use strict';
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const fs = require('fs');

function wrong(what) {
	fs.writeSync(1, `wrong: ${what}\n`);
}

// A sum whose value is known: registers that are lost on the way change it.
function sum() {
	let a = 0, b = 1.5, c = -2.25, d = 3.125;
	for (let i = 0; i < 200000; i++) {
		a += Math.sqrt(i) * b - c / (d + i);
		b = b * 1.0000001 + 1e-9;
		c = c - 1e-7 * d;
	}
	return a + b + c + d;
}

const kinds = {
	loop(ticks) {
		const expected = sum();
		for (;;) {
			const got = sum();
			if (got !== expected) wrong(`sum ${got}, not ${expected}`);
			Atomics.add(ticks, 0, 1);
		}
	},
	wait(ticks) {
		const cell = new Int32Array(new SharedArrayBuffer(4));
		for (;;) {
			const begun = process.hrtime.bigint();
			const result = Atomics.wait(cell, 0, 0, 30);
			const ms = Number(process.hrtime.bigint() - begun) / 1e6;
			if (result !== 'timed-out') wrong(`Atomics.wait: ${result}`);
			if (ms < 29.9) wrong(`Atomics.wait came back after ${ms} ms`);
			Atomics.add(ticks, 1, 1);
		}
	},
	sleep() {
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
		wrong('an endless Atomics.wait came back');
	},
	read() {
		try {
			const n = fs.readSync(workerData.fd, Buffer.alloc(1));
			wrong(`a read that cannot end returned ${n}`);
		} catch (error) {
			wrong(`a read that cannot end failed: ${error}`);
		}
	},
};

function main() {
	const ticks = new Int32Array(new SharedArrayBuffer(64));
	const parts = (process.argv[2] || 'loop,wait,sleep,read').split(',');
	let fd;
	if (parts.includes('read')) {
		const pipe = require('path').join(require('os').tmpdir(), `steadfast-${process.pid}.fifo`);
		require('child_process').execFileSync('mkfifo', [pipe]);
		fd = fs.openSync(pipe, 'r+');
		fs.unlinkSync(pipe);
	}
	const names = require('os').constants.signals;
	for (const name of Object.keys(names))
		if (!['SIGKILL', 'SIGSTOP', 'SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGPROF', 'SIGCHLD'].includes(name))
			try { process.on(name, () => wrong(`saw ${name}`)); } catch { }
	for (const kind of parts) if (kinds[kind]) new Worker(__filename, { workerData: { kind, ticks, fd } }).on('error', (e) => wrong(e));
	setInterval(() => ticks[2]++, 1);
	if (parts.includes('children'))
		setInterval(() => require('child_process').execFile('/bin/true', (e) => { if (e) wrong(`child: ${e}`); ticks[3]++; }), 50);
	process.stdin.on('data', () => fs.writeSync(1, JSON.stringify({ ticks: [...ticks.slice(0, 4)] }) + '\n'));
	process.stdin.on('end', () => process.exit(0));
	setTimeout(() => console.log(JSON.stringify({ pid: process.pid, parts })), 300);
}

if (isMainThread) main();
else kinds[workerData.kind](workerData.ticks);
