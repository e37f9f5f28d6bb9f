'use strict';
// Threads that node starts for a while only: the CPU profiler's, and the watchdogs of node:vm. With
// --trace-event-categories there is a trace-events writer too. SPDX-License-Identifier: MIT
const vm = require('vm');
const inspector = require('inspector');

const session = new inspector.Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.start');

// Watchdogs are there as soon as the code in the vm runs.
const report = () => console.log(JSON.stringify({ pid: process.pid }));
setTimeout(() => {
	const context = vm.createContext({ report });
	vm.runInContext('report(); for (;;);', context, { timeout: 1e8, breakOnSigint: true });
}, 100);
