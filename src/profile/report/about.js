// about.js - the head of the page: what was recorded, and what is missing from it. SPDX-License-Identifier: MIT

const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;

// A difference keeps what its sides weigh, not how many samples that was.
function sizeOf(profile) {
	const { samples, beforeThreads, isDiff } = profile;
	if (!isDiff)
		return plural(
			samples.count.reduce((a, b) => a + b, 0),
			'sample',
		);
	const sums = [0, 0];
	for (let i = 0; i < samples.n; i++) sums[samples.thread[i] < beforeThreads ? 0 : 1] += samples.weight[i];
	return `${weightText(profile, sums[0])} → ${weightSentence(profile, sums[1])}, compared as shares`;
}

function factsOf(profile) {
	const facts = [profile.event];
	if (profile.duration) facts.push(duration(profile.duration));
	facts.push(sizeOf(profile));
	if (profile.threads.length > 1 && !profile.isDiff) facts.push(plural(profile.threads.length, 'thread'));
	if (profile.nodeVersion)
		facts.push(
			/^v?\d/.test(profile.nodeVersion) ? `node ${profile.nodeVersion.replace(/^v/, '')}` : profile.nodeVersion,
		);
	if (profile.host) facts.push(profile.host);
	if (profile.start) facts.push(new Date(profile.start / 1e6).toLocaleString());
	return facts.filter(Boolean);
}

function lossesOf({ lost, cut, unnamed }) {
	const losses = [];
	if (lost) losses.push(`${plural(lost, 'sample')} lost: no room in a buffer`);
	if (cut)
		losses.push(
			`${plural(cut, 'stack')} cut: ${cut === 1 ? 'it does' : 'they do'} not reach the root of the thread`,
		);
	if (unnamed) losses.push(`${plural(unnamed, 'frame')} without a name`);
	return losses;
}

function showAbout(profile) {
	const title = profile.isDiff
		? `${profile.beforeTitle || 'before'} → ${profile.title || 'after'}`
		: profile.title || 'noderay profile';
	find('title').textContent = isolate(title);
	find('facts').replaceChildren(...factsOf(profile).map((fact) => element('li', {}, isolate(fact))));
	const losses = lossesOf(profile);
	find('losses').hidden = !losses.length;
	find('losses').replaceChildren(...losses.map((loss) => element('li', {}, loss)));
	find('command').textContent = profile.command ? isolate(profile.command) : '';
}
