// The command line itself: help, links, completions, and what happens to output that cannot be written.
// SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { binary, nodes, noderay, run, start, tmp } from './lib.mjs';

const overview = execFileSync(binary, ['--help'], { encoding: 'utf8' });
const verbs = [...overview.match(/^Verbs:\n([^]*?)\n\n/m)[1].matchAll(/^  ([a-z]+) .*?(?:\(([a-z]+)\))?$/gm)]
	.map(([, name, alias]) => ({ name, alias }));
const helpOf = Object.fromEntries(verbs.map(({ name }) => [name, execFileSync(binary, [name, '--help'], { encoding: 'utf8' })]));
const optionsOf = (verb) => [...helpOf[verb].matchAll(/^ +(?:(-.), )?(--[a-z-]+)/gm)].flatMap((m) => [m[1], m[2]]).filter(Boolean);

// The scripts call noderay by its name.
const withNoderay = { PATH: `${path.dirname(binary)}:/usr/bin:/bin` };
const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const widest = (text) => Math.max(...text.split('\n').map((line) => line.length));

test('the overview is the same without words, with --help and with help', async () => {
	for (const words of [[], ['-h'], ['help']]) {
		const { code, stdout, stderr } = await noderay(words);
		assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: overview, stderr: '' });
	}
	assert.ok(verbs.length > 0);
	assert.ok(widest(overview) <= 80);
});

for (const { name, alias } of verbs) {
	test(`${name}: --help fits the terminal, shows options and examples, and has three ways in`, async () => {
		const help = helpOf[name];
		assert.ok(widest(help) <= 80, `${widest(help)} columns`);
		assert.match(help, new RegExp(`^noderay ${name} - `));
		for (const part of ['Usage: ', '\nOptions:\n', '\nExamples:\n']) assert.ok(help.includes(part), part);
		assert.equal((await noderay(['help', name])).stdout, help);
		assert.equal((await noderay([name, '-h'])).stdout, help);
		if (!alias) return;
		assert.equal((await noderay([alias, '--help'])).stdout, help);
		const link = path.join(tmp(), alias);
		fs.symlinkSync(binary, link);
		assert.equal((await run(link, ['--help'])).stdout, help);
	});

	test(`${name}: an unknown option is a usage error`, async () => {
		const { code, stdout, stderr } = await noderay([name, '--no-such-option-at-all']);
		assert.equal(code, 2);
		assert.equal(stdout, '');
		assert.match(stderr, new RegExp(`^noderay: ${name}: unknown option '--no-such-option-at-all'\n`));
	});
}

test('help of an unknown verb is a usage error', async () => {
	const { code, stderr } = await noderay(['help', 'complation']);
	assert.equal(code, 2);
	assert.equal(stderr, "noderay: no such verb: 'complation'\ndid you mean 'noderay completion'?\n");
});

test('a full disk is an error', async () => {
	const { code, stderr } = await run('/bin/sh', ['-c', '"$0" --help > /dev/full', binary]);
	assert.equal(code, 1);
	assert.match(stderr, /^noderay: cannot write the output: No space left on device\n$/);
});

test('a closed standard output is an error and nothing else takes its place', async () => {
	const { code, stderr } = await run('/bin/sh', ['-c', '"$0" --help >&-', binary]);
	assert.equal(code, 1);
	assert.match(stderr, /^noderay: cannot write the output: Bad file descriptor\n$/);
});

test('a reader that went away is no error', async () => {
	const { code, stderr } = await run('/bin/bash', ['-c', '{ sleep 0.1; "$0" --help; echo "$?" >&2; } | true', binary]);
	assert.equal(code, 0);
	assert.equal(stderr, '0\n');
});

// ------------------------------------------------------------------------------- completions

const completeBash = async (...words) => {
	const script = `source <("$0" completion bash); COMP_WORDS=(noderay "$@"); COMP_CWORD=$#; _noderay; printf '%s\\n' "\${COMPREPLY[@]}"`;
	const { stdout, stderr } = await run('/bin/bash', ['-c', script, binary, ...words], { env: withNoderay });
	assert.equal(stderr, '');
	return stdout.trim().split('\n').filter(Boolean);
};

test('bash completes verbs', async () => {
	assert.deepEqual((await completeBash('')).sort(), [...verbs.map((v) => v.name), 'help', '--help', '--version'].sort());
	assert.deepEqual(await completeBash('compl'), ['completion']);
	assert.deepEqual(await completeBash('help', 'compl'), ['completion']);
	assert.deepEqual((await completeBash('completion', '')).sort(), ['bash', 'fish', 'zsh']);
});

test('bash completes every option of every verb', async () => {
	for (const { name } of verbs)
		assert.deepEqual((await completeBash(name, '-')).sort(), optionsOf(name).sort(), name);
});

test('nodes that run are offered as targets, with what they run', async () => {
	const target = await start(nodes.at(-1), 'park.js', { args: ['caf\u00e9'.repeat(20)] });
	const { stdout } = await noderay(['completion', 'pids']);
	const row = stdout.split('\n').find((line) => line.startsWith(`${target.pid}\t`));
	assert.match(row, /\tnode .*/);
	assert.ok(!row.includes('\ufffd'));
	for (const { name } of verbs.filter((v) => helpOf[v.name].includes('[TARGET]')))
		assert.deepEqual(await completeBash(name, String(target.pid)), [String(target.pid)], name);
	await target.stop();
});

test('zsh reads its script, which names every option', { skip: !has('zsh') && 'no zsh' }, async () => {
	const script = (await noderay(['completion', 'zsh'])).stdout;
	assert.deepEqual(await run('/usr/bin/env', ['zsh', '-n'], { input: script }), { code: 0, signal: null, stdout: '', stderr: '' });
	for (const { name } of verbs) {
		const part = script.match(new RegExp(`^\t${name}[ )][^]*?\n\t\t;;`, 'm'))[0];
		for (const option of optionsOf(name)) assert.ok(part.includes(option), `${name} ${option}`);
	}
});

test('fish completes verbs and every option', { skip: !has('fish') && 'no fish' }, async () => {
	const file = path.join(tmp(), 'noderay.fish');
	fs.writeFileSync(file, (await noderay(['completion', 'fish'])).stdout);
	const complete = async (line) => {
		const { stdout, stderr } = await run('/usr/bin/env', ['fish', '--no-config', '-c', `source ${file}; complete -C '${line}'`], { env: { ...withNoderay, HOME: tmp() } });
		assert.equal(stderr, '');
		return stdout.trim().split('\n').map((row) => row.split('\t')[0]);
	};
	assert.deepEqual((await complete('noderay ')).sort(), [...verbs.map((v) => v.name), 'help'].sort());
	for (const { name } of verbs) {
		const found = await complete(`noderay ${name} --`);
		for (const option of optionsOf(name)) if (option.startsWith('--')) assert.ok(found.includes(option), `${name} ${option}`);
	}
});
