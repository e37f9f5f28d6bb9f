// data.js - the profile that this file carries: its columns as arrays. SPDX-License-Identifier: MIT
//
// The layout is described in src/profile/pack.h. Functions, frames and nodes are numbered from 1; node 0 is the root.

const MAGIC = 'noderay-profile 1\n';
const UNITS = ['samples', 'ns', 'bytes', 'count'];

async function unpackBytes(base64) {
	const binary = atob(base64);
	const packed = new Uint8Array(binary.length);
	for (let i = 0; i < packed.length; i++) packed[i] = binary.charCodeAt(i);
	if (typeof DecompressionStream !== 'function') return inflate(packed);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Columns {
	constructor(bytes, at) {
		this.bytes = bytes;
		this.at = at;
	}

	// Numbers of up to 53 bits are exact; those past 28 bits are rare, and bit operations would cut them.
	number() {
		const { bytes } = this;
		let byte = bytes[this.at++];
		if (byte < 128) return byte;
		let value = byte & 127;
		for (let shift = 7; shift < 28; shift += 7) {
			byte = bytes[this.at++];
			value |= (byte & 127) << shift;
			if (byte < 128) return value;
		}
		for (let factor = 2 ** 28; this.at < bytes.length; factor *= 128) {
			byte = bytes[this.at++];
			value += (byte & 127) * factor;
			if (byte < 128) return value;
		}
		throw damaged();
	}

	signed() {
		const value = this.number();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}

	column(array, first = 0) {
		for (let i = first; i < array.length; i++) array[i] = this.number();
		return array;
	}

	signedColumn(array) {
		for (let i = 0; i < array.length; i++) array[i] = this.signed();
		return array;
	}

	differences(array, first = 0) {
		let last = 0;
		for (let i = first; i < array.length; i++) array[i] = last += this.signed();
		return array;
	}
}

function readTexts(columns) {
	const lengths = columns.column(new Uint32Array(columns.number()));
	const decoder = new TextDecoder();
	const texts = new Array(lengths.length);
	for (let i = 0; i < texts.length; i++) {
		texts[i] = decoder.decode(columns.bytes.subarray(columns.at, columns.at + lengths[i]));
		columns.at += lengths[i];
	}
	return texts;
}

function readHead(columns, texts) {
	const h = columns.column(new Float64Array(columns.number()));
	const [title, event, command, host, nodeVersion, beforeTitle] = [...h.subarray(0, 6)].map((index) => texts[index]);
	return {
		title,
		event,
		command,
		host,
		nodeVersion,
		beforeTitle,
		unit: UNITS[h[6]],
		start: h[7],
		duration: h[8],
		period: h[9],
		hasTimes: h[10] !== 0,
		lost: h[11],
		cut: h[12],
		unnamed: h[13],
		beforeThreads: h[14],
	};
}

function readFunctions(columns, texts) {
	const n = columns.number() + 1;
	const texted = () => Array.from(columns.column(new Uint32Array(n), 1), (index) => texts[index]);
	return {
		n,
		kind: columns.column(new Uint8Array(n), 1),
		name: texted(),
		file: texted(),
		line: columns.column(new Uint32Array(n), 1),
		column: columns.column(new Uint32Array(n), 1),
		package: texted(),
	};
}

function readFrames(columns) {
	const n = columns.number() + 1;
	return {
		n,
		fn: columns.differences(new Uint32Array(n), 1),
		line: columns.column(new Uint32Array(n), 1),
		column: columns.column(new Uint32Array(n), 1),
		inlined: columns.column(new Uint8Array(n), 1),
	};
}

function readNodes(columns) {
	const n = columns.number() + 1;
	const parent = columns.column(new Uint32Array(n), 1);
	for (let i = 1; i < n; i++) parent[i] = i - parent[i];
	return { n, parent, frame: columns.column(new Uint32Array(n), 1) };
}

function readThreads(columns, texts) {
	const n = columns.number();
	const [pid, tid, name, process] = [0, 0, 0, 0].map(() => columns.column(new Uint32Array(n)));
	return Array.from(pid, (_, i) => ({ pid: pid[i], tid: tid[i], name: texts[name[i]], process: texts[process[i]] }));
}

function readSamples(columns) {
	const n = columns.number();
	return {
		n,
		time: columns.differences(new Float64Array(n)),
		node: columns.differences(new Uint32Array(n)),
		thread: columns.column(new Uint32Array(n)),
		weight: columns.signedColumn(new Float64Array(n)),
		count: columns.column(new Uint32Array(n)),
	};
}

// Numbers that lead nowhere would be drawn as nonsense, or walked for ever.
function checkProfile({ functions, frames, nodes, threads, samples }) {
	const isBelow = (array, first, limit, least) => {
		for (let i = first; i < array.length; i++) if (!(array[i] >= least && array[i] < limit)) return false;
		return true;
	};
	const isSound =
		isBelow(frames.fn, 1, functions.n, 1) &&
		isBelow(nodes.frame, 1, frames.n, 1) &&
		nodes.parent.every((parent, i) => i === 0 || parent < i) &&
		isBelow(samples.node, 0, nodes.n, 0) &&
		isBelow(samples.thread, 0, threads.length, 0);
	if (!isSound) throw damaged();
}

/** The whole of it; an error says what is wrong. */
async function readProfile(base64) {
	const bytes = await unpackBytes(base64).catch(() => Promise.reject(damaged()));
	const columns = new Columns(bytes, MAGIC.length);
	if (new TextDecoder().decode(bytes.subarray(0, MAGIC.length)) !== MAGIC) throw damaged();
	const texts = readTexts(columns);
	const kinds = Array.from(columns.column(new Uint32Array(columns.number())), (index) => texts[index]);
	const profile = { kinds, ...readHead(columns, texts) };
	profile.functions = readFunctions(columns, texts);
	profile.frames = readFrames(columns);
	profile.nodes = readNodes(columns);
	profile.threads = readThreads(columns, texts);
	profile.samples = readSamples(columns);
	profile.isDiff = profile.beforeThreads > 0;
	checkProfile(profile);
	return profile;
}
