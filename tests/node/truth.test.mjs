// The programs of programs/truth do what they say, on every node: what two of their sides say of the same thing agrees.
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { nodes, tmp } from './lib.mjs';
import { startTruth } from './truth.mjs';

async function run(node, program, options) {
	const target = await startTruth(node, program, options);
	target.say('beacon');
	const { records } = await target.go();
	await target.finish();
	return { records, target };
}

function checkPairs(records) {
	const pairs = new Map();
	for (const record of records) {
		const key = `${record.url} ${record.tid}`;
		if (!pairs.has(key)) pairs.set(key, {});
		assert.ok(!pairs.get(key)[record.side], `twice: ${JSON.stringify(record)}`);
		pairs.get(key)[record.side] = record;
	}
	for (const { server, client } of pairs.values()) {
		if (!server && client.method === 'GETX') continue; // what a server does not understand, it does not serve
		assert.ok(server && client, `one side only: ${JSON.stringify(server ?? client)}`);
		const both = JSON.stringify([server, client]);
		for (const name of ['method', 'status', 'bytes', 'request_bytes', 'aborted', 'version', 'tls']) assert.equal(server[name], client[name], `${name}: ${both}`);
		assert.equal(server.rport, client.lport, both);
		for (const name of ['ms', 'ttfb_ms']) assert.ok(!(server[`min_${name}`] > server[`max_${name}`]), both);
	}
	return pairs.size;
}

for (const node of nodes) {
	test(`node ${node.name}: http`, async () => {
		const { records } = await run(node, 'http.js');
		assert.ok(checkPairs(records) > 350);
		assert.ok(records.some(({ aborted, status }) => aborted && status === 200));
		for (const status of [101, 200, 204, 304, 404, 413, 417, 500]) assert.ok(records.some((r) => r.status === status), `no ${status}`);
		assert.equal(new Set(records.map(({ tid }) => tid)).size, 3);
	});
	test(`node ${node.name}: the others`, async () => {
		const served = (await run(node, 'cluster.js')).records;
		assert.equal(served.length, 96);
		assert.deepEqual([...served.filter(({ side }) => side === 'server')].map(({ url }) => url).sort(),
			served.filter(({ side }) => side === 'client').map(({ url }) => url).sort());
		const files = (await run(node, 'fs.js', { args: [tmp()] })).records;
		assert.ok(files.length > 180);
		for (const error of ['ENOENT', 'EEXIST', 'ENOTDIR', 'ENOTEMPTY', 'EINVAL', 'EBADF', null]) assert.ok(files.some((r) => r.error === error), `no ${error}`);
		const names = (await run(node, 'dns.js')).records;
		assert.deepEqual([...new Set(names.map(({ error }) => error))].sort(), ['ENOTFOUND', 'ESERVFAIL', null].sort());
		const collections = (await run(node, 'gc.js', { flags: ['--expose-gc'] })).records;
		assert.equal(collections.filter(({ forced, type }) => forced && type === 'mark-compact').length, 6);
		assert.ok(collections.some(({ type }) => type === 'scavenge'));
		assert.ok(collections.every(({ freed_bytes: n }) => n === undefined || n > 10e6), JSON.stringify(collections));
		const blocks = (await run(node, 'loop.js', { args: [20] })).records;
		assert.equal(blocks.length, 12);
		assert.ok(blocks.every(({ min_ms: ms }) => ms >= 19));
		const jobs = (await run(node, 'pool.js', { args: [tmp()] })).records;
		assert.ok(jobs.length === 26 || jobs.length === 27);
		const ends = (await run(node, 'net.js')).records;
		assert.ok(ends.some(({ error }) => error === 'ECONNREFUSED') && ends.some(({ error }) => error === 'ECONNRESET'));
		const life = await run(node, 'life.js');
		assert.equal(life.target.child.exitCode, 7);
		assert.deepEqual(life.records.filter(({ what }) => what === 'worker-exit').map(({ code }) => code).sort(), [0, 1, 3]);
	});
}
