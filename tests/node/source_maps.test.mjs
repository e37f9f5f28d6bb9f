// --source-maps: TypeScript as its own compiler writes it, and a minified bundle of webpack, told by their sources. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import test, { before } from 'node:test';
import { isRoot, node, noderay, nodes, programs, start, tmp, tree } from './lib.mjs';

const user = isRoot ? 'nobody' : undefined;
const sources = path.join(programs, 'sources');
let require_, webpack, typescript;

before(() => {
	const tool = path.join(tree, 'tools/packages');
	execFileSync(tool, ['programs'], { stdio: 'pipe' });
	require_ = createRequire(`${execFileSync(tool, ['--dir', 'programs'], { encoding: 'utf8' }).trim()}/`);
	typescript = require_('typescript');
	webpack = require_('webpack');
});

/** Compiles the program into a new directory: { directory, main }. */
function compile(options) {
	const directory = tmp();
	fs.cpSync(path.join(sources, 'node_modules'), path.join(directory, 'node_modules'), { recursive: true });
	for (const name of ['main', 'work']) {
		const text = fs.readFileSync(path.join(sources, `${name}.ts`), 'utf8');
		fs.mkdirSync(path.join(directory, 'src'), { recursive: true });
		fs.mkdirSync(path.join(directory, 'dist'), { recursive: true });
		fs.writeFileSync(path.join(directory, 'src', `${name}.ts`), text);
		const { outputText, sourceMapText } = typescript.transpileModule(text, {
			fileName: `../src/${name}.ts`,
			compilerOptions: { module: 'commonjs', target: 'es2020', ...options },
		});
		fs.writeFileSync(path.join(directory, 'dist', `${name}.js`), outputText);
		if (sourceMapText) {
			const map = JSON.parse(sourceMapText);
			fs.writeFileSync(path.join(directory, 'dist', `${name}.js.map`), JSON.stringify({ ...map, sources: [`../src/${name}.ts`] }));
		}
	}
	return { directory, main: path.join(directory, 'dist/main.js') };
}

/** One file, minified, with a map. */
async function bundle(directory) {
	await new Promise((resolve, reject) => webpack({
		mode: 'production', target: 'node', devtool: 'source-map', context: directory, entry: './dist/main.js',
		output: { path: path.join(directory, 'out'), filename: 'bundle.js' },
	}, (error, stats) => (error || stats.hasErrors() ? reject(error ?? new Error(stats.toString())) : resolve())));
	return path.join(directory, 'out/bundle.js');
}

/** Records until every function has been seen; returns its frames as folded stacks have them, and what was said. */
async function frames(file, names, { args = ['--source-maps'], on = node(24), as = user } = {}) {
	const target = await start(on, file, { user: as });
	try {
		for (let seconds = 1; ; seconds *= 2) {
			const { code, stdout, stderr } = await noderay(['record', '-F', 997, '-d', seconds, '-f', 'folded', '-o', '-', ...args, target.pid], { user: as });
			assert.equal(code, 0, stderr);
			const seen = [...new Set(stdout.split('\n').flatMap((line) => line.replace(/ \d+$/, '').split(';')))];
			if (names.every((name) => seen.some((f) => name.test(f)))) return { seen, stderr };
			assert.ok(seconds < 16, `${names.filter((name) => !seen.some((f) => name.test(f)))} of ${seen.filter((f) => /\.(js|ts):/.test(f))} ${stderr}`);
		}
	} finally {
		await target.stop();
	}
}

const line = (file, text) => fs.readFileSync(path.join(sources, file), 'utf8').split('\n').findIndex((l) => l.includes(text)) + 1;
const at = (name, file, text, folder = '') => new RegExp(`^(\\w+\\.)?${name} \\(${folder}${file.replace('.', '\\.')}:${line(file, text)}:\\d+\\)`);

test('TypeScript, with maps beside it', async () => {
	const { main, directory } = compile({ sourceMap: true });
	const src = `${directory}/src/`;
	const { seen, stderr } = await frames(main, [at('hot', 'main.ts', 'function hot', src), at('helper', 'main.ts', 'const helper', src),
		at('loop', 'main.ts', 'function loop', src), at('step', 'work.ts', 'step(n', src), /^(\w+\.)?burn \(.*node_modules\/dep\/index\.js:3:/]);
	assert.deepEqual(seen.filter((f) => /dist\//.test(f) && !/^(<anonymous>|\(anonymous\))/.test(f)), []);
	assert.doesNotMatch(stderr, /cannot be used/);
});

test('TypeScript, with maps in it', async () => {
	const { main, directory } = compile({ inlineSourceMap: true });
	const folder = `${directory}/dist/`; // of one file alone the compiler knows no folders
	await frames(main, [at('hot', 'main.ts', 'function hot', folder), at('step', 'work.ts', 'step(n', folder)]);
});

/** As tsx, ts-node and their like do it: what runs, and its map, is in no file. */
function load(directory) {
	const modules = Object.fromEntries(['main', 'work'].map((name) => {
		const file = path.join(directory, 'src', `${name}.ts`), source = fs.readFileSync(file, 'utf8');
		// Some lines more, so that no line is the source's.
		const { outputText } = typescript.transpileModule(source.replace(/^/, 'enum Kind { A, B, C }\n'), {
			fileName: file, compilerOptions: { module: 'commonjs', target: 'es2020', inlineSourceMap: true },
		});
		fs.writeFileSync(file, source.replace(/^/, 'enum Kind { A, B, C }\n'));
		return [file, outputText];
	}));
	const loader = path.join(directory, 'loader.js');
	fs.writeFileSync(loader, `const modules = ${JSON.stringify(modules)}; require('module')._extensions['.ts'] = (m, file) => m._compile(modules[file], file);
require('./src/main.ts'); // a loader's text has the words: "\\n//# sourceMappingURL=data:application/json;base64,"\n`);
	return loader;
}

// By the kernel's programs and without them.
for (const [on, as] of [...nodes.map((on) => [on, undefined]), ...(user ? [[node(24), user]] : [])]) {
	test(`${on.name}${as ? `, as ${as}` : ''}: TypeScript that a loader compiles in memory`, async () => {
		const { directory } = compile({});
		const loader = load(directory), src = `${directory}/src/`;
		// One line was put before all of them.
		const below = (name, file, text) => new RegExp(`^(\\w+\\.)?${name} \\(${src}${file.replace('.', '\\.')}:${line(file, text) + 1}:\\d+\\)`);
		const { stderr } = await frames(loader, [below('hot', 'main.ts', 'function hot'), below('loop', 'main.ts', 'function loop'), below('step', 'work.ts', 'step(n')], { on, as });
		assert.doesNotMatch(stderr, /cannot be used/);
	});
}

test('a minified bundle: names, files, packages; and the same by convert', async () => {
	const { directory } = compile({});
	const file = await bundle(directory);
	const names = [/^(\w+\.)?hot \(dist\/main\.js:\d+:/, /^(\w+\.)?helper \(dist\/main\.js:/, /^(\w+\.)?loop \(dist\/main\.js:/, /^(\w+\.)?step \(dist\/work\.js:/,
		/^(\w+\.)?burn \(node_modules\/dep\/index\.js:3:/];
	const { seen } = await frames(file, names);
	// What begins where the file does, the script itself, comes before the first mapping: no source tells of that place, whatever it is called.
	assert.deepEqual(seen.filter((f) => /bundle\.js/.test(f) && !/^(<anonymous>|\(anonymous\))|bundle\.js:1:1\)/.test(f)), []);
	// As V8 has it, then told by sources afterwards.
	const target = await start(node(22), file, { user });
	const raw = path.join(tmp(), 'raw.cpuprofile');
	const recorded = await noderay(['record', '-F', 997, '-d', 2, '-o', raw, target.pid], { user });
	await target.stop();
	assert.equal(recorded.code, 0, recorded.stderr);
	assert.ok(!fs.readFileSync(raw, 'utf8').includes('dist/main.js'));
	const { code, stdout, stderr } = await noderay(['convert', raw, '--source-maps', '-f', 'text', '-o', '-'], { user });
	assert.equal(code, 0, stderr);
	assert.match(stdout, /helper.*dist\/main\.js/);
	assert.match(stdout, /burn.*dep/);
});

test('maps that are broken or missing are told, and do no harm', async () => {
	const { main } = compile({ sourceMap: true });
	fs.writeFileSync(`${main}.map`, '{"version":3,"sources":["x.ts"],"names":[],"mappings":"AAAA,!"}');
	fs.rmSync(main.replace('main', 'work') + '.map');
	const { stderr } = await frames(main, [/^(\w+\.)?hot \(.*dist\/main\.js:/, /^(\w+\.)?step \(.*dist\/work\.js:/]);
	assert.match(stderr, /--source-maps: 2 source maps cannot be used: .*(main\.js\.map: line 1, column \d+: a mapping that is no list of numbers|work\.js\.map: cannot be read)/);
	const plain = path.join(tmp(), 'plain.js');
	fs.writeFileSync(plain, "console.log('ready'); (function spin() { for (let end = Date.now() + 20; Date.now() < end;); setImmediate(spin); })();\n");
	assert.match((await frames(plain, [/spin \(.*plain\.js:1:/])).stderr, /none of \d+ scripts? has a source map/);
});
