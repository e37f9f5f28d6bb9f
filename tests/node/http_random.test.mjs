// http: random messages, cut anywhere, on many connections, on every node. SPDX-License-Identifier: MIT
//
// NODERAY_TEST_SEED=N does again what failed.
import test from 'node:test';
import { isRoot, nodes } from './lib.mjs';
import { how } from './http.mjs';
import { compare, watched } from './truth.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };
const seed = Number(process.env.NODERAY_TEST_SEED ?? Date.now() % 1e6);

/** A server of node 16 or 18 closes a connection now and then; what it thinks it has sent on it never was on the wire. */
function withoutCut(truth, list) {
	const port = ({ side, probe, lport, rport }) => ((side ?? probe) === 'client' ? lport : rport);
	const cut = new Set(truth.filter(({ aborted }) => aborted).map(port));
	return list.filter((record) => !cut.has(port(record)));
}

for (const node of nodes)
	test(`node ${node.name}: seed ${seed}`, needsRoot, async () => {
		const { truth, records } = await watched(node, 'http_random.js', ['http', '-s', '-c'], { args: [seed, 30] });
		compare(withoutCut(truth, truth), withoutCut(truth, records), how);
	});
