// lib.mjs - what every end-to-end test needs: the nodes, targets that clean up after themselves,
// noderay itself, and cores. SPDX-License-Identifier: MIT
//
//   import { nodes, start, noderay, takeCore, tmp, isRoot } from './lib.mjs';
//   for (const node of nodes)
//     test(`node ${node.name}`, async () => {
//       const target = await start(node, 'park.js');
//       const { code, stdout } = await noderay(['stack', target.pid]);
//       ...
//       await target.stop();
//     });
//
// A target is dead at the end of the test file, whatever happened: by stop(), by the exit handler
// here, or by the kernel if this process is killed. Nothing is written but below tmp().
import { spawn, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
export const tree = path.resolve(here, '../..');
export const programs = path.join(here, 'programs');
export const isRoot = process.getuid() === 0;
/** The binary under test; the environment variable NODERAY puts another in its place. */
export const binary = path.resolve(process.env.NODERAY || path.join(tree, 'build/noderay'));

const users = { nobody: { uid: 65534, gid: 65534 }, stranger: { uid: 65533, gid: 65533 } };

// ------------------------------------------------------------------------------- scratch

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'noderay-test-'));
fs.chmodSync(scratch, 0o755); // an unprivileged target must reach its program
let serial = 0;

/** A new empty directory, removed at the end; everybody may write to it. */
export function tmp() {
	const directory = path.join(scratch, String(++serial));
	fs.mkdirSync(directory);
	fs.chmodSync(directory, 0o1777);
	return directory;
}

const children = new Set();

function cleanUp() {
	for (const child of children) child.kill('SIGKILL');
	fs.rmSync(scratch, { recursive: true, force: true });
}
process.on('exit', cleanUp);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

// A clone below a private home directory is out of an unprivileged user's reach: copy what they need.
function isReachable(file) {
	for (let at = file; ; at = path.dirname(at)) {
		const needed = at === file ? 0o004 : 0o001; // read the file, pass the directories
		if (!(fs.statSync(at).mode & needed)) return false;
		if (at === path.dirname(at)) return true;
	}
}

const copies = new Map();
function reachable(file, user) {
	if (!user || isReachable(file)) return file;
	const whole = file.startsWith(programs + path.sep) ? programs : file;
	if (!copies.has(whole)) {
		const copy = path.join(tmp(), path.basename(whole));
		fs.cpSync(whole, copy, { recursive: true });
		copies.set(whole, copy);
	}
	return copies.get(whole) + file.slice(whole.length);
}

// ------------------------------------------------------------------------------- nodes

function describe(directory, name) {
	const root = path.join(directory, name);
	if (name !== 'debian')
		return { name, version: name, major: parseInt(name), path: path.join(root, 'bin/node'), env: {}, stripped: false };
	const env = { LD_LIBRARY_PATH: path.join(root, 'usr/lib/x86_64-linux-gnu') };
	const node = { name, path: path.join(root, 'usr/bin/node'), env, stripped: true };
	node.version = execFileSync(node.path, ['-p', 'process.versions.node'], { env, encoding: 'utf8' }).trim();
	node.major = parseInt(node.version);
	return node;
}

function describeOther(file) {
	const version = execFileSync(file, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
	const stripped = !execFileSync('readelf', ['-SW', file], { encoding: 'utf8' }).includes(' .symtab ');
	return { name: version, version, major: parseInt(version), path: file, env: {}, stripped };
}

function listPinned() {
	const tool = path.join(tree, 'tools/nodes');
	const directory = execFileSync(tool, ['--dir'], { encoding: 'utf8' }).trim();
	const names = execFileSync(tool, ['--list'], { encoding: 'utf8' }).trim().split('\n');
	return names.map((name) => describe(directory, name));
}

function choose(pinned) {
	const only = process.env.NODERAY_TEST_NODES?.split(/[ ,]+/).filter(Boolean);
	if (!only) return pinned;
	const others = only.filter((o) => o.startsWith('/')).map(describeOther);
	return pinned.filter(({ name }) => only.some((o) => name === o || name.startsWith(`${o}.`))).concat(others);
}

const pinned = listPinned();
/** All seven, the oldest first, Debian's last: { name, version, major, path, env, stripped }.
 *  NODERAY_TEST_NODES="22 debian" leaves only those; a path in it adds a node from elsewhere. */
export const nodes = choose(pinned);
/** The one whose name or major version this is. A test that needs a certain node gets it even if it was not chosen. */
export const node = (name) => {
	const found = [...nodes, ...pinned].find((n) => n.name === String(name) || (n.name !== 'debian' && n.major === Number(name)));
	if (!found) throw new Error(`no node ${name} among ${pinned.map((n) => n.name)}`);
	return found;
};

// ------------------------------------------------------------------------------- processes

// setpriv becomes the program, so that the pid is the program's own, and sees to it that it dies with us.
function spawnAs(user, command, args, options) {
	const privileges = ['--pdeathsig', 'KILL'];
	if (user) {
		if (!isRoot) throw new Error(`only root can run things as ${user}`);
		const { uid, gid } = users[user];
		privileges.push('--reuid', uid, '--regid', gid, '--clear-groups');
	}
	const child = spawn('setpriv', [...privileges, '--', command, ...args].map(String), options);
	children.add(child);
	child.on('exit', () => children.delete(child));
	return child;
}

function firstLine(child, what, timeout) {
	return new Promise((resolve, reject) => {
		const fail = (why) => {
			child.kill('SIGKILL');
			reject(new Error(`${what}: ${why}; stderr: ${child.stderrText}`));
		};
		const timer = setTimeout(fail, timeout, `printed no line in ${timeout} ms`);
		child.on('error', (e) => fail(e.message));
		// Not 'exit': that may come before what it printed.
		child.on('close', (code, signal) => fail(`ended (${signal ?? code}) before it was ready`));
		child.stdout.on('data', () => {
			const end = child.stdoutText.indexOf('\n');
			if (end < 0) return;
			clearTimeout(timer);
			resolve(child.stdoutText.slice(0, end));
		});
		child.on('close', () => clearTimeout(timer));
	});
}

function collect(child) {
	child.stdoutText = child.stderrText = '';
	for (const name of ['stdout', 'stderr']) {
		child[name].setEncoding('utf8');
		child[name].on('data', (text) => (child[`${name}Text`] += text));
	}
}

function parseReady(line) {
	try {
		return JSON.parse(line);
	} catch {
		return line;
	}
}

/** Starts a node and waits for the first line it prints.
 *  what: a file (below programs/ if relative), or { code, name } to write (name: 'x.js' or 'x.mjs').
 *  options: args, flags (before the file), env, user ('nobody'), cwd, input (its whole standard input), timeout (ms).
 *  Returns { pid, child, file, node, ready, stdout(), stderr(), stop() }; ready is the line, parsed if it is JSON. */
export async function start(node, what, { args = [], flags = [], env = {}, user, cwd, input, timeout = 120_000 } = {}) {
	let file;
	if (typeof what === 'string') {
		file = reachable(path.resolve(programs, what), user);
	} else {
		file = path.join(tmp(), what.name ?? 'target.js');
		fs.writeFileSync(file, what.code, { mode: 0o644 });
	}
	const child = spawnAs(user, node.path, [...flags, file, ...args], {
		env: { PATH: process.env.PATH, HOME: '/', LC_ALL: 'C.UTF-8', ...node.env, ...env },
		cwd: cwd ?? scratch,
		stdio: ['pipe', 'pipe', 'pipe'],
	});
	collect(child);
	if (input !== undefined) child.stdin.end(input);
	const line = await firstLine(child, `node ${node.name} ${path.basename(file)}`, timeout);
	const stop = async () => {
		if (child.exitCode !== null || child.signalCode !== null) return;
		const gone = once(child, 'exit');
		child.kill('SIGKILL');
		await gone;
	};
	return {
		pid: child.pid, child, file, node, user, ready: parseReady(line), stop,
		stdout: () => child.stdoutText, stderr: () => child.stderrText,
	};
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until condition() is true, which may be async; fails after a generous time, with what it says last. */
export async function until(condition, what, seconds = 120) {
	const end = Date.now() + seconds * 1000;
	while (!(await condition())) {
		if (Date.now() > end) throw new Error(`${typeof what === 'function' ? what() : what}: not within ${seconds} s`);
		await pause(10);
	}
}

/** What each thread of a process is doing, by a file of /proc; threads that end meanwhile are left out. */
export const tasks = (pid, file) => fs.readdirSync(`/proc/${pid}/task`).flatMap((tid) => {
	try {
		return [fs.readFileSync(`/proc/${pid}/task/${tid}/${file}`, 'utf8')];
	} catch {
		return [];
	}
});

/** In a container pid 2 is anything. */
export function isKernelThread(pid) {
	try {
		return (fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[6] & 0x200000) !== 0; // PF_KTHREAD
	} catch {
		return false;
	}
}

/** Waits until a target that is to stand still does: a line is printed before its program gets to where it stays, and
 *  V8's helpers may be at work for longer. */
export async function settle({ pid }) {
	const used = () => tasks(pid, 'schedstat').map((text) => text.split(' ')[0]).join();
	let last, since = 0;
	await until(() => {
		const now = used();
		since = now === last ? since + 1 : 0;
		last = now;
		return since >= 10;
	}, `process ${pid} does not stand still`);
}

/** start(), for a target that stands still from then on. */
export async function startStill(...what) {
	const target = await start(...what);
	await settle(target);
	return target;
}

/** Waits until all of a target's threads are stopped by a signal: each gets there when the kernel lets it run, also
 *  when a tracer has let it go. */
export async function halted({ pid }) {
	await until(() => tasks(pid, 'status').every((text) => /^State:\s*T/m.test(text)), `process ${pid} is not stopped`);
}

/** Stops a target by a signal. */
export async function halt(target) {
	process.kill(target.pid, 'SIGSTOP');
	await halted(target);
}

/** Runs any command: { code, signal, stdout, stderr }. options: user, env (added to a plain one), cwd, input, timeout (ms). */
export async function run(command, args, { user, env = {}, cwd = scratch, input = '', timeout = 300_000 } = {}) {
	const child = spawnAs(user, reachable(command, user), args, {
		env: { PATH: process.env.PATH, HOME: '/', LC_ALL: 'C.UTF-8', TERM: 'dumb', ...env },
		cwd,
		stdio: ['pipe', 'pipe', 'pipe'],
	});
	collect(child);
	child.stdin.on('error', () => {}); // it need not read its input
	child.stdin.end(input);
	let timedOut = false;
	const timer = setTimeout(() => {
		timedOut = true;
		child.kill('SIGKILL');
	}, timeout);
	const [code, signal] = await once(child, 'close');
	clearTimeout(timer);
	if (timedOut) throw new Error(`${command} ${args.join(' ')}: still running after ${timeout} ms; stderr: ${child.stderrText}`);
	return { code, signal, stdout: child.stdoutText, stderr: child.stderrText };
}

/** Runs noderay. Options as for run(). */
export const noderay = (args, options) => run(binary, args, options);

/** The lines of --json output as objects. */
export const jsonLines = (stdout) => stdout.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));

/** Whether this build has the verb. */
export const hasVerb = async (verb) => (await noderay([verb, '--help'])).code === 0;

// ------------------------------------------------------------------------------- cores

async function coreByGdb(target, file, options) {
	// As gdb's own gcore script does it: without symbols, which take seconds to read.
	const args = ['--nx', '--batch', '--readnever', '-iex', 'set auto-load off', '-iex', 'set debuginfod enabled off'];
	args.push('-ex', `attach ${target.pid}`, '-ex', `gcore ${file}`, '-ex', 'detach');
	return await run('/usr/bin/gdb', args, options);
}

/** Writes a core of a running target and returns its path.
 *  options: by ('noderay' or 'gdb'; noderay if it can), args (further ones for noderay), user. */
export async function takeCore(target, { by, args = [], user } = {}) {
	const file = path.join(tmp(), `core.${target.pid}`);
	by ??= (await hasVerb('core')) ? 'noderay' : 'gdb';
	const result = by === 'gdb'
		? await coreByGdb(target, file, { user })
		: await noderay(['core', ...args, '-o', file, target.pid], { user });
	if (result.code !== 0 || !fs.existsSync(file))
		throw new Error(`no core of ${target.pid} by ${by}: exit ${result.code}: ${result.stderr}${by === 'gdb' ? result.stdout : ''}`);
	return file;
}

let coreTrouble;
function findCoreTrouble() {
	const pattern = fs.readFileSync('/proc/sys/kernel/core_pattern', 'utf8').trim();
	if (pattern.startsWith('|')) return `core_pattern gives cores to a program: ${pattern}`;
	if (pattern.includes('/')) return `core_pattern writes cores elsewhere: ${pattern}`;
	try { // targets inherit it
		execFileSync('prlimit', ['--pid', process.pid, '--core=unlimited'], { stdio: 'pipe' });
	} catch (e) {
		return `ulimit -c cannot be raised: ${e.stderr}`;
	}
	return null;
}

/** Why the kernel would not leave a core where a test can find it; false if it would. Targets that are to be
 *  crashed must be started after the first call. */
export function noKernelCores() {
	coreTrouble ??= findCoreTrouble() ?? false;
	return coreTrouble;
}

/** Ends a target with a signal and returns the core that the kernel writes. The target must have been started
 *  with a cwd of its own (tmp()), where the core is looked for. */
export async function crash(target, cwd, signal = 'SIGABRT') {
	const gone = once(target.child, 'exit');
	target.child.kill(signal);
	await gone;
	const core = fs.readdirSync(cwd).find((name) => name.includes('core'));
	if (!core) throw new Error(`the kernel wrote no core of ${target.pid} in ${cwd}: ${fs.readdirSync(cwd)}`);
	return path.join(cwd, core);
}
