// trace: no count is lost, whatever printa(), clear() and trunc() do while programs count. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { isRoot, node, noderay, tmp } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

/** Traces a command from its first instruction to its end, and returns the lines that were printed. */
async function traceCommand(command, program) {
	const { code, stdout, stderr } = await noderay(['trace', '-q', '-c', command, '-n', program]);
	assert.equal(code, 0, stderr);
	assert.doesNotMatch(stderr, /drop/);
	return stdout.split('\n').filter(Boolean);
}

/** The same for dd, which makes a known number of system calls: it writes byte by byte. */
const traceWrites = (writes, program) => traceCommand(`dd if=/dev/zero of=/dev/null bs=1 count=${writes}`, program);

const sum = (lines) => lines.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
const print = 'printa("%d %@d\\n", @);';

// One clause or several of one probe; each of these lost counts, or did not end, before elements were replaced by epochs.
for (const [name, every, actions] of [
	['printa, trunc', '20ms', [`${print} trunc(@);`]],
	['printa, clear', '20ms', [`${print} clear(@);`]],
	['printa, trunc of some, clear', '20ms', [`${print} trunc(@, 100); clear(@);`]],
	['printa, clear, trunc of some', '20ms', [`${print} clear(@); trunc(@, 100);`]],
	['printa in one clause, trunc in the next', '5ms', [print, 'trunc(@);']],
	['printa in one clause, trunc and clear in others', '5ms', [print, 'trunc(@, 5);', 'clear(@);']],
	['as often as 500 times a second', '2ms', [`${print} trunc(@);`]],
])
	for (const keys of [1000, 100000])
		test(`${name}, ${keys} keys: every count is printed once`, needsRoot, async () => {
			const writes = 500_000;
			const lines = await traceWrites(writes, `syscall::write:entry /pid == $target && arg0 == 1/ { @[timestamp % ${keys}] = count(); }
				${actions.map((action) => `tick-${every} { ${action} }`).join(' ')} END { ${print} }`);
			assert.equal(sum(lines), writes);
		});

test('trunc of some keeps the counts of the others', needsRoot, async () => {
	const writes = 500_000;
	const lines = await traceWrites(writes, `syscall::write:entry /pid == $target && arg0 == 1/ { @[timestamp % 50] = count(); }
		tick-10ms { trunc(@, 50); } END { ${print} }`);
	assert.equal(sum(lines), writes);
	assert.equal(lines.length, 50);
});

// The sizes grow: one that is lost between printa() and clear() or trunc() can be the last and largest.
for (const action of ['clear', 'trunc'])
	test(`max with ${action}: the largest of all values is printed`, needsRoot, async () => {
		const file = path.join(tmp(), 'grow.js');
		fs.writeFileSync(file, `const fs = require('fs'), fd = fs.openSync('/dev/null', 'w'), last = Number(process.argv[2]);
			const bytes = Buffer.alloc(last);
			for (let size = 1; size <= last; size++) fs.writeSync(fd, bytes, 0, size);`);
		for (let last = 50_000; last < 50_005; last++) {
			const lines = await traceCommand(`${node(24).path} ${file} ${last}`,
				`syscall::write:entry /pid == $target && arg2 > 100/ { @ = max(arg2); }
				tick-1ms { printa("%@d\\n", @); ${action}(@); } END { printa("%@d\\n", @); }`);
			const values = lines.map(Number).filter((value) => value > 0); // else nothing was written meanwhile
			assert.equal(Math.max(...values), last);
			assert.deepEqual(values, [...values].sort((a, b) => a - b));
		}
	});

test('trunc with amounts at the limits', needsRoot, async () => {
	for (const [amount, left] of [['0', 0], ['1', 1], ['-1', 1], ['2', 2], ['-2', 2], ['9223372036854775807', 2], ['-9223372036854775807 - 1', 2]]) {
		const { code, stdout, stderr } = await noderay(['trace', '-q', '-n', `BEGIN { @[1] = count(); @[2] = count(); trunc(@, ${amount}); ${print} exit(0); }`]);
		assert.equal(code, 0, stderr);
		assert.equal(stdout.split('\n').filter(Boolean).length, left, `trunc(@, ${amount}): ${stdout}`);
	}
});
