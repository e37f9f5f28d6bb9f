// packed.mjs - profiles made up for tests of the report, packed as src/profile/pack.h says. SPDX-License-Identifier: MIT
//
//   const p = new Fake({ title: 'node app.js', period: 10_000_000 });
//   p.sample(0, ['main', 'work'], { time: 5e6 });
//   fs.writeFileSync(file, p.into(html));        the page of another report, with this profile in it
//
// A second writer of that format, so that the C one and the page's reader are held against something that is neither.
import zlib from 'node:zlib';

const KINDS = ['js', 'package', 'node', 'wasm', 'builtin', 'native', 'gc', 'compiler', 'kernel', 'idle', 'unknown'];

class Numbers {
	constructor() {
		this.bytes = [];
	}

	put(value) {
		let rest = value;
		for (; rest > 127; rest = Math.floor(rest / 128)) this.bytes.push((rest % 128) | 128);
		this.bytes.push(rest);
	}

	signed(value) {
		this.put(value < 0 ? -2 * value - 1 : 2 * value);
	}

	column(rows, pick) {
		for (const row of rows) this.put(pick(row));
	}

	differences(rows, pick) {
		let last = 0;
		for (const row of rows) {
			this.signed(pick(row) - last);
			last = pick(row);
		}
	}
}

export class Fake {
	constructor(head = {}) {
		this.head = { title: 'fake', event: 'on-CPU, 99 Hz', unit: 0, period: 0, duration: 0, hasTimes: true, ...head };
		this.texts = new Map();
		this.functions = new Map(); // name -> { number, ... }
		this.frames = new Map(); // of the function's number and the line
		this.nodes = new Map();
		this.nodeList = [];
		this.threads = [];
		this.samples = [];
	}

	text(text = '') {
		if (!this.texts.has(text)) this.texts.set(text, this.texts.size);
		return this.texts.get(text);
	}

	/** Says what a function is before it is used; without, it is the program's own. */
	define(name, { kind = 'js', file = '/app/server.js', line = 1, column = 1, package: of = '' } = {}) {
		const known = this.functions.get(name);
		if (known) return known;
		const made = { number: this.functions.size + 1, kind: KINDS.indexOf(kind), name: this.text(name), file: this.text(file), line, column, package: this.text(of) };
		this.functions.set(name, made);
		return made;
	}

	thread(name, tid = 100 + this.threads.length, pid = 100) {
		this.threads.push({ pid, tid, name: this.text(name), process: this.text('node app.js') });
		return this.threads.length - 1;
	}

	/** call: a function's name, or [name, line that ran]; a negative line: inlined. */
	frame(call) {
		const [name, line] = Array.isArray(call) ? call : [call, 0];
		const fn = this.define(name);
		const key = fn.number * 2 ** 26 + line;
		if (!this.frames.has(key)) this.frames.set(key, { number: this.frames.size + 1, fn: fn.number, line });
		return this.frames.get(key).number;
	}

	/** stack: the outermost first. */
	sample(thread, stack, { time = this.samples.length * this.head.period, weight = 1 } = {}) {
		let node = 0;
		for (const call of stack) {
			const frame = this.frame(call);
			const key = node * 2 ** 26 + frame;
			let next = this.nodes.get(key);
			if (!next) {
				this.nodeList.push({ parent: node, frame });
				this.nodes.set(key, (next = this.nodeList.length));
			}
			node = next;
		}
		this.samples.push({ time, node, thread, weight });
	}

	packed() {
		const n = new Numbers();
		const { head } = this;
		const kinds = KINDS.map((kind) => this.text(kind));
		const titles = [head.title, head.event, head.command, head.host, head.nodeVersion, head.beforeTitle].map((text) => this.text(text));
		n.put(kinds.length);
		n.column(kinds, (kind) => kind);
		n.put(15);
		for (const value of [...titles, head.unit, head.start ?? 0, head.duration, head.period, head.hasTimes ? 1 : 0, head.lost ?? 0, head.cut ?? 0,
			head.unnamed ?? 0, head.beforeThreads ?? 0]) n.put(value);
		this.putFunctions(n);
		this.putTree(n);
		this.putSamples(n);
		const texts = new Numbers();
		const bytes = [...this.texts.keys()].map((text) => Buffer.from(text));
		texts.put(bytes.length);
		texts.column(bytes, (text) => text.length);
		return zlib.deflateSync(Buffer.concat([Buffer.from('noderay-profile 1\n'), Buffer.from(texts.bytes), ...bytes, Buffer.from(n.bytes)])).toString('base64');
	}

	putFunctions(n) {
		const functions = [...this.functions.values()];
		n.put(functions.length);
		for (const key of ['kind', 'name', 'file', 'line', 'column', 'package']) n.column(functions, (fn) => fn[key]);
	}

	putTree(n) {
		const frames = [...this.frames.values()];
		n.put(frames.length);
		n.differences(frames, (frame) => frame.fn);
		n.column(frames, (frame) => Math.abs(frame.line));
		n.column(frames, () => 0);
		n.column(frames, (frame) => (frame.line < 0 ? 1 : 0));
		n.put(this.nodeList.length);
		this.nodeList.forEach((node, i) => n.put(i + 1 - node.parent));
		n.column(this.nodeList, (node) => node.frame);
	}

	putSamples(n) {
		n.put(this.threads.length);
		for (const key of ['pid', 'tid', 'name', 'process']) n.column(this.threads, (thread) => thread[key]);
		n.put(this.samples.length);
		n.differences(this.samples, (sample) => sample.time);
		n.differences(this.samples, (sample) => sample.node);
		n.column(this.samples, (sample) => sample.thread);
		for (const { weight } of this.samples) n.signed(weight);
		n.column(this.samples, () => 1);
	}

	/** html: any report; its profile is replaced by this one. */
	into(html) {
		return html.replace(/("application\/x-noderay-profile">)[^<]*/, (_, tag) => `${tag}\n${this.packed()}\n`);
	}
}

class Columns {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	take() {
		let value = 0, scale = 1;
		for (;; scale *= 128) {
			const byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
			if (byte < 128) return value;
		}
	}

	signed() {
		const value = this.take();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}

	list(n = this.take()) {
		return Array.from({ length: n }, () => this.take());
	}

	differences(n) {
		let last = 0;
		return Array.from({ length: n }, () => (last += this.signed()));
	}

	/** Rows of so many columns, which are named. */
	rows(names, n = this.take(), differences = []) {
		const columns = names.map((name) => (differences.includes(name) ? this.differences(n) : this.list(n)));
		return Array.from({ length: n }, (_, i) => Object.fromEntries(names.map((name, k) => [name, columns[k][i]])));
	}

	texts() {
		return this.list().map((length) => this.bytes.toString('utf8', this.at, (this.at += length)));
	}
}

/** The profile of a report: { threads, samples }; a sample has its thread, weight and frames, the innermost first, each with
 *  kind, name, file, where the function begins (beginLine), the line that ran (0: not known) and isInlined. */
export function unpack(html) {
	const [, packed] = /"application\/x-noderay-profile">([^<]*)/.exec(html);
	const bytes = zlib.inflateSync(Buffer.from(packed, 'base64')), magic = 'noderay-profile 1\n';
	if (!bytes.toString('utf8', 0, magic.length).startsWith(magic)) throw new Error('no packed profile');
	const c = new Columns(bytes.subarray(magic.length)), texts = c.texts(), kinds = c.list().map((i) => texts[i]);
	c.list(); // the head
	const functions = c.rows(['kind', 'name', 'file', 'line', 'column', 'package']);
	const frames = c.rows(['fn', 'line', 'column', 'inlined'], undefined, ['fn']).map(({ fn, line, column, inlined }) => {
		const f = functions[fn - 1];
		return { kind: kinds[f.kind], name: texts[f.name], file: texts[f.file], package: texts[f.package], beginLine: f.line, line, column, isInlined: inlined === 1 };
	});
	const nodes = c.rows(['up', 'frame']).map(({ up, frame }, i) => ({ parent: i + 1 - up, frame: frames[frame - 1] }));
	const threads = c.rows(['pid', 'tid', 'name', 'process']).map((t) => ({ ...t, name: texts[t.name], process: texts[t.process] }));
	const n = c.take(), times = c.differences(n), ends = c.differences(n), owners = c.list(n), weights = Array.from({ length: n }, () => c.signed());
	const stackOf = (node) => {
		const stack = [];
		for (let at = node; at; at = nodes[at - 1].parent) stack.push(nodes[at - 1].frame);
		return stack;
	};
	return { threads, samples: ends.map((node, i) => ({ time: times[i], thread: threads[owners[i]], weight: weights[i], frames: stackOf(node) })) };
}
