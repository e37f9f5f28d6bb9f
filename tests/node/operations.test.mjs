// fs, dns, net and pool: what options choose, who asked, sums; and what they refuse. What they see at all, on every node, is
// in the tests of their names. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { isRoot, jsonLines, noderay, nodes, start, tmp } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

/** What a verb says of a process in a second; on a busy machine it may take more until there is something. */
async function said(target, args, isEnough = (records) => records.length > 0) {
	for (let seconds = 1; ; seconds *= 2) {
		const { code, stdout, stderr } = await noderay([...args, '--json', '-d', seconds, target.pid]);
		assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
		const records = jsonLines(stdout);
		if (isEnough(records) || seconds > 4) return records;
	}
}

/** Every line is one of those wanted, and there are some. */
const all = async (target, args, isWanted) => {
	const records = await said(target, args);
	assert.ok(records.length, args.join(' '));
	for (const record of records) assert.ok(isWanted(record), `${args.join(' ')}: ${JSON.stringify(record)}`);
};

const asks = (name) => ({ stack }) => stack?.some((frame) => frame.includes(`${name} (`) && frame.includes('operations.js'));

const checks = {
	'fs --failed': (t) => all(t, ['fs', '--failed'], ({ error, path: at, op, sync, result }) =>
		error === 'ENOENT' && result === -2 && at.endsWith('/missing') && op === 'stat' && !sync),
	'fs --path': (t) => all(t, ['fs', '--path', '*/file'], ({ path: at }) => at.endsWith('/file')),
	'fs --slow': async (t) => {
		const isSlow = ({ op, path: at, total_ms: total }) => op === 'open' && at.endsWith('/pipe') && total >= 50;
		const records = await said(t, ['fs', '--slow', '50ms'], (list) => list.some(isSlow));
		assert.ok(records.some(isSlow) && records.every(({ total_ms: total }) => total >= 50), JSON.stringify(records));
	},
	'fs --stack': async (t) => {
		const isWhole = (records) => [['/missing', 'askForMissing'], ['/file', 'askAtOnce'], ['/file', 'askForFile'], ['/pipe', 'askSlowly']]
			.every(([end, name]) => records.some((record) => record.path?.endsWith(end) && asks(name)(record)));
		assert.ok(isWhole(await said(t, ['fs', '--stack'], isWhole)));
	},
	'fs -c': async (t) => {
		const rows = await said(t, ['fs', '-c'], (records) => records.length >= 4);
		for (const op of ['open', 'read', 'close', 'stat']) assert.ok(rows.find((row) => row.op === op)?.count > 0, op);
		const { errors, count, total_ms: times, wait_ms: waits } = rows.find(({ op }) => op === 'stat');
		assert.equal(errors, count);
		assert.ok(times.p50 <= times.p99 && times.p99 <= times.max && waits.count === count);
		assert.ok(rows.find(({ op }) => op === 'read').bytes >= 1000);
		assert.ok(rows.every((row) => !('path' in row)));
	},
	'fs --top': async (t) => {
		const isWhole = (rows) => ['missing', 'file', 'pipe'].every((name) => rows.some((row) => path.basename(row.path ?? '') === name));
		assert.ok(isWhole(await said(t, ['fs', '--top'], isWhole)));
	},
	'fs -c --top': (t) => all(t, ['fs', '-c', '--top', '--path', '*/file'], (row) => row.path.endsWith('/file') && row.op && row.count > 0),
	'dns --host': (t) => all(t, ['dns', '--stack', '--host', 'local*'], (record) =>
		record.kind === 'lookup' && record.host === 'localhost' && record.error === null && asks('askForName')(record)),
	'dns --top': (t) => all(t, ['dns', '--top'], (row) => row.host === 'localhost' && row.count > 0 && row.errors === 0),
	// The C library may look for nscd.
	'net --failed': (t) => all(t, ['net', '--failed', '--peer', '127.*'], ({ op, error, raddr, latency_ms: latency }) =>
		op === 'connect' && error === 'ECONNREFUSED' && raddr === '127.0.0.1' && latency >= 0),
	'net --top': (t) => all(t, ['net', '--top', '--peer', '127.*'], ({ peer, count, errors }) => /^127\.0\.0\.1:\d+$/.test(peer) && count >= errors && errors > 0),
	'pool --stack': async (t) => {
		const records = await said(t, ['pool', '--stack'], (list) => list.some(asks('askForKey')));
		const who = records.find(asks('askForKey'));
		assert.equal(who?.kind, 'crypto');
		assert.equal(who.what, 'pbkdf2');
		const kinds = records.flatMap((record) => record.kinds ?? []);
		for (const kind of ['fs', 'dns', 'crypto']) assert.ok(kinds.some((row) => row.kind === kind && row.count > 0), kind);
		assert.ok(records.some(({ threads, busy_max: most }) => threads === 4 && most >= 1 && most <= 4));
	},
};

// The oldest, the newest, and the one whose libuv is a library without symbols.
for (const node of nodes.filter((_, i) => i === 0 || i >= nodes.length - 2))
	test(`node ${node.name}`, needsRoot, async () => {
		const target = await start(node, 'operations.js', { args: [tmp()] });
		try {
			const names = Object.keys(checks);
			const work = async () => {
				for (let name = names.shift(); name; name = names.shift()) await checks[name](target);
			};
			await Promise.all([work(), work(), work(), work()]);
		} finally {
			await target.stop();
		}
	});

test('options that make no sense are refused', async () => {
	for (const args of [['fs', '-o', 'nothing'], ['dns', '--slow', 'soon'], ['net', '--rows', '-1', '-c'], ['pool', '-i', '0'],
		['fs', '--stack', '--top', '--path', '*']]) {
		const { code, stdout, stderr } = await noderay([...args, process.pid]);
		assert.equal(code, 2, `${args.join(' ')}: ${stdout}${stderr}`);
		assert.ok(stderr.startsWith(`noderay: `), stderr);
		assert.equal(stdout, '');
	}
});

test('a verb shows its script, and the script runs without it', needsRoot, async () => {
	for (const verb of ['fs', 'dns', 'net', 'pool']) {
		const { code, stdout } = await noderay([verb, '--show-script']);
		assert.equal(code, 0);
		assert.match(stdout, new RegExp(`^/\\* ${verb}\\.d - `));
		assert.match(stdout, /#pragma D option follow=children/);
	}
	const { stdout } = await noderay(['fs', '--slow', '10ms', '-c', '--show-script']);
	assert.match(stdout, /inline uint64_t slow = 10000000;/);
	assert.match(stdout, /inline int sums = 1;/);
});

// The command becomes another program, whose libraries come one by one, and nobody stops it meanwhile.
for (const node of nodes.slice(-2))
	test(`node ${node.name} behind a launcher`, needsRoot, async () => {
		const marker = path.join(tmp(), 'marker');
		const program = `let n = 0; setInterval(() => { require("fs").existsSync(${JSON.stringify(marker)}); n++ > 60 && process.exit(); }, 50)`;
		const command = ['env', ...Object.entries(node.env).map(([name, value]) => `${name}=${value}`), node.path, '-e', program];
		const { code, stdout, stderr } = await noderay(['fs', '--json', '--path', '*/marker', '--', ...command]);
		assert.equal(code, 0, stderr);
		assert.ok(jsonLines(stdout).some(({ op, error }) => op === 'access' && error === 'ENOENT'), stdout + stderr);
	});
