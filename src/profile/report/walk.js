// walk.js - calls as they are drawn: nodes that find their children when somebody looks. SPDX-License-Identifier: MIT
//
// A call stands for a set of the tree's nodes, so that one way of drawing serves the whole tree, the tree from the leaves up, and what is above and
// below one function. What is too narrow to be seen is never expanded; that is why 100,000 stacks open at once.

class Call {
	constructor(parent, fn) {
		this.parent = parent;
		this.fn = fn;
		this.depth = parent ? parent.depth + 1 : 0;
		this.total = this.self = this.otherTotal = this.otherSelf = 0;
		this.start = 0; // where it begins, in units of weight
		this.members = [];
		this.parts = null; // upwards: what each member brings, and on the other side
		this.otherParts = null;
		this.children = null;
	}
}

const byWeight = (a, b) => b.total - a.total || b.otherTotal - a.otherTotal || a.fn - b.fn;

function placeChildren(call, groups) {
	call.children = [...groups.values()].filter((child) => child.total > 0).sort(byWeight);
	let start = call.start;
	for (const child of call.children) {
		child.start = start;
		start += child.total;
	}
	return call.children;
}

function groupOf(groups, parent, fn) {
	let group = groups.get(fn);
	if (!group) groups.set(fn, (group = new Call(parent, fn)));
	return group;
}

/** From callers to callees, below some nodes of the tree. */
class Downwards {
	constructor(tree, weights, members = [0], fn = 0) {
		this.tree = tree;
		this.weights = weights;
		this.root = new Call(null, fn);
		for (const member of members) this.add(this.root, member);
	}

	add(call, member) {
		const { self, total, otherSelf, otherTotal } = this.weights;
		call.members.push(member);
		call.self += self[member];
		call.total += total[member];
		call.otherSelf += otherSelf[member];
		call.otherTotal += otherTotal[member];
	}

	expand(call) {
		const { first, children, fn } = this.tree;
		const { total, otherTotal } = this.weights;
		const groups = new Map();
		for (const member of call.members) {
			for (let i = first[member]; i < first[member + 1]; i++) {
				const child = children[i];
				if (total[child] || otherTotal[child]) this.add(groupOf(groups, call, fn[child]), child);
			}
		}
		return placeChildren(call, groups);
	}
}

/** From callees to callers. Without members: from all leaves; with: from these nodes of one function. */
class Upwards {
	constructor(tree, weights, members, fn = 0) {
		this.tree = tree;
		this.root = new Call(null, fn);
		this.root.parts = [];
		this.root.otherParts = [];
		this.isWhole = !members;
		if (members) {
			for (const member of members)
				this.add(this.root, member, weights.total[member], weights.otherTotal[member]);
			return;
		}
		for (let i = 0; i < tree.n; i++)
			if (weights.self[i] || weights.otherSelf[i]) this.add(this.root, i, weights.self[i], weights.otherSelf[i]);
	}

	add(call, member, part, otherPart) {
		call.members.push(member);
		call.parts.push(part);
		call.otherParts.push(otherPart);
		call.total += part;
		call.otherTotal += otherPart;
	}

	expand(call) {
		const { parent, fn } = this.tree;
		const isFirst = this.isWhole && !call.parent;
		const groups = new Map();
		let group = null; // neighbours often have the same caller
		for (let i = 0; i < call.members.length; i++) {
			const next = isFirst ? call.members[i] : parent[call.members[i]];
			if (next === 0) {
				call.self += call.parts[i];
				call.otherSelf += call.otherParts[i];
				continue;
			}
			if (group?.fn !== fn[next]) {
				group = groupOf(groups, call, fn[next]);
				group.parts ??= [];
				group.otherParts ??= [];
			}
			this.add(group, next, call.parts[i], call.otherParts[i]);
		}
		call.members = call.parts = call.otherParts = null; // the callers have them now
		return placeChildren(call, groups);
	}
}

/** The functions on the way from the root to a call, the outermost first. */
function pathOf(call) {
	const path = [];
	for (let at = call; at?.parent; at = at.parent) path.unshift(at.fn);
	return path;
}

/** The call at the end of a path, as far as it is there. */
function followPath(walk, path) {
	let call = walk.root;
	for (const fn of path) {
		const next = (call.children ?? walk.expand(call)).find((child) => child.fn === fn);
		if (!next) break;
		call = next;
	}
	return call;
}

/** The boxes of a flame graph, in pixels, row by row: { call, fn, x, width, row }. range: what part of the root's weight is
 *  width pixels wide. Calls narrower than `least` are one box without a call at the end of their row: rest says how many.
 *  No more than `depth` rows; isCut says that there are more. */
function layOutCalls(walk, range, width, least, depth) {
	const rows = [];
	const scale = width / (range.to - range.from);
	const todo = [walk.root];
	while (todo.length) {
		const call = todo.pop();
		const left = Math.max(0, (call.start - range.from) * scale);
		const right = Math.min(width, (call.start + call.total - range.from) * scale);
		(rows[call.depth] ??= []).push({ call, fn: call.fn, x: left, width: right - left, row: call.depth });
		if (call.depth + 1 >= depth) {
			rows.isCut = true;
			continue;
		}
		const children = call.children ?? walk.expand(call);
		for (let i = 0; i < children.length; i++) {
			const child = children[i];
			if (child.total * scale < least) {
				const last = children[children.length - 1];
				addRest(
					rows,
					call,
					children.length - i,
					(child.start - range.from) * scale,
					(last.start + last.total - range.from) * scale,
					width,
				);
				break;
			}
			if (child.start + child.total > range.from && child.start < range.to) todo.push(child);
		}
	}
	for (const row of rows) row.sort((a, b) => a.x - b.x);
	return rows;
}

function addRest(rows, call, rest, from, to, width) {
	const x = Math.max(0, from);
	const right = Math.min(width, to);
	const row = call.depth + 1;
	if (right - x >= 1) (rows[row] ??= []).push({ call: null, fn: 0, x, width: right - x, row, rest, parent: call });
}
