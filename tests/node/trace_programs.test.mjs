// trace: random programs, of all kinds of statements at all kinds of probes: the kernel takes each of them.
// SPDX-License-Identifier: MIT
//
// What they compute is other tests' business (trace_expressions, trace_values); here nothing may be refused, crash or hang. A failure
// names the seed and keeps the program in the message.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { isRoot, noderay, tmp } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

const declarations = `
struct in { int a; char b[5]; short c : 3; unsigned d : 11; };
struct out { struct in i[3]; long l; char name[20]; };
union un { int i; char c[8]; long l; };
int8_t i8; uint16_t u16; int i32; uint64_t u64; string gs; int arr[4]; struct out go; union un gu;
self struct out so; self string ss; self int si; this struct out lo; this string ls; this uint8_t lb;
struct out ma[int]; string sa[string, int]; int ia[int];
`;

function programs(seed) {
	let s = (seed * 2654435761) | 1;
	const random = () => {
		s ^= s << 13;
		s ^= s >>> 17;
		s ^= s << 5;
		return s >>> 0;
	};
	for (let i = 0; i < 5; i++) random();
	const below = (n) => random() % n, pick = (list) => list[below(list.length)], one = (list) => pick(list)();

	const simple = ['i8', 'u16', 'i32', 'u64', 'self->si', 'this->lb'].map((text) => () => text);
	const places = [...simple, () => `arr[(${number(1)}) & 3]`, () => `ia[${number(1)}]`, () => 'go.l', () => `go.i[(${number(0)}) & 1].a`,
		() => 'self->so.i[1].c', () => 'this->lo.i[2].d', () => `ma[${number(0)}].l`, () => `ma[${number(1)}].i[1].d`, () => 'gu.i', () => 'gu.c[3]',
		() => `self->so.i[(${number(0)}) & 1].b[2]`];
	const builtins = ['pid', 'tid', 'uid', 'timestamp', 'cpu', 'arg0', 'id', 'errno', 'ppid', 'epid', 'stackdepth', 'ustackdepth', 'curthread->pid',
		'curpsinfo->pr_pid', 'vtimestamp', 'walltimestamp', 'caller', 'ucaller', 'uregs[3]', 'gid'];

	function number(depth) {
		const sub = () => number(depth - 1);
		if (depth <= 0) return one([...simple, () => String(below(100000)), () => pick(builtins)]);
		return one([
			() => `(${sub()} ${pick(['+', '-', '*', '&', '|', '^', '<<', '>>'])} ${sub()})`,
			() => `(${sub()} ${pick(['/', '%'])} (${sub()} | 1))`,
			() => `(${sub()} ${pick(['==', '!=', '<', '<=', '>', '>=', '&&', '||', '^^'])} ${sub()})`,
			() => `(${sub()} ? ${sub()} : ${sub()})`,
			() => `${pick(['-', '~', '!'])}(${sub()})`,
			() => `(${pick(['int8_t', 'uint16_t', 'int', 'unsigned', 'long', 'uint64_t'])})(${sub()})`,
			() => `(${one(places)} ${pick(['=', '+=', '-=', '|=', '^=', '*='])} ${sub()})`,
			() => (below(2) ? `${one(places)}++` : `--${one(places)}`),
			() => `strlen(${text(depth - 1)})`,
			() => `(${text(depth - 1)} ${pick(['==', '!=', '<', '>='])} ${text(depth - 1)})`,
			() => `index(${text(depth - 1)}, ${text(depth - 1)})`,
			() => one(places),
			() => one([() => `progenyof(${number(0)})`, () => 'rand()', () => `ntohl(${number(0)})`, () => `rindex(${text(0)}, "a")`]),
		]);
	}
	const strings = ['gs', 'self->ss', 'this->ls', 'sa["k", 1]'];
	function text(depth) {
		const sub = () => text(depth - 1);
		if (depth <= 0)
			return pick(['"abc"', '""', '"x/y"', 'execname', 'probename', 'probefunc', '(gs == NULL ? "n" : gs)', '(self->ss != NULL ? self->ss : "m")',
				'cwd', 'stringof(go.name)']);
		return one([() => `strjoin(${sub()}, ${sub()})`, () => `substr(${sub()}, ${number(0)}, 5)`, () => `(${number(depth - 1)} ? ${sub()} : ${sub()})`,
			() => `lltostr(${number(depth - 1)})`, () => `basename(${sub()})`, () => `toupper(${sub()})`, () => `(${pick(strings)} = ${sub()})`,
			() => `dirname(cleanpath(${sub()}))`, () => text(0)]);
	}
	function statement(depth) {
		const n = () => number(depth), t = () => text(depth), keys = below(4);
		return one([
			() => `${one(places)} ${pick(['=', '+=', '='])} ${n()};`,
			() => `${pick(strings)} = ${t()};`,
			() => `printf("%d %s %x\\n", ${n()}, ${t()}, ${n()});`,
			() => `trace(${below(2) ? n() : t()});`,
			() => `@c${keys}[${[n(), t(), 'probefunc', 'execname'].slice(0, keys + 1).join(', ')}] = count();`,
			() => `@q = quantize(${n()}, ${number(0)});`,
			() => `@l[${t()}] = lquantize(${n()}, 0, 100, 5);`,
			() => `@m[${n()}, stack(2)] = stddev(${n()});`,
			() => `@x[ustack(3)] = max(${n()});`,
			() => pick(['go = self->so;', 'ma[3] = go;', 'this->lo = ma[3];', 'self->so = this->lo;', 'go = ma[u16];', 'ma[2] = 0;', 'self->si = 0;', 'sa["k", 1] = 0;']),
			() => `tracemem(curthread, 32, ${n()});`,
			() => `this->p = (char *)alloca(16); this->p[${number(0)} & 15] = ${number(0)};`,
			() => pick(['print(&go.l);', 'usym(ucaller);', 'stack(2);', 'ustack(2);']),
		]);
	}
	const probes = ['BEGIN', 'BEGIN', 'profile-199', 'syscall:::entry', 'syscall:::return', 'tick-20ms', 'sched:::off-cpu', 'proc:::exit', 'END'];
	const clauses = Array.from({ length: 1 + below(5) }, () => {
		const body = Array.from({ length: 1 + below(5) }, () => statement(1 + below(4)));
		return `${pick(probes)} ${below(3) ? '' : `/${number(2)}/ `}{ ${body.join(' ')} }`;
	});
	return `${declarations}${clauses.join('\n')}\ntick-50ms { exit(0); }\nERROR { faults++; }\n`;
}

test('the kernel takes every program', needsRoot, async () => {
	for (let seed = 1; seed <= 20; seed++) {
		const file = path.join(tmp(), 'program.d');
		const program = programs(seed);
		fs.writeFileSync(file, program);
		const { code, stderr } = await noderay(['trace', '-q', '-o', '/dev/null', '-s', file], { timeout: 120_000 });
		assert.equal(code, 0, `seed ${seed}: ${stderr}\n${program}`);
		assert.doesNotMatch(stderr, /verifier|internal/, `seed ${seed}: ${program}`);
	}
});
