// What a request's handler asks for carries the request's id, on every node. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRoot, nodes } from './lib.mjs';
import { traced } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

const clauses = [
	['node$target:::http-server-request', { what: ['%s', '"request"'], id: ['%d', 'args[0]->id'], name: ['%s', 'args[0]->url'] }],
	['node$target:::http-server-response', { what: ['%s', '"response"'], id: ['%d', 'arg5'], name: ['%s', 'args[6]->url'] }],
	['node$target:::fs-start', { what: ['%s', '"start"'], id: ['%d', 'args[0]->requestId'], name: ['%s', 'args[0]->path'] }],
	['node$target:::fs-done', { what: ['%s', '"done"'], id: ['%d', 'args[0]->requestId'], name: ['%s', 'args[0]->path'] }],
	['node$target:::dns-done', { what: ['%s', '"dns"'], id: ['%d', 'args[0]->requestId'], name: ['%s', 'args[0]->host'] }],
];

for (const node of nodes)
	test(`node ${node.name}`, needsRoot, async () => {
		const { truth, records } = await traced(node, 'ids.js', clauses);
		const idsOf = (what, name) => records.filter((record) => record.what === what && record.name === name).map(({ id }) => id);
		for (const { url, files, hosts, later } of truth) {
			const [id, ...more] = idsOf('request', url);
			assert.ok(id > 0 && more.length === 0, `${url}: ${id}`);
			assert.deepEqual(idsOf('response', url), [id], url);
			// Of several requests in the same bytes it cannot be told which one it is for.
			const wanted = url.startsWith('/pipelined') ? 0 : id;
			for (const file of files) {
				assert.deepEqual(idsOf('start', file), [wanted], `${url}: ${file} begins`);
				assert.deepEqual(idsOf('done', file), [wanted], `${url}: ${file} is done`);
			}
			for (const host of hosts) assert.deepEqual(idsOf('dns', host), [wanted], `${url}: ${host}`);
			for (const file of later) assert.deepEqual(idsOf('done', file), [0], `${url}: ${file} is nobody's`);
		}
	});
