// convert and diff: profiles of node itself and of others, through every format. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import zlib from 'node:zlib';
import { jsonLines, node, noderay, nodes, run, tmp } from './lib.mjs';

const program = `
function busyLoop() { let sum = 0; for (let i = 0; i < 3e7; i++) sum += Math.sqrt(i); return sum; }
function caller() { return busyLoop(); }
const end = Date.now() + 150;
while (Date.now() < end) caller();
setTimeout(() => {}, 30); // idle, which V8 has samples of
`;
const formats = ['html', 'svg', 'speedscope.json', 'cpuprofile', 'pb.gz', 'json', 'folded'];

/** A .cpuprofile that this node wrote of the program above. */
async function recorded(which) {
	const directory = tmp();
	fs.writeFileSync(path.join(directory, 'busy.js'), program);
	const { code, stderr } = await run(which.path, ['--cpu-prof', '--cpu-prof-name=node.cpuprofile', 'busy.js'], { cwd: directory, env: which.env });
	assert.equal(code, 0, stderr);
	return path.join(directory, 'node.cpuprofile');
}

async function convert(from, to) {
	const { code, stderr } = await noderay(['convert', from, '-o', to]);
	assert.equal(code, 0, `${from} to ${to}: ${stderr}`);
	assert.equal(stderr, '', `${from} to ${to}`);
}

/** Functions of the table with their own share. */
async function shares(file) {
	const { code, stdout, stderr } = await noderay(['convert', file]);
	assert.equal(code, 0, stderr);
	for (const line of stdout.split('\n')) assert.ok([...line].length <= 80, line);
	return new Map([...stdout.matchAll(/^ *\S+ +([\d.]+)% +([\d.]+)% +(\S+) +(\S+)/gm)].map(([, self, total, kind, name]) => [name, { self: Number(self), total: Number(total), kind }]));
}

test('what node --cpu-prof writes goes through every format', async () => {
	for (const which of nodes) {
		const file = await recorded(which);
		const first = await shares(file);
		assert.equal(first.get('busyLoop')?.kind, 'js', `${which.name}: ${[...first.keys()]}`);
		assert.equal(first.get('(idle)')?.kind, 'idle', `${which.name}: ${[...first.keys()]}`);
		assert.ok(first.get('busyLoop').self > 20 && first.get('caller').total >= first.get('busyLoop').self, which.name);
		for (const format of which === nodes[0] || which.major === 22 ? formats : ['speedscope.json', 'pb.gz']) {
			const other = path.join(path.dirname(file), `x.${format}`);
			await convert(file, other);
			const again = await shares(other);
			for (const name of ['busyLoop', '(idle)'])
				assert.ok(Math.abs(again.get(name)?.self - first.get(name).self) < 0.3, `${which.name}: ${format}: ${name}: ${again.get(name)?.self}, not ${first.get(name).self}`);
		}
	}
});

const stacks = `main-10/10;outer (/srv/a.js:1:1)_[j];inner (/srv/node_modules/@s/n/b.js:5:2)_[j] 30
main-10/10;outer (/srv/a.js:1:1)_[j] 10
main-10/10;outer (/srv/a.js:1:1)_[j];read_[k] 5
pool-10/11;uv__work 15
`;

function written(name, text = stacks) {
	const file = path.join(tmp(), name);
	fs.writeFileSync(file, text);
	return file;
}

async function through(format) {
	const file = path.join(tmp(), `x.${format}`);
	await convert(written('in.folded'), file);
	return fs.readFileSync(file);
}

test('speedscope files are what its schema asks for', async () => {
	const file = JSON.parse(await through('speedscope.json'));
	assert.equal(file.$schema, 'https://www.speedscope.app/file-format-schema.json');
	for (const frame of file.shared.frames) assert.equal(typeof frame.name, 'string');
	assert.deepEqual(file.profiles.map(({ name }) => name), ['main (10)', 'pool (11)']);
	for (const profile of file.profiles) {
		assert.equal(profile.type, 'sampled');
		assert.ok(['none', 'nanoseconds', 'microseconds', 'milliseconds', 'seconds', 'bytes'].includes(profile.unit));
		assert.equal(profile.samples.length, profile.weights.length);
		assert.equal(profile.weights.reduce((a, b) => a + b, 0), profile.endValue - profile.startValue);
		for (const index of profile.samples.flat()) assert.ok(file.shared.frames[index]);
	}
	assert.deepEqual(file.profiles[0].samples[0].map((index) => file.shared.frames[index].name), ['outer', 'inner']);
});

test('.cpuprofile files are trees with a sample and a time for each other', async () => {
	const file = JSON.parse(await through('cpuprofile'));
	const byId = new Map(file.nodes.map((one) => [one.id, one]));
	const seen = new Set();
	const walk = (one) => {
		assert.ok(!seen.has(one.id));
		seen.add(one.id);
		for (const key of ['functionName', 'scriptId', 'url']) assert.equal(typeof one.callFrame[key], 'string');
		for (const child of one.children ?? []) walk(byId.get(child));
	};
	walk(file.nodes[0]);
	assert.equal(file.nodes[0].callFrame.functionName, '(root)');
	assert.equal(seen.size, file.nodes.length);
	assert.equal(file.samples.length, file.timeDeltas.length);
	for (const id of file.samples) assert.ok(byId.has(id));
	assert.ok(file.timeDeltas.every((delta) => Number.isInteger(delta) && delta >= 0));
	assert.ok(file.endTime >= file.startTime + file.timeDeltas.reduce((a, b) => a + b, 0));
	const inner = file.nodes.find((one) => one.callFrame.functionName === 'inner');
	assert.deepEqual([inner.callFrame.url, inner.callFrame.lineNumber, inner.callFrame.columnNumber], ['/srv/node_modules/@s/n/b.js', 4, 1]);
});

test('slices of a Chrome trace nest', async () => {
	const { traceEvents } = JSON.parse(await through('json'));
	assert.deepEqual(traceEvents.filter(({ ph }) => ph === 'M').map(({ args }) => args.name), ['main', 'pool']);
	for (const tid of [10, 11]) {
		const open = [];
		for (const { ts, dur } of traceEvents.filter((event) => event.ph === 'X' && event.tid === tid)) {
			while (open.length && open.at(-1) <= ts) open.pop();
			assert.ok(!open.length || ts + dur <= open.at(-1));
			open.push(ts + dur);
		}
	}
});

/** What of pprof's schema is looked at, for a decoder that is not ours. */
const schema = `syntax = "proto3";
message Profile { repeated ValueType sample_type = 1; repeated Sample sample = 2; repeated Mapping mapping = 3;
  repeated Location location = 4; repeated Function function = 5; repeated string string_table = 6; repeated int64 comment = 13; }
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
message Label { int64 key = 1; int64 str = 2; int64 num = 3; }
message Mapping { uint64 id = 1; int64 filename = 5; bool has_functions = 7; bool has_filenames = 8; bool has_line_numbers = 9; bool has_inline_frames = 10; }
message Location { uint64 id = 1; uint64 mapping_id = 2; repeated Line line = 4; }
message Line { uint64 function_id = 1; int64 line = 2; int64 column = 3; }
message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; int64 start_line = 5; }
`;

test('pprof files are read by protoc', async () => {
	const directory = path.dirname(written('profile.proto', schema));
	const text = execFileSync('protoc', ['--decode=Profile', '-I', directory, 'profile.proto'], { cwd: directory, input: zlib.gunzipSync(await through('pb.gz')) }).toString();
	// What the schema does not name comes out as a number.
	assert.doesNotMatch(text, /^\s*\d+[: ]/m);
	assert.match(text, /string_table: ""\n/);
	const names = [...text.matchAll(/^string_table: "(.*)"$/gm)].map(([, name]) => name);
	for (const name of ['outer', 'inner', '/srv/a.js', '[kernel.kallsyms]', 'samples', 'count', 'main', 'thread']) assert.ok(names.includes(name), name);
	const values = [...text.matchAll(/^ {2}value: (\d+)$/gm)].map(([, value]) => Number(value));
	assert.deepEqual(values.sort((a, b) => a - b), [5, 10, 15, 30]);
});

test('standard input and output, several at once, packed', async () => {
	const piped = await noderay(['convert', '-', '-f', 'folded', '-o', '-'], { input: stacks });
	assert.deepEqual([piped.code, piped.stdout.trim().split('\n').sort()], [0, stacks.trim().split('\n').sort()]);
	const packed = path.join(tmp(), 'x.folded.gz');
	fs.writeFileSync(packed, zlib.gzipSync(stacks));
	const both = await noderay(['convert', packed, written('b.folded'), '-f', 'folded']);
	assert.match(both.stdout, /read_\[k\] 10$/m);
	assert.match(both.stdout, /uv__work 30$/m);
});

test('what cannot be done is said, and nothing is written', async () => {
	const file = written('a.folded');
	for (const [args, code, text] of [
		[[file, '-o', file], 2, /a\.folded is what is read: it stays as it is\n-o names another file/],
		[[written('b.folded', 'a;b 1\nc;d\n'), '-o', 'x.html'], 5, /b\.folded: as folded: line 2: no number at its end/],
		[[written('c.json', '{"traceEvents":[{"ph":"X","ts":"no"}]}')], 5, /c\.json: as chrome: line 1, column 33: a number was expected/],
		[[written('d.bin', 'no profile at all')], 5, /d\.bin: is no profile of a kind that can be read/],
		[['/nowhere/x'], 5, /\/nowhere\/x: cannot be opened: No such file/],
		[[file, '-o', '/nowhere/x.html'], 1, /\/nowhere\/x\.html: cannot be written: No such file/],
		[[file, '-f', 'gif'], 2, /no such format: 'gif'\nthere are: html, svg, speedscope/],
		[[], 2, /which profile\?/],
	]) {
		const result = await noderay(['convert', ...args], { cwd: tmp() });
		assert.equal(result.code, code, `${args}: ${result.stderr}`);
		assert.match(result.stderr, text);
	}
	assert.equal(fs.readFileSync(file, 'utf8'), stacks);
	assert.deepEqual(fs.readdirSync(path.dirname(file)).filter((name) => name.includes('partial')), []);
});

test('diff: a table, JSON, folded stacks with two numbers, a report, a picture', async () => {
	const before = written('before.folded');
	const after = written('after.folded', stacks.replace(' 30\n', ' 90\n').replace('b.js:5:2', 'b.js:9:2'));
	const table = await noderay(['diff', before, after]);
	assert.equal(table.code, 0, table.stderr);
	assert.match(table.stdout, /^ +50\.0% +75\.0% +\+25\.0% +package +inner {2}/m);
	const rows = jsonLines((await noderay(['diff', '--json', before, after])).stdout);
	const inner = rows.find((row) => row.function === 'inner');
	assert.deepEqual([inner.kind, inner.self_before, inner.self_after], ['package', 0.5, 0.75]);
	const folded = await noderay(['diff', before, after, '-f', 'folded']);
	assert.match(folded.stdout, /;inner \(.*\)_\[j\] 30 90$/m);
	assert.equal((await noderay(['convert', '-'], { input: folded.stdout })).code, 5);
	const page = path.join(tmp(), 'd.html');
	assert.equal((await noderay(['diff', before, after, '-o', page])).code, 0);
	assert.match(fs.readFileSync(page, 'utf8'), /<html/i);
	const picture = await noderay(['diff', before, after, '-f', 'svg']);
	assert.deepEqual([picture.code, picture.stderr], [0, '']);
	assert.match(picture.stdout, /^<\?xml[^]*before\.folded → \S*after\.folded[^]*<title>inner\n[^<]*self 50\.00% → 75\.00% \(\+25\.00%\)<[^]*<\/svg>\n$/);
	const none = await noderay(['diff', before, after, '-f', 'gif']);
	assert.deepEqual([none.code, none.stderr.split('\n')[1]], [2, 'there are: html, svg, folded, text']);
	assert.equal((await noderay(['diff', before])).code, 2);
	assert.equal((await noderay(['diff', before, after, '-o', after])).code, 2);
	assert.equal((await noderay(['diff', before, '/nowhere/x'])).code, 5);
});

test('diff: node\'s own profiles of two versions', async () => {
	const files = [await recorded(node(18)), await recorded(node(22))];
	const rows = jsonLines((await noderay(['diff', '--json', ...files])).stdout);
	const loop = rows.filter((row) => row.function === 'busyLoop');
	// In two directories: two functions, unless their paths are the same.
	assert.equal(loop.length, 2);
	assert.ok(loop.some((row) => row.self_before > 0.2 && !row.self_after));
});
