/* stacks_age.c - forgetting stacks, so that a long run stays as small as a short one. SPDX-License-Identifier: MIT
 *
 * A stack is known by what names it: addresses of functions and of code. When V8 collects garbage, such an address may come to mean another function; so
 * nothing is believed for long, even where memory would allow it. The kernel's side is told by a number that goes up: what it sent under another number it
 * sends again. Records that were made under the old one are still on their way then: the table before is kept until the next time.
 *
 * Also when to look for new ones. To be woken costs who is traced as much as the walk of its stack: while stacks come one after the other we look by
 * ourselves, and say so. */
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/stacks.h"

enum {
	OLD_NS = 2000000000,   /* as long as a name is believed */
	SOON_NS = 100000000,   /* at least, whatever memory says: records under way are younger than that */
	ROUND_MS = 5,	       /* so often we look */
	STEADY_NS = 100000000, /* while the last stack is younger than this */
	AWAY_NS = 50000000,    /* and nobody wakes us, even if naming takes that long */
};

static bool is_due(const struct ray_stacker *s, uint64_t age)
{
	if (!s->forgets || !s->table.stack_count || age < SOON_NS)
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

int ray_trace_wait_ms(struct ray_trace *t, int most_ms)
{
	uint64_t now = ray_clock_ns();

	if (!t->settings.is_patient || !t->wants_stacks)
		return most_ms;
	if (now - t->stacker->taken_ns >= STEADY_NS) {
		t->state->stack_wake_at = 0;
		return most_ms;
	}
	t->state->stack_wake_at = now + AWAY_NS;
	return most_ms < ROUND_MS ? most_ms : ROUND_MS;
}
