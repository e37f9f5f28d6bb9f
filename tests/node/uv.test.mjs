// uv: libuv's functions with their arguments by name, next to what a program says it did. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binary, isRoot, jsonLines, node, nodes, noderay, programs, run, start, tmp, tree, until } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };
const trace = (...args) => noderay(['trace', ...args], { timeout: 120_000 });
const S = '\\t';

/** Each clause prints a line: a word and then the values, separated by tabs. */
const script = `
	uv$target::uv_fs_open:entry { self->path = args[0]->path; printf("open${S}%s${S}%d${S}%d${S}%d${S}%d\\n", args[0]->path,
		args[0]->flags & 0x43, args[0]->mode, args[0]->cb == 0, tid == pid); }
	uv$target::uv_fs_open:return { printf("opened${S}%s${S}%d\\n", self->path, args[1]); self->path = 0; }
	uv$target::uv_fs_write:entry { printf("write${S}%d${S}%d\\n", args[0]->bufs->len, args[0]->offset); }
	uv$target::uv_fs_rename:entry { printf("rename${S}%s${S}%s\\n", args[0]->path, args[0]->new_path); }
	uv$target::uv_fs_utime:entry { printf("utime${S}%s\\n", args[0]->path); }
	uv$target::uv_fs_lstat:return { self->stats = 1; }
	uv$target::uv_fs_req_cleanup:entry /args[0]->req->fs_type == UV_FS_LSTAT/ {
		printf("size${S}%s${S}%d${S}%d\\n", args[0]->req->path, args[0]->req->statbuf.st_size, args[0]->req->result); }
	uv$target::uv_tcp_connect:entry { printf("connect${S}%s${S}%d\\n", args[0]->addr->address, args[0]->addr->port); }
	uv$target::uv_try_write:entry { printf("sent${S}%d${S}%d\\n", args[0]->bufs->len, args[0]->handle->type == UV_TCP); }
	uv$target::uv_pipe_connect*:entry { printf("pipe${S}%s\\n", args[0]->name); }
	uv$target::uv_udp_send:entry, uv$target::uv_udp_try_send:entry { printf("udp${S}%s${S}%d${S}%d\\n", args[0]->addr->address, args[0]->addr->port, args[0]->bufs->len); }
	uv$target::uv_getaddrinfo:entry { printf("dns${S}%s${S}%s${S}%d\\n", args[0]->node, args[0]->service, args[0]->hints->ai_family); }
	uv$target::uv_spawn:entry { self->child = args[0]->handle; printf("spawn${S}%s${S}%s\\n", args[0]->options->file,
		stringof(args[0]->options->args[1])); }
	uv$target::uv_spawn:return { printf("spawned${S}%d${S}%d\\n", args[1], self->child->pid); }
	uv$target::uv_queue_work:entry { printf("work${S}%s\\n", ustackdepth > 0 ? "yes" : ""); }
	uv$target::uv_timer_start:entry { printf("timer${S}%d\\n", args[0]->timeout); }
	uv$target::uv_fs_*:entry { printf("any${S}%s${S}%s${S}%d\\n", probefunc, args[0]->path, args[0]->file); }
`;

const has = (lines, ...fields) => lines.some((line) => fields.every((field, i) => line[i] === String(field)));

function check(record, lines) {
	switch (record.what) {
	case 'open': {
		assert.ok(has(lines, 'open', record.path, record.flags, record.mode, Number(record.sync), 1), JSON.stringify(record));
		assert.ok(has(lines, 'any', 'uv_fs_open', record.path, 0), JSON.stringify(record));
		const { 2: result } = lines.find(([what, path]) => what === 'opened' && path === record.path);
		if (!record.sync) assert.equal(result, '0');
		else if (record.result === 1) assert.ok(Number(result) > 2);
		else assert.equal(Number(result), record.result);
		break;
	}
	case 'write': return assert.ok(has(lines, 'write', record.bytes, record.offset));
	case 'rename': return assert.ok(has(lines, 'rename', record.path, record.newPath));
	case 'utime': return assert.ok(has(lines, 'utime', record.path) && has(lines, 'any', 'uv_fs_utime', record.path));
	case 'size': return assert.ok(has(lines, 'size', record.path, record.size, 0));
	case 'connect':
		assert.ok(has(lines, 'connect', record.address, record.port));
		for (const bytes of record.sent) assert.ok(has(lines, 'sent', bytes, 1), `no ${bytes} bytes were sent`);
		break;
	case 'pipe': return assert.ok(has(lines, 'pipe', record.path));
	case 'udp': return assert.ok(has(lines, 'udp', record.address, record.port, record.bytes));
	case 'dns': return assert.ok(has(lines, 'dns', record.host, '', 2));
	case 'spawn': return assert.ok(has(lines, 'spawn', record.file, record.argument) && has(lines, 'spawned', 0, record.pid));
	case 'work': return assert.ok(has(lines, 'work', 'yes'));
	case 'timer': return assert.ok(has(lines, 'timer', record.timeout));
	case 'worker': // in a thread of its own
		return assert.ok(lines.some(([what, path, , , sync, main]) => what === 'open' && path === record.path && sync === '1' && main === '0'));
	default: assert.fail(`what is ${record.what}?`);
	}
}

for (const node of nodes)
	test(`node ${node.name}: arguments are what the program says`, needsRoot, async () => {
		const directory = tmp();
		const out = path.join(tmp(), 'out');
		const file = path.join(tmp(), 'uv.d');
		fs.writeFileSync(file, script);
		const { code, stdout, stderr } = await run(binary, ['trace', '-q', '-x', 'strsize=512', '-o', out, '-s', file, '-c',
			`${node.path} ${path.join(programs, 'uv.js')} ${directory}`], { env: node.env });
		assert.equal(code, 0, stderr);
		assert.doesNotMatch(stderr, /error|drop|invalid/i);
		const lines = fs.readFileSync(out, 'utf8').split('\n').map((line) => line.split('\t'));
		const records = jsonLines(stdout);
		assert.equal(records.length, 16, stdout);
		for (const record of records) check(record, lines);
		// Of a function that has no such argument, there is none.
		assert.ok(lines.some(([what, name, path, fd]) => what === 'any' && name === 'uv_fs_close' && path === '' && Number(fd) > 2));
	});

for (const node of nodes)
	test(`node ${node.name}: every function is in the catalogue, and can be probed`, needsRoot, async (t) => {
		const target = await start(node, { code: 'setInterval(() => require("fs").statSync("/"), 20); console.log("ready")' });
		t.after(() => target.stop());
		const maps = fs.readFileSync(`/proc/${target.pid}/maps`, 'utf8');
		const file = maps.match(/ (\/.*\/libuv\.so[.\d]*)$/m)?.[1] ?? node.path;
		const symbols = execFileSync('nm', ['-D', '--defined-only', file], { encoding: 'utf8', maxBuffer: 1 << 28 });
		const exported = [...symbols.matchAll(/^\w+ T (uv_[^_@\s][^@\s]*)/gm)].map(([, name]) => name).sort();
		const { stdout } = await trace('-l', '-v', '-n', `uv${target.pid}:::entry`);
		const listed = [...stdout.matchAll(/ (uv_\w+) entry$/gm)].map(([, name]) => name).sort();
		assert.deepEqual(listed, exported);
		assert.ok(listed.length > 280);
		assert.doesNotMatch(stdout, /not in the catalogue/);
		const all = await trace('-q', '-n', 'uv$target:::{ @[probefunc, probename] = count(); } tick-10ms /i++ > 10/ { exit(0); }', '-p', target.pid);
		assert.equal(all.code, 0, all.stderr);
		assert.match(all.stdout, /uv_fs_stat +entry +\d/);
		assert.match(all.stdout, /uv_fs_stat +return +\d/);
		// Wherever in a function the probes hang: each call has one entry and one return, and its value.
		const pairs = await trace('-q', '-p', target.pid, '-n', `
			uv$target::uv_hrtime:entry, uv$target::uv_timer_start:entry, uv$target::uv_fs_stat:entry, uv$target::uv_timer_stop:entry
			{ self->in[probefunc] = 1; }
			uv$target::uv_hrtime:return { @value["hrtime", args[1] / 1000000000 > 0 && args[1] <= timestamp + 1000000000] = count(); }
			uv$target::uv_hrtime:return, uv$target::uv_timer_start:return, uv$target::uv_fs_stat:return, uv$target::uv_timer_stop:return
			{ @pairs[probefunc, self->in[probefunc]] = count(); self->in[probefunc] = 0; }
			tick-10ms /i++ > 10/ { exit(0); }`);
		assert.equal(pairs.code, 0, pairs.stderr);
		assert.match(pairs.stdout, /^ +uv_fs_stat +1 +\d/m);
		assert.match(pairs.stdout, /^ +uv_timer_start +1 +\d/m);
		assert.doesNotMatch(pairs.stdout, /^ +uv_\w+ +0 +[2-9]/m); // but for one that had begun before
		assert.doesNotMatch(pairs.stdout, /hrtime +0 /);
	});

test('the line of the manual', needsRoot, async (t) => {
	const target = await start(node(22), { code: 'setInterval(() => require("fs").readFileSync("/etc/hostname"), 20); console.log(1)' });
	t.after(() => target.stop());
	const { code, stdout, stderr } = await trace('-q', '-p', target.pid, '-n',
		'uv$target::uv_fs_open:entry { printf("%s", args[0]->path) } uv$target::uv_fs_close:return { exit(0); }');
	assert.equal(code, 0, stderr);
	assert.equal(stdout.trim(), '/etc/hostname');
});

test('it ends when nobody reads what it says', needsRoot, async (t) => {
	const target = await start(node(22), { code: 'setInterval(() => require("fs").statSync("/"), 5); console.log(1)' });
	t.after(() => target.stop());
	const child = spawn(binary, ['trace', '-q', '-p', target.pid, '-n', 'uv$target::uv_fs_stat:entry { printf("%s\\n", args[0]->path); }'], { stdio: ['ignore', 'pipe', 'ignore'] });
	t.after(() => child.kill('SIGKILL'));
	child.stdout.once('data', () => child.stdout.destroy());
	await until(() => child.exitCode !== null, 'it goes on', 60);
	assert.equal(child.exitCode, 0);
});

test('-lv shows the signature, and the JavaScript', needsRoot, async (t) => {
	const target = await start(node(22), { code: 'setInterval(() => {}, 1e6); console.log(1)' });
	t.after(() => target.stop());
	const details = async (what) => (await trace('-l', '-v', '-n', `uv${target.pid}::${what}`)).stdout.replace(/^[^]*?\n\tArgument Types\n/, '');
	assert.equal(await details('uv_fs_open:entry'), `\
		args[0]: struct uv_fs_open *
		args[0]->loop: uv_loop_t *
		args[0]->req: uv_fs_t *
		args[0]->path: string
		args[0]->flags: int
		args[0]->mode: int
		args[0]->cb: uv_fs_cb

	Function
		int uv_fs_open(uv_loop_t *loop, uv_fs_t *req,
		    const char *path, int flags, int mode, uv_fs_cb cb)

	From JavaScript
		fs.open, fs.readFile, fs.writeFile, fs.appendFile,
		fs.createReadStream, fs.createWriteStream, require

`);
	assert.match(await details('uv_fs_open:return'), /^\t\targs\[0\]: uint64_t\n\t\targs\[1\]: int\n\n\tFunction\n\t\tint uv_fs_open/);
	assert.match(await details('uv_fs_utime:entry'), /\targs\[0\]->atime: cannot be read\n/);
	assert.match(await details('uv_version:entry'), /\tunsigned int uv_version\(void\)\n\n\tFrom JavaScript\n\t\tnothing of node's own/);
	for (const line of (await details('')).split('\n')) assert.ok(line.replace(/^\t*/, (tabs) => ' '.repeat(8 * tabs.length)).length <= 80, line);
});

test('a process that starts later', needsRoot, async (t) => {
	const file = path.join(tmp(), 'late');
	fs.writeFileSync(file, '');
	const child = spawn(binary, ['trace', '-Z', '-q', '-n', 'BEGIN { printf("ready\\n"); }', '-n',
		`uv*::uv_fs_open:entry /args[0]->path == "${file}"/ { printf("%d opens %s\\n", pid, args[0]->path); }`], { stdio: ['ignore', 'pipe', 'pipe'] });
	t.after(() => child.kill('SIGKILL'));
	let stdout = '', stderr = '';
	child.stdout.on('data', (data) => (stdout += data));
	child.stderr.on('data', (data) => (stderr += data));
	await until(() => stdout.includes('ready') || child.exitCode !== null, () => `not ready: ${stderr}`, 40);
	for (const name of ['16', 'debian']) {
		const target = await start(node(name), { code: `setInterval(() => require("fs").readFileSync("${file}"), 20); console.log(1)` });
		t.after(() => target.stop());
		await until(() => stdout.includes(`${target.pid} opens ${file}\n`) || child.exitCode !== null, () => `nothing of ${target.pid}: ${stdout} ${stderr}`, 40);
	}
});

test('a process that starts while more start than can be told of', needsRoot, async (t) => {
	const child = spawn(binary, ['trace', '-Z', '-q', '-n', 'BEGIN { printf("ready\\n"); }', '-n',
		'uv*::uv_fs_stat:entry /args[0]->path == "/etc/hostname"/ { printf("%d asks\\n", pid); }'], { stdio: ['ignore', 'pipe', 'pipe'] });
	t.after(() => child.kill('SIGKILL'));
	let stdout = '', stderr = '';
	child.stdout.on('data', (data) => (stdout += data));
	child.stderr.on('data', (data) => (stderr += data));
	await until(() => stdout.includes('ready') || child.exitCode !== null, () => `not ready: ${stderr}`, 40);
	child.kill('SIGSTOP');
	execFileSync('sh', ['-c', 'i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i+1)); done']);
	// Without new code there is nothing about it that is told later.
	const target = await start(node(16), { code: 'setInterval(() => require("fs").statSync("/etc/hostname"), 20); console.log(1)' }, { flags: ['--jitless'] });
	t.after(() => target.stop());
	child.kill('SIGCONT');
	await until(() => stdout.includes(`${target.pid} asks\n`) || child.exitCode !== null, () => `nothing of ${target.pid}: ${stderr}`, 60);
});

test('a program that is no node', needsRoot, async () => {
	const program = path.join(tmp(), 'uvlike');
	execFileSync('cc', ['-O2', '-o', program, path.join(programs, 'native', 'uvlike.c')]);
	const { code, stdout, stderr } = await trace('-q', '-c', program, '-n', `
		uv$target::uv_fs_open:entry { @["open", args[0]->path, args[0]->flags, args[0]->mode] = count(); }
		uv$target::uv_fs_*:entry { @any[probefunc, args[0]->path, args[0]->file, args[0]->cb] = count(); }
		uv$target::uv_fs_read:entry { @read[args[0]->file, args[0]->nbufs / 2, args[0]->offset, args[0]->cb] = count(); }
		uv$target::uv_fs_open:return { @value[args[1]] = count(); }
		uv$target::uv_err_name:return { @name[args[1]] = count(); }
		uv$target::uv_to_come:entry { @later[arg0] = count(); }
		tick-100ms /i++ > 2/ { exit(0); }`);
	assert.equal(code, 0, stderr);
	assert.doesNotMatch(stderr, /error/);
	assert.match(stdout, /^ +open +a path +-5 +2 +\d+$/m);
	assert.match(stdout, /^ +open +1 +2 +\d+$/m); // no path, no text
	assert.match(stdout, /^ +uv_fs_open +a path +0 +0 +\d+$/m);
	assert.match(stdout, /^ +uv_fs_read +-1 +4660 +\d+$/m);
	assert.match(stdout, /^ +-1 +2000000000 +-7 +4660 +\d+$/m);
	assert.match(stdout, /^ +-7 +\d+$/m);
	assert.match(stdout, /^ +ENOENT +\d+$/m);
	assert.match(stdout, /^ +41 +\d+$/m);
	const child = spawn(program, { stdio: 'ignore' });
	const listed = await trace('-l', '-v', '-n', `uv${child.pid}::uv_to_come:entry`);
	child.kill('SIGKILL');
	assert.match(listed.stdout, /\tArgument Types\n\t\tNone\n\n\tFunction\n\t\tnot in the catalogue: its arguments are not known\n/);
});

/** What the manual says: function -> APIs. */
function claims() {
	const page = fs.readFileSync(path.join(tree, 'docs/man/noderay-uv.7'), 'utf8');
	const list = page.slice(page.indexOf('.\\" functions:'), page.indexOf('.\\" end of functions'));
	return [...list.matchAll(/^\.It Ft ".*?" Fn (\w+).*\n([^.\n].*)\n/gm)].map(([, name, js]) => ({ name, apis: js.replace(/^\\&/, '').split(', ') }));
}

test('the JavaScript of the manual leads to the functions', needsRoot, async () => {
	const called = new Map(), known = new Set();
	for (const node of nodes) {
		const directory = path.join(tmp(), 'd');
		const out = path.join(tmp(), 'out');
		const { code, stdout, stderr } = await run(binary, ['trace', '-q', '-o', out, '-n', `
			uv$target::uv_fs_access:entry, uv$target::uv_fs_stat:entry /strstr(args[0]->path, "/api/") == args[0]->path/ { api = substr(args[0]->path, 5); }
			uv$target:::entry /api != ""/ { @[api, probefunc] = count(); } END { printa("%s\\t%s\\n", @); }`, '-c',
			`${node.path} ${path.join(programs, 'uv-apis.js')} ${directory}`], { env: node.env });
		assert.equal(code, 0, stderr);
		for (const api of jsonLines(stdout)[0]) known.add(api);
		for (const line of fs.readFileSync(out, 'utf8').split('\n').filter((l) => l.includes('\t'))) called.set(line, node.name);
	}
	// A function that a compiler has put into its caller is not seen, and versions differ: it has to be true of one of them.
	const missing = claims().flatMap(({ name, apis }) => apis.filter((api) => known.has(api) && !called.has(`${api}\t${name}`)).map((api) => `${api} -> ${name}`));
	if (nodes.length === 7) assert.deepEqual(missing, []);
	assert.ok(known.size > 100);
});
