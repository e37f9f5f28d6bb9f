// record on programs that people run: a compiler, a linter, two servers, a bundler. SPDX-License-Identifier: MIT
//
// What a profile of them must hold is known from their sources: functions by name, in their files. Every frame of JavaScript has a name, and
// stacks reach the root of their thread.
import { execFileSync } from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { isRoot, node, noderay, run, start, tmp, tree } from './lib.mjs';

const tool = path.join(tree, 'tools/packages');
execFileSync(tool, ['programs']);
const packages = path.join(execFileSync(tool, ['--dir', 'programs'], { encoding: 'utf8' }).trim(), 'node_modules');
const skip = isRoot ? false : 'sampling with the kernel needs root';
const sampling = ['-F', '499'];

/** A profile as functions: { name, file, self, total } by "name file", and how much there was of it. */
function digest(file) {
	const { shared: { frames }, profiles } = JSON.parse(fs.readFileSync(file, 'utf8'));
	const functions = new Map(), of = ({ name, file: where = '' }) => {
		const key = `${name} ${where}`;
		if (!functions.has(key)) functions.set(key, { name, file: where, self: 0, total: 0 });
		return functions.get(key);
	};
	const isUnnamed = frames.map(({ name }) => name === '[unknown code of V8]');
	let weight = 0, unnamed = 0;
	for (const { samples, weights } of profiles)
		for (const [i, stack] of samples.entries()) {
			const rows = new Set(stack.map((frame) => of(frames[frame])));
			for (const row of rows) row.total += weights[i];
			if (stack.length) of(frames[stack.at(-1)]).self += weights[i];
			weight += weights[i];
			if (stack.some((frame) => isUnnamed[frame])) unnamed++;
		}
	return { functions: [...functions.values()], weight, unnamed, threads: profiles.map(({ name }) => name) };
}

/** Records by these arguments, checks what holds for every program, and gives the digest. */
async function record(args, { rootless = 0.005, env } = {}) {
	const file = path.join(tmp(), 'profile.speedscope.json');
	const { code, stdout, stderr } = await noderay(['record', '--json', ...sampling, '-o', file, ...args], { timeout: 120_000, env });
	assert.equal(code, 0, stderr);
	const summary = JSON.parse(stdout.trim().split('\n').at(-1));
	assert.ok(summary.samples > 50, `only ${summary.samples} samples: ${stderr}`);
	assert.equal(summary.lost_samples, 0, stderr);
	assert.ok(summary.cut_stacks <= Math.max(1, summary.samples * rootless), `${summary.cut_stacks} of ${summary.samples} stacks do not reach the root`);
	const profile = digest(file);
	// A program that ends takes its heap down: of its last stacks one may be read too late, with all its frames.
	assert.ok(profile.unnamed <= Math.max(1, summary.samples / 1000), `${profile.unnamed} of ${summary.samples} stacks have frames without names: ${stderr}`);
	return { ...profile, stdout, stderr };
}

/** The profile has these functions: { name: part of its file }. */
function has({ functions }, wanted) {
	for (const [name, where] of Object.entries(wanted)) {
		const found = functions.filter((f) => f.name === name || f.name.endsWith(`.${name}`));
		assert.ok(found.some((f) => f.file.includes(where)), `no ${name} of ${where}, but ${JSON.stringify(found)}`);
	}
}

for (const which of [node(16), node(22), node(24), node(26)])
	test(`TypeScript's compiler on node ${which.name}`, { skip }, async () => {
		const directory = tmp();
		fs.writeFileSync(path.join(directory, 'a.ts'), 'export const answer: Promise<number> = fetch("/").then((r) => r.status);\n');
		const profile = await record(['--', which.path,
			path.join(packages, 'typescript/lib/tsc.js'), '--noEmit', '--target', 'es2022', path.join(directory, 'a.ts')]);
		has(profile, { executeCommandLine: 'typescript/lib/_tsc.js', createProgram: 'typescript/lib/_tsc.js', checkSourceFile: 'typescript/lib/_tsc.js' });
	});

for (const which of [node(20), node(24)])
	test(`eslint on a real tree, on node ${which.name}`, { skip }, async () => {
		const sources = tmp(); // eslint leaves out what lies in node_modules
		for (const name of ['fastify', 'express', 'webpack']) fs.cpSync(path.join(packages, name, 'lib'), path.join(sources, name), { recursive: true });
		const rules = ['no-unused-vars', 'no-undef', 'indent', 'no-shadow', 'complexity'].flatMap((rule) => ['--rule', `${rule}: 1`]);
		const profile = await record(['--', which.path, path.join(packages, 'eslint/bin/eslint.js'), '--no-eslintrc', '--quiet',
			'--parser-options=ecmaVersion:2022', ...rules, sources]);
		has(profile, { runRules: 'eslint/lib/linter/linter.js', verifyText: 'eslint/lib/', parse: 'espree' });
	});

const servers = {
	express: {
		code: `const app = require('express')();
app.use((q, r, next) => next());
app.get('/users/:id', (q, r) => r.json({ id: q.params.id, list: Array.from({ length: 50 }, (_, i) => ({ i, name: 'n' + i })) }));
app.listen(0, '127.0.0.1', function () { console.log(JSON.stringify(this.address())); });`,
		wanted: { handle: 'express/lib/router', json: 'express/lib/response.js' },
	},
	fastify: {
		code: `const app = require('fastify')();
app.get('/users/:id', (q, r) => r.send({ id: q.params.id, list: Array.from({ length: 50 }, (_, i) => ({ i, name: 'n' + i })) }));
app.listen({ port: 0, host: '127.0.0.1' }, () => console.log(JSON.stringify(app.server.address())));`,
		wanted: { routeHandler: 'fastify/lib/route.js', preHandlerCallback: 'fastify/lib/handleRequest.js' },
	},
};

for (const which of [node(22), node(24)])
	for (const [name, { code, wanted }] of Object.entries(servers))
		test(`${name} under load, on node ${which.name}`, { skip }, async () => {
			const target = await start(which, { code }, { env: { NODE_PATH: packages } });
			try {
				const load = run('/usr/bin/wrk', ['-t1', '-c8', '-d4s', `http://127.0.0.1:${target.ready.port}/users/7`]);
				const profile = await record(['-d', '2', target.pid]);
				has(profile, wanted);
				assert.match((await load).stdout, /requests in/);
			} finally {
				await target.stop();
			}
		});

test('a build by webpack, with the processes that it starts', { skip }, async () => {
	const directory = tmp();
	const script = path.join(directory, 'build.js');
	fs.writeFileSync(path.join(directory, 'app.js'), `module.exports = require(${JSON.stringify(path.join(packages, 'express'))});\n`);
	fs.writeFileSync(script, `require('webpack')({ mode: 'production', target: 'node', context: __dirname, entry: './app.js', output: { path: __dirname + '/out' } }, (error, stats) => {
	if (error || !stats.compilation.getAsset('main.js')) throw error ?? new Error(stats.toString());
});`);
	const profile = await record(['--', node(24).path, script], { env: { NODE_PATH: packages }, rootless: 0.03 }); // the first ones of each child may be cut
	has(profile, { parse: 'webpack/lib/javascript/JavascriptParser.js', walkStatement: 'webpack/lib/javascript/JavascriptParser.js' });
	assert.ok(fs.statSync(path.join(directory, 'out/main.js')).size > 100_000);
});
