// files.js - opens one of everything and prints, as JSON, which descriptor is what.
// SPDX-License-Identifier: MIT
// Argument: a directory to write to. Descriptors are found out by handle._handle.fd, which every node has.
'use strict';
const { Worker, isMainThread, parentPort } = require('worker_threads');
const http = require('http');
const net = require('net');

const listen = (server, ...where) => new Promise((resolve) => server.listen(...where, () => resolve(server)));
const fdOf = (thing) => thing._handle.fd;

async function connectTo(server, options) {
	const accepted = new Promise((resolve) => server.once('connection', resolve));
	const client = net.connect(options);
	await new Promise((resolve) => client.once('connect', resolve));
	return { client, accepted: await accepted };
}

async function inWorker() {
	const server = await listen(http.createServer(), 0, '127.0.0.1');
	parentPort.postMessage({ fd: fdOf(server), port: server.address().port });
}

async function openNetwork(dir, keep) {
	const out = {};
	const v4 = await listen(http.createServer(), 0, '127.0.0.1');
	const v6 = await listen(http.createServer(), 0, '::');
	const local = await listen(net.createServer(), `${dir}/socket`);
	const a = await connectTo(v4, { port: v4.address().port, host: '127.0.0.1' });
	const b = await connectTo(v6, { port: v6.address().port, host: '127.0.0.1' });
	const c = await connectTo(local, { path: `${dir}/socket` });
	a.accepted.pause();
	a.accepted._handle.readStop();
	const udp = require('dgram').createSocket('udp4');
	await new Promise((resolve) => udp.bind(0, '127.0.0.1', resolve));
	out.v4 = { fd: fdOf(v4), port: v4.address().port };
	out.v6 = { fd: fdOf(v6), port: v6.address().port };
	out.local = { fd: fdOf(local) };
	out.client = { fd: fdOf(a.client), port: a.client.localPort };
	out.accepted = { fd: fdOf(a.accepted) };
	out.mapped = { fd: fdOf(b.accepted), port: b.client.localPort };
	out.localClient = { fd: fdOf(c.client) };
	out.localAccepted = { fd: fdOf(c.accepted) };
	out.udp = { fd: udp[Object.getOwnPropertySymbols(udp).find((s) => udp[s] && udp[s].handle)].handle.fd, port: udp.address().port };
	keep.push(v4, v6, local, a, b, c, udp);
	return out;
}

function openFiles(dir, keep) {
	const fs = require('fs');
	const file = fs.openSync(`${dir}/file`, 'a+');
	fs.writeSync(file, 'hello, world');
	const read = fs.openSync(`${dir}/file`, 'r');
	fs.readSync(read, Buffer.alloc(5), 0, 5, null);
	const gone = fs.openSync(`${dir}/gone`, 'w');
	fs.unlinkSync(`${dir}/gone`);
	const odd = fs.openSync(`${dir}/odd\n\u00e9 (deleted)`, 'w');
	keep.push(fs.opendirSync(dir), fs.watch(dir), fs.watch(`${dir}/file`));
	return { file: { fd: file }, read: { fd: read }, gone: { fd: gone }, odd: { fd: odd } };
}

async function openChild(keep) {
	// It reads, so that it ends with us even if we are killed.
	const child = require('child_process').spawn('cat', [], { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] });
	// Until the kernel has run the program, the child holds all that we hold.
	await new Promise((resolve) => {
		child.stdout.once('data', resolve);
		child.stdin.write('hello');
	});
	keep.push(child);
	return { stdin: { fd: fdOf(child.stdin), pid: child.pid }, stdout: { fd: fdOf(child.stdout) }, ipc: { fd: child.channel.fd } };
}

async function main() {
	const dir = process.argv[2];
	const keep = (global.keep = []);
	const worker = new Worker(__filename);
	const inside = await new Promise((resolve) => worker.once('message', resolve));
	process.on('SIGHUP', () => {});
	const out = { dir, worker: inside, threadId: worker.threadId };
	Object.assign(out, openFiles(dir, keep), await openNetwork(dir, keep), await openChild(keep));
	process.stdout.write(JSON.stringify(out) + '\n');
}

if (isMainThread) main();
else inWorker();
