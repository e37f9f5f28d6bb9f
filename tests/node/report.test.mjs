// report.test.mjs - the HTML report and the SVG in a real browser: clicks, keys, searches. SPDX-License-Identifier: MIT
//
// The profiles are made up (packed.mjs), so that every number on the page is known; one is recorded. Boxes are found through the numbers: a row is 20
// pixels high, and a box as wide as its share of the canvas.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { noBrowser, openBrowser, watch } from './browser.mjs';
import { noderay, tmp } from './lib.mjs';
import { Fake } from './packed.mjs';

const skip = noBrowser();
const ROW = 20;
const directory = tmp();
let browser, page, seen, empty;

const file = (name) => path.join(directory, name);
const text = (id) => page.locator(`#${id}`).textContent();
// Names are isolated from the text around them.
const plain = (string) => string.replace(/[\u2066\u2069]/g, '');

async function open(profile, name) {
	fs.writeFileSync(file(name), profile.into(empty));
	await page.goto(`file://${file(name)}`);
	await page.waitForFunction(() => performance.getEntriesByName('noderay-ready').length > 0);
}

/** Clicks a box by where it is: share (0 to 1) of the chart's width, and its row. */
async function press(chart, share, row) {
	const box = await page.locator(`#${chart} canvas`).boundingBox();
	await page.mouse.click(box.x + box.width * share, box.y + row * ROW + ROW / 2);
}

const chosen = async () => plain(await text('details-name'));

/** 100 samples of main and 50 of a worker, 10 ms apart. */
function shop() {
	const p = new Fake({ title: 'node shop.js (7)', event: 'on-CPU, 100 Hz', period: 10_000_000, duration: 1e9, host: 'box', nodeVersion: '22.1.0', lost: 3, cut: 2, unnamed: 1 });
	p.define('start', { kind: 'native', file: '/usr/bin/node', line: 0, column: 0 });
	p.define('route', { kind: 'package', file: '/srv/node_modules/express/lib/router.js', package: 'express', line: 9 });
	p.define('emit', { kind: 'node', file: 'node:events' });
	p.define('Scavenge', { kind: 'gc', file: '/usr/bin/node', line: 0, column: 0 });
	p.define('epoll', { kind: 'idle', file: '', line: 0, column: 0 });
	p.define('price', { file: '/srv/price.js', line: 4, column: 10 });
	const main = p.thread('main', 7, 7);
	const worker = p.thread('worker_threads worker 1', 8, 7);
	for (let i = 0; i < 100; i++) {
		const time = i * 1e7;
		if (i < 40) p.sample(main, ['start', 'emit', 'route', ['price', 5], ['price', 6]], { time });
		else if (i < 60) p.sample(main, ['start', 'emit', 'route', ['price', -7], 'Scavenge'], { time });
		else if (i < 90) p.sample(main, ['start', 'emit', 'cart'], { time });
		else p.sample(main, ['start', 'epoll'], { time });
		if (i % 2) p.sample(worker, ['start', ['price', 5]], { time });
	}
	return p;
}

before(async () => {
	if (skip) return;
	fs.writeFileSync(file('empty.folded'), '');
	fs.writeFileSync(file('one.folded'), 'main;a 1\n');
	const { code, stderr } = await noderay(['convert', file('one.folded'), '-o', file('one.html')]);
	assert.equal(code, 0, stderr);
	empty = fs.readFileSync(file('one.html'), 'utf8');
	browser = await openBrowser();
	page = browser.page;
	page.setDefaultTimeout(30_000);
	seen = watch(page);
});

after(async () => {
	await browser?.close();
});

test('the head says what was recorded and what was lost', { skip }, async () => {
	await open(shop(), 'shop.html');
	assert.equal(await page.title(), 'profile - noderay'); // of the page that carried it
	const policy = await page.locator('meta[http-equiv]').getAttribute('content');
	assert.match(policy, /^default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+'; /);
	assert.equal(plain(await text('title')), 'node shop.js (7)');
	const facts = plain(await text('facts'));
	for (const fact of ['on-CPU, 100 Hz', '1 s', '150 samples', '2 threads', 'node 22.1.0', 'box']) assert.ok(facts.includes(fact), facts);
	const losses = await text('losses');
	for (const loss of ['3 samples lost', '2 stacks cut', '1 frame without a name']) assert.ok(losses.includes(loss), losses);
	assert.equal(await text('status'), '');
	// Without the idle, as all that follows counts.
	await page.locator('#legend button', { hasText: 'idle' }).click();
	assert.equal(await text('status'), '93.3% shown');
});

test('a click zooms, back and reset undo it', { skip }, async () => {
	// Of 140 samples without the idle: emit has 90, and is the wider of start's children.
	await press('flame-chart', 0.2, 2);
	assert.equal(await chosen(), 'emit');
	assert.match(await text('details-weight'), /total 90 samples \(900 ms\), 64\.3%; self 0 samples/);
	// Zoomed: row 3 is route, 60 of 90.
	await press('flame-chart', 0.6, 3);
	assert.equal(await chosen(), 'route');
	assert.match(plain(await text('details-place')), /router\.js:9.*package express/);
	assert.ok(await page.locator('#back').isEnabled());
	// All of the width is route now; what is at 0.9 in its row was cart before.
	await press('flame-chart', 0.9, 3);
	assert.equal(await chosen(), 'route');
	await page.click('#back');
	await press('flame-chart', 0.9, 3);
	assert.equal(await chosen(), 'cart');
	await page.click('#reset');
	assert.ok(await page.locator('#reset').isDisabled());
	await press('flame-chart', 0.8, 2);
	assert.equal(await chosen(), 'price');
	await page.keyboard.press('Escape');
});

test('a tip is beside the pointer', { skip }, async () => {
	const box = await page.locator('#flame-chart canvas').boundingBox();
	await page.mouse.move(box.x + 30, box.y + 4 * ROW + 5);
	const tip = plain(await text('tip'));
	assert.ok(tip.includes('price') && tip.includes('/srv/price.js:4:10') && tip.includes('total 60 samples'), tip);
	await page.mouse.move(box.x + 30, box.y - 60);
	assert.ok(await page.locator('#tip').isHidden());
});

test('a search tells the share that it matched, each stack once', { skip }, async () => {
	const matched = async (pattern, expected) => {
		await page.fill('#search', pattern);
		await page.waitForFunction((wanted) => document.getElementById('matched').textContent === wanted, expected);
	};
	// price calls itself in 40 samples, and is in 60 of main's and 50 of the worker's, of 140.
	await matched('^price$', '78.6% matched');
	await matched('PRICE', '0% matched');
	await matched('express|scavenge', '42.9% matched');
	await matched('cart$', '21.4% matched');
	await matched('(', 'no regular expression');
	assert.equal(await page.getAttribute('#search', 'aria-invalid'), 'true');
	await page.keyboard.press('Escape');
	await page.waitForFunction(() => document.getElementById('matched').textContent === '');
});

test('kinds fold into their callers; idle is left out; threads are filtered', { skip }, async () => {
	const chip = (name) => page.locator('#legend button', { hasText: name });
	await chip('node_modules').click();
	assert.equal(await chip('node_modules').getAttribute('aria-pressed'), 'false');
	// route is gone, and price stands where it stood.
	await press('flame-chart', 0.2, 3);
	assert.equal(await chosen(), 'price');
	await page.keyboard.press('Escape');
	await chip('node_modules').click();
	await chip('idle').click();
	assert.equal(await text('status'), '');
	await chip('idle').click();
	assert.match(await text('status'), /93\.3%/);
	await page.click('#threads-summary');
	await page.locator('#threads-list li', { hasText: 'worker_threads' }).getByRole('button').click();
	assert.equal(await text('threads-summary'), '1 of 2 threads');
	assert.match(await text('status'), /33\.3%/);
	await press('flame-chart', 0.5, 2);
	assert.equal(await chosen(), 'price');
	assert.match(await text('details-weight'), /50 samples.*100%/);
	await page.click('#threads-summary');
	await page.click('#threads-all');
	assert.equal(await text('threads-summary'), 'All 2 threads');
	await page.keyboard.press('Escape');
});

test('inverted, the boxes are what ran and below it who called', { skip }, async () => {
	await page.locator('#flame-chart canvas').click({ position: { x: 5, y: 5 } });
	await page.keyboard.press('i');
	assert.equal(await page.getAttribute('#invert', 'aria-pressed'), 'true');
	// price ran in 90, cart in 30, Scavenge in 20.
	await press('flame-chart', 0.7, 1);
	assert.equal(await chosen(), 'cart');
	await page.keyboard.press('Escape');
	await press('flame-chart', 0.95, 1);
	assert.equal(await chosen(), 'Scavenge');
	await press('flame-chart', 0.5, 2);
	assert.equal(await chosen(), 'price');
	await page.click('#invert');
	await page.click('#flip');
	// The root is at the bottom now.
	const box = await page.locator('#flame-chart canvas').boundingBox();
	await page.mouse.click(box.x + 40, box.y + box.height - ROW - 5);
	assert.equal(await chosen(), 'start');
	await page.click('#flip');
	await page.keyboard.press('Escape');
});

test('the table sorts, searches, and leads to a function', { skip }, async () => {
	await page.click('#tab-table');
	const names = async () => (await page.locator('#table-body td.name').allTextContents()).map(plain);
	assert.deepEqual((await names()).slice(0, 3), ['price', 'cart', 'Scavenge']);
	assert.equal(await page.locator('#table-body td.number').first().textContent(), '64.3%');
	await page.getByRole('button', { name: 'Total' }).click();
	assert.deepEqual((await names()).slice(0, 2), ['start', 'price']);
	await page.getByRole('button', { name: 'Function', exact: true }).click();
	assert.deepEqual(await names(), ['Scavenge', 'cart', 'emit', 'price', 'route', 'start']);
	assert.equal(await page.locator('th.column-name').getAttribute('aria-sort'), 'ascending');
	await page.fill('#search', 'router');
	await page.waitForFunction(() => document.querySelectorAll('#table-body td.name').length === 1);
	await page.locator('#table-body').getByRole('button', { name: 'route' }).click();
	assert.equal(await page.getAttribute('#tab-sandwich', 'aria-selected'), 'true');
	assert.equal(plain(await text('sandwich-name')), 'route');
	await page.fill('#search', '');
});

test('a sandwich shows callers, callees and lines', { skip }, async () => {
	await page.click('#tab-table');
	await page.locator('#table-body').getByRole('button', { name: 'price' }).click();
	assert.match(await text('sandwich-weight'), /total 78\.6%, self 64\.3%; JavaScript; inlined into its callers in 18\.2% of it/);
	const lines = await page.locator('#lines-body tr').allTextContents();
	assert.deepEqual(lines, ['535.7%64.3%', '7' + '0%14.3%', '628.6%0%']);
	const callers = await page.locator('#callers-chart canvas').boundingBox();
	await page.mouse.click(callers.x + 20, callers.y + callers.height - ROW - 5);
	assert.equal(await chosen(), 'route');
	// Back to all of it, then what it calls: itself in 40, the collector in 20, of 110.
	await page.keyboard.press('Escape');
	await press('callees-chart', 0.45, 1);
	assert.equal(await chosen(), 'Scavenge');
	await page.keyboard.press('Escape');
});

test('the view of times joins what follows each other', { skip }, async () => {
	await page.click('#tab-time');
	// One second of main: emit runs for 900 ms, then it is idle, which is left out.
	const axis = 22;
	const box = await page.locator('#time-chart canvas').boundingBox();
	const at = (share, row) => page.mouse.click(box.x + box.width * share, box.y + axis + row * ROW + 10);
	await at(0.5, 1);
	assert.equal(await chosen(), 'emit');
	assert.match(await text('details-weight'), /900 ms from 0 s/);
	await page.keyboard.press('Escape');
	await at(0.75, 2);
	assert.equal(await chosen(), 'cart');
	assert.match(await text('details-weight'), /300 ms from 600 ms/);
	await page.keyboard.press('Escape');
	// Only the time in view, everywhere: cart is all of main's then, beside 15 of the worker's.
	assert.ok(await page.locator('#time-only').isDisabled());
	await at(0.75, 2);
	await page.click('#time-only');
	assert.equal(await text('status'), '30.0% shown');
	await page.keyboard.press('1');
	await press('flame-chart', 0.3, 3);
	assert.equal(await chosen(), 'cart');
	assert.match(await text('details-weight'), /total 30 samples \(300 ms\), 66\.7%/);
	await page.keyboard.press('Escape');
	await page.keyboard.press('2');
	await page.keyboard.press('o');
	assert.equal(await text('status'), '93.3% shown');
	await page.keyboard.press('Escape');
	await at(0.95, 1);
	assert.match(await chosen(), /^Nothing chosen/);
	await page.selectOption('#time-thread', { index: 1 });
	await at(0.015, 0);
	assert.equal(await chosen(), 'start');
	assert.match(await text('details-weight'), /10 ms from 10 ms/);
	await page.keyboard.press('Escape');
});

test('everything has a key', { skip }, async () => {
	await page.keyboard.press('1');
	await page.locator('#flame-chart canvas').focus();
	for (const [key, name] of [['Home', 'all'], ['ArrowDown', 'start'], ['ArrowDown', 'emit'], ['ArrowRight', 'price'], ['ArrowLeft', 'emit'], ['ArrowDown', 'route'],
		['ArrowUp', 'emit']]) {
		await page.keyboard.press(key);
		assert.equal(await chosen(), name);
	}
	await page.keyboard.press('Enter');
	assert.ok(await page.locator('#back').isEnabled());
	await page.keyboard.press('Backspace');
	assert.ok(await page.locator('#back').isDisabled());
	await page.keyboard.press('s');
	assert.equal(plain(await text('sandwich-name')), 'emit');
	await page.keyboard.press('?');
	assert.ok(await page.locator('#help').isVisible());
	await page.keyboard.press('Escape');
	assert.ok(await page.locator('#help').isHidden());
	await page.keyboard.press('4');
	assert.ok(await page.locator('#view-table').isVisible());
	await page.keyboard.press('/');
	assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
	await page.keyboard.press('Escape');
	await page.focus('#tab-table');
	await page.keyboard.press('ArrowRight');
	assert.equal(await page.getAttribute('#tab-flame', 'aria-selected'), 'true');
});

test('dark and light follow the system, and a switch', { skip }, async () => {
	const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const light = await ground();
	await page.emulateMedia({ colorScheme: 'dark' });
	await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
	assert.notEqual(await ground(), light);
	await page.emulateMedia({ colorScheme: 'light' });
	await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
	await page.click('#theme');
	assert.notEqual(await ground(), light);
	await page.reload();
	await page.waitForFunction(() => performance.getEntriesByName('noderay-ready').length > 0);
	assert.notEqual(await ground(), light);
	await page.click('#theme');
	assert.equal(await ground(), light);
});

test('nothing is wider than the page, on a phone and at 800x600', { skip }, async () => {
	for (const [width, height] of [[390, 800], [800, 600]]) {
		await page.setViewportSize({ width, height });
		for (const view of ['1', '2', '3', '4']) {
			await page.keyboard.press(view);
			const over = await page.evaluate(() => [...document.querySelectorAll('button, input, h1, h2, .chart, footer')].filter((e) => e.offsetParent && !e.closest('.legend') &&
				(e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().bottom > innerHeight + 1) && !e.closest('#table')).map((e) => e.id || e.textContent));
			assert.deepEqual(over, [], `view ${view} at ${width}`);
		}
	}
	await page.setViewportSize({ width: 1280, height: 800 });
	await page.keyboard.press('1');
});

test('names from a target are text, whatever they say', { skip }, async () => {
	const p = new Fake({ title: '</title><script>window.hurt = 1</script>', command: '"><img src=x onerror="window.hurt=1">', period: 1e7 });
	const thread = p.thread('</script><script>window.hurt=1</script>');
	const names = ['</script><script>window.hurt=1</script>', '<img src=x onerror=window.hurt=1>', '"\'`&amp;', '😀 emoji', 'שלום right to left', '\u202ereversed',
		'a'.repeat(5000), '@SCRIPT@', '${x}', '__proto__', 'constructor'];
	for (const name of names) p.sample(thread, ['main', name]);
	await open(p, 'names.html');
	for (const key of ['1', '2', '3', '4']) await page.keyboard.press(key);
	const shown = (await page.locator('#table-body td.name').allTextContents()).map(plain);
	for (const name of names.filter((n) => !n.includes('\u202e'))) assert.ok(shown.includes(name), name.slice(0, 40));
	assert.equal(await page.evaluate(() => window.hurt), undefined);
	assert.equal(await page.locator('#report img, #report script').count(), 0);
});

test('a file without the newer API unpacks itself, and says when it is damaged', { skip }, async () => {
	await page.addInitScript(() => location.search === '?old' && delete window.DecompressionStream);
	await page.goto(`file://${file('shop.html')}?old`);
	await page.waitForFunction(() => performance.getEntriesByName('noderay-ready').length > 0);
	assert.equal(await page.evaluate(() => typeof DecompressionStream), 'undefined');
	assert.equal(plain(await text('title')), 'node shop.js (7)');
	const html = fs.readFileSync(file('shop.html'), 'utf8');
	const at = html.indexOf('x-noderay-profile">') + 200;
	fs.writeFileSync(file('damaged.html'), html.slice(0, at) + 'AAAA' + html.slice(at + 4));
	for (const query of ['', '?old']) {
		await page.goto(`file://${file('damaged.html')}${query}`);
		await page.locator('#failed').waitFor();
		assert.match(await text('failed'), /cannot be shown.*damaged/);
	}
	// A call that is its own caller: packed well, and walked for ever if believed.
	const wrong = shop();
	wrong.nodeList[3].parent = 4;
	fs.writeFileSync(file('wrong.html'), wrong.into(empty));
	await page.goto(`file://${file('wrong.html')}`);
	await page.locator('#failed').waitFor();
	const { code, stderr } = await noderay(['convert', file('damaged.html'), '-o', file('damaged.folded')]);
	assert.equal(code, 5);
	assert.match(stderr, /the profile inside is damaged/);
});

test('a profile without samples says why', { skip }, async () => {
	fs.writeFileSync(file('none.html'), new Fake().into(empty));
	await page.goto(`file://${file('none.html')}`);
	await page.locator('#empty').waitFor();
	assert.match(await text('empty'), /No samples were taken/);
});

test('a difference is coloured by change, and either side gives the widths', { skip }, async () => {
	fs.writeFileSync(file('a.folded'), 'start;old 60\nstart;same 40\n');
	fs.writeFileSync(file('b.folded'), 'start;new 30\nstart;same 50\nstart;old 20\n');
	const { code, stderr } = await noderay(['diff', file('a.folded'), file('b.folded'), '-o', file('d.html')]);
	assert.equal(code, 0, stderr);
	await page.goto(`file://${file('d.html')}`);
	await page.waitForFunction(() => performance.getEntriesByName('noderay-ready').length > 0);
	assert.ok(plain(await text('facts')).includes('100 → 100 samples'));
	assert.ok(await page.locator('#tab-time').isHidden());
	await press('flame-chart', 0.25, 2);
	assert.equal(await chosen(), 'same');
	assert.match(await text('details-weight'), /50\.0%.*change \+10\.00% \(before 40\.0%\)/);
	await page.keyboard.press('Escape');
	await press('flame-chart', 0.65, 2);
	assert.equal(await chosen(), 'new');
	await page.keyboard.press('Escape');
	await page.click('#side');
	await press('flame-chart', 0.3, 2);
	assert.equal(await chosen(), 'old');
	assert.match(await text('details-weight'), /60\.0%.*change −40\.00% \(after 20\.0%\)/);
	await page.keyboard.press('4');
	const changes = await page.locator('#table-body tr:not(.gap)').evaluateAll((rows) => rows.map((row) => [row.querySelector('.name').textContent, row.cells[0].textContent]));
	assert.deepEqual(changes.map(([name, change]) => [plain(name), change]), [['new', '+30.00%'], ['same', '+10.00%'], ['start', '0%'], ['old', '−40.00%']]);
});

test('100,000 stacks and 2,000 frames open at once', { skip }, async () => {
	const p = new Fake({ period: 1e7, duration: 1e12 });
	const threads = [p.thread('main'), p.thread('worker')];
	let seed = 1;
	const next = (below) => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) % 65521 % below;
	const names = Array.from({ length: 5000 }, (_, i) => `f${i}`);
	const leaves = Array.from({ length: 9000 }, (_, i) => `leaf${i}`);
	for (let i = 0; i < 100_000; i++) {
		const stack = ['start', 'loop'];
		for (let at = i % 7, depth = 0; depth < 7; depth++) stack.push(names[(at = (at * 31 + next(4) + depth) % 5000)]);
		stack.push(leaves[i % 9000]);
		p.sample(threads[i & 1], stack, { time: (i >> 1) * 1e7 });
	}
	p.sample(threads[0], [...Array(2000).fill('again'), 'end']);
	assert.ok(new Set(p.samples.map(({ node }) => node)).size > 95_000);
	await open(p, 'large.html');
	const ready = await page.evaluate(() => performance.getEntriesByName('noderay-ready')[0].startTime);
	assert.ok(ready < 10_000, `${ready} ms`); // a fraction of a second on a machine of its own
	for (const key of ['i', 'i', '2', '4']) await page.keyboard.press(key);
	assert.ok((await page.locator('#table-body tr').count()) < 100);
	await page.keyboard.press('4');
	await page.locator('#table-scroll').evaluate((e) => (e.scrollTop = 100_000));
	await page.fill('#search', '^again$');
	await page.waitForFunction(() => document.getElementById('matched').textContent === '<0.01% matched');
	await page.locator('#table-body').getByRole('button', { name: 'again' }).click();
	assert.match(await text('sandwich-weight'), /total <0\.01%/);
	// As deep as somebody scrolls.
	const chart = page.locator('#callees-chart');
	await chart.evaluate(async (e) => {
		for (let last = -1; last !== e.scrollTop;) {
			last = e.scrollTop;
			e.scrollTop = e.scrollHeight;
			await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
		}
	});
	const box = await page.locator('#callees-chart canvas').boundingBox();
	await page.mouse.click(box.x + 100, box.y + box.height - 10);
	assert.equal(await chosen(), 'end');
});

test('what a report holds can be converted, and an SVG answers too', { skip }, async () => {
	for (const [from, to] of [['shop.html', 'shop.svg'], ['shop.svg', 'shop.folded']]) {
		const { code, stderr } = await noderay(['convert', file(from), '-o', file(to)]);
		assert.equal(code, 0, stderr);
	}
	const weight = fs.readFileSync(file('shop.folded'), 'utf8').trim().split('\n').reduce((sum, line) => sum + Number(line.split(' ').pop()), 0);
	assert.equal(weight, 150);
	await page.goto(`file://${file('shop.svg')}`);
	const visible = () => page.locator('g.f:visible').count();
	const all = await visible();
	await page.locator('g.f', { hasText: 'cart' }).first().click();
	assert.ok((await visible()) < all);
	await page.locator('#reset').click();
	assert.equal(await visible(), all);
	page.once('dialog', (dialog) => dialog.accept('^price'));
	await page.locator('#search').click();
	assert.equal(await text('matched'), 'matched 73.3%'); // 110 of 150
	await page.locator('#search').click();
	await page.locator('g.f', { hasText: 'route' }).first().hover();
	assert.match(await text('details'), /^route · .*router\.js:9 · total 60 samples, 40\.00%/);
	// As a picture in a page it is a picture.
	fs.writeFileSync(file('page.html'), '<!doctype html><img src="shop.svg">');
	await page.goto(`file://${file('page.html')}`);
	assert.equal(await page.evaluate(() => document.images[0].naturalWidth), 1200);
});

test('the SVG of a difference is as wide as either side, in two colours', { skip }, async () => {
	fs.writeFileSync(file('a.folded'), 'start;old 60\nstart;same 40\n');
	fs.writeFileSync(file('b.folded'), 'start;new 30\nstart;same 50\nstart;old;deep 20\n');
	const { code, stderr } = await noderay(['diff', file('a.folded'), file('b.folded'), '-o', file('d.svg')]);
	assert.equal(code, 0, stderr);
	await page.goto(`file://${file('d.svg')}`);
	const box = (name) => page.locator('g.f', { has: page.locator('title', { hasText: new RegExp(`^${name}\\n`) }) });
	const width = async (name) => ((await box(name).isVisible()) ? Math.round(await box(name).locator('rect').getAttribute('width')) : 0);
	const widths = async () => Object.fromEntries(await Promise.all(['start', 'old', 'same', 'new', 'deep'].map(async (name) => [name, await width(name)])));
	const after = { start: 1180, old: 236, same: 590, new: 354, deep: 236 };
	const before = { start: 1180, old: 708, same: 472, new: 0, deep: 0 };
	assert.deepEqual(await widths(), after);
	const color = async (name) => (await box(name).locator('rect').getAttribute('fill')).match(/[\da-f]{2}/g).map((part) => parseInt(part, 16));
	const [red, , blue] = await color('new');
	const [lessRed, , lessBlue] = await color('old');
	assert.ok(red > blue + 60 && lessBlue > lessRed + 60);
	await box('same').hover();
	assert.equal(await text('details'), 'same · total 40.00% → 50.00% (+10.00%); self 40.00% → 50.00% (+10.00%)');
	await page.locator('#side').click();
	assert.deepEqual([await text('side'), await widths()], ['Widths: before', before]);
	await box('old').click();
	assert.deepEqual(await widths(), { start: 1180, old: 1180, same: 0, new: 0, deep: 0 });
	await page.keyboard.press('w');
	// Still looked at, by the other weight.
	assert.deepEqual(await widths(), { start: 1180, old: 1180, same: 0, new: 0, deep: 1180 });
	await box('deep').click();
	page.once('dialog', (dialog) => dialog.accept('^old'));
	await page.keyboard.press('/');
	assert.equal(await text('matched'), 'matched 20.0%');
	// What is zoomed into is not there before: all is shown.
	await page.locator('#side').click();
	assert.deepEqual([await text('matched'), await widths()], ['matched 60.0%', before]);
	await page.locator('#side').click();
	assert.deepEqual(await widths(), after);
	const read = await noderay(['convert', file('d.svg')]);
	assert.equal(read.code, 5);
	assert.match(read.stderr, /it holds a difference of two profiles, not one/);
});

test('nothing went wrong in any of them, and nothing was fetched', { skip }, () => {
	assert.deepEqual(seen, { errors: [], requests: [] });
});
