// A known call graph, made hot until V8 has compiled it, then stopped inside it. The flags decide the tier.
// SPDX-License-Identifier: MIT
'use strict';
const { park } = require('./park.js');

// Several targets, so that the call cannot be inlined: code behind it that never ran would deoptimize.
const stops = [(s) => park(s), (s) => park(s) + 0, (s) => park(s) - 0, (s) => park(s) * 1, (s) => park(s) / 1, (s) => park(s) | 0];
function leaf(n, stop) {
	const x = n % 7;
	return x + stops[n % 6](stop);
}
function small(n, stop) {
	return leaf(n + 1, stop);
}
class Shape {
	constructor(size) {
		this.size = size;
	}
	area(n, stop) {
		let sum = this.size;
		sum += small(n, stop);
		return sum;
	}
}
function middle(shape, n, stop) {
	const a = shape.area(n, false);
	const b = shape.area(
		n,
		stop
	);
	return a + b;
}
function outer(shape, n, stop) {
	let total = 0;
	for (let i = 0; i < 3; i++) total += middle(shape, i, i === 2 && stop);
	return total;
}

const shape = new Shape(3);
const rounds = Number(process.argv[2] || 200000);
let total = 0;
for (let i = 0; i < rounds; i++) total += outer(shape, i, false);
// Compilation is concurrent and ends when it ends. With --allow-natives-syntax we can ask.
const isOptimized = process.execArgv.includes('--allow-natives-syntax') ? new Function('f', 'return (%GetOptimizationStatus(f) & 16) !== 0') : () => true;
const end = Date.now() + 60_000;
while (!isOptimized(middle) && !isOptimized(outer) && Date.now() < end) for (let i = 0; i < 1000; i++) total += outer(shape, i, false);
outer(shape, total > 0 ? 5 : 6, true); // a small integer as ever: another kind of number would deoptimize
