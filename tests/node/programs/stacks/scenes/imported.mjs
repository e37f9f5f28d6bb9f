// Imported by module.mjs. SPDX-License-Identifier: MIT
import { createRequire } from 'node:module';
const { park } = createRequire(import.meta.url)('../park.js');
const arrow = (n) => park(true) + n;
export default function (n) {
	return arrow(n);
}
