// With a debugger attached and breakpoints set, so that V8 runs copies of the bytecode. SPDX-License-Identifier: MIT
'use strict';
const inspector = require('inspector');
const { park } = require('../park.js');

function watched(n, stop) {
	const a = n + 1;
	return inner(a, stop);
}
function inner(n, stop) {
	let sum = 0;
	for (let i = 0; i < n; i++) sum += i;
	return park(stop) + sum;
}
watched(1, false);
const session = new inspector.Session();
session.connect();
session.post('Debugger.enable');
for (const lineNumber of [6, 11, 12])
	session.post('Debugger.setBreakpointByUrl', { urlRegex: 'debugged\\.js', lineNumber, condition: 'false' });
watched(2, true);
