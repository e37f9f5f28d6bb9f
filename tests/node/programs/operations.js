// operations.js - a few operations on files, names and sockets, again and again, each asked for by a function of its own.
// SPDX-License-Identifier: MIT
//
//   node operations.js DIRECTORY
'use strict';
const { execFileSync } = require('child_process');
const crypto = require('crypto');
const dns = require('dns');
const fs = require('fs');
const net = require('net');
const path = require('path');

const directory = process.argv[2];
const file = path.join(directory, 'file'), pipe = path.join(directory, 'pipe');
fs.writeFileSync(file, 'x'.repeat(1000));
execFileSync('mkfifo', [pipe]);

const askForMissing = () => fs.stat(path.join(directory, 'missing'), () => {});
const askForFile = () => fs.readFile(file, () => {});
const askAtOnce = () => fs.readFileSync(file);
const askForName = () => dns.lookup('localhost', () => {});
const askForKey = () => crypto.pbkdf2('password', 'salt', 10, 32, 'sha256', () => {});

/** An open that takes 60 ms at least; opened for both, a pipe waits for nobody. */
function askSlowly() {
	let writer;
	fs.open(pipe, 'r', (error, fd) => {
		fs.closeSync(fd);
		fs.closeSync(writer);
		setTimeout(askSlowly, 100);
	});
	setTimeout(() => (writer = fs.openSync(pipe, 'r+')), 60);
}

/** Nobody listens on a port that was just given back. */
let port;
const askForNobody = () => net.connect(port, '127.0.0.1').on('error', () => {});

const server = net.createServer().listen(0, '127.0.0.1', () => {
	port = server.address().port;
	server.close(() => {
		setInterval(() => [askForMissing, askForFile, askAtOnce, askForName, askForKey, askForNobody].forEach((ask) => ask()), 20);
		askSlowly();
		console.log('ready');
	});
});
process.stdin.resume().on('end', () => process.exit());
