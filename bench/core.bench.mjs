// core, of a node with 1 GiB of JavaScript heap. SPDX-License-Identifier: MIT
//
// The target itself tells how long it was held: it notes the longest time between two looks at the clock.
import fs from 'node:fs';
import path from 'node:path';
import { once } from 'node:events';
import { binary, noderay, tmp } from '../tests/node/lib.mjs';
import { bigHeap, wallTime } from './lib.mjs';

export const title = 'core: a node 24 with 1 GiB of JavaScript heap';
export const rounds = 3;

export async function setUp() {
	const target = await bigHeap();
	const has = (await noderay(['core', '--help'])).stdout;
	return { target, directory: tmp(), canFork: has.includes('--fork') };
}
export const tearDown = ({ target }) => target.stop();

async function longestPause({ child }) {
	const answer = once(child.stdout, 'data');
	child.stdin.write('?\n');
	return Number((await answer)[0]);
}

/** Runs a dump; returns how long the target was held in ms, and notes how long it took in all. */
function dumper(context, command, args) {
	const file = path.join(context.directory, 'core');
	const dumper = { seconds: null };
	dumper.pause = async () => {
		fs.rmSync(file, { force: true });
		await longestPause(context.target);
		dumper.seconds = (await wallTime(command, args(file))) / 1000;
		return await longestPause(context.target);
	};
	return dumper;
}

export function rows(context) {
	const pid = context.target.pid;
	const plain = dumper(context, binary, (file) => ['core', '-o', file, pid]);
	const fork = dumper(context, binary, (file) => ['core', '--fork', '-o', file, pid]);
	const gdb = dumper(context, '/usr/bin/gdb', (file) =>
		['--nx', '--batch', '--readnever', '-ex', `attach ${pid}`, '-ex', `gcore ${file}`, '-ex', 'detach']);
	return [
		{ what: 'pause of the target', unit: 'ms', ratio: 1 / 5, ours: plain.pause, peer: { name: 'gcore', measure: gdb.pause } },
		{ what: 'whole command', unit: 's', ours: () => plain.seconds, peer: { name: 'gcore', measure: () => gdb.seconds } },
		{ what: 'pause with --fork', unit: 'ms', atMost: 100, ours: context.canFork ? fork.pause : () => null },
	];
}
