// Every shape of function and call that a stack can hold, one inside the other, interpreted.
// SPDX-License-Identifier: MIT
'use strict';
const { park } = require('./park.js');

class Base {
	constructor(next) {
		this.next = next;
		this.made = next(1);
	}
	static build(next) {
		return new Base(next);
	}
	get value() {
		return this.next(2);
	}
	async later(a, b) {
		return this.next(a, b);
	}
	#hidden(next) {
		return next(this);
	}
	open(next) {
		return this.#hidden(next);
	}
}
function Old(next) {
	this.next = next;
}
Old.prototype.run = function () {
	return this.next('old');
};
const computed = 'com' + 'puted';
const table = {
	[computed](next) {
		return next();
	},
	arrow: (next) => next(),
	*generate(next) {
		yield next();
	},
};
function многоязычный(次) {
	return 次('日本語', '🐍');
}
// More context locals than fit beside the name.
function many(next) {
	let a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9;
	const keep = () => a + b + c + d + e + f + g + h + i;
	return next(keep);
}
function lots(next) {
	eval('var ' + Array.from({ length: 90 }, (_, i) => `v${i} = ${i}`).join(', '));
	return next();
}
const bound = function (next) {
	return next(this.x);
}.bind({ x: 1 });
const proxied = new Proxy(function target(next) {
	return next();
}, {});
const anonymous = (() => (next) => next())();

many((k) =>
	lots(() =>
		многоязычный((日) =>
			new Old(() =>
				Base.build((n) =>
					new Base((m) => (m === 1 ? 0 : table[computed](() =>
						table.arrow(() =>
							table.generate(() =>
								bound((x) =>
									proxied(() =>
										anonymous(() =>
											[3].map((v) =>
												'a'.replace(/a/, () =>
													Reflect.apply(function reflected() {
														return JSON.parse('[1]', function reviver() {
															return eval('(function inEval() {\n  return new Base(() => 0).later.call({ next: (p) => new Base(() => 0).open((self) => park(true)) }, 1, 2);\n})()');
														});
													}, null, [])
												)
											)
										)
									)
								)
							).next()
						)
					))).value
				)
			).run()
		)
	)
);
