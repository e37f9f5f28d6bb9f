// How much memory each verb holds while it looks at a large node. SPDX-License-Identifier: MIT
import { binary } from '../tests/node/lib.mjs';
import { bigHeap, peakMemory } from './lib.mjs';

export const title = 'memory: each verb on a node 24 with 1 GiB of JavaScript heap';
export const rounds = 3;

export const setUp = bigHeap;
export const tearDown = (target) => target.stop();

const calls = (pid) => [['ps'], ['stack', pid], ['maps', pid], ['files', pid], ['env', pid], ['args', pid], ['doctor']];

export const rows = ({ pid }) =>
	calls(pid).map((args) => ({ what: args[0], unit: 'MiB', atMost: 300, ours: () => peakMemory(binary, args) }));
