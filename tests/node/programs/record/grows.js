// Takes memory: objects that stay, buffers that stay, and litter. SPDX-License-Identifier: MIT
const kept = [], buffers = [];
function growHeap() {
	for (let i = 0; i < 30000; i++) kept.push({ i, text: 'x' + i });
}
function growBuffers() {
	buffers.push(Buffer.alloc(3 << 20, 1));
}
function litter() {
	let last;
	for (let i = 0; i < 200000; i++) last = [i, { last: i }];
	return last;
}
let rounds = 0;
setInterval(function tick() {
	litter();
	if (rounds++ > 60) {
		kept.length = buffers.length = 0;
		rounds = 0;
	}
	growHeap();
	growBuffers();
}, 30);
console.log('{}');
