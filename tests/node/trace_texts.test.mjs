// trace: how texts of D are read from the command line, and what is said of wrong ones. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binary, isRoot, noderay, run, tmp } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };
const trace = (...args) => noderay(['trace', ...args], { timeout: 120_000 });

/** Writes a script into a directory of its own and returns its name. */
function script(text, name = 'script.d') {
	const file = path.join(tmp(), name);
	fs.writeFileSync(file, text, { mode: 0o755 });
	return file;
}

test('an error has its tag, its line, its place and a caret', needsRoot, async () => {
	const file = script('/* one */\nBEGIN\n{\n\ttrace("äö", x +\n\t    foo);\n}\n');
	const { code, stdout, stderr } = await trace('-x', 'errtags', '-s', file);
	assert.deepEqual([code, stdout], [1, '']);
	assert.equal(stderr, `dtrace: failed to compile script ${file}: [D_IDENT_UNDEF] line 4: failed to resolve x: Unknown variable name
  at ${file}:4:16
    \ttrace("äö", x +
    \t            ^
`);
});

const wrong = [
	['BEGIN { x = 1 2; }', '[D_SYNTAX] syntax error near "2"', 15],
	['BEGIN { "abc }', '[D_SYNTAX] syntax error near """', 9],
	['BEGIN { 0128 }', '[D_INT_DIGIT] constant 0128 contains invalid digit 8', 9],
	['int pid; BEGIN {}', '[D_DECL_IDRED] built-in identifier redeclared: pid', 5],
	['struct s { struct s x; }; BEGIN {}', '[D_DECL_INCOMPLETE] incomplete struct/union/enum struct s: x', 21],
	['a:b:c:d:e', '[D_PDESC_INVAL] invalid probe description "a:b:c:d:e": Overspecified probe description', 1],
	['BEGIN { $1 }', '[D_MACRO_UNDEF] macro argument $1 is not defined', 9],
	['BEGIN { if (1) { } }', '[D_SYNTAX] syntax error near "if"', 9],
	[`BEGIN { ${'('.repeat(5000)} }`, '[D_SYNTAX] expression is nested too deeply', null],
];
for (const [text, message, column] of wrong) {
	test(`-n '${text.slice(0, 40)}'`, needsRoot, async () => {
		const { code, stderr } = await trace('-x', 'errtags', '-n', text);
		const [first, place, line, caret] = stderr.split('\n');
		assert.equal(code, 1);
		assert.equal(first, `dtrace: invalid probe specifier ${text}: ${message}`);
		if (!column) return;
		assert.match(place, new RegExp(`:1:${column}$`));
		assert.deepEqual([line, caret], [`    ${text}`, `${' '.repeat(4 + column - 1)}^`]);
	});
}

test('an error starts no command', needsRoot, async () => {
	const file = path.join(tmp(), 'started');
	const { code } = await trace('-c', `touch ${file}`, '-n', 'BEGIN { foo(); }');
	assert.equal(code, 1);
	assert.ok(!fs.existsSync(file));
});

test('arguments, in expressions, strings and descriptions', needsRoot, async () => {
	const { code, stdout } = await trace('-q', '-n', 'BEGIN, dtrace:::$3 { printf("%d %s %s\\n", $1 + 1, $$1, $2); exit(0); }', '41', 'a b', 'END');
	assert.deepEqual([code, stdout.trim()], [0, '42 41 a b\n42 41 a b']);
	const unused = await trace('-n', 'BEGIN { exit(0); }', 'more');
	assert.deepEqual([unused.code, unused.stderr],
		[1, "dtrace: invalid probe specifier BEGIN { exit(0); }: extraneous argument 'more' ($1 is not referenced)\n"]);
	const fallback = await trace('-q', '-x', 'defaultargs', '-n', 'BEGIN { printf("%d<%s>", $1, $$2); exit(0); }');
	assert.deepEqual([fallback.code, fallback.stdout.trim()], [0, '0<>']);
});

test('several texts see what the earlier have declared', needsRoot, async () => {
	const file = script('enum { TWO = 2 };\ninline int three = TWO + 1;\nint total;\nBEGIN { total = three; }\n');
	const { code, stdout } = await trace('-q', '-s', file, '-n', 'BEGIN { printf("%d %d", total, TWO); exit(0); }');
	assert.deepEqual([code, stdout.trim()], [0, '3 2']);
});

test('a script with #! runs, through a link named dtrace', needsRoot, async () => {
	const link = path.join(tmp(), 'dtrace');
	fs.symlinkSync(binary, link);
	const file = script(`#!${link} -qs\n#pragma D option strsize=4\nBEGIN { printf("%s %s", $$1, $$0); exit(0); }\n`);
	const { code, stdout } = await run(file, ['word']);
	assert.deepEqual([code, stdout.trim()], [0, `word ${file.slice(0, 4)}`]);
});

test('-C: headers of C, definitions, and the lines of errors in them', needsRoot, async (t) => {
	const header = script('typedef struct { int a; short b[3]; } pair_t;\nstatic inline int f(pair_t *p) { return p->a; }\n', 'pair.h');
	const dir = path.dirname(header);
	const file = script('#!/usr/sbin/dtrace -Cs\n#include <endian.h>\n#include <sys/types.h>\n#include "pair.h"\n' +
		'#ifdef N\nBEGIN { printf("%d %d", N, sizeof (pair_t)); exit(0); }\n#endif\n#ifdef WRONG\n=\n#endif\n');
	const good = await trace('-q', '-C', '-D', 'N=7', '-I', dir, '-s', file);
	if (/Preprocessor not found/.test(good.stderr)) return t.skip('there is no cpp');
	assert.deepEqual([good.code, good.stdout.trim(), good.stderr], [0, '7 12', '']);
	const bad = await trace('-C', '-DN=7', '-DWRONG', '-I', dir, '-s', file);
	assert.match(bad.stderr, /: line 9: syntax error near "="\n/);
	fs.appendFileSync(header, '\nint 5;\n');
	const included = await trace('-C', '-DN=7', '-I', dir, '-s', file);
	assert.match(included.stderr, /pair\.h", line 4: syntax error near "5"\n/);
	const broken = await trace('-C', '-s', script('#if\nBEGIN {}\n'));
	assert.match(broken.stderr, /Preprocessor failed to process input program\n/);
});

test('-x tree shows the program', needsRoot, async () => {
	const { code, stderr } = await trace('-x', 'tree=4', '-e', '-n', 'BEGIN { x = alloca(4); }');
	assert.equal(code, 0);
	assert.match(stderr, /^Parse tree \(Pass 3\):\n[^]*OP2 = \(type=<void \*> .*ALLOCA\)\n/);
});
