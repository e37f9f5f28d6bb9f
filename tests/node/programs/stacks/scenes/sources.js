// Code from everywhere: contexts, offsets, line ends, alphabets, eval in all its forms. SPDX-License-Identifier: MIT
'use strict';
const vm = require('vm');
const { park } = require('../park.js');

// Each is a function from its argument "next" to a call of it.
const run = (code, options) => vm.runInThisContext(code, options);
const crlf = run('// one\r\n(function crlf(next) {\r\n\tconst a = 1;\r\n\treturn next(a);\r\n})', { filename: 'crlf.js' });
const separators = run('/* \u2028 \u2029 */(function separators(next) {\r  const x = "é";\u2028  return next(x);\n})', { filename: 'séparateurs.js' });
const wide = run('// 漢字\n(function широкий(next) {\n  const ключ = "ж";\n  return next(ключ);\n})', { filename: '/tmp/папка/файл.js' });
const astral = run('(function 𝒻𝓊𝓃(next) {\n  const 𠮷 = "🐍"; return next(𠮷);\n})', { filename: '𝒻.js' });
const bundle = run(`var pad="${'x'.repeat(5 << 20)}";(function bundled(next){return next(pad.length)})`, { filename: 'bundle.min.js' });
const shifted = run('(function shifted(next) { return next(1); })', { filename: 'template.html', lineOffset: 99, columnOffset: 12 });
const context = new vm.Script('(function inContext(next) {\n  return next(1);\n})', { filename: 'sandbox.js', lineOffset: 5 })
	.runInContext(vm.createContext({}));
const compiled = vm.compileFunction('const r = 1;\nreturn next(r);', ['next'], { filename: 'compiled.js' });
const made = new Function('next', 'one = 1', 'return next(\n one)');
const indirect = (0, eval)('(function indirect(next) {\n\n  return next();\n})');
const named = eval('(function named(next) {\n  return next();\n})\n//# sourceURL=given-name.js');
function chain(next) {
	return eval('eval("eval(\'next()\')")');
}
const nameless = run('(next) => next()');

crlf(() =>
	separators(() =>
		wide(() =>
			astral(() =>
				bundle(() =>
					shifted(() =>
						context(() =>
							compiled(() =>
								made(() =>
									indirect(() =>
										named(() =>
											chain(() =>
												nameless(() => park(true))))))))))))));
