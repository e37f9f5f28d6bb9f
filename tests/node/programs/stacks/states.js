// A worker for each state that a thread can be in, for good; the main thread is an idle server, whose requests never end.
// node states.js FIFO STATE... SPDX-License-Identifier: MIT
'use strict';
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const [fifo, ...wanted] = process.argv.slice(2);

const states = {
	fifo() {
		const fs = require('fs');
		const fd = fs.openSync(workerData.fifo, 'r+');
		parentPort.postMessage(0);
		fs.readSync(fd, Buffer.alloc(1)); // fifo
	},
	exec() {
		const { execSync } = require('child_process');
		parentPort.postMessage(0);
		execSync('cat', { stdio: ['inherit', 'pipe', 'pipe'] }); // exec
	},
	pbkdf2() {
		const { pbkdf2Sync } = require('crypto');
		parentPort.postMessage(0);
		for (;;) pbkdf2Sync('secret', 'salt', 100000, 64, 'sha512'); // pbkdf2
	},
	deflate() {
		const { deflateSync } = require('zlib');
		const bytes = Buffer.from(Array.from({ length: 1 << 20 }, (_, i) => (i * i) >> 7));
		parentPort.postMessage(0);
		for (;;) deflateSync(bytes, { level: 9 }); // deflate
	},
	regexp() {
		const slow = /^(a+)+$/;
		for (let i = 0; i < 100; i++) slow.test('aaab');
		parentPort.postMessage(0);
		slow.test(`${'a'.repeat(45)}b`); // regexp
	},
	parse() {
		const text = JSON.stringify(Array.from({ length: 200000 }, (_, i) => ({ i, s: `s${i}`, d: i / 3 })));
		parentPort.postMessage(0);
		for (;;) JSON.parse(text); // parse
	},
	collect() {
		let list = [];
		parentPort.postMessage(0);
		for (let i = 0; ; i++) { // collect
			list.push({ i, a: [i], s: 'x' + i }); // collect
			if (list.length > 200000) list = []; // collect
		}
	},
	wasm() {
		// (module (func (export "spin") (loop (br 0))))
		const code = '0061736d0100000001040160000003020100070801047370696e00000a0901070003400c000b0b';
		const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(code, 'hex')));
		parentPort.postMessage(0);
		exports.spin(); // wasm
	},
};

function spinForEver(request) {
	for (let i = 0; ; i = (i + 1) % 1000) request.spin = i;
}
function serve(workers) {
	const server = require('http').createServer(function onRequest(request, response) {
		spinForEver(request);
	});
	server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port, workers })));
}
function main() {
	const workers = {};
	for (const state of wanted) {
		const worker = new Worker(__filename, { workerData: { state, fifo } });
		worker.on('error', (error) => {
			console.error(state, error);
			process.exit(1);
		});
		worker.on('message', () => {
			workers[state] = worker.threadId;
			if (Object.keys(workers).length === wanted.length) serve(workers);
		});
	}
}
if (isMainThread) main();
else states[workerData.state]();
