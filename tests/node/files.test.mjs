// files.test.mjs - noderay files on every node: live, on cores, as root and as a normal user.
// SPDX-License-Identifier: MIT
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { nodes, node, settle, start as startTarget, noderay, run, takeCore, tmp, isRoot, jsonLines, hasVerb, binary } from './lib.mjs';

// An unprivileged target lets both root and that user look at it.
const user = isRoot ? 'nobody' : undefined;
const hasCore = await hasVerb('core');

/** A target that ends with its test, however that ends. */
async function start(t, ...what) {
	const target = await startTarget(...what);
	t.after(() => target.stop());
	return target;
}

async function files(target, options = {}) {
	const { code, stdout, stderr } = await noderay(['files', '--json', target], options);
	assert.equal(code, 0, stderr);
	return new Map(jsonLines(stdout).map((f) => [f.fd, f]));
}

/** What the program says it opened must be what noderay says, down to the last field that can be known. */
function checkSockets(list, truth) {
	const at = (name) => list.get(truth[name].fd);
	for (const [name, type, local] of [['v4', 'tcp', '127.0.0.1'], ['v6', 'tcp6', '[::]']]) {
		assert.equal(at(name).type, type);
		assert.equal(at(name).socket.state, 'LISTEN');
		assert.equal(at(name).socket.local, `${local}:${truth[name].port}`);
		assert.equal(at(name).socket.backlog, 511);
		assert.equal(at(name).socket.accept_queue, 0);
	}
	assert.deepEqual([at('local').type, at('local').socket.local, at('local').socket.state], ['unix', `${truth.dir}/socket`, 'LISTEN']);
	assert.equal(at('client').socket.remote, `127.0.0.1:${truth.v4.port}`);
	assert.equal(at('client').socket.local, at('accepted').socket.remote);
	assert.equal(at('client').socket.state, 'ESTABLISHED');
	assert.deepEqual([at('mapped').type, at('mapped').socket.remote], ['tcp6', `127.0.0.1:${truth.mapped.port}`], 'IPv4 in IPv6 is unfolded');
	assert.equal(at('localClient').socket.remote, `${truth.dir}/socket`);
	assert.equal(at('localClient').peers[0].fd, truth.localAccepted.fd);
	assert.equal(at('localAccepted').peers[0].fd, truth.localClient.fd);
	assert.deepEqual([at('udp').type, at('udp').socket.local], ['udp', `127.0.0.1:${truth.udp.port}`]);
	assert.equal(at('worker').socket.local, `127.0.0.1:${truth.worker.port}`);
	assert.ok(at('v4').flags.includes('O_NONBLOCK'));
}

function checkFiles(list, truth) {
	const at = (name) => list.get(truth[name].fd);
	assert.deepEqual([at('file').path, at('file').offset, at('file').size], [`${truth.dir}/file`, 12, 12]);
	assert.equal(at('file').flags, 'O_RDWR|O_APPEND|O_CLOEXEC');
	assert.deepEqual([at('read').offset, at('read').flags], [5, 'O_RDONLY|O_CLOEXEC']);
	assert.deepEqual([at('gone').path, at('gone').deleted], [`${truth.dir}/gone`, true]);
	assert.deepEqual([at('odd').path, at('odd').deleted], [`${truth.dir}/odd\n\u00e9 (deleted)`, undefined]);
	assert.ok([...list.values()].some((f) => f.type === 'dir' && f.path === truth.dir));
	const watch = [...list.values()].find((f) => f.type === 'inotify');
	assert.equal(watch.watched, 2);
	assert.equal(at('stdin').peers[0].comm, 'cat');
	assert.deepEqual(at('stdin').peers[0].pid, truth.stdin.pid);
}

const use = (list, truth, name) => `${list.get(truth[name].fd).loop_role}: ${list.get(truth[name].fd).use}`;

/** What libuv uses them for; whole says that the kernel's side is known too. */
function checkUses(list, truth, whole, node) {
	const expected = {
		v4: 'main: tcp server', v6: 'main: tcp server', local: 'main: pipe server', client: 'main: tcp connection',
		accepted: 'main: tcp connection, not reading', mapped: 'main: tcp connection', localClient: 'main: pipe stream',
		localAccepted: 'main: pipe stream', udp: 'main: udp', worker: `worker ${truth.threadId}: tcp server`,
		stdin: whole ? `main: stdin of child ${truth.stdin.pid}` : 'main: pipe stream',
		stdout: whole ? `main: stdout of child ${truth.stdin.pid}` : 'main: pipe stream',
		ipc: whole ? `main: ipc channel to child ${truth.stdin.pid}` : 'main: ipc channel',
	};
	for (const name of Object.keys(expected)) assert.equal(use(list, truth, name), expected[name], name);
	for (const role of ['main', `worker ${truth.threadId}`, 'platform'])
		for (const what of ['epoll', 'async wakeup', 'signal pipe', 'spare for when descriptors run out']) {
			if (role === 'platform' && what.startsWith('spare')) continue;
			assert.ok([...list.values()].some((f) => f.loop_role === role && f.use === what), `${role}: ${what}`);
		}
	const watch = [...list.values()].find((f) => f.use?.startsWith('fs.watch'));
	assert.equal(watch.use, `fs.watch ${truth.dir} and 1 more`);
	// A static of libuv's: without symbols only the kernel's list tells which pipe it may be, and only if libuv is a
	// file by itself, as Debian's is.
	if (!node.stripped || (whole && node.name === 'debian')) assert.equal([...list.values()].filter((f) => f.use === 'signal lock').length, 2);
}

/** Every epoll, eventfd, io_uring and pipe of these programs is libuv's: none may stay unexplained. */
function checkNothingIsLeft(list) {
	for (const f of list.values())
		if (['eventpoll', 'eventfd', 'io_uring', 'inotify'].includes(f.type)) assert.ok(f.use, `fd ${f.fd} ${f.type}`);
}

async function checkText(target) {
	const { code, stdout, stderr } = await noderay(['files', target], { env: { COLUMNS: '80' } });
	assert.equal(code, 0, stderr);
	for (const line of stdout.split('\n')) assert.ok([...line].length <= 80, line);
	assert.match(stdout, /^\S+: node \d+\.\d+\.\d+, \d+ open files, limit \d+/);
	assert.match(stdout, /tcp6 +rwnc +\[::\]:\d+ {2}LISTEN, 0 of 511 waiting {2}\[main: tcp server\]\n/);
	assert.match(stdout, /\/odd\\n\u00e9 \(deleted\)/);
}

async function checkMemoryOnly(target, truth) {
	const core = await takeCore(target, { by: 'gdb' });
	const { code, stdout, stderr } = await noderay(['files', '--json', core]);
	assert.equal(code, 0, stderr);
	assert.match(stderr, /this core has no list of open files/);
	const list = new Map(jsonLines(stdout).map((f) => [f.fd, f]));
	checkUses(list, truth, false, target.node);
	for (const f of list.values()) assert.equal(f.from_memory, true);
	fs.rmSync(core);
}

async function checkCore(target, truth) {
	const core = await takeCore(target);
	const list = await files(core);
	checkSockets(list, truth);
	checkFiles(list, truth);
	checkUses(list, truth, true, target.node);
	checkNothingIsLeft(list);
	await checkText(core);
	fs.rmSync(core);
}

for (const n of nodes)
	test(`node ${n.name}`, async (t) => {
		const target = await start(t, n, 'files.js', { args: [tmp()], user });
		await settle(target);
		const truth = target.ready;
		await t.test('live', async (t) => {
			const list = await files(target.pid);
			assert.deepEqual([...list.keys()], fs.readdirSync(`/proc/${target.pid}/fd`).map(Number).sort((a, b) => a - b));
			checkSockets(list, truth);
			checkFiles(list, truth);
			checkUses(list, truth, true, n);
			checkNothingIsLeft(list);
			await checkText(target.pid);
		});
		await t.test('live, as its own user', { skip: !isRoot && 'needs root to change users' }, async () => {
			const list = await files(target.pid, { user });
			checkSockets(list, truth);
			checkUses(list, truth, true, n);
		});
		await t.test('a core of noderay', { skip: !hasCore && 'no verb core' }, () => checkCore(target, truth));
		// The oldest, the newest and the stripped one: gdb takes its time.
		if (['16', '26', 'debian'].some((name) => n.name.startsWith(name)))
			await t.test('a core of gdb: what libuv knows', () => checkMemoryOnly(target, truth));
	});

test('a core whose note is damaged: what libuv knows', { skip: !hasCore && 'no verb core' }, async (t) => {
	const target = await start(t, node(16), 'files.js', { args: [tmp()] });
	const core = await takeCore(target);
	const at = fs.readFileSync(core).indexOf('"soft_limit":');
	assert.ok(at > 0);
	const file = fs.openSync(core, 'r+');
	fs.writeSync(file, '}{', at);
	fs.closeSync(file);
	const { code, stdout, stderr } = await noderay(['files', '--json', core]);
	assert.equal(code, 0);
	assert.match(stderr, /noderay's note on open files is not used: it is damaged/);
	checkUses(new Map(jsonLines(stdout).map((f) => [f.fd, f])), target.ready, false, target.node);
});

test('the inspector, and rings for files', async (t) => {
	const code = `require('fs').readFile('/etc/passwd', () => console.log(1)); setInterval(() => {}, 1000);`;
	for (const n of [node(16), node(20), node(26), node('debian')]) {
		const target = await start(t, n, { code }, { flags: ['--inspect=0'], env: { UV_USE_IO_URING: '1' } });
		const list = [...(await files(target.pid)).values()];
		assert.equal(list.find((f) => f.socket?.state === 'LISTEN').use, 'tcp server');
		assert.equal(list.find((f) => f.socket?.state === 'LISTEN').loop_role, 'inspector');
		for (const f of list.filter((f) => f.type === 'io_uring')) assert.match(f.use, /^io_uring for (epoll_ctl|file operations)$/);
		await target.stop();
	}
});

test('summary and verbose', async (t) => {
	const target = await start(t, node(22), 'files.js', { args: [tmp()] });
	const json = await noderay(['files', '--summary', '--json', target.pid]);
	const summary = JSON.parse(json.stdout);
	assert.equal(summary.pid, target.pid);
	assert.equal(summary.types.udp, 1);
	assert.equal(summary.states.tcp.LISTEN, 2);
	assert.equal(summary.uses['main: tcp connection'], 4);
	assert.equal(summary.uses[`worker ${target.ready.threadId}: tcp server`], 1);
	assert.ok(summary.soft_limit > 0);
	const text = await noderay(['files', '-s', target.pid]);
	assert.match(text.stdout, /^ +1 udp$/m);
	assert.match(text.stdout, /^ +\d tcp {2}\d ESTABLISHED, 2 LISTEN$/m);
	const verbose = await noderay(['files', '-v', target.pid]);
	assert.match(verbose.stdout, /^ +flags +O_RDWR\|O_NONBLOCK\|O_CLOEXEC$/m);
	assert.match(verbose.stdout, /^ +queues +0 to accept, backlog 511$/m);
	assert.match(verbose.stdout, /^ +libuv +main: tcp server \(loop of fd \d+\)$/m);
});

test('connections that wait, bytes that wait', async (t) => {
	const code = `
		const net = require('net');
		const server = net.createServer((socket) => {
			socket.pause();
			const client = net.connect(server.address().port, '127.0.0.1');
			client.write(Buffer.alloc(50 << 20));
			const block = new Int32Array(new SharedArrayBuffer(4));
			const timer = setInterval(() => {
				if (client.connecting || !client._handle.writeQueueSize) return; // the kernel has not taken what it can yet
				clearInterval(timer);
				for (let i = 0; i < 3; i++) net.connect(server.address().port, '127.0.0.1');
				// Right after the connects, which are due first: the loop must not come to accept them.
				process.nextTick(() => {
					require('fs').writeSync(1, JSON.stringify({ port: server.address().port }) + '\\n');
					Atomics.wait(block, 0, 0);
				});
			}, 100);
		}).listen(0, '127.0.0.1', () => net.connect(server.address().port, '127.0.0.1'));
		let n = 0;
		server.on('connection', () => { if (++n > 1) server.removeAllListeners('connection'); });`;
	const target = await start(t, node(20), { code });
	const list = [...(await files(target.pid)).values()];
	const server = list.find((f) => f.socket?.state === 'LISTEN');
	assert.ok(server.socket.accept_queue >= 1, 'it accepts none while it is blocked');
	const full = list.find((f) => f.socket?.send_queue > 100000);
	assert.ok(full, 'the kernel holds what the other side does not read');
	assert.match(full.use, /^tcp connection, \d+M to write$/);
	assert.ok(list.some((f) => f.socket?.recv_queue > 10000));
});

test('loops of workers that are busy have the number of their worker', async (t) => {
	const code = `
		const { Worker, isMainThread } = require('worker_threads');
		if (!isMainThread) for (;;);
		let online = 0;
		for (let i = 0; i < 2; i++) new Worker(__filename).on('online', () => { if (++online === 2) console.log('{}'); });
		setInterval(() => {}, 1000);`;
	const target = await start(t, node(22), { code });
	const loops = [...(await files(target.pid)).values()].filter((f) => f.use === 'epoll').map((f) => f.loop_role);
	for (const loop of ['main', 'worker 1', 'worker 2']) assert.ok(loops.includes(loop), `${loop} is not among ${loops}`);
});

test('two thousand sockets, each with address and use', async (t) => {
	const code = `
		const net = require('net');
		let n = 0;
		const one = () => { if (++n === 2000) console.log(JSON.stringify(n)); };
		const server = net.createServer(one).listen(0, '127.0.0.1', 1000, () => {
			for (let i = 0; i < 1000; i++) net.connect(server.address().port, '127.0.0.1', one);
		});`;
	const target = await start(t, node(24), { code });
	const list = [...(await files(target.pid)).values()].filter((f) => f.type === 'tcp');
	assert.equal(list.length, 2001);
	for (const f of list) assert.match(`${f.socket.state} ${f.use}`, /^(ESTABLISHED tcp connection|LISTEN tcp server)$/);
});

test('a terminal', async (t) => {
	const code = `process.stdin.resume(); console.log(JSON.stringify({ pid: process.pid }));`;
	const file = path.join(tmp(), 'tty.js');
	fs.writeFileSync(file, code);
	const script = { name: 'script', path: '/usr/bin/script', env: {} };
	const target = await start(t, script, '/dev/null', { flags: ['-qefc', `${node(22).path} ${file}`] });
	const list = await files(target.ready.pid);
	assert.equal(list.get(0).type, 'chr');
	assert.match(list.get(0).path, /^\/dev\/(pts\/\d+|tty.*)$/);
	assert.equal([...list.values()].find((f) => f.use === 'tty stream').loop_role, 'main');
});

test('a network namespace of its own', { skip: !isRoot && 'needs root' }, async (t) => {
	const code = `const s = require('net').createServer().listen(0, '0.0.0.0', () => console.log(JSON.stringify(s.address())));`;
	const file = path.join(tmp(), 'net.js');
	fs.writeFileSync(file, code);
	const wrap = (...flags) => ({ what: { name: 'unshare', path: '/usr/bin/unshare', env: {} }, flags: [...flags, '--', node(22).path] });
	const inner = wrap('--net');
	const target = await start(t, inner.what, file, { flags: inner.flags });
	const server = [...(await files(target.pid)).values()].find((f) => f.type === 'tcp');
	assert.equal(server.socket.local, `0.0.0.0:${target.ready.port}`);
	assert.equal(server.socket.backlog, 511);
	// Without rights in that namespace the tables in /proc answer, which do not know the backlog.
	const own = wrap('--user', '--net');
	if ((await run('/usr/bin/unshare', ['--user', '--net', 'true'], { user })).code !== 0) return;
	const other = await start(t, own.what, file, { flags: own.flags, user });
	const seen = [...(await files(other.pid, { user })).values()].find((f) => f.type === 'tcp');
	assert.equal(seen.socket.local, `0.0.0.0:${other.ready.port}`);
	assert.equal(seen.socket.state, 'LISTEN');
	assert.equal(seen.use, 'tcp server');
});

test('a pid namespace of its own: children are known by both numbers', { skip: !isRoot && 'needs root' }, async (t) => {
	const unshare = { name: 'unshare', path: '/usr/bin/unshare', env: {} };
	const flags = ['--pid', '--fork', '--kill-child', '--mount-proc', '--', node(22).path];
	const outer = await start(t, unshare, 'files.js', { args: [tmp()], flags });
	const pid = Number(fs.readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8'));
	const stdin = (await files(pid)).get(outer.ready.stdin.fd);
	assert.equal(stdin.peers[0].inner_pid, outer.ready.stdin.pid);
	assert.notEqual(stdin.peers[0].pid, outer.ready.stdin.pid);
	assert.equal(stdin.use, `stdin of child ${stdin.peers[0].pid}`);
});

test('a stripped node', async (t) => {
	const stripped = path.join(tmp(), 'node');
	assert.equal((await run('/usr/bin/strip', ['-o', stripped, node(20).path])).code, 0);
	const target = await start(t, { name: 'stripped', path: stripped, env: {} }, 'files.js', { args: [tmp()] });
	const list = await files(target.pid);
	checkSockets(list, target.ready);
	assert.equal(use(list, target.ready, 'v4'), 'main: tcp server');
	assert.equal(use(list, target.ready, 'udp'), 'main: udp');
	assert.match(use(list, target.ready, 'worker'), /^worker .*: tcp server$/);
	checkNothingIsLeft(list);
});

test('bad targets get a message and their exit code', async (t) => {
	const target = await start(t, node(22), 'park.js');
	const sleeper = await start(t, { name: 'sh', path: '/bin/sh', env: {} }, { code: 'echo 1; read x', name: 'x.sh' });
	const cases = [
		[['files', 4194000], 1, /4194000: no such process/],
		[['files', sleeper.pid], 4, /node/],
		[['files', '--nonsense'], 2, /nonsense/],
		[['files', target.pid, target.pid], 2, /./],
		[['files', '-p', 'x'], 2, /process id/],
		[['files', '/nonexistent/core'], 1, /nonexistent/],
	];
	for (const [args, code, message] of cases) {
		const result = await noderay(args);
		assert.deepEqual([args.join(' '), result.code], [args.join(' '), code]);
		assert.match(result.stderr, message);
		assert.equal(result.stdout, '');
	}
	if (isRoot) {
		const denied = await noderay(['files', target.pid], { user: 'nobody' });
		assert.equal(denied.code, 3, denied.stderr);
		assert.match(denied.stderr, /Permission denied\n.*root/);
	}
});

test('a link named pfiles is noderay files', async (t) => {
	const target = await start(t, node(18), 'park.js');
	const link = path.join(tmp(), 'pfiles');
	fs.symlinkSync(binary, link);
	const { code, stdout } = await run(link, [target.pid]);
	assert.equal(code, 0);
	assert.match(stdout, new RegExp(`^${target.pid}: node 18`));
});
