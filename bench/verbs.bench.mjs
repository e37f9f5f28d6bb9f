// The verbs that watch a server, beside what else can: how much of its throughput is left. SPDX-License-Identifier: MIT
//
// Each measurement is a run of wrk with the tracer between two without it; who runs on which core says load.mjs. strace and ltrace hold the target's threads at
// every call; bpftrace's scripts do with uprobes what the verb beside them does, as far as they can: they know nothing of
// pipelining, bodies, or which answer belongs to which request.
import fs from 'node:fs';
import { binary, hasVerb, node, nodes } from '../tests/node/lib.mjs';
import { twice } from './lib.mjs';
import { countUnderLoad } from '../tests/node/load.mjs';
import { kept, startServer } from './load.mjs';

export const title = 'verbs: throughput that a hello-world server on node 24 keeps under full load';
export const about = `The server has one core for itself; the load generator (wrk, 50 connections) and the tracer share the other. The generator stands
for other machines: left to the kernel, three processes on two cores show how they were moved around more than what the
server lost. The row without pinning is for comparison: there the generator's own loss counts, too, which makes three times as many system calls as the server.
Ratios are to the same server untraced, right before and after.`;
export const rounds = 15; // single ones differ by five per cent and more, and some of what is wanted is nearer than that
export const peerRounds = 3;

export async function setUp() {
	const verbs = {};
	for (const verb of ['http', 'loop', 'gc', 'syscalls']) verbs[verb] = await hasVerb(verb);
	return { server: await startServer(node(24)), verbs };
}
export const tearDown = ({ server }) => server.stop();

// It prints that it is there when all is attached: BEGIN comes before that.
const started = 'interval:ms:100 /@on == 0/ { @on = 1; printf("on\\n"); }';

function bpftraceHttp(pid, each) {
	const exe = fs.realpathSync(`/proc/${pid}/exe`), probe = (name) => `uprobe:${exe}:${name} /pid == ${pid}`;
	return [
		started,
		`${probe('llhttp__on_url')}/ { @at[tid] = nsecs; @url[tid] = str(arg1, arg2 - arg1); }`,
		`${probe('llhttp__on_headers_complete')}/ { @open[tid] = 1; }`,
		`${probe('uv_try_write')} && @open[tid]/ { ${each} delete(@open[tid]); }`,
	].join('\n');
}
const summing = '@count[@url[tid]] = count(); @latency[@url[tid]] = hist(nsecs - @at[tid]);';
const printing = 'printf("%d %s %d\\n", pid, @url[tid], nsecs - @at[tid]);';
const countingCalls = (pid) => `${started}
tracepoint:raw_syscalls:sys_enter /pid == ${pid}/ { @at[tid] = nsecs; }
tracepoint:raw_syscalls:sys_exit /pid == ${pid} && @at[tid]/ {
	$ns = nsecs - @at[tid];
	@time[args->id] = stats($ns);
	@longest[args->id] = max($ns);
	if (args->ret < 0) { @errors[args->id] = count(); }
}`;

/** How many requests noderay and the server do not agree on. */
async function missed(which) {
	const { counted, answered, statuses } = await countUnderLoad(which, 3);
	const differs = Object.keys({ ...statuses, ...answered.statuses }).map((status) => Math.abs((statuses[status] ?? 0) - (answered.statuses[status] ?? 0)));
	return Math.max(Math.abs(counted - answered.requests), ...differs);
}

/** ltrace puts breakpoints into its target and may leave them there, or fail to attach: it gets a server for itself. */
async function withLtrace() {
	const server = await startServer(node(24));
	try {
		return await kept(server, '/usr/bin/ltrace', ['-f', '-c', '-o', '/dev/null', '-p', server.pid]);
	} catch {
		return null;
	} finally {
		await server.stop();
	}
}

export function rows({ server, verbs }) {
	const { pid } = server;
	const verb = (isPinned) => (name, ...args) => () => (verbs[name] ? kept(server, binary, [name, ...args, pid], { isPinned }) : null);
	const ours = verb(true), anywhere = verb(false);
	const bpftrace = (name, script) => ({ name, measure: () => kept(server, '/usr/bin/bpftrace', ['-e', script], { ready: /^on$/m }) });
	const strace = (name, ...args) => ({ name, measure: () => kept(server, '/usr/bin/strace', ['-f', ...args, '-o', '/dev/null', '-p', pid], { ready: /attached/ }) });
	const row = (what, atLeast, measure, peer) => ({ what, unit: '% kept', atLeast, ours: measure, peer });
	const count = twice(ours('syscalls', '-c')), list = twice(ours('syscalls'));
	return [
		{ ...row('http --top', 90, ours('http', '--top'), bpftrace('bpftrace, uprobes', bpftraceHttp(pid, summing))), times: 3 },
		{ ...row('http --top, nothing pinned', undefined, anywhere('http', '--top')), rounds: 5 },
		row('http, every request printed', 80, ours('http'), bpftrace('bpftrace, uprobes', bpftraceHttp(pid, printing))),
		{ ...row('loop', 97, ours('loop')), times: 3 },
		row('gc', 97, ours('gc')),
		row('syscalls -c', 90, count, bpftrace('bpftrace', countingCalls(pid))),
		row('syscalls -c', undefined, count, strace('strace -c', '-c')),
		row('syscalls', undefined, list, strace('strace')),
		row('syscalls', undefined, list, { name: 'ltrace -c', measure: withLtrace }),
		...nodes.map((which) => ({ what: `not counted under full load, node ${which.name}`, unit: 'requests', atMost: 0, rounds: 1, ours: () => missed(which) })),
	];
}
