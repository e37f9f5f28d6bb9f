// noderay maps: what it says of a node's memory is what the kernel, V8 and the node itself say.
// SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { binary, isRoot, jsonLines, node, noderay, nodes, run, settle, start, takeCore, tmp } from './lib.mjs';

const page = 256 << 10;
const MiB = 1 << 20;

async function maps(target, options = {}) {
	const { code, signal, stdout, stderr } = await noderay(['maps', '--json', ...(options.args ?? []), target], { user: options.user });
	assert.deepEqual({ code, signal }, { code: 0, signal: null }, stderr);
	const lines = jsonLines(stdout);
	const of = (type) => lines.filter((line) => line.type === type);
	const mappings = of('mapping');
	return {
		mappings, parts: mappings.flatMap((m) => m.parts), pages: of('page'), summary: of('summary')[0], stderr,
		isolates: Object.fromEntries(of('isolate').map((i) => [i.isolate, i])),
	};
}

const sum = (list, key) => list.reduce((total, item) => total + (item[key] ?? 0), 0);
const rollup = (pid, ...fields) => {
	const text = fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
	return fields.reduce((total, field) => total + 1024 * Number(text.match(new RegExp(`^${field}: +(\\d+) kB`, 'm'))[1]), 0);
};

/** maps(), and what the kernel sums up at the same time: it may take pages away, or merge them, at any time. */
async function mapsAndSums(pid, options) {
	const sums = () => ({ rss: rollup(pid, 'Rss'), dirty: rollup(pid, 'Private_Dirty', 'Shared_Dirty') });
	for (let i = 0; ; i++) {
		const before = sums(), seen = await maps(pid, options), after = sums();
		if (JSON.stringify(before) === JSON.stringify(after) || i === 20) return { ...seen, kernel: after };
	}
}

// ------------------------------------------------------------------------------- what must hold

/** Parts cover their mapping, and everything adds up. */
function addsUp(seen) {
	for (const mapping of seen.mappings) {
		let at = BigInt(mapping.start);
		for (const part of mapping.parts) {
			assert.equal(BigInt(part.start), at, `${mapping.start}: a hole or an overlap`);
			at += BigInt(part.size);
		}
		assert.equal(at, BigInt(mapping.end), mapping.start);
		for (const key of ['rss', 'dirty', 'swap', 'dumped'])
			if (mapping[key] !== null && mapping[key] !== undefined) assert.equal(sum(mapping.parts, key), mapping[key], `${mapping.start} ${key}`);
	}
	for (const key of ['size', 'rss', 'dirty', 'swap']) {
		assert.equal(sum(Object.values(seen.summary.groups), key), seen.summary.total[key] ?? 0);
		assert.equal(sum(Object.values(seen.summary.kinds), key), seen.summary.total[key] ?? 0);
		assert.equal(sum(seen.mappings, key), seen.summary.total[key] ?? 0);
	}
	assert.equal(seen.summary.total.count, seen.mappings.length);
}

/** The pages of an isolate are those that it reported, give or take what it did after that. */
function agreesWithV8(isolate, reported) {
	for (const [space, size] of Object.entries(reported.spaces)) {
		const found = isolate.spaces[space]?.size ?? 0;
		if (space === 'read_only') continue; // isolates share it, and then V8 reports 0
		assert.ok(Math.abs(found - size) <= 2 * page + size / 10, `${isolate.isolate} ${space}: found ${found}, V8 said ${size}`);
	}
	for (const [space, { size, counted_by_v8 }] of Object.entries(isolate.spaces))
		if (counted_by_v8 !== null) assert.equal(size, counted_by_v8, `${isolate.isolate} ${space}: V8's own counter`);
	const all = sum(Object.values({ ...isolate.spaces, unused: {} }), 'size');
	assert.ok(Math.abs(all - reported.memory.heapTotal) <= 4 * page + all / 10, `heapTotal ${reported.memory.heapTotal}, found ${all}`);
}

function tellsEverything(seen, target) {
	const kinds = seen.summary.kinds;
	const { main, worker } = target.ready;
	assert.deepEqual(Object.keys(seen.isolates).filter((i) => i !== 'shared').sort(), ['main', 'worker 1']);
	assert.equal(seen.isolates.main.tid, target.pid);
	assert.equal(seen.isolates['worker 1'].worker, 1);
	agreesWithV8(seen.isolates.main, main);
	agreesWithV8(seen.isolates['worker 1'], worker);
	assert.ok(seen.parts.some((p) => p.space === 'read_only'));

	// Four large buffers: 8 and 3 MiB in each thread.
	assert.equal(kinds.external.count, 4);
	assert.ok(kinds.external.size >= 22 * MiB && kinds.external.size < 23 * MiB, `external ${kinds.external.size}`);
	assert.equal(kinds['wasm-memory'].size, 10 * 65536);

	const stacks = new Set(seen.parts.filter((p) => p.kind === 'stack').map((p) => p.tid));
	assert.deepEqual([...stacks].sort(), target.tids);
	assert.ok(kinds['stack-guard'].count >= target.tids.length - 2);
	for (const kind of ['malloc-heap', 'malloc-arena', 'builtins', 'node-text', 'node-data', 'library-text', 'bss', 'kernel'])
		assert.ok(kinds[kind]?.size > 0, kind);
	assert.ok(kinds.builtins.size > MiB);
	assert.equal(seen.summary.damaged_pages, 0);
}

const isKernels = (pid, tid) => fs.readFileSync(`/proc/${pid}/task/${tid}/comm`, 'utf8').startsWith('iou-'); // io_uring
const tidsOf = (pid) => fs.readdirSync(`/proc/${pid}/task`).map(Number).filter((tid) => !isKernels(pid, tid)).sort();

/** A target that ends with the test, however that ends. */
async function begin(t, ...what) {
	const target = await start(...what);
	t.after(target.stop);
	return target;
}

async function beginMemory(t, node, options) {
	const target = await begin(t, node, 'memory.js', options);
	await settle(target);
	target.tids = tidsOf(target.pid);
	return target;
}

// ------------------------------------------------------------------------------- each node

for (const each of nodes) {
	test(`node ${each.name}`, async (t) => {
		const target = await beginMemory(t, each);
		let live;

		await t.test('alive: spaces, stacks, buffers and sums', async () => {
			live = await mapsAndSums(target.pid);
			addsUp(live);
			tellsEverything(live, target);
			assert.equal(live.summary.total.rss, live.kernel.rss);
			assert.equal(live.summary.total.dirty, live.kernel.dirty);
			// vsyscall is in maps too, but not always in smaps.
			const lines = fs.readFileSync(`/proc/${target.pid}/maps`, 'utf8').trim().split('\n').length;
			assert.equal(live.mappings.length, lines);
			const anonymous = live.summary.kinds.anonymous?.rss ?? 0;
			assert.ok(anonymous < live.summary.total.rss / 20, `${anonymous} bytes are just anonymous`);
			assert.equal(live.stderr, '');
		});

		await t.test('alive: the table fits a terminal and ends with the summary', async () => {
			const { code, stdout } = await noderay(['maps', target.pid], { env: { COLUMNS: '80' } });
			assert.equal(code, 0);
			const lines = stdout.trimEnd().split('\n');
			assert.ok(Math.max(...lines.map((l) => [...l].length)) <= 80);
			assert.match(lines[0], /^ +ADDRESS +SIZE +RSS +DIRTY +MODE +WHAT$/);
			assert.equal(lines.indexOf(''), live.mappings.length + 1);
			const { stdout: summary } = await noderay(['maps', '--summary', target.pid], { env: { COLUMNS: '80' } });
			assert.equal(lines.slice(lines.indexOf('') + 1).join('\n') + '\n', summary);
			assert.match(summary, /^V8 heap .*^ {2}old .*^ {2}thereof main .*^ {2}thereof worker 1 .*^total /ms);
		});

		await t.test('alive: -v shows every page', async () => {
			const seen = await maps(target.pid, { args: ['-v'] });
			const spaces = Object.values(seen.isolates).flatMap((i) => Object.values(i.spaces));
			assert.equal(seen.pages.length, sum(spaces, 'pages'));
			assert.ok(seen.pages.some((p) => p.half === 'from') && seen.pages.some((p) => p.half === 'to'));
		});

		await t.test('a core says the same', async () => {
			const core = await takeCore(target);
			const seen = await maps(core, { args: ['--exe', each.path] });
			addsUp(seen);
			tellsEverything(seen, target);
			for (const name of Object.keys(live.isolates)) assert.deepEqual(seen.isolates[name].spaces, live.isolates[name].spaces);
			assert.ok(seen.summary.total.dumped > 0 && seen.summary.total.dumped <= seen.summary.total.size);
			const { rss } = seen.summary.total; // noderay notes it in its own cores
			if (rss !== null) assert.ok(Math.abs(rss - live.summary.total.rss) < live.summary.total.rss / 10, `rss ${rss}`);
			const heap = seen.summary.groups.v8;
			assert.ok(heap.dumped > heap.size / 2, 'the V8 heap is in the core');
			const { stdout } = await noderay(['maps', '--summary', '--exe', each.path, core], { env: { COLUMNS: '80' } });
			assert.match(stdout, /^ +SIZE +DUMPED/);
			assert.match(stdout, /\nThe core holds \S+ of \S+\.\n(Left out: .*\.\n)?$/);
			assert.ok(Math.max(...stdout.split('\n').map((l) => l.length)) <= 80);
			fs.rmSync(core);
		});
	});
}

// ------------------------------------------------------------------------------- other users, other states

for (const each of nodes) {
	test(`node ${each.name}: an unprivileged user sees the same of their own`, { skip: !isRoot && 'needs root' }, async (t) => {
		const target = await beginMemory(t, each, { user: 'nobody' });
		const seen = await mapsAndSums(target.pid, { user: 'nobody' });
		addsUp(seen);
		tellsEverything(seen, target);
		assert.equal(seen.summary.total.rss, seen.kernel.rss);
		assert.equal(seen.stderr, '');
	});
}

test("another user's node is refused, with the reason", { skip: !isRoot && 'needs root' }, async (t) => {
	const target = await begin(t, node(22), 'park.js');
	const { code, stdout, stderr } = await noderay(['maps', target.pid], { user: 'nobody' });
	assert.equal(code, 3);
	assert.equal(stdout, '');
	assert.match(stderr, new RegExp(`^noderay: .*${target.pid}`));
});

test('looking does not add to the target: memory that nobody touched stays untouched', async (t) => {
	const look = async () => {
		const target = await beginMemory(t, node(24)); // its code range is 512 MiB of accessible memory
		const tables = () => Number(fs.readFileSync(`/proc/${target.pid}/status`, 'utf8').match(/^VmPTE:\s+(\d+) kB/m)[1]);
		const before = { rss: rollup(target.pid, 'Rss'), tables: tables() };
		await maps(target.pid, { args: ['-v'] });
		const after = { rss: rollup(target.pid, 'Rss'), tables: tables() };
		await target.stop();
		// Pages of node's own file may become mapped when they are read; reading the code range would take 1 MiB of tables.
		if (after.tables - before.tables >= 128) return `page tables: ${before.tables} kB before, ${after.tables} kB after`;
		return after.rss - before.rss < 2 * MiB ? null : `RSS: ${before.rss} before, ${after.rss} after`;
	};
	// The kernel itself merges pages now and then, which adds up to 2 MiB; not to three targets in turn.
	const added = [await look()];
	while (added.at(-1) && added.length < 3) added.push(await look());
	assert.equal(added.at(-1), null, added.join('; '));
});

test('a node that allocates and collects all the time is read without harm', async (t) => {
	const code = `'use strict';
		let kept = [];
		function work() {
			for (let i = 0; i < 20000; i++) kept.push({ i, b: i % 500 ? i : new ArrayBuffer(200000) });
			if (kept.length > 300000) kept = [];
		}
		work();
		console.log('{}');
		setInterval(work, 1);`;
	const target = await begin(t, node(24), { code });
	for (let i = 0; i < 10; i++) {
		const seen = await maps(target.pid);
		addsUp(seen);
		assert.ok(seen.summary.groups.v8.size > MiB);
		assert.ok(seen.isolates.main.spaces.old.pages > 0);
	}
	assert.equal(target.child.exitCode, null);
});

test('node started with --jitless and with a heap of few pages is understood', async (t) => {
	const target = await begin(t, node(22), { code: "console.log('{}'); setInterval(() => {}, 1e6);" }, { flags: ['--jitless', '--max-old-space-size=64'] });
	const seen = await maps(target.pid);
	addsUp(seen);
	assert.deepEqual(Object.keys(seen.isolates).filter((i) => i !== 'shared'), ['main']);
});

// ------------------------------------------------------------------------------- damage

/** Where a core keeps an address: a function from address to file offset. */
function offsets(core) {
	const fd = fs.openSync(core, 'r');
	const head = Buffer.alloc(64);
	fs.readSync(fd, head, 0, 64, 0);
	const count = head.readUInt16LE(56);
	const table = Buffer.alloc(56 * count);
	fs.readSync(fd, table, 0, table.length, Number(head.readBigUInt64LE(32)));
	fs.closeSync(fd);
	const segments = [];
	for (let at = 0; at < table.length; at += 56)
		if (table.readUInt32LE(at) === 1)
			segments.push({ offset: table.readBigUInt64LE(at + 8), start: table.readBigUInt64LE(at + 16), size: table.readBigUInt64LE(at + 32) });
	return (address) => {
		const s = segments.find((each) => address >= each.start && address < each.start + each.size);
		return s && Number(s.offset + (address - s.start));
	};
}

for (const name of [18, 22, 26]) {
	test(`node ${name}: a core whose heap is damaged is read as far as it goes`, async (t) => {
		const target = await begin(t, node(name), 'park.js');
		const core = await takeCore(target);
		const args = ['--exe', node(name).path];
		const whole = await maps(core, { args: [...args, '-v'] });
		const offsetOf = offsets(core);
		const heap = whole.mappings.find((m) => m.path === '[heap]');
		const fd = fs.openSync(core, 'r+');
		let seed = 4711; // the same damage every time
		const random = (below) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
		const overwrite = (address) => {
			const word = Buffer.alloc(8);
			word.writeUInt32LE(random(2 ** 31), 0);
			word.writeUInt32LE(random(2 ** 31) >>> random(31), 4);
			const at = offsetOf(address);
			if (at !== undefined) fs.writeSync(fd, word, 0, 8, at);
		};
		for (let round = 0; round < 6; round++) {
			for (let i = 0; i < 15; i++) {
				const victim = whole.pages[random(whole.pages.length)];
				overwrite(BigInt(victim.address) + BigInt(8 * random(12)));
				overwrite(BigInt(victim.address) + BigInt(8 * random(victim.size / 8)));
			}
			for (let i = 0; i < 200; i++) overwrite(BigInt(heap.start) + BigInt(8 * random(heap.size / 8)));
			const seen = await maps(core, { args });
			addsUp(seen);
			assert.equal(seen.summary.total.size, whole.summary.total.size);
			const lost = whole.summary.groups.v8.size - seen.summary.groups.v8.size;
			// A damaged page of unknown size counts as a whole one.
			assert.ok(lost >= -page * seen.summary.damaged_pages, 'nothing is invented');
			if (seen.summary.damaged_pages || lost) assert.match(seen.stderr, /noderay: note: .*(damaged header|V8 counts|none of the known layouts)/);
		}
		fs.closeSync(fd);
		fs.rmSync(core);
	});
}

test('a core without its binary still tells its pages, by what they say of themselves', async (t) => {
	const target = await beginMemory(t, node(24));
	const core = await takeCore(target);
	const seen = await maps(core, { args: ['--sysroot', tmp()] });
	addsUp(seen);
	assert.match(seen.stderr, /^noderay: warning: /);
	const live = await maps(target.pid);
	const spaces = (from) => Object.values(from.isolates).map((i) => JSON.stringify(i.spaces)).sort();
	assert.deepEqual(spaces(seen), spaces(live));
	assert.equal(seen.summary.kinds.external.size, live.summary.kinds.external.size);
	assert.equal(seen.summary.kinds.builtins.size, live.summary.kinds.builtins.size);
});

// ------------------------------------------------------------------------------- bad input

test('what is not a node, not there or not understood has its own exit code', async (t) => {
	const sleep = await begin(t, { name: 'sh', path: '/bin/sh', env: {} }, { code: 'echo {}; exec sleep 1000\n', name: 'sleep.sh' });
	const file = `${tmp()}/text`;
	fs.writeFileSync(file, 'not a core\n'.repeat(1000));
	const cases = [
		[['maps', sleep.pid], 4], [['maps', '4194305'], 1], [['maps', file], 5], [['maps', '/no/such/file'], 1],
		[['maps', '1', '2'], 2], [['maps', '--pages', '1'], 2], [['maps', 'seven'], undefined],
	];
	for (const [words, expected] of cases) {
		const { code, signal, stdout, stderr } = await noderay(words);
		assert.equal(signal, null);
		assert.equal(stdout, '', words.join(' '));
		assert.match(stderr, /^noderay: /);
		if (expected !== undefined) assert.equal(code, expected, `${words.join(' ')}: ${stderr}`);
		assert.notEqual(code, 0);
	}
});

test('pmap is another name for it', async (t) => {
	const target = await begin(t, node(22), 'park.js');
	const link = `${tmp()}/pmap`;
	fs.symlinkSync(binary, link);
	const { code, stdout } = await run(link, ['--summary', target.pid]);
	assert.equal(code, 0);
	assert.match(stdout, /^V8 heap /m);
});
