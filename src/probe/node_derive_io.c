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
	/* The switch must know it. That of signals is called by name, that of files is not there in every build. */
	bool is_in_switch;
} watchers[] = {
	{ RAY_UV_ASYNC_IO, { "uv_async_init" }, true, true },
	{ RAY_UV_POLL_IO, { "uv_poll_init" }, false, true },
	{ RAY_UV_UDP_IO, { "uv_udp_init_ex", "uv_udp_init" }, false, true },
	{ RAY_UV_INOTIFY_READ, { "uv_fs_event_start" }, true, false },
	{ RAY_UV_SIGNAL_EVENT, { "uv_signal_init" }, true, false },
};
enum { WATCHERS = RAY_COUNT(watchers), ASYNC = 0 };

/* What each of them was given: a function, or a number. */
struct given {
	uint64_t value[WATCHERS];
	uint64_t starter[WATCHERS]; /* uv__io_init_start(); 0 if it was uv__io_init() */
	bool is_known[WATCHERS];
	uint64_t stream; /* of uv__stream_io */
};

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
		 ray_follow_begins(s->elf, step->target, NULL)) {
		ray_vote_cast(&s->value, step->args[2]);
		ray_vote_cast(&s->callee, step->target);
	}
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

static void find_value(struct ray_elf *e, uint64_t io_init, size_t index, struct given *ret)
{
	const struct watcher *w = &watchers[index];
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
	ret->value[index] = s.value.value;
	ret->starter[index] = s.callee.count ? s.callee.value : 0;
	ret->is_known[index] = ray_vote_is_won(&s.value, 1) && !s.callee.is_split;
}

/* uv__io_init() is known by its callers. Whatever else looks like it is believed if all who call such a function call the same, and two do. */
static void drop_lone_starters(struct given *given)
{
	struct ray_vote starter = { 0 };

	for (size_t i = 0; i < WATCHERS; i++)
		if (given->is_known[i] && given->starter[i])
			ray_vote_cast(&starter, given->starter[i]);
	for (size_t i = 0; i < WATCHERS; i++)
		if (given->starter[i] && !ray_vote_is_won(&starter, 2))
			given->is_known[i] = false;
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

static void derive_functions(struct ray_derive *d, const struct given *given)
{
	ray_derive_set(d, RAY_UV_STREAM_IO, given->stream);
	derive_server(d);
	for (size_t i = 0; i < WATCHERS; i++)
		if (given->is_known[i] && given->value[i] != given->stream)
			ray_derive_set(d, watchers[i].function, given->value[i]);
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
	uint64_t first;	  /* the number that it begins with */
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

/* What is left is uv__server_io, if there is one left that knows connections. */
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

/* The functions that the table leads to by the numbers that are given; the stream's comes last. False if it does not lead to all that it must, or
 * twice to the same. */
static bool read_table(struct ray_elf *e, const struct table *t, const struct given *given, uint64_t *named)
{
	for (size_t i = 0; i <= WATCHERS; i++) {
		bool is_known = i == WATCHERS || given->is_known[i];
		uint64_t kind = i == WATCHERS ? given->stream : given->value[i];

		named[i] = is_known && kind >= t->first && kind < KINDS ? case_of(e, t, kind - t->first) : 0;
		if (!named[i] && (i == WATCHERS || watchers[i].is_in_switch))
			return false;
		for (size_t k = 0; k < i; k++)
			if (named[i] && named[i] == named[k])
				return false;
	}
	return true;
}

/* Takes a table if it leads to different functions, and the one for async handles goes through these. */
static void try_table(struct ray_elf *e, const struct table *t, const struct given *given, struct cases *ret)
{
	uint64_t named[WATCHERS + 1], server;

	if (!read_table(e, t, given, named) || !ray_follow_leads_to(e, named[ASYNC], LOOP_ASYNC_HANDLES))
		return;
	server = find_server(e, t, named);
	for (size_t i = 0; i < WATCHERS; i++)
		if (named[i])
			ray_vote_cast(&ret->function[watchers[i].function], named[i]);
	ray_vote_cast(&ret->function[RAY_UV_STREAM_IO], named[WATCHERS]);
	if (server)
		ray_vote_cast(&ret->function[RAY_UV_SERVER_IO], server);
}

static void try_function(struct ray_elf *e, uint64_t function, const struct given *given, struct cases *ret)
{
	struct tables tables = { .n = 0 };
	struct table t = { .function = function };

	if (!ray_follow_begins(e, function, &t.size))
		return;
	ray_follow_walk(e, function, see_table, &tables);
	for (size_t i = 0; i < tables.n; i++)
		for (unsigned way = 0; way < 4; way++) {
			t.at = tables.at[i];
			t.is_relative = way & 1;
			t.first = way >> 1;
			try_table(e, &t, given, ret);
		}
}

static void derive_switch(struct ray_derive *d, const struct given *given)
{
	uint64_t caller = ray_follow_exported(d->elf, "uv_run");
	struct ray_follow_content run, c;
	struct cases cases = { 0 };

	if (!ray_follow_content(d->elf, caller, 0, &run))
		return;
	try_function(d->elf, caller, given, &cases);
	for (size_t i = 0; i < run.callee_count; i++)
		try_function(d->elf, run.callees[i], given, &cases);
	/* Or one further: uv_run(), uv__run_pending(), uv__io_cb(). */
	for (size_t i = 0; i < run.callee_count && !cases.function[RAY_UV_STREAM_IO].count; i++) {
		ray_follow_content(d->elf, run.callees[i], 0, &c);
		for (size_t k = 0; k < c.callee_count; k++)
			try_function(d->elf, c.callees[k], given, &cases);
	}
	for (int i = 0; i < RAY_LOCAL_FUNCTIONS; i++)
		if (ray_vote_is_won(&cases.function[i], 1))
			ray_derive_set(d, (enum ray_local_function)i, cases.function[i].value);
}

void ray_derive_watchers(struct ray_derive *d)
{
	struct given given = { .stream = 0 };
	uint64_t io_init;

	if (!find_init(d->elf, &io_init, &given.stream))
		return;
	for (size_t i = 0; i < WATCHERS; i++)
		find_value(d->elf, io_init, i, &given);
	drop_lone_starters(&given);
	if (given.stream < KINDS)
		derive_switch(d, &given);
	else
		derive_functions(d, &given);
}
