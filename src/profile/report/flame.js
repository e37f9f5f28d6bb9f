// flame.js - the flame graph: what its boxes are, and its view. SPDX-License-Identifier: MIT

/** Boxes of calls, for a Chart. */
class FlameSource {
	constructor(report, walk, rootLabel) {
		this.report = report;
		this.walk = walk;
		this.rootLabel = rootLabel;
		this.full = { from: 0, to: walk.root.total };
	}

	layOut(range, width, depth) {
		this.range = range;
		return layOutCalls(this.walk, range, width, 0.7, depth);
	}

	rangeOf({ call }) {
		return call && { from: call.start, to: call.start + call.total };
	}

	labelOf({ fn }) {
		return fn ? labelOf(this.report.profile, fn) : this.rootLabel;
	}

	colorOf({ fn, call }) {
		return fn ? this.report.colorOf(fn, call) : this.report.rootColor;
	}

	// What is not found, and what is above the part that is shown.
	isFaded({ fn, call }) {
		const { matched } = this.report;
		if (matched && fn) return !matched[fn];
		return Boolean(call) && call.total > (this.range.to - this.range.from) * 1.0001;
	}

	isMatched({ fn }) {
		return Boolean(this.report.matched?.[fn]);
	}

	isSame(a, b) {
		return Boolean(a.call) && a.call === b.call;
	}

	describe({ fn, call, rest, parent }) {
		const { report } = this;
		if (call && !call.children) this.walk.expand(call); // only then its self is known
		if (rest) {
			const weight =
				parent.total -
				parent.self -
				parent.children.slice(0, -rest).reduce((sum, child) => sum + child.total, 0);
			return {
				name: `${count(rest)} more calls from here`,
				note: 'too narrow to draw; zoom in to see them',
				total: weight,
				whole: report.weights.sum,
			};
		}
		return {
			fn,
			name: this.labelOf({ fn }),
			total: call.total,
			self: call.self,
			other: call.otherTotal,
			whole: report.weights.sum,
			otherWhole: report.weights.otherSum,
		};
	}
}

/** The view: the whole tree, from the root or from the leaves. */
class FlameView {
	constructor(report) {
		this.report = report;
		this.host = find('flame-chart');
		this.chart = new Chart(
			this.host,
			'Flame graph. Arrow keys move, Enter zooms in, Backspace goes back, s shows a function’s callers and callees.',
			report.handlersFor(() => this.chart),
		);
		this.isInverted = false;
	}

	get charts() {
		return [this.chart];
	}

	/** From all the settings; what was zoomed into is found again if it is still there. */
	show() {
		const { report, chart } = this;
		const path = chart.isZoomed ? this.zoomedPath() : [];
		const { tree, weights } = report;
		const walk = this.isInverted ? new Upwards(tree, weights) : new Downwards(tree, weights);
		const source = new FlameSource(report, walk, this.isInverted ? 'all, by what ran' : 'all');
		const call = followPath(walk, path);
		chart.isFlipped = report.isFlipped;
		chart.show(source, { from: call.start, to: call.start + call.total });
		find('flame-empty').hidden = weights.sum > 0;
	}

	zoomedPath() {
		const { range, source, rows } = this.chart;
		if (this.wasInverted !== this.isInverted || !rows) return [];
		const boxes = rows.map((row) =>
			row.find(
				(box) =>
					box.call &&
					box.call.start === range.from &&
					Math.abs(box.call.start + box.call.total - range.to) < 1e-6,
			),
		);
		return pathOf(boxes.filter(Boolean).pop()?.call ?? source.walk.root);
	}

	invert() {
		this.wasInverted = this.isInverted;
		this.isInverted = !this.isInverted;
		this.show();
		this.wasInverted = this.isInverted;
	}
}
