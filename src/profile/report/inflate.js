// inflate.js - unpacks what zlib packed, for browsers without DecompressionStream. SPDX-License-Identifier: MIT
//
// RFC 1950 and 1951. The Adler checksum at the end is checked, so that a damaged file says so.

const LENGTH_BASE = [
	3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
];
const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [
	1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
	8193, 12289, 16385, 24577,
];
const DISTANCE_EXTRA = [
	0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

const damaged = () => new Error('the profile in this file is damaged: it does not unpack');

// Canonical Huffman codes: how many there are of each length, and their symbols in order.
function huffman(lengths) {
	const counts = new Uint16Array(16);
	const starts = new Uint16Array(16);
	const symbols = new Uint16Array(lengths.length);
	for (const length of lengths) counts[length]++;
	counts[0] = 0;
	for (let i = 1; i < 16; i++) starts[i] = starts[i - 1] + counts[i - 1];
	lengths.forEach((length, symbol) => {
		if (length) symbols[starts[length]++] = symbol;
	});
	return { counts, symbols };
}

class BitReader {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 2; // zlib's own two bytes
		this.bits = 0;
		this.have = 0;
	}

	take(count) {
		while (this.have < count) {
			if (this.at >= this.bytes.length) throw damaged();
			this.bits |= this.bytes[this.at++] << this.have;
			this.have += 8;
		}
		const value = this.bits & ((1 << count) - 1);
		this.bits >>>= count;
		this.have -= count;
		return value;
	}

	symbol({ counts, symbols }) {
		let code = 0;
		let first = 0;
		let index = 0;
		for (let length = 1; length < 16; length++) {
			code |= this.take(1);
			const count = counts[length];
			if (code - count < first) return symbols[index + code - first];
			index += count;
			first = (first + count) << 1;
			code <<= 1;
		}
		throw damaged();
	}

	align() {
		this.bits = this.have = 0;
	}
}

class Output {
	constructor(room) {
		this.bytes = new Uint8Array(room);
		this.length = 0;
	}

	reserve(more) {
		if (this.length + more <= this.bytes.length) return;
		const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more));
		grown.set(this.bytes.subarray(0, this.length));
		this.bytes = grown;
	}

	byte(value) {
		this.reserve(1);
		this.bytes[this.length++] = value;
	}

	repeat(distance, count) {
		if (distance > this.length) throw damaged();
		this.reserve(count);
		for (let i = 0; i < count; i++, this.length++) this.bytes[this.length] = this.bytes[this.length - distance];
	}
}

function copyStored(input, output) {
	input.align();
	const length = input.bytes[input.at] | (input.bytes[input.at + 1] << 8);
	input.at += 4;
	if (input.at + length > input.bytes.length) throw damaged();
	output.reserve(length);
	output.bytes.set(input.bytes.subarray(input.at, input.at + length), output.length);
	output.length += length;
	input.at += length;
}

function readCodes(input) {
	const literals = input.take(5) + 257;
	const distances = input.take(5) + 1;
	const count = input.take(4) + 4;
	const short = new Uint8Array(19);
	for (let i = 0; i < count; i++) short[CODE_ORDER[i]] = input.take(3);
	const code = huffman(short);
	const lengths = new Uint8Array(literals + distances);
	for (let i = 0; i < lengths.length;) {
		const symbol = input.symbol(code);
		if (symbol < 16) {
			lengths[i++] = symbol;
			continue;
		}
		if (symbol === 16 && i === 0) throw damaged();
		const value = symbol === 16 ? lengths[i - 1] : 0;
		const repeat = symbol === 16 ? 3 + input.take(2) : symbol === 17 ? 3 + input.take(3) : 11 + input.take(7);
		lengths.fill(value, i, i + repeat);
		i += repeat;
	}
	return [huffman(lengths.subarray(0, literals)), huffman(lengths.subarray(literals))];
}

function fixedCodes() {
	const lengths = new Uint8Array(288);
	lengths.fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280);
	return [huffman(lengths), huffman(new Uint8Array(30).fill(5))];
}

function copyCoded(input, output, [literals, distances]) {
	for (;;) {
		const symbol = input.symbol(literals);
		if (symbol === 256) return;
		if (symbol < 256) {
			output.byte(symbol);
			continue;
		}
		const l = symbol - 257;
		if (l >= LENGTH_BASE.length) throw damaged();
		const length = LENGTH_BASE[l] + input.take(LENGTH_EXTRA[l]);
		const d = input.symbol(distances);
		if (d >= DISTANCE_BASE.length) throw damaged();
		output.repeat(DISTANCE_BASE[d] + input.take(DISTANCE_EXTRA[d]), length);
	}
}

function adler32(bytes) {
	let a = 1;
	let b = 0;
	for (let i = 0; i < bytes.length;) {
		const end = Math.min(i + 3800, bytes.length); // as far as b stays exact
		for (; i < end; i++) b += a += bytes[i];
		a %= 65521;
		b %= 65521;
	}
	return ((b << 16) | a) >>> 0;
}

/** The bytes that a zlib stream holds. */
function inflate(bytes) {
	const input = new BitReader(bytes);
	const output = new Output(bytes.length * 6);
	for (let isLast = false; !isLast;) {
		isLast = input.take(1) === 1;
		const type = input.take(2);
		if (type === 0) copyStored(input, output);
		else if (type === 1) copyCoded(input, output, fixedCodes());
		else if (type === 2) copyCoded(input, output, readCodes(input));
		else throw damaged();
	}
	// Whole bytes that were taken in advance come first.
	input.at -= input.have >> 3;
	const result = output.bytes.subarray(0, output.length);
	const sum = new DataView(bytes.buffer, bytes.byteOffset + input.at, 4).getUint32(0);
	if (sum !== adler32(result)) throw damaged();
	return result;
}
