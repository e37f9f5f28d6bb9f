// From a tick to a microtask to an async function that goes on. SPDX-License-Identifier: MIT
'use strict';
const { park } = require('../park.js');

async function* produce() {
	await null;
	yield park(true);
}
async function consume(deep) {
	for await (const value of produce()) return value + deep;
}
process.nextTick(function onTick() {
	Promise.resolve(1).then(function onFulfilled(v) {
		queueMicrotask(() => consume(v).catch(console.error));
	});
});
