// words.js - numbers, places and functions as people read them. SPDX-License-Identifier: MIT

const KIND_WORDS = {
	js: 'JavaScript',
	package: 'node_modules',
	node: 'node:internal',
	wasm: 'WebAssembly',
	builtin: 'builtins',
	native: 'C++',
	gc: 'GC',
	compiler: 'compiler',
	kernel: 'kernel',
	idle: 'idle',
	unknown: 'unnamed',
};

const count = (n) => Math.round(n).toLocaleString('en-US');

function duration(ns) {
	const size = Math.abs(ns);
	if (size >= 90e9) return `${Math.floor(ns / 60e9)} min ${Math.round((ns % 60e9) / 1e9)} s`;
	for (const [unit, scale] of [
		['s', 1e9],
		['ms', 1e6],
		['µs', 1e3],
	])
		if (size >= scale) return `${(ns / scale).toLocaleString('en-US', { maximumSignificantDigits: 3 })} ${unit}`;
	return ns ? `${Math.round(ns)} ns` : '0 s';
}

/** A mark on an axis of times, as exact as the step between two of them asks; all in the unit of the last. */
function markText(ns, step, last) {
	const [unit, scale] = [
		['s', 1e9],
		['ms', 1e6],
		['µs', 1e3],
		['ns', 1],
	].find(([, size]) => last >= size) ?? ['ns', 1];
	const digits = Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9));
	return `${(ns / scale).toFixed(digits)} ${unit}`;
}

function bytes(n) {
	for (const [unit, scale] of [
		['GiB', 2 ** 30],
		['MiB', 2 ** 20],
		['KiB', 2 ** 10],
	])
		if (Math.abs(n) >= scale)
			return `${(n / scale).toLocaleString('en-US', { maximumSignificantDigits: 3 })} ${unit}`;
	return `${Math.round(n)} B`;
}

/** A weight, in the profile's unit. */
function weightText(profile, weight) {
	if (profile.unit === 'ns') return duration(weight);
	if (profile.unit === 'bytes') return bytes(weight);
	return count(weight);
}

/** The same with its unit, for places where it is not clear: "812 samples (8.2 s)". */
function weightSentence(profile, weight) {
	if (profile.unit === 'ns' || profile.unit === 'bytes') return weightText(profile, weight);
	const noun = profile.unit === 'count' ? 'event' : 'sample';
	const time = profile.unit === 'samples' && profile.period ? ` (${duration(weight * profile.period)})` : '';
	return `${count(weight)} ${noun}${Math.round(weight) === 1 ? '' : 's'}${time}`;
}

function percent(part, whole) {
	if (!whole || !part) return '0%';
	const share = (part / whole) * 100;
	if (share > 0 && share < 0.01) return '<0.01%';
	if (share >= 99.95) return '100%';
	return `${share.toFixed(share < 10 ? 2 : 1)}%`;
}

function signedPercent(share) {
	const text = `${Math.abs(share * 100).toFixed(2)}%`;
	return text === '0.00%' ? '0%' : `${share < 0 ? '−' : '+'}${text}`;
}

function placeOf({ functions }, fn, line = 0, column = 0) {
	if (!functions.file[fn]) return '';
	const at = line || functions.line[fn];
	const across = line ? column : functions.column[fn];
	return functions.file[fn] + (at ? `:${at}${across ? `:${across}` : ''}` : '');
}

/** The end of a path, for tables. */
const shortFile = (file) =>
	file
		.replace(/^file:\/\//, '')
		.split('/')
		.slice(-2)
		.join('/');

/** What a function is called; one without a name by where it is. */
function labelOf({ functions }, fn) {
	const name = functions.name[fn];
	if (!/^[(<]anonymous[)>]$/.test(name) || !functions.file[fn]) return name;
	return `${name} ${functions.file[fn].split('/').pop()}${functions.line[fn] ? `:${functions.line[fn]}` : ''}`;
}

/** A C++ name without the namespaces before it, for where there is no room for them. */
const shortName = (name) => name.replace(/^(?:(?:[a-z0-9_]+|\(anonymous namespace\))::)+(?=[^:])/, '');

function kindText(profile, fn) {
	const kind = profile.kinds[profile.functions.kind[fn]];
	const name = profile.functions.package[fn];
	return name ? `package ${name}` : (KIND_WORDS[kind] ?? kind);
}

/** A name from a target may change the direction of text around it, or hide in it: it is isolated, and what cannot be seen is shown. */
const isolate = (text) =>
	`\u2066${text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')}\u2069`;

/** An element with text, never markup: names come from targets. */
function element(tag, options = {}, ...children) {
	const made = document.createElement(tag);
	for (const [key, value] of Object.entries(options)) {
		if (key === 'on') for (const [name, listener] of Object.entries(value)) made.addEventListener(name, listener);
		else if (key === 'class') made.className = value;
		else if (key in made && !key.startsWith('aria')) made[key] = value;
		else made.setAttribute(key, value);
	}
	made.append(...children);
	return made;
}

const find = (id) => document.getElementById(id);
