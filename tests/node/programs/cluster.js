// A cluster of two; prints the pids of all three processes. SPDX-License-Identifier: MIT
'use strict';
const cluster = require('cluster');

if (cluster.isMaster) {
	const pids = [process.pid];
	for (let i = 0; i < 2; i++)
		cluster.fork().on('online', function () {
			pids.push(this.process.pid);
			if (pids.length === 3) console.log(JSON.stringify({ pids }));
		});
} else {
	process.on('disconnect', () => process.exit());
}
setInterval(() => {}, 1000);
