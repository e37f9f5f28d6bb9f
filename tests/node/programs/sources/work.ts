// SPDX-License-Identifier: MIT
import { burn } from 'dep';

export class Counter {
	private count: number;

	constructor(size: number) {
		this.count = size;
	}

	step(n: number): number {
		for (let i = 0; i < 100; i++) this.count += (n * i) % 7;
		return this.count;
	}
}

export function spin(n: number): number {
	return burn(n) + 1;
}
