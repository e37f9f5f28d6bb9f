// `make demo`, the first command of the README: each step shows what it is there to show, it ends, also by signals, and nothing stays
// behind. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binary, isRoot, node, run, tmp, tree, until } from './lib.mjs';

const limit = 300_000; // some 30 s alone

// The steps by the first words of their headings, and what must be in the output of each.
const everywhere = [
	['A shop with customers, on node v', /nothing but 'node server\.js'/],
	['Which nodes run here?', /^ *PID NODE .*SCRIPT$/m, /^ *\d+ \d+\.\d+\.\d+ .* 1 \S+ +examples\/shop\/server\.js$/m],
	['What is the shop doing right now?', /^thread \d+ {2}main JS thread/m, /^ +\d+ c +\S+\+0x/m, /^thread \d+ {2}.*worker/m],
	['What is its memory used for?', /^V8 heap +\S+ +\S+/m, /^native heap/m, /thereof worker 1/],
	['Where does it spend its time?', /^ +\d+ +\d+\.\d% +\d+\.\d% +js +letterDistance/m],
	['And for a browser', /^\$ noderay record -d 3 -o shop\.html \d+$/m],
	['A core file of it', /^shop\.core$/m],
	['The shop is gone now', /^thread \d+ {2}main JS thread/m, /^ +\d+ c +\S+\+0x/m, /server\.js/],
	["That was it. 'noderay --help'"],
];
const traced = [
	['Which URLs are slow?', /GET +\/search/, /GET +\/report/],
	['Something keeps the event loop from its work', /blocked for \d+ms .*\n +\d+% +ledger \(.*server\.js:\d+:\d+\)/, /callbacks? of 100ms or more/],
	['Nobody knows where to begin?', /^CPU +\d+ %: JavaScript/m, /^loop +busy \d+ %/m, /^ +\d+ .* GET \/search$/m, /^Worth a look:$/m],
	['The same as D has it', /letterDistance \(.*catalogue\.js:\d+:\d+\)/],
	['How long do its requests take, by URL?', /^GET \/\S+ \(us\)$/m, /Distribution/, /^ +\d+ \|@+ +\d+ *$/m],
];
const steps = (withTracing) => [...everywhere.slice(0, 6), ...(withTracing ? traced : [['Tracing needs root']]), ...everywhere.slice(6)];

/** The output of each step by its heading, in order. */
const sections = (stdout) => stdout.split(/^# /m).slice(1).map((text) => text.trimEnd());

function check({ code, signal, stdout, stderr }, withTracing) {
	assert.equal(code, 0, `${signal ?? code}: ${stderr}\n${stdout}`);
	const shown = sections(stdout), expected = steps(withTracing);
	assert.equal(shown.length, expected.length, stdout);
	for (const [i, [heading, ...patterns]] of expected.entries()) {
		assert.ok(shown[i].startsWith(heading), `step ${i} is not '${heading}': ${shown[i]}`);
		for (const pattern of patterns) assert.match(shown[i], pattern, `${heading}\n${stderr}`);
	}
	assert.match(stderr, /^noderay: shop\.html: \d+K, [1-9]\d+ samples in 3\.\d s$/m);
	assert.equal(stderr.match(/^noderay: paused for \d+\.\d+ ms/gm)?.length, 2, stderr);
	assert.doesNotMatch(stderr, /demo:|error|cannot/);
	if (!withTracing) return;
	// trunc(@, 2) leaves two stacks: blocks of frames, each with its count behind.
	const stacks = shown.find((text) => text.startsWith('The same as D')).split('\n').slice(2).join('\n').trim().split(/\n\n/);
	assert.equal(stacks.length, 2, stacks.join('\n--\n'));
	for (const stack of stacks) assert.match(stack, /\n +[1-9]\d*$/);
}

// make tells programs that it starts about itself; a demo of its own is not part of that make.
const environment = (scratch, more) => ({ TMPDIR: scratch, ...more });

function nothingIsLeft(scratch) {
	assert.deepEqual(fs.readdirSync(scratch), []);
	for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
		let environ = '';
		try {
			environ = fs.readFileSync(`/proc/${pid}/environ`, 'utf8');
		} catch {
			continue; // gone, or not ours
		}
		assert.ok(!environ.split('\0').includes(`TMPDIR=${scratch}`), `process ${pid} is left: ${fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')}`);
	}
}

test('make demo: every step', { timeout: limit }, async () => {
	const scratch = tmp();
	const result = await run('make', ['-C', tree, '--no-print-directory', 'demo'], { env: environment(scratch), timeout: limit });
	check(result, isRoot);
	nothingIsLeft(scratch);
});

for (const name of [16, 26, 'debian'])
	test(`the demo on node ${name}`, { timeout: limit }, async () => {
		const scratch = tmp();
		const { path: file, env } = node(name);
		check(await run(path.join(tree, 'examples/demo'), [], { env: environment(scratch, { NODE: file, ...env }), timeout: limit }), isRoot);
		nothingIsLeft(scratch);
	});

test('the demo of a user without privileges', { skip: !isRoot && 'the first test is that already', timeout: limit }, async () => {
	const scratch = tmp(), copy = tmp();
	fs.cpSync(path.join(tree, 'examples'), path.join(copy, 'examples'), { recursive: true });
	fs.mkdirSync(path.join(copy, 'build'));
	fs.copyFileSync(binary, path.join(copy, 'build/noderay'));
	const options = { user: 'nobody', env: environment(scratch, { NODE: node(24).path }), timeout: limit };
	check(await run(path.join(copy, 'examples/demo'), [], options), false);
	nothingIsLeft(scratch);
});

// At moments all over its run, most of them while noderay is at work. The demo itself says what it is at.
const exits = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
for (const [signal, heading, delay] of [
	['SIGTERM', 'A shop', 0], ['SIGINT', 'A shop', 900], ['SIGTERM', 'Where does it spend', 50], ['SIGHUP', 'Where does it spend', 1500],
	...(isRoot ? [['SIGTERM', 'Which URLs', 300], ['SIGINT', 'The same as D', 20], ['SIGTERM', 'The same as D', 3000]] : []),
])
	test(`${signal} ends the demo: '${heading}' and ${delay} ms`, { timeout: limit }, async (t) => {
		const scratch = tmp();
		const child = spawn(path.join(tree, 'examples/demo'), [], {
			env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', ...environment(scratch, { NODE: node(22).path }) }, stdio: ['ignore', 'pipe', 'pipe'],
		});
		t.after(() => child.kill('SIGKILL'));
		let stdout = '';
		child.stdout.on('data', (data) => (stdout += data));
		const ended = once(child, 'close');
		await until(() => stdout.includes(`# ${heading}`), () => `no step '${heading}': ${stdout}`);
		await new Promise((resolve) => setTimeout(resolve, delay));
		const begun = process.hrtime.bigint();
		child.kill(signal);
		const [code] = await ended;
		// 14 to 118 ms on a quiet machine; without the handling of signals, up to the rest of the step.
		assert.ok(process.hrtime.bigint() - begun < 10_000_000_000n, 'it did not end within 10 s');
		assert.equal(code, exits[signal]);
		nothingIsLeft(scratch);
	});
