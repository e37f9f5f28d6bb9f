// A program in TypeScript whose functions are known by name and line, for source maps. SPDX-License-Identifier: MIT
import { Counter, spin } from './work';

interface Shape {
	size: number;
}

export function hot(shape: Shape): number {
	const counter: Counter = new Counter(shape.size);
	let total: number = 0;
	for (let i = 0; i < 1000; i++) total += counter.step(i) + spin(i);
	return total;
}

const helper = (count: number): number => {
	let sum = 0;
	for (let i = 0; i < count; i++) sum += Math.sqrt(i) % 3;
	return sum;
};

function loop(): void {
	const end = Date.now() + 20;
	while (Date.now() < end) {
		hot({ size: 3 });
		helper(20000);
	}
	setImmediate(loop);
}

console.log('ready');
loop();
