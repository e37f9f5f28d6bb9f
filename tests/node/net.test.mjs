// net: every connection of a program, and every byte of it, on every node. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRoot, nodes } from './lib.mjs';
import { compare, watched } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

/** The records of each connection together, as its end in the program knows it: one that is opened, bytes read and written,
 *  an end. What was open before is left out: the program's own input and output are sockets too. */
function gather(records) {
	const open = new Map(), ends = [];
	for (const record of records) {
		const key = `${record.pid} ${record.fd}`;
		if (record.op === 'accept' || record.op === 'connect') {
			const end = {
				side: record.op === 'accept' ? 'server' : 'client', pid: record.pid, tid: record.tid, raddr: record.raddr ?? null,
				rport: record.rport || null, lport: record.lport || null, fd: record.fd, read: 0, written: 0, ended: false, error: record.error ?? null,
			};
			ends.push(end);
			if (!end.error) open.set(key, end);
			continue;
		}
		const end = open.get(key);
		if (!end) continue;
		if (record.op === 'read') end.read += record.bytes ?? 0;
		if (record.op === 'write') end.written += record.bytes ?? 0;
		if (record.op === 'end') end.ended = true;
		if (record.error && record.op !== 'close') end.error ??= record.error;
		if (record.op === 'close') open.delete(key);
	}
	return ends;
}

const how = {
	key: ({ side, raddr, rport, lport, read, error }) => [side, rport ? `${rport} ${error ? '' : lport}` : `${raddr ?? ''} ${read}`].join(' '),
	fields: Object.fromEntries(['pid', 'tid', 'raddr', 'rport', 'lport', 'fd', 'read', 'written', 'ended'].map((name) => [name, name])),
	check: (expected, seen) => (expected.error === seen.error ? [] : [`error is ${expected.error}`]),
};

for (const node of nodes)
	test(`node ${node.name}`, needsRoot, async () => {
		const { truth, records } = await watched(node, 'net.js', ['net']);
		assert.ok(records.every(({ op }) => ['accept', 'connect', 'read', 'write', 'end', 'close'].includes(op)));
		compare(truth, gather(records), how);
	});
