// trace: what D programs print, character for character. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binary, isRoot, noderay, tmp, until } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };
const trace = (args, env = {}) => noderay(['trace', ...args], { timeout: 120_000, env: { ...process.env, TZ: 'UTC', ...env } });

/** A program of one BEGIN clause, quiet; what it prints without the newline that ends every run. */
async function begin(body, ...args) {
	const { code, stdout, stderr } = await trace(['-q', ...args, '-n', `BEGIN { ${body} exit(0); }`]);
	assert.equal(code, 0, stderr);
	return { stdout: stdout.replace(/\n$/, ''), stderr };
}
const prints = async (body, expected, ...args) => assert.equal((await begin(body, ...args)).stdout, expected);

const bars = (...rows) =>
	'\n           value  ------------- Distribution ------------- count    \n' +
	rows.map(([value, length, count]) => `${String(value).padStart(16)} |${'@'.repeat(length).padEnd(40)} ${String(count).padEnd(9)}\n`).join('');

test('printf', needsRoot, async (t) => {
	const cases = [
		['printf("%d %i %u %x %X %o\\n", -1, -1, 7, 255, 255, 8);', '-1 -1 7 ff FF 10\n'],
		['printf("[%5d|%-5d|%05d|%+d|% d|%#x]\\n", 42, 42, 42, 42, 42, 255);', '[   42|42   |00042|+42| 42|0xff]\n'],
		['printf("[%*d|%-*d|%.*s]\\n", 4, 1, 4, 2, 2, "abc");', '[   1|2   |ab]\n'],
		['printf("%c%c %s %S %%\\n", 104, 105, "text", "a\\tb");', 'hi text a\\tb\\0 %\n'],
		['printf("%hd %ld %lld %llu\\n", (short)1, (long)2, (long long)3, (unsigned long long)4);', '1 2 3 4\n'],
		['printf("%p %?x\\n", (void *)0x1234, 0x5);', '1234                5\n'],
		['printf("%Y\\n", (uint64_t)1062609821 * 1000000000);', '2003 Sep  3 17:23:41\n'],
		['printf("%T\\n", (uint64_t)1062609821 * 1000000000);', 'Wed, 03 Sep 2003 17:23:41 UTC\n'],
		['printf("%d %u\\n", (uint64_t)-1, -1);', '18446744073709551615 4294967295\n'],
	];
	for (const [body, expected] of cases) await t.test(body, () => prints(body, expected));
});

test('trace() has columns, and none when quiet', needsRoot, async () => {
	await prints('trace(-7); trace("text"); trace((char)1); trace(2ULL);', '-7text12');
	const { stdout } = await trace(['-n', 'BEGIN { trace(-7); trace("text"); trace((short)1); trace(2ULL); exit(0); }'], { _DTRACE_TESTING: '1' });
	assert.equal(stdout, '                   FUNCTION:NAME\n' +
		'                          :BEGIN          -7  text                                  1                    2\n\n');
});

test('tracemem() and rawbytes dump', needsRoot, async () => {
	const dump = '\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n' +
		'         0: 68 65 6c 6c 6f                                   hello\n';
	await prints('this->p = (char *)alloca(8); bcopy("hello", this->p, 6); tracemem(this->p, 5); tracemem(this->p, 8, 5);', dump + dump);
	await prints('trace((short)0x4241);',
		'\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n         0: 41 42                                            AB\n', '-x', 'rawbytes');
});

test('print() writes what is set, as C would', needsRoot, async () => {
	const { code, stdout, stderr } = await trace(['-q', '-n', `struct point { int x; char name[4]; struct { long a; } in; int y; };
		BEGIN { this->p = (struct point *)alloca(sizeof(struct point)); this->p->x = 3; this->p->name[0] = 'n'; this->p->in.a = -1; print(this->p); exit(0); }`]);
	assert.equal(code, 0, stderr);
	const indent = ' '.repeat(44);
	assert.equal(stdout.replace(/0x[0-9a-f]+/, 'ADDRESS'), 'ADDRESS = *\n' + [
		'(struct point) {', " .x = (int)3,", ' .name = (char [4]) [', "  (char)'n',", ' ],', ' .in = (struct) {', '  .a = (long)-1,', ' },', '}',
	].map((line) => `${indent}${line}\n`).join('') + '\n');
});

test('aggregations are dumped at the end, in the order of their values', needsRoot, async () => {
	const { stdout } = await begin(`@c["b", 2] = count(); @c["b", 2] = count(); @c["a", 1] = count();
		@s = sum(-5); @s = sum(2); @v = avg(-10); @v = avg(-5); @lo = min(-3); @lo = min(4); @hi = max(-3); @hi = max(4); @d = stddev(10); @d = stddev(20);`);
	assert.equal(stdout.replace(/^\n/, ''), [
		`  ${'a'.padEnd(50)}        1                1`, `  ${'b'.padEnd(50)}        2                2`,
		'               -3', '               -7', '               -3', '                4', '                5'].join('\n'));
});

test('histograms', needsRoot, async () => {
	await prints('@ = quantize(0); @ = quantize(5); @ = quantize(5); @ = quantize(5); printa("%@d", @);', bars([-1, 0, 0], [0, 10, 1], [1, 0, 0], [2, 0, 0], [4, 30, 3], [8, 0, 0]));
	await prints('@ = lquantize(-1, 0, 10, 5); @ = lquantize(7, 0, 10, 5); @ = lquantize(99, 0, 10, 5); @ = lquantize(99, 0, 10, 5); printa("%@d", @);',
		bars(['< 0', 10, 1], [0, 0, 0], [5, 10, 1], ['>= 10', 20, 2]));
	await prints('@ = llquantize(320, 10, 0, 5, 5, 8); printa("%@d", @);', bars([100, 0, 0], [200, 40, 8], [400, 0, 0]));
	await prints('@ = quantize(-1, -2); printa("%@d", @);',
		'\n           value  ------------- Distribution ------------- count    \n' +
		`              -2 ${' '.repeat(40)}| 0        \n              -1 ${'@'.repeat(40)}| -2       \n               0 ${' '.repeat(40)}| 0        \n`);
});

// Powers of two are found without a loop, most of them without a call: each value must be in the bin that holds it.
test('llquantize() of powers of two', needsRoot, async () => {
	for (const [low, high, steps] of [[10, 38, 16], [0, 61, 2], [6, 31, 64], [7, 32, 8], [3, 3, 4]]) {
		const edges = Array.from({ length: 62 }, (_, i) => 2n ** BigInt(i));
		const values = [...new Set([...edges.flatMap((edge) => [edge - 1n, edge, edge + 1n, edge + edge / 2n, edge + (edge * 13n) / 16n]), 0n])].filter((v) => v < 2n ** 62n);
		const { stdout } = await begin(values.map((v) => `this->v = (int64_t)${v}; @[this->v] = llquantize(this->v, 2, ${low}, ${high}, ${steps});`).join('\n') + 'printa("key %d%@d", @);');
		const got = new Map(stdout.split('key ').slice(1).map((text) => [BigInt(text.split('\n')[0]), text.match(/^ *(.*?) \|@+ +1 *$/m)?.[1]]));
		for (const value of values) {
			const power = BigInt(value.toString(2).length - 1), size = 2n ** (power + 1n) / BigInt(steps) || 1n;
			const expected = value < 2n ** BigInt(low) ? (low ? `abs() < ${2n ** BigInt(low)}` : '0') : power > BigInt(high) ? `>= ${2n ** BigInt(high + 1)}` : String(value - (value % size));
			assert.equal(got.get(value), expected, `${value} of ${low}..${high}, ${steps} steps`);
		}
	}
});

test('printa', needsRoot, async (t) => {
	const fill = '@a[1] = sum(30); @a[2] = sum(10); @a[3] = sum(20); @b[1] = sum(1); @b[4] = sum(2);';
	const cases = [
		['printa("%d=%@d ", @a);', '2=10 3=20 1=30 '],
		['printa("%d=%@d/%@d/%@d ", @a, @b);', '4=0/2/2 2=10/0/0 3=20/0/0 1=30/1/1 '],
		['printa(@a, @b);', '\n        4                0                2\n        2               10                0\n' +
			'        3               20                0\n        1               30                1\n'],
		['setopt("aggsortrev"); printa("%d ", @a);', '1 3 2 '],
		['setopt("aggsortkey"); printa("%d ", @a);', '1 2 3 '],
		['setopt("aggsortpos", "1"); printa("%d ", @a, @b);', '2 3 1 4 '],
		['normalize(@a, 10); printa("%@d ", @a); denormalize(@a); printa("%@d ", @a);', '1 2 3 10 20 30 '],
		['trunc(@a, 2); printa("%d ", @a);', '3 1 '],
		['trunc(@a, -1); printa("%d ", @a);', '2 '],
		['clear(@a); printa("%d=%@d ", @a);', '1=0 2=0 3=0 '],
	];
	for (const [body, expected] of cases) await t.test(body, () => prints(`${fill} ${body} trunc(@a); trunc(@b);`, expected));
});

test('many new keys in a burst are all there', needsRoot, async () => {
	const file = path.join(tmp(), 'burst.js');
	fs.writeFileSync(file, 'for (let i = 0; i < 30000; i++) require("fs").existsSync("/nowhere");');
	const { code, stdout, stderr } = await trace(['-q', '-n', 'syscall::access:entry /pid == $target/ { @[n++] = quantize(arg0); }', '-c', `${process.execPath} ${file}`]);
	assert.equal(code, 0, stderr);
	assert.doesNotMatch(stderr, /drop/);
	assert.ok(stdout.match(/Distribution/g).length >= 30000);
});

// Some keys have places in an array, and several want the same one: the rest is in a hash.
test('keys of one number are counted exactly, however many there are', needsRoot, async () => {
	const file = path.join(tmp(), 'keys.js');
	fs.writeFileSync(file, 'for (let i = 0; i < 5120; i++) process.umask(i % 512);');
	const { code, stdout, stderr } = await trace(['-q', '-n', `syscall::umask:entry /pid == $target/ { @n[arg0] = count(); @sum[arg0] = sum(arg0 + 1); }
		syscall::umask:entry /pid == $target/ { @most[arg0] = max(arg0); @all[pid] = count(); } END { printa("%d %@d %@d %@d\\n", @n, @sum, @most); printa("all %@d\\n", @all); }`,
	'-c', `${process.execPath} ${file}`]);
	assert.equal(code, 0, stderr);
	const rows = stdout.split('\n').filter((line) => /^\d/.test(line)).map((line) => line.split(' ').map(Number)).sort((a, b) => a[0] - b[0]);
	assert.deepEqual(rows, Array.from({ length: 512 }, (_, i) => [i, 10, (i + 1) * 10, i]));
	assert.match(stdout, /^all 5120$/m);
});

test('speculations', needsRoot, async () => {
	const { stdout } = await trace(['-q', '-n', `BEGIN { a = speculation(); b = speculation(); }
		BEGIN { speculate(a); printf("kept\\n"); } BEGIN { speculate(b); printf("lost\\n"); }
		BEGIN { printf("first\\n"); } BEGIN { commit(a); } BEGIN { discard(b); } BEGIN { exit(0); }`, '-x', 'nspec=2']);
	assert.equal(stdout, 'first\nkept\n\n');
	const none = await trace(['-q', '-n', 'BEGIN { speculation(); x = speculation(); printf("%d", x); exit(0); }', '-x', 'droptags']);
	assert.equal(none.stdout, '0\n');
	assert.match(none.stderr, /\[DTRACEDROP_SPECUNAVAIL\] 1 failed speculation \(no speculative buffer available\)/);
});

test('output goes where freopen() says, and back', needsRoot, async () => {
	const file = path.join(tmp(), 'out');
	await prints(`freopen("${file}"); printf("in the file\\n"); freopen(""); printf("outside\\n");`, 'outside\n', '-w');
	assert.equal(fs.readFileSync(file, 'utf8'), 'in the file\n');
	const { stderr } = await begin('freopen("/nowhere/at/all"); printf("still here");', '-w');
	assert.match(stderr, /error in dt_clause_0 for probe ID 1 \(dtrace:::BEGIN\): couldn't freopen\(\) "\/nowhere\/at\/all": No such file or directory/);
	const kept = path.join(tmp(), 'kept');
	await trace(['-q', '-o', kept, '-n', 'BEGIN { printf("gone\\n"); ftruncate(); printf("kept\\n"); exit(0); }']);
	assert.equal(fs.readFileSync(kept, 'utf8'), 'kept\n\n');
});

test('a fault names its clause and goes to ERROR', needsRoot, async () => {
	const { code, stdout, stderr } = await trace(['-q', '-n', 'BEGIN { printf("never"); trace(*(int *)8); } ERROR { printf("fault %d at %x", arg4, arg5); exit(3); }']);
	assert.equal(code, 3);
	assert.equal(stdout, 'fault 1 at 8\n');
	assert.match(stderr, /^dtrace: error in dt_clause_0 for probe ID 1 \(dtrace:::BEGIN\): invalid address \(0x8\) at BPF pc \d+\n$/);
});

test('options', needsRoot, async (t) => {
	const cases = [
		[['-x', 'nixon'], /failed to set -x nixon: Invalid option name/],
		[['-x', 'bufsize=-1'], /failed to set -x bufsize: Invalid value for specified option/],
		[['-x', 'bufsize=59'], /could not enable tracing: Enabling exceeds size of buffer/],
		[['-x', 'strsize=1'], /failed to set -x strsize: Invalid value for specified option/],
		[['-x', 'core'], /failed to set -x core: Option not supported: /],
	];
	for (const [args, message] of cases)
		await t.test(args[1], async () => {
			const { code, stderr } = await trace([...args, '-n', 'BEGIN { exit(0); }']);
			assert.equal(code, 1);
			assert.match(stderr, message);
		});
	await t.test('in the environment', async () => {
		const { stdout } = await trace(['-n', 'BEGIN { printf("%d", sizeof(string)); exit(0); }'], { DTRACE_OPT_QUIET: '', DTRACE_OPT_STRSIZE: '99' });
		assert.match(stdout, /99|100/);
	});
	await t.test('by pragma', async () => {
		const file = path.join(tmp(), 'pragma.d');
		fs.writeFileSync(file, '#pragma D option quiet\n#pragma D option aggsortrev\nBEGIN { @[1] = sum(1); @[2] = sum(2); printa("%d", @); exit(0); }\n');
		assert.equal((await trace(['-s', file])).stdout, '21\n');
	});
	await t.test('setopt() that cannot be', async () => {
		const { stderr } = await begin('setopt("bufsize", "1m");');
		assert.match(stderr, /couldn't set option "bufsize" to "1m": Operation illegal when tracing is active/);
	});
});

test('-F indents by the flow of calls', needsRoot, async () => {
	const file = path.join(tmp(), 'access.js');
	fs.writeFileSync(file, 'require("fs").existsSync("/nowhere");');
	const { stdout, stderr } = await trace(['-F', '-n', 'syscall::access:entry,syscall::access:return /pid == $target/ { }', '-c', `${process.execPath} ${file}`], { _DTRACE_TESTING: '1' });
	assert.match(stdout, /^FUNCTION {33}\n/, stderr);
	assert.match(stdout, /\n => access +\n <= access +\n/);
});

test('libraries of -L', needsRoot, async () => {
	const dir = path.join(tmp(), 'lib');
	fs.mkdirSync(dir);
	fs.writeFileSync(path.join(dir, 'a.d'), '#pragma D depends_on library b.d\ninline int foo = bar + 1;\n');
	fs.writeFileSync(path.join(dir, 'b.d'), 'inline int bar = 41;\n');
	fs.writeFileSync(path.join(dir, 'c.d'), '#pragma D depends_on module no_such_module\ninline int foo = 1;\n');
	await prints('trace(foo);', '42', '-L', dir);
	fs.writeFileSync(path.join(dir, 'b.d'), '#pragma D depends_on library a.d\ninline int bar = 41;\n');
	const { code, stderr } = await trace(['-L', dir, '-n', 'BEGIN { exit(0); }']);
	assert.equal(code, 1);
	assert.match(stderr, /depends on itself/);
});

test('an interrupt while the reader is slow loses nothing', needsRoot, async () => {
	const text = 'BEGIN { i = 0; } tick-1000 { printf("%d %s\\n", i++, "' + 'x'.repeat(200) + '"); }';
	const child = spawn(binary, ['trace', '-q', '-n', text], { stdio: ['ignore', 'pipe', 'pipe'] });
	let stdout = '', stderr = '';
	child.stderr.on('data', (data) => (stderr += data));
	// Nobody reads: it is held up in a write, some time.
	await until(() => /^1 0x1 /.test(fs.readFileSync(`/proc/${child.pid}/syscall`, 'utf8')), 'it does not wait for its reader');
	child.kill('SIGINT');
	await new Promise((resolve) => setTimeout(resolve, 200));
	child.stdout.on('data', (data) => (stdout += data));
	const [code, signal] = await once(child, 'close');
	assert.deepEqual([code, signal, stderr], [0, null, '']);
	const numbers = stdout.split('\n').filter((line) => line.includes('x')).map((line) => parseInt(line));
	assert.ok(numbers.length > 500, `only ${numbers.length}`);
	assert.deepEqual(numbers, numbers.map((_, i) => i));
});
