// search.js - what a regular expression finds among functions and files, and how much that weighs. SPDX-License-Identifier: MIT

class Search {
	constructor(report) {
		this.report = report;
		this.input = find('search');
		this.input.addEventListener('input', () => {
			clearTimeout(this.timer);
			this.timer = setTimeout(() => this.run(), 80);
		});
		this.input.addEventListener('keydown', (event) => {
			if (event.key === 'Escape') this.clear();
			if (event.key === 'Enter') this.run();
		});
	}

	// A capital letter means what it says; without one, both do.
	compile() {
		const text = this.input.value;
		try {
			return text ? new RegExp(text, /[A-Z]/.test(text) ? '' : 'i') : null;
		} catch {
			return undefined;
		}
	}

	run() {
		const { functions } = this.report.profile;
		const pattern = this.compile();
		this.input.setAttribute('aria-invalid', String(pattern === undefined));
		this.isWrong = pattern === undefined;
		this.report.matched = null;
		if (pattern) {
			const matched = new Uint8Array(functions.n);
			const isFound = (fn) => pattern.test(functions.name[fn]) || pattern.test(functions.file[fn]);
			for (let fn = 1; fn < functions.n; fn++) matched[fn] = isFound(fn) ? 1 : 0;
			this.report.matched = matched;
		}
		this.show();
		if (this.report.charts.length) redrawAll(this.report);
		else this.report.view.show();
	}

	/** How much of what is shown was found, each stack once. */
	show() {
		const { matched, tree, weights, profile, rank } = this.report;
		const result = find('matched');
		if (this.isWrong) result.textContent = 'no regular expression';
		else if (!matched) result.textContent = '';
		else {
			const sum = weighMatched(tree, weights, matched);
			const functions = matched.reduce((n, isMatched, fn) => n + (isMatched && rank.total[fn] > 0 ? 1 : 0), 0);
			result.textContent = `${percent(sum, weights.sum)} matched`;
			result.title = `${weightSentence(profile, sum)} in stacks with ${plural(functions, 'function')} that matched`;
		}
	}

	clear() {
		this.input.value = '';
		this.run();
		this.report.chart?.canvas.focus({ preventScroll: true });
	}
}

function redrawAll({ views }) {
	for (const { charts = [] } of Object.values(views)) for (const chart of charts) if (chart.source) chart.redraw();
}
