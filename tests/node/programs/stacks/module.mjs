// An ES module with top-level await and an async chain. SPDX-License-Identifier: MIT
import { createRequire } from 'node:module';
const { park } = createRequire(import.meta.url)('./park.js');

async function third(n) {
	await null;
	return park(true);
}
async function second(n) {
	return (await third(n + 1)) + 1;
}
export default async function first() {
	return second(1);
}
await first();
