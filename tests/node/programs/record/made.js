// Functions that are made, compiled and thrown away for ever: madeN is called by madeN+1. SPDX-License-Identifier: MIT
let serial = 0;
const kept = [];
function generation() {
	const names = Array.from({ length: Number(process.argv[2] ?? 10) }, () => 'made' + ++serial);
	const bodies = names.map((name, i) => `function ${name}(n) { let s = 0; for (let i = 0; i < n; i++) s += i % ${i + 2}; return ${i ? names[i - 1] + '(n) + s' : 's'}; }`);
	return new Function(`${bodies.join('\n')}\nreturn ${names.at(-1)};`)();
}
setInterval(() => {
	const run = generation();
	for (let i = 0; i < 300; i++) run(200);
	kept.push({ run, ballast: Array.from({ length: 2000 }, (_, i) => ({ i })) });
	if (kept.length > 50) kept.splice(0, 25);
}, 10);
console.log('{}');
