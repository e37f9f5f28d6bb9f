// tree.js - the tree of calls by function, and what its nodes weigh. SPDX-License-Identifier: MIT
//
// The profile's own tree tells lines apart; here a node is a function called from a node, so that a flame graph merges what belongs together.
// Everything is in arrays by number, and a parent's number is smaller than its children's: sums are one pass, however many stacks there are.

/** folded: by function, 1 if frames of it are left out, so that what they cost counts for whoever called them.
 *  of: the node here of each of the profile's nodes. outer: 1 if no caller is the same function. */
function buildTree({ nodes, frames, functions }, folded) {
	const tree = { n: 1, parent: new Uint32Array(nodes.n), fn: new Uint32Array(nodes.n), of: new Uint32Array(nodes.n) };
	let room = 1024;
	while (room < nodes.n * 2) room *= 2;
	const slots = new Uint32Array(room);
	for (let i = 1; i < nodes.n; i++) {
		const fn = frames.fn[nodes.frame[i]];
		const parent = tree.of[nodes.parent[i]];
		tree.of[i] = folded[fn] ? parent : findNode(tree, slots, parent, fn);
	}
	tree.parent = tree.parent.slice(0, tree.n);
	tree.fn = tree.fn.slice(0, tree.n);
	linkChildren(tree);
	markOuter(tree, functions.n);
	return tree;
}

function findNode(tree, slots, parent, fn) {
	const mask = slots.length - 1;
	let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(fn, 0x85ebca6b);
	hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
	let at = (hash ^ (hash >>> 13)) & mask;
	for (; slots[at]; at = (at + 1) & mask) {
		const known = slots[at];
		if (tree.parent[known] === parent && tree.fn[known] === fn) return known;
	}
	tree.parent[tree.n] = parent;
	tree.fn[tree.n] = fn;
	return (slots[at] = tree.n++);
}

// The children of node i are children[first[i]] to children[first[i + 1] - 1].
function linkChildren(tree) {
	const { n, parent } = tree;
	const first = new Uint32Array(n + 2);
	for (let i = 1; i < n; i++) first[parent[i] + 2]++;
	for (let i = 2; i < n + 2; i++) first[i] += first[i - 1];
	const children = new Uint32Array(n);
	for (let i = 1; i < n; i++) children[first[parent[i] + 1]++] = i;
	Object.assign(tree, { first, children });
}

// Depth first, with a count of how often each function is on the way: no node looks at all of its callers.
function markOuter(tree, functionCount) {
	const { n, fn, parent, first, children } = tree;
	const outer = new Uint8Array(n);
	const open = new Uint32Array(functionCount);
	const next = first.slice();
	let at = 0;
	for (;;) {
		if (next[at] < first[at + 1]) {
			at = children[next[at]++];
			outer[at] = open[fn[at]]++ ? 0 : 1;
		} else if (at === 0) {
			break;
		} else {
			open[fn[at]]--;
			at = parent[at];
		}
	}
	tree.outer = outer;
}

/** What the nodes of a tree weigh: self and total, and in a difference the other side's. keep(i): does sample i count?
 *  sums: of both sides, of what is shown. */
function weighTree(tree, profile, keep, side) {
	const { samples, beforeThreads } = profile;
	const self = [new Float64Array(tree.n), new Float64Array(tree.n)];
	for (let i = 0; i < samples.n; i++) {
		const node = tree.of[samples.node[i]];
		if (!keep(i) || (node === 0 && samples.node[i] !== 0)) continue;
		self[samples.thread[i] < beforeThreads ? 0 : 1][node] += samples.weight[i];
	}
	const total = self.map((own) => addUp(tree, own));
	return { self: self[side], total: total[side], otherSelf: self[1 - side], otherTotal: total[1 - side], sum: total[side][0], otherSum: total[1 - side][0] };
}

function addUp({ n, parent }, self) {
	const total = self.slice();
	for (let i = n - 1; i > 0; i--) total[parent[i]] += total[i];
	return total;
}

/** Per function: self and total, each stack once however often it calls itself; of the other side too. */
function rankFunctions(tree, weights, functionCount) {
	const rank = {};
	for (const key of ['self', 'total', 'otherSelf', 'otherTotal']) rank[key] = new Float64Array(functionCount);
	for (let i = 1; i < tree.n; i++) {
		const fn = tree.fn[i];
		rank.self[fn] += weights.self[i];
		rank.otherSelf[fn] += weights.otherSelf[i];
		if (!tree.outer[i]) continue;
		rank.total[fn] += weights.total[i];
		rank.otherTotal[fn] += weights.otherTotal[i];
	}
	return rank;
}

/** What the stacks weigh that hold one of these functions (by function: 1), each stack once. */
function weighMatched(tree, weights, matched) {
	const inside = new Uint8Array(tree.n);
	let sum = 0;
	for (let i = 1; i < tree.n; i++) {
		const isInside = inside[tree.parent[i]];
		inside[i] = isInside || matched[tree.fn[i]];
		if (inside[i] && !isInside) sum += weights.total[i];
	}
	return sum;
}

/** The lines of one function that ran: [{ line, self, total }], the heaviest first. A stack counts once for its outermost call. */
function weighLines(profile, fn, keep) {
	const { nodes, frames, samples } = profile;
	const self = new Float64Array(nodes.n);
	for (let i = 0; i < samples.n; i++) if (keep(i)) self[samples.node[i]] += samples.weight[i];
	const total = addUp({ n: nodes.n, parent: nodes.parent }, self);
	const inside = new Uint8Array(nodes.n);
	const lines = new Map();
	for (let i = 1; i < nodes.n; i++) {
		const isInside = inside[nodes.parent[i]];
		const isHere = frames.fn[nodes.frame[i]] === fn;
		inside[i] = isInside || isHere ? 1 : 0;
		if (!isHere || !total[i]) continue;
		const line = frames.line[nodes.frame[i]];
		const row = lines.get(line) ?? { line, self: 0, total: 0 };
		row.self += self[i];
		if (!isInside) row.total += total[i];
		lines.set(line, row);
	}
	return [...lines.values()].sort((a, b) => b.total - a.total || b.self - a.self || a.line - b.line);
}
