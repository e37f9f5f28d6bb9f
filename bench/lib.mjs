// lib.mjs - how a command is measured. SPDX-License-Identifier: MIT
import { binary, run } from '../tests/node/lib.mjs';

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
