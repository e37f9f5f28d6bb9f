// Stops for good in Atomics.wait, after telling V8's own stack of the caller as the truth to compare with: the main
// thread prints it, a worker sends it to its parent. SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const { isMainThread, parentPort } = require('worker_threads');
const cell = new Int32Array(new SharedArrayBuffer(4));

// V8's frames above above.
exports.truth = function truth(above) {
	Error.stackTraceLimit = Infinity;
	const before = Error.prepareStackTrace;
	Error.prepareStackTrace = (_, sites) => sites;
	const holder = {};
	Error.captureStackTrace(holder, above);
	const frames = holder.stack.map((s) => ({
		text: String(s),
		name: s.getFunctionName(),
		file: s.getFileName() || s.getEvalOrigin() || s.getScriptNameOrSourceURL(),
		line: s.getLineNumber(),
		column: s.getColumnNumber(),
		native: s.isNative() || !(s.getFileName() || s.getEvalOrigin() || s.getScriptNameOrSourceURL()),
		construct: s.isConstructor(),
	}));
	Error.prepareStackTrace = before;
	return frames;
};

// A pipe takes what it has room for.
function print(text) {
	const bytes = Buffer.from(text);
	for (let at = 0; at < bytes.length;) {
		try {
			at += fs.writeSync(1, bytes, at);
		} catch (error) {
			if (error.code !== 'EAGAIN') throw error;
		}
	}
}

// Called with 0 it returns at once: programs that must be optimized first call it many times like that.
exports.park = function park(forGood, extra) {
	if (!forGood) return 0;
	const frames = exports.truth(park);
	if (isMainThread) print(JSON.stringify({ pid: process.pid, frames, ...extra }) + '\n');
	else parentPort.postMessage({ frames });
	Atomics.wait(cell, 0, 0);
	return 0;
};
