// colors.js - what colour a function has: by kind, a package by its name, a difference by its change. SPDX-License-Identifier: MIT

// Hue and saturation; how light it is in the light and in the dark.
const KIND_COLORS = {
	js: [40, 92, 70, 33],
	package: [265, 58, 80, 48],
	node: [150, 42, 72, 30],
	wasm: [68, 55, 68, 30],
	builtin: [182, 42, 70, 29],
	native: [211, 66, 77, 38],
	gc: [4, 76, 75, 44],
	compiler: [335, 60, 80, 42],
	kernel: [215, 14, 75, 34],
	idle: [220, 6, 88, 25],
	unknown: [30, 8, 74, 36],
};

function hashText(text) {
	let hash = 2166136261;
	for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
	return (hash ^ (hash >>> 13)) >>> 0;
}

const isDark = () => document.documentElement.dataset.theme === 'dark';

// In the dark, strong colours glare.
const tint = ([hue, saturation, light, dark], turn = 0, shade = 0) =>
	isDark()
		? `hsl(${hue + turn} ${saturation * 0.68}% ${dark + shade}%)`
		: `hsl(${hue + turn} ${saturation}% ${light + shade}%)`;

const kindColor = (kind) => tint(KIND_COLORS[kind] ?? KIND_COLORS.unknown);

function functionColor({ functions, kinds }, fn) {
	const kind = kinds[functions.kind[fn]];
	const turn = functions.package[fn] ? (hashText(functions.package[fn]) % 9) * 8 - 32 : 0;
	// Neighbours of one kind are told apart by a little light.
	const shade = ((hashText(functions.name[fn]) % 5) - 2) * 1.6;
	return tint(KIND_COLORS[kind] ?? KIND_COLORS.unknown, turn, shade);
}

/** change: of the share, after less before; most: the change that gets the full colour. Grown is red, shrunk is blue. */
function changeColor(change, most) {
	const strength = Math.min(1, Math.sqrt(Math.abs(change) / most));
	const hue = change > 0 ? 6 : 214;
	if (strength < 0.04) return isDark() ? 'hsl(220 5% 26%)' : 'hsl(220 8% 91%)';
	const light = isDark() ? 26 + strength * 18 : 91 - strength * 29;
	return `hsl(${hue} ${20 + strength * 62}% ${light}%)`;
}

/** The colours of everything else that is drawn on a canvas: the style sheet's. */
function inkOf(host) {
	const style = getComputedStyle(host);
	const value = (name) => style.getPropertyValue(name).trim();
	return {
		text: value('--box-text'),
		page: value('--page'),
		accent: value('--accent'),
		faint: value('--faint'),
		rest: value('--rest'),
		line: value('--line'),
	};
}
