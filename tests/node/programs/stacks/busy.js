// A synchronous loop that never ends, through every kind of call that has its own code in V8.
// A comment "//> f g" says which functions this line calls: tests take the whole call graph from here.
// SPDX-License-Identifier: MIT
'use strict';
const numbers = Array.from({ length: 300 }, (_, i) => (i * 7919) % 1009);
let sink = 0;

function leaf(n) {
	let x = n % 7;
	x += n & 3;
	return x;
}
function twice(n) {
	return leaf(n) + //> leaf
		leaf(n + 1); //> leaf
}
class Shape {
	constructor(size) {
		this.size = size;
		this.half = leaf(size); //> leaf
	}
	area(n) {
		const w = twice(n); //> twice
		return w * this.size;
	}
	get wide() {
		return twice(this.size); //> twice
	}
	static make(n) {
		return new Shape(n); //> Shape
	}
	#inner(n) {
		return leaf(n); //> leaf
	}
	outer(n) {
		return this.#inner(n) + 1; //> #inner
	}
}
function inlining(n) {
	let sum = 0;
	const shape = Shape.make(3); //> make
	for (let i = 0; i < n; i++) {
		sum += shape.area(i); //> area
		sum += shape.wide; //> wide
		sum += shape.outer(i); //> outer
	}
	return sum;
}
function construct(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		const s = new Shape(i); //> Shape
		sum += s.half;
	}
	return sum;
}
function closures(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		const short = (x) => {
			return leaf(x + i); //> leaf
		};
		sum += short(i); //> short
		sum += numbers.slice(0, 3).map(function young(v) { //> young
			return v + i;
		})[1];
	}
	return sum;
}
function* counting(n) {
	for (let i = 0; i < n; i++) {
		yield leaf(i); //> leaf
	}
}
function generators(n) {
	let sum = 0;
	for (const v of counting(n)) //> counting
		sum += v;
	for (const v of [...counting(9)]) sum += v; //> counting
	return sum;
}
function thrower(n) {
	if (n % 3 === 0) throw sink;
	return leaf(n); //> leaf
}
function catching(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		try {
			sum += thrower(i); //> thrower
		} catch {
			sum += leaf(i); //> leaf
		} finally {
			sum += twice(i); //> twice
		}
	}
	return sum;
}
const subject = 'the quick brown fox jumps over the lazy dog '.repeat(8);
function regexes(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		sum += /(\w+)\s+\1|zz+y$/.test(subject) ? 1 : 0;
		const replaced = subject.replace(/o(\w)/g, function replacer(all, c) { //> replacer
			return c + leaf(i); //> leaf
		});
		sum += replaced.length;
	}
	return sum;
}
function sorting(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		const copy = numbers.slice();
		copy.sort(function compare(a, b) { //> compare
			return leaf(a) - leaf(b); //> leaf
		});
		sum += copy[0];
	}
	return sum;
}
const document_ = {
	list: numbers,
	date: {
		toJSON() {
			return leaf(3); //> leaf
		},
	},
};
function json(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		const text = JSON.stringify(document_); //> toJSON
		const back = JSON.parse(text, function reviver(k, v) { //> reviver
			return typeof v === 'number' ? v + leaf(v) : v; //> leaf
		});
		sum += back.list.length;
	}
	return sum;
}
function building(n) {
	let s = '';
	for (let i = 0; i < n; i++) {
		s += `${i}:${leaf(i)};`; //> leaf
		if (s.length > 5000) s = s.slice(-10).toUpperCase().padStart(20, 'ab');
	}
	return s.length;
}
function bigints(n) {
	let a = 1n;
	for (let i = 0; i < n; i++) {
		a = (a * 3n + BigInt(leaf(i))) % 1234567890123456789012345678901n; //> leaf
	}
	return Number(a % 100n);
}
const map = new Map(numbers.map((v, i) => [i, v]));
const set = new Set(numbers);
function collections(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		map.forEach(function eachEntry(v, k) { //> eachEntry
			sum += leaf(v + k); //> leaf
		});
		set.forEach((v) => eachValue(v)); //> eachValue <anonymous>
		sum += numbers.reduce(function reducer(a, v) { //> reducer
			return a + leaf(v); //> leaf
		}, 0);
	}
	return sum;
}
function eachValue(v) {
	sink += v & 1;
}
const trapped = new Proxy(document_, {
	get(target, key) {
		return lookUp(target, key); //> lookUp
	},
	has(target, key) {
		return lookUp(target, key) !== undefined; //> lookUp
	},
});
function lookUp(target, key) {
	return Reflect.get(target, key);
}
function proxies(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		sum += trapped.list.length; //> get
		sum += 'date' in trapped ? 1 : 0; //> has
	}
	return sum;
}
function gather(first, ...rest) {
	return first + rest.length + leaf(rest[0]); //> leaf
}
function oldStyle() {
	return arguments.length + leaf(arguments[0]); //> leaf
}
function spreading(n) {
	let sum = 0;
	const few = numbers.slice(0, 20);
	for (let i = 0; i < n; i++) {
		sum += gather(...few); //> gather
		sum += gather.apply(null, few); //> gather
		sum += oldStyle.call(null, i, 2, 3); //> oldStyle
		sum += oldStyle(i); //> oldStyle
		sum += Math.max(...few);
	}
	return sum;
}
function recurse(n) {
	return n <= 0 ? leaf(n) : recurse(n - 1) + 1; //> leaf recurse
}
function recursion(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) sum += recurse(30); //> recurse
	return sum;
}
const bound = function boundOne(n) {
	return leaf(n + this.k); //> leaf
}.bind({ k: 2 });
function binding(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		sum += bound(i); //> boundOne
		sum += Reflect.apply(boundFree, null, [i]); //> boundFree
	}
	return sum;
}
function boundFree(n) {
	return twice(n); //> twice
}
function typed(n) {
	const a = new Float64Array(256);
	for (let i = 0; i < n; i++) {
		a.fill(i).set([1.5, 2.5], 3);
		a.sort((x, y) => descending(x, y)); //> descending <anonymous>
	}
	return a[0];
}
function descending(x, y) {
	return y - x;
}
const iterable = {
	[Symbol.iterator]() {
		let i = 0;
		return {
			next() {
				return { done: i++ > 20, value: leaf(i) }; //> leaf
			},
		};
	},
};
function iterating(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		for (const v of iterable) sum += v; //> next [Symbol.iterator] iterable
		const [first, second] = iterable; //> next [Symbol.iterator] iterable
		sum += first + second;
	}
	return sum;
}
const scenarios = {
	inlining, construct, closures, generators, catching, regexes, sorting, json, building, bigints, collections, proxies,
	spreading, recursion, binding, typed, iterating,
};
function forever(list) {
	for (;;) {
		for (const [work, n] of list) {
			const end = Date.now() + 4;
			do sink += work(n); while (Date.now() < end); //> inlining construct closures generators catching regexes sorting json building bigints collections proxies spreading recursion binding typed iterating
		}
	}
}
const sizes = { sorting: 3, json: 3, regexes: 3, collections: 3, typed: 3, recursion: 10 };
const chosen = process.argv[2] ? process.argv[2].split(',') : Object.keys(scenarios);
console.log(JSON.stringify({ pid: process.pid }));
forever(chosen.map((name) => [scenarios[name], sizes[name] ?? 200])); //> forever
