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

// It looks at the clock all the time, without making garbage, so that whatever holds it up is seen to the
// microsecond: a timer would be late by itself, and collecting garbage in a heap of this size takes long too.
const bigHeapCode = `
const kept = (globalThis.kept = []);
while (process.memoryUsage().heapUsed < 2 ** 30)
	for (let i = 0; i < 100_000; i++) kept.push({ id: i, name: 'item ' + i, next: kept.at(-1) });
let last = performance.now(), longest = 0;
function look() {
	for (const end = last + 20; last < end;) {
		const now = performance.now();
		if (now - last > longest) longest = now - last;
		last = now;
	}
	setImmediate(look);
}
process.stdin.on('data', () => {
	console.log(longest);
	longest = 0;
});
look();
console.log('{}');
`;

/** A node 24 with 1 GiB of JavaScript heap; a line on its stdin makes it print the longest time, in ms, in which it
 *  did not run since the last line. */
export const bigHeap = () =>
	start(node(24), { code: bigHeapCode }, { flags: ['--max-old-space-size=4096'], timeout: 300_000 });

/** Every other call repeats what the last one returned: rows with the same thing beside another peer share a measurement, in each round. */
export function twice(measure) {
	let last;
	return async () => {
		const result = last ? last.value : await measure();
		last = last ? undefined : { value: result };
		return result;
	};
}
