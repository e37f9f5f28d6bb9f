// noderay doctor: says what works as root, as the owner of a node and as somebody else, and what to do.
// SPDX-License-Identifier: MIT
import test, { before, after } from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { binary, nodes, node, start, run, noderay, jsonLines, tmp, isRoot } from './lib.mjs';
import { memoryDenied } from './denied.mjs';

const targets = new Map();
before(async () => {
	for (const n of nodes) targets.set(n.name, await start(n, 'park.js'));
});
after(async () => {
	for (const target of targets.values()) await target.stop();
});

const findings = async (options) => {
	const { code, stdout, stderr } = await noderay(['doctor', '--json'], options);
	assert.equal(code, 0, stderr);
	return jsonLines(stdout);
};
const find = (all, section, name) => all.find((f) => f.section === section && f.name === String(name));

test('it has all sections, marks and fixes, within 80 columns', async () => {
	const { code, stdout, stderr } = await noderay(['doctor']);
	assert.equal(code, 0);
	assert.equal(stderr, '');
	const lines = stdout.trimEnd().split('\n');
	assert.deepEqual(lines.filter((line) => /^\S/.test(line)), ['machine', 'rights', 'tracing', 'cores', 'nodes', 'verbs']);
	for (const line of lines) assert.ok([...line].length <= 80, line);
	for (const line of lines.filter((l) => /^ {2}\S/.test(l))) assert.match(line, /^ {2}(ok {4}|part {2}|no {4})\S/);
});

test('every finding has its mark, and what is wrong says what to do', async () => {
	const all = await findings();
	for (const f of all) {
		assert.deepEqual(Object.keys(f).sort(), ['fix', 'mark', 'name', 'section', 'text']);
		assert.ok(['ok', 'part', 'no'].includes(f.mark));
		if (f.mark === 'ok') assert.equal(f.fix, null, f.name);
		if (['rights', 'tracing', 'cores'].includes(f.section) && f.mark !== 'ok') assert.ok(f.fix, `${f.section} ${f.name}: ${f.text}`);
	}
	for (const name of ['kernel', 'processor', 'container']) assert.ok(find(all, 'machine', name), name);
	for (const name of ['user', 'capabilities', 'ptrace', 'perf events']) assert.ok(find(all, 'rights', name), name);
	for (const name of ['BPF', 'ring buffer', 'uprobe_multi', 'BTF', 'tracefs']) assert.ok(find(all, 'tracing', name), name);
	for (const name of ['core_pattern', 'ulimit -c', 'disk, here']) assert.ok(find(all, 'cores', name), name);
	assert.ok(find(all, 'rights', 'perf events').text.includes(fs.readFileSync('/proc/sys/kernel/perf_event_paranoid', 'utf8').trim()));
});

test('it knows how far each node is supported', async () => {
	const all = await findings();
	for (const { pid, ready, node: n } of targets.values()) {
		const f = find(all, 'nodes', pid);
		assert.ok(f, `node ${n.name}`);
		assert.equal(f.mark, n.stripped ? 'part' : 'ok');
		assert.ok(f.text.startsWith(`node ${ready.version}, V8 ${ready.v8.replace(/-.*/, '')}`), f.text);
		if (n.stripped) assert.match(f.text, /stripped/);
	}
});

test('a node without its v8dbg symbols can be looked at, but not named', async () => {
	const n = node(22);
	const copy = path.join(tmp(), 'node');
	// The same length, so that nothing else moves.
	const bytes = fs.readFileSync(n.path);
	for (let at = bytes.indexOf('v8dbg_'); at >= 0; at = bytes.indexOf('v8dbg_', at)) bytes.write('v8xyz_', at, 'latin1');
	fs.writeFileSync(copy, bytes, { mode: 0o755 });
	const target = await start({ ...n, path: copy }, 'park.js');
	const f = find(await findings(), 'nodes', target.pid);
	assert.equal(f.mark, 'part');
	assert.match(f.text, /JavaScript cannot be named: the binary has no v8dbg_\* symbols/);
	await target.stop();
});

test('settings of a node that would spoil its core are found', async () => {
	const target = await start(node(22), 'park.js');
	fs.writeFileSync(`/proc/${target.pid}/coredump_filter`, '0x10');
	const all = await findings();
	const f = all.find((x) => x.section === 'cores' && x.name === 'nodes' && x.text.startsWith(`${target.pid}:`));
	assert.match(f.text, /coredump_filter/);
	assert.equal(f.mark, 'no');
	assert.equal(f.fix, `echo 0x33 > /proc/${target.pid}/coredump_filter`);
	await target.stop();
});

test('each verb that is there is judged', async () => {
	const all = await findings();
	for (const verb of ['ps', 'stack', 'maps', 'files', 'env', 'args', 'core']) {
		if ((await noderay([verb, '--help'])).code !== 0) continue;
		const f = find(all, 'verbs', verb);
		assert.ok(f, verb);
		assert.match(f.text, /works/);
	}
});

test('the owner of a node, without rights, is told what works', { skip: !isRoot && 'needs root' }, async () => {
	const own = await start(node(22), 'park.js', { user: 'nobody' });
	const all = await findings({ user: 'nobody' });
	assert.equal(find(all, 'nodes', own.pid).mark, 'ok');
	assert.equal(find(all, 'rights', 'user').mark, 'part');
	assert.match(find(all, 'rights', 'capabilities').text, /lacks cap_sys_ptrace/);
	assert.match(find(all, 'rights', 'capabilities').fix, /^sudo setcap /);
	assert.equal(find(all, 'tracing', 'BPF').mark, 'part');
	assert.match(find(all, 'nodes', 'others').text, /^\d+ processes of other users/);
	assert.equal(find(all, 'verbs', 'ps').mark, 'part');
	assert.equal(find(all, 'verbs', 'files').mark, 'ok');
	for (const { pid } of targets.values()) assert.ok(!find(all, 'nodes', pid));
	await own.stop();
});

test('a user without a node of their own is told that too', { skip: !isRoot && 'needs root' }, async () => {
	const all = await findings({ user: 'stranger' });
	assert.ok(find(all, 'nodes', 'none'));
	assert.equal(find(all, 'nodes', 'others').mark, 'part');
	assert.equal(find(all, 'nodes', 'others').fix, 'sudo noderay doctor');
});

test('memory that may not be read is explained', async (t) => {
	const env = await memoryDenied();
	if (!env) return t.skip('no compiler');
	const all = await findings({ env });
	for (const { pid, ready } of targets.values()) {
		const f = find(all, 'nodes', pid);
		assert.equal(f.mark, 'no');
		assert.ok(f.text.startsWith(`node ${ready.version}: `));
		assert.match(f.text, /cannot read the memory/);
		assert.ok(f.fix);
	}
	assert.equal(find(all, 'verbs', 'files').mark, 'part');
	assert.match(find(all, 'verbs', 'files').text, /does not work on running nodes.*core files work/);
});

test('inside a pid namespace it says that it does not see the rest', { skip: !isRoot && 'needs root' }, async () => {
	const out = execFileSync('unshare', ['-pfm', '--mount-proc', binary, 'doctor', '--json'], { encoding: 'utf8' });
	const f = find(jsonLines(out), 'machine', 'container');
	assert.equal(f.mark, 'part');
	assert.match(f.text, /only its own processes/);
	assert.match(f.fix, /--pid=host/);
});

test('without /proc nothing works, and it fails', { skip: !isRoot && 'needs root' }, async () => {
	for (const verb of ['doctor', 'ps']) {
		const { code, stdout, stderr } = await run('/usr/bin/unshare', ['-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$0" "$1"', binary, verb]);
		assert.equal(code, 1);
		assert.equal(stdout, '');
		assert.match(stderr, /\/proc is not there/);
		assert.match(stderr, /mount -t proc/);
	}
});

test('wrong arguments are told', async () => {
	for (const args of [['doctor', 'foo'], ['doctor', '--nope']]) {
		const { code, stdout, stderr } = await noderay(args);
		assert.equal(code, 2, args.join(' '));
		assert.equal(stdout, '');
		assert.match(stderr, /^noderay: /);
	}
});
