// http.mjs - how what noderay says of requests is compared with what a program says. SPDX-License-Identifier: MIT
import { within } from './truth.mjs';

/** A long URL may be cut, but then it is as long as 255 bytes at least. */
const isUrl = (url, seen) => url === seen || (seen.length >= 255 && url.startsWith(seen));

function check(expected, seen) {
	const out = [];
	if (!isUrl(expected.url, seen.url)) out.push(`url is ${expected.url}`);
	if (expected.status === null && seen.status) out.push('it was never answered');
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
