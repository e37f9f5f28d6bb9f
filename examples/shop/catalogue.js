// What the shop sells, and a search that is slow on purpose: it looks at every word of every product.
'use strict';

const adjectives = ['red', 'blue', 'small', 'large', 'wooden', 'steel', 'soft', 'quiet'];
const things = ['chair', 'lamp', 'teapot', 'clock', 'shelf', 'kettle', 'basket', 'mirror'];

function makeProducts(count) {
	return Array.from({ length: count }, (_, id) => ({
		id,
		name: `${adjectives[id % 8]} ${things[(id >> 3) % 8]} no. ${id}`,
		price: 5 + ((id * 7919) % 20000) / 100,
	}));
}

function letterDistance(a, b) {
	let row = Array.from({ length: b.length + 1 }, (_, i) => i);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++)
			next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
		row = next;
	}
	return row[b.length];
}

class Catalogue {
	constructor(count) {
		this.products = makeProducts(count);
	}

	score(product, words) {
		const names = product.name.split(' ');
		return words.reduce((sum, word) => sum + Math.min(...names.map((name) => letterDistance(word, name))), 0);
	}

	search(text, limit = 10) {
		const words = text.toLowerCase().split(/\s+/);
		return this.products
			.map((product) => ({ product, score: this.score(product, words) }))
			.sort((a, b) => a.score - b.score)
			.slice(0, limit)
			.map(({ product }) => product);
	}
}

module.exports = { Catalogue };
