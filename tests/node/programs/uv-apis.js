'use strict';
// uv-apis.js DIRECTORY: calls one API of node after the other, by the names that the manual of the uv provider has. Before each
// it asks for access to /api/NAME, which nobody has: that is how a tracer knows. SPDX-License-Identifier: MIT
const childProcess = require('child_process');
const crypto = require('crypto');
const dgram = require('dgram');
const dns = require('dns');
const fs = require('fs');
const http = require('http');
const net = require('net');
const os = require('os');
const path = require('path');
const zlib = require('zlib');
const { performance } = require('perf_hooks');
const { Worker, MessageChannel } = require('worker_threads');

const directory = process.argv[2];
const file = (name) => path.join(directory, name);
const call = (f, ...args) => new Promise((resolve) => f(...args, resolve));
const nothing = () => {};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const once = (emitter, event) => new Promise((resolve) => emitter.once(event, resolve));
const withFile = (f) => {
	const fd = fs.openSync(file('a'), 'r+');
	f(fd);
	fs.closeSync(fd);
};
const withServer = async (f, ...args) => {
	const server = net.createServer((socket) => socket.on('error', nothing).end('x').resume());
	await new Promise((resolve) => server.listen(...args, resolve));
	await f(server);
	server.close();
};
const withClient = (f) => withServer(async (server) => {
	const socket = net.connect(server.address().port, '127.0.0.1');
	socket.on('error', nothing).resume();
	const closed = once(socket, 'close');
	await once(socket, 'connect');
	f(socket);
	socket.end();
	await closed;
}, 0, '127.0.0.1');
const withUdp = async (f) => {
	const socket = dgram.createSocket('udp4');
	await new Promise((resolve) => socket.bind(0, '127.0.0.1', resolve));
	try {
		await f(socket);
	} finally {
		socket.close();
	}
};
const worker = (code) => once(new Worker(code, { eval: true }), 'exit');

const apis = {
	'fs.mkdir': () => fs.mkdirSync(directory),
	'fs.writeFile': () => fs.writeFileSync(file('a'), 'text'),
	'fs.appendFile': () => fs.appendFileSync(file('a'), 'text'),
	'fs.readFile': () => fs.readFileSync(file('a')),
	'fs.open': () => fs.closeSync(fs.openSync(file('a'))),
	'fs.close': () => fs.closeSync(fs.openSync(file('a'))),
	'fs.read': () => withFile((fd) => fs.readSync(fd, Buffer.alloc(4))),
	'fs.write': () => withFile((fd) => fs.writeSync(fd, 'x')),
	'fs.createReadStream': () => once(fs.createReadStream(file('a')).resume(), 'close'),
	'fs.createWriteStream': () => once(fs.createWriteStream(file('w')).end('x'), 'close'),
	'fs.stat': () => fs.statSync(file('a')),
	'fs.lstat': () => fs.lstatSync(file('a')),
	'fs.fstat': () => withFile((fd) => fs.fstatSync(fd)),
	'fs.access': () => fs.accessSync(file('a')),
	'fs.exists': () => fs.existsSync(file('a')) && call(fs.exists, file('a')),
	'fs.chmod': () => fs.chmodSync(file('a'), 0o600),
	'fs.fchmod': () => withFile((fd) => fs.fchmodSync(fd, 0o600)),
	'fs.chown': () => fs.chownSync(file('a'), process.getuid(), process.getgid()),
	'fs.lchown': () => fs.lchownSync(file('a'), process.getuid(), process.getgid()),
	'fs.fchown': () => withFile((fd) => fs.fchownSync(fd, process.getuid(), process.getgid())),
	'fs.utimes': () => fs.utimesSync(file('a'), 1, 1),
	'fs.futimes': () => withFile((fd) => fs.futimesSync(fd, 1, 1)),
	'fs.lutimes': () => fs.lutimesSync(file('a'), 1, 1),
	'fs.fsync': () => withFile((fd) => fs.fsyncSync(fd)),
	'fs.fdatasync': () => withFile((fd) => fs.fdatasyncSync(fd)),
	'fs.ftruncate': () => withFile((fd) => fs.ftruncateSync(fd, 3)),
	'fs.truncate': () => fs.truncateSync(file('a'), 2),
	'fs.link': () => fs.linkSync(file('a'), file('link')),
	'fs.symlink': () => fs.symlinkSync(file('a'), file('symlink')),
	'fs.readlink': () => fs.readlinkSync(file('symlink')),
	'fs.realpath': () => fs.realpathSync(file('symlink')),
	'fs.realpath.native': () => fs.realpathSync.native(file('symlink')),
	'fs.promises.realpath': () => fs.promises.realpath(file('symlink')),
	'fs.rename': () => fs.renameSync(file('link'), file('renamed')),
	'fs.copyFile': () => fs.copyFileSync(file('a'), file('copy')),
	'fs.unlink': () => fs.unlinkSync(file('copy')),
	'fs.readdir': () => fs.readdirSync(directory),
	'fs.opendir': () => fs.opendirSync(directory).closeSync(),
	'dir.read': () => {
		const dir = fs.opendirSync(directory);
		dir.readSync();
		dir.closeSync();
	},
	'dir.close': () => fs.opendirSync(directory).closeSync(),
	'fs.mkdtemp': () => fs.rmdirSync(fs.mkdtempSync(file('t-'))),
	'fs.rmdir': () => {
		fs.mkdirSync(file('empty'));
		fs.rmdirSync(file('empty'));
	},
	'fs.statfs': () => fs.statfsSync?.(directory),
	'fs.watch': () => fs.watch(directory).close(),
	'fs.watchFile': async () => {
		fs.watchFile(file('a'), { interval: 20 }, nothing);
		await pause(30);
	},
	'fs.unwatchFile': () => fs.unwatchFile(file('a')),
	'fs.rm': () => fs.rmSync(directory, { recursive: true }),
	'os.cpus': () => os.cpus(),
	'os.hostname': () => os.hostname(),
	'os.uptime': () => os.uptime(),
	'os.freemem': () => os.freemem(),
	'os.totalmem': () => os.totalmem(),
	'os.loadavg': () => os.loadavg(),
	'os.networkInterfaces': () => os.networkInterfaces(),
	'os.userInfo': () => os.userInfo(),
	'os.homedir': () => os.homedir(),
	'os.getPriority': () => os.getPriority(),
	'os.setPriority': () => os.setPriority(os.getPriority()),
	'os.availableParallelism': () => os.availableParallelism?.(),
	'process.cwd': () => process.cwd(),
	'process.chdir': () => process.chdir(process.cwd()),
	'process.title': () => process.title,
	'process.memoryUsage': () => process.memoryUsage(),
	'process.memoryUsage.rss': () => process.memoryUsage.rss(),
	'process.cpuUsage': () => process.cpuUsage(),
	'process.resourceUsage': () => process.resourceUsage(),
	'process.threadCpuUsage': () => process.threadCpuUsage?.(),
	'process.ppid': () => process.ppid,
	'process.constrainedMemory': () => process.constrainedMemory?.(),
	'process.availableMemory': () => process.availableMemory?.(),
	'process.kill': () => process.kill(process.pid, 0),
	'process.report.getReport': () => withUdp(() => withServer(() => {
		const watcher = fs.watch('/');
		fs.watchFile('/', nothing);
		process.report.getReport();
		fs.unwatchFile('/');
		watcher.close();
	}, { path: `${directory}.report` })),
	'process.env.NAME': () => process.env.HOME,
	'process.env.NAME = ...': () => (process.env.NODERAY_TEST = '1'),
	'delete process.env.NAME': () => delete process.env.NODERAY_TEST,
	'Object.keys(process.env)': () => Object.keys(process.env),
	"process.on('SIG...')": () => process.on('SIGUSR2', nothing),
	"process.off('SIG...')": () => process.off('SIGUSR2', nothing),
	'process.hrtime': () => process.hrtime(),
	'performance.eventLoopUtilization': () => performance.eventLoopUtilization(),
	'performance.nodeTiming.uvMetricsInfo': () => performance.nodeTiming.uvMetricsInfo,
	setTimeout: () => pause(5),
	clearTimeout: async () => {
		clearTimeout(setTimeout(nothing, 1e6));
		await pause(1);
	},
	'timeout.unref': () => setTimeout(nothing, 1e6).unref(),
	'timeout.ref': () => clearTimeout(setTimeout(nothing, 1e6).unref().ref()),
	setImmediate: async () => {
		await call(setImmediate);
		await pause(3);
	},
	'crypto.pbkdf2': () => call(crypto.pbkdf2, 'a', 'b', 1, 16, 'sha1'),
	zlib: () => call(zlib.gzip, 'x'),
	'child_process.spawn': () => once(childProcess.spawn('/bin/true'), 'exit'),
	'child_process.spawnSync': () => childProcess.spawnSync('/bin/cat', { input: 'x' }),
	'child_process.spawnSync with input': () => childProcess.spawnSync('/bin/cat', { input: 'x' }),
	'subprocess.kill': async () => {
		const child = childProcess.spawn('/bin/cat');
		const gone = once(child, 'exit');
		child.kill();
		await gone;
	},
	'new Worker': () => worker('require("worker_threads").parentPort.postMessage(1)'),
	'new MessageChannel': () => new MessageChannel().port1.close(),
	'worker.terminate': async () => {
		const thread = new Worker('setInterval(() => {}, 1e6)', { eval: true });
		await once(thread, 'online');
		await thread.terminate();
	},
	'process.exit in a Worker': () => worker('setTimeout(() => process.exit(0), 1)'),
	'dns.lookup': () => call(dns.lookup, 'localhost'),
	'dns.lookupService': () => call(dns.lookupService, '127.0.0.1', 22),
	'dns.resolve': async () => {
		const resolver = new dns.Resolver({ timeout: 50, tries: 1 });
		resolver.setServers(['127.0.0.1:9']);
		await call(resolver.resolve4.bind(resolver), 'a.invalid');
	},
	'server.listen': async () => {
		await withServer(nothing, 0, '127.0.0.1');
		const server = net.createServer().listen(0, '2001:db8::1'); // hardly an address of ours
		await Promise.race([once(server, 'error'), once(server, 'listening')]);
		server.close();
	},
	'server.close': () => withServer(nothing, 0, '127.0.0.1'),
	'server.address': () => withServer((server) => server.address(), 0, '127.0.0.1'),
	'server.listen({ path })': () => withServer(nothing, { path: `${directory}.sock` }),
	'net.connect': async () => {
		await withServer((server) => once(net.connect({ port: server.address().port, host: 'localhost', family: 4 }).resume(), 'close'), 0, '127.0.0.1');
		await once(net.connect(9, '::1').on('error', nothing), 'close');
	},
	'net.connect({ path })': () => once(net.connect(`${directory}.nobody`).on('error', nothing), 'close'),
	'socket.write': () => withClient((socket) => socket.write(Buffer.alloc(4 << 20))),
	'socket.end': () => withClient((socket) => socket.end()),
	'socket.destroy': () => withClient((socket) => socket.destroy()),
	'socket.setNoDelay': () => withClient((socket) => socket.setNoDelay(true)),
	'socket.setKeepAlive': () => withClient((socket) => socket.setKeepAlive(true, 1000)),
	'socket.remoteAddress': () => withClient((socket) => socket.remoteAddress),
	'socket.localAddress': () => withClient((socket) => socket.localAddress),
	'socket.ref': () => withClient((socket) => socket.unref().ref()),
	'socket.unref': () => withClient((socket) => socket.unref().ref()),
	'socket.resetAndDestroy': () => withClient((socket) => socket.resetAndDestroy?.()),
	'http.request': async () => {
		const server = http.createServer((request, response) => response.end('x'));
		await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
		const response = await new Promise((resolve) => http.get({ port: server.address().port, host: 'localhost', family: 4, agent: false }, resolve));
		await once(response.resume(), 'end');
		server.close();
	},
	'dgram.createSocket': () => withUdp(nothing),
	'dgram: socket.bind': () => withUdp(nothing),
	'dgram: socket.send': async () => {
		await withUdp((socket) => call(socket.send.bind(socket), 'x', 9, '127.0.0.1'));
		const socket = dgram.createSocket('udp6');
		await call(socket.send.bind(socket), 'x', 9, '::1');
		socket.close();
	},
	'dgram: socket.address': () => withUdp((socket) => socket.address()),
	'dgram: socket.setBroadcast': () => withUdp((socket) => socket.setBroadcast(true)),
	'dgram: socket.setTTL': () => withUdp((socket) => socket.setTTL(3)),
	'dgram: socket.setMulticastTTL': () => withUdp((socket) => socket.setMulticastTTL(3)),
	'dgram: socket.setMulticastLoopback': () => withUdp((socket) => socket.setMulticastLoopback(true)),
	'dgram: socket.setMulticastInterface': () => withUdp((socket) => socket.setMulticastInterface('127.0.0.1')),
	'dgram: socket.getSendBufferSize': () => withUdp((socket) => socket.getSendBufferSize()),
	'dgram: socket.setRecvBufferSize': () => withUdp((socket) => socket.setRecvBufferSize(10000)),
	'dgram: socket.connect': () => withUdp((socket) => call(socket.connect.bind(socket), 9, '127.0.0.1')),
	'dgram: socket.close': () => withUdp(nothing),
	'net.isIP': () => net.isIP('::1'),
	'net.BlockList': () => new net.BlockList().addAddress('1.2.3.4'),
};

(async () => {
	for (const [name, f] of Object.entries(apis)) {
		fs.existsSync(`/api/${name}`);
		await Promise.resolve(f()).catch(nothing);
		for (let i = 0; i < 3; i++) await call(setImmediate); // what comes after a callback is its doing, too
	}
	fs.existsSync('/api/');
	console.log(JSON.stringify(Object.keys(apis)));
	process.exit(0);
})();
