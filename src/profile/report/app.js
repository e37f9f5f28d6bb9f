// app.js - the page: its settings, its views, search, theme and keys. SPDX-License-Identifier: MIT

/** Everything the views share: the profile, what of it is shown, and what was found. */
class Report {
	constructor(profile) {
		this.profile = profile;
		this.side = 1; // of a difference: 1 shows widths of after, 0 of before
		this.isFlipped = false;
		this.matched = null;
		this.filters = new Filters(this);
		this.threadWeights = this.filters.threadWeights;
		this.details = new Details(this);
		this.weigh(true);
		this.views = { flame: new FlameView(this), time: new TimeView(this), sandwich: new SandwichView(this), table: new TableView(this) };
		this.details.select(null);
	}

	keep(i) {
		return this.filters.keep(i);
	}

	weigh(isNewTree) {
		if (isNewTree) this.tree = buildTree(this.profile, this.filters.folded);
		this.weights = weighTree(this.tree, this.profile, (i) => this.keep(i), this.side);
		this.ranked = null;
		this.forgetColors();
		this.mostChange = 0.01;
		if (!this.profile.isDiff) return;
		for (let fn = 1; fn < this.profile.functions.n; fn++)
			this.mostChange = Math.max(this.mostChange, Math.abs(this.changeOf(this.rank.self[fn], this.rank.otherSelf[fn])));
	}

	/** What each function weighs: only some views ask. */
	get rank() {
		return (this.ranked ??= rankFunctions(this.tree, this.weights, this.profile.functions.n));
	}

	/** A setting is another: everything that depends on it is made anew. */
	change(isNewTree) {
		this.weigh(isNewTree);
		this.search.show();
		this.showStatus();
		this.view.show();
	}

	get view() {
		return this.views[this.viewName];
	}

	showView(name) {
		this.viewName = name;
		for (const key of Object.keys(this.views)) {
			find(`tab-${key}`).setAttribute('aria-selected', String(key === name));
			find(`tab-${key}`).tabIndex = key === name ? 0 : -1;
			find(`view-${key}`).hidden = key !== name;
		}
		find('invert').hidden = name !== 'flame';
		for (const id of ['flip', 'back', 'reset']) find(id).hidden = name === 'table' || (id === 'flip' && name === 'sandwich');
		this.details.hover(null);
		this.view.show();
		this.showZoom();
	}

	showZoom() {
		const chart = this.view.chart;
		find('back').disabled = find('reset').disabled = !chart?.isZoomed;
	}

	showStatus() {
		const { profile, weights } = this;
		const whole = this.threadWeights.reduce((sum, weight, i) => sum + ((i < profile.beforeThreads ? 0 : 1) === this.side ? weight : 0), 0);
		find('status').textContent = weights.sum === whole ? '' : `${percent(weights.sum, whole)} shown`;
		find('status').title = `${weightSentence(profile, weights.sum)} of ${weightText(profile, whole)}; the rest is filtered out`;
	}

	handlersFor(getChart) {
		const describe = (box) => box && getChart().source.describe(box);
		return {
			hover: (box, event) => this.details.hover(describe(box), event),
			select: (box) => {
				this.views.sandwich.focused = getChart();
				this.details.select(describe(box));
			},
			open: (box) => box.fn && this.openFunction(box.fn),
			zoom: () => this.showZoom(),
		};
	}

	select(fn) {
		const { profile, rank, weights } = this;
		this.details.select({
			fn, name: labelOf(profile, fn), total: rank.total[fn], self: rank.self[fn], other: rank.otherTotal[fn],
			whole: weights.sum, otherWhole: weights.otherSum,
		});
	}

	openFunction(fn) {
		this.views.sandwich.fn = fn;
		this.select(fn);
		this.showView('sandwich');
	}

	// ---- colours

	forgetColors() {
		this.colors = new Array(this.profile.functions.n);
		this.rootColor = getComputedStyle(document.documentElement).getPropertyValue('--rest').trim();
	}

	/** After less before, as shares of their sums. */
	changeOf(weight, other) {
		const share = this.weights.sum ? weight / this.weights.sum : 0;
		const otherShare = this.weights.otherSum ? other / this.weights.otherSum : 0;
		return this.side ? share - otherShare : otherShare - share;
	}

	colorOf(fn, call) {
		if (this.profile.isDiff && call) return changeColor(this.changeOf(call.total, call.otherTotal), this.mostChange);
		return (this.colors[fn] ??= functionColor(this.profile, fn));
	}

	/** Said by screen readers, and shown for a moment. */
	say(text) {
		find('said').textContent = text;
		clearTimeout(this.saying);
		this.saying = setTimeout(() => (find('said').textContent = ''), 2500);
	}
}

// ---- search

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
			return text ? new RegExp(text, /[A-Z]/.test(text) ? 'u' : 'iu') : null;
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
		if (this.report.view.chart) for (const view of Object.values(this.report.views)) redrawView(view);
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
		this.report.view.chart?.canvas.focus({ preventScroll: true });
	}
}

function redrawView(view) {
	for (const chart of [view.chart, view.callers, view.callees]) if (chart?.source) chart.redraw();
}

// ---- theme

const darkQuery = matchMedia('(prefers-color-scheme: dark)');

// Files opened from a disk may have no storage.
const stored = {
	get: () => {
		try {
			return localStorage.getItem('noderay-theme');
		} catch {
			return null;
		}
	},
	set: (value) => {
		try {
			localStorage.setItem('noderay-theme', value);
		} catch {
			// It is as the system says the next time.
		}
	},
};

function applyTheme(report) {
	const theme = stored.get() ?? (darkQuery.matches ? 'dark' : 'light');
	document.documentElement.dataset.theme = theme;
	find('theme').setAttribute('aria-pressed', String(theme === 'dark'));
	if (!report) return;
	report.forgetColors();
	report.filters.drawChips();
	for (const view of Object.values(report.views)) redrawView(view);
	if (report.viewName === 'table') report.view.show();
}

function toggleTheme(report) {
	stored.set(isDark() ? 'light' : 'dark');
	applyTheme(report);
}

// ---- what can be pressed

function actionsOf(report) {
	const { views } = report;
	const chart = () => report.view.chart;
	return {
		'1': () => report.showView('flame'), '2': () => report.profile.isDiff || report.showView('time'), '3': () => (report.details.fn ? report.openFunction(report.details.fn) : report.showView('sandwich')), '4': () => report.showView('table'),
		i: () => {
			if (report.viewName !== 'flame') return;
			views.flame.invert();
			find('invert').setAttribute('aria-pressed', String(views.flame.isInverted));
			report.showZoom();
		},
		f: () => {
			report.isFlipped = !report.isFlipped;
			find('flip').setAttribute('aria-pressed', String(report.isFlipped));
			for (const view of [views.flame, views.time]) view.chart.flip(report.isFlipped);
		},
		b: () => chart()?.back(), r: () => chart()?.reset(), Backspace: () => chart()?.back(), Escape: () => chart()?.reset(),
		s: () => report.details.fn && report.openFunction(report.details.fn),
		c: () => report.details.copy(), d: () => toggleTheme(report),
		'/': () => find('search').select(), '?': () => find('help').showModal(),
		w: () => report.profile.isDiff && swapSides(report),
	};
}

function swapSides(report) {
	report.side = 1 - report.side;
	find('side').textContent = report.side ? 'Widths: after' : 'Widths: before';
	report.change(false);
}

function listen(report) {
	const actions = actionsOf(report);
	const buttons = { invert: 'i', flip: 'f', back: 'b', reset: 'r', theme: 'd', 'help-open': '?', side: 'w' };
	for (const [id, key] of Object.entries(buttons)) find(id).addEventListener('click', () => actions[key]());
	find('help-close').addEventListener('click', () => find('help').close());
	const tabs = Object.keys(report.views);
	const shown = tabs.filter((name) => !find(`tab-${name}`).hidden);
	tabs.forEach((name, i) => find(`tab-${name}`).addEventListener('click', () => actions[i + 1]()));
	find('tabs').addEventListener('keydown', (event) => {
		const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
		if (!by) return;
		const next = shown[(shown.indexOf(report.viewName) + by + shown.length) % shown.length];
		find(`tab-${next}`).click();
		find(`tab-${next}`).focus();
	});
	document.addEventListener('keydown', (event) => {
		const isTyping = event.target.matches('input[type=search], select');
		if (isTyping || event.ctrlKey || event.metaKey || event.altKey || find('help').open) return;
		if (!actions[event.key]) {
			// Without the focus anywhere, arrows move in the chart.
			if (event.target === document.body) report.view.chart?.key(event);
			return;
		}
		event.preventDefault();
		actions[event.key]();
	});
	document.addEventListener('pointerdown', (event) => {
		if (!find('threads').contains(event.target)) find('threads').open = false;
	});
	darkQuery.addEventListener('change', () => applyTheme(report));
}

async function main() {
	applyTheme(null);
	const profile = await readProfile(find('profile').textContent);
	showAbout(profile);
	find('loading').hidden = true;
	if (!profile.samples.n) {
		find('empty').hidden = false;
		return;
	}
	find('report').hidden = false;
	const report = new Report(profile);
	report.search = new Search(report);
	find('side').hidden = find('change-legend').hidden = !profile.isDiff;
	find('tab-time').hidden = profile.isDiff; // a difference has no times
	listen(report);
	report.showView('flame');
	report.showStatus();
	performance.mark('noderay-ready');
}

main().catch((error) => {
	find('loading').hidden = true;
	find('failed').hidden = false;
	find('failed').textContent = `This report cannot be shown: ${error.message}`;
});
