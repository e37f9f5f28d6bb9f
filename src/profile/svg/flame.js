// flame.js - what makes the SVG flame graph answer: details, zoom, search, and of a difference the widths of
// either side. SPDX-License-Identifier: MIT
//
// Where it is only a picture (an <img>), none of this runs and the picture stands as it was written.
(() => {
	'use strict';
	const root = document.documentElement;
	const find = (id) => document.getElementById(id);
	const width = Number(root.dataset.width);
	const margin = Number(root.dataset.margin);
	const letter = 7.3; // of the font, in pixels
	const frames = Array.from(document.querySelectorAll('.f'), (group) => {
		const rect = group.querySelector('rect');
		const value = (name) => Number(rect.getAttribute(name));
		const title = group.querySelector('title').textContent;
		return {
			group,
			rect,
			text: group.querySelector('text'),
			title,
			name: title.split('\n')[0],
			x: value('x'),
			width: value('width'),
			y: value('y'),
			other: group.dataset.other?.split(' ').map(Number), // where it is by the other side's weight: x, width
		};
	});
	const whole = frames[0];
	let shown = whole;
	let sought = '';
	const total = frames.reduce((most, frame) => Math.max(most, frame.width), 0);

	// As much of the name as fits, whole characters only.
	function label(frame, room) {
		const characters = Array.from(frame.name);
		const fits = Math.floor((room - 6) / letter);
		if (fits < 3) return '';
		return characters.length <= fits ? frame.name : `${characters.slice(0, fits - 1).join('')}…`;
	}

	function place(frame, x, size) {
		frame.group.style.display = '';
		frame.rect.setAttribute('x', x);
		frame.rect.setAttribute('width', Math.max(size, 0.1));
		if (!frame.text) {
			frame.text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
			frame.text.setAttribute('y', frame.y + 12);
			frame.group.append(frame.text);
		}
		frame.text.setAttribute('x', x + 3);
		frame.text.textContent = label(frame, size);
	}

	function zoom(to) {
		shown = to;
		const scale = (width - 2 * margin) / to.width;
		const slack = 0.002;
		for (const frame of frames) {
			const isAbove =
				frame.y > to.y && frame.x <= to.x + slack && frame.x + frame.width >= to.x + to.width - slack;
			const isInside =
				frame.y <= to.y && frame.x >= to.x - slack && frame.x + frame.width <= to.x + to.width + slack;
			frame.group.classList.toggle('p', isAbove);
			if (!frame.width) frame.group.style.display = 'none';
			else if (isAbove) place(frame, margin, width - 2 * margin);
			else if (isInside) place(frame, margin + (frame.x - to.x) * scale, frame.width * scale);
			else frame.group.style.display = 'none';
		}
		find('reset').classList.toggle('on', to.width < total);
	}

	// Each stack once: boxes that lie on others that were found add nothing.
	function share(found) {
		let end = -1;
		let sum = 0;
		for (const { x, width: size } of [...found].sort((a, b) => a.x - b.x || b.width - a.width)) {
			sum += Math.max(0, x + size - Math.max(x, end));
			end = Math.max(end, x + size);
		}
		return (sum / total) * 100;
	}

	function search(pattern) {
		const test = pattern && new RegExp(pattern, /[A-Z]/.test(pattern) ? '' : 'i');
		sought = pattern;
		const found = frames.filter((frame) => {
			const isFound =
				Boolean(test) && frame !== whole && test.test(frame.title.split('\n').slice(0, 2).join('\n'));
			frame.group.classList.toggle('m', isFound);
			return isFound;
		});
		root.classList.toggle('seeking', Boolean(test));
		find('matched').textContent = test ? `matched ${share(found).toFixed(1)}%` : '';
		find('search').textContent = test ? 'Clear' : 'Search';
	}

	function ask() {
		if (root.classList.contains('seeking')) return search('');
		const pattern = prompt('Search functions and files (a regular expression)', '');
		try {
			search(pattern);
		} catch (error) {
			alert(error.message);
		}
	}

	// What is not there by this weight has no box to stay in.
	function swapSides() {
		for (const frame of frames) [frame.x, frame.width, frame.other] = [...frame.other, [frame.x, frame.width]];
		for (const note of [find('side'), find('narrow')])
			[note.textContent, note.dataset.other] = [note.dataset.other, note.textContent];
		zoom(shown.width ? shown : whole);
		if (sought) search(sought);
	}

	for (const frame of frames) {
		frame.group.addEventListener('click', () => zoom(frame));
		frame.group.addEventListener(
			'mouseenter',
			() => (find('details').textContent = frame.title.split('\n').filter(Boolean).join(' · ')),
		);
		frame.group.addEventListener('mouseleave', () => (find('details').textContent = ''));
	}
	const press = (id, action) => {
		find(id).addEventListener('click', action);
		find(id).addEventListener('keydown', (event) => (event.key === 'Enter' || event.key === ' ') && action());
	};
	press('reset', () => zoom(whole));
	press('search', ask);
	if (find('side')) press('side', swapSides);
	addEventListener('keydown', (event) => {
		if (event.key === '/' || (event.key === 'f' && (event.ctrlKey || event.metaKey))) {
			event.preventDefault();
			ask();
		} else if (event.key === 'Escape' || event.key === 'Backspace') {
			zoom(whole);
		} else if (event.key === 'w' && find('side')) {
			swapSides();
		}
	});
	root.classList.add('live');
})();
