/* sampler.c - see sampler.h. SPDX-License-Identifier: MIT */
#include "stack/sampler.h"

#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/vec.h"
#include "stack/name.h"
#include "stack/watched.h"
#include "target/tick.h"

enum {
	MAPS_AGE_NS = 20 * 1000000, /* mappings are not read more often, whatever is missing in them */
	KIN_NS = 250 * 1000000,	    /* how often processes that were started are looked for, where nobody tells */
	MOST_STOPPED = 50,	    /* what runs is stopped for no more than one part in so many of the time */
};

struct ray_sampler {
	struct ray_sampler_options options;
	struct ray_ticker *ticker; /* NULL: by stopping */
	struct ray_tick_stopper *stopper;
	struct ray_watched_list watched;
	uint64_t period_ns, begin_ns, next_ns, kin_ns;
	char why[160];
	struct ray_sampler_report report;
};

/* ---- one look ---- */

static struct ray_error *walk(struct ray_watched *p, const struct ray_tick *tick, struct ray_sampled *ret)
{
	struct ray_error *err = ray_sampled_walk(p->js, tick, p->known, ret);

	/* Generated code whose page is new: then the walk ends where it should go on. */
	if (err || ret->walk.end != RAY_WALK_BROKEN || ray_clock_ns() - p->maps_ns < MAPS_AGE_NS)
		return err;
	p->maps_ns = ray_clock_ns();
	ray_error_free(ray_target_refresh_maps(p->target));
	ray_sampled_deinit(ret);
	return ray_sampled_walk(p->js, tick, p->known, ret);
}

static struct ray_error *tell(struct ray_sampler *s, struct ray_watched *p, const struct ray_tick *tick,
			      struct ray_sampled *sampled)
{
	struct ray_sampler_look look = { .pid = tick->pid,
					 .tid = tick->tid,
					 .time_ns = tick->time_ns,
					 .id = sampled->id,
					 .is_cut = sampled->walk.end != RAY_WALK_ROOT,
					 .unnamed = sampled->unnamed,
					 .is_unreadable = !p->js };
	ray_auto(ray_arena, arena) = NULL;
	struct ray_stack stack = { 0 };
	struct ray_error *err = NULL;

	if (p->js && !s->options.is_known(s->options.arg, sampled->id)) {
		if (s->ticker)
			ray_sampled_check_receivers(p->js, tick, sampled);
		arena = ray_arena_create();
		err = arena ? ray_name_frames(p->js, &sampled->walk, arena, &stack) : &ray_enomem;
		stack.end = sampled->walk.end;
		look.stack = &stack;
	}
	if (!err)
		s->options.on_look(s->options.arg, &look);
	return err;
}

static struct ray_error *take(struct ray_sampler *s, struct ray_watched *p, const struct ray_tick *tick)
{
	struct ray_sampled sampled = { 0 };
	struct ray_error *err;

	s->report.looks++;
	if (!p->js) {
		s->report.unreadable++;
		return tell(s, p, tick, &sampled);
	}
	err = walk(p, tick, &sampled);
	if (!err)
		err = tell(s, p, tick, &sampled);
	ray_sampled_deinit(&sampled);
	return err;
}

static bool is_wanted(const struct ray_sampler *s, const struct ray_tick *tick)
{
	if (s->options.thread && tick->tid != (s->options.thread < 0 ? tick->pid : s->options.thread))
		return false;
	for (size_t i = 0; i < s->options.count; i++)
		if (s->options.pids[i] == tick->pid)
			return true;
	return s->options.follow;
}

/* ---- by the clock ---- */

static struct ray_error *take_tick(struct ray_sampler *s, const struct ray_tick *tick)
{
	struct ray_watched *p;
	struct ray_error *err;

	if (tick->is_exec) {
		ray_watched_forget(&s->watched, tick->pid);
		return NULL;
	}
	if (!is_wanted(s, tick))
		return NULL;
	p = ray_watched_get(&s->watched, tick->pid);
	if (!p)
		return &ray_enomem;
	if (p->js) {
		err = ray_sampled_begin(p->js);
		if (err)
			return err;
		ray_sampled_pin(p->js, tick, false);
	}
	return take(s, p, tick);
}

static struct ray_error *run_clock(struct ray_sampler *s, int timeout_ms)
{
	uint64_t deadline = ray_clock_ns() + (uint64_t)timeout_ms * 1000000;
	struct ray_error *err = NULL;
	struct ray_tick tick;

	ray_ticker_wait(s->ticker, timeout_ms);
	while (!err && !ray_interrupted && ray_ticker_next(s->ticker, &tick)) {
		err = take_tick(s, &tick);
		if (ray_clock_ns() > deadline)
			break;
	}
	s->report.lost = ray_ticker_lost(s->ticker);
	return err;
}

/* ---- by stopping ---- */

struct stopped {
	struct ray_sampler *s;
	struct ray_watched *p;
};

static void pin_all(const struct ray_tick *ticks, size_t count, void *arg)
{
	struct stopped *stopped = arg;

	for (size_t i = 0; i < count; i++)
		ray_sampled_pin(stopped->p->js, &ticks[i], true);
}

static struct ray_error *stop_one(struct ray_sampler *s, pid_t pid)
{
	struct ray_watched *p = ray_watched_get(&s->watched, pid);
	struct stopped arg = { s, p };
	struct ray_tick_stops stops;
	struct ray_error *err;

	if (!p)
		return &ray_enomem;
	if (!p->js)
		return NULL;
	err = ray_sampled_begin(p->js);
	if (!err)
		err = ray_tick_stop(s->stopper, pid, pin_all, &arg, &stops);
	if (ray_error_code(err) == RAY_FAILED) { /* it ended meanwhile, or another debugger came */
		ray_error_free(err);
		s->report.missed++;
		return NULL;
	}
	if (err)
		return err;
	if (stops.pause_ns) {
		s->report.pause_ns += stops.pause_ns;
		s->report.stops++;
	}
	s->report.missed += stops.missed;
	for (size_t i = 0; i < stops.count && !err; i++)
		if (is_wanted(s, &stops.ticks[i]))
			err = take(s, p, &stops.ticks[i]);
	return err;
}

static void look_for_kin(struct ray_sampler *s)
{
	if (!s->options.follow || ray_clock_ns() < s->kin_ns)
		return;
	s->kin_ns = ray_clock_ns() + KIN_NS;
	(void)ray_watched_find_kin(&s->watched);
}

static void sleep_until(uint64_t when_ns)
{
	uint64_t now = ray_clock_ns();
	struct timespec left = { .tv_sec = (time_t)((when_ns - now) / 1000000000),
				 .tv_nsec = (long)((when_ns - now) % 1000000000) };

	if (when_ns > now)
		ppoll(NULL, 0, &left, NULL);
}

/* The longer the pauses, the fewer there may be: all together are a small part of the time since the beginning. */
static uint64_t next_round(const struct ray_sampler *s)
{
	const struct ray_sampler_report *r = &s->report;
	uint64_t one = r->stops ? r->pause_ns / r->stops : 0; /* that the next will take */
	uint64_t next = ray_clock_ns() + s->period_ns, allowed = s->begin_ns + (r->pause_ns + one) * MOST_STOPPED;

	return next > allowed ? next : allowed;
}

static struct ray_error *run_stops(struct ray_sampler *s, int timeout_ms)
{
	uint64_t deadline = ray_clock_ns() + (uint64_t)timeout_ms * 1000000;
	struct ray_error *err = NULL;

	while (!err && !ray_interrupted) {
		if (s->next_ns > deadline) {
			sleep_until(deadline);
			return NULL;
		}
		sleep_until(s->next_ns);
		look_for_kin(s);
		s->report.rounds++;
		for (size_t i = 0; i < s->watched.pids.n && !err; i++)
			err = stop_one(s, s->watched.pids.at[i]);
		s->next_ns = next_round(s);
	}
	return err;
}

/* ---- all of it ---- */

/* True: the kernel's clock cannot be had, but stopping may do. */
static bool is_refused(struct ray_sampler *s, struct ray_error **err)
{
	if (ray_error_code(*err) != RAY_DENIED)
		return false;
	snprintf(s->why, sizeof(s->why), "%s", ray_error_text(*err));
	ray_error_free(*err);
	*err = NULL;
	ray_ticker_free(s->ticker);
	s->ticker = NULL;
	s->report.why_stops = s->why;
	return true;
}

static struct ray_error *start_clock(struct ray_sampler *s)
{
	struct ray_error *err = ray_ticker_create(s->period_ns, &s->ticker);

	for (size_t i = 0; i < s->watched.pids.n && !err; i++)
		err = ray_ticker_add(s->ticker, s->watched.pids.at[i]);
	return err;
}

struct ray_error *ray_sampler_create(const struct ray_sampler_options *options, struct ray_sampler **ret)
{
	ray_auto(ray_sampler, s) = calloc(1, sizeof(*s));
	struct ray_error *err;

	if (!s)
		return &ray_enomem;
	s->options = *options;
	s->period_ns = 1000000000 / options->hz;
	s->watched.script_maps = options->script_maps;
	err = ray_watched_open(&s->watched, options->pids, options->count, options->follow);
	if (!err)
		err = start_clock(s);
	if (is_refused(s, &err)) {
		s->stopper = ray_tick_stopper_create();
		if (!s->stopper)
			return &ray_enomem;
	}
	if (err)
		return err;
	s->begin_ns = ray_clock_ns();
	*ret = ray_take(s);
	return NULL;
}

void ray_sampler_free(struct ray_sampler *s)
{
	if (!s)
		return;
	ray_ticker_free(s->ticker);
	ray_tick_stopper_free(s->stopper);
	ray_watched_close(&s->watched);
	free(s);
}

bool ray_sampler_is_over(struct ray_sampler *s)
{
	return ray_watched_all_ended(&s->watched);
}

const struct ray_role_info *ray_sampler_thread_role(struct ray_sampler *s, pid_t pid, int tid)
{
	return ray_watched_thread_role(&s->watched, pid, tid);
}

struct ray_error *ray_sampler_run(struct ray_sampler *s, int timeout_ms)
{
	return s->ticker ? run_clock(s, timeout_ms) : run_stops(s, timeout_ms);
}

struct ray_sampler_report ray_sampler_report(const struct ray_sampler *s)
{
	struct ray_sampler_report r = s->report;

	r.period_ns = s->ticker || !r.rounds ? s->period_ns : (ray_clock_ns() - s->begin_ns) / r.rounds;
	return r;
}
