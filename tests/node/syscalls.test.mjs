// syscalls: every call of a thread in its order, as strace lists it in the same run, on every node. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { isRoot, jsonLines, nodes, tmp, until } from './lib.mjs';
import { startTruth, startVerb } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

/** strace of one thread, from when it says that it is attached; stop() returns [{ name, result, error, args }]. */
async function startStrace(tid, file) {
	const child = spawn('strace', ['-s', '4096', '-o', file, '-p', String(tid)], { stdio: ['ignore', 'ignore', 'pipe'] });
	let said = '';
	child.stderr.on('data', (data) => (said += data));
	await until(() => said.includes('attached'), () => `strace: ${said}`);
	return async () => {
		const gone = once(child, 'exit');
		child.kill('SIGINT');
		await gone;
		return fs.readFileSync(file, 'utf8').split('\n').map((line) => line.match(/^(\w+)\((.*)\) += (\?|-?\w+)(?: (E\w+))?/)).filter(Boolean)
			.map(([, name, args, result, error]) => ({ name, args, result: /^-?\d+$/.test(result) ? Number(result) : null, error: error ?? null }));
	};
}

/** The calls of the main thread between the two that mark the part that counts. rt_sigreturn() returns to where the signal came, with
 *  whatever was in the registers there: the kernel tells no end of it. */
function between(calls, directory, text) {
	const find = (name) => calls.findIndex((call) => call.name === 'access' && text(call).includes(path.join(directory, name)));
	return calls.slice(find('begin'), find('end') + 1).filter(({ name }) => name !== 'rt_sigreturn');
}

for (const node of nodes)
	test(`node ${node.name}`, needsRoot, async () => {
		const directory = tmp();
		const target = await startTruth(node, 'calls.js', { args: [directory] });
		const stop = await startStrace(target.pid, path.join(directory, 'strace'));
		const verb = startVerb(['syscalls', '--json', target.pid]);
		await until(async () => {
			target.say('beacon');
			await new Promise((resolve) => setTimeout(resolve, 50));
			return verb.stdout.includes('beacon') || verb.isGone();
		}, () => `nothing is seen: ${verb.stderr} ${verb.stdout.slice(-300)}`);
		const { records } = await target.go();
		const { code, stdout, stderr } = await verb.stop();
		const theirs = between(await stop(), directory, ({ args }) => args);
		await target.finish();
		assert.equal(code, 0, stderr);
		const text = (call) => JSON.stringify(call.args ?? call);
		const ours = between(jsonLines(stdout).filter(({ tid }) => tid === target.pid), directory, text);
		const brief = (calls) => calls.map(({ name, error }) => `${name} ${error ?? ''}`);
		assert.deepEqual(brief(ours), brief(theirs));
		for (const [i, call] of ours.entries()) {
			if (theirs[i].result !== null && theirs[i].error === null) assert.equal(Number(call.result), theirs[i].result, JSON.stringify([call, theirs[i]]));
			assert.ok(call.ms >= 0 && call.pid === target.pid, JSON.stringify(call));
		}
		// What the program itself knows.
		let at = 0;
		for (const { name, path: file, result, error } of records) {
			const found = ours.findIndex((call, i) => i >= at && call.name.startsWith(name) && (!file || text(call).includes(file.slice(0, 14))));
			assert.ok(found >= 0, `${name} ${file} is not there`);
			assert.equal(ours[found].error ?? null, error);
			if (error === null && result !== null) assert.equal(Number(ours[found].result), result, JSON.stringify(ours[found]));
			at = found + 1;
		}
	});
