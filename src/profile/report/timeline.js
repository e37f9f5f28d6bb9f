// timeline.js - what one thread did, in the order of time. SPDX-License-Identifier: MIT
//
// Samples that follow each other and have a call in common are one box of it. Where samples know no time, or no time passes with them, the order
// stays and the width is the weight.

/** One thread's samples as spans: { from, to, node (of the tree) }, in order. */
function spansOf(report, thread) {
	const { samples, period, unit, hasTimes } = report.profile;
	const isTimed = hasTimes && (unit === 'ns' || period > 0);
	const spans = [];
	let at = 0;
	for (let i = 0; i < samples.n; i++) {
		if (samples.thread[i] !== thread) continue;
		const length = !isTimed || unit === 'ns' ? samples.weight[i] : Math.max(samples.weight[i], 1) * period;
		const from = isTimed ? samples.time[i] : at;
		const node = report.tree.of[samples.node[i]];
		if (report.keep(i) && (node || !samples.node[i])) spans.push({ from, to: from + length, node });
		at += length;
	}
	if (isTimed) closeGaps(spans, period);
	return { spans, isTimed };
}

// A timer is never exact: less than a period between two samples is no gap, and none reaches into the next.
function closeGaps(spans, period) {
	for (let i = 0; i + 1 < spans.length; i++)
		if (spans[i].to > spans[i + 1].from || spans[i + 1].from - spans[i].to < period * 0.75)
			spans[i].to = spans[i + 1].from;
}

function firstAfter(spans, time) {
	let low = 0;
	let high = spans.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (spans[middle].to <= time) low = middle + 1;
		else high = middle;
	}
	return low;
}

class TimeSource {
	constructor(report, thread) {
		this.report = report;
		Object.assign(this, spansOf(report, thread));
		const { spans } = this;
		const end = spans.length ? spans[spans.length - 1].to : 0;
		this.full = this.isTimed ? { from: 0, to: Math.max(end, report.profile.duration) } : { from: 0, to: end };
	}

	// Functions, the outermost first: lines do not tell boxes apart.
	pathTo(node) {
		const { parent, fn } = this.report.tree;
		const path = [];
		for (let at = node; at; at = parent[at]) path.push(fn[at]);
		return path.reverse();
	}

	// Two boxes to a pixel at most, however many samples there are.
	layOut(range, width) {
		const scale = width / (range.to - range.from);
		const rows = [];
		const open = [];
		const step = 0.5 / scale;
		let drawn = -Infinity; // where the last box that was drawn ends
		let reached = -Infinity; // and what was too narrow after it
		const close = (depth, to) => {
			while (open.length > depth) this.addBox(rows, open.pop(), open.length, to, range, scale);
		};
		for (let i = firstAfter(this.spans, range.from); i < this.spans.length && this.spans[i].from < range.to; i++) {
			const span = this.spans[i];
			if (span.to < drawn + step && i + 1 < this.spans.length) {
				if (span.from <= reached + step) reached = Math.max(reached, span.to);
				continue;
			}
			const path = this.pathTo(span.node);
			let same = 0;
			if (span.from <= reached + step) while (same < open.length && open[same].fn === path[same]) same++;
			close(same, Math.min(span.from, Math.max(reached, range.from)));
			for (let depth = same; depth < path.length; depth++) open.push({ fn: path[depth], from: span.from });
			drawn = reached = span.to;
		}
		close(0, reached);
		return Array.from(rows, (row) => row ?? []);
	}

	addBox(rows, { fn, from }, row, to, range, scale) {
		const x = Math.max(0, (from - range.from) * scale);
		const right = Math.min((range.to - range.from) * scale, (to - range.from) * scale);
		(rows[row] ??= []).push({ fn, from, to, x, width: Math.max(right - x, 0.5), row });
	}

	rangeOf({ from, to }) {
		return { from: Math.max(from, this.full.from), to: Math.min(to, this.full.to) };
	}

	labelOf({ fn }) {
		return labelOf(this.report.profile, fn);
	}

	colorOf({ fn }) {
		return this.report.colorOf(fn);
	}

	isFaded({ fn }) {
		return Boolean(this.report.matched && !this.report.matched[fn]);
	}

	isMatched({ fn }) {
		return Boolean(this.report.matched?.[fn]);
	}

	isSame(a, b) {
		return a.fn === b.fn && a.from === b.from;
	}

	describe({ fn, from, to }) {
		const length = to - from;
		const note = this.isTimed
			? `${duration(length)} from ${duration(from)}`
			: weightSentence(this.report.profile, length);
		return { fn, name: this.labelOf({ fn }), note };
	}

	axis(range, width) {
		const least = ((range.to - range.from) * 90) / width;
		const power = 10 ** Math.floor(Math.log10(least));
		const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least);
		const marks = [];
		for (let at = Math.ceil(range.from / step) * step; at < range.to; at += step) {
			const text = this.isTimed ? markText(at, step, range.to) : weightText(this.report.profile, at);
			marks.push({ x: ((at - range.from) / (range.to - range.from)) * width, text });
		}
		return marks;
	}
}

class TimeView {
	constructor(report) {
		this.report = report;
		this.chart = new Chart(
			find('time-chart'),
			'Calls in the order of time. Arrow keys move, Enter zooms in, Backspace goes back.',
			report.handlersFor(() => this.chart),
		);
		this.select = find('time-thread');
		this.select.addEventListener('change', () => this.show());
		this.fillThreads();
	}

	get charts() {
		return [this.chart];
	}

	/** What is in view becomes all there is, or no longer. */
	toggleOnly() {
		const { filters } = this.report;
		if (filters.time) filters.setTime(null);
		else if (this.chart.source.isTimed && this.chart.isZoomed) filters.setTime(this.chart.range);
		this.showOnly();
	}

	showOnly() {
		const { time } = this.report.filters;
		const button = find('time-only');
		button.setAttribute('aria-pressed', String(Boolean(time)));
		button.disabled = !time && !(this.chart.source.isTimed && this.chart.isZoomed);
	}

	fillThreads() {
		const { profile, threadWeights } = this.report;
		const order = profile.threads.map((_, i) => i).sort((a, b) => threadWeights[b] - threadWeights[a]);
		for (const i of order) {
			const text = `${threadText(profile, i)}, ${percent(
				threadWeights[i],
				threadWeights.reduce((a, b) => a + b, 0),
			)}`;
			this.select.append(element('option', { value: String(i) }, isolate(text)));
		}
		// The first thread of a process is the one that most is asked about.
		const main = order.find((i) => threadWeights[i] > 0 && profile.threads[i].pid === profile.threads[i].tid);
		this.select.value = String(main ?? order[0]);
	}

	show() {
		const source = new TimeSource(this.report, Number(this.select.value));
		const isSame = this.chart.source?.full.to === source.full.to && this.shown === this.select.value;
		this.chart.isFlipped = this.report.isFlipped;
		this.chart.show(source, isSame && this.chart.isZoomed ? this.chart.range : source.full);
		this.shown = this.select.value;
		find('time-empty').hidden = source.spans.length > 0;
		this.showOnly();
		find('time-note').textContent = source.isTimed
			? 'blank: it did not run, or is filtered out'
			: 'in order; widths are weights, not times';
	}
}
