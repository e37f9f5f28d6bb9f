// http.mjs - how what noderay says of requests is compared with what a program says. SPDX-License-Identifier: MIT
import { within } from './truth.mjs';

/** A long URL may be cut, but then it is as long as 255 bytes at least. */
const isUrl = (url, seen) => url === seen || (seen.length >= 255 && url.startsWith(seen));

function check(expected, seen) {
	const out = [];
	if (!isUrl(expected.url, seen.url)) out.push(`url is ${expected.url}`);
	// To a body that was cut node itself answers, 400, though nobody listens any more.
	if (expected.status === null && seen.status && !(seen.aborted && seen.status === 400)) out.push('it was never answered');
	if (seen.path !== seen.url.split('?')[0]) out.push('path is not the beginning of url');
	const { min_ms: least, max_ms: most, min_ttfb_ms: leastFirst, max_ttfb_ms: mostFirst } = expected;
	out.push(...within('latency_ms', seen.latency_ms, least, most));
	if (expected.status !== null && expected.status !== undefined) {
		out.push(...within('ttfb_ms', seen.ttfb_ms, leastFirst, mostFirst));
		if (seen.ttfb_ms > seen.latency_ms) out.push('its first byte came after its last');
	}
	return out;
}

const same = ['pid', 'tid', 'method', 'status', 'version', 'tls', 'rport', 'lport', 'fd', 'bytes', 'request_bytes', 'aborted'];
export const how = {
	key: ({ side, pid, tid, url }) => `${side} ${pid} ${tid} ${url.slice(0, 200)}`,
	seenKey: ({ probe, pid, tid, url }) => `${probe} ${pid} ${tid} ${url.slice(0, 200)}`,
	fields: Object.fromEntries([...same, 'raddr', 'host'].map((name) => [name, name])),
	check,
};

const both = (...names) => names.map((name) => `node$target:::http-server-${name}, node$target:::http-client-${name}`).join(', ');
const response = {
	probe: ['%s', 'args[0]->isServer ? "server" : "client"'], id: ['%d', 'arg5'], raddr: ['%s', 'args[0]->remoteAddress'], rport: ['%d', 'args[0]->remotePort'],
	lport: ['%d', 'args[0]->localPort'], fd: ['%d', 'args[0]->fd'], tls: ['%d', 'args[0]->isTls'], status: ['%d', 'args[7]->status'],
	method: ['%s', 'args[6]->method'], host: ['%s', 'args[6]->host'], user_agent: ['%s', 'args[6]->userAgent'], forwarded_for: ['%s', 'args[6]->forwardedFor'],
	version: ['%d', 'args[6]->version'], bytes: ['%d', 'args[7]->bodyBytes'], request_bytes: ['%d', 'args[7]->requestBodyBytes'],
	aborted: ['%d', 'args[7]->aborted'], ttfb: ['%d', 'args[7]->ttfb'], latency: ['%d', 'args[7]->latency'], url: ['%s', 'args[6]->url'],
};
/** For traced(): what the probes say at the end of a request. */
export const clauses = [[both('response', 'abort'), response]];

const versions = { 10: '1.0', 11: '1.1', 20: '2' };

/** A line of that as the verb prints it. */
export const asHttp = (record) => ({
	...record, tls: Boolean(record.tls), aborted: Boolean(record.aborted), version: versions[record.version], latency_ms: record.latency / 1e6,
	ttfb_ms: record.ttfb / 1e6, path: String(record.url).split('?')[0],
});
