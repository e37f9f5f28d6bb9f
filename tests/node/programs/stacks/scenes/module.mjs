// An ES module that imports another while it runs. SPDX-License-Identifier: MIT
export async function outer(n) {
	const { default: first } = await import('./imported.mjs');
	return first(n);
}
await outer(1);
