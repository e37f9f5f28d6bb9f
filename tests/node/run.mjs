// run.mjs - runs the end-to-end tests, two files at a time, and prints a line for each.
// SPDX-License-Identifier: MIT
//
//   node tests/node/run.mjs COUNTS [FILE...]
//
// Writes "passed failed skipped" to the file COUNTS. What a failed file printed follows its line. A file that failed runs once more, alone, and that counts:
// programs that are watched as they run beside others on two processors do not always do what they were written for. Both runs are shown; when many have
// failed, nothing is run again.
// The times are for people; no test depends on one.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const atOnce = 2;
const fileTimeout = 15 * 60_000;

const [countsFile, ...named] = process.argv.slice(2);
const files = named.length
	? named.map((file) => path.resolve(file))
	: fs.readdirSync(here).filter((name) => name.endsWith('.test.mjs')).sort().map((name) => path.join(here, name));

const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
	process.on(signal, () => {
		for (const child of running) child.kill('SIGTERM');
		process.exit(1);
	});

function count(tap) {
	const number = (name) => Number(tap.match(new RegExp(`^# ${name} (\\d+)$`, 'm'))?.[1] ?? 0);
	return { passed: number('pass'), failed: number('fail') + number('cancelled'), skipped: number('skipped') + number('todo') };
}

// Failures with what was said about them, without the tests that passed.
function failures(tap) {
	const out = [];
	let showing = false;
	for (const line of tap.split('\n')) {
		if (/^\s*not ok /.test(line)) showing = true;
		else if (/^\s*ok |^\s*# Subtest|^\s*1\.\.|^# (tests|suites|pass|fail)/.test(line)) showing = false;
		if (showing) out.push(`    ${line}`);
	}
	return out.join('\n');
}

function runFile(file) {
	return new Promise((resolve) => {
		const begun = Date.now();
		const child = spawn(process.execPath, ['--test-reporter=tap', file], { stdio: ['ignore', 'pipe', 'pipe'] });
		running.add(child);
		let tap = '', noise = '';
		child.stdout.on('data', (data) => (tap += data));
		child.stderr.on('data', (data) => (noise += data));
		const timer = setTimeout(() => {
			noise += `killed after ${fileTimeout / 1000} s\n`;
			child.kill('SIGTERM');
			setTimeout(() => child.kill('SIGKILL'), 5000).unref();
		}, fileTimeout);
		child.on('close', (code, signal) => {
			clearTimeout(timer);
			running.delete(child);
			const counts = count(tap);
			// A file that broke outside of any test has failed too.
			if (code !== 0 && counts.failed === 0) {
				counts.failed = 1;
				noise += `ended with ${signal ?? code}\n`;
			}
			resolve({ file, counts, tap, noise, seconds: (Date.now() - begun) / 1000 });
		});
	});
}

const total = { passed: 0, failed: 0, skipped: 0 };
const mostAgain = 4;

function add({ counts }) {
	for (const key in total) total[key] += counts[key];
}

function show({ file, counts, tap, noise, seconds }, how = '') {
	const { passed, failed, skipped } = counts;
	const name = path.basename(file, '.test.mjs') + how;
	console.log(`  ${failed ? 'FAIL' : 'ok  '} node/${name}: ${passed} passed, ${failed} failed, ${skipped} skipped (${seconds.toFixed(0)} s)`);
	if (failed) console.log(failures(tap) + (noise ? `\n    stderr: ${noise.replaceAll('\n', '\n    ')}` : ''));
	const reasons = new Set([...tap.matchAll(/^\s*ok .* # SKIP (.*)$/gm)].map((m) => m[1]));
	for (const reason of reasons) console.log(`       skipped: ${reason}`);
}

const queue = [...files];
const again = [];
async function worker() {
	while (queue.length) {
		const result = await runFile(queue.shift());
		show(result);
		if (result.counts.failed) again.push(result);
		else add(result);
	}
}
await Promise.all(Array.from({ length: atOnce }, worker));
for (const first of again) {
	if (again.length > mostAgain) {
		add(first);
		continue;
	}
	const second = await runFile(first.file);
	show(second, ', again and alone');
	add(second);
}
fs.writeFileSync(countsFile, `${total.passed} ${total.failed} ${total.skipped}\n`);
process.exit(total.failed ? 1 : 0);
