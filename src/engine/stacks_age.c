/* stacks_age.c - forgetting stacks, so that a long run stays as small as a short one. SPDX-License-Identifier: MIT
 *
 * A stack is known by what names it: addresses of functions and of code. When V8 collects garbage, such an address may come to mean another function; so
 * nothing is believed for long, even where memory would allow it. The kernel's side is told by a number that goes up: what it sent under another number it
 * sends again. Records that were made under the old one are still on their way then: the table before is kept until the next time.
 *
 * Also when to look for new ones. To be woken costs who is traced as much as the walk of its stack: while stacks come one after the other we look by
 * ourselves, and say so. A clock that is slower than our rounds is looked after just when it has struck: then nothing waits for long, and nobody
 * gets up in vain. CPUs' clocks were started one after the other, and strike together. */
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/stacks.h"

enum {
	OLD_NS = 2000000000,   /* as long as a name is believed */
	SOON_NS = 100000000,   /* at least, whatever memory says: records under way are younger than that */
	ROUND_MS = 5,	       /* so often we look */
	STEADY_NS = 100000000, /* while the last stack is younger than this */
	AWAY_NS = 50000000,    /* and nobody wakes us, even if naming takes that long */
	SLOWEST_NS = 20000000, /* a clock that nobody need be woken for */
	AFTER_NS = 500000,     /* it has struck everywhere */
};

static bool is_due(const struct ray_stacker *s, uint64_t age)
{
	if (!s->forgets || !ray_hashmap_count(&s->table.stacks) || age < SOON_NS)
		return false;
	return age >= OLD_NS || s->table.bytes + s->known.bytes >= s->trace->options.stackmemory / 2;
}

/* False without memory: then the old ones are believed for longer. */
static bool forget_known(struct ray_stacker *s)
{
	struct ray_stack_knowns new;

	if (!ray_stack_known_init(&new)) {
		ray_stack_known_deinit(&new);
		return false;
	}
	ray_stack_known_deinit(&s->known);
	s->known = new;
	return true;
}

void ray_stacker_age(struct ray_stacker *s)
{
	uint64_t now = ray_clock_ns(), age = now - s->begun_ns;
	struct ray_stack_table new;

	/* Single frames are not believed for longer even where stacks are held. */
	if (!s->forgets && age >= OLD_NS && forget_known(s))
		s->begun_ns = now;
	if (!is_due(s, age))
		return;
	if (!ray_stack_table_init(&new) || !forget_known(s)) {
		ray_stack_table_deinit(&new);
		return;
	}
	ray_stack_table_deinit(&s->before);
	s->before = s->table;
	s->table = new;
	s->table.generation = s->before.generation + 1;
	s->begun_ns = now;
	s->trace->state->stack_epoch++;
}

uint64_t ray_stack_clock(const struct ray_trace *t)
{
	uint64_t period = 0;

	for (size_t i = 0; i < t->entries.n; i++) {
		const struct ray_entry *e = t->entries.at[i];

		if (!e->clause_count || e->kind == RAY_SITE_BEGIN || e->kind == RAY_SITE_END)
			continue;
		for (size_t k = 0; k < e->sites.n; k++) {
			if (e->kind != RAY_SITE_PROFILE || (period && period != e->sites.at[k]->period_ns))
				return 0;
			period = e->sites.at[k]->period_ns;
		}
	}
	return t->watched || period > SLOWEST_NS ? 0 : period;
}

/* Until the clock has struck again. */
static int round_ms(const struct ray_stacker *s, uint64_t now)
{
	uint64_t period = s->clock_ns;

	if (period <= (uint64_t)ROUND_MS * 1000000 || now < s->taken_ns)
		return ROUND_MS;
	return (int)((period - (now - s->taken_ns) % period + AFTER_NS) / 1000000) + 1;
}

int ray_trace_wait_ms(struct ray_trace *t, int most_ms)
{
	uint64_t now = ray_clock_ns();
	int ms;

	if (!t->settings.is_patient || !t->wants_stacks)
		return most_ms;
	if (now - t->stacker->taken_ns >= STEADY_NS) {
		t->state->stack_wake_at = 0;
		return most_ms;
	}
	t->state->stack_wake_at = now + AWAY_NS;
	ms = round_ms(t->stacker, now);
	return most_ms < ms ? most_ms : ms;
}
