// corefile.mjs - reads an ELF core by itself, so that noderay's cores are judged by somebody else.
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';

const PAGE = 4096;

function readAt(fd, position, size) {
	const bytes = Buffer.alloc(size);
	let done = 0;
	while (done < size) {
		const n = fs.readSync(fd, bytes, done, size - done, position + done);
		if (!n) break;
		done += n;
	}
	return bytes.subarray(0, done);
}

/** { segments: [{ start, size, stored, offset, flags }], notes: [{ owner, type, bytes }], read(address, size) }. */
export function openCore(file) {
	const fd = fs.openSync(file, 'r');
	const head = readAt(fd, 0, 64);
	assert.equal(head.toString('latin1', 0, 4), '\x7fELF');
	assert.equal(head.readUInt16LE(16), 4, 'ET_CORE');
	const at = Number(head.readBigUInt64LE(32)), count = head.readUInt16LE(56);
	const table = readAt(fd, at, 56 * count);
	const segments = [], notes = [];
	for (let i = 0; i < count; i++) {
		const p = table.subarray(56 * i);
		const number = (offset) => Number(p.readBigUInt64LE(offset));
		if (p.readUInt32LE(0) === 1)
			segments.push({ start: number(16), size: number(40), stored: number(32), offset: number(8), flags: p.readUInt32LE(4) });
		if (p.readUInt32LE(0) !== 4) continue;
		const bytes = readAt(fd, number(8), number(32));
		for (let n = 0; n < bytes.length;) {
			const [nameSize, size, type] = [bytes.readUInt32LE(n), bytes.readUInt32LE(n + 4), bytes.readUInt32LE(n + 8)];
			const from = n + 12 + ((nameSize + 3) & ~3);
			notes.push({ owner: bytes.toString('latin1', n + 12, n + 11 + nameSize), type, bytes: bytes.subarray(from, from + size) });
			n = from + ((size + 3) & ~3);
		}
	}
	const read = (address, size) => {
		const s = segments.find(({ start, stored }) => address >= start && address + size <= start + stored);
		return s ? readAt(fd, s.offset + address - s.start, size) : null;
	};
	return { segments, notes, read, close: () => fs.closeSync(fd) };
}

/** noderay's own note of that name, parsed. */
export function ownNote(core, name) {
	for (const { owner, type, bytes } of core.notes) {
		const end = bytes.indexOf(0);
		if (owner === 'noderay' && type === 1 && bytes.toString('latin1', 0, end) === name)
			return JSON.parse(bytes.toString('utf8', end + 1));
	}
	return undefined;
}

/** How many of the core's pages differ from the memory of a process that stands still: all pages of small
 *  segments, some of each large one. */
export function differingPages(core, pid) {
	const mem = fs.openSync(`/proc/${pid}/mem`, 'r');
	let differing = 0, compared = 0;
	for (const s of core.segments) {
		const pages = s.stored / PAGE, step = Math.max(1, Math.floor(pages / 256));
		for (let page = 0; page < pages; page += step) {
			const address = s.start + page * PAGE;
			compared++;
			if (!core.read(address, PAGE).equals(readAt(mem, address, PAGE))) differing++;
		}
	}
	fs.closeSync(mem);
	assert.ok(compared > 1000, `only ${compared} pages to compare`);
	return differing;
}

/** The pids of its children: the kernel lists them by the thread that made them. */
export const childrenOf = (pid) => fs.readdirSync(`/proc/${pid}/task`).flatMap((tid) => {
	try {
		return fs.readFileSync(`/proc/${pid}/task/${tid}/children`, 'utf8').trim().split(' ').filter(Boolean);
	} catch {
		return []; // the thread has just ended
	}
});
