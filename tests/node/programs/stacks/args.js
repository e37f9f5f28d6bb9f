// Values of every kind as receivers and arguments, each frame with its own. SPDX-License-Identifier: MIT
'use strict';
const { park } = require('./park.js');

class Server {
	handle(a, b) {
		return numbers.call(this, 1, -1, 0, -0, 1.5, 0.1, NaN, -Infinity, 1e300, 3000000000, 2147483647, 5e-324);
	}
}
function numbers() {
	return strings('plain', 'tab\tnl\nesc\x1b[31m\0', 'x'.repeat(500), 'ünï 漢字 🐍', '', 'say "hi"');
}
function strings() {
	return specials(undefined, null, true, false, Symbol('tag'), Symbol(), Symbol.iterator, 12345678901234567890n, -5n, 0n, 2n ** 200n);
}
function specials() {
	return objects({}, [1, , 3], new Array(1000), new Server(), new Map([[1, 2]]), new Set(), new Date(), /re/g, new Error('boom'));
}
function objects() {
	return more(new Proxy({}, {}), new Uint8Array(7), new Float64Array(3), Buffer.from('hi'), new ArrayBuffer(8), Promise.resolve(),
		new (class extends Map {})(), new (class Late extends Server {})());
}
function more() {
	return functions(function named() {}, class Klass {}, Math.max, async function later() {}, function* gen() {}, () => 0);
}
function functions() {
	return few(1);
}
function few(a, b, c) {
	return many(1, 2, 3, 4, 5);
}
function many(a) {
	return rest(1, 2, 3);
}
function rest(first, ...others) {
	return spread(...[1, 2], ...'xy');
}
function spread(...all) {
	return Reflect.apply(reflected, new Number(5), ['r']);
}
function reflected() {
	return forty(...Array.from({ length: 40 }, (_, i) => i));
}
function forty() {
	return none();
}
function none() {
	return park(true);
}
new Server().handle('x', { y: 1 });
