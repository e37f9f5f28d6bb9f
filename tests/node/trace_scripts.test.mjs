// D scripts and one-liners of the kind that people have kept since DTrace: they run unchanged. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binary, isRoot, node, noderay, start, tmp, until } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

/** A directory with a program called node in it, and the file-copying application that the scripts look at. */
function workshop(n) {
	const directory = tmp();
	fs.symlinkSync(n.path, path.join(directory, 'node'));
	fs.writeFileSync(path.join(directory, 'file.js'), `
		const fs = require('fs');
		process.chdir(__dirname);
		fs.mkdirSync('tmp');
		fs.writeFileSync('words', 'x'.repeat(150000));
		fs.createReadStream('words').pipe(fs.createWriteStream('tmp/words.save')).on('finish', () => {
			fs.unlinkSync('tmp/words.save');
			fs.rmdirSync('tmp');
		});
	`);
	return directory;
}

function dtrace(directory, args, script) {
	const file = path.join(directory, 'script.d');
	if (script) fs.writeFileSync(file, script);
	const env = { ...process.env, PATH: `${directory}:${process.env.PATH}` };
	return noderay(['trace', ...args.map((word) => (word === '@' ? file : word))], { env, timeout: 120_000 });
}

for (const n of [node(18), node(22), node(26)])
	test(`node ${n.name}`, needsRoot, async (t) => {
		const directory = workshop(n);
		const command = `${directory}/node ${directory}/file.js`;

		await t.test('system calls of all that is called node', async () => {
			const { code, stdout, stderr } = await dtrace(directory, ['-n', 'syscall:::entry/execname == "node"/{@[probefunc]=count();}', '-c', command]);
			assert.equal(code, 0, stderr);
			assert.match(stderr, /^dtrace: description 'syscall:::entry' matched \d{3} probes$/m);
			assert.match(stdout, /^ +openat +\d+$/m);
			assert.match(stdout, /^ +exit_group +1$/m);
		});

		await t.test('latency of system calls, with a format of its own', async () => {
			const { code, stdout, stderr } = await dtrace(directory, ['-s', '@', '-c', command], `
				#pragma D option quiet
				syscall:::entry /execname == "node"/ { self->ts = timestamp; }
				syscall:::return /self->ts/ { @[probefunc] = quantize(timestamp - self->ts); self->ts = 0; }
				END { printa("SYSCALL      NSECS\\n%s%@1x\\n", @); }
			`);
			assert.equal(code, 0, stderr);
			assert.match(stdout, /SYSCALL {6}NSECS\nread\n +value {2}-+ Distribution -+ count +\n/);
		});

		await t.test('in the order of time', async () => {
			const { code, stdout, stderr } = await dtrace(directory, ['-q', '-x', 'temporal', '-n',
				'syscall::read:entry,syscall::write:entry,syscall::unlink*:entry/\npid == $target/{printf("%d %s\\n", timestamp, probefunc);} ', '-c', command]);
			assert.equal(code, 0, stderr);
			const lines = stdout.trim().split('\n').map((line) => line.split(' '));
			const times = lines.map(([time]) => BigInt(time));
			assert.ok(times.every((time, i) => !i || time >= times[i - 1]));
			assert.ok(lines.some(([, name]) => name.startsWith('unlink')));
		});

		await t.test('only the files of interest', async () => {
			const { code, stdout, stderr } = await dtrace(directory, ['-q', '-s', '@', '-c', command], `
				#pragma D option temporal
				syscall::read:entry /pid == $target && fds[arg0].fi_pathname == "${directory}/words"/ { printf("read request %d bytes\\n", arg2); }
				syscall::write:entry /pid == $target && fds[arg0].fi_pathname == "${directory}/tmp/words.save"/ { printf("write request %d bytes\\n", arg2); }
				syscall::unlink:entry /pid == $target/ { printf("unlinking %s\\n", copyinstr(arg0)); }
			`);
			assert.equal(code, 0, stderr);
			// A stream may read ahead of its writer: the order of reads and writes is the target's to choose, but none is written before it was read.
			const lines = stdout.trim().split('\n');
			const of = (what) => lines.flatMap((line, i) => (line.startsWith(what) ? [i] : []));
			const reads = of('read request 65536 bytes');
			const writes = of('write request');
			assert.deepEqual(writes.map((i) => lines[i]), [65536, 65536, 18928].map((bytes) => `write request ${bytes} bytes`), stdout);
			assert.ok(writes.every((at, i) => reads[i] < at), stdout);
			assert.equal(lines.indexOf('unlinking tmp/words.save'), lines.length - 1, stdout);
		});

		await t.test('who asks for memory, in JavaScript', async () => {
			const busy = path.join(directory, 'busy.js');
			fs.writeFileSync(busy, 'const kept = [];\nfunction hoard() { for (let i = 0; i < 50; i++) kept.push(Buffer.alloc(4e6)); }\nhoard();\nsetTimeout(() => {}, 100);\n');
			const { code, stdout, stderr } = await dtrace(directory, ['-n', 'syscall::mmap:entry/execname == "node" /\n{@[jstack()] = count();}', '-c', `${directory}/node ${busy}`]);
			assert.equal(code, 0, stderr);
			assert.match(stdout, /hoard \(.*busy\.js:2:\d+\)/);
		});

		await t.test('where the time goes', async () => {
			const busy = path.join(directory, 'spin.js');
			fs.writeFileSync(busy, 'function spin(end) { let n = 0; while (Date.now() < end) n += Math.sqrt(n + 1); return n; }\nspin(Date.now() + 2500);\n');
			const { code, stdout, stderr } = await dtrace(directory, ['-n', 'profile-97/execname == "node" && arg1/{\n    @[jstack(150, 8000)] = count(); } tick-60s { exit(0); }', '-c', `${directory}/node ${busy}`]);
			assert.equal(code, 0, stderr);
			assert.match(stdout, /spin \(.*spin\.js:1:\d+\)/);
		});
	});

/** Runs a script on every node of the machine while a server answers two requests, then interrupts it. */
async function serve(t, n, script, { env = {} } = {}) {
	const server = await start(n, { code: `
		require('http').createServer((request, response) => setTimeout(() => response.end('x'), 20))
			.listen(0, '127.0.0.1', function () { console.log(JSON.stringify({ port: this.address().port })); });
	` });
	t.after(() => server.stop());
	const file = path.join(tmp(), 'script.d');
	fs.writeFileSync(file, script);
	const child = spawn(binary, ['trace', '-s', file, '-n', 'BEGIN { printf("ready\\n"); }'], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
	t.after(() => child.kill('SIGKILL'));
	let stdout = '', stderr = '';
	child.stderr.on('data', (data) => (stderr += data));
	child.stdout.on('data', (data) => (stdout += data));
	await until(() => /ready/.test(stdout) || child.exitCode !== null, 'the script is at work');
	for (const url of ['/one', '/two?x=1']) await (await fetch(`http://127.0.0.1:${server.ready.port}${url}`, { headers: { connection: 'close' } })).text();
	await new Promise((resolve) => setTimeout(resolve, 300));
	child.kill('SIGINT');
	const [code] = await once(child, 'close');
	assert.equal(code, 0, stderr);
	return { stdout, pid: server.pid };
}

for (const n of [node(18), node(22), node(26)])
	test(`node ${n.name}: scripts for node's own probes of old`, needsRoot, async (t) => {
		await t.test('each request and its response', async (t) => {
			const { stdout } = await serve(t, n, `
				#pragma D option quiet
				BEGIN
				{
				    printf("%-22s %-20s %-8s %-16s %-16s %-16s\\n",
				        "DIRECTION", "URL", "METHOD", "REMOTEADDRESS", "REMOTEPORT", "FD");
				}
				node*:::http-server-request
				{
				    printf("%-22s %-20s %-8s %-16s %-16d %-16d\\n",
				        probename, args[0]->url, args[0]->method, args[1]->remoteAddress,
				        args[1]->remotePort, args[1]->fd);
				}
				node*:::http-server-response
				{
				    printf("%-22s %-20s %-8s %-16s %-16d %-16d\\n",
				        probename, " ", " ", args[0]->remoteAddress,
				        args[0]->remotePort, args[0]->fd);
				}`);
			const [, port, fd] = stdout.match(/^http-server-request {4}\/one {17}GET {6}127\.0\.0\.1 {8}(\d+) +(\d+) +$/m) ?? assert.fail(stdout);
			assert.match(stdout, new RegExp(`^http-server-response {33}127\\.0\\.0\\.1 {8}${port} +${fd} +$`, 'm'));
			assert.match(stdout, /^http-server-request {4}\/two\?x=1 /m);
		});

		await t.test('latency by URL and address, with a colon too few', async (t) => {
			const { stdout } = await serve(t, n, `
				#pragma D option quiet
				node*::http-server-request
				{
				    ts[args[1]->remoteAddress, args[1]->remotePort] = timestamp;
				    url[ts[args[1]->remoteAddress, args[1]->remotePort]] = args[0]->url;
				}
				node*::http-server-response
				/ts[args[0]->remoteAddress, args[0]->remotePort]/
				{
				    this->t = ts[args[0]->remoteAddress, args[0]->remotePort];
				    @[url[this->t], args[0]->remoteAddress] = quantize((timestamp-this->t)/1000);
				    ts[args[0]->remoteAddress, args[0]->remotePort] = 0;
				}
				END
				{
				    printf("%-20s: %-16s\\n", "URL", "REMOTEADDRESS");
				    printa("%-20s: %-16s\\nMICROSECONDS\\n%@", @);
				}`);
			assert.match(stdout, /^URL {17}: REMOTEADDRESS {3}$/m);
			assert.match(stdout, /^\/one {16}: 127\.0\.0\.1 {7}\nMICROSECONDS\n\n +value +-+ Distribution -+ count/m);
			assert.match(stdout, /^ +(16384|32768|65536|131072|262144|524288) \|@+ +\d+ *$/m); // it took 20 ms at least
		});

		await t.test('plain arguments, copied in', async (t) => {
			const { stdout, pid } = await serve(t, n, `
				#pragma D option quiet
				node*:::http-server-request { printf("%d %s %s %s %d\\n", pid, copyinstr(arg2), copyinstr(arg4), copyinstr(arg5), arg6 > 2); }`);
			assert.match(stdout, new RegExp(`^${pid} 127\\.0\\.0\\.1 GET /one 1$`, 'm'));
		});

		await t.test('the list of probes, and their types', async (t) => {
			const target = await start(n, { code: 'setInterval(() => {}, 1000); console.log("{}")' });
			t.after(() => target.stop());
			const list = await noderay(['trace', '-l', '-n', 'node*:::*']);
			for (const name of ['gc-done', 'gc-start', 'http-client-request', 'http-client-response', 'http-server-request', 'http-server-response', 'net-server-connection', 'net-socket-read', 'net-socket-write', 'net-stream-end'])
				assert.match(list.stdout, new RegExp(`^ *\\d+ +node${target.pid} +\\S+ +\\S+ ${name}$`, 'm'));
			const types = await noderay(['trace', '-lv', '-n', `node${target.pid}:::http-server-request`]);
			assert.match(types.stdout, /Argument Types\n\t\targs\[0\]: node_http_request_t \*\n\t\targs\[1\]: node_connection_t \*\n\t\targs\[2\]: string\n\t\targs\[3\]: int\n\t\targs\[4\]: string\n\t\targs\[5\]: string\n\t\targs\[6\]: int\n/);
		});
	});

test('a core when a file is opened', needsRoot, async (t) => {
	const directory = workshop(node(22));
	fs.writeFileSync(path.join(directory, 'gcore'), `#!/bin/sh\nexec ${binary} core -o ${directory}/core.$1 $1\n`, { mode: 0o755 });
	fs.writeFileSync(path.join(directory, 'prun'), '#!/bin/sh\nexec kill -CONT "$1"\n', { mode: 0o755 });
	fs.writeFileSync(path.join(directory, 'script.d'), `
		syscall::openat:entry
		/execname == "node" && strstr(copyinstr(arg1), "bar") != NULL/
		{
			stop();
			system("gcore %d; prun %d", pid, pid);
			exit(0);
		}
	`);
	const env = { ...process.env, PATH: `${directory}:${process.env.PATH}` };
	const child = spawn(binary, ['trace', '-ws', path.join(directory, 'script.d')], { env, stdio: ['ignore', 'pipe', 'pipe'] });
	t.after(() => child.kill('SIGKILL'));
	let notes = '';
	child.stderr.on('data', (data) => (notes += data));
	const guard = setTimeout(() => child.kill('SIGKILL'), 60_000);
	const target = await start(node(22), { code: 'setInterval(() => { try { require("fs").readFileSync("/nonexistent/bar"); } catch {} }, 50); console.log("{}")' });
	t.after(() => target.stop());
	const [code] = await once(child, 'close');
	clearTimeout(guard);
	assert.equal(code, 0, notes);
	assert.match(notes, /matched 1 probe\ndtrace: allowing destructive actions/);
	assert.ok(fs.statSync(path.join(directory, `core.${target.pid}`)).size > 1e6);
	const { stdout } = await noderay(['stack', '--js', '--thread', 'main', path.join(directory, `core.${target.pid}`)]);
	assert.match(stdout, /readFileSync/);
	assert.doesNotMatch(fs.readFileSync(`/proc/${target.pid}/status`, 'utf8'), /^State:\tT/m);
});
