// Stops for good in Atomics.wait, after printing V8's own stack of the caller as the truth to compare with.
// SPDX-License-Identifier: MIT
'use strict';
const cell = new Int32Array(new SharedArrayBuffer(4));

// Called with 0 it returns at once: programs that must be optimized first call it many times like that.
exports.park = function park(forGood, extra) {
	if (!forGood) return 0;
	Error.stackTraceLimit = Infinity;
	const frames = [];
	const before = Error.prepareStackTrace;
	Error.prepareStackTrace = (_, sites) => sites;
	const holder = {};
	Error.captureStackTrace(holder, park);
	for (const s of holder.stack) {
		frames.push({
			text: String(s),
			name: s.getFunctionName(),
			file: s.getFileName() || s.getEvalOrigin() || s.getScriptNameOrSourceURL(),
			line: s.getLineNumber(),
			column: s.getColumnNumber(),
			native: s.isNative() || s.getFileName() === null || s.getFileName() === undefined,
			construct: s.isConstructor(),
		});
	}
	Error.prepareStackTrace = before;
	require('fs').writeSync(1, JSON.stringify({ pid: process.pid, frames, ...extra }) + '\n');
	Atomics.wait(cell, 0, 0);
	return 0;
};
