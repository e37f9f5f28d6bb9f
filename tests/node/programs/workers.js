// Three worker_threads, all running when the line is printed. SPDX-License-Identifier: MIT
'use strict';
const { Worker, isMainThread } = require('worker_threads');

if (isMainThread) {
	let online = 0;
	for (let i = 0; i < 3; i++)
		new Worker(__filename).on('online', () => {
			if (++online === 3) console.log(JSON.stringify({ pid: process.pid, version: process.versions.node, v8: process.versions.v8 }));
		});
}
setInterval(() => {}, 1000);
