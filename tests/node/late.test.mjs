// late: processes that start and end while noderay watches leave nothing behind. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import test from 'node:test';
import { isRoot, node, start, until } from './lib.mjs';
import { startVerb } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

test('files and links of processes that have ended are closed', needsRoot, async () => {
	const verb = startVerb(['trace', '-Z', '-q', '-n', `BEGIN { printf("ready\\n"); }
		node*:::loop-phase-done /!seen[pid]/ { seen[pid] = 1; printf("seen %d\\n", pid); }
		node*:::fs-done, node*:::gc-done, node*:::work-done, node*:::dns-done { self->n++; }`]);
	const open = () => fs.readdirSync(`/proc/${verb.child.pid}/fd`).length;
	const once = async () => {
		const target = await start(node(22), 'park.js');
		await until(() => verb.stdout.includes(`seen ${target.pid}\n`) || verb.isGone(), () => `nothing of ${target.pid}: ${verb.stderr}`);
		await target.stop();
	};
	await until(() => verb.stdout.includes('ready') || verb.isGone(), () => verb.stderr);
	await once();
	const before = open();
	for (let i = 0; i < 3; i++) await once();
	for (let i = 0; i < 50; i++) spawnSync('true');
	// Other processes of the machine come and go, too; but each of these would have left a dozen.
	await until(() => open() < before + 400, () => `${before} descriptors have become ${open()}`);
	const { code, stderr } = await verb.stop();
	assert.equal(code, 0, stderr);
});
