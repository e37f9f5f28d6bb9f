/* node_derive_io.c - the functions that libuv calls when a descriptor is ready. See node_derive.h. SPDX-License-Identifier: MIT
 *
 * Up to libuv 1.51 each watcher holds the function's address: whoever sets a watcher up takes it. Since 1.52 it holds a number, and a switch in the loop
 * leads from there to the function: then the numbers are taken from those who set watchers up, and the table of the switch is read. */
#include <string.h>

#include "base/auto.h"
#include "probe/node_derive_internal.h"

enum {
	LOOP_ASYNC_HANDLES = 432, /* uv_loop_t */
	STREAM_WATCHER = 136,	  /* uv_stream_t; its callback is the first word */
	STREAM_CONNECTION_CB = 224,
	NO_FD = 0xffffffff,
	POLL_IN = 1,
	KINDS = 16, /* numbers of watchers are below */
};
/* uv_handle_type */
enum { TYPE_PIPE = 7, TYPE_TCP = 12, TYPE_TTY = 14 };

/* Who sets up which watcher, itself or in a function that it calls. */
static const struct watcher {
	enum ray_local_function function;
	const char *callers[3];
	bool is_started; /* by uv__io_init_start(loop, watcher, callback, fd, events), since 1.51 */
} watchers[] = {
	{ RAY_UV_ASYNC_IO, { "uv_async_init" }, true },
	{ RAY_UV_POLL_IO, { "uv_poll_init" }, false },
	{ RAY_UV_UDP_IO, { "uv_udp_init_ex", "uv_udp_init" }, false },
};
enum { WATCHERS = RAY_COUNT(watchers) };

/* ---- what is handed over when a watcher is set up ---- */

struct search {
	struct ray_elf *elf;
	uint64_t io_init; /* uv__io_init(watcher, callback, fd) */
	uint64_t type;	  /* of see_typed() */
	bool is_started;  /* look for uv__io_init_start() too */
	struct ray_vote callee, value;
};

/* uv__stream_init(.., .., type) */
static bool see_typed(const struct ray_flow_step *step, void *arg)
{
	struct search *s = arg;

	if (ray_follow_is_call(step) && step->is_known[2] && step->args[2] == s->type &&
	    ray_follow_begins(s->elf, step->target, NULL))
		ray_vote_cast(&s->callee, step->target);
	return true;
}

/* uv__io_init(.., callback, -1) */
static bool see_init(const struct ray_flow_step *step, void *arg)
{
	struct search *s = arg;

	if (ray_follow_is_call(step) && step->is_known[1] && step->is_known[2] && (uint32_t)step->args[2] == NO_FD &&
	    ray_follow_begins(s->elf, step->target, NULL)) {
		ray_vote_cast(&s->callee, step->target);
		ray_vote_cast(&s->value, step->args[1]);
	}
	return true;
}

static bool see_watcher(const struct ray_flow_step *step, void *arg)
{
	struct search *s = arg;

	if (!ray_follow_is_call(step))
		return true;
	if (step->target == s->io_init && step->is_known[1])
		ray_vote_cast(&s->value, step->args[1]);
	else if (s->is_started && step->is_known[2] && step->is_known[4] && step->args[4] == POLL_IN &&
		 ray_follow_begins(s->elf, step->target, NULL))
		ray_vote_cast(&s->value, step->args[2]);
	return true;
}

/* uv__stream_init(), which three exported functions call, sets up a watcher. */
static bool find_init(struct ray_elf *e, uint64_t *init_ret, uint64_t *value_ret)
{
	static const struct {
		const char *caller;
		uint64_t type;
	} witnesses[] = { { "uv_tcp_init_ex", TYPE_TCP }, { "uv_pipe_init", TYPE_PIPE }, { "uv_tty_init", TYPE_TTY } };
	struct search inner = { .elf = e };
	struct ray_vote init = { 0 };

	for (size_t i = 0; i < RAY_COUNT(witnesses); i++) {
		struct search s = { .elf = e, .type = witnesses[i].type };

		ray_follow_walk(e, ray_follow_exported(e, witnesses[i].caller), see_typed, &s);
		if (ray_vote_is_won(&s.callee, 1))
			ray_vote_cast(&init, s.callee.value);
	}
	if (!ray_vote_is_won(&init, 2) || !ray_follow_walk(e, init.value, see_init, &inner) ||
	    !ray_vote_is_won(&inner.callee, 1) || !ray_vote_is_won(&inner.value, 1))
		return false;
	*init_ret = inner.callee.value;
	*value_ret = inner.value.value;
	return true;
}

/* What the watcher is given: a function, or a number. */
static bool find_value(struct ray_elf *e, uint64_t io_init, const struct watcher *w, uint64_t *ret)
{
	struct search s = { .elf = e, .io_init = io_init, .is_started = w->is_started };
	struct ray_follow_content c;

	for (size_t i = 0; i < RAY_COUNT(w->callers) && w->callers[i]; i++) {
		uint64_t caller = ray_follow_exported(e, w->callers[i]);

		if (!ray_follow_content(e, caller, 0, &c))
			continue;
		ray_follow_walk(e, caller, see_watcher, &s);
		for (size_t k = 0; k < c.callee_count; k++)
			ray_follow_walk(e, c.callees[k], see_watcher, &s);
	}
	*ret = s.value.value;
	return ray_vote_is_won(&s.value, 1);
}

/* ---- up to 1.51: functions ---- */

static bool see_stored(const struct ray_flow_step *step, void *arg)
{
	struct search *s = arg;

	if (step->kind == RAY_FLOW_STORE && step->displacement == STREAM_WATCHER &&
	    ray_follow_begins(s->elf, step->target, NULL))
		ray_vote_cast(&s->value, step->target);
	return true;
}

/* uv__tcp_listen() and uv__pipe_listen() put it where uv__stream_io was. */
static void derive_server(struct ray_derive *d)
{
	struct search s = { .elf = d->elf };
	struct ray_follow_content c;

	ray_follow_content(d->elf, ray_follow_exported(d->elf, "uv_listen"), 0, &c);
	for (size_t i = 0; i < c.callee_count; i++)
		ray_follow_walk(d->elf, c.callees[i], see_stored, &s);
	if (ray_vote_is_won(&s.value, 2) && s.value.value != d->places[RAY_UV_STREAM_IO].vaddr)
		ray_derive_set(d, RAY_UV_SERVER_IO, s.value.value);
}

static void derive_functions(struct ray_derive *d, uint64_t stream, const uint64_t *values, const bool *is_known)
{
	ray_derive_set(d, RAY_UV_STREAM_IO, stream);
	derive_server(d);
	for (size_t i = 0; i < WATCHERS; i++) {
		if (!is_known[i] || values[i] == stream)
			continue;
		/* uv__io_init_start() was not seen anywhere else: what it is given must prove itself. */
		if (!watchers[i].is_started || ray_follow_leads_to(d->elf, values[i], LOOP_ASYNC_HANDLES))
			ray_derive_set(d, watchers[i].function, values[i]);
	}
}

/* ---- since 1.52: a switch ---- */

enum { TABLES = 64 };

struct tables {
	uint64_t at[TABLES];
	size_t n;
};

static bool see_table(const struct ray_flow_step *step, void *arg)
{
	struct tables *t = arg;

	/* A library's table is relative and its address a constant. */
	if ((step->kind == RAY_FLOW_TABLE || step->kind == RAY_FLOW_CONSTANT) && t->n < TABLES)
		t->at[t->n++] = step->target;
	return true;
}

static bool see_first_call(const struct ray_flow_step *step, void *arg)
{
	if (ray_follow_is_call(step))
		*(uint64_t *)arg = step->target;
	return !ray_follow_is_call(step);
}

/* In the code of a function. */
struct table {
	uint64_t function, size;
	uint64_t at;
	bool is_relative; /* words of 32 bits, from the table on */
};

/* The function that an entry leads to; 0 if none. */
static uint64_t case_of(struct ray_elf *e, const struct table *t, uint64_t i)
{
	uint64_t block = 0, callee = 0;
	int32_t relative;

	if (t->is_relative && ray_elf_read(e, t->at + 4 * i, &relative, 4) == 4)
		block = t->at + (uint64_t)(int64_t)relative;
	if (!t->is_relative && ray_elf_read(e, t->at + 8 * i, &block, 8) != 8)
		return 0;
	if (block - t->function >= t->size || !ray_follow_walk_from(e, block, see_first_call, &callee))
		return 0;
	return ray_follow_begins(e, callee, NULL) ? callee : 0;
}

struct cases {
	struct ray_vote function[RAY_LOCAL_FUNCTIONS];
};

/* What is left between the named ones is uv__server_io: all others have been named, but for the watcher of files, which does not know
 * connections. */
static uint64_t find_server(struct ray_elf *e, const struct table *t, const uint64_t *named)
{
	struct ray_vote server = { 0 };

	for (uint64_t i = 0; i < KINDS; i++) {
		uint64_t found = case_of(e, t, i);
		bool is_named = !found;

		for (size_t k = 0; k <= WATCHERS; k++)
			is_named |= found == named[k];
		if (!is_named && (ray_follow_touches(e, found, STREAM_CONNECTION_CB) ||
				  ray_follow_touches(e, found, STREAM_CONNECTION_CB - STREAM_WATCHER)))
			ray_vote_cast(&server, found);
	}
	return ray_vote_is_won(&server, 1) ? server.value : 0;
}

/* Takes a table if it leads to four different functions, and the one for async handles goes through these. first: the number that it begins with. */
static void try_table(struct ray_elf *e, const struct table *t, const uint64_t *kinds, uint64_t first,
		      struct cases *ret)
{
	uint64_t named[WATCHERS + 1], server;

	for (size_t i = 0; i <= WATCHERS; i++) {
		named[i] = kinds[i] < first ? 0 : case_of(e, t, kinds[i] - first);
		if (!named[i])
			return;
		for (size_t k = 0; k < i; k++)
			if (named[i] == named[k])
				return;
	}
	if (!ray_follow_leads_to(e, named[0], LOOP_ASYNC_HANDLES))
		return;
	server = find_server(e, t, named);
	for (size_t i = 0; i < WATCHERS; i++)
		ray_vote_cast(&ret->function[watchers[i].function], named[i]);
	ray_vote_cast(&ret->function[RAY_UV_STREAM_IO], named[WATCHERS]);
	if (server)
		ray_vote_cast(&ret->function[RAY_UV_SERVER_IO], server);
}

static void try_function(struct ray_elf *e, uint64_t function, const uint64_t *kinds, struct cases *ret)
{
	struct tables tables = { .n = 0 };
	struct table t = { .function = function };

	if (!ray_follow_begins(e, function, &t.size))
		return;
	ray_follow_walk(e, function, see_table, &tables);
	for (size_t i = 0; i < tables.n; i++)
		for (int is_relative = 0; is_relative < 2; is_relative++) {
			t.at = tables.at[i];
			t.is_relative = is_relative;
			try_table(e, &t, kinds, 0, ret);
			try_table(e, &t, kinds, 1, ret);
		}
}

static void derive_switch(struct ray_derive *d, uint64_t stream, const uint64_t *values, const bool *is_known)
{
	uint64_t kinds[WATCHERS + 1];
	struct ray_follow_content run;
	struct cases cases = { 0 };

	kinds[WATCHERS] = stream;
	for (size_t i = 0; i < WATCHERS; i++) {
		if (!is_known[i] || values[i] >= KINDS)
			return;
		kinds[i] = values[i];
	}
	if (!ray_follow_content(d->elf, ray_follow_exported(d->elf, "uv_run"), 0, &run))
		return;
	try_function(d->elf, ray_follow_exported(d->elf, "uv_run"), kinds, &cases);
	for (size_t i = 0; i < run.callee_count; i++)
		try_function(d->elf, run.callees[i], kinds, &cases);
	/* Or one further: uv_run(), uv__run_pending(), uv__io_cb(). */
	for (size_t i = 0; i < run.callee_count && !cases.function[RAY_UV_STREAM_IO].count; i++) {
		struct ray_follow_content c;

		ray_follow_content(d->elf, run.callees[i], 0, &c);
		for (size_t k = 0; k < c.callee_count; k++)
			try_function(d->elf, c.callees[k], kinds, &cases);
	}
	for (int i = 0; i < RAY_LOCAL_FUNCTIONS; i++)
		if (ray_vote_is_won(&cases.function[i], 1))
			ray_derive_set(d, (enum ray_local_function)i, cases.function[i].value);
}

void ray_derive_watchers(struct ray_derive *d)
{
	uint64_t io_init, stream, values[WATCHERS];
	bool is_known[WATCHERS];

	if (!find_init(d->elf, &io_init, &stream))
		return;
	for (size_t i = 0; i < WATCHERS; i++)
		is_known[i] = find_value(d->elf, io_init, &watchers[i], &values[i]);
	if (stream < KINDS)
		derive_switch(d, stream, values, is_known);
	else
		derive_functions(d, stream, values, is_known);
}
