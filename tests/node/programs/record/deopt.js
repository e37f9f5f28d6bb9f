// deopt.js - functions that are compiled, and then found to be compiled for something else, over and over. Run with --allow-natives-syntax.
// SPDX-License-Identifier: MIT
//
// Who calls whom is in the text: each function has the callers that `callers` says, and no others. A worker does the same as the main thread.
'use strict';
const { Worker, isMainThread } = require('node:worker_threads');

const DEPTH = 60;
const numbers = { a: 1, b: 2, c: 3, d: 4 }, strings = { d: 'd', c: 'c', b: 'b', a: 'a' };

const callers = {
	ping: ['late', 'pang'], pong: ['ping'], pang: ['pong'], bottom: ['ping', 'pong', 'pang'],
	late: ['round'], early: ['round'], outer: ['early'], inner: ['outer'], sum: ['inner'], prepare: ['late', 'early'], compile: ['late', 'early'], round: ['forever'],
};

// Deoptimized when they are returned to: what they were compiled for has changed meanwhile.
function ping(n, list) {
	return n ? pong(n - 1, list) + list.length : bottom();
}
function pong(n, list) {
	return n ? pang(n - 1, list) + list.length : bottom();
}
function pang(n, list) {
	return n ? ping(n - 1, list) + list.length : bottom();
}
function bottom() {
	%DeoptimizeFunction(ping);
	%DeoptimizeFunction(pong);
	%DeoptimizeFunction(pang);
	return 0;
}

// Deoptimized where they are: what they are given is of another kind. The innermost ones are inlined.
function sum(o) {
	return o.a + o.b + o.c + o.d;
}
function inner(o, k) {
	const x = { o, k }, y = [o, k];
	return sum(x.o) + y.length;
}
function outer(o) {
	let total = inner(o, 1);
	for (let i = 0; i < 3; i++) total += inner(o, i);
	return total;
}

function prepare(list) {
	for (const f of list) {
		%ClearFunctionFeedback(f);
		%PrepareFunctionForOptimization(f);
	}
}
function compile(list) {
	for (const f of list) %OptimizeFunctionOnNextCall(f);
}

function late() {
	const list = [1];
	prepare([ping, pong, pang]);
	ping(9, list);
	compile([ping, pong, pang]);
	return ping(DEPTH, list);
}

function early() {
	prepare([sum, inner, outer]);
	outer(numbers);
	compile([outer]);
	outer(numbers);
	return outer(strings);
}

function round() {
	for (let i = 0; i < 4; i++) late();
	early();
}

function forever(milliseconds) {
	const end = Date.now() + milliseconds;
	do round(); while (Date.now() < end);
}

if (isMainThread) {
	new Worker(__filename);
	console.log(JSON.stringify({ ready: true, callers }));
}
// Now and then a message may come in: the worker's start needs that.
setInterval(forever, 10, 200);
