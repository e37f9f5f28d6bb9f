// scripts: every program of a verb compiles, is what the verb shows, and runs without its view. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { isRoot, node, noderay, startStill, tmp, tree } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };
const scripts = fs.readdirSync(path.join(tree, 'scripts')).filter((file) => file.endsWith('.d'));

test('scripts compile, and say what they are for and how they are run', needsRoot, async () => {
	const target = await startStill(node(22), 'park.js');
	for (const file of scripts) {
		const text = fs.readFileSync(path.join(tree, 'scripts', file), 'utf8');
		assert.match(text, /^\/\* \S+\.d - .*SPDX-License-Identifier: MIT|^\/\*[^]*?SPDX-License-Identifier: MIT[^]*?\*\//, file);
		const { code, stderr } = await noderay(['trace', '-e', '-s', path.join(tree, 'scripts', file), '-p', target.pid]);
		assert.equal(code, 0, `${file}: ${stderr}`);
	}
	await target.stop();
});

test('what --show-script prints runs under trace', needsRoot, async () => {
	const target = await startStill(node(22), 'park.js');
	for (const name of scripts.map((file) => path.basename(file, '.d'))) {
		const shown = await noderay([name, '--show-script']);
		if (shown.code !== 0) continue; // a piece that several verbs share
		const script = path.join(tmp(), `${name}.d`);
		// It is ended by a clause of ours.
		fs.writeFileSync(script, `${shown.stdout}\ntick-200ms { exit(0); }\n`);
		const { code, stderr } = await noderay(['trace', '-s', script, '-p', target.pid], { timeout: 60_000 });
		assert.equal(code, 0, `${name}: ${stderr}`);
	}
	await target.stop();
});
