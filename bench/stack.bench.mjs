// stack, on a server that waits for requests. SPDX-License-Identifier: MIT
import { binary, node, start } from '../tests/node/lib.mjs';
import { pauseTime, peakMemory, wallTime } from './lib.mjs';

export const title = 'stack: all threads of an idle node 24 server';
export const rounds = 9; // a pause is short: what else the machine does must not decide

const code = `require('http').createServer((q, s) => s.end()).listen(0, () => console.log('{}'))`;

export const setUp = () => start(node(24), { code });
export const tearDown = (target) => target.stop();

export const rows = ({ pid }) => [
	{
		what: 'whole command', unit: 'ms', ratio: 1 / 10,
		ours: () => wallTime(binary, ['stack', pid]),
		peer: { name: 'gdb bt', measure: () => wallTime('/usr/bin/gdb', ['-nx', '-p', pid, '-batch', '-ex', 'thread apply all bt']) },
	},
	{
		// It names no JavaScript.
		what: 'whole command', unit: 'ms',
		ours: () => wallTime(binary, ['stack', pid]),
		peer: { name: 'eu-stack', measure: () => wallTime('/usr/bin/eu-stack', ['-p', pid]) },
	},
	{ what: 'pause of the target', unit: 'ms', atMost: 10, ours: () => pauseTime(['stack', pid]) },
	{ what: 'memory', unit: 'MiB', atMost: 300, ours: () => peakMemory(binary, ['stack', pid]) },
];
