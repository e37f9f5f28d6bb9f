// What the options of `noderay stack` show, as the user who owns the process. SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { binary, crash, isRoot, jsonLines, noKernelCores, nodes, noderay, run, start, startStill, takeCore, tmp, until } from './lib.mjs';
import { checkWhole, show, stack } from './stacks.mjs';

const user = isRoot ? 'nobody' : undefined;
const kernelCores = noKernelCores();

const values = {
	handle: ['"x"', '#<Object>'],
	numbers: ['1', '-1', '0', '-0', '1.5', '0.1', 'NaN', '-Infinity', '1e+300', '3000000000', '2147483647', '5e-324'],
	strings: ['"plain"', '"tab\\tnl\\nesc\\x1b[31m\\x00"', `"${'x'.repeat(40)}..."`, '"ünï 漢字 🐍"', '""', '"say \\"hi\\""'],
	specials: ['undefined', 'null', 'true', 'false', 'Symbol(tag)', 'Symbol()', 'Symbol(Symbol.iterator)', '12345678901234567890n', '-5n', '0n',
		'0x100...n (201 bits)'],
	objects: ['#<Object>', 'Array(3)', 'Array(1000)', '#<Server>', '#<Map>', '#<Set>', '#<Date>', '#<RegExp>', '#<Error>'],
	more: ['#<Proxy>', '#<Uint8Array(7)>', '#<Float64Array(3)>', '#<Buffer(2)>', '#<ArrayBuffer>', '#<Promise>', '#<Map>', '#<Late>'],
	functions: ['function named', 'function Klass', 'function max', 'function later', 'function gen', 'function'],
	few: ['1'],
	many: ['1', '2', '3', '4', '5'],
	rest: ['1', '2', '3'],
	spread: ['1', '2', '"x"', '"y"'],
	reflected: ['"r"'],
	forty: Array.from({ length: 40 }, (_, i) => String(i)),
	none: [],
};

function checkValues(frames) {
	for (const [name, expected] of Object.entries(values)) {
		const frame = frames.find((f) => f.function === name);
		assert.ok(frame, name);
		assert.deepEqual(frame.arguments, expected, name);
		assert.equal(frame.argc, expected.length, name);
		assert.equal(frame.this, { handle: '#<Server>', numbers: '#<Server>', reflected: '#<Number>' }[name] ?? 'undefined', name);
	}
}

const text = async (target, ...args) => {
	const { code, stdout, stderr } = await noderay(['stack', ...args, target], { user });
	assert.equal(code, 0, stderr);
	return stdout;
};
const kinds = (output) => new Set(output.match(/^ +\d+ (c|js|v8|wasm) /gm)?.map((line) => line.trim().split(/ +/)[1]));

for (const node of nodes) {
	test(`node ${node.name}: arguments, source, kinds of frames`, async (t) => {
		const target = await startStill(node, 'stacks/args.js', { user });
		t.after(target.stop);

		await t.test('-a, live', async () => checkValues((await stack(target, ['-a', '--thread', 'main'], { user })).main.frames));
		await t.test('-a, from a core', async () => checkValues((await stack(await takeCore(target, { user }), ['-a'], { user })).main.frames));
		await t.test('-a as text: a line more for a frame, at most 16 values', async () => {
			const out = await text(target.pid, '-a', '--thread', 'main');
			assert.match(out, /js +few \(.*\n +this: undefined  arguments: 1\n/);
			assert.match(out, /js +none \(.*\n +this: undefined  arguments: none\n/);
			assert.match(out, /js +forty \(.*\n +this: undefined  arguments: 0, 1, .* 15, \.\.\. 24 more\n/);
			assert.ok(!/[\0-\x08\x0b-\x1f]/.test(out), 'control characters');
		});
		await t.test('-s: the line, marked, and those around it', async () => {
			const lines = fs.readFileSync(target.file, 'utf8').split('\n');
			const frame = (await stack(target, ['-s', '--thread', 'main'], { user })).main.frames.find((f) => f.function === 'many');
			assert.deepEqual(frame.source.map((s) => s.line), [-2, -1, 0, 1, 2].map((d) => frame.line + d));
			for (const { line, text: shown } of frame.source) assert.equal(shown.trim(), lines[line - 1].trim());
			const out = await text(target.pid, '-s', '--thread', 'main');
			assert.match(out, new RegExp(`js +many .*\\n.*\\n.*\\n +> +${frame.line} +return rest\\(1, 2, 3\\);\\n`));
		});
		await t.test('--js, --native, -v', async () => {
			assert.deepEqual(kinds(await text(target.pid, '--thread', 'main')), new Set(['c', 'js']));
			assert.deepEqual(kinds(await text(target.pid, '--js')), new Set(['js']));
			assert.deepEqual(kinds(await text(target.pid, '--native')), new Set(['c']));
			const verbose = await text(target.pid, '-v', '--thread', 'main');
			assert.deepEqual(kinds(verbose), new Set(['c', 'js', 'v8']));
			for (const line of verbose.match(/^ +\d+ (c|js|v8) .*/gm)) assert.match(line, /^ +\d+ \w+ +[0-9a-f]{16} /);
			if (node.name !== 'debian') assert.match(verbose, / v8 .*(JSEntryTrampoline|CEntry)/); // stripped: no names
		});
		await t.test('-n: the two ends of a stack', async () => {
			const out = await text(target.pid, '-n', '8', '--thread', 'main');
			assert.equal(out.match(/^ +\d+ (c|js) /gm).length, 8, out);
			assert.match(out, /\.\.\. \d+ frames left out/);
			const all = (await stack(target, ['--thread', 'main'], { user })).main;
			assert.match(out.trim().split('\n').at(-1), new RegExp(`^ *${all.frames.length - 1} c `));
			const { main } = await stack(target, ['-n', '5', '--thread', 'main'], { user });
			assert.equal(main.frames.length, 5);
			assert.equal(main.left_out, all.frames.length - 5);
		});
		await t.test('--nonblocking: never stopped, and whole', async () => {
			const { threads, notes } = await stack(target, ['--nonblocking', '-a'], { user });
			assert.match(notes, /not paused; 0 threads torn/);
			assert.doesNotMatch(notes, /paused for/);
			const main = threads.find((one) => one.role === 'main');
			checkWhole(main);
			checkValues(main.frames);
		});
	});
}

const node = nodes.find((n) => n.major === 24) ?? nodes[0];

test('--nonblocking makes no ptrace call, not for a running thread either', async (t) => {
	const target = await start(node, 'stacks/busy.js', { user });
	t.after(target.stop);
	const log = path.join(tmp(), 'strace');
	const args = ['-f', '-qq', '-o', log, '-e', 'trace=ptrace,kill,tgkill,process_vm_writev', binary, 'stack', '--json', '--nonblocking', target.pid];
	let main;
	await until(async () => {
		const { code, stdout, stderr } = await run('/usr/bin/strace', args, { user });
		assert.equal(code, 0, stderr);
		assert.equal(fs.readFileSync(log, 'utf8'), '');
		assert.match(stderr, /not paused/);
		main = jsonLines(stdout).find((one) => one.role === 'main');
		return main.state === 'R'; // not while it waits for the collector's helpers
	}, 'it is never seen running');
	assert.ok(main.torn || main.note || main.frames.some((f) => f.function === 'forever'), show(main));
});

test('every way to name a target', async (t) => {
	const target = await startStill(node, 'stacks/args.js', { user });
	t.after(target.stop);
	const names = async (...args) => {
		const { code, stdout, stderr } = await noderay(['stack', '--json', ...args], { user });
		assert.equal(code, 0, stderr);
		return jsonLines(stdout);
	};
	const all = await names(target.pid);
	assert.ok(all.length > 1);
	for (const way of [[`/proc/${target.pid}`], ['-p', target.pid], ['--pid', target.pid], [`-p${target.pid}`]])
		assert.deepEqual((await names(...way)).map((one) => one.tid), all.map((one) => one.tid), way.join(' '));
	const other = all[1].tid;
	for (const way of [[`${target.pid}/${other}`], ['--thread', other, target.pid]])
		assert.deepEqual((await names(...way)).map((one) => one.tid), [other], way.join(' '));
	assert.deepEqual((await names('--thread', `main,${other}`, target.pid)).map((one) => one.tid), [target.pid, other]);
	const link = path.join(tmp(), 'pstack');
	fs.symlinkSync(binary, link);
	const { code, stdout } = await run(link, ['--js', target.pid]);
	assert.equal(code, 0);
	assert.match(stdout, /js +many \(/);
	assert.doesNotMatch(stdout, /platform worker/, 'a thread without JavaScript is left out by --js');
});

test('wrong arguments', async (t) => {
	const target = await startStill(node, 'stacks/args.js', { user });
	t.after(target.stop);
	const wrong = [
		[2, /no kind of thread is 'bogus'/, '--thread', 'bogus', target.pid],
		[1, /no thread is 'worker'/, '--thread', 'worker', target.pid],
		[1, /has no thread 1\b/, `${target.pid}/1`],
		[1, /no such process/, '99999999'],
		[2, /exclude each other/, '--js', '--native', target.pid],
		[2, /needs a number/, '-n', 'many', target.pid],
		[2, /two targets/, '-p', target.pid, target.pid],
		[2, /unknown option|no option/, '--frobnicate', target.pid],
		[5, /not a regular file/, '/dev/null'],
		[5, /not a core file/, '/etc/passwd'],
	];
	for (const [expected, message, ...args] of wrong) {
		const { code, stdout, stderr } = await noderay(['stack', ...args], { user });
		assert.equal(code, expected, `${args}: ${stderr}`);
		assert.match(stderr, message);
		assert.equal(stdout, '');
	}
});

test('80 columns on a terminal: paths keep their lines', async (t) => {
	const long = path.join(tmp(), 'a-directory-with-a-long-name'.repeat(4));
	fs.mkdirSync(long);
	const file = path.join(long, 'program.js');
	fs.writeFileSync(file, `require(${JSON.stringify(path.join(import.meta.dirname, 'programs/stacks/park.js'))}).park(true);\n`);
	const target = await startStill(node, file);
	t.after(target.stop);
	const command = `stty cols 80; ${binary} stack -as ${target.pid}`;
	const { stdout, code } = await run('/usr/bin/script', ['-qec', command, '/dev/null'], { env: { TERM: 'xterm' } });
	assert.equal(code, 0);
	const lines = stdout.replaceAll('\r', '').split('\n');
	for (const line of lines) assert.ok([...line].length <= 80, line);
	assert.ok(lines.some((line) => /program\.js:1:\d+\)/.test(line)), stdout);
	const piped = await noderay(['stack', target.pid]);
	assert.ok(piped.stdout.includes(`(${file}:1:`), 'in a pipe nothing is cut');
});

test('in other namespaces and below another root', { skip: !isRoot && 'needs root' }, async (t) => {
	const root = tmp();
	for (const d of ['lib', 'lib64', 'usr', 'opt', 'proc', 'dev']) fs.mkdirSync(path.join(root, d));
	fs.copyFileSync(node.path, path.join(root, 'opt/engine'));
	fs.chmodSync(path.join(root, 'opt/engine'), 0o755);
	fs.writeFileSync(path.join(root, 'opt/program.js'), 'function inner() { for (;;); }\nfunction outer() {\n\tinner();\n}\nconsole.log("{}");\nouter();\n');
	const mounts = ['lib', 'lib64', 'usr', 'dev'].map((d) => `mount --rbind /${d} ${root}/${d}`).join(' && ');
	// A node of another file system, in another pid namespace; its first line tells that it runs.
	const shell = { ...node, path: '/usr/bin/unshare' };
	const target = await start(shell, '/bin/true', {
		flags: ['-pfm', '--kill-child', '--mount-proc', '/bin/sh', '-c', `${mounts} && exec chroot ${root} /opt/engine /opt/program.js`],
	});
	t.after(target.stop);
	const children = fs.readFileSync(`/proc/${target.pid}/task/${target.pid}/children`, 'utf8').trim();
	let main, own;
	await until(async () => {
		({ main } = await stack(children, ['--thread', 'main']));
		checkWhole(main);
		own = main.frames.filter((f) => f.file === '/opt/program.js');
		return own[0].function === 'inner'; // it has printed its line before that
	}, () => show(main));
	assert.deepEqual(own.map((f) => `${f.function}:${f.line}`), ['inner:1', 'outer:3', '<anonymous>:6']);
	assert.ok(main.frames.some((f) => f.function === 'node::Start'), show(main));
});

test('cores of the kernel and of gdb', { skip: kernelCores }, async (t) => {
	const cwd = tmp();
	const target = await startStill(node, 'stacks/args.js', { cwd });
	t.after(target.stop);
	checkValues((await stack(await takeCore(target, { by: 'gdb' }), ['-a'])).main.frames);
	const core = await crash(target, cwd);
	const { main } = await stack(core, ['-a']);
	checkValues(main.frames);
	checkWhole(main);
	assert.match((await noderay(['stack', core])).stdout, /ended by signal 6/);
});

const started = {
	'-e': { flags: ['-e'], code: true, file: /\[eval\]/ },
	'-p': { flags: ['-p'], code: true, file: /\[eval\]/ },
	'standard input': { flags: ['-'], stdin: true, file: /\[stdin\]/ },
	TypeScript: { name: 'typed.ts', file: /typed\.ts$/, since: 22 },
	'a module': { name: 'plain.mjs', file: /^file:.*plain\.mjs$/ },
};
for (const [how, { flags = [], code, stdin, name, file, since = 0 }] of Object.entries(started))
	for (const n of nodes.filter((one) => one.major >= since && !(since && /^22\.[0-5]\./.test(one.version))))
		test(`node ${n.name}: a program from ${how}`, async (t) => {
			const typed = name?.endsWith('.ts');
			const program = `function inner(n${typed ? ': number' : ''}) { console.log("{}"); for (;;) n++; }\nfunction outer()${typed ? ': void' : ''} {\n\n\tinner(1);\n}\nouter();\n`;
			const args = typed && n.major < 24 ? ['--experimental-strip-types', '--no-warnings'] : [];
			const target = code
				? await start(n, '/dev/null', { flags: [...flags, program] })
				: await start(n, stdin ? '/dev/null' : { code: program, name }, { flags: [...args, ...flags], input: stdin ? program : undefined });
			t.after(target.stop);
			const { main } = await stack(target, ['--thread', 'main']);
			checkWhole(main);
			const own = main.frames.filter((f) => file.test(f.file));
			assert.deepEqual(own.slice(0, 3).map((f) => `${f.function}:${f.line}`), ['inner:1', 'outer:4', '<anonymous>:6'], show(main));
		});
