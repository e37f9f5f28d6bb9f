// Waits in ways that are known, and a little work. SPDX-License-Identifier: MIT
const { execFileSync } = require('child_process');
const cell = new Int32Array(new SharedArrayBuffer(4));
function sleepy() {
	Atomics.wait(cell, 0, 0, 40);
}
function working() {
	for (const end = Date.now() + 20; Date.now() < end; );
}
setInterval(function tick() {
	sleepy();
	working();
}, 100);
console.log('{}');
