// busy.js on two workers that do different things, while the main thread waits. SPDX-License-Identifier: MIT
'use strict';
const path = require('path');
const { Worker } = require('worker_threads');

const parts = {
	left: ['inlining', 'construct', 'closures', 'catching', 'sorting', 'bigints', 'spreading', 'typed'],
	right: ['generators', 'regexes', 'json', 'building', 'collections', 'proxies', 'recursion', 'binding', 'iterating'],
};
let started = 0;
for (const [name, scenarios] of Object.entries(parts)) {
	const worker = new Worker(path.join(__dirname, 'busy.js'), { name, argv: [scenarios.join(',')], stdout: true });
	worker.on('online', () => {
		if (++started === 2) console.log(JSON.stringify({ pid: process.pid, parts }));
	});
}
