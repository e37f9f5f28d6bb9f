/* engine.c - the life of one trace, from checked program to the last line printed. See engine.h.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "engine/follow.h"
#include "engine/kin.h"
#include "engine/progeny.h"
#include "engine/watch.h"
#include "probe/process.h"

enum { SWITCH_NAP_MS = 50 };

static void init_fds(struct ray_trace *t)
{
	size_t i;

	for (i = 0; i < RAY_TRACE_MAPS; i++)
		t->maps[i] = -1;
	t->epoll = -1;
	t->barrier = (struct ray_barrier){ -1, -1 };
}

/* The names are those that faults are reported with. */
static struct ray_error *generate_clauses(struct ray_trace *t)
{
	const struct ray_clause *clause;
	struct ray_error *err;
	size_t i;

	t->clause_code = ray_arena_alloc(t->arena, (t->program->clauses.n + 1) * sizeof(*t->clause_code));
	if (!t->clause_code)
		return &ray_enomem;
	for (i = 0; i < t->program->clauses.n; i++) {
		clause = t->program->clauses.at[i];
		t->clause_code[i].name =
			ray_arena_printf(t->arena, "dt_clause_%u", ray_clause_number(t->program, clause->index, NULL));
		err = ray_gen_clause(t, clause, &t->clause_code[i]);
		if (err)
			return err;
	}
	return NULL;
}

struct ray_error *ray_trace_create(struct ray_program *program, struct ray_catalogue *catalogue,
				   const struct ray_trace_settings *settings, struct ray_trace **ret)
{
	ray_auto(ray_trace, t) = calloc(1, sizeof(*t));
	struct ray_error *err;

	if (!t || !(t->arena = ray_arena_create()))
		return &ray_enomem;
	init_fds(t);
	t->program = program;
	t->catalogue = catalogue;
	t->settings = *settings;
	t->options = *settings->options;
	err = ray_plan_create(program, &t->options, t->arena, &t->plan);
	if (!err)
		err = generate_clauses(t);
	if (!err)
		err = ray_entries_create(t);
	ray_code_process_let_all_go(catalogue);
	if (!err)
		err = ray_progeny_prepare(t);
	if (!err)
		err = ray_kin_prepare(t);
	if (err)
		return err;
	*ret = ray_take(t);
	return NULL;
}

static void close_maps(struct ray_trace *t)
{
	uint32_t i;

	for (i = 0; i < RAY_TRACE_MAPS; i++)
		if (t->maps[i] >= 0)
			close(t->maps[i]);
	for (i = 0; t->own_maps && i < t->plan->map_count; i++)
		if (t->own_maps[i] >= 0)
			close(t->own_maps[i]);
	if (t->state)
		munmap((void *)t->state, (size_t)sysconf(_SC_PAGESIZE));
	if (t->epochs)
		munmap(t->epochs, t->plan->epochs_size);
	ray_barrier_close(&t->barrier);
	if (t->targets)
		munmap(t->targets, RAY_TARGET_WORDS * 8);
	if (t->node_bits)
		munmap(t->node_bits, RAY_TARGET_WORDS * 8);
	free(t->own_maps);
}

static void free_entries(struct ray_trace *t)
{
	struct ray_entry *e;
	size_t i;

	for (i = 0; i < t->entries.n; i++) {
		e = t->entries.at[i];
		if (e->fd >= 0)
			close(e->fd);
		ray_piece_deinit(&e->code);
		ray_piece_deinit(&e->step);
		ray_vec_free(&e->sites);
		ray_vec_free(&e->probes);
	}
	ray_vec_free(&t->entries);
	ray_vec_free(&t->points);
	ray_vec_free(&t->watched_probes);
	ray_vec_free(&t->watch_clauses);
	ray_vec_free(&t->watches);
}

void ray_trace_free(struct ray_trace *t)
{
	size_t i;

	if (!t)
		return;
	ray_entries_detach(t);
	ray_follow_free(t->follow);
	ray_kins_free(t->kins);
	if (t->epoll >= 0)
		close(t->epoll);
	ray_consumer_free(t->consumer);
	ray_stacker_free(t->stacker);
	free_entries(t);
	for (i = 0; t->clause_code && i < t->program->clauses.n; i++)
		ray_piece_deinit(&t->clause_code[i]);
	ray_piece_deinit(&t->fault_code);
	if (t->plan)
		close_maps(t);
	ray_load_close(t);
	ray_vec_free(&t->links);
	ray_vec_free(&t->late);
	ray_vec_free(&t->late_points);
	ray_vec_free(&t->free_points);
	ray_arena_free(t->arena);
	free(t);
}

static struct ray_error *load_all(struct ray_trace *t)
{
	struct ray_error *err;

	err = ray_maps_create(t);
	if (!err)
		err = ray_watches_tell(t);
	if (!err) /* has maps of its own */
		err = ray_stacker_create(t, &t->stacker);
	return err ? err : ray_entries_load(t);
}

struct ray_error *ray_trace_watch(struct ray_trace *t, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &event) ?
		       ray_error_errno(RAY_FAILED, errno, "cannot wait for data") :
		       NULL;
}

static struct ray_error *open_epoll(struct ray_trace *t)
{
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (t->epoll < 0)
		return ray_error_errno(RAY_FAILED, errno, "cannot wait for data");
	return ray_trace_watch(t, t->maps[RAY_LINK_RING]);
}

/* walltimestamp is timestamp plus this: the kernel's clock for programs starts when the machine does. */
static uint64_t wall_offset(void)
{
	struct timespec wall;
	uint64_t since_boot = ray_clock_ns();

	clock_gettime(CLOCK_REALTIME, &wall);
	return (uint64_t)wall.tv_sec * 1000000000 + (uint64_t)wall.tv_nsec - since_boot;
}

/* BEGIN runs while the others are attached but asleep: nothing fires before it is through. */
struct ray_error *ray_trace_start(struct ray_trace *t)
{
	uint32_t expected = RAY_INACTIVE;
	struct ray_error *err;

	if (t->program->is_destructive && !t->options.destructive)
		return ray_error_new(RAY_FAILED, "could not enable tracing: Destructive actions not allowed");
	err = load_all(t);
	if (!err)
		err = open_epoll(t);
	if (!err)
		err = ray_consumer_create(t, &t->consumer);
	if (!err)
		err = ray_follow_create(t, &t->follow);
	if (!err)
		err = ray_progeny_begin(t);
	if (!err)
		err = ray_entries_attach(t);
	if (!err)
		err = ray_progeny_complete(t);
	if (err)
		return err;
	t->state->wall_offset = wall_offset();
	t->is_started = true;
	err = ray_entry_run(t, RAY_SITE_BEGIN);
	if (err)
		return err;
	/* exit() in BEGIN has moved it on already. */
	__atomic_compare_exchange_n((uint32_t *)&t->state->activity, &expected, RAY_ACTIVE, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return NULL;
}

int ray_trace_fd(const struct ray_trace *t)
{
	return t->epoll;
}

static bool wait_for_data(const struct ray_trace *t, int timeout_ms)
{
	struct pollfd p = { .fd = ray_trace_fd(t), .events = POLLIN };

	return timeout_ms && poll(&p, 1, timeout_ms) > 0;
}

/* switchrate asks to leave the buffer alone until its time has come, exit() or not. Sleeps a little, as the caller
 * may be woken by what lies there. */
static bool must_wait(struct ray_trace *t)
{
	uint64_t now = ray_clock_ns(), left;

	if (!t->options.switchrate_ns)
		return false;
	if (!t->switch_ns)
		t->switch_ns = now + t->options.switchrate_ns;
	if (now >= t->switch_ns) {
		t->switch_ns = now + t->options.switchrate_ns;
		return false;
	}
	left = (t->switch_ns - now) / 1000000 + 1;
	poll(NULL, 0, left > SWITCH_NAP_MS ? SWITCH_NAP_MS : (int)left);
	return true;
}

struct ray_error *ray_trace_work(struct ray_trace *t, int timeout_ms, enum ray_trace_status *ret)
{
	bool done = t->state->activity >= RAY_DRAINING;
	struct ray_error *err;

	*ret = RAY_TRACE_GOES_ON;
	if (must_wait(t))
		return NULL;
	if (!done)
		wait_for_data(t, timeout_ms);
	err = t->follow ? ray_follow_work(t->follow) : NULL;
	if (!err)
		err = ray_consumer_drain(t->consumer, done ? RAY_DRAIN_ALL : RAY_DRAIN_TURN);
	if (err)
		return err;
	ray_consumer_report_drops(t->consumer);
	/* Asked for before the ring was read: what was recorded before exit() has been printed then. */
	*ret = done ? RAY_TRACE_DONE : RAY_TRACE_GOES_ON;
	return NULL;
}

struct ray_error *ray_trace_stop(struct ray_trace *t)
{
	struct ray_error *err;

	if (!t->is_started || t->is_stopped)
		return NULL;
	ray_interrupt_writing(RAY_WRITING_OUTPUT, fileno(t->settings.out));
	t->is_stopped = true;
	t->state->activity = RAY_DRAINING;
	ray_entries_detach(t);
	err = ray_consumer_drain(t->consumer, RAY_DRAIN_END);
	t->state->exit_count = 0; /* exit() in END has the last word */
	err = ray_error_first(err, ray_entry_run(t, RAY_SITE_END));
	t->state->activity = RAY_STOPPED;
	err = ray_error_first(err, ray_consumer_drain(t->consumer, RAY_DRAIN_AFTER_END));
	return ray_error_first(err, ray_consumer_finish(t->consumer));
}

int ray_trace_exit_code(const struct ray_trace *t)
{
	return t->state ? (int)t->state->exit_code : 0;
}

bool ray_trace_wants_exit(const struct ray_trace *t)
{
	return t->wants_stacks;
}

void ray_trace_look_at(struct ray_trace *t, pid_t pid)
{
	if (t->stacker && t->wants_stacks)
		ray_stacker_look(t->stacker, (uint32_t)pid);
}
