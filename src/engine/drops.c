/* drops.c - what was lost, told as it happens.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "base/clock.h"
#include "engine/consume.h"

static const struct row {
	size_t offset; /* in struct ray_state */
	const char *tag, *what, *tail;
} rows[] = {
	{ offsetof(struct ray_state, slot_drops), "PRINCIPAL", "firing", " lost: no free memory on its CPU" },
	{ offsetof(struct ray_state, dynvar_drops), "DYNAMIC", "dynamic variable drop", "" },
	{ offsetof(struct ray_state, spec_drops), "SPEC", "speculative drop", "" },
	{ offsetof(struct ray_state, spec_busy), "SPECBUSY", "failed speculation",
	  " (available buffer(s) still busy)" },
	{ offsetof(struct ray_state, spec_unavailable), "SPECUNAVAIL", "failed speculation",
	  " (no speculative buffer available)" },
	{ offsetof(struct ray_state, node_drops), "NODE", "event",
	  " of node lost: no room to remember what it belongs to" },
	{ offsetof(struct ray_state, node_cut), "NODECUT", "name", " (URL, path, header) cut: longer than its place" },
	{ offsetof(struct ray_state, stack_drops), "STKSTROVERFLOW", "stack", " lost: no room to remember it" },
};

static uint64_t count_at(const volatile struct ray_state *s, const struct row *row)
{
	return *(const volatile uint64_t *)((const volatile char *)s + row->offset);
}

static void tell(struct ray_consumer *c, const struct row *row, uint64_t n)
{
	char tag[48] = "";

	if (c->t->options.droptags)
		snprintf(tag, sizeof(tag), "[DTRACEDROP_%s] ", row->tag);
	ray_consumer_note(c, "%s%llu %s%s%s", tag, (unsigned long long)n, row->what, n > 1 ? "s" : "", row->tail);
}

static void tell_by_cpu(struct ray_consumer *c, const struct row *row, const volatile uint64_t *now, __u64 *told)
{
	for (uint32_t cpu = 0; cpu < RAY_DROP_CPUS; cpu++) {
		uint64_t n = now[cpu] - told[cpu];
		struct row here = *row;
		char tail[32];

		if (!n)
			continue;
		snprintf(tail, sizeof(tail), " on CPU %u", cpu);
		here.tail = tail;
		tell(c, &here, n);
		told[cpu] += n;
	}
}

uint64_t ray_trace_lost(const struct ray_trace *trace)
{
	const volatile struct ray_state *s = trace->state;
	uint64_t lost;

	if (!s)
		return 0;
	lost = s->slot_drops + s->stack_drops;
	for (uint32_t cpu = 0; cpu < RAY_DROP_CPUS; cpu++)
		lost += s->drops[cpu];
	return lost;
}

void ray_consumer_tell_drops(struct ray_consumer *c)
{
	static const struct row records = { 0, "PRINCIPAL", "drop", "" },
				keys = { 0, "AGGREGATION", "aggregation drop", "" };
	uint64_t held;

	tell_by_cpu(c, &records, (const volatile uint64_t *)c->t->state->drops, c->reported.drops);
	tell_by_cpu(c, &keys, (const volatile uint64_t *)c->t->state->agg_drops, c->reported.agg_drops);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t now = count_at(c->t->state, &rows[i]), told = count_at(&c->reported, &rows[i]);

		if (now == told)
			continue;
		tell(c, &rows[i], now - told);
		*(uint64_t *)((char *)&c->reported + rows[i].offset) = now;
	}
	held = c->speculative_drops - c->reported_speculative_drops;
	if (held)
		tell(c, &(struct row){ 0, "SPEC", "speculative drop", "" }, held);
	c->reported_speculative_drops = c->speculative_drops;
	if (c->canceled)
		ray_consumer_note(c, "%llu command%s of system() not run after the signal",
				  (unsigned long long)c->canceled, c->canceled > 1 ? "s" : "");
	if (c->unread)
		ray_consumer_note(c, "%llu record%s not read before the deadline", (unsigned long long)c->unread,
				  c->unread > 1 ? "s" : "");
	c->unread = c->canceled = 0;
}

void ray_consumer_report_drops(struct ray_consumer *c)
{
	uint64_t now = ray_clock_ns();

	if (now - c->reported_ns < c->t->options.statusrate_ns)
		return;
	c->reported_ns = now;
	ray_consumer_tell_drops(c);
}
