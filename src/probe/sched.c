/* sched.c - provider sched: threads get a CPU, lose it, are woken. A table, see derived.h. SPDX-License-Identifier: MIT */
#include "probe/derived.h"

#include <sys/syscall.h>

#define RAW(name_) .kind = RAY_SITE_RAW_TRACEPOINT, .tracepoint = { .group = "sched", .name = (name_) }
#define BOTH(who) .args = { RAY_DERIVED_TASK("lwpsinfo_t *", "lwp"), RAY_DERIVED_TASK("psinfo_t *", who) }

/* sched_switch(preempted, from, to, state of from) runs in the thread that leaves. */
static const struct ray_derived rows[] = {
	{ .name = "off-cpu", /* the arguments are who comes next */
	  BOTH("next"),
	  .sites = { { RAW("sched_switch"), RAY_DERIVED_FETCH(RAY_DERIVED_RAW(2, 8), RAY_DERIVED_LAST) } },
	  .site_count = 1 },
	{ .name = "on-cpu",
	  .has_substitute = true,
	  .sites = { { RAW("sched_exit_tp"), /* since 6.16: runs in the thread that comes, with whether there was a switch */
		       RAY_DERIVED_FETCH([RAY_DERIVED_LEFT] = RAY_DERIVED_RAW(0, 1), RAY_DERIVED_LAST),
		       RAY_DERIVED_IF({ RAY_DERIVED_LEFT, RAY_COMPARE_NE, 0 }) },
		     { RAW("sched_switch"), RAY_DERIVED_FETCH(RAY_DERIVED_RAW(2, 8), RAY_DERIVED_LAST),
		       .is_about_task = true } },
	  .site_count = 2 },
	{ .name = "preempt",
	  .sites = { { RAW("sched_switch"),
		       RAY_DERIVED_FETCH([RAY_DERIVED_LEFT] = RAY_DERIVED_RAW(0, 1), RAY_DERIVED_LAST),
		       RAY_DERIVED_IF({ RAY_DERIVED_LEFT, RAY_COMPARE_NE, 0 }) } },
	  .site_count = 1 },
	{ .name = "sleep",
	  .sites = { { RAW("sched_switch"),
		       RAY_DERIVED_FETCH([RAY_DERIVED_LEFT] = RAY_DERIVED_RAW(0, 1), [RAY_DERIVED_RIGHT] =
											     RAY_DERIVED_RAW(3, 4)),
		       RAY_DERIVED_IF({ RAY_DERIVED_LEFT, RAY_COMPARE_EQ, 0 },
				      { RAY_DERIVED_RIGHT, RAY_COMPARE_NE, 0 }) } },
	  .site_count = 1 },
	{ .name = "surrender", /* sched_yield() */
	  BOTH("process"),
	  .sites = { { .kind = RAY_SITE_SYSCALL_ENTER,
		       .number = SYS_sched_yield,
		       RAY_DERIVED_FETCH({ .kind = RAY_FETCH_TASK }, RAY_DERIVED_LAST) } },
	  .site_count = 1 },
	{ .name = "wakeup", /* the arguments are who is woken */
	  BOTH("woken"),
	  .sites = { { RAW("sched_wakeup"), RAY_DERIVED_FETCH(RAY_DERIVED_RAW(0, 8), RAY_DERIVED_LAST) } },
	  .site_count = 1 },
};

static struct ray_error *sched_match(struct ray_catalogue *c, const struct ray_provider *p,
				     const struct ray_probe_spec *spec, ray_probe_list *matches)
{
	return ray_derived_match(c, p, rows, RAY_COUNT(rows), spec, matches);
}

const struct ray_provider ray_provider_sched = {
	.name = "sched",
	.first_id = 1240,
	.id_count = RAY_COUNT(rows),
	.stability = { { "Evolving", "Evolving", "ISA" },
		       { "Private", "Private", "Unknown" },
		       { "Private", "Private", "Unknown" },
		       { "Evolving", "Evolving", "ISA" },
		       { "Evolving", "Evolving", "ISA" } },
	.has_other_tasks = true,
	.match = sched_match,
	.args = ray_derived_args,
	.sites = ray_derived_sites,
};
