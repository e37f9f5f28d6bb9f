// Workers that come and go, timers, exceptions, the end: the probes of a life, on every node. SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRoot, nodes } from './lib.mjs';
import { startTruth, startVerb } from './truth.mjs';
import { until } from './lib.mjs';

const needsRoot = { skip: !isRoot && 'tracing needs root' };

const script = `
node$target:::worker-start { printf("worker-start %d %d\\n", args[0]->threadId, tid); }
node$target:::worker-exit { printf("worker-exit %d %d %d\\n", args[0]->threadId, args[0]->code, tid); }
node$target:::timer-fire { printf("timer\\n"); }
node$target:::exception-throw { printf("exception %s\\n", args[0]); jstack(8); }
node$target:::process-exit { printf("process-exit %d\\n", arg0); }`;

for (const node of nodes)
	test(`node ${node.name}`, needsRoot, async () => {
		const target = await startTruth(node, 'life.js');
		const tracer = startVerb(['trace', '-q', '-p', target.pid, '-n', script]);
		await until(async () => {
			target.say('beacon');
			await new Promise((resolve) => setTimeout(resolve, 50));
			return tracer.stdout.includes('timer') || tracer.isGone();
		}, () => `nothing is seen: ${tracer.stderr}`);
		const { records } = await target.go();
		await target.finish();
		const { stdout } = await tracer.stop();
		const seen = (name) => [...stdout.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, text]) => text.split(' ').map(Number));
		const known = (name, ...fields) => records.filter(({ what }) => what === name).map((record) => fields.map((field) => record[field]));
		const sorted = (list) => list.map(String).sort();
		assert.deepEqual(sorted(seen('worker-start')), sorted(known('worker-start', 'thread', 'tid')), stdout);
		assert.deepEqual(sorted(seen('worker-exit')).map((text) => text.split(',').slice(0, 2).join()), sorted(known('worker-exit', 'thread', 'code')));
		assert.deepEqual(seen('process-exit'), [[7]]);
		// What it says, and behind it the stack that threw it.
		for (const [message, culprit] of [...known('exception', 'message', 'culprit'), ['of a worker', 'life.js']]) {
			const [, stack, ...more] = stdout.split(`exception ${message}\n`);
			assert.ok(stack?.split('\n\n').slice(0, 2).join().includes(culprit), `${message} of ${culprit}: ${stdout}`);
			assert.equal(more.length, 0, `${message} is thrown once`);
		}
		assert.ok(stdout.split('\n').filter((line) => line === 'timer').length >= 3);
	});
