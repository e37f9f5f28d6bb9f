/* loop_core.c - see loop_core.h. SPDX-License-Identifier: MIT
 *
 * Between the moment at which a callback has run for too long and the moment at which the process stands still, the callback may end. Then its end was
 * told with a time before the one at which the process ran on: the core is of something else, is removed, and the next block gets its chance. */
#include "cmd/loop_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/core_file.h"

enum { SURE_AFTER_NS = 1000000000 /* so long after the pause its end would have been told */ };

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct ray_error *take(struct ray_loop_core *c)
{
	struct ray_gcore_options options = { .progress = false };
	struct ray_gcore_report report;
	ray_auto(ray_target, t) = NULL;
	ray_auto_text path = { 0 };
	struct ray_error *err;
	char name[16];

	snprintf(name, sizeof(name), "%u", c->block.pid);
	ray_core_name(c->pattern, false, (int)c->block.pid, &path);
	if (!path.length || path.failed)
		return path.failed ? &ray_enomem : ray_error_new(RAY_USAGE, "loop: --core-file: a file name is needed");
	options.path = path.bytes;
	if (!access(path.bytes, F_OK))
		return ray_error_remedy(ray_error_new(RAY_FAILED, "%s: file exists", path.bytes),
					"--core-file FILE names another");
	err = ray_target_open(&(struct ray_target_options){ .name = name }, &t);
	if (err)
		return err;
	c->start_ns = now_ns();
	err = ray_gcore(t, &options, &report);
	if (err)
		return err;
	c->pause_ns = report.pause_ns;
	c->is_taken = true;
	free(c->path);
	c->path = strdup(path.bytes);
	ray_core_print(&options, &report, (int)c->block.pid, c->is_json);
	return NULL;
}

/* The callback has ended: while the process stood still it had not, or the core is worth nothing. */
static bool was_in_time(struct ray_loop_core *c, const struct ray_fact *done)
{
	if (done->time_ns >= c->start_ns + c->pause_ns)
		return true;
	fflush(stdout);
	fprintf(stderr,
		"noderay: the callback ended before process %u stood still; %s is removed, and the next one awaited\n",
		c->block.pid, c->path ? c->path : "the core");
	if (c->path)
		unlink(c->path);
	c->is_taken = false;
	return false;
}

bool ray_loop_core_look(struct ray_loop_core *c, const struct ray_block_view *view, const struct ray_fact *fact)
{
	if (!c->is_wanted)
		return false;
	if (!c->is_taken) {
		if (!ray_block_view_overdue(view, now_ns(), &c->block))
			return false;
		c->err = take(c);
		return c->err != NULL;
	}
	if (ray_fact_is(fact, "done") && fact->tid == c->block.tid &&
	    (uint64_t)ray_fact_number(fact, "since") == c->block.since_ns)
		return was_in_time(c, fact);
	return fact->time_ns > c->start_ns + c->pause_ns + SURE_AFTER_NS;
}

void ray_loop_core_deinit(struct ray_loop_core *c)
{
	free(c->path);
	ray_error_free(c->err);
}
