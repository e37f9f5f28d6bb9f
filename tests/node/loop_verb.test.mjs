// loop: utilisation as the target itself has it, reports of a loop that is blocked, cores, options. Blocks are compared with what a
// program did in loop.test.mjs. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { isRoot, jsonLines, node, nodes, noderay, start, tmp, until } from './lib.mjs';
import { startVerb } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

// Works for a third of the time, in turns with names, and a worker does so too; says every 100 ms how busy it has been in all.
const busy = `
const { performance } = require('perf_hooks');
const { Worker, isMainThread } = require('worker_threads');
const now = () => Number(process.hrtime.bigint()) / 1e6;
function work(ms) { for (const end = now() + ms; now() < end; ); }
const tid = Number(require('fs').readlinkSync('/proc/thread-self').split('/').pop());
setInterval(function turn() { work(10); }, 30);
setInterval(() => {
	const { idle, active } = performance.eventLoopUtilization();
	require('fs').writeSync(1, JSON.stringify({ time: Date.now() / 1000, tid, idle, active }) + '\\n');
}, 100);
if (isMainThread) new Worker(__filename);
`;

/** Utilisation between two moments, by what the target has said of one thread. */
function truth(lines, from, to) {
	const inside = lines.filter(({ time }) => time >= from && time <= to);
	const [first, last] = [inside[0], inside[inside.length - 1]];
	return (last.active - first.active) / (last.active - first.active + last.idle - first.idle);
}

for (const version of nodes)
	test(`node ${version.name}: utilisation of each loop`, needsRoot, async () => {
		const target = await start(version, { code: busy });
		const verb = startVerb(['loop', '--json', '-i', '300ms', target.pid]);
		await until(() => jsonLines(verb.stdout).length >= 14, () => `it says nothing: ${verb.stderr}`);
		const { code, stdout, stderr } = await verb.stop();
		assert.equal(code, 0, stderr);
		await target.stop();
		const said = jsonLines(target.stdout().slice(0, target.stdout().lastIndexOf('\n') + 1));
		const records = jsonLines(stdout), tids = [...new Set(said.map(({ tid }) => tid))];
		assert.equal(tids.length, 2);
		for (const tid of tids) {
			const seen = records.filter((record) => record.tid === tid && record.utilization !== null).slice(1), text = JSON.stringify(seen);
			const from = seen[0].time - seen[0].interval_ms / 1000, to = seen[seen.length - 1].time;
			const length = seen.reduce((sum, { interval_ms: ms }) => sum + ms, 0);
			const mean = seen.reduce((sum, { utilization, interval_ms: ms }) => sum + utilization * ms, 0) / length;
			// The ends of what is compared are up to 100 ms apart.
			const least = 0.05 + 100 / length, expected = truth(said.filter((line) => line.tid === tid), from, to);
			assert.ok(Math.abs(mean - expected) < least, `${mean}, not ${expected}: ${text}`);
			// On a busy machine an interval may go by without an iteration.
			const whole = seen.filter(({ iterations, utilization }) => iterations > 0 && utilization < 1);
			assert.ok(whole.length > 0 && whole.every(({ lag_ms: lag }) => lag.p50 <= lag.p99 && lag.p99 <= lag.max), text);
			assert.ok(whole.some(({ phases, lag_ms: lag }) => lag.max >= 10 && phases.timers.max >= 10 && phases.check.max < 10), text);
		}
	});

const blocked = `
const { execFileSync } = require('child_process');
function blockInTimer() { execFileSync('sleep', ['1.5']); }
function spinInTimer() { for (const end = Date.now() + 700; Date.now() < end; ); }
setInterval(process.argv[2] === 'spin' ? spinInTimer : blockInTimer, 300);
console.log('ready');
`;

test('a loop that is blocked is busy, although it goes round no more', needsRoot, async () => {
	const target = await start(node(20), { code: blocked });
	const verb = startVerb(['loop', '--json', '-i', '300ms', target.pid]);
	const isStuck = ({ iterations, utilization, lag_ms: lag }) => iterations === 0 && utilization > 0.9 && lag.max > 300;
	await until(() => jsonLines(verb.stdout).some(isStuck), () => verb.stdout + verb.stderr);
	await verb.stop();
	await target.stop();
});

for (const how of ['spin', 'wait'])
	test(`a core of a loop that is blocked: ${how}`, needsRoot, async () => {
		const target = await start(node(22), { code: blocked }, { args: [how] });
		const file = path.join(tmp(), 'core.%p');
		const { code, stdout, stderr } = await noderay(['loop', '--block', '100ms', '--core', '--core-file', file, target.pid]);
		const core = file.replace('%p', target.pid);
		assert.equal(code, 0, stderr);
		assert.match(stdout, new RegExp(`^${core}$`, 'm'));
		assert.match(stderr, /paused for/);
		await target.stop();
		assert.match((await noderay(['stack', core])).stdout, how === 'spin' ? /spinInTimer \(/ : /blockInTimer \(/);
		fs.unlinkSync(core);
	});

test('text of blocks', needsRoot, async () => {
	const target = await start(node(24), { code: blocked }, { args: ['spin'] });
	const verb = startVerb(['loop', '--block', '200', target.pid]);
	await until(() => /blocked for/.test(verb.stdout), () => verb.stderr);
	const { stdout } = await verb.stop();
	await target.stop();
	assert.match(stdout, /^\d\d:\d\d:\d\d\.\d{3} thread \d+ blocked for \d+ms \(CPU: [\d.]+m?s\) in timers, callback of timer\n +\d+% {2}.*spinInTimer \(.*target\.js:4:\d+\)\n/);
	assert.match(stdout, /^\d+ callbacks? of 200ms or more in .*: .* in all, the longest took \d+ms$/m);
});

test('what is asked for wrongly is told', needsRoot, async () => {
	for (const [args, message] of [
		[['--core'], /--core needs --block TIME/], [['--block', '10ms', '--phases'], /--phases and --block do not go together/],
		[['--block', 'soon'], /--block needs a time/], [['--block', '10us'], /1ms or more/], [['-i', '1ms'], /100ms to a day/], [['-o', 'x'], /no column 'x'/],
	]) {
		const { code, stderr } = await noderay(['loop', ...args, '1']);
		assert.equal(code, 2, stderr);
		assert.match(stderr, message);
	}
	assert.match((await noderay(['loop', '--block', '80ms', '--show-script'])).stdout, /inline uint64_t limit = 80000000;[^]*inline uint64_t pace = 10000000;/);
});
