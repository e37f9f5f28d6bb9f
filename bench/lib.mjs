// lib.mjs - how a command is measured. SPDX-License-Identifier: MIT
import { binary, node, run, start } from '../tests/node/lib.mjs';

async function checked(command, args, options) {
	const result = await run(command, args.map(String), { timeout: 600_000, ...options });
	if (result.code !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${result.code}: ${result.stderr}`);
	return result;
}

/** Wall time of a whole command, in ms. */
export async function wallTime(command, args, options) {
	const begun = process.hrtime.bigint();
	await checked(command, args, options);
	return Number(process.hrtime.bigint() - begun) / 1e6;
}

/** The most memory that it held at once, in MiB. */
export async function peakMemory(command, args, options) {
	const { stderr } = await checked('/usr/bin/time', ['-f', 'peak %M', command, ...args], options);
	return Number(stderr.match(/^peak (\d+)$/m)[1]) / 1024;
}

/** How long noderay says that it held the target, in ms; null if it did not say. */
export async function pauseTime(args, options) {
	const { stderr } = await checked(binary, args, options);
	const said = stderr.match(/paused[^\d]*([\d.]+) ms/i);
	return said ? Number(said[1]) : null;
}

const bigHeapCode = `
const kept = [];
while (process.memoryUsage().heapUsed < 2 ** 30)
	for (let i = 0; i < 100_000; i++) kept.push({ id: i, name: 'item ' + i, next: kept.at(-1) });
let last = performance.now(), longest = 0;
setInterval(() => {
	const now = performance.now();
	longest = Math.max(longest, now - last - 1);
	last = now;
}, 1);
process.stdin.on('data', () => {
	console.log(longest);
	longest = 0;
});
console.log('{}');
`;

/** A node 24 with 1 GiB of JavaScript heap; a line on its stdin makes it print the longest time, in ms, that its
 *  timer was late since the last line. */
export const bigHeap = () =>
	start(node(24), { code: bigHeapCode }, { flags: ['--max-old-space-size=4096'], timeout: 300_000 });
