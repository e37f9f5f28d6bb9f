// top_screen.test.mjs - `noderay top` on a terminal: keys, sizes, and the state in which it leaves it. SPDX-License-Identifier: MIT
//
// The terminal is tmux: what it shows is what a person would see.
import test, { afterEach } from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { execFileSync } from 'node:child_process';
import { node, start, until, binary, isRoot, tmp } from './lib.mjs';

const options = { skip: !isRoot && 'needs root' };
const server = `noderay-${process.pid}`;
const tmux = (...args) => execFileSync('tmux', ['-u', '-L', server, '-f', '/dev/null', ...args.map(String)],
	{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, HOME: '/', LC_ALL: 'C.UTF-8', TERM: 'xterm-256color' } });

function close() {
	try {
		tmux('kill-server');
	} catch {} // it is gone
}
afterEach(close);
process.on('exit', close);

const screen = () => tmux('capture-pane', '-p', '-t', 't');
const lines = () => screen().replace(/\n$/, '').split('\n');
const press = (...keys) => tmux('send-keys', '-t', 't', ...keys);
const type = (text) => tmux('send-keys', '-t', 't', '-l', text);
const shows = (what) => until(() => what.test(screen()), () => `${what} in\n${screen()}`, 60);
const state = () => tmux('display-message', '-p', '-t', 't', '#{alternate_on} #{cursor_flag} #{wrap_flag}').trim();

function open() {
	tmux('new-session', '-d', '-s', 't', '-x', 80, '-y', 24, '-e', 'PS1=\\$ ', 'bash --norc --noprofile -i');
	return tmp();
}

/** Runs a command line in the shell there and waits for its end. */
async function shell(directory, text) {
	const done = `${directory}/${Math.random()}`;
	type(`${text} > ${directory}/out 2>&1; echo $? > ${done}`);
	press('Enter');
	await until(() => fs.existsSync(done) && fs.readFileSync(done, 'utf8') !== '', () => `${text}: ${screen()}`, 60);
	return fs.readFileSync(`${directory}/out`, 'utf8');
}

const settings = (directory) => shell(directory, 'stty -g');
const run = (what) => {
	type(what);
	press('Enter');
};

test('keys and views', options, async () => {
	const directory = open();
	const before = await settings(directory);
	const target = await start(node(22), 'hot.js', { args: ['worker'] });
	run(`${binary} top -F 997 ${target.pid}`);
	await shows(/^ SELF\*  TOTAL  KIND .*\n *[\d.]+% +[\d.]+%  js +spin +…?.*hot\.js:9/m);
	assert.equal(state(), '1 0 0');
	let all = lines();
	assert.equal(all.length, 24);
	assert.match(all[0], new RegExp(`^${target.pid} node .*last 5s, 997 Hz$`));
	assert.match(all[23], /^q quit/);
	await shows(/^ worker 1 \(miller\) +[\d.]+% loop/m);

	press('Enter');
	await shows(/^CALLED BY\n +[\d.]+%  js +(Timeout\.)?burst/m);
	press('Escape');
	await shows(/ SELF\*/);
	type('/GRIND');
	await shows(/^\/GRIND/m);
	await shows(/^ *[\d.]+% +[\d.]+%  js +(Timeout\.)?grind/m);
	assert.doesNotMatch(screen(), /  js +spin/);
	press('Enter', 'Escape');
	await shows(/  js +spin/);
	press('f');
	await shows(/^\|all/m);
	press('2', '4');
	await shows(/^\|(Timeout\.)?burst.*\|(Timeout\.)?grind|^\|(Timeout\.)?grind.*\|(Timeout\.)?burst/m);
	press('Down', 'Down');
	await shows(/^spin  total/m);
	press('f', '0', 't', 'Tab');
	await shows(/^>main /m);
	await shows(/TOTAL\* /);
	press('Space');
	await shows(/PAUSED/);
	press('?');
	await shows(/Shift-Tab/);
	press('x', 'Space', 'c');
	await shows(/all of \d+s, 997 Hz$/m);

	tmux('resize-window', '-t', 't', '-x', 50, '-y', 12);
	await until(() => lines().length === 12 && /^q quit.*…$/.test(lines()[11]), () => screen(), 60);
	all = lines();
	assert.ok(all.every((line) => [...line].length <= 50));
	tmux('resize-window', '-t', 't', '-x', 200, '-y', 50);
	await until(() => lines().length === 50 && /^q quit.*Tab thread$/.test(lines()[49]), () => screen(), 60);
	tmux('resize-window', '-t', 't', '-x', 80, '-y', 24);
	await shows(/^q quit/m);

	press('C-z');
	await shows(/Stopped/);
	assert.equal(state(), '0 1 1');
	assert.equal(await settings(directory), before);
	run('fg; echo "left with $?"');
	await shows(/^q quit/m);
	press('C-c');
	await shows(/left with 0/);
	assert.equal(state(), '0 1 1');
	assert.equal(await settings(directory), before);
	await target.stop();
});

test('ends of all kinds', options, async () => {
	const directory = open();
	const before = await settings(directory);
	const target = await start(node(20), 'hot.js');
	const pids = () => execFileSync('pgrep', ['-f', `^${binary} top ${target.pid}`], { encoding: 'utf8' }).trim().split('\n').map(Number);

	for (const signal of ['SIGTERM', 'SIGSEGV', 'SIGABRT', 'SIGHUP']) {
		run(`(ulimit -c 0; exec ${binary} top ${target.pid})`);
		await shows(/^q quit/m);
		process.kill(pids()[0], signal);
		await until(() => state() === '0 1 1', () => screen(), 60);
		assert.equal(await settings(directory), before, signal);
	}
	run(`NO_COLOR=1 ${binary} top ${target.pid}`);
	await shows(/^q quit/m);
	await shows(/  js +spin/);
	assert.doesNotMatch(tmux('capture-pane', '-p', '-e', '-t', 't'), /\x1b\[[0-9;]*[34][0-7][;m]/);
	await target.stop();
	await shows(/the process has ended/);
	assert.match(screen(), /spin/); // its last seconds stay
	press('q');
	await until(() => state() === '0 1 1', () => screen(), 60);
	assert.equal(await settings(directory), before);

	run(`${binary} top -- ${node(20).path} -e 'console.log("never " + "seen"); setTimeout(() => {}, 1e6)'; echo "left with $?"`);
	await shows(/^q quit/m);
	assert.doesNotMatch(screen(), /never seen/);
	press('q');
	await shows(/left with 0/);
	assert.equal(await settings(directory), before);
	const text = await shell(directory, `${binary} top 1`); // an error is seen, on a terminal that is as it was
	assert.match(text, /process 1/);
	assert.equal(state(), '0 1 1');
});
