// load.mjs - a server under full load while noderay counts: do all three agree on how many there were, the server, the load
// and noderay? SPDX-License-Identifier: MIT
import { run, until } from './lib.mjs';
import { startTruth, startVerb } from './truth.mjs';

export const connections = 20;

const script = `
node$target:::http-server-request /args[0]->url != "/beacon"/ { @requests = count(); }
node$target:::http-server-response /args[6]->url != "/beacon"/ { @statuses[args[7]->status] = count(); }
node$target:::http-server-response /args[6]->url == "/beacon"/ { printf("seen\\n"); }
END { printa("requests %@d\\n", @requests); printa("status %d %@d\\n", @statuses); }`;

async function load(port, seconds) {
	const { stdout } = await run('/usr/bin/wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, `http://127.0.0.1:${port}/load`]);
	const number = (pattern) => Number(stdout.match(pattern)?.[1] ?? 0);
	return { requests: number(/(\d+) requests in/), failed: number(/Non-2xx or 3xx responses: (\d+)/) };
}

/** Counts while a server is under load for so many seconds: { counted, answered: { requests, statuses }, statuses, asked, stderr }:
 *  requests by noderay, by the server, answers by status by noderay, what wrk says, and what noderay complains of. */
export async function countUnderLoad(node, seconds) {
	const server = await startTruth(node, 'load.js');
	const tracer = startVerb(['trace', '-q', '-p', server.pid, '-n', script]);
	try {
		await until(async () => {
			server.say('beacon');
			await new Promise((resolve) => setTimeout(resolve, 50));
			return tracer.stdout.includes('seen') || tracer.isGone();
		}, () => `nothing is seen: ${tracer.stderr}`);
		const asked = await load(server.ready.port, seconds);
		const [answered] = (await server.go()).records;
		const { stdout, stderr } = await tracer.stop();
		const statuses = Object.fromEntries([...stdout.matchAll(/^status (\d+) (\d+)$/gm)].map(([, status, n]) => [status, Number(n)]));
		return { counted: Number(stdout.match(/^requests (\d+)$/m)?.[1] ?? 0), answered, statuses, asked, stderr };
	} finally {
		if (!tracer.isGone()) tracer.child.kill('SIGKILL');
		await server.finish();
	}
}
