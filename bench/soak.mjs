// soak.mjs - a long recording of a program whose code never stays the same. SPDX-License-Identifier: MIT
//
//   node bench/soak.mjs [MINUTES] [NODE-VERSION]...      (make soak MINUTES=30)
//
// The target compiles functions all the time, runs them until they are optimized, throws them away and lets V8 collect and move what is
// left. record must go on naming everything, and must not grow. Prints a table that docs/bench.md can take; it is no part of `make test`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { binary, node, start, tmp } from '../tests/node/lib.mjs';

const minutes = Number(process.argv[2] ?? 30), versions = process.argv.length > 3 ? process.argv.slice(3) : ['24'];

const memory = (pid) => Number(fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s*(\d+)/m)[1]) / 1024;

async function soak(version) {
	const target = await start(node(version), 'record/made.js', { args: [20] });
	const file = path.join(tmp(), 'soak.folded');
	const child = spawn(binary, ['record', '--json', '-d', `${minutes}m`, '-o', file, String(target.pid)], { stdio: ['ignore', 'pipe', 'pipe'] });
	let text = '';
	const sizes = [];
	child.stdout.on('data', (data) => (text += data));
	child.stderr.on('data', (data) => process.stderr.write(data));
	const timer = setInterval(() => sizes.push(memory(child.pid)), (minutes * 60_000) / 60);
	const [exit] = await once(child, 'close');
	clearInterval(timer);
	await target.stop();
	if (exit !== 0) throw new Error(`record: exit ${exit}`);
	const { samples, lost_samples, cut_stacks, unnamed_frames } = JSON.parse(text);
	const at = (share) => sizes[Math.floor((sizes.length - 1) * share)]?.toFixed(1) ?? '-';
	return [version, samples, lost_samples, cut_stacks, unnamed_frames, at(0.1), at(0.5), at(1)];
}

const heads = ['node', 'samples', 'lost', 'cut', 'unnamed frames', 'MiB after 10 %', 'after half', 'at the end'];
console.log(`record at 99 Hz for ${minutes} minutes`);
console.log([heads, heads.map(() => '---'), ...(await Promise.all(versions.map(soak)))].map((row) => `| ${row.join(' | ')} |`).join('\n'));
