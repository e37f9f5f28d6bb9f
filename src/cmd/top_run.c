/* top_run.c - from samples to the screen, or to tables. See top.h. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "cmd/signals.h"
#include "cmd/terminal.h"
#include "cmd/top.h"
#include "engine/engine.h"
#include "profile/pick.h"
#include "view/keys.h"

enum {
	MOST_NODES = 1 << 18, /* of the recorder's profile: past that it begins a new one */
	RARELY = 40,	      /* times what an answer costs: 2.5 % of a CPU at most */
	IDLE_US = 20000,
};

static uint64_t epoch_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void fail(struct ray_top_run *r, struct ray_error *err)
{
	if (!r->err)
		r->err = err;
	else
		ray_error_free(err);
}

static bool recorder_start(struct ray_top_run *r)
{
	struct ray_recorder_options o = { .unit = RAY_UNIT_SAMPLES, .period_ns = r->screen.period_ns };

	ray_recorder_free(r->recorder);
	r->recorder = ray_recorder_create(&o);
	if (r->recorder)
		ray_recorder_start(r->recorder, epoch_ns());
	return r->recorder != NULL;
}

/* ---- slices ---- */

/* What was sampled since the last slice; the recorder keeps what it knows of stacks and functions. */
static struct ray_profile *take_samples(struct ray_top_run *r)
{
	struct ray_profile *p = ray_recorder_profile(r->recorder), *slice = ray_profile_create();

	if (!slice || !ray_profile_add_from(slice, p, NULL)) {
		ray_profile_free(slice);
		return NULL;
	}
	if (r->maps) {
		struct ray_error *err = ray_source_maps_tell(r->maps, &slice);

		if (err)
			fail(r, err);
	}
	p->samples.n = 0;
	p->lost_samples = p->cut_stacks = p->unnamed_frames = 0;
	if (p->nodes.n > MOST_NODES && !recorder_start(r))
		fail(r, &ray_enomem);
	return slice;
}

/* Processes that a target starts are known by their samples. */
static void add_processes(struct ray_top_run *r, const struct ray_profile *slice)
{
	for (size_t i = 0; i < slice->threads.n; i++)
		ray_top_look_add(r->look, slice->threads.at[i].pid);
}

static void cut(struct ray_top_run *r)
{
	struct ray_profile *slice = take_samples(r);
	uint64_t lost = r->script.trace || r->script.sampling ? ray_script_lost(&r->script) : r->lost;
	struct ray_top_moment m;

	if (!slice) {
		fail(r, &ray_enomem);
		return;
	}
	slice->lost_samples += lost > r->lost ? lost - r->lost : 0;
	r->lost = lost;
	add_processes(r, slice);
	m = ray_top_look_now(r->look);
	ray_top_cut(r->model, slice, &m);
	r->has_seen |= m.process_count > 0;
	if (ray_top_failed(r->model))
		fail(r, &ray_enomem);
}

/* ---- answers ---- */

static void ask(struct ray_top_run *r)
{
	struct ray_top_query query = ray_top_screen_query(&r->screen);
	uint64_t begin = ray_clock_ns();
	struct ray_top_answer answer;
	struct ray_error *err;

	if (r->is_batch)
		query.window_ns = r->interval_ns;
	err = ray_top_ask(r->model, &query, &answer);
	if (err) {
		fail(r, err);
		return;
	}
	ray_top_answer_deinit(&r->answer);
	r->answer = answer;
	r->screen.wants_answer = false;
	ray_top_screen_update(&r->screen, &r->answer);
	r->next_ns = ray_clock_ns() + RARELY * (ray_clock_ns() - begin);
}

static void print(struct ray_top_run *r)
{
	ask(r);
	if (r->err)
		return;
	if (!ray_top_batch_print(&r->batch, &r->screen, &r->answer, epoch_ns(), !r->printed))
		fail(r, &ray_enomem);
	r->printed++;
}

/* ---- the screen ---- */

static void draw(struct ray_top_run *r)
{
	size_t width, height;

	ray_terminal_size(&width, &height);
	if (!ray_page_start(&r->page, width, height, ray_terminal_looks())) {
		fail(r, &ray_enomem);
		return;
	}
	ray_top_screen_draw(&r->screen, &r->answer, &r->page);
	ray_terminal_show(&r->page);
	r->is_drawn = true;
}

static void obey(struct ray_top_run *r)
{
	if (r->screen.wants_reset) {
		r->screen.wants_reset = false;
		ray_top_reset(r->model);
	}
	ray_top_hold(r->model, r->screen.is_paused);
	if (r->screen.wants_answer)
		ask(r);
}

static void read_keys(struct ray_top_run *r)
{
	uint32_t key;

	while ((key = ray_terminal_key())) {
		ray_top_screen_key(&r->screen, &r->answer, key);
		obey(r);
		r->is_drawn = false;
	}
}

static void work_screen(struct ray_top_run *r, bool is_new)
{
	if (!r->is_open)
		return;
	if (ray_terminal_has_changed())
		r->is_drawn = false;
	if (ray_terminal_note(r->screen.message, sizeof(r->screen.message)))
		r->is_drawn = false;
	read_keys(r);
	if (!r->err && (is_new || r->is_stale) && !r->screen.is_paused) {
		r->is_stale = ray_clock_ns() < r->next_ns;
		if (!r->is_stale)
			ask(r);
		r->is_drawn = false;
	}
	if (!r->err && !r->is_drawn)
		draw(r);
}

/* ---- for sources ---- */

void ray_top_started(struct ray_top_run *r, const pid_t *pids, size_t count)
{
	struct ray_top_moment m;

	for (size_t i = 0; i < count; i++)
		ray_top_look_add(r->look, (uint32_t)pids[i]);
	m = ray_top_look_now(r->look);
	ray_top_begin(r->model, &m);
	r->has_seen = m.process_count > 0;
	ray_recorder_start(r->recorder, m.epoch_ns);
	if (r->is_batch)
		return;
	ask(r);
	fail(r, r->err ? NULL : ray_terminal_open());
	r->is_open = !r->err;
}

void ray_top_due(struct ray_top_run *r)
{
	r->is_due = true;
}

static bool is_enough(const struct ray_top_run *r)
{
	return r->err || r->screen.wants_quit || (r->is_batch && r->has_count && r->printed >= r->count);
}

/* What came since the last interval. */
static void cut_last(struct ray_top_run *r)
{
	bool has_samples = ray_recorder_profile(r->recorder)->samples.n > 0;

	if (r->is_over || is_enough(r))
		return;
	r->is_over = true;
	cut(r);
	if (!r->is_batch || r->err)
		return;
	if (has_samples || (!r->printed && r->has_seen))
		print(r);
	else if (!r->printed)
		fprintf(stderr, "noderay: nothing to show: the process ended before it was seen\n");
}

bool ray_top_round(struct ray_top_run *r)
{
	bool is_new = r->is_due && !r->is_over;

	r->is_due = false;
	if (is_new) {
		cut(r);
		if (r->is_batch && !r->err)
			print(r);
	}
	work_screen(r, is_new);
	return !is_enough(r);
}

/* ---- the kernel's samples ---- */

static void on_fact(void *arg, const struct ray_fact *fact)
{
	struct ray_top_run *r = arg;

	if (ray_fact_is(fact, "sample"))
		ray_recorder_take(r->recorder, fact);
	else if (ray_fact_is(fact, "report"))
		ray_top_due(r);
	else if (ray_fact_is(fact, "end"))
		r->is_ending = true;
	else
		ray_top_take(r->model, fact);
}

static void on_start(void *arg, const pid_t *pids, size_t count)
{
	struct ray_top_run *r = arg;

	if (r->script.sampling)
		snprintf(r->source + strlen(r->source), sizeof(r->source) - strlen(r->source), " in user space");
	ray_top_has(r->model, ray_script_has_event(&r->script, "gc-done"),
		    ray_script_has_event(&r->script, "http-server-response"));
	ray_top_started(r, pids, count);
}

static void on_round(void *arg)
{
	struct ray_top_run *r = arg;

	if (r->is_ending)
		cut_last(r);
	else if (!ray_top_round(r))
		r->script.is_done = true;
}

/* ---- all of it ---- */

/* On a screen the end stays to be looked at. */
static void finish(struct ray_top_run *r)
{
	cut_last(r);
	if (is_enough(r) || !r->is_open || ray_interrupted || r->is_timed)
		return;
	ask(r);
	snprintf(r->screen.message, sizeof(r->screen.message), "the process has ended; this is its end. q quits");
	r->is_drawn = false;
	while (!ray_interrupted && !r->err && !r->screen.wants_quit) {
		work_screen(r, false);
		usleep(IDLE_US);
	}
}

static const struct ray_role_info *role_of(void *arg, uint32_t pid, uint32_t tid)
{
	return ray_script_thread_role(&((struct ray_top_run *)arg)->script, pid, tid);
}

static bool prepare(struct ray_top_run *r)
{
	r->model = ray_top_create();
	r->look = ray_top_look_create(role_of, r);
	if (r->has_maps)
		r->maps = ray_source_maps_create(true);
	if (r->maps)
		r->script.script_maps = ray_source_maps_listener(r->maps);
	return r->model && r->look && (r->maps || !r->has_maps) && recorder_start(r);
}

static void clean_up(struct ray_top_run *r)
{
	ray_terminal_close();
	if (r->maps)
		ray_source_maps_say(r->maps);
	ray_source_maps_free(r->maps);
	ray_top_answer_deinit(&r->answer);
	ray_page_deinit(&r->page);
	ray_top_screen_deinit(&r->screen);
	ray_recorder_free(r->recorder);
	ray_top_look_free(r->look);
	ray_top_free(r->model);
}

struct ray_error *ray_top_run(struct ray_top_run *r)
{
	struct ray_error *err = prepare(r) ? NULL : &ray_enomem;

	r->script.on_fact = on_fact;
	r->script.on_start = on_start;
	r->script.on_round = on_round;
	r->script.arg = r;
	r->script.wants_frames = true;
	r->script.plain_hz = (unsigned)(1000000000 / r->screen.period_ns);
	r->script.plain_report_ns = r->interval_ns;
	r->script.events_optional = true;
	r->script.quiet_command = !r->is_batch;
	if (!err)
		err = ray_script_run(&r->script);
	if (r->script.has_started && !err)
		finish(r);
	else if (r->script.has_started)
		cut_last(r);
	clean_up(r);
	if (!err)
		return r->err;
	ray_error_free(r->err);
	return err;
}
