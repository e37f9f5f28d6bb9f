// browser.mjs - Chromium without a screen, for tests of files that show themselves. SPDX-License-Identifier: MIT
//
//   const { page, close } = await openBrowser();
//   const seen = watch(page);          what went wrong in it, and what it asked of the network
//
// Debian's chromium, driven by playwright-core (tools/packages browser).
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import { tmp, tree } from './lib.mjs';

const tool = path.join(tree, 'tools/packages');

/** Why there is no browser here; false if there is. */
export function noBrowser() {
	return fs.existsSync('/usr/bin/chromium') ? false : 'no chromium: make deps installs it';
}

export async function openBrowser() {
	execFileSync(tool, ['browser'], { stdio: ['ignore', 'ignore', 'inherit'] });
	const directory = execFileSync(tool, ['--dir', 'browser'], { encoding: 'utf8' }).trim();
	const { chromium } = createRequire(path.join(directory, 'node_modules/'))('playwright-core');
	const context = await chromium.launchPersistentContext(tmp(), {
		executablePath: '/usr/bin/chromium', headless: true, viewport: { width: 1280, height: 800 }, colorScheme: 'light', reducedMotion: 'reduce',
		args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
			'--disable-sync'],
	});
	return { page: context.pages()[0] ?? await context.newPage(), close: () => context.close() };
}

/** { errors, requests } of a page, from now on: none is right. */
export function watch(page) {
	const seen = { errors: [], requests: [] };
	page.on('console', (message) => message.type() === 'error' && seen.errors.push(message.text()));
	page.on('pageerror', (error) => seen.errors.push(error.message));
	page.on('request', (request) => !request.url().startsWith('file:') && seen.requests.push(request.url()));
	return seen;
}
