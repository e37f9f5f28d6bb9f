// details.js - what is under the pointer, and what was chosen: a tip beside it and a line below. SPDX-License-Identifier: MIT

class Details {
	constructor(report) {
		this.report = report;
		this.tip = find('tip');
		find('details-open').addEventListener('click', () => this.fn && report.openFunction(this.fn));
		find('details-copy').addEventListener('click', () => this.copy());
	}

	lines({ fn, total, self, other, whole, otherWhole, note }) {
		const { profile } = this.report;
		const lines = [];
		if (total !== undefined) lines.push(`total ${weightSentence(profile, total)}, ${percent(total, whole)}`);
		if (self !== undefined && fn) lines.push(`self ${weightSentence(profile, self)}, ${percent(self, whole)}`);
		if (profile.isDiff && other !== undefined && whole && otherWhole)
			lines.push(
				`change ${signedPercent(this.report.changeOf(total, other))} (${this.report.side ? 'before' : 'after'} ${percent(other, otherWhole)})`,
			);
		if (note) lines.push(note);
		return lines;
	}

	/** Beside the pointer; null hides it. */
	hover(what, event) {
		this.tip.hidden = !what || !event;
		if (this.tip.hidden) return;
		const { profile } = this.report;
		const parts = [element('strong', {}, isolate(what.name))];
		if (what.fn) {
			parts.push(element('span', { class: 'place' }, isolate(placeOf(profile, what.fn) || 'no file is known')));
			parts.push(element('span', {}, isolate(kindText(profile, what.fn))));
		}
		parts.push(...this.lines(what).map((line) => element('span', {}, line)));
		this.tip.replaceChildren(...parts);
		this.placeTip(event);
	}

	placeTip({ clientX, clientY }) {
		const { offsetWidth: width, offsetHeight: height } = this.tip;
		const x = clientX + 14 + width > innerWidth ? Math.max(4, clientX - width - 10) : clientX + 14;
		const y = clientY + 18 + height > innerHeight ? Math.max(4, clientY - height - 10) : clientY + 18;
		this.tip.style.transform = `translate(${x}px, ${y}px)`;
	}

	/** In the line below, until something else is chosen. */
	select(what) {
		const { profile } = this.report;
		this.fn = what?.fn ?? 0;
		this.name = what?.name ?? '';
		find('details-name').textContent = what
			? isolate(what.name)
			: 'Nothing chosen: click a box, or press ? for the keys';
		find('details-place').textContent = this.fn
			? isolate(`${placeOf(profile, this.fn)}  ${kindText(profile, this.fn)}`)
			: '';
		find('details-weight').textContent = what ? this.lines(what).join('; ') : '';
		find('details-open').disabled = find('details-copy').disabled = !this.fn;
	}

	// Where the clipboard is closed to files, the name is selected for the user's own copy.
	async copy() {
		if (!this.fn) return;
		const text = `${this.name} ${placeOf(this.report.profile, this.fn)}`.trim();
		try {
			await navigator.clipboard.writeText(text);
			this.report.say('Copied');
		} catch {
			getSelection().selectAllChildren(find('details-name'));
			this.report.say('Press Ctrl+C to copy');
		}
	}
}
