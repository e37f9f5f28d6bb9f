// The helpers themselves: targets start on every node, as another user too, and cores can be taken.
// SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { nodes, start, run, takeCore, tmp, isRoot } from './lib.mjs';

for (const node of nodes) {
	test(`node ${node.name} starts, says what it is and stops`, async () => {
		const target = await start(node, 'park.js');
		assert.equal(target.ready.pid, target.pid);
		assert.equal(target.ready.version, node.version);
		await target.stop();
		assert.throws(() => process.kill(target.pid, 0), { code: 'ESRCH' });
	});
}

test('a target runs as another user', { skip: !isRoot && 'needs root' }, async () => {
	const target = await start(nodes[0], { code: 'console.log(process.getuid()); setInterval(() => {}, 1000)' }, { user: 'nobody' });
	assert.equal(target.ready, 65534);
	assert.equal(fs.statSync(`/proc/${target.pid}`).uid, 65534);
	await target.stop();
});

test('a target that ends at once is an error that shows its stderr', async () => {
	await assert.rejects(start(nodes[0], { code: 'console.error("no luck"); process.exit(3)' }), /ended \(3\).*no luck/s);
});

test('gdb takes a core', async () => {
	const target = await start(nodes[0], 'park.js');
	const core = await takeCore(target, { by: 'gdb' });
	assert.equal(fs.readFileSync(core).subarray(0, 4).toString('latin1'), '\x7fELF');
	await target.stop();
});

test('a command that hangs is killed', async () => {
	await assert.rejects(run('/bin/sleep', ['60'], { timeout: 100 }), /still running/);
});

test('scratch directories can be written by everybody', async () => {
	assert.equal(fs.statSync(tmp()).mode & 0o777, 0o777);
});
