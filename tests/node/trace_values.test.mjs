// trace: what values are, wherever they are kept. SPDX-License-Identifier: MIT
//
// Each case is a script that runs in BEGIN, and what it prints. exit(0) is added.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { isRoot, noderay, tmp } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

async function run(text, options = []) {
	const file = path.join(tmp(), 'case.d');
	fs.writeFileSync(file, `${text}\nBEGIN { exit(0); }\n`);
	return noderay(['trace', '-q', ...options, '-s', file], { timeout: 120_000 });
}

function cases(title, list) {
	test(title, needsRoot, async (t) => {
		for (const [name, text, expected, options] of list)
			await t.test(name, async () => {
				const { code, stdout, stderr } = await run(text, options);
				assert.equal(stderr, '');
				assert.equal(stdout.trimEnd(), expected);
				assert.equal(code, 0);
			});
	});
}

cases('variables', [
	['globals begin as 0', 'int g; BEGIN { printf("%d", g); }', '0'],
	['this-> lives through all clauses of one firing', 'BEGIN { this->x = 3; } BEGIN { printf("%d", this->x); }', '3'],
	['self-> lives on', 'BEGIN { self->x = 4; } BEGIN { self->x += 2; } BEGIN { printf("%d", self->x); }', '6'],
	['an element that is not there is 0', 'BEGIN { a["k", 1] = 5; printf("%d %d", a["k", 1], a["k", 2]); }', '5 0'],
	['assigning 0 deletes', 'BEGIN { a[1] = 5; a[1] = 0; a[1]++; printf("%d", a[1]); }', '1'],
	['keys of one number in different types are one', 'BEGIN { a[(long)1] = 7; printf("%d", a[1]); }', '7'],
	['an array in an array', 'BEGIN { a[1] = 2; a[2] = 3; a[3] = 4; printf("%d", a[a[a[1]]]); }', '4'],
	['arrays of one shape do not meet', 'BEGIN { a[1] = 2; b[1] = 3; self->c = 4; printf("%d %d %d", a[1], b[1], self->c); }', '2 3 4'],
	['self-> arrays', 'BEGIN { self->a["x"] = 1; self->a["y"] = 2; printf("%d", self->a["x"] + self->a["y"] * 10); }', '21'],
	['narrow variables wrap', 'int8_t c; BEGIN { c = 127; c++; printf("%d", c); c -= 1; printf(" %d", c); }', '-128 127'],
	['chained assignment', 'BEGIN { x = y = z = 9; printf("%d %d %d", x, y, z); }', '9 9 9'],
	['op= reads its left side first', 'BEGIN { i = 4; i += i++; printf("%d", i); }', '8'],
	['counting is atomic and exact', 'int n; BEGIN { n++; n++; --n; n += 5; printf("%d", n); }', '6'],
]);

cases('strings', [
	['are copied', 'BEGIN { a = "one"; b = a; a = "two"; printf("%s %s", a, b); }', 'two one'],
	['in all scopes', 'BEGIN { g = "g"; this->l = "l"; self->s = "s"; a[1] = "a"; printf("%s%s%s%s", g, this->l, self->s, a[1]); }', 'glsa'],
	['are cut at strsize', 'BEGIN { s = "abcdefgh"; printf("%s", strjoin(s, "ij")); }', 'abcde', ['-x', 'strsize=5']],
	['NULL is no empty string', 'string s; BEGIN { printf("%d %d", s == NULL, s == ""); s = ""; printf(" %d %d", s == NULL, s == ""); }', '1 0 0 1'],
	['deleted elements are NULL', 'BEGIN { a[1] = "x"; a[1] = NULL; printf("%d", a[1] == NULL); }', '1'],
	['by character', 'BEGIN { s = "abc"; printf("%c%c", s[2], s[0]); }', 'ca'],
	['from their middle', 'BEGIN { s = "abc"; printf("%s", s + 1); }', 'bc'],
	['as keys, of any length', 'BEGIN { a["x"] = 1; a[strjoin("", "x")]++; printf("%d", a["x"]); }', '2'],
	['chosen by a condition', 'BEGIN { n = 1; s = n ? strjoin("ye", "s") : "no"; printf("%s", s); }', 'yes'],
	['are assigned from themselves', `BEGIN { g = "gg"; g = g; g = g + 1; this->l = "ll"; this->l = this->l; this->l = this->l + 1; self->s = "ss"; self->s = self->s; self->s = self->s + 1;
		a[1] = "aa"; a[1] = strjoin(a[1], a[1]); printf("%s%s%s%s", g, this->l, self->s, a[1]); }`, 'glsaaaa'],
	['compare as bytes', 'BEGIN { s = "b"; printf("%d%d%d%d", s < "c", s <= "b", s > "aa", s != "b"); }', '1110'],
]);

const types = 'struct inner { int a; char b; }; struct outer { struct inner i[2]; long l; int x : 3, y : 5; unsigned z : 9; };' +
	'union both { int i; char c[4]; };';
cases('structures', [
	['of all scopes', `${types} struct outer g; this struct outer l; self struct outer s;
		BEGIN { g.l = 1; this->l.l = 2; self->s.l = 3; printf("%d %d %d", g.l, this->l.l, self->s.l); }`, '1 2 3'],
	['as elements', `${types} struct outer a[int]; BEGIN { a[5].l = 7; a[5].i[1].b = 'q'; printf("%d %c %d", a[5].l, a[5].i[1].b, a[6].l); }`, '7 q 0'],
	['are copied whole', `${types} struct outer a, b; BEGIN { a.l = 5; a.i[0].a = 6; b = a; a.l = 0; printf("%d %d", b.l, b.i[0].a); }`, '5 6'],
	['copied into an array and back', `${types} struct outer a; struct outer m[int]; BEGIN { a.l = 5; m[1] = a; a.l = 0; a = m[1]; printf("%d", a.l); }`, '5'],
	['with arrays, by a number that is not known', `${types} struct outer g; BEGIN { i = 1; g.i[i].a = 11; g.i[i - 1].a = 10; printf("%d %d", g.i[0].a, g.i[1].a); }`, '10 11'],
	['bit-fields have their width and sign', `${types} struct outer g; BEGIN { g.x = 5; g.y = -1; g.z = 513; printf("%d %d %d", g.x, g.y, g.z); }`, '-3 -1 1'],
	['bit-fields leave their neighbours alone', `${types} self struct outer s; BEGIN { self->s.x = 1; self->s.y = 2; self->s.z = 3; self->s.y = 0; printf("%d %d %d", self->s.x, self->s.y, self->s.z); }`, '1 0 3'],
	['unions overlap', `${types} union both u; BEGIN { u.i = 0x64636261; printf("%c%c", u.c[0], u.c[3]); }`, 'ad'],
	['arrays of numbers', 'int a[3]; BEGIN { a[0] = 1; a[2] = 3; printf("%d%d%d", a[0], a[1], a[2]); }', '103'],
	['in scratch memory', `${types} BEGIN { p = (struct inner *)alloca(sizeof (struct inner) * 2); p[1].a = 8; p->b = 'w'; printf("%d %c", (p + 1)->a, p->b); }`, '8 w'],
	['pointers step by what they point to', `BEGIN { p = (int *)alloca(16); *p = 3; *(p + 1) = *p + 4; p[2] = p[0] * p[1]; p[3] = (*p)++; q = p; q++;
		printf("%d %d %d %d %d %d", p[0], p[1], p[2], p[3], *q, q - p); }`, '4 7 21 3 7 1'],
	['kernel structures', 'BEGIN { printf("%d", curthread->pid == tid); }', '1'],
]);

cases('aggregations', [
	['all additive functions', 'BEGIN { @c = count(); @s = sum(-3); @s = sum(5); @a = avg(1); @a = avg(4); printa("%@d ", @c); printa("%@d ", @s); printa("%@d", @a); }', '1 2 2'],
	['min and max', 'BEGIN { @l = min(3); @l = min(-4); @h = max(-9); @h = max(-2); printa("%@d ", @l); printa("%@d", @h); }', '-4 -2'],
	['standard deviation of what has squares beyond 64 bits', 'BEGIN { @ = stddev(6000000000); @ = stddev(-6000000000); printa("%@d", @); }', '6000000000'],
	['keys of several types', 'BEGIN { @[1, "a", probename] = count(); @[1, "a", probename] = count(); @[1, "b", probename] = count(); printa("%d %s %s %@d;", @); }',
		'1 b BEGIN 1;1 a BEGIN 2;'],
	['strings that are short, long, and in between', 'BEGIN { @[substr($$1, 0, 45)] = count(); @[substr($$1, 0, 46)] = count(); @[substr($$1, 0, 47)] = count(); @[substr($$1, 0, 48)] = count(); @[$$1] = count(); @[$$1] = count(); @[""] = count(); printa("%s %@d,", @); }',
		[['', 1], [45, 1], [46, 1], [47, 1], [48, 1], [60, 2]].map(([n, count]) => `${'0123456789'.repeat(6).slice(0, n || 0)} ${count},`).join(''), ['012345678901234567890123456789012345678901234567890123456789']],
	['filled together', 'BEGIN { i = 3; @n["a", i] = count(); @s["a", i] = sum(i); @x["a", i] = max(-i); @a["a", i] = avg(7); @n["a", 3] = count(); printa("%s %d %@d %@d %@d %@d", @n, @s, @x, @a); }', 'a 3 2 3 -3 7'],
	['filled together, but once', 'BEGIN { @n[1] = count(); @s[1] = sum(5); @n[2] = count(); printa("%d %@d %@d;", @n, @s); }', '2 1 0;1 1 5;'],
	['filled together, with a key that changes', 'BEGIN { @n[i++] = count(); @s[i++] = count(); @n[i] = count(); @s[i++] = count(); printa("%d %@d,", @n); printa("%d %@d,", @s); }', '0 1,2 1,1 1,2 1,'],
	['one aggregation with keys of different kinds of string', 'BEGIN { @[probename] = count(); @["BEGIN"] = count(); @[strjoin("BEG", "IN")] = count(); printa("%s %@d", @); }', 'BEGIN 3'],
	['structures as keys', `${types} struct inner s; BEGIN { s.a = 1; @[s] = count(); @[s] = count(); s.a = 2; @[s] = count(); printa("%@d ", @); }`, '1 2'],
	['a hundred of them', `BEGIN { ${Array.from({ length: 100 }, (_, i) => `@a${i}[${i}] = sum(${i});`).join(' ')} printa("%d %@d", @a99); ${Array.from({ length: 100 }, (_, i) => `trunc(@a${i});`).join(' ')} }`, '99 99'],
]);

// More keys than there is room for at hand; each comes twice, before and after those that may have its place.
const many = Array.from({ length: 150 }, (_, i) => i + 1), twice = (statement) => `BEGIN { ${many.map(statement).join('\n')} } BEGIN { ${many.map(statement).join('\n')} }`;
const doubled = (line) => many.map((n) => line(n)).join('\n');
cases('aggregations with many keys', [
	['of a number', `${twice((n) => `@[${n * n}] = sum(${n});`)} BEGIN { printa("%d %@d\\n", @); }`, doubled((n) => `${n * n} ${2 * n}`)],
	['of two numbers', `${twice((n) => `@[${n % 3}, ${n}] = sum(${n});`)} BEGIN { printa("%d %d %@d\\n", @); }`, doubled((n) => `${n % 3} ${n} ${2 * n}`)],
	['of a number and a short string', `${twice((n) => `@[7, "key ${n}"] = sum(${n});`)} BEGIN { printa("%d %s %@d\\n", @); }`, doubled((n) => `7 key ${n} ${2 * n}`)],
	['of strings, short and long', `${twice((n) => `@["${'x'.repeat(n)}"] = sum(${n});`)} BEGIN { printa("%s %@d\\n", @); }`, doubled((n) => `${'x'.repeat(n)} ${2 * n}`)],
	['that two share', `${twice((n) => `@[1, "k${n}"] = avg(${n}); @m[1, "k${n}"] = max(${n + 1});`)} BEGIN { printa("%d %s %@d %@d\\n", @, @m); }`, doubled((n) => `1 k${n} ${n} ${n + 1}`)],
]);

cases('control', [
	['logic stops where it is decided', 'BEGIN { x = 0; 0 && x++; 1 || x++; printf("%d", x); }', '0'],
	['^^', 'BEGIN { a = 1; b = 2; printf("%d %d", a ^^ b, a ^^ !b); }', '0 1'],
	['predicates', 'BEGIN /0/ { printf("no"); } BEGIN /"a" == "a"/ { printf("yes"); }', 'yes'],
	['speculations', `BEGIN { self->s = speculation(); } BEGIN { speculate(self->s); printf("held "); } BEGIN { printf("first "); } BEGIN { commit(self->s); }`, 'first held'],
	['discarded speculations', `BEGIN { self->s = speculation(); } BEGIN { speculate(self->s); printf("held "); } BEGIN { discard(self->s); } BEGIN { printf("after"); }`, 'after'],
]);

test('a clause without room for its element ends, and tells', needsRoot, async () => {
	const { stdout, stderr } = await run('BEGIN { a["x"] = 1; a["y"] = 1; printf("not seen"); } BEGIN { printf("%d", a["x"]); }', ['-x', 'dynvarsize=300']);
	assert.equal(stdout.trim(), '1');
	assert.equal(stderr, 'dtrace: 1 dynamic variable drop\n');
});

test('faults end the clause, and tell why', needsRoot, async (t) => {
	const list = [
		['division by zero', 'int zero; BEGIN { printf("a"); x = 1 / zero; }', /error in dt_clause_0 for probe ID 1 \(dtrace:::BEGIN\): divide-by-zero at BPF pc \d+/],
		['remainder by zero', 'int zero; BEGIN { x = 1 % zero; }', /divide-by-zero/],
		['a bad address', 'BEGIN { x = *(int *)0x10; }', /invalid address \(0x10\)/],
		['a NULL string', 'string s; BEGIN { printf("%s", s); }', /invalid address \(0x0\)/],
		['an index', 'int a[3]; BEGIN { i = 3; x = a[i]; }', /index out of bounds \(3\)/],
		['beyond scratch memory', 'BEGIN { p = (char *)alloca(4); p[4] = 1; }', /invalid address/],
		['too much scratch memory', 'BEGIN { n = 100000; p = alloca(n); }', /out of scratch space/],
	];
	for (const [name, text, message] of list)
		await t.test(name, async () => {
			const { code, stdout, stderr } = await run(`${text} ERROR { printf("<%d %d>", arg1, arg4 != 0); }`);
			assert.match(stderr, message);
			assert.equal(stdout.trim(), '<1 1>', stderr);
			assert.equal(code, 0);
		});
});
