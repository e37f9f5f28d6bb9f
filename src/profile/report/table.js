// table.js - functions by what they weigh: sorted by any column, filtered by the search. SPDX-License-Identifier: MIT
//
// Only rows in view are elements; the rest is two spacers. 100,000 functions scroll like ten.

const TABLE_ROW = 26;

const COLUMNS = [
	{ key: 'self', text: 'Self', isNumber: true, value: ({ rank }, fn) => rank.self[fn] },
	{ key: 'total', text: 'Total', isNumber: true, value: ({ rank }, fn) => rank.total[fn] },
	{ key: 'name', text: 'Function', value: ({ profile }, fn) => labelOf(profile, fn) },
	{ key: 'kind', text: 'Kind', value: ({ profile }, fn) => kindText(profile, fn) },
	{ key: 'place', text: 'Where', value: ({ profile }, fn) => placeOf(profile, fn) },
];
const DIFF_COLUMNS = [
	{
		key: 'change',
		text: 'Self change',
		isNumber: true,
		value: (report, fn) => report.changeOf(report.rank.self[fn], report.rank.otherSelf[fn]),
	},
	{
		key: 'totalChange',
		text: 'Total change',
		isNumber: true,
		value: (report, fn) => report.changeOf(report.rank.total[fn], report.rank.otherTotal[fn]),
	},
];

class TableView {
	constructor(report) {
		this.report = report;
		this.host = find('table-scroll');
		this.columns = report.profile.isDiff ? [...DIFF_COLUMNS, ...COLUMNS] : COLUMNS;
		this.sort = { column: this.columns[0], isDown: true };
		this.fillHead();
		this.host.addEventListener('scroll', () => this.drawRows(), { passive: true });
		new ResizeObserver(() => this.rows && this.drawRows()).observe(this.host);
	}

	fillHead() {
		const head = this.columns.map((column) => {
			const button = element('button', { type: 'button', on: { click: () => this.sortBy(column) } }, column.text);
			return (column.cell = element(
				'th',
				{ scope: 'col', class: `column-${column.key}${column.isNumber ? ' number' : ''}` },
				button,
			));
		});
		find('table-head').replaceChildren(...head);
	}

	sortBy(column) {
		const isDown = this.sort.column === column ? !this.sort.isDown : Boolean(column.isNumber);
		this.sort = { column, isDown };
		this.host.scrollTop = 0;
		this.show();
	}

	show() {
		const { report, sort } = this;
		const { rank, matched, profile } = report;
		const rows = [];
		for (let fn = 1; fn < profile.functions.n; fn++)
			if ((rank.total[fn] > 0 || rank.otherTotal[fn] > 0) && (!matched || matched[fn])) rows.push(fn);
		const values = new Map(rows.map((fn) => [fn, sort.column.value(report, fn)]));
		const rise = (a, b) => (values.get(a) < values.get(b) ? -1 : values.get(a) > values.get(b) ? 1 : 0);
		const direction = sort.isDown ? -1 : 1;
		this.rows = rows.sort((a, b) => direction * rise(a, b) || rank.total[b] - rank.total[a] || a - b);
		for (const column of this.columns) {
			const order = column !== sort.column ? 'none' : sort.isDown ? 'descending' : 'ascending';
			column.cell.setAttribute('aria-sort', order);
		}
		find('table-empty').hidden = rows.length > 0;
		this.drawRows();
	}

	drawRows() {
		const first = Math.max(0, Math.floor(this.host.scrollTop / TABLE_ROW) - 8);
		const last = Math.min(this.rows.length, first + Math.ceil(this.host.clientHeight / TABLE_ROW) + 16);
		const spacer = () => element('tr', { class: 'gap', 'aria-hidden': 'true' }, element('td'));
		const above = spacer();
		const below = spacer();
		above.style.height = `${first * TABLE_ROW}px`;
		below.style.height = `${(this.rows.length - last) * TABLE_ROW}px`;
		find('table-body').replaceChildren(above, ...this.rows.slice(first, last).map((fn) => this.row(fn)), below);
		find('table').setAttribute('aria-rowcount', String(this.rows.length + 1));
	}

	row(fn) {
		return element(
			'tr',
			{ on: { click: () => this.report.select(fn), dblclick: () => this.report.openFunction(fn) } },
			...this.columns.map((column) => this.cell(column, fn)),
		);
	}

	cell(column, fn) {
		const { report } = this;
		const { profile, weights } = report;
		const value = column.value(report, fn);
		if (column.key === 'change' || column.key === 'totalChange')
			return element(
				'td',
				{ class: `number ${value > 0 ? 'grown' : value < 0 ? 'shrunk' : ''}` },
				signedPercent(value),
			);
		if (column.isNumber) {
			const bar = element('span', { class: 'fill', 'aria-hidden': 'true' });
			bar.style.width = `${weights.sum ? Math.min(100, (value / weights.sum) * 100) : 0}%`;
			return element(
				'td',
				{ class: 'number', title: weightSentence(profile, value) },
				bar,
				element('span', { class: 'share' }, percent(value, weights.sum)),
			);
		}
		if (column.key === 'name') {
			const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' });
			swatch.style.background = functionColor(profile, fn);
			const name = element(
				'button',
				{
					type: 'button',
					class: 'link',
					title: 'Show callers and callees',
					on: { click: () => report.openFunction(fn) },
				},
				isolate(value),
			);
			return element('td', { class: 'name' }, swatch, name);
		}
		const text = column.key === 'place' ? shortFile(value) : value;
		return element('td', { title: value, class: column.key }, isolate(text));
	}
}
