// filters.js - which kinds and threads are shown: the legend, which is its own switches, and the list of threads. SPDX-License-Identifier: MIT
//
// A kind that is switched off is folded into its callers, so that nothing is lost but the detail. Idle time is different: it is left out.

function threadText({ threads }, index) {
	const { name, tid, pid } = threads[index];
	const of = threads.some((thread) => thread.pid !== pid) && pid ? ` of ${pid}` : '';
	return `${name || 'thread'}${tid ? ` (${tid}${of})` : ''}`;
}

// Which nodes are below an idle one, or are one.
function markIdle({ nodes, frames, functions, kinds }) {
	const idle = kinds.indexOf('idle');
	const marks = new Uint8Array(nodes.n);
	for (let i = 1; i < nodes.n; i++)
		marks[i] = marks[nodes.parent[i]] || (functions.kind[frames.fn[nodes.frame[i]]] === idle ? 1 : 0);
	return marks;
}

class Filters {
	constructor(report) {
		const { profile } = report;
		this.report = report;
		this.isIdleNode = markIdle(profile);
		this.idleKind = profile.kinds.indexOf('idle');
		this.isOff = new Uint8Array(profile.kinds.length);
		this.threads = new Uint8Array(profile.threads.length).fill(1);
		this.time = null; // or { from, to }
		this.weighThreads();
		this.weighKinds();
		this.makeChips();
		this.makeThreads();
	}

	isChosen(i) {
		const { thread, time } = this.report.profile.samples;
		return this.threads[thread[i]] === 1 && (!this.time || (time[i] >= this.time.from && time[i] < this.time.to));
	}

	keep(i) {
		return this.isChosen(i) && !(this.isOff[this.idleKind] && this.isIdleNode[this.report.profile.samples.node[i]]);
	}

	/** range: only samples that began in it; null: all. */
	setTime(range) {
		this.time = range;
		this.apply();
	}

	/** By function: is it folded into its callers? null: none is. */
	get folded() {
		const { kind, n } = this.report.profile.functions;
		if (!this.isOff.some((isOff, i) => isOff && i !== this.idleKind)) return null;
		const folded = new Uint8Array(n);
		for (let fn = 1; fn < n; fn++) folded[fn] = kind[fn] === this.idleKind ? 0 : this.isOff[kind[fn]];
		return folded;
	}

	weighThreads() {
		const { samples, threads } = this.report.profile;
		this.threadWeights = new Float64Array(threads.length);
		for (let i = 0; i < samples.n; i++) this.threadWeights[samples.thread[i]] += samples.weight[i];
	}

	// By the innermost function; idle as a whole.
	weighKinds() {
		const { samples, nodes, frames, functions, kinds } = this.report.profile;
		this.kindWeights = new Float64Array(kinds.length);
		for (let i = 0; i < samples.n; i++) {
			const node = samples.node[i];
			if (!node || !this.isChosen(i)) continue;
			const kind = this.isIdleNode[node] ? this.idleKind : functions.kind[frames.fn[nodes.frame[node]]];
			this.kindWeights[kind] += samples.weight[i];
		}
	}

	// A kind that only calls others still has frames to be folded.
	makeChips() {
		const { functions, kinds } = this.report.profile;
		const isThere = new Uint8Array(kinds.length);
		for (let fn = 1; fn < functions.n; fn++) isThere[functions.kind[fn]] = 1;
		this.chips = kinds.flatMap((kind, i) => (isThere[i] ? [this.makeChip(kind, i)] : []));
		find('legend').replaceChildren(...this.chips.map(({ button }) => button));
		this.drawChips();
	}

	makeChip(kind, index) {
		const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' });
		const share = element('span', { class: 'share' });
		const title =
			kind === 'idle'
				? 'Time spent waiting: show it or leave it out'
				: 'Show these frames, or fold them into their callers';
		const button = element(
			'button',
			{ type: 'button', class: 'chip', title, on: { click: () => this.toggleKind(index) } },
			swatch,
			KIND_WORDS[kind] ?? kind,
			share,
		);
		return { kind, index, button, swatch, share };
	}

	drawChips() {
		const whole = this.kindWeights.reduce((a, b) => a + b, 0);
		for (const { kind, index, button, swatch, share } of this.chips) {
			button.setAttribute('aria-pressed', String(!this.isOff[index]));
			swatch.style.background = kindColor(kind);
			share.textContent = percent(this.kindWeights[index], whole);
		}
	}

	toggleKind(index) {
		this.isOff[index] = this.isOff[index] ? 0 : 1;
		this.drawChips();
		this.report.change(index !== this.idleKind);
	}

	makeThreads() {
		const { profile } = this.report;
		const whole = this.threadWeights.reduce((a, b) => a + b, 0);
		const order = profile.threads
			.map((_, i) => i)
			.sort((a, b) => this.threadWeights[b] - this.threadWeights[a] || a - b);
		find('threads-list').replaceChildren(
			...order.map((i) => {
				const box = element('input', {
					type: 'checkbox',
					checked: true,
					value: String(i),
					on: { change: (event) => this.setThread(i, event.target.checked) },
				});
				const only = element(
					'button',
					{ type: 'button', class: 'link', on: { click: () => this.onlyThread(i) } },
					'only',
				);
				const name = element(
					'label',
					{},
					box,
					element('span', { class: 'thread-name' }, isolate(threadText(profile, i))),
				);
				return element(
					'li',
					{},
					name,
					element('span', { class: 'share' }, percent(this.threadWeights[i], whole)),
					only,
				);
			}),
		);
		find('threads-all').addEventListener('click', () => this.onlyThread(-1));
		find('threads').hidden = profile.threads.length < 2 || profile.isDiff;
		this.drawThreads();
	}

	setThread(index, isOn) {
		this.threads[index] = isOn ? 1 : 0;
		this.apply();
	}

	onlyThread(index) {
		this.threads.fill(index < 0 ? 1 : 0);
		if (index >= 0) this.threads[index] = 1;
		for (const box of find('threads-list').querySelectorAll('input'))
			box.checked = this.threads[Number(box.value)] === 1;
		this.apply();
	}

	apply() {
		this.weighKinds();
		this.drawChips();
		this.drawThreads();
		this.report.change(false);
	}

	drawThreads() {
		const on = this.threads.reduce((a, b) => a + b, 0);
		find('threads-summary').textContent =
			on === this.threads.length ? `All ${on} threads` : `${on} of ${this.threads.length} threads`;
	}
}
