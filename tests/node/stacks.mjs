// stacks.mjs - what the tests of `noderay stack` share: running it, and checking it against a program whose calls
// are written down in its own comments. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { jsonLines, noderay } from './lib.mjs';

/** noderay stack --json TARGET ...: { threads, main, notes }. options as for noderay(). */
export async function stack(target, args = [], options) {
	const { code, stdout, stderr } = await noderay(['stack', '--json', ...args, target.pid ?? target], options);
	assert.equal(code, 0, `${stderr}${stdout}`);
	const threads = jsonLines(stdout);
	return { threads, main: threads.find((t) => t.role === 'main'), notes: stderr };
}

/** A stack as people read it, for messages. */
export const show = (thread) =>
	thread.frames.map((f) => `${f.kind} ${f.name ?? f.function} ${f.file ?? ''}:${f.line ?? ''}:${f.column ?? ''} ${f.tier ?? ''}` +
		`${f.inlined ? ' inlined' : ''}${f.exact === false ? ' definition' : ''}${f.why ? ` (${f.why})` : ''}`).join('\n') +
	`\nend: ${thread.end}`;

/** Whatever state a thread is in, this holds: no JavaScript is without a name, nothing is missing. */
export function checkWhole(thread) {
	assert.equal(thread.end, 'root', show(thread));
	assert.equal(thread.unnamed, 0, show(thread));
}

const place = (f) => `${f.file}:${f.line}:${f.column}`;

/** Every frame must be the one that V8 itself named (park.js); lines are compared where the frame claims to be exact. */
export function compare(ours, truth, { exact = true } = {}) {
	const expected = truth.filter((f) => !f.native);
	const text = ours.map((f) => `${f.name} ${place(f)} ${f.tier}${f.inlined ? ' inlined' : ''}`).join('\n');
	assert.equal(ours.length, expected.length, `${text}\n--- V8:\n${expected.map((f) => f.text).join('\n')}`);
	ours.forEach((f, i) => {
		const v8 = expected[i];
		// As V8 prints it, but for what it adds of its own: "Object.f [as g] (file)", "file:1:2".
		const want = (/^(.*?)( \[as .*?\])? \(/.exec(v8.text)?.[1] ?? '<anonymous>').replace(/^async /, '')
			.replace(/^\w+\.(?=[gs]et )/, ''); // so only in older V8
		// The receiver of an inlined function is in no frame: only the function's own name is known.
		// Older V8 calls the receiver of a static method "Function"; we name the class.
		const same = f.name === want || (f.inlined && want.endsWith(`.${f.name}`)) ||
			(want[0] === '#' && f.name.endsWith(`.${want}`)) || (/^get /.test(f.name) && want.endsWith(`.${f.name}`)) ||
			(/^(Function|Object)\./.test(want) && `.${f.name}`.endsWith(want.replace(/^\w+/, ''))) ||
			(/^Object\./.test(f.name) && f.name.slice(7) === want) ||
			// V8 drops the class before names that are no identifiers, and of objects that node makes from templates.
			(f.name === `${f.class}.${want}` && (!/^[\p{L}_$][\p{L}\w$]*$/u.test(want) || /^node:/.test(f.file)));
		assert.ok(same, `frame ${i}: ${f.name} is not ${want} (${v8.text})\n${text}`);
		if (exact) assert.equal(f.exact, true, `frame ${i} ${f.name}: only the definition is known\n${text}`);
		if (!f.exact) return;
		assert.equal(`${f.line}:${f.column}`, `${v8.line}:${v8.column}`, `frame ${i} ${f.name} (${v8.text})\n${text}`);
		if (!/^eval at/.test(v8.file)) assert.equal(f.file, v8.file);
	});
}

const header = /^(\t*)(?:.*\bfunction\*? (\w+)\(|(?:static |get )?(#?\w+|\[Symbol\.iterator\])\([^)]*\) \{|const (\w+) = \([^)]*\) => \{)/;
const noMethods = new Set(['if', 'for', 'while', 'switch', 'catch']);

// [name, first line, last line] of the functions of a program that is indented as ours are.
function functionRanges(lines) {
	const ranges = [];
	let className;
	lines.forEach((line, i) => {
		className = /^class (\w+)/.exec(line)?.[1] ?? className;
		const m = header.exec(line);
		const name = m?.[2] ?? m?.[3] ?? m?.[4];
		if (!name || noMethods.has(name)) return;
		const end = lines.findIndex((l, k) => k > i && l.startsWith(`${m[1]}}`));
		ranges.push([name === 'constructor' ? className : name, i + 1, end + 1]);
	});
	return ranges;
}

/** The call graph of a program: a comment "//> f g" says that its line calls f and g. */
export class Graph {
	constructor(file) {
		const lines = fs.readFileSync(file, 'utf8').split('\n');
		this.file = file;
		this.calls = lines.map((line) => new Set(/\/\/> (.*)$/.exec(line)?.[1].split(' ')));
		this.ranges = functionRanges(lines);
	}
	isIn(name, line) {
		// A method with a computed name is called by what it is assigned to once it is inlined.
		const names = name === 'iterable' ? ['[Symbol.iterator]'] : [name.replace(/^get /, '')];
		if (name === '<anonymous>') return this.calls[line - 1].has(name) || line === this.calls.length - 1;
		return this.ranges.some(([n, first, last]) => names.includes(n) && line >= first && line <= last);
	}
	/** Every caller calls what it is said to call, on the very line; every line is one of its function. */
	check(thread, root) {
		const mine = thread.frames.filter((f) => f.kind === 'js' && f.file === this.file);
		const all = `${thread.tid}:\n${show(thread)}`;
		assert.ok(mine.length >= 2, all);
		assert.ok(mine.some((f) => f.function === root), all);
		mine.forEach((f, i) => {
			assert.ok(this.isIn(f.function, f.line), `${f.function} has no line ${f.line}: ${all}`);
			if (i === 0) return;
			const callee = mine[i - 1].function.replace(/^get /, '');
			assert.ok(f.exact, `only the definition of ${f.function}, which calls ${callee}: ${all}`);
			assert.ok(this.calls[f.line - 1].has(callee), `${f.function}:${f.line} does not call ${callee}: ${all}`);
		});
		return mine;
	}
}
