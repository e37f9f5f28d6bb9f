// run.mjs - measures noderay beside its peers, in the same run. SPDX-License-Identifier: MIT
//
//   node bench/run.mjs [--rounds N] [--write] [NAME]...     (make bench BENCH="--write")
//
// NAME is the beginning of a file bench/NAME.bench.mjs; all of them if none is given. Each exports
//   title                     what is measured, one line
//   setUp()                   starts what is looked at; what it returns is handed to the contenders
//   tearDown(context)         optional
//   rounds                    optional, 5 if not given
//   about                     optional: how it is measured, for docs/bench.md
//   peerRounds                optional: peers that are far away are measured in the first rounds only
//   rows(context)             [{ what, unit, ours, peer: { name, measure }, atMost, atLeast, ratio, isAhead, rounds, times }]
// ours and measure return a number, or null if they cannot be measured here; atMost is the most that ours may
// be, atLeast the least, ratio the most that ours / peer may be, isAhead that ours is to be the greater one; rounds limits how often it is measured, times is how often in each round. Contenders take turns, so that
// what else the machine does hits all alike, and the median of each counts; behind ± is how far off that may be: its standard error, estimated from the
// median deviation. --write puts the tables into docs/bench.md; those that were not measured stay as they are.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));

export function median(numbers) {
	const sorted = numbers.filter((n) => n !== null).sort((a, b) => a - b);
	if (!sorted.length) return null;
	const middle = sorted.length >> 1;
	return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The standard error of the median; null where there is too little to tell. */
export function uncertainty(numbers) {
	const given = numbers.filter((n) => n !== null);
	if (given.length < 5) return null;
	const middle = median(given), deviation = median(given.map((n) => Math.abs(n - middle)));
	return 1.2533 * 1.4826 * deviation / Math.sqrt(given.length);
}

const format = (number) => (number === null ? '-' : number >= 100 ? number.toFixed(0) : number.toPrecision(3));

function judge({ atMost, atLeast, ratio, isAhead }, ours, quotient) {
	const wanted = [];
	let met = ours !== null;
	if (atMost !== undefined) {
		wanted.push(`<= ${format(atMost)}`);
		met &&= ours <= atMost;
	}
	if (atLeast !== undefined) {
		wanted.push(`>= ${format(atLeast)}`);
		met &&= ours >= atLeast;
	}
	if (ratio !== undefined) {
		wanted.push(`ratio <= 1/${format(1 / ratio)}`);
		met &&= quotient !== null && quotient <= ratio;
	}
	if (isAhead) {
		wanted.push('ahead');
		met &&= quotient !== null && quotient > 1;
	}
	if (!wanted.length) return ['', ''];
	return [wanted.join(', '), ours === null ? 'not measured' : met ? 'met' : 'MISSED'];
}

async function measureRows(rows, rounds, peerRounds) {
	const samples = rows.map(() => ({ ours: [], peer: [] })), times = (row) => row.times ?? 1;
	for (let round = 0; round < rounds; round++) {
		for (const [i, row] of rows.entries()) {
			if (round >= (row.rounds ?? rounds)) continue;
			const turns = [['ours', row.ours], ['peer', row.peer?.measure]];
			if (round % 2) turns.reverse();
			for (const [side, measure] of turns)
				for (let time = 0; measure && time < (side === 'ours' ? times(row) : round < peerRounds ? 1 : 0); time++) samples[i][side].push(await measure());
		}
		if (process.stderr.isTTY) process.stderr.write(`\r  round ${round + 1} of ${rounds}`);
	}
	if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
	return rows.map((row, i) => {
		const ours = median(samples[i].ours), peer = median(samples[i].peer);
		const quotient = ours === null || peer === null || !peer ? null : ours / peer;
		const shown = quotient === null ? '' : quotient < 1 ? `1/${format(1 / quotient)}` : format(quotient);
		const error = uncertainty(samples[i].ours), told = error ? `${format(ours)} ±${error.toPrecision(2)}` : format(ours);
		return [row.what, row.unit, told, row.peer ? `${format(peer)} (${row.peer.name})` : '', shown, ...judge(row, ours, quotient)];
	});
}

const heads = ['what', 'unit', 'noderay', 'peer', 'ratio', 'wanted', ''];

function plainTable(rows) {
	const all = [heads, ...rows];
	const widths = heads.map((_, i) => Math.max(...all.map((row) => row[i].length)));
	return all.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i])).join('  ')}`.trimEnd()).join('\n');
}

const markdownTable = (rows) => [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

const args = process.argv.slice(2);
const option = (name, hasValue) => {
	const at = args.indexOf(name);
	return at < 0 ? undefined : hasValue ? args.splice(at, 2)[1] : args.splice(at, 1)[0];
};
const write = option('--write', false);
const roundsGiven = option('--rounds', true);
const unknown = args.find((arg) => arg.startsWith('-'));
if (unknown || (roundsGiven !== undefined && !(Number(roundsGiven) > 0))) {
	console.error(`bench: ${unknown ? `unknown option ${unknown}` : '--rounds needs a number'}`);
	process.exit(2);
}

const files = fs.readdirSync(here).filter((name) => name.endsWith('.bench.mjs') && (!args.length || args.some((a) => name.startsWith(a)))).sort();
if (!files.length) {
	console.error(`bench: nothing is named ${args.join(' or ')}`);
	process.exit(2);
}

const machine = `${os.cpus()[0].model.trim()}, ${os.cpus().length} cores, ${Math.round(os.totalmem() / 2 ** 30)} GiB, Linux ${os.release()}`;
const sections = [];
for (const file of files) {
	const bench = await import(path.join(here, file));
	const rounds = Number(roundsGiven ?? bench.rounds ?? 5);
	const peerRounds = Math.min(bench.peerRounds ?? rounds, rounds);
	const medians = peerRounds < rounds ? `Median of ${rounds}, of peers ${peerRounds}` : `Median of ${rounds}`;
	console.log(`\n${bench.title} (${medians.toLowerCase()})`);
	const context = await bench.setUp();
	try {
		const rows = await measureRows(bench.rows(context), rounds, peerRounds);
		console.log(plainTable(rows));
		sections.push(`## ${bench.title}\n\n${bench.about ? `${bench.about}\n\n` : ''}${medians}.\n\n${markdownTable(rows)}\n`);
	} finally {
		await bench.tearDown?.(context);
	}
}
if (write) {
	const head = `# Measured beside its peers\n\n\`make bench BENCH=--write\` wrote this: ${machine}. Contenders took turns.\n`;
	const file = path.join(here, '../docs/bench.md'), name = (section) => section.slice(0, section.indexOf(':'));
	const old = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split(/^(?=## )/m).slice(1).map((section) => `${section.trimEnd()}\n`) : [];
	const kept = old.filter((section) => !sections.some((other) => name(other) === name(section)));
	fs.writeFileSync(file, [head, ...[...kept, ...sections].sort((a, b) => (name(a) < name(b) ? -1 : 1))].join('\n'));
	console.log('\nwritten: docs/bench.md');
}
