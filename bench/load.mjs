// load.mjs - a server under full load, and how much of it is left while something watches. SPDX-License-Identifier: MIT
//
// The server has the first core for itself; the load generator and what watches share the last one. The generator stands for other machines:
// where the kernel moves three processes over two cores as it likes, a run shows what it did with them more than what the server lost.
// What a tracer does in the server's own threads is on the server's core, what it prints is not. With isPinned false all
// of them go where they like, and what the generator loses counts, too. A machine with one core pins nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import { run, start } from '../tests/node/lib.mjs';

// The smallest server that there is: whatever a tracer costs shows.
const code = `require('http').createServer((q, s) => s.end('hello world\\n'))
	.listen(0, '127.0.0.1', function () { console.log(JSON.stringify(this.address())); })`;

const connections = 50;
const seconds = 1; // rounds are many and short: what else the machine does hits one of them, not the median
const warmUps = 2;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const cores = os.cpus().length, all = `0-${cores - 1}`;
const served = '0', others = String(cores - 1);

/** Where all threads of a process run. */
async function place(pid, list) {
	const { code: status, stderr } = await run('/usr/bin/taskset', ['-a', '-p', '-c', list, String(pid)]);
	if (status !== 0) throw new Error(`taskset: ${stderr}`);
}

/** A server that has been busy before: V8 has compiled what it will. */
export async function startServer(node) {
	const server = await start(node, { code });
	for (let i = 0; i < warmUps; i++) await throughput(server);
	return server;
}

/** Requests a second that a server answers. */
export async function throughput(server, isPinned = true) {
	const url = `http://127.0.0.1:${server.ready.port}/`;
	await place(server.pid, isPinned ? served : all);
	const { code: status, stdout, stderr } = await run('/usr/bin/taskset', ['-c', isPinned ? others : all,
		'/usr/bin/wrk', '-t1', `-c${connections}`, `-d${seconds}s`, url]);
	if (status !== 0) throw new Error(`wrk: ${stderr}`);
	return Number(stdout.match(/Requests\/sec: +([\d.]+)/)[1]);
}

/** CPU time of a process so far, in ticks. */
function ticks(pid) {
	const fields = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ');
	return Number(fields[11]) + Number(fields[12]);
}

/** Waits until a tracer of an idle server has nothing to do any more: it is attached then, however slow the machine is. */
async function settle(pid) {
	for (let still = 0, last = -1; still < 6; ) {
		await pause(100);
		const now = ticks(pid);
		still = now === last ? still + 1 : 0;
		last = now;
	}
}

/** Starts what is to watch and waits until it does: until it has printed something that matches, if it says so, and is quiet; or for so long. */
export async function attach(command, args, { ready, isPinned = true, wait } = {}) {
	const child = spawn('/usr/bin/taskset', ['-c', isPinned ? others : all, command, ...args.map(String)], { stdio: ['ignore', 'pipe', 'pipe'] });
	let text = '';
	const look = (data) => text.length < 65_536 && (text += data);
	child.stdout.on('data', look);
	child.stderr.on('data', look);
	const closed = once(child, 'close');
	const until = Date.now() + 60_000, isOver = () => child.exitCode !== null || child.signalCode !== null;
	while (ready && !ready.test(text) && !isOver() && Date.now() < until) await pause(20);
	if (!isOver()) await (wait ? pause(wait) : settle(child.pid));
	if (isOver()) throw new Error(`${command} ${args.join(' ')}: ${text}`);
	return async () => {
		child.kill('SIGINT');
		const guard = setTimeout(() => child.kill('SIGKILL'), 30_000);
		await closed;
		clearTimeout(guard);
	};
}

/** How many per cent of its throughput a server keeps while something watches it, beside what it has before and after. Options: ready, what the
 *  tracer prints when it is there; isPinned. */
export async function kept(server, command, args, { ready, isPinned = true } = {}) {
	const before = await throughput(server, isPinned);
	const detach = await attach(command, args, { ready, isPinned });
	const watched = await throughput(server, isPinned);
	await detach();
	const after = await throughput(server, isPinned);
	return (watched / ((before + after) / 2)) * 100;
}

/** The same for a server that answers a line `count` with { served, at }, in ns: under load that never pauses, in turns, as a server with a heap is another one after it was idle. begin()
 *  starts what watches, and returns what stops it. What is asked for is the server's matter (path). */
export async function keptInTurns(server, begin, { turns = 3, window = 700, path = '/', isPinned = true } = {}) {
	await place(server.pid, isPinned ? served : all);
	const url = `http://127.0.0.1:${server.ready.port}${path}`;
	const load = spawn('/usr/bin/taskset', ['-c', isPinned ? others : all, '/usr/bin/wrk', '-t1', `-c${connections}`, '-d600s', url], { stdio: 'ignore' });
	const gone = once(load, 'exit');
	const count = async () => {
		const answer = once(server.child.stdout, 'data');
		server.child.stdin.write('count\n');
		return JSON.parse((await answer)[0]);
	};
	const rate = async () => {
		const first = await count();
		await pause(window);
		const last = await count();
		return (last.served - first.served) / (last.at - first.at);
	};
	const ratios = [];
	try {
		await pause(500);
		for (let turn = 0, before = await rate(); turn < turns; turn++) {
			const stop = await begin();
			const watched = await rate();
			await stop();
			await pause(100);
			const after = await rate();
			ratios.push((watched / ((before + after) / 2)) * 100);
			before = after;
		}
	} finally {
		load.kill();
		await gone;
	}
	return ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
}
