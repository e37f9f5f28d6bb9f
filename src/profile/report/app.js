// app.js - the page: its settings, its views, its keys. SPDX-License-Identifier: MIT

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
		this.views = {
			flame: new FlameView(this),
			time: new TimeView(this),
			sandwich: new SandwichView(this),
			table: new TableView(this),
		};
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
			this.mostChange = Math.max(
				this.mostChange,
				Math.abs(this.changeOf(this.rank.self[fn], this.rank.otherSelf[fn])),
			);
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

	/** Those that are shown: a sandwich has two. */
	get charts() {
		return this.view.charts ?? [];
	}

	/** The one that was used last, if it is still there. */
	get chart() {
		return this.charts.includes(this.lastChart) ? this.lastChart : this.charts.at(-1);
	}

	showView(name) {
		this.viewName = name;
		for (const key of Object.keys(this.views)) {
			find(`tab-${key}`).setAttribute('aria-selected', String(key === name));
			find(`tab-${key}`).tabIndex = key === name ? 0 : -1;
			find(`view-${key}`).hidden = key !== name;
		}
		// What has the focus and is hidden would still get the keys for a moment.
		if (document.activeElement?.closest('.view[hidden]')) document.activeElement.blur();
		find('invert').hidden = name !== 'flame';
		for (const id of ['flip', 'back', 'reset'])
			find(id).hidden = name === 'table' || (id === 'flip' && name === 'sandwich');
		this.details.hover(null);
		this.view.show();
		this.showZoom();
	}

	showZoom() {
		find('back').disabled = find('reset').disabled = !this.charts.some((chart) => chart.isZoomed);
		if (this.viewName === 'time') this.view.showOnly();
	}

	showStatus() {
		const { profile, weights } = this;
		const whole = this.threadWeights.reduce(
			(sum, weight, i) => sum + ((i < profile.beforeThreads ? 0 : 1) === this.side ? weight : 0),
			0,
		);
		find('status').textContent = weights.sum === whole ? '' : `${percent(weights.sum, whole)} shown`;
		find('status').title =
			`${weightSentence(profile, weights.sum)} of ${weightText(profile, whole)}; the rest is filtered out`;
	}

	handlersFor(getChart) {
		const describe = (box) => box && getChart().source.describe(box);
		return {
			hover: (box, event) => this.details.hover(describe(box), event),
			select: (box) => {
				this.lastChart = getChart();
				this.details.select(describe(box));
			},
			open: (box) => box.fn && this.openFunction(box.fn),
			zoom: () => this.showZoom(),
		};
	}

	select(fn) {
		const { profile, rank, weights } = this;
		this.details.select({
			fn,
			name: labelOf(profile, fn),
			total: rank.total[fn],
			self: rank.self[fn],
			other: rank.otherTotal[fn],
			whole: weights.sum,
			otherWhole: weights.otherSum,
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
		if (this.profile.isDiff && call)
			return changeColor(this.changeOf(call.total, call.otherTotal), this.mostChange);
		return (this.colors[fn] ??= functionColor(this.profile, fn));
	}

	/** Said by screen readers, and shown for a moment. */
	say(text) {
		find('said').textContent = text;
		clearTimeout(this.saying);
		this.saying = setTimeout(() => (find('said').textContent = ''), 2500);
	}
}

// ---- what can be pressed

function actionsOf(report) {
	const { views } = report;
	const back = () => (report.chart?.isZoomed ? report.chart : report.charts.find((chart) => chart.isZoomed))?.back();
	const reset = () => report.charts.forEach((chart) => chart.reset());
	return {
		1: () => report.showView('flame'),
		2: () => report.profile.isDiff || report.showView('time'),
		3: () => (report.details.fn ? report.openFunction(report.details.fn) : report.showView('sandwich')),
		4: () => report.showView('table'),
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
		b: back,
		r: reset,
		Backspace: back,
		Escape: reset,
		o: () => report.viewName === 'time' && views.time.toggleOnly(),
		s: () => report.details.fn && report.openFunction(report.details.fn),
		c: () => report.details.copy(),
		d: () => toggleTheme(report),
		'/': () => find('search').select(),
		'?': () => find('help').showModal(),
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
	const buttons = {
		invert: 'i',
		flip: 'f',
		back: 'b',
		reset: 'r',
		theme: 'd',
		'help-open': '?',
		side: 'w',
		'time-only': 'o',
	};
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
			if (event.target === document.body) report.chart?.key(event);
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
