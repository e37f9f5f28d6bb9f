// sandwich.js - one function: who calls it, what it calls, and which of its lines ran. SPDX-License-Identifier: MIT

class SandwichView {
	constructor(report) {
		this.report = report;
		this.fn = 0;
		const handlers = (get) => report.handlersFor(get);
		this.callers = new Chart(
			find('callers-chart'),
			'Callers of the function, the nearest at the bottom.',
			handlers(() => this.callers),
		);
		this.callees = new Chart(
			find('callees-chart'),
			'What the function calls.',
			handlers(() => this.callees),
		);
		this.callers.isFlipped = true;
	}

	get charts() {
		return [this.callers, this.callees];
	}

	// The heaviest by itself is what somebody who has not chosen wants to see.
	suggest() {
		const { rank } = this.report;
		let best = 0;
		for (let fn = 1; fn < rank.self.length; fn++) if (rank.self[fn] > (best ? rank.self[best] : 0)) best = fn;
		return best;
	}

	show() {
		const { report } = this;
		const fn = this.fn || (this.fn = this.suggest());
		const { tree, weights, profile, rank } = report;
		const isEmpty = !fn || !rank.total[fn];
		find('sandwich-body').hidden = isEmpty;
		find('sandwich-empty').hidden = !isEmpty;
		find('sandwich-name').textContent = fn ? isolate(labelOf(profile, fn)) : '';
		find('sandwich-place').textContent = fn ? isolate(placeOf(profile, fn)) : '';
		find('sandwich-weight').textContent = '';
		if (isEmpty) return;
		const { lines, inlined } = weighLines(profile, tree, weights, fn);
		const facts = [`total ${percent(rank.total[fn], weights.sum)}, self ${percent(rank.self[fn], weights.sum)}`];
		facts.push(kindText(profile, fn));
		if (inlined) facts.push(`inlined into its callers in ${percent(inlined, rank.total[fn])} of it`);
		find('sandwich-weight').textContent = facts.join('; ');
		this.showLines(lines.filter((row) => row.line));
		const members = [];
		const outer = outerMarks(tree, profile.functions.n);
		for (let i = 1; i < tree.n; i++) if (tree.fn[i] === fn && outer[i]) members.push(i);
		this.callers.show(new FlameSource(report, new Upwards(tree, weights, members, fn), ''));
		this.callees.show(new FlameSource(report, new Downwards(tree, weights, members, fn), ''));
	}

	showLines(lines) {
		const { weights } = this.report;
		const body = find('lines-body');
		const cell = (text) => element('td', {}, text);
		body.replaceChildren(
			...lines
				.slice(0, 200)
				.map(({ line, self, total }) =>
					element(
						'tr',
						{},
						cell(String(line)),
						cell(percent(self, weights.sum)),
						cell(percent(total, weights.sum)),
					),
				),
		);
		find('lines').hidden = !lines.length;
		find('lines-more').textContent = lines.length > 200 ? `and ${count(lines.length - 200)} more lines` : '';
	}
}
