// chart.js - rows of boxes on a canvas: drawing, scrolling, zoom, pointer and keyboard. SPDX-License-Identifier: MIT
//
// Knows nothing of calls or times: a source lays boxes out for a range ({ from, to } in its own units) and a width, and says what a box is.
//   source.full                     the whole range
//   source.layOut(range, width, n)  rows of { fn, x, width, row }, in pixels, from left to right; n at most, isCut if there are more
//   source.rangeOf(box)             what a click zooms to; null: nothing
//   source.labelOf(box), colorOf(box), isFaded(box), isMatched(box)
//   source.axis(range, width)       optional: [{ x, text }] for a line above the rows
// Only boxes in view are drawn; layouts are kept until the range, the width or the source changes.

const ROW = 20;
const AXIS = 22;
const LEAST_TEXT = 26;
const FIRST_ROWS = 160;

class Chart {
	/** handlers: hover(box, event), select(box), open(box), zoom() */
	constructor(host, label, handlers) {
		this.host = host;
		this.handlers = handlers;
		this.canvas = element('canvas', {
			tabIndex: 0,
			'aria-label': label,
			role: 'application',
			'aria-describedby': 'details',
		});
		this.spacer = element('div', { class: 'spacer' });
		host.classList.add('chart');
		host.append(this.canvas, this.spacer);
		this.context = this.canvas.getContext('2d', { alpha: false });
		this.widths = new Map();
		this.history = [];
		this.isFlipped = false;
		this.listen();
	}

	listen() {
		const { canvas, host } = this;
		host.addEventListener('scroll', () => this.scroll(), { passive: true });
		canvas.addEventListener('pointermove', (event) => this.hover(event));
		canvas.addEventListener('pointerleave', () => this.setHovered(null));
		canvas.addEventListener('click', (event) => this.click(event));
		canvas.addEventListener('dblclick', () => this.selected && this.handlers.open(this.selected));
		canvas.addEventListener('keydown', (event) => this.key(event));
		canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
		new ResizeObserver(() => this.source && this.resize()).observe(host);
	}

	/** Another source, or the same that changed; range: the part of it to show. */
	show(source, range = source.full) {
		this.source = source;
		this.range = range;
		this.history = [];
		this.selected = this.hovered = null;
		this.depth = FIRST_ROWS;
		this.below = 0;
		this.handlers.hover(null);
		this.update();
		this.host.scrollTop = this.isFlipped ? this.host.scrollHeight : 0;
	}

	/** The root at the bottom, or at the top. */
	flip(isFlipped) {
		this.isFlipped = isFlipped;
		if (!this.source) return;
		this.host.scrollTop = isFlipped ? this.host.scrollHeight : 0;
		this.setHovered(null);
		this.redraw();
	}

	/** Lays out anew. Where it was scrolled to stays. */
	update() {
		const width = this.host.clientWidth;
		const height = this.host.clientHeight;
		if (!width || !height) return;
		const ratio = window.devicePixelRatio || 1;
		this.axisHeight = this.source.axis ? AXIS : 0;
		if (this.width !== width || this.height !== height || this.ratio !== ratio) {
			Object.assign(this, { width, height, ratio });
			this.canvas.width = Math.round(width * ratio);
			this.canvas.height = Math.round(height * ratio);
			this.canvas.style.width = `${width}px`;
			this.canvas.style.height = `${height}px`;
		}
		this.rows = this.range.to > this.range.from ? this.source.layOut(this.range, width, this.depth) : [];
		this.content = Math.max(this.rows.length * ROW + this.axisHeight, 1);
		// The canvas stays in view and takes room itself.
		this.spacer.style.height = `${Math.max(0, this.content - height)}px`;
		this.redraw();
	}

	// With the root at the bottom, that is what stays where it was.
	resize() {
		const { below = 0 } = this;
		this.update();
		if (this.isFlipped) this.host.scrollTop = this.host.scrollHeight - this.host.clientHeight - below;
	}

	// Deep stacks are laid out as far as somebody scrolls.
	scroll() {
		const { host, rows } = this;
		this.below = host.scrollHeight - host.scrollTop - host.clientHeight;
		const hidden = this.isFlipped ? host.scrollTop : host.scrollHeight - host.scrollTop - host.clientHeight;
		if (rows?.isCut && hidden < host.clientHeight) {
			const before = this.content;
			this.depth *= 2;
			this.update();
			if (this.isFlipped) host.scrollTop += this.content - before;
		}
		this.redraw();
	}

	redraw() {
		this.frame ??= requestAnimationFrame(() => {
			this.frame = null;
			if (this.rows) this.draw();
		});
	}

	// ---- geometry

	top(row) {
		if (!this.isFlipped) return this.axisHeight + row * ROW - this.host.scrollTop;
		return Math.max(this.content, this.height) - (row + 1) * ROW - this.host.scrollTop;
	}

	rowAt(y) {
		if (!this.isFlipped)
			return y < this.axisHeight ? -1 : Math.floor((y - this.axisHeight + this.host.scrollTop) / ROW);
		return Math.floor((Math.max(this.content, this.height) - this.host.scrollTop - y) / ROW);
	}

	boxAt(x, y) {
		return this.boxIn(this.rowAt(y), x);
	}

	boxIn(row, x) {
		const boxes = this.rows?.[row];
		if (!boxes) return null;
		let low = 0;
		let high = boxes.length - 1;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (boxes[middle].x <= x) low = middle;
			else high = middle - 1;
		}
		const box = boxes[low];
		return x >= box.x && x < box.x + Math.max(box.width, 1) ? box : null;
	}

	// ---- drawing

	draw() {
		const { context: c, ratio, width, height } = this;
		this.ink = inkOf(this.host);
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.fillStyle = this.ink.page;
		c.fillRect(0, 0, width, height);
		const { fontSize, fontFamily } = getComputedStyle(this.host);
		c.font = `${fontSize} ${fontFamily}`;
		c.textBaseline = 'middle';
		c.direction = 'ltr';
		for (let row = 0; row < this.rows.length; row++) {
			const y = this.top(row);
			if (y > -ROW && y < height) for (const box of this.rows[row] ?? []) this.drawBox(c, box, y);
		}
		this.outline(c, this.hovered, 1);
		this.outline(c, this.selected, 2);
		if (this.axisHeight) this.drawAxis(c);
	}

	drawBox(c, box, y) {
		const width = Math.max(box.width - (box.width > 3 ? 1 : 0), 0.5);
		const isFaded = this.source.isFaded(box);
		c.globalAlpha = isFaded ? 0.28 : 1;
		c.fillStyle = box.rest ? this.ink.rest : this.source.colorOf(box);
		c.fillRect(box.x, y, width, ROW - 1);
		if (this.source.isMatched(box)) {
			c.fillStyle = this.ink.accent;
			c.fillRect(box.x, y + ROW - 4, width, 3);
		}
		if (box.width >= LEAST_TEXT && !box.rest) {
			c.fillStyle = this.ink.text;
			c.globalAlpha = isFaded ? 0.6 : 1;
			c.fillText(this.fit(c, this.source.labelOf(box), box.width - 8), box.x + 4, y + ROW / 2);
		}
		c.globalAlpha = 1;
	}

	measure(c, text) {
		let width = this.widths.get(text);
		if (width === undefined) {
			if (this.widths.size > 20000) this.widths.clear();
			this.widths.set(text, (width = c.measureText(text).width));
		}
		return width;
	}

	// As much of a text as fits, whole characters only.
	fit(c, name, width) {
		if (this.measure(c, isolate(name)) <= width) return isolate(name);
		const text = shortName(name);
		const whole = this.measure(c, isolate(text));
		if (whole <= width) return isolate(text);
		const characters = Array.from(text.slice(0, Math.ceil(width)));
		let keep = Math.min(characters.length, Math.floor((width / whole) * text.length) + 3);
		for (; keep > 0; keep--) {
			const cut = isolate(`${characters.slice(0, keep).join('')}…`);
			if (this.measure(c, cut) <= width) return cut;
		}
		return '';
	}

	outline(c, box, thickness) {
		if (!box) return;
		c.strokeStyle = this.ink.accent;
		c.lineWidth = thickness;
		c.strokeRect(
			box.x + thickness / 2,
			this.top(box.row) + thickness / 2,
			Math.max(box.width - thickness - 1, 1),
			ROW - 1 - thickness,
		);
	}

	drawAxis(c) {
		c.fillStyle = this.ink.page;
		c.fillRect(0, 0, this.width, AXIS);
		for (const { x, text } of this.source.axis(this.range, this.width)) {
			if (x + 4 + this.measure(c, text) > this.width) continue;
			c.fillStyle = this.ink.line;
			c.fillRect(Math.round(x), AXIS - 6, 1, 6);
			c.fillStyle = this.ink.faint;
			c.fillText(text, x + 4, AXIS / 2);
		}
	}

	// ---- zoom

	zoomTo(range) {
		if (!range || (range.from === this.range.from && range.to === this.range.to)) return;
		this.history.push(this.range);
		this.setRange(range);
	}

	back() {
		const range = this.history.pop();
		if (range) this.setRange(range);
		else this.reset();
	}

	reset() {
		this.history = [];
		this.setRange(this.source.full);
	}

	setRange(range) {
		const kept = this.selected;
		this.range = range;
		this.update();
		this.selected = kept && this.findAgain(kept);
		this.setHovered(null);
		this.handlers.zoom();
	}

	get isZoomed() {
		return (
			Boolean(this.source) && (this.range.from !== this.source.full.from || this.range.to !== this.source.full.to)
		);
	}

	findAgain(old) {
		return (this.rows[old.row] ?? []).find((box) => this.source.isSame(box, old)) ?? null;
	}

	zoomAround(x, factor) {
		const { full } = this.source;
		const size = Math.min((this.range.to - this.range.from) * factor, full.to - full.from);
		const pivot = this.range.from + ((this.range.to - this.range.from) * x) / this.width;
		const from = Math.min(Math.max(pivot - (size * x) / this.width, full.from), full.to - size);
		if (size < (full.to - full.from) * 1e-9) return;
		this.setRange({ from, to: from + size });
	}

	pan(share) {
		const { full } = this.source;
		const size = this.range.to - this.range.from;
		const from = Math.min(Math.max(this.range.from + size * share, full.from), full.to - size);
		if (from !== this.range.from) this.setRange({ from, to: from + size });
	}

	// ---- pointer

	place(event) {
		const edge = this.canvas.getBoundingClientRect();
		return [event.clientX - edge.left, event.clientY - edge.top];
	}

	hover(event) {
		if (event.pointerType === 'touch') return;
		this.setHovered(this.boxAt(...this.place(event)), event);
	}

	setHovered(box, event) {
		if (box !== this.hovered) this.redraw();
		this.hovered = box;
		this.canvas.style.cursor = box ? 'pointer' : 'default';
		this.handlers.hover(box, event);
	}

	click(event) {
		const box = this.boxAt(...this.place(event));
		this.select(box);
		if (box) this.zoomTo(this.source.rangeOf(box));
	}

	select(box) {
		this.selected = box;
		this.handlers.select(box);
		this.redraw();
	}

	wheel(event) {
		if (event.ctrlKey || event.metaKey) {
			event.preventDefault();
			this.zoomAround(this.place(event)[0], Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 120));
		} else if (event.deltaX && Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			event.preventDefault();
			this.pan(event.deltaX / this.width);
		}
	}

	// ---- keyboard

	key(event) {
		if (event.altKey || event.ctrlKey || event.metaKey) return;
		const down = this.isFlipped ? -1 : 1;
		const moves = {
			ArrowDown: () => this.step(down),
			ArrowUp: () => this.step(-down),
			ArrowRight: () => this.beside(1),
			ArrowLeft: () => this.beside(-1),
			Enter: () => this.selected && this.zoomTo(this.source.rangeOf(this.selected)),
			Backspace: () => this.back(),
			Escape: () => this.reset(),
			'+': () => this.zoomAround(this.middle(), 0.5),
			'=': () => this.zoomAround(this.middle(), 0.5),
			'-': () => this.zoomAround(this.middle(), 2),
			Home: () => this.moveTo(this.firstBox()),
		};
		if (!moves[event.key]) return;
		moves[event.key]();
		event.preventDefault();
		event.stopPropagation();
	}

	middle() {
		return this.selected ? this.selected.x + this.selected.width / 2 : this.width / 2;
	}

	firstBox() {
		return this.rows?.find((row) => row?.length)?.[0] ?? null;
	}

	step(by) {
		if (!this.selected) return this.moveTo(this.firstBox());
		const { x, width, row } = this.selected;
		const boxes = this.rows[row + by] ?? [];
		const within = (box) => !box.rest && box.x < x + width && box.x + box.width > x;
		this.moveTo(boxes.find(within) ?? null);
	}

	beside(by) {
		if (!this.selected) return this.moveTo(this.firstBox());
		const boxes = this.rows[this.selected.row] ?? [];
		const next = boxes[boxes.indexOf(this.selected) + by];
		this.moveTo(next && !next.rest ? next : null);
	}

	moveTo(box) {
		if (!box) return;
		this.select(box);
		const y = this.top(box.row);
		if (y < this.axisHeight) this.host.scrollTop += y - this.axisHeight;
		else if (y + ROW > this.height) this.host.scrollTop += y + ROW - this.height;
	}
}
