// System calls below known functions, on the main thread and, with the argument "workers", on two others.
// SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const { Worker, isMainThread } = require('worker_threads');

class Reader {
	open(file) {
		return fs.openSync(file, 'r');
	}
	read(file) {
		const fd = this.open(file);
		const buffer = Buffer.alloc(16);
		fs.readSync(fd, buffer, 0, 16, 0);
		fs.closeSync(fd);
	}
}
function each(files) {
	files.forEach((file) => {
		new Reader().read(file);
	});
}
function round() {
	each(['/dev/zero', '/dev/null']);
}
function loop() {
	round();
	setTimeout(loop, 1);
}
if (isMainThread && process.argv[2] === 'workers') {
	for (let i = 0; i < 2; i++) new Worker(__filename);
} else {
	loop();
}
if (isMainThread) console.log(JSON.stringify({ pid: process.pid }));
