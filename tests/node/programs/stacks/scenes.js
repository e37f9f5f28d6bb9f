// A worker for each scene, parked in the middle of it; then the main thread parks where hardly any stack is left.
// node scenes.js SCENE... SPDX-License-Identifier: MIT
'use strict';
const path = require('path');
const { Worker } = require('worker_threads');
const { park } = require('./park.js');

const scenes = process.argv.slice(2);
const workers = {};
let room = 400; // frames of ours that park() needs on top

// Down to where the stack overflows, and back up by as many frames.
function deep() {
	try {
		return deep();
	} catch (error) {
		if (room-- > 0) throw error;
		return park(true, { workers });
	}
}
for (const scene of scenes) {
	const worker = new Worker(path.join(__dirname, 'scenes', scene));
	worker.on('error', (error) => {
		console.error(scene, error);
		process.exit(1);
	});
	worker.on('message', ({ frames }) => {
		workers[scene] = { id: worker.threadId, frames };
		if (Object.keys(workers).length === scenes.length) deep();
	});
}
