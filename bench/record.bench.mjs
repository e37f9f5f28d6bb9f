// record, beside perf and V8's own profiler: what is left of a server's throughput, what a sample costs, how good it is. SPDX-License-Identifier: MIT
//
// The server does real work: it makes an id, sorts, renders, hashes, parses and packs, on a core of its own. As in most servers it is JavaScript that takes long, and libuv's
// pool does a little for each request: the id. Two other ways of the same work tell what that hangs on: all of it on one thread, and packing in the pool with nothing pinned.
// V8's profiler is started inside of it, by a line on its standard input; perf sees no JavaScript there, and is measured for what it costs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { binary, node, run, start, tmp } from '../tests/node/lib.mjs';
import { attach, keptInTurns, throughput } from './load.mjs';
import { twice, wallTime } from './lib.mjs';

export const title = 'record: profiles of a server with real work under full load';
export const about = `As for verbs, the server has one core for itself and whatever watches shares the other with the load generator. JavaScript is what takes long in it; libuv's pool does a little for each request.
V8's profiler sees the JavaScript of one thread; perf has no names for it. Throughput is measured under load that never pauses, with what watches and without in turns, from a second after its start. Rows that vary little are measured three or five times.

perf sets a clock whenever a thread of the server goes to work, and takes it away when it rests: with a pool that costs more than its samples do, at any rate of them. Where one thread does all the work, both
cost what the interrupts of the clock do. Where the work is the pool's and two cores are shared by all, V8's profiler interrupts one of the threads that are at work, we all of them.`;
export const rounds = 7; // throughput of single ones differs by some per cent
export const peerRounds = 3;

const code = `
const http = require('http'), crypto = require('crypto'), zlib = require('zlib'), inspector = require('inspector');
const randomBytes = require('util').promisify(crypto.randomBytes);
const items = Array.from({ length: 300 }, (_, i) => ({ id: i, name: 'item ' + ((i * 7919) % 300), price: (i * 31) % 97 }));
const sorted = () => items.slice().sort((a, b) => (a.name < b.name ? -1 : 1));
const render = (list) => list.map((r) => '<li data-id="' + r.id + '">' + r.name.replace(/item/g, 'Item') + ' ' + r.price.toFixed(2) + '</li>').join('');
const nested = (depth) => (depth ? nested(depth - 1) : render(sorted().slice(0, 50)));
const digest = async (text) => { await null; return crypto.createHash('sha256').update(text).digest('hex'); };
let served = 0;
const server = http.createServer(async (request, response) => {
	served++;
	const id = request.url === '/' ? (await randomBytes(16)).toString('hex') : '';
	const body = JSON.stringify({ id, hash: await digest(request.url + Math.random()), html: nested(8), copy: JSON.parse(JSON.stringify(items.slice(0, 40))) });
	if (request.url === '/pool') zlib.gzip(body, { level: 1 }, (error, packed) => response.end(packed));
	else response.end(zlib.gzipSync(body, { level: 1 }));
}).listen(0, '127.0.0.1', () => console.log(JSON.stringify(server.address())));
const session = new inspector.Session();
session.connect();
process.stdin.on('data', (line) => {
	const interval = Number(line);
	if (String(line) === 'count\\n') {
		console.log(JSON.stringify({ served, at: Number(process.hrtime.bigint()) }));
	} else if (interval) {
		session.post('Profiler.enable');
		session.post('Profiler.setSamplingInterval', { interval });
		session.post('Profiler.start', () => console.log('profiles'));
	} else {
		session.post('Profiler.stop', () => console.log('done'));
	}
});
`;

export async function setUp() {
	const context = { 22: await start(node(22), { code }), 24: await start(node(24), { code }), scratch: tmp() };
	// V8 takes some seconds until it has compiled what it will.
	for (let i = 0; i < 6; i++) for (const version of [22, 24]) await throughput(context[version]);
	return context;
}
export async function tearDown(context) {
	await context[22].stop();
	await context[24].stop();
}

/** A line to the server, and its answer. */
async function ask(server, line) {
	const answer = once(server.child.stdout, 'data');
	server.child.stdin.write(`${line}\n`);
	await answer;
}

const settled = 1000; // ms until what watches has met most of what there is to be met

/** What is kept while V8's profiler looks every so many microseconds. */
const keptByV8 = (server, interval, way) => keptInTurns(server, async () => {
	await ask(server, interval);
	await new Promise((resolve) => setTimeout(resolve, settled));
	return () => ask(server, 0);
}, way);

/** What is kept while a command looks. */
const keptBy = (server, command, args, way) => keptInTurns(server, () => attach(command, args, { wait: settled, isPinned: way?.isPinned }), way);

/** Time and runs of all programs in the kernel that a process holds; needs kernel.bpf_stats_enabled. */
function programTime(pid) {
	const sum = { time: 0, runs: 0 };
	for (const name of fs.readdirSync(`/proc/${pid}/fdinfo`)) {
		let text = '';
		try {
			text = fs.readFileSync(`/proc/${pid}/fdinfo/${name}`, 'utf8');
		} catch {
			continue; // closed meanwhile
		}
		sum.time += Number(text.match(/^run_time_ns:\s*(\d+)/m)?.[1] ?? 0);
		sum.runs += Number(text.match(/^run_cnt:\s*(\d+)/m)?.[1] ?? 0);
	}
	return sum;
}

const status = (pid, name) => Number(fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`^${name}:\\s*(\\d+)`, 'm'))[1]);

/** CPU time of a process so far, in ms. */
function cpuTime(pid) {
	const fields = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ');
	return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Records a server under load for so many seconds: { summary, cpu, steady, memory, kernel }. steady is the share of a CPU, in per cent, from the first second on. */
async function observe(server, seconds, frequency, file) {
	const load = spawn('/usr/bin/wrk', ['-t1', '-c8', `-d${seconds + 3}s`, `http://127.0.0.1:${server.ready.port}/`], { stdio: 'ignore' });
	const gone = once(load, 'exit');
	const child = spawn(binary, ['record', '--json', '-F', String(frequency), '-d', String(seconds), '-o', file, String(server.pid)], { stdio: ['ignore', 'pipe', 'pipe'] });
	let text = '', first = null, last = { cpu: 0, steady: 0, memory: 0, kernel: { time: 0, runs: 0 } };
	const begun = Date.now();
	child.stdout.on('data', (data) => (text += data));
	const over = once(child, 'close');
	const timer = setInterval(() => {
		try {
			const at = Date.now(), cpu = cpuTime(child.pid);
			if (!first && at - begun >= 1000) first = { at, cpu };
			// What is written at the end is no part of it.
			const steady = at - begun > seconds * 1000 || !first || at === first.at ? last.steady : (cpu - first.cpu) / (at - first.at) * 100;
			last = { cpu, steady, memory: status(child.pid, 'VmHWM') / 1024, kernel: programTime(child.pid) };
		} catch { /* it has ended */ }
	}, 100);
	const [exit] = await over;
	clearInterval(timer);
	load.kill();
	await gone;
	if (exit !== 0) throw new Error(`record: exit ${exit}`);
	return { summary: JSON.parse(text), ...last };
}


async function withStatistics(body) {
	const setting = '/proc/sys/kernel/bpf_stats_enabled', before = fs.readFileSync(setting, 'utf8');
	fs.writeFileSync(setting, '1');
	try {
		return await body();
	} finally {
		fs.writeFileSync(setting, before);
	}
}

/** From the start of the command to its first sample, in ms. */
async function firstSample(server, file) {
	const load = spawn('/usr/bin/wrk', ['-t1', '-c8', '-d3s', `http://127.0.0.1:${server.ready.port}/`], { stdio: 'ignore' });
	const begun = Date.now();
	const { stdout } = await run(binary, ['record', '--json', '-F', '499', '-d', '1', '-o', file, String(server.pid)]);
	load.kill();
	if (!JSON.parse(stdout).samples) return null;
	const { traceEvents, otherData } = JSON.parse(fs.readFileSync(file, 'utf8'));
	const first = Math.min(...traceEvents.filter(({ ph }) => ph === 'X').map(({ ts }) => ts)) / 1000;
	return Number(otherData.noderay.start_ns) / 1e6 + first - begun;
}

export function rows(context) {
	const { scratch } = context, page = path.join(scratch, 'profile.html');
	const perf = (server, hz, way) => ({
		name: 'perf record -g',
		measure: () => keptBy(server, '/usr/bin/perf', ['record', '-q', '-g', '-e', 'cpu-clock', '-F', hz, '-o', path.join(scratch, 'perf.data'), '-p', server.pid], way),
	});
	const v8 = (server, hz, way) => ({ name: "V8's profiler", measure: () => keptByV8(server, Math.round(1e6 / hz), way) });
	const ours = (server, hz, way) => () => keptBy(server, binary, ['record', '-F', hz, '-o', path.join(scratch, 'kept.folded'), server.pid], way);
	/* One measurement of ours beside both peers. */
	const both = (what, server, hz, wanted, way) => {
		const row = { what, unit: '% kept', ours: twice(ours(server, hz, way)), rounds: wanted.rounds, isAhead: wanted.isAhead };
		return [{ ...row, atLeast: wanted.atLeast, peer: perf(server, hz, way) }, { ...row, peer: v8(server, hz, way) }];
	};
	const throughputs = [22, 24].flatMap((version) => [
		...both(`throughput at 99 Hz, node ${version}`, context[version], 99, { atLeast: 99 }),
		...both(`throughput at 997 Hz, node ${version}`, context[version], 997, { atLeast: 95, isAhead: true }),
	]);
	const others = [
		...both('the same, all on one thread, node 24', context[24], 997, { rounds: 5 }, { path: '/one' }),
		...both('the same, pool packs, nothing pinned', context[24], 997, { rounds: 5 }, { path: '/pool', isPinned: false }),
	];
	const look = (what) => async () => what(await withStatistics(() => observe(context[24], what.seconds ?? 6, what.frequency ?? 99, page)));
	const perSample = Object.assign(({ summary, kernel }) => kernel.time / 1000 / summary.samples, { frequency: 997 });
	return [
		...throughputs,
		...others,
		{ what: 'kernel time of a sample, at 997 Hz', unit: 'us', atMost: 8, ours: look(perSample) },
		{ rounds: 3, what: 'CPU of noderay, at 99 Hz, once it runs', unit: '% of one', atMost: 2, ours: look(Object.assign(({ steady }) => steady, { seconds: 20 })) },
		{ rounds: 3, what: 'CPU of noderay, 6 s at 99 Hz with its start', unit: '% of one', ours: look(({ summary, cpu }) => cpu / (summary.duration_ns / 1e6) * 100) },
		{ rounds: 3, what: 'memory of noderay, at 99 Hz', unit: 'MiB', atMost: 100, ours: look(({ memory }) => memory) },
		{ rounds: 3, what: 'stacks that reach the root, at 997 Hz', unit: '%', atLeast: 99.5, ours: look(Object.assign(({ summary }) => 100 * (1 - summary.cut_stacks / summary.samples), { frequency: 997 })) },
		{ rounds: 3, what: 'frames of JavaScript without a name', unit: 'frames', atMost: 0, ours: look(Object.assign(({ summary }) => summary.unnamed_frames, { frequency: 997 })) },
		{ rounds: 5, what: 'first sample after the start', unit: 'ms', atMost: 300, ours: () => firstSample(context[24], path.join(scratch, 'first.json')) },
		{ rounds: 5, what: 'a page out of a profile of 60 s', unit: 'ms', atMost: 1000, ours: () => pageTime(context, scratch) },
	];
}

/** A minute's profile as a page, by the clock; it is recorded once. */
async function pageTime(context, scratch) {
	const source = path.join(scratch, 'minute.speedscope.json');
	if (!fs.existsSync(source)) await observe(context[24], 60, 99, source);
	return wallTime(binary, ['convert', source, '-o', path.join(scratch, 'minute.html')]);
}
