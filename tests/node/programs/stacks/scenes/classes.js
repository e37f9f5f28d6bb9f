// Classes and objects: whatever can call a function, one step inside the other. SPDX-License-Identifier: MIT
'use strict';
const vm = require('vm');
const { park } = require('../park.js');

let hook; // what the code without arguments calls
class Base {
	static #count = 0;
	constructor(f) {
		f(this);
	}
	static #hidden(f) {
		return f(++Base.#count);
	}
	static open(f) {
		return Base.#hidden(f);
	}
	get prop() {
		return hook();
	}
	set prop(f) {
		f();
	}
	[Symbol.iterator]() {
		return hook();
	}
	[Symbol.toPrimitive]() {
		return hook();
	}
	[`com${'puted'}`](f) {
		return f();
	}
	async *later(f) {
		yield f();
	}
}
const makeFields = (f) => {
	class Fields extends Base {
		one = f();
	}
	return new Fields(() => 0);
};
class Derived extends Base {
	constructor(f) {
		super(() => 0);
		f(this);
	}
	viaSuper() {
		return super.prop;
	}
}
function Old(f) {
	this.x = f();
}
const renamed = function () {
	return hook();
};
Object.defineProperty(renamed, 'name', { value: 'otherName' });
const literal = {
	toJSON() {
		return hook();
	},
	valueOf: () => hook(),
	'quoted-name'(f) {
		return f();
	},
	nested: { deeper: { method: function () { return hook(); } } },
};
function defaults(a, b = hook()) {
	return a + b;
}
function locals(f) {
	const names = Array.from({ length: 130 }, (_, i) => `v${i}`);
	return new Function('f', `return (function manyLocals() {\nlet ${names.map((n) => `${n} = 1`)};\nconst keep = () => [${names}];\nreturn f(keep);\n})()`)(f);
}
function block(f) {
	return new Function('f', 'class Blocky {\n  static {\n    f();\n  }\n}')(f);
}
// Functions without a name: the property of what they are called on is theirs, unless that is global.
const nameless = () => vm.runInThisContext('[function (f) {\n  return f();\n}]', { filename: 'nameless.js' })[0];
const proxy = new Proxy(class Inner {}, {
	construct(target, [f]) {
		f();
		return {};
	},
	get(target, key) {
		return key === 'x' ? hook() : target[key];
	},
});
const tag = (strings, f) => f(strings);
const [major, minor] = process.versions.node.split('.').map(Number);
const hasBlocks = major > 16 || (major === 16 && minor >= 11);

const steps = [
	(next) => Base.open(next),
	(next) => new Base(next),
	(next) => new Derived(next),
	(next) => ((hook = next), new Derived(() => 0).viaSuper()),
	(next) => (new Base(() => 0).prop = next),
	(next) => ((hook = next), [...new Base(() => 0)]),
	(next) => ((hook = next), `${new Base(() => 0)}`),
	(next) => new Base(() => 0).computed(next),
	(next) => new Base(() => 0).later(next).next(),
	(next) => makeFields(next),
	(next) => new Old(next),
	(next) => Reflect.construct(Old, [next], Base),
	(next) => ((hook = next), renamed.call(literal)),
	(next) => ((hook = next), JSON.stringify(literal)),
	(next) => ((hook = next), +literal),
	(next) => literal['quoted-name'](next),
	(next) => ((hook = next), literal.nested.deeper.method()),
	(next) => ((hook = next), defaults(1)),
	(next) => locals(next),
	(next) => (hasBlocks ? block(next) : next()),
	(next) => ((globalThis.held = nameless()), globalThis.held(next)),
	(next) => ({ held: nameless() }).held(next),
	(next) => new proxy(next),
	(next) => ((hook = next), proxy.x),
	(next) => tag`a${next}`,
	(next) => Array.from([1], (v) => next(v)),
	(next) => new Promise((resolve) => resolve(next())),
	(next) => [2, 1].sort(() => next()),
	(next) => Object.assign({}, Object.defineProperty({}, 'got', { enumerable: true, get: next })),
];
const run = (i) => (i === steps.length ? park(true) : steps[i](() => run(i + 1)));
run(0);
