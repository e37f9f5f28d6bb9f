'use strict';
// Two WebAssembly modules, written out byte by byte, that call each other through JavaScript until a JavaScript
// function blocks: "named" has a name section, "plain" has only exports. The ready line carries the WebAssembly frames
// as V8 itself names them. SPDX-License-Identifier: MIT
//
// argv[2]: wait  blocks with fresh (unoptimized) code on the stack; the default
//          hot   the same after a warm-up, so that the optimizing compiler has taken over
//          stale warms up while old code is on the stack, so that replaced code still runs
//          spin  ends in an endless loop inside WebAssembly
//          deep  200 frames of recursion
const fs = require('fs');

const u = (n) => {
	const out = [];
	do out.push((n & 127) | (n > 127 ? 128 : 0));
	while ((n >>>= 7));
	return out;
};
const text = (s) => [...u(Buffer.byteLength(s)), ...Buffer.from(s)];
const vec = (items) => [...u(items.length), ...items.flat()];
const section = (id, body) => [id, ...u(body.length), ...body];
const code = (body) => {
	const whole = [0, ...body, 0x0b];
	return [...u(whole.length), ...whole];
};
const I32 = 0x7f;
const get = [0x20, 0];
const one = [0x41, 1];
const call = (f) => [0x10, ...u(f)];

function build(named) {
	const functions = [
		code([...get, ...call(0)]), // 1 leaf(n): the import
		// 2 recurse(n): n ? recurse(n - 1) + 1 : leaf(n)
		code([...get, 4, I32, ...get, ...one, 0x6b, ...call(2), ...one, 0x6a, 5, ...get, ...call(1), 0x0b]),
		code([...get, ...call(2)]), // 3 run(n)
		code([3, 0x40, 0x0c, 0, 0x0b, 0x41, 0]), // 4 spin(n): for ever
	];
	const names = ['imported_enter', 'leaf', 'récurse', 'run_it', 'spin_forever'];
	const bytes = [
		...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
		...section(1, vec([[0x60, ...vec([[I32]]), ...vec([[I32]])]])),
		...section(2, vec([[...text('env'), ...text('memory'), 2, 0, 1], [...text('env'), ...text('enter'), 0, 0]])),
		...section(3, vec(functions.map(() => [0]))),
		...section(7, vec([[...text('run'), 0, 3], [...text('spin'), 0, 4]])),
		...section(10, vec(functions)),
	];
	const name = [...section(0, text('demo')), ...section(1, vec(names.map((n, i) => [...u(i), ...text(n)])))];
	if (named) bytes.push(...section(0, [...text('name'), ...name]));
	return new WebAssembly.Module(new Uint8Array(bytes));
}

const how = process.argv[2] || 'wait';
let armed = false;

function ready() {
	Error.stackTraceLimit = Infinity;
	const frames = [...new Error().stack.matchAll(/wasm-function\[(\d+)\]:0x([0-9a-f]+)/g)];
	const wasm = frames.map((m) => ({ index: Number(m[1]), offset: parseInt(m[2], 16) }));
	fs.writeSync(1, JSON.stringify({ pid: process.pid, wasm }) + '\n');
}

function blockHere() {
	if (!armed) return 1;
	if (how === 'stale') warmUp();
	armed = true;
	ready();
	if (how === 'spin') return named.exports.spin(1);
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
	return 1;
}

function betweenModules(n) {
	return plain.exports.run(3) + n;
}

const memory = new WebAssembly.Memory({ initial: 1 });
const plain = new WebAssembly.Instance(build(false), { env: { memory, enter: blockHere } });
const named = new WebAssembly.Instance(build(true), { env: { memory, enter: betweenModules } });

function warmUp() {
	armed = false;
	const end = Date.now() + 1500;
	for (let i = 0; i < 400000 && Date.now() < end; i++) named.exports.run(2);
}

if (how === 'hot') warmUp();
armed = true;
setTimeout(() => named.exports.run(how === 'deep' ? 200 : 2), how === 'hot' ? 500 : 0);
