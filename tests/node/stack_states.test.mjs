// Threads in every state: blocked in the kernel, in native code without frame pointers, in the collector, in generated
// code, idle; each in a worker of one process. SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { nodes, programs, start, tmp, until } from './lib.mjs';
import { checkWhole, show, stack } from './stacks.mjs';

const file = path.join(programs, 'stacks/states.js');
const source = fs.readFileSync(file, 'utf8').split('\n');
const samples = 4;
// What else must be there: the innermost JavaScript (any, where node runs much of its own), and native functions in
// some sample.
const expected = {
	fifo: { js: /^readSync$/, native: /^(__)?read$/ },
	exec: { js: /^spawnSync$/, native: /SyncProcessRunner|epoll/ },
	pbkdf2: { js: /./, native: /PKCS5_PBKDF2_HMAC|pbkdf2/i },
	deflate: { js: /./, native: /deflate|CompressionStream/ },
	regexp: { js: /^regexp$/ },
	parse: { js: /^parse$/, native: /JsonParse/ },
	collect: { js: /^collect$/, native: /Scaveng|MarkCompact|Heap::|Sweep|GarbageCollect/ },
	wasm: { js: /^wasm$/ },
};

function checkWorker(node, thread, state) {
	checkWhole(thread);
	const js = thread.frames.filter((f) => f.kind === 'js');
	const own = js.find((f) => f.file === file && f.function === state);
	assert.ok(own, `${state}: ${show(thread)}`);
	// Older V8 does not say where in optimized code it allocates: then the definition must be marked as such.
	if (own.exact || node.major >= 20)
		assert.ok(own.exact && source[own.line - 1].endsWith(`// ${state}`), `${state} is not in line ${own.line}: ${show(thread)}`);
	assert.match(js[0].function, expected[state].js, show(thread));
	if (state === 'wasm') assert.ok(thread.frames.some((f) => f.kind === 'wasm' && f.function === 'spin'), show(thread));
}

const isInNative = (thread, state) => thread.frames.some((f) => f.kind === 'native' && expected[state].native?.test(f.function));

async function ask(port) {
	const socket = net.connect(port, '127.0.0.1');
	socket.on('error', () => {}); // it ends with the target
	socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
	return socket;
}

/** Looks until it sees what it waits for. */
async function untilSeen(look, what) {
	let last;
	await until(async () => (last = await look()).done, () => `${what}: ${show(last.thread)}`);
}

const isIdle = (main) => !main.frames.some((f) => f.kind === 'js') && main.frames.some((f) => f.function === 'uv_run');

/** A worker says that it goes to its state before it does, and the main thread that all have: until they are there. */
async function untilThere(target) {
	const { workers } = target.ready;
	const isThere = (threads) => ([state, id]) => {
		const js = threads.find((one) => one.worker === id)?.frames.filter((f) => f.kind === 'js') ?? [];
		return js.some((f) => f.function === state) && expected[state].js.test(js[0].function) &&
			js.some((f) => f.file === file && source[f.line - 1].endsWith(`// ${state}`));
	};
	await until(async () => {
		const { threads, main } = await stack(target);
		return isIdle(main) && Object.entries(workers).every(isThere(threads));
	}, 'not all threads get to their states');
}

for (const node of nodes)
	test(`node ${node.name}: every state of a thread`, async (t) => {
		const fifo = path.join(tmp(), 'fifo');
		execFileSync('mkfifo', [fifo]);
		const target = await start(node, file, { args: [fifo, ...Object.keys(expected)] });
		t.after(target.stop);
		const { workers, port } = target.ready;
		await untilThere(target);
		const tids = {};
		const open = new Set(Object.keys(expected).filter((state) => expected[state].native)); // not seen in native code yet
		const look = async (args = []) => {
			const { threads } = await stack(target, args);
			for (const [state, id] of Object.entries(workers)) {
				const thread = threads.find((one) => one.worker === id);
				if (!thread) continue;
				tids[state] = thread.tid;
				checkWorker(node, thread, state);
				if (isInNative(thread, state)) open.delete(state);
			}
			return threads;
		};
		for (let i = 0; i < samples; i++) {
			const threads = await look(i % 2 ? ['--thread', 'worker'] : []);
			assert.equal(threads.filter((one) => one.role === 'worker').length, Object.keys(workers).length);
			const main = threads.find((one) => one.role === 'main');
			assert.equal(Boolean(main), i % 2 === 0);
			if (!main) continue;
			checkWhole(main);
			assert.ok(!main.frames.some((f) => f.kind === 'js'), `idle: ${show(main)}`);
			assert.ok(main.frames.some((f) => f.function === 'uv_run'), show(main));
		}
		for (const state of open)
			await untilSeen(async () => {
				const { threads } = await stack(`${target.pid}/${tids[state]}`);
				assert.equal(threads.length, 1);
				checkWorker(node, threads[0], state);
				return { thread: threads[0], done: isInNative(threads[0], state) };
			}, `${state} never in native code`);
		const socket = await ask(port);
		t.after(() => socket.destroy());
		await untilSeen(async () => {
			const { main } = await stack(target, ['--thread', 'main']);
			checkWhole(main);
			const names = main.frames.filter((f) => f.kind === 'js').map((f) => f.name);
			return { thread: main, done: names[0] === 'spinForEver' && names[1] === 'Server.onRequest' && names[2] === 'Server.emit' };
		}, 'the request is not seen');
	});
