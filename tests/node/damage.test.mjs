// damage.test.mjs - cores of every node with random words overwritten in their heaps, stacks and code, bytes in their
// notes, and cut anywhere: every verb ends by itself, with an exit code that is documented and with clean output.
// SPDX-License-Identifier: MIT
//
//   NODERAY_DAMAGE_ROUNDS=100   rounds per node (10)
//   NODERAY_DAMAGE_SEED=7       the first seed (1); a failure names its own. Addresses differ from run to run, so
//                               the same seed does not do the very same damage
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binary, jsonLines, nodes, run, start, takeCore, tmp } from './lib.mjs';

const rounds = Number(process.env.NODERAY_DAMAGE_ROUNDS ?? 10);
const firstSeed = Number(process.env.NODERAY_DAMAGE_SEED ?? 1);
const exitCodes = [0, 1, 4, 5]; // done, failed, not a node (its name is gone), unreadable
const mostMemory = 300 * 1024; // KiB
const sanitized = fs.readFileSync(binary).includes('__asan_init');

const calls = [
	['stack', '-v', '-a', '-s'], ['stack', '-v', '-a', '-s', '--json'],
	['maps'], ['maps', '--json'], ['files'], ['files', '--json'],
	['args'], ['args', '--json'], ['env'], ['env', '--json'],
];

/** Random numbers that a seed repeats (mulberry32): below(n) is a whole number from 0 to n - 1. */
function randomness(seed) {
	const next = () => {
		seed = (seed + 0x6d2b79f5) | 0;
		let x = Math.imul(seed ^ (seed >>> 15), 1 | seed);
		x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
		return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
	};
	return { below: (n) => Math.floor(next() * n) };
}

/** The parts of the core file that hold memory: [offset, size]. */
function segments(core) {
	const fd = fs.openSync(core);
	const head = Buffer.alloc(64);
	fs.readSync(fd, head, 0, 64, 0);
	const table = Buffer.alloc(56 * head.readUInt16LE(56));
	fs.readSync(fd, table, 0, table.length, Number(head.readBigUInt64LE(32)));
	const list = [];
	for (let at = 0; at < table.length; at += 56) {
		const size = Number(table.readBigUInt64LE(at + 32));
		if (table.readUInt32LE(at) === 1 && size) list.push([Number(table.readBigUInt64LE(at + 8)), size]);
	}
	fs.closeSync(fd);
	return list;
}

/** The words of the pages that are not empty; a page's worth at a time, so that no page counts more than another. */
function pages(core) {
	const fd = fs.openSync(core);
	const found = [];
	const page = Buffer.alloc(4096), empty = Buffer.alloc(4096);
	for (const [offset, size] of segments(core)) {
		if (size > 2 ** 26) continue; // reserved space, all holes
		for (let at = offset; at + 4096 <= offset + size; at += 4096) {
			fs.readSync(fd, page, 0, 4096, at);
			if (!page.equals(empty)) found.push(at);
		}
	}
	fs.closeSync(fd);
	return found;
}

/** Changes bytes of the headers and notes, where the names of files are. */
function damageNotes(fd, end, random) {
	const count = 1 + random.below(30);
	for (let i = 0; i < count; i++) fs.writeSync(fd, Buffer.from([random.below(256)]), 0, 1, 64 + random.below(end - 64));
	return count;
}

/** Changes words: to anything, to small numbers, to other words of the core, by one bit. */
function damage(fd, where, random) {
	const word = Buffer.alloc(8);
	const count = 2 ** random.below(14);
	const at = () => where[random.below(where.length)] + 8 * random.below(512);
	for (let i = 0; i < count; i++) {
		const to = at();
		const how = random.below(4);
		fs.readSync(fd, word, 0, 8, how === 2 ? at() : to);
		if (how === 0) for (let k = 0; k < 8; k++) word[k] = random.below(256);
		else if (how === 1) word.writeBigUInt64LE(BigInt(random.below(256)) << (random.below(2) ? 32n : 0n));
		else if (how === 3) word[random.below(8)] ^= 1 << random.below(8);
		fs.writeSync(fd, word, 0, 8, to);
	}
	return count;
}

function assertClean(text, what) {
	assert.ok(!text.includes('\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd'), `${what}: garbage`);
	// eslint-disable-next-line no-control-regex
	const bad = text.match(/.{0,40}[\x00-\x08\x0b-\x1f\x7f-\x9f].{0,40}/);
	assert.equal(bad, null, `${what}: control characters: ${JSON.stringify(bad?.[0])}`);
}

/** Runs one verb, and checks how it ends and what it says. */
async function check(args, core, what) {
	const name = `${what}: noderay ${args.join(' ')}`;
	const report = path.join(path.dirname(core), `peak-${args.join('')}`);
	const timed = ['-q', '-o', report, '-f', '%M', binary, ...args, core];
	const { code, signal, stdout, stderr } = await run('/usr/bin/time', timed, { timeout: 300_000 });
	assert.equal(signal, null, name);
	assert.ok(exitCodes.includes(code), `${name}: exit ${code}: ${stderr}`);
	if (code) assert.match(stderr, /^noderay: /m, name);
	assertClean(stdout, name);
	assertClean(stderr, name);
	if (args.includes('--json')) assert.doesNotThrow(() => jsonLines(stdout), name);
	const peak = Number(fs.readFileSync(report, 'utf8').trim().split('\n').at(-1));
	if (!sanitized) assert.ok(peak > 0 && peak < mostMemory, `${name}: held ${peak} KiB`);
}

for (const node of nodes) {
	test(`node ${node.name}: damaged cores`, async (t) => {
		const target = await start(node, 'stacks/shapes.js');
		t.after(target.stop);
		const core = await takeCore(target);
		await target.stop();
		const where = pages(core);
		assert.ok(where.length > 500, `${where.length} pages`);
		const size = fs.statSync(core).size;
		const notes = Math.min(...segments(core).map(([offset]) => offset));
		const copy = path.join(tmp(), 'core');
		for (let round = 0; round < rounds; round++) {
			const seed = firstSeed + round, random = randomness(seed);
			await run('/bin/cp', ['--sparse=always', core, copy]);
			const fd = fs.openSync(copy, 'r+');
			let what = `node ${node.name}, NODERAY_DAMAGE_SEED=${seed}, ${damage(fd, where, random)} words`;
			if (round % 3 === 2) what += `, ${damageNotes(fd, notes, random)} bytes of notes`;
			if (round % 5 === 4) {
				const left = random.below(size);
				fs.ftruncateSync(fd, left);
				what += `, cut to ${left} of ${size} bytes`;
			}
			fs.closeSync(fd);
			// Each round all of stack, which believes the most of what it reads, and two others in turn.
			const others = calls.slice(2);
			const some = [0, 1].map((i) => others[(2 * round + i) % others.length]);
			for (const args of [...calls.slice(0, 2), ...some]) await check(args, copy, what);
		}
		fs.rmSync(core);
	});
}
