// tree.js - the tree of calls, and what its nodes weigh. SPDX-License-Identifier: MIT
//
// It is the profile's own tree, which tells lines apart; calls of one function become one only where they are drawn (walk.js). Everything is in arrays by
// number, and a parent's number is smaller than its children's: sums are one pass, however many stacks there are.

/** folded: by function, 1 if frames of it are left out, so that what they cost counts for whoever called them.
 *  of: where a node of the profile counts, 0 if nowhere. fn: 0 for nodes that are left out. */
function buildTree({ nodes, frames }, folded) {
	const { n } = nodes;
	const tree = { n, parent: nodes.parent, fn: new Uint32Array(n), of: new Uint32Array(n), outerMarks: null };
	if (folded) tree.parent = new Uint32Array(n);
	for (let i = 1; i < n; i++) {
		const fn = frames.fn[nodes.frame[i]];
		const isFolded = folded && folded[fn];
		if (!isFolded) tree.fn[i] = fn;
		if (folded) tree.parent[i] = tree.of[nodes.parent[i]];
		tree.of[i] = isFolded ? tree.parent[i] : i;
	}
	linkChildren(tree);
	return tree;
}

// The children of node i are children[first[i]] to children[first[i + 1] - 1].
function linkChildren(tree) {
	const { n, parent, fn } = tree;
	const first = new Uint32Array(n + 2);
	for (let i = 1; i < n; i++) if (fn[i]) first[parent[i] + 2]++;
	for (let i = 2; i < n + 2; i++) first[i] += first[i - 1];
	const children = new Uint32Array(n);
	for (let i = 1; i < n; i++) if (fn[i]) children[first[parent[i] + 1]++] = i;
	Object.assign(tree, { first, children });
}

/** By node: 1 if no caller is the same function. Depth first, with a count of how often each function is on the way: no node looks
 *  at all of its callers. */
function outerMarks(tree, functionCount) {
	if (tree.outerMarks) return tree.outerMarks;
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
	return (tree.outerMarks = outer);
}

/** What the nodes of a tree weigh: self and total, and in a difference the other side's (without one: the same). keep(i): does sample i count?
 *  sums: of both sides, of what is shown. */
function weighTree(tree, profile, keep, side) {
	const { samples, beforeThreads } = profile;
	const after = new Float64Array(tree.n);
	const self = [profile.isDiff ? new Float64Array(tree.n) : after, after];
	for (let i = 0; i < samples.n; i++) {
		const node = tree.of[samples.node[i]];
		if (!keep(i) || (node === 0 && samples.node[i] !== 0)) continue;
		self[samples.thread[i] < beforeThreads ? 0 : 1][node] += samples.weight[i];
	}
	const [first, last] = self;
	const lastTotal = addUp(tree, last);
	const total = [first === last ? lastTotal : addUp(tree, first), lastTotal];
	return {
		self: self[side],
		total: total[side],
		otherSelf: self[1 - side],
		otherTotal: total[1 - side],
		sum: total[side][0],
		otherSum: total[1 - side][0],
	};
}

function addUp({ n, parent }, self) {
	const total = self.slice();
	for (let i = n - 1; i > 0; i--) total[parent[i]] += total[i];
	return total;
}

/** Per function: self and total, each stack once however often it calls itself; of the other side too. */
function rankFunctions(tree, weights, functionCount) {
	const rank = {};
	const outer = outerMarks(tree, functionCount);
	for (const key of ['self', 'total', 'otherSelf', 'otherTotal']) rank[key] = new Float64Array(functionCount);
	for (let i = 1; i < tree.n; i++) {
		const fn = tree.fn[i];
		rank.self[fn] += weights.self[i];
		rank.otherSelf[fn] += weights.otherSelf[i];
		if (!outer[i]) continue;
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

/** The lines of one function that ran: { lines: [{ line, self, total }], the heaviest first, inlined: what its calls weigh that were inlined
 *  into their callers }. A stack counts once, for its outermost call. */
function weighLines({ nodes, frames }, tree, { self, total }, fn) {
	const inside = new Uint8Array(tree.n);
	const lines = new Map();
	let inlined = 0;
	for (let i = 1; i < tree.n; i++) {
		const isInside = inside[tree.parent[i]];
		const isHere = tree.fn[i] === fn;
		inside[i] = isInside || isHere ? 1 : 0;
		if (!isHere || !total[i]) continue;
		const frame = nodes.frame[i];
		const row = lines.get(frames.line[frame]) ?? { line: frames.line[frame], self: 0, total: 0 };
		row.self += self[i];
		if (!isInside) row.total += total[i];
		if (!isInside && frames.inlined[frame]) inlined += total[i];
		lines.set(row.line, row);
	}
	return {
		inlined,
		lines: [...lines.values()].sort((a, b) => b.total - a.total || b.self - a.self || a.line - b.line),
	};
}
