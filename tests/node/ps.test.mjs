// noderay ps: finds every node, whatever it is called and wherever it runs, and nothing else.
// SPDX-License-Identifier: MIT
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { spawn, execFileSync } from 'node:child_process';
import { binary, nodes, node, start, run, noderay, jsonLines, tmp, isRoot } from './lib.mjs';
import { memoryDenied } from './denied.mjs';

const list = async (options) => {
	const { code, stdout } = await noderay(['ps', '--json'], options);
	assert.equal(code, 0);
	return jsonLines(stdout);
};
const rowOf = async (pid, options) => (await list(options)).find((row) => row.pid === pid);
const newest = nodes.at(-1).name === 'debian' ? nodes.at(-2) : nodes.at(-1);
const forever = 'console.log("up"); setInterval(() => {}, 1000);';

// A second copy of the binary under another name.
function copyOf(node, name) {
	const file = path.join(tmp(), name);
	fs.copyFileSync(node.path, file);
	fs.chmodSync(file, 0o755);
	return { ...node, path: file };
}

// ------------------------------------------------------------------ on every node

const targets = new Map();
const prepare = async () => {
	for (const n of nodes) if (!targets.has(n.name)) targets.set(n.name, await start(n, 'workers.js', { flags: ['--stack-size=900'] }));
};
after(async () => {
	for (const target of targets.values()) await target.stop();
});

test('every node is listed with its versions and its three workers', async () => {
	await prepare();
	const rows = await list();
	for (const { pid, ready, file, node: n } of targets.values()) {
		const row = rows.find((r) => r.pid === pid);
		assert.ok(row, `node ${n.name} is not listed`);
		assert.equal(row.node, ready.version);
		assert.equal(row.v8, ready.v8.replace(/-.*/, ''));
		assert.equal(row.workers, 3, `workers of ${n.name}`);
		assert.equal(row.script, file);
		assert.equal(row.script_kind, 'file');
		assert.deepEqual(row.options, ['--stack-size=900']);
		assert.equal(row.threads, fs.readdirSync(`/proc/${pid}/task`).length);
		assert.equal(row.ppid, process.pid);
		assert.equal(row.cwd, fs.readlinkSync(`/proc/${pid}/cwd`));
		assert.equal(row.exe, fs.readlinkSync(`/proc/${pid}/exe`));
		assert.equal(row.stripped, n.stripped);
		assert.equal(row.uid, process.getuid());
		assert.equal(row.note, null);
		assert.ok(row.rss > 10e6 && row.rss < 2e9);
	}
});

test('the table fits 80 columns, and a pipe gets all of it', async () => {
	await prepare();
	const narrow = await noderay(['ps'], { env: { COLUMNS: '80' } });
	const lines = narrow.stdout.trimEnd().split('\n');
	assert.match(lines[0], /^ *PID +NODE +V8 +USER +UP +RSS +THR +WRK +CONTAINER +SCRIPT$/);
	for (const line of lines) assert.ok([...line].length <= 80, line);
	const wide = await noderay(['ps']);
	const { pid, file } = targets.values().next().value;
	assert.ok(wide.stdout.split('\n').some((line) => line.trim().startsWith(`${pid} `) && line.endsWith(file)));
	const cut = lines.find((line) => line.trim().startsWith(`${pid} `)).split(' ').at(-1);
	assert.ok(cut === file || (cut.startsWith('…') && file.endsWith(cut.slice(1))), cut);
});

test('-v tells all of it', async () => {
	await prepare();
	const { code, stdout } = await noderay(['ps', '-v']);
	assert.equal(code, 0);
	const { pid, ready } = targets.get(newest.name);
	const block = stdout.split('\n\n').find((b) => b.startsWith(`${pid}: node ${ready.version}, V8 `));
	for (const word of ['script', 'options  --stack-size=900', 'cwd', 'exe', 'user', `parent   ${process.pid}`, 'uptime', 'CPU time', 'resident', 'worker_threads 3', 'open', 'cgroup'])
		assert.ok(block.includes(word), `${word} in ${block}`);
});

test('looking stops, signals and writes to nobody', async (t) => {
	if (!fs.existsSync('/usr/bin/strace')) return t.skip('no strace');
	await prepare();
	const trace = path.join(tmp(), 'trace');
	const { code } = await run('/usr/bin/strace', ['-f', '-o', trace, '-e', 'trace=ptrace,kill,tkill,tgkill,process_vm_writev,pidfd_send_signal,rt_sigqueueinfo', binary, 'ps'], { env: { ASAN_OPTIONS: 'detect_leaks=0' } });
	assert.equal(code, 0);
	assert.doesNotMatch(fs.readFileSync(trace, 'utf8'), /ptrace\(|kill\(|writev\(|signal\(|queueinfo\(/);
});

// ------------------------------------------------------------------ by symbols, not by name

test('a copy by another name, a stripped copy and one whose file was replaced are nodes', async () => {
	const copy = copyOf(newest, 'foo');
	const stripped = copyOf(newest, 'bar');
	execFileSync('strip', [stripped.path]);
	const replaced = copyOf(newest, 'node');
	const [a, b, c] = await Promise.all([copy, stripped, replaced].map((n) => start(n, 'workers.js')));
	fs.unlinkSync(replaced.path);
	fs.writeFileSync(replaced.path, 'something else');
	const rows = await list();
	for (const [target, isStripped] of [[a, newest.stripped], [b, true], [c, newest.stripped]]) {
		const row = rows.find((r) => r.pid === target.pid);
		assert.ok(row, target.node.path);
		assert.equal(row.node, newest.version);
		assert.equal(row.workers, 3);
		assert.equal(row.stripped, isStripped);
	}
	assert.match(rows.find((r) => r.pid === c.pid).exe, / \(deleted\)$/);
	await Promise.all([a, b, c].map((t) => t.stop()));
});

test('other programs called node are none', async () => {
	const directory = tmp();
	const script = path.join(directory, 'node');
	fs.writeFileSync(script, '#!/bin/bash\necho up\nread x\n', { mode: 0o755 });
	const sleeper = path.join(tmp(), 'node');
	fs.copyFileSync('/bin/sleep', sleeper);
	fs.chmodSync(sleeper, 0o755);
	const children = [spawn(script, { stdio: ['pipe', 'pipe', 'inherit'] }), spawn(sleeper, ['600'])];
	await new Promise((resolve) => children[0].stdout.once('data', resolve));
	const pids = (await list()).map((row) => row.pid);
	for (const child of children) {
		assert.ok(!pids.includes(child.pid));
		child.kill('SIGKILL');
	}
});

// ------------------------------------------------------------------ what it runs

test('the script is found behind options, and other modes are told', async () => {
	const n = node(22);
	const directory = tmp();
	fs.writeFileSync(path.join(directory, 'pre.js'), '');
	fs.writeFileSync(path.join(directory, 'app.js'), forever);
	fs.writeFileSync(path.join(directory, '.env'), 'A=1\n');
	const cases = [
		[['-r', './pre.js', '--env-file', '.env', 'app.js', '--port', '1'], 'app.js', 'file'],
		[['--', 'app.js'], 'app.js', 'file'],
		[['-e', forever], `-e '${forever}'`, 'eval'],
		[['-'], '-', 'stdin'],
	];
	const started = [];
	for (const [args] of cases) {
		const child = spawn(n.path, args, { cwd: directory, stdio: ['pipe', 'pipe', 'inherit'] });
		const line = new Promise((resolve) => child.stdout.once('data', resolve));
		if (args[0] === '-') child.stdin.end(forever);
		await line;
		started.push(child);
	}
	const rows = await list();
	cases.forEach(([, script, kind], i) => {
		const row = rows.find((r) => r.pid === started[i].pid);
		assert.equal(row.script, script);
		assert.equal(row.script_kind, kind);
		started[i].kill('SIGKILL');
	});
});

test('a title over the command line is shown as one', async () => {
	for (const n of [nodes[0], newest]) {
		const target = await start(n, { code: `process.title = "my server"; ${forever}` });
		const row = await rowOf(target.pid);
		assert.equal(row.script, 'my server');
		assert.equal(row.script_kind, 'title');
		const { stdout } = await noderay(['ps']);
		assert.match(stdout, new RegExp(`^ *${target.pid} .* title: my server$`, 'm'));
		await target.stop();
	}
});

test('all processes of a cluster are listed', async () => {
	const target = await start(node(22), 'cluster.js');
	const rows = await list();
	for (const pid of target.ready.pids) assert.equal(rows.find((r) => r.pid === pid)?.script, target.file);
	await target.stop();
});

test('control bytes in a title do not reach the terminal', async () => {
	const target = await start(node(22), { code: `process.title = "a\\u001b[2Jb\\nc"; ${forever}` });
	const { stdout } = await noderay(['ps']);
	assert.ok(!stdout.includes('\x1b'));
	assert.match(stdout, /title: a\\x1b\[2Jb\\nc$/m);
	await target.stop();
});

// ------------------------------------------------------------------ namespaces

test('a node in its own pid namespace and root directory is seen from outside', { skip: !isRoot && 'needs root' }, async () => {
	const n = node(22);
	const root = path.join(tmp(), 'root');
	fs.mkdirSync(root);
	const script = `set -e
		mount -t tmpfs none ${root}
		cd ${root} && mkdir usr proc inner
		cp -a /lib /lib64 . 2>/dev/null || mkdir -p lib lib64
		for d in usr lib lib64; do [ -L $d ] || mount --bind /$d $d; done
		mount -t proc proc proc
		cp ${n.path} inner/hidden-binary
		echo '${forever}' > inner/hidden.js
		exec chroot . /inner/hidden-binary --title=x /inner/hidden.js`;
	const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', '-pfm', '--kill-child', 'sh', '-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
	await new Promise((resolve, reject) => {
		child.stdout.once('data', resolve);
		child.once('exit', (code) => reject(new Error(`exit ${code}`)));
	});
	try {
		const row = (await list()).find((r) => r.ppid === child.pid);
		assert.ok(row, 'not listed');
		assert.equal(row.namespace_pid, 1);
		assert.equal(row.own_namespace, true);
		assert.match(row.exe, /\/inner\/hidden-binary$/);
		assert.equal(row.node, n.version);
		assert.equal(row.workers, 0);
		const { stdout } = await noderay(['ps', '-v']);
		assert.match(stdout, /pid 1 in its own pid namespace/);
	} finally {
		child.removeAllListeners('exit');
		child.kill('SIGKILL');
	}
});

// A pid namespace is a machine of its own: the nodes of other tests are not in it.
async function alone(count, ...args) {
	const script = `for i in $(seq ${count}); do "$0" -e 'console.log(1); setInterval(() => {}, 1000)' | read x & done
		for i in $(seq 1000); do [ $("$1" ps --json 2>/dev/null | grep -c workers.:0) = ${count} ] && break; sleep 0.1; done
		shift; "$@"`;
	return await run('/usr/bin/unshare', ['-pfm', '--mount-proc', '--kill-child', 'bash', '-c', script, node(22).path, binary, binary, ...args]);
}

test('without a target the only node is meant', { skip: !isRoot && 'needs root' }, async () => {
	const none = await alone(0, 'args');
	assert.equal(none.code, 4, none.stderr);
	assert.match(none.stderr, /^noderay: no node runs on this machine$/m);
	const one = await alone(1, 'args');
	assert.equal(one.code, 0, one.stderr);
	assert.match(one.stdout, /setInterval/);
	const two = await alone(2, 'args');
	assert.equal(two.code, 2);
	assert.match(two.stderr, /^noderay: which of 2 nodes\? \d+, \d+$/m);
	assert.match(two.stderr, /noderay ps/);
	const list = await alone(0, 'ps');
	assert.equal(list.code, 0);
	assert.equal(list.stdout, '');
	assert.match(list.stderr, /no node found/);
});

// Where control groups can be made: a mount of either version, or nothing.
function groupRoot() {
	const mounts = fs.readFileSync('/proc/mounts', 'utf8').split('\n').map((line) => line.split(' '));
	for (const type of ['cgroup2', 'cgroup'])
		for (const [, where, kind, options] of mounts) if (kind === type && !/cpuset/.test(options)) return where;
	return null;
}

test('a container is told by its control group', { skip: !isRoot && 'needs root' }, async (t) => {
	const id = 'c0ffee'.repeat(10) + 'abcd';
	const group = path.join(groupRoot() ?? '/nowhere', `docker-${id}.scope`);
	const target = await start(node(22), 'park.js');
	try {
		fs.mkdirSync(group);
		fs.writeFileSync(path.join(group, 'cgroup.procs'), String(target.pid));
	} catch (error) {
		await target.stop();
		fs.rmSync(group, { recursive: true, force: true });
		return t.skip(`control groups cannot be made here: ${error.code}`);
	}
	try {
		const row = await rowOf(target.pid);
		assert.deepEqual(row.container, { id, name: id.slice(0, 12), runtime: 'docker' });
		assert.ok(row.cgroup.endsWith(`/docker-${id}.scope`));
		const { stdout } = await noderay(['ps'], { env: { COLUMNS: '80' } });
		assert.match(stdout, new RegExp(`^ *${target.pid} .* ${id.slice(0, 12)} \\S+$`, 'm'));
	} finally {
		await target.stop();
		for (let i = 0; i < 100 && fs.existsSync(group); i++) {
			try {
				fs.rmdirSync(group);
			} catch {
				await new Promise((resolve) => setTimeout(resolve, 20)); // the kernel is not done with it yet
			}
		}
	}
});

// ------------------------------------------------------------------ rights

test('a user sees their own nodes, and how many processes are hidden', { skip: !isRoot && 'needs root' }, async () => {
	await prepare();
	const own = await start(node(22), 'workers.js', { user: 'nobody' });
	const { code, stdout, stderr } = await noderay(['ps', '--json'], { user: 'nobody' });
	assert.equal(code, 0);
	const rows = jsonLines(stdout);
	const row = rows.find((r) => r.pid === own.pid);
	assert.equal(row.user, 'nobody');
	assert.equal(row.workers, 3);
	assert.equal(row.node, own.ready.version);
	for (const target of targets.values()) assert.ok(!rows.some((r) => r.pid === target.pid));
	assert.match(stderr, /^noderay: \d+ processes of other users could not be examined; run as root to see them$/m);
	await own.stop();
});

test('CAP_SYS_PTRACE is enough to look into the nodes of others', { skip: !isRoot && 'needs root' }, async () => {
	await prepare();
	const copy = path.join(tmp(), 'noderay');
	fs.copyFileSync(binary, copy);
	fs.chmodSync(copy, 0o755);
	const as = ['--reuid', '65534', '--regid', '65534', '--clear-groups', '--inh-caps', '+sys_ptrace', '--ambient-caps', '+sys_ptrace', copy];
	const { code, stdout } = await run('/usr/bin/setpriv', [...as, 'ps', '--json']);
	assert.equal(code, 0);
	const rows = jsonLines(stdout);
	for (const { pid, ready } of targets.values()) {
		const row = rows.find((r) => r.pid === pid);
		assert.equal(row.node, ready.version);
		assert.equal(row.workers, 3);
		assert.equal(row.files, null);
	}
	const { pid } = targets.get(newest.name);
	const env = await run('/usr/bin/setpriv', [...as, 'env', String(pid)]);
	assert.equal(env.code, 0, env.stderr);
	assert.match(env.stdout, /^LC_ALL=C.UTF-8$/m);
	const files = await run('/usr/bin/setpriv', [...as, 'files', String(pid)]);
	assert.equal(files.code, 3);
	assert.match(files.stderr, /add CAP_DAC_READ_SEARCH/);
	const doctor = jsonLines((await run('/usr/bin/setpriv', [...as, 'doctor', '--json'])).stdout);
	const verb = (name) => doctor.find((f) => f.section === 'verbs' && f.name === name);
	assert.match(verb('files').text, /works on \d+ of \d+ nodes|does not work on running nodes/);
	assert.match(verb('env').text, /^works/);
});

test('versions come from the files where memory may not be read', async (t) => {
	const env = await memoryDenied();
	if (!env) return t.skip('no compiler');
	await prepare();
	const { code, stdout, stderr } = await noderay(['ps', '--json'], { env });
	assert.equal(code, 0);
	const rows = jsonLines(stdout);
	for (const { pid, ready } of targets.values()) {
		const row = rows.find((r) => r.pid === pid);
		assert.equal(row.node, ready.version);
		assert.equal(row.v8, ready.v8.replace(/-.*/, ''));
		assert.equal(row.workers, null);
		assert.match(row.note, /cannot read the memory/);
		assert.match(stderr, new RegExp(`^noderay: ${pid}: .*cannot read the memory`, 'm'));
	}
});

test('wrong arguments are told', async () => {
	for (const args of [['ps', 'foo'], ['ps', '--nope'], ['ps', '-p', '1']]) {
		const { code, stdout, stderr } = await noderay(args);
		assert.equal(code, 2, args.join(' '));
		assert.equal(stdout, '');
		assert.match(stderr, /^noderay: /);
	}
	const help = await noderay(['ps', '--help']);
	assert.equal(help.code, 0);
	assert.match(help.stdout, /--json/);
});
