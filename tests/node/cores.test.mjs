// cores.test.mjs - reading cores, on every node: by the kernel, packed, cut, damaged, and with the
// program missing, elsewhere or of another build. What is read from a good core (stacks, mappings, files) is
// tested with the verbs that show it. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { crash, isRoot, jsonLines, noderay, noKernelCores, nodes, run, start, takeCore, tmp } from './lib.mjs';

const noCores = noKernelCores();
const words = ['one', 'two words'];

/** Those lines of /proc/PID/maps that have a name which a core can have too, as "start end offset name". */
function named(maps) {
	const line = /^([0-9a-f]+)-([0-9a-f]+) .... ([0-9a-f]+) \S+ \d+ +(\/.*|\[(stack|heap|vdso)\])$/gm;
	return [...maps.matchAll(line)].map(([, start, end, offset, name]) =>
		`0x${start.replace(/^0+/, '')} 0x${end.replace(/^0+/, '')} ${parseInt(offset, 16)} ${name}`);
}

/** A core of node (or of a copy of it), by the kernel if it lets us, else by gdb. */
async function coreOf(node, t, options = {}) {
	const cwd = tmp();
	const target = await start(node, 'park.js', { args: words, cwd, ...options });
	t.after(target.stop);
	target.maps = named(fs.readFileSync(`/proc/${target.pid}/maps`, 'utf8'));
	return { target, core: noCores ? await takeCore(target, { by: 'gdb' }) : await crash(target, cwd) };
}

/** A cheap copy: cores are mostly holes. */
async function copy(core, name = 'core') {
	const to = path.join(tmp(), name);
	const { code, stderr } = await run('/bin/cp', ['--sparse=always', core, to]);
	assert.equal(code, 0, stderr);
	return to;
}

async function assertReadable(core, node, ...options) {
	const result = await noderay(['args', '--json', ...options, core]);
	assert.equal(result.code, 0, result.stderr);
	assert.deepEqual(jsonLines(result.stdout)[0].args.slice(2), words);
	return result.stderr;
}

const packers = [
	['zstd', ['-q', '-1', '-o']],
	['lz4', ['-q', '-1']],
	['gzip', ['-1', '-c']],
	['xz', ['-0', '-c']],
];

async function pack(core, [tool, flags]) {
	const to = path.join(tmp(), 'packed'); // no suffix: told by content
	const command = flags.includes('-c') ? `${tool} ${flags.join(' ')} <"$0" >"$1"` :
		flags.includes('-o') ? `${tool} ${flags.join(' ')} "$1" "$0"` : `${tool} ${flags.join(' ')} "$0" "$1"`;
	const { code, stderr } = await run('/bin/sh', ['-c', command, core, to]);
	assert.equal(code, 0, stderr);
	return to;
}

for (const node of nodes) {
	test(`node ${node.name}: cores`, async (t) => {
		const { target, core } = await coreOf(node, t);

		await t.test('nothing to warn of', async () => assert.equal(await assertReadable(core, node), ''));

		await t.test('mappings and threads are those of the process', async () => {
			const { code, stdout, stderr } = await noderay(['maps', '--json', core]);
			assert.equal(code, 0, stderr);
			const found = jsonLines(stdout).filter(({ type, path }) => type === 'mapping' && path);
			const lines = found.map(({ start, end, offset, path }) => `${start} ${end} ${offset} ${path}`);
			assert.deepEqual(lines.filter((line) => target.maps.includes(line)), target.maps);
			const stack = await noderay(['stack', '--native', core]);
			assert.equal(stack.code, 0, stack.stderr);
			assert.match(stack.stdout, new RegExp(`^thread ${target.pid} `, 'm'));
		});

		const some = node === nodes[0] ? packers.slice(0, 3) : packers.slice(0, 1); // xz takes its time
		for (const packer of some)
			await t.test(`packed with ${packer[0]}`, async () => {
				const packed = await pack(core, packer);
				assert.equal(await assertReadable(packed, node), '');
				// All of it, not only its start.
				const plain = await noderay(['stack', '--native', core]);
				const again = await noderay(['stack', '--native', packed]);
				assert.equal(again.stdout, plain.stdout);
				fs.rmSync(packed);
			});

		await t.test('cut anywhere', async () => {
			const cut = await copy(core);
			const size = fs.statSync(cut).size;
			for (const left of [size - 1, Math.floor(size / 2), 65536, 20000, 8192, 6000, 1000, 121, 120, 64, 63, 4, 0]) {
				fs.truncateSync(cut, left);
				for (const verb of ['args', 'env']) {
					const { code, signal, stderr } = await noderay([verb, cut]);
					assert.equal(signal, null);
					assert.ok([0, 5].includes(code), `${left} bytes: ${verb}: exit ${code}: ${stderr}`);
					if (left > 120) assert.match(stderr, /the core is cut/, `${left} bytes: ${verb}`);
					else assert.equal(code, 5);
				}
			}
		});

		const other = nodes.find(({ path }) => path !== node.path);
		await t.test('another build of the program is an error', { skip: !other && 'there is only one node' }, async () => {
			const wrong = await noderay(['args', '--exe', other.path, core]);
			assert.equal(wrong.code, 5);
			assert.match(wrong.stderr, /build-id [0-9a-f]{40}.*build-id [0-9a-f]{40}/);
			assert.match(wrong.stderr, /--force/);
			assert.match(await assertReadable(core, node, '--exe', other.path, '--force'), /used nevertheless/);
			assert.equal(await assertReadable(core, node, '--exe', node.path), '');
		});
		fs.rmSync(core);
	});
}

/** What any damaged core must give: an end, a fitting exit code, and no line on stderr twice. */
async function assertBearable(args, what) {
	const { code, signal, stderr } = await noderay(args);
	assert.equal(signal, null, `${what}: ${args[0]}: ${stderr}`);
	assert.ok([0, 1, 3, 4, 5].includes(code), `${what}: ${args[0]}: exit ${code}: ${stderr}`);
	const lines = stderr.split('\n').filter(Boolean);
	assert.deepEqual(lines, [...new Set(lines)], `${what}: ${args[0]}`);
	return code;
}

test('damaged headers and notes neither crash nor hang', async (t) => {
	const { core } = await coreOf(nodes.at(-2) ?? nodes[0], t);
	const bytes = Buffer.alloc(32768);
	const damaged = await copy(core);
	const file = fs.openSync(damaged, 'r+');
	fs.readSync(file, bytes, 0, bytes.length, 0);

	await t.test('bytes of any value', async (t) => {
		let state = 1;
		const random = (n) => (state = (state * 48271) % 2147483647) % n;
		const codes = {};
		for (let round = 0; round < 60; round++) {
			const broken = Buffer.from(bytes);
			const area = round % 3 === 0 ? 64 : round % 3 === 1 ? 6000 : broken.length;
			for (let i = 0; i < 1 + random(30); i++) broken[random(area)] = [0, 255, random(256)][random(3)];
			fs.writeSync(file, broken, 0, broken.length, 0);
			const verb = ['args', 'env', 'maps'][random(3)];
			const code = await assertBearable([verb, '--force', damaged], `round ${round}`);
			codes[code] = (codes[code] ?? 0) + 1;
		}
		t.diagnostic(`exit codes: ${JSON.stringify(codes)}`);
	});

	// What lies behind the program headers is taken for some, and is anything.
	await t.test('more program headers than there are', async () => {
		const broken = Buffer.from(bytes);
		for (const count of [broken.readUInt16LE(56) + 100, 60000, 65535]) {
			broken.writeUInt16LE(count, 56);
			fs.writeSync(file, broken, 0, broken.length, 0);
			for (const verb of ['args', 'maps', 'stack', 'files'])
				await assertBearable([verb, '--force', damaged], `${count} headers`);
		}
	});

	await t.test('mappings of exabytes', async () => {
		const count = bytes.readUInt16LE(56);
		for (let i = 1; i < count; i += Math.ceil(count / 12)) {
			const broken = Buffer.from(bytes);
			broken.writeBigUInt64LE(1n << 60n, 64 + 56 * i + 40);
			for (let above = i + 1; above < count; above++) broken.writeUInt32LE(0, 64 + 56 * above);
			fs.writeSync(file, broken, 0, broken.length, 0);
			for (const verb of ['maps', 'files']) await assertBearable([verb, '--force', damaged], `header ${i}`);
		}
	});
	fs.closeSync(file);
});

test('the program is gone, or elsewhere', async (t) => {
	const node = nodes.find((n) => n.major === 22) ?? nodes[0];
	const home = tmp();
	const moved = { ...node, path: path.join(home, 'opt/node') };
	fs.mkdirSync(path.dirname(moved.path));
	fs.copyFileSync(node.path, moved.path);
	const { core } = await coreOf(moved, t);
	const root = tmp();
	fs.mkdirSync(path.join(root, path.dirname(moved.path)), { recursive: true });
	const below = path.join(root, moved.path);
	fs.renameSync(moved.path, below);

	await t.test('without it: what the core holds, and the remedy', async () => {
		assert.match(await assertReadable(core, node), /the executable is not here .*--exe FILE or --sysroot DIR/s);
		const stack = await noderay(['stack', core]);
		assert.ok([0, 4, 5].includes(stack.code), stack.stderr);
		const maps = await noderay(['maps', core]);
		assert.ok([0, 4, 5].includes(maps.code), maps.stderr);
	});
	await t.test('--exe', async () => {
		assert.equal(await assertReadable(core, node, '--exe', below), '');
		assert.equal((await noderay(['stack', '--exe', below, core])).code, 0);
	});
	await t.test('--sysroot: the program is found there, libraries are not', async () => {
		const warnings = await assertReadable(core, node, '--sysroot', root);
		assert.doesNotMatch(warnings, /the executable is not here/);
		assert.match(warnings, /librar(y|ies) could not be found/);
	});
	await t.test('--sysroot: a library of another build is not used, unless forced', async () => {
		const { stdout } = await noderay(['maps', '--json', core, '--exe', below]);
		const libc = jsonLines(stdout).map((line) => line.path).find((name) => name?.endsWith('libc.so.6'));
		fs.mkdirSync(path.join(root, path.dirname(libc)), { recursive: true });
		fs.copyFileSync(libc.replace('libc.so.6', 'libm.so.6'), path.join(root, libc));
		const warnings = await assertReadable(core, node, '--sysroot', root);
		assert.match(warnings, /1 library not used, being of another build: .*libc.so.6 has build-id/);
		assert.match(await assertReadable(core, node, '--sysroot', root, '--force'), /libc.so.6 .*used nevertheless \(--force\)/);
	});
	await t.test('wrong --exe and --sysroot', async () => {
		for (const option of ['--exe', '--sysroot']) {
			const result = await noderay(['args', option, '/nonexistent', core]);
			assert.equal(result.code, 1);
			assert.match(result.stderr, new RegExp(`${option} /nonexistent: No such file`));
		}
	});
	await t.test('as an unprivileged user', { skip: !isRoot && 'needs root to become one' }, async () => {
		const denied = await noderay(['args', core], { user: 'nobody' });
		assert.equal(denied.code, 3); // the kernel writes cores for their owner only
		fs.chmodSync(core, 0o644);
		const { code, stderr } = await noderay(['args', '--exe', below, core], { user: 'nobody' });
		assert.equal(code, 0, stderr);
	});
});

test('packed files that are no cores', async (t) => {
	const directory = tmp();
	const text = path.join(directory, 'text');
	fs.writeFileSync(text, 'hello\n'.repeat(1000));
	for (const packer of packers)
		await t.test(packer[0], async () => {
			const { code, stderr } = await noderay(['args', await pack(text, packer)]);
			assert.equal(code, 5);
			assert.match(stderr, /is not a core file/);
		});
	await t.test('damaged', async () => {
		const file = path.join(directory, 'damaged');
		fs.writeFileSync(file, Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), Buffer.alloc(100, 0x55)]));
		const { code, stderr } = await noderay(['args', file]);
		assert.equal(code, 5);
		assert.match(stderr, /cannot be unpacked/);
	});
	await t.test('no place to unpack to', async () => {
		const { code, stderr } = await noderay(['args', await pack(text, packers[0])], { env: { TMPDIR: '/nonexistent' } });
		assert.equal(code, 1);
		assert.match(stderr, /set TMPDIR/);
	});
});
