// truth.mjs - runs a program of programs/truth, which says what it did, with a verb of noderay that watches it, and compares
// the two record by record. SPDX-License-Identifier: MIT
//
//   const { truth, records } = await watched(node, 'http.js', ['http', '-s', '-c']);
//   compare(truth, records, { key, fields, bounds });
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { binary, start, until, jsonLines } from './lib.mjs';

/** Starts a program of programs/truth. say(line) is its input; finish() ends it. */
export async function startTruth(node, program, options = {}) {
	const target = await start(node, `truth/${program}`, options);
	const { child } = target;
	target.say = (line) => child.stdin.write(`${line}\n`);
	target.lines = () => jsonLines(target.stdout().slice(0, target.stdout().lastIndexOf('\n') + 1));
	target.isGone = () => child.exitCode !== null || child.signalCode !== null;
	/** Does everything; returns what it says it did, and { began }, in seconds since the epoch. */
	target.go = async () => {
		target.say('go');
		const isDone = () => /^\{"done":/m.test(target.stdout());
		await until(() => isDone() || target.isGone(), () => `${program} is not done: ${target.stdout().slice(-500)} ${target.stderr()}`);
		assert.ok(isDone(), `${program} ended: ${target.stderr()}`);
		const records = target.lines().slice(1);
		return { ...records.pop(), records };
	};
	target.finish = async () => {
		if (target.isGone()) return;
		const gone = once(child, 'exit');
		child.stdin.end('end\n');
		await gone;
	};
	return target;
}

/** Starts noderay. stop() interrupts it, unless it has ended, and returns { code, stdout, stderr }. */
export function startVerb(args) {
	const child = spawn(binary, args.map(String), { stdio: ['ignore', 'pipe', 'pipe'] });
	const verb = { child, stdout: '', stderr: '' };
	child.stdout.on('data', (data) => (verb.stdout += data));
	child.stderr.on('data', (data) => (verb.stderr += data));
	const closed = once(child, 'close');
	const kill = () => child.kill('SIGKILL');
	process.once('exit', kill);
	verb.isGone = () => child.exitCode !== null || child.signalCode !== null;
	verb.stop = async () => {
		if (!verb.isGone()) child.kill('SIGINT');
		const guard = setTimeout(kill, 60_000);
		const [code, signal] = await closed;
		clearTimeout(guard);
		process.removeListener('exit', kill);
		assert.equal(signal, null, `noderay ${args.join(' ')} was killed: ${verb.stderr}`);
		return { code, stdout: verb.stdout, stderr: verb.stderr };
	};
	return verb;
}

/** Runs a program with a verb that watches it from before it begins until after it is done. What it did before "go" is
 *  left out. options: args, flags, env of the program; command(target): how noderay is called, if not with --json and the
 *  pid; parse(stdout): what it printed, as records. */
export async function watched(node, program, verb, { command, parse = jsonLines, ...options } = {}) {
	const target = await startTruth(node, program, options);
	const watcher = startVerb(command ? command(target) : [...verb, '--json', target.pid]);
	try {
		// Something that it sees shows that it is there; on a busy machine that may take a while.
		await until(async () => {
			if (watcher.stdout || watcher.isGone()) return true;
			target.say('beacon');
			await new Promise((resolve) => setTimeout(resolve, 100));
			return false;
		}, () => `noderay ${verb.join(' ')} says nothing: ${watcher.stderr}`);
		assert.ok(!watcher.isGone(), `noderay ${verb.join(' ')} ended: ${watcher.stderr}`);
		const said = await target.go();
		const { code, stdout, stderr } = await watcher.stop();
		assert.equal(code, 0, stderr);
		const since = parse(stdout).filter(({ time }) => time >= said.began - 0.001);
		// When a record was made, in milliseconds of CLOCK_MONOTONIC, as the truth has it.
		const at = ({ time }) => (time - said.began) * 1000 + said.began_ms;
		return { truth: said.records, records: since, at, stderr, target, ready: target.ready };
	} finally {
		if (!watcher.isGone()) watcher.child.kill('SIGKILL');
		await target.finish();
	}
}

/** The same by a D program that prints a line for each record: `names`, separated by tabs; `time` is walltimestamp.
 *  clauses: [[probes, { name: expression }, predicate]]. */
export function traced(node, program, clauses, options = {}) {
	const text = clauses.map(([probes, values, predicate = '1']) => {
		const list = Object.entries({ time: ['%d', 'walltimestamp'], pid: ['%d', 'pid'], tid: ['%d', 'tid'], ...values });
		const format = list.map(([name, [how]]) => `${name}=${how}`).join('\\t');
		return `${probes} /${predicate}/ { printf("${format}\\n", ${list.map(([, [, value]]) => value).join(', ')}); }`;
	}).join('\n');
	const value = (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text);
	const parse = (stdout) => stdout.split('\n').filter((line) => line.includes('\t')).map((line) => {
		const record = Object.fromEntries(line.split('\t').map((field) => [field.slice(0, field.indexOf('=')), value(field.slice(field.indexOf('=') + 1))]));
		return { ...record, time: Number(line.match(/time=(\d+)/)[1]) / 1e9 };
	});
	const command = ({ pid }) => ['trace', '-q', '-x', 'strsize=1024', '-p', pid, '-n', text];
	return watched(node, program, ['trace'], { command, parse, ...options });
}

const show = (record) => JSON.stringify(record);

/** What differs between what was done and what was seen, as lines of text.
 *  key(record) pairs a record of the truth with one of noderay's; more of the same key are paired in their order.
 *  fields: { ours: theirs } names that must be equal, where the truth is not null or undefined;
 *  check(expected, seen): further complaints, as an array. */
export function differences(truth, records, { key, seenKey = key, fields = {}, check = () => [] }) {
	const out = [], waiting = new Map();
	for (const record of records) {
		const k = seenKey(record);
		if (!waiting.has(k)) waiting.set(k, []);
		waiting.get(k).push(record);
	}
	for (const expected of truth) {
		const seen = waiting.get(key(expected))?.shift();
		if (!seen) {
			out.push(`missing: ${show(expected)}`);
			continue;
		}
		for (const [name, theirs] of Object.entries(fields))
			if (expected[name] !== null && expected[name] !== undefined && expected[name] !== (seen[theirs] ?? null))
				out.push(`${name} is ${show(expected[name])}, not ${show(seen[theirs])}: ${show(seen)}`);
		out.push(...check(expected, seen).map((text) => `${text}: ${show(seen)} of ${show(expected)}`));
	}
	for (const rest of waiting.values()) for (const record of rest) out.push(`too many: ${show(record)}`);
	return out;
}

/** Fails unless what was seen is what was done. */
export function compare(truth, records, how) {
	const found = differences(truth, records, how);
	assert.ok(found.length === 0, `${found.length} differences among ${truth.length} records:\n${found.slice(0, 20).join('\n')}`);
}

/** Bounds of a time: what is said must be within what is known, but for half the last digit that is printed. */
export const within = (name, value, least, most) => {
	const out = [];
	if (typeof value !== 'number') return [`${name} is no number`];
	if (least !== undefined && least !== null && value < least - 0.001) out.push(`${name} is ${value}, less than ${least}`);
	if (most !== undefined && most !== null && value > most + 0.001) out.push(`${name} is ${value}, more than ${most}`);
	return out;
};
