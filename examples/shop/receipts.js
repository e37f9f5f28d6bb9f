// A worker thread that signs receipts, so that the main thread need not.
'use strict';
const { createHmac } = require('crypto');
const { parentPort } = require('worker_threads');

function signReceipt(order) {
	const text = JSON.stringify(order);
	return { text, signature: createHmac('sha256', 'shop').update(text).digest('hex') };
}

parentPort.on('message', ({ id, order }) => parentPort.postMessage({ id, receipt: signReceipt(order) }));
