// load.mjs - a server under full load, and how much of it is left while something watches. SPDX-License-Identifier: MIT
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { run, start } from '../tests/node/lib.mjs';

// The smallest server that there is: whatever a tracer costs shows.
const code = `require('http').createServer((q, s) => s.end('hello world\\n'))
	.listen(0, '127.0.0.1', function () { console.log(JSON.stringify(this.address())); })`;

const connections = 50;
const seconds = 2;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export const startServer = (node) => start(node, { code });

/** Requests a second that a server answers. */
export async function throughput(server) {
	const url = `http://127.0.0.1:${server.ready.port}/`;
	const { code: status, stdout, stderr } = await run('/usr/bin/wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, url]);
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

/** Starts what is to watch and waits until it does: until it has printed something that matches, if it says so, and is quiet. */
async function attach(command, args, ready) {
	const child = spawn(command, args.map(String), { stdio: ['ignore', 'pipe', 'pipe'] });
	let text = '';
	const look = (data) => text.length < 65_536 && (text += data);
	child.stdout.on('data', look);
	child.stderr.on('data', look);
	const closed = once(child, 'close');
	const until = Date.now() + 60_000, isOver = () => child.exitCode !== null || child.signalCode !== null;
	while (ready && !ready.test(text) && !isOver() && Date.now() < until) await pause(20);
	if (!isOver()) await settle(child.pid);
	if (isOver()) throw new Error(`${command} ${args.join(' ')}: ${text}`);
	return async () => {
		child.kill('SIGINT');
		const guard = setTimeout(() => child.kill('SIGKILL'), 30_000);
		await closed;
		clearTimeout(guard);
	};
}

/** How many per cent of its throughput a server keeps while something watches it, beside what it has before and after. */
export async function kept(server, command, args, ready) {
	const before = await throughput(server);
	const detach = await attach(command, args, ready);
	const watched = await throughput(server);
	await detach();
	const after = await throughput(server);
	return (watched / ((before + after) / 2)) * 100;
}
