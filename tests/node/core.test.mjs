// core.test.mjs - the cores that noderay writes, on every node: what they hold, and that debuggers and
// noderay itself read them. What happens to the target is in core-safety.test.mjs. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { childrenOf, differingPages, openCore, ownNote } from './corefile.mjs';
import { halt, halted, isRoot, jsonLines, noderay, nodes, run, start, tmp, until } from './lib.mjs';

const tids = (pid) => fs.readdirSync(`/proc/${pid}/task`).map(Number).sort((a, b) => a - b);

async function dump(target, args = [], options) {
	const file = path.join(tmp(), 'core');
	const result = await noderay(['core', '--json', ...args, '-o', file, target.pid], options);
	assert.equal(result.code, 0, result.stderr);
	return { file, summary: jsonLines(result.stdout)[0], stderr: result.stderr };
}

function checkNotes(core, target) {
	const count = (owner, type) => core.notes.filter((n) => n.owner === owner && n.type === type).length;
	const threads = tids(target.pid);
	const pids = core.notes.filter((n) => n.owner === 'CORE' && n.type === 1).map((n) => n.bytes.readUInt32LE(32));
	assert.equal(pids[0], target.pid);
	assert.deepEqual(pids.sort((a, b) => a - b), threads);
	assert.equal(count('CORE', 2), threads.length, 'NT_FPREGSET');
	for (const type of [3, 6, 0x53494749, 0x46494c45]) assert.equal(count('CORE', type), 1, `note ${type}`);
	for (const { tid, name } of ownNote(core, 'threads'))
		assert.equal(name, fs.readFileSync(`/proc/${target.pid}/task/${tid}/comm`, 'utf8').trimEnd());
	const about = ownNote(core, 'process');
	assert.equal(about.pid, target.pid);
	assert.equal(about.exe, fs.readlinkSync(`/proc/${target.pid}/exe`));
	assert.ok(about.args.includes(target.file));
	assert.equal(ownNote(core, 'maps').rows.length, fs.readFileSync(`/proc/${target.pid}/maps`, 'utf8').trim().split('\n').length);
}

/** Sets of mappings, one of each kind of memory; each holds a text of its own. */
async function gdbOutput(target, file, commands) {
	const args = ['--nx', '--batch', '--readnever', '-iex', 'set auto-load off', '-iex', 'set debuginfod enabled off'];
	const { stdout, stderr } = await run('/usr/bin/gdb', [...args, ...commands.flatMap((c) => ['-ex', c]), target.node.path, file],
		{ env: target.node.env });
	return stdout + stderr;
}

// A page of the program's code is not in the core: a debugger takes it from the file.
async function checkGdb(target, file, core) {
	const exe = fs.readlinkSync(`/proc/${target.pid}/exe`);
	const line = fs.readFileSync(`/proc/${target.pid}/maps`, 'utf8').split('\n').find((l) => l.endsWith(exe) && l.includes(' r-xp '));
	const [start, end] = line.split(/[- ]/).map((hex) => parseInt(hex, 16));
	const address = start + Math.floor((end - start) / 8192) * 4096; // in the middle: the first page is always there
	assert.equal(core.read(address, 8), null, 'unchanged code is left out');
	const mem = fs.openSync(`/proc/${target.pid}/mem`, 'r'), word = Buffer.alloc(8);
	fs.readSync(mem, word, 0, 8, address);
	fs.closeSync(mem);
	const text = await gdbOutput(target, file, ['info threads', 'bt', 'info proc mappings', `x/1gx ${address}`]);
	assert.equal(text.match(/^[* ] +\d+ .*LWP \d+/gm)?.length, tids(target.pid).length, text);
	assert.match(text, /#0 .*\n#1 /, text);
	assert.ok(text.includes(exe), 'info proc mappings');
	assert.ok(text.includes(word.readBigUInt64LE().toString(16).padStart(16, '0')), text);
}

for (const node of nodes) {
	test(`node ${node.name}: cores of a process that stands still hold its memory`, async (t) => {
		const target = await start(node, 'steadfast.js', { args: ['wait,sleep'] });
		t.after(target.stop);
		await halt(target);
		const { file, summary, stderr } = await dump(target);
		const core = openCore(file);
		assert.match(stderr, /paused for [\d.]+ ms; .* on disk\) in [\d.]+ s/);
		assert.equal(fs.statSync(file).mode & 0o777, 0o600);
		assert.equal(fs.statSync(file).size, summary.bytes);
		assert.ok(fs.statSync(file).blocks * 512 < summary.bytes / 2, 'sparse');
		assert.equal(summary.unreadable_bytes, 0);
		await halted(target); // as before
		// The kernel notes the processor in a page of each thread when it lets it go.
		assert.ok(differingPages(core, target.pid) <= tids(target.pid).length);
		checkNotes(core, target);
		await checkGdb(target, file, core);
		core.close();
		assert.equal((await run('/usr/bin/eu-readelf', ['-hln', file]).catch(() => ({ stderr: '' }))).stderr, '');

		const forked = await dump(target, ['--fork']);
		const copy = openCore(forked.file);
		assert.ok(differingPages(copy, target.pid) <= tids(target.pid).length + 8); // and the frames below a stack
		checkNotes(copy, target);
		copy.close();
		assert.equal(forked.summary.unreadable_bytes, 0);
		assert.equal(forked.summary.copied_bytes > 10 << 20, true, 'V8 marks its heap as not to be forked');
		await halted(target);
		assert.deepEqual(childrenOf(target.pid), [], 'the child was reaped');
	});

	test(`node ${node.name}: packed, and while it works`, async (t) => {
		const target = await start(node, 'steadfast.js', { args: ['loop,wait,sleep,read,children'] });
		t.after(target.stop);
		for (const args of [['-z'], ['-z', '--fork'], ['-z', '--max-memory', '16'], ['--full'], ['--max-memory', '16']]) {
			const { file, summary } = await dump(target, args);
			const result = await noderay(['args', '--json', file]);
			assert.equal(result.code, 0, result.stderr);
			assert.ok(jsonLines(result.stdout)[0].args.includes(target.file));
			assert.equal(summary.slow, args.includes('--max-memory'));
			assert.equal(summary.missed_threads, 0);
			fs.rmSync(file);
		}
		target.child.stdin.write('?\n');
		await until(() => target.stdout().includes('ticks'), 'it does not answer');
		assert.doesNotMatch(target.stdout(), /wrong/);
	});
}

test('lldb reads a core', async (t) => {
	// Debian's node is stripped: reading the symbols of the others takes lldb a minute.
	const node = nodes.at(-1);
	const target = await start(node, 'steadfast.js', { args: ['wait,sleep'] });
	t.after(target.stop);
	const { file } = await dump(target);
	const { stdout, stderr } = await run('/usr/bin/lldb', ['--no-lldbinit', '-b', '-O', 'settings set target.preload-symbols false',
		'-o', 'thread list', '-o', 'bt', '-o', 'register read rip', '-c', file, node.path], { env: node.env });
	assert.equal(stdout.match(/thread #\d+: tid = \d+/g)?.length, tids(target.pid).length, stdout + stderr);
	assert.match(stdout, /frame #1: 0x/);
	assert.match(stdout, /libc\.so\.6`|libuv|node`/);
});

test('every kind of memory', async (t) => {
	const directory = tmp();
	const source = path.join(directory, 'memory.c'), program = path.join(directory, 'memory');
	fs.writeFileSync(source, memoryProgram);
	const compiled = await run('/usr/bin/cc', ['-o', program, source]);
	assert.equal(compiled.code, 0, compiled.stderr);
	const target = await start({ name: 'none', path: program, env: {} }, { code: 'x'.repeat(3 * 4096), name: 'file' });
	t.after(target.stop);
	const at = Object.fromEntries(Object.entries(target.ready).map(([name, hex]) => [name, parseInt(hex, 16)]));
	const holds = (core, name) => core.read(at[name], 16)?.toString('latin1').replace(/\0.*/s, '') ?? null;
	for (const args of [[], ['--fork']]) {
		const { file, summary } = await dump(target, args);
		const core = openCore(file);
		for (const name of ['private', 'shared', 'memfd', 'changed', 'hidden', 'gone', 'wiped', 'unforked'])
			assert.equal(holds(core, name), name, `${name} ${args}`);
		assert.equal(holds(core, 'untouched'), '', 'zeros');
		for (const name of ['undumped', 'unchanged', 'nothing']) assert.equal(holds(core, name), null, name);
		assert.equal(summary.unreadable_bytes, 0);
		core.close();
	}
	const full = openCore((await dump(target, ['--full'])).file);
	assert.equal(holds(full, 'undumped'), 'undumped');
	assert.equal(holds(full, 'unchanged'), 'x'.repeat(16));
	full.close();
});

test('as an unprivileged user', { skip: !isRoot && 'needs root to become another user' }, async (t) => {
	const target = await start(nodes.at(-2) ?? nodes[0], 'steadfast.js', { args: ['wait,sleep'], user: 'nobody' });
	t.after(target.stop);
	for (const args of [[], ['--fork'], ['-z']]) {
		const { summary } = await dump(target, args, { user: 'nobody' });
		assert.equal(summary.unreadable_bytes, 0);
		assert.ok(summary.copied_bytes > 8 << 20);
	}
	assert.doesNotMatch(target.stdout(), /wrong/);
});

const memoryProgram = String.raw`
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void *map(const char *name, int fd, int flags)
{
	char *p = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (p == MAP_FAILED)
		_exit(1);
	printf("\"%s\":\"%p\",", name, p);
	return p;
}
static void *filled(const char *name, int fd, int flags)
{
	return strcpy(map(name, fd, flags), name);
}
int main(int argc, char **argv)
{
	int anonymous = MAP_PRIVATE | MAP_ANONYMOUS, memfd = memfd_create("m", 0), file = open(argv[1], O_RDWR), gone;
	ftruncate(memfd, 3 * 4096);
	printf("{");
	filled("private", -1, anonymous);
	filled("shared", -1, MAP_SHARED | MAP_ANONYMOUS);
	filled("memfd", memfd, MAP_SHARED);
	filled("changed", file, MAP_PRIVATE);
	gone = open("gone", O_RDWR | O_CREAT | O_EXCL, 0600);
	write(gone, "gone", 5);
	ftruncate(gone, 3 * 4096);
	map("gone", gone, MAP_PRIVATE);
	unlink("gone");
	mprotect(filled("hidden", -1, anonymous), 3 * 4096, PROT_NONE);
	madvise(filled("wiped", -1, anonymous), 3 * 4096, MADV_WIPEONFORK);
	madvise(filled("unforked", -1, anonymous), 3 * 4096, MADV_DONTFORK);
	madvise(filled("undumped", -1, anonymous), 3 * 4096, MADV_DONTDUMP);
	map("untouched", -1, anonymous);
	map("unchanged", file, MAP_PRIVATE);
	mprotect(map("nothing", -1, anonymous), 3 * 4096, PROT_NONE);
	printf("\"pid\":\"%x\"}\n", getpid());
	fflush(stdout);
	for (;;)
		pause();
}
`;
