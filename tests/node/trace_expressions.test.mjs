// trace: random expressions, computed in the kernel and here. SPDX-License-Identifier: MIT
//
// The same seed gives the same expressions; a failure names the seed and the expression. Every expression holds a variable, so
// that nothing is computed by the compiler.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { isRoot, noderay, tmp } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

function generator(seed) {
	let s = BigInt(seed) * 0x9e3779b97f4a7c15n & (2n ** 64n - 1n) | 1n;
	const next = () => {
		s ^= s << 13n & (2n ** 64n - 1n);
		s ^= s >> 7n;
		s ^= s << 17n & (2n ** 64n - 1n);
		return s;
	};
	const below = (n) => Number(next() >> 11n) % n;
	return { next, below, pick: (list) => list[below(list.length)] };
}

// ------------------------------------------------------------------------------- integers

const types = [8, 16, 32, 64].flatMap((bits) => [
	{ name: `int${bits}_t`, bits, signed: true },
	{ name: `uint${bits}_t`, bits, signed: false },
]);
const int = types.find((t) => t.name === 'int32_t');
const fit = (value, t) => (t.signed ? BigInt.asIntN(t.bits, value) : BigInt.asUintN(t.bits, value));
const promote = (t) => (t.bits < 32 ? int : t);
function common(a, b) {
	[a, b] = [promote(a), promote(b)];
	if (a.bits !== b.bits) return a.bits > b.bits ? a : b;
	return a.signed ? b : a;
}

const arithmetic = {
	'+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b, '%': (a, b) => a % b,
	'&': (a, b) => a & b, '|': (a, b) => a | b, '^': (a, b) => a ^ b,
};
const comparison = {
	'==': (a, b) => a === b, '!=': (a, b) => a !== b, '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b,
};
const edges = [0n, 1n, 2n, 10n, 0x7fn, 0x80n, 0xffn, 0x7fffn, 0x8000n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n];

function integers(r, count) {
	const variables = types.flatMap((type, i) =>
		['g', 'this->l', 'self->s'].map((scope) => ({ text: `${scope}${i}`, type, scope })));
	for (const v of variables) v.value = fit(r.below(3) ? r.pick(edges) : r.next(), v.type);
	const leaf = () => r.pick(variables);
	const constant = () => ({ text: String(r.below(1000)), type: int, get value() { return BigInt(this.text); } });
	const operand = (depth) => (r.below(6) ? make(depth) : constant());
	function binary(depth) {
		const op = r.pick(Object.keys(arithmetic));
		const a = make(depth), b = op === '/' || op === '%' ? wrap(make(depth)) : operand(depth);
		const type = common(a.type, b.type);
		return { text: `(${a.text} ${op} ${b.text})`, type, value: fit(arithmetic[op](fit(a.value, type), fit(b.value, type)), type) };
	}
	// Never 0.
	const wrap = (e) => ({ text: `(${e.text} | 1)`, type: promote(e.type), value: fit(e.value, promote(e.type)) | 1n });
	function shift(depth) {
		const a = make(depth), b = make(depth), type = promote(a.type);
		const by = BigInt.asUintN(64, b.value) & BigInt(type.bits - 1), left = r.below(2);
		const value = fit(a.value, type);
		return { text: `(${a.text} ${left ? '<<' : '>>'} (${b.text} & ${type.bits - 1}))`, type, value: fit(left ? value << by : value >> by, type) };
	}
	function truth(depth) {
		const op = r.pick([...Object.keys(comparison), '&&', '||', '^^']);
		const a = make(depth), b = operand(depth), type = common(a.type, b.type);
		const value = op === '&&' ? a.value && b.value : op === '||' ? a.value || b.value : op === '^^' ? !a.value !== !b.value :
			comparison[op](fit(a.value, type), fit(b.value, type));
		return { text: `(${a.text} ${op} ${b.text})`, type: int, value: value ? 1n : 0n };
	}
	function make(depth) {
		if (depth <= 0) return leaf();
		switch (r.below(8)) {
		case 0: {
			const a = make(depth - 1), type = promote(a.type), op = r.pick(['-', '~']);
			return { text: `${op}(${a.text})`, type, value: fit(op === '-' ? -a.value : ~a.value, type) };
		}
		case 1: {
			const a = make(depth - 1), type = r.pick(types);
			return { text: `(${type.name})(${a.text})`, type, value: fit(a.value, type) };
		}
		case 2: {
			const c = truth(depth - 1), a = make(depth - 1), b = make(depth - 1), type = common(a.type, b.type);
			const same = a.type === b.type ? a.type : type;
			return { text: `(${c.text} ? ${a.text} : ${b.text})`, type: same, value: fit(c.value ? a.value : b.value, same) };
		}
		case 3: return truth(depth - 1);
		case 4: return shift(depth - 1);
		case 5: {
			const a = make(depth - 1);
			return { text: `!(${a.text})`, type: int, value: a.value ? 0n : 1n };
		}
		default: return binary(depth - 1);
		}
	}
	const expressions = Array.from({ length: count }, () => make(1 + r.below(4)));
	const declared = variables.map((v) => v.scope === 'g' ? `${v.type.name} ${v.text};` :
		`${v.scope.startsWith('self') ? 'self' : 'this'} ${v.type.name} ${v.text.replace(/.*->/, '')};`);
	const assigned = variables.map((v) => `\t${v.text} = (${v.type.name})${BigInt.asUintN(64, v.value)}ull;`);
	const shown = expressions.map((e) => `\tprintf("%d\\n", (int64_t)(${e.text}));`);
	return { declared, assigned, shown, texts: expressions.map((e) => e.text), expected: expressions.map((e) => String(BigInt.asIntN(64, e.value))) };
}

// ------------------------------------------------------------------------------- strings

function strings(r, count) {
	const letters = 'abcAB/. ';
	const word = () => Array.from({ length: r.below(12) }, () => letters[r.below(letters.length)]).join('');
	const variables = ['g0', 'g1', 'this->l0', 'this->l1', 'self->s0', 'self->s1'].map((text) => ({ text, value: word() }));
	const text = (depth) => {
		if (depth <= 0) return r.below(3) ? r.pick(variables) : (() => { const w = word(); return { text: JSON.stringify(w), value: w }; })();
		const a = text(depth - 1);
		switch (r.below(6)) {
		case 0: {
			const at = r.below(6), length = r.below(6);
			return { text: `substr(${a.text}, ${at}, ${length})`, value: a.value.substr(at, length) };
		}
		case 1: return { text: `toupper(${a.text})`, value: a.value.toUpperCase() };
		case 2: return { text: `strip(${a.text})`, value: a.value.trim() };
		case 3: {
			const n = number(depth - 1);
			return { text: `lltostr(${n.text})`, value: String(n.value) };
		}
		default: {
			const b = text(depth - 1);
			return { text: `strjoin(${a.text}, ${b.text})`, value: (a.value + b.value).slice(0, 256) };
		}
		}
	};
	const number = (depth) => {
		const a = text(depth), b = text(0);
		switch (r.below(4)) {
		case 0: return { text: `strlen(${a.text})`, value: a.value.length };
		case 1: return { text: `index(${a.text}, ${b.text})`, value: a.value.indexOf(b.value) };
		case 2: return { text: `rindex(${a.text}, ${b.text})`, value: a.value.lastIndexOf(b.value) };
		default: {
			const op = r.pick(Object.keys(comparison));
			return { text: `(${a.text} ${op} ${b.text} ? 1 : 0)`, value: comparison[op](a.value, b.value) ? 1 : 0 };
		}
		}
	};
	const expressions = Array.from({ length: count }, () => (r.below(2) ? text(1 + r.below(3)) : number(r.below(3))));
	const declared = variables.map((v) => v.text.startsWith('g') ? `string ${v.text};` :
		`${v.text.startsWith('self') ? 'self' : 'this'} string ${v.text.replace(/.*->/, '')};`);
	const assigned = variables.map((v) => `\t${v.text} = ${JSON.stringify(v.value)};`);
	const shown = expressions.map((e) => `\tprintf("${typeof e.value === 'string' ? '<%s>' : '<%d>'}\\n", ${e.text});`);
	return { declared, assigned, shown, texts: expressions.map((e) => e.text), expected: expressions.map((e) => `<${e.value}>`) };
}

async function compare(make, seed, count) {
	const { declared, assigned, shown, texts, expected } = make(generator(seed), count);
	const file = path.join(tmp(), 'expressions.d');
	const clauses = shown.map((line) => `BEGIN\n{\n${line}\n}\n`).join('');
	fs.writeFileSync(file, `${declared.join('\n')}\nBEGIN\n{\n${assigned.join('\n')}\n}\n${clauses}BEGIN { exit(0); }\n`);
	const { code, stdout, stderr } = await noderay(['trace', '-qs', file], { timeout: 120_000 });
	assert.equal(code, 0, `seed ${seed}: ${stderr}`);
	const lines = stdout.split('\n');
	for (let i = 0; i < texts.length; i++) assert.equal(lines[i], expected[i], `seed ${seed}: ${texts[i]}`);
}

test('integer expressions are computed as C computes them', needsRoot, async () => {
	for (let seed = 1; seed <= 8; seed++) await compare(integers, seed, 40);
});

test('string expressions are what they are in JavaScript', needsRoot, async () => {
	for (let seed = 1; seed <= 4; seed++) await compare(strings, seed, 25);
});
