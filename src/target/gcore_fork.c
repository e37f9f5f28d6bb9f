/* gcore_fork.c - a core from a forked child, so that the target waits for the fork only.
 * SPDX-License-Identifier: MIT
 *
 * V8 marks its heap as not to be inherited (MADV_DONTFORK), since a child of node is about to become
 * another program anyway. So the marks are taken off before the fork and set again after it. What the child
 * nevertheless lacks (mappings made in the last moment, MADV_WIPEONFORK) is copied from the target while it
 * stands still. Shared memory is never frozen by a fork: it is read while the target runs on.
 *
 * The child never runs: it is held by ptrace from its birth, and dies with noderay. Its zombie is the
 * target's to reap, which knows nothing of it, so a last call makes the target do so. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "target/gcore_internal.h"
#include "target/inject.h"
#include "target/internal.h"

enum { REAP_TRIES = 20 };

/* Pages that come from the target itself. */
struct side {
	struct ray_page_runs runs;   /* what was copied */
	unsigned char *bytes;	     /* one after the other */
	struct ray_page_runs shared; /* pages of shared memory: known from the target's page tables only */
};

static void free_side(struct side *s)
{
	ray_page_runs_deinit(&s->runs);
	ray_page_runs_deinit(&s->shared);
	free(s->bytes);
}

/* ------------------------------------------------------------------------- marks */

static bool is_marked(const struct ray_gcore_map *m)
{
	return (m->flags & RAY_SMAP_DONTCOPY) && !(m->flags & (RAY_SMAP_IO | RAY_SMAP_PFNMAP)) &&
	       ray_gcore_content(m, false) != RAY_GCORE_NOTHING;
}

/* One call for each row of marked mappings without an unmarked one between; gaps do not matter. */
static struct ray_error *mark(struct gcore *g, struct ray_inject *in, int advice)
{
	struct ray_error *err = NULL;
	int64_t result;

	for (size_t i = 0; !err && i < g->maps.n; i++) {
		uint64_t args[5] = { g->maps.at[i].map->start, 0, (uint64_t)advice };

		if (!is_marked(&g->maps.at[i]))
			continue;
		while (i + 1 < g->maps.n && is_marked(&g->maps.at[i + 1]))
			i++;
		args[1] = g->maps.at[i].map->end - args[0];
		/* It fails for the gaps (ENOMEM) and is done all the same; what is not done is copied. */
		err = ray_inject_call(in, SYS_madvise, args, &result);
	}
	return err;
}

static struct ray_error *fork_target(struct gcore *g, struct ray_stop *stop, const struct ray_gadgets *gadgets,
				     int *child, int *inner)
{
	ray_auto(ray_inject, in) = NULL;
	struct ray_error *err, *also;

	err = ray_inject_begin(stop, gadgets, g->t->maps.at, g->t->maps.n, &in);
	if (err)
		return err;
	err = mark(g, in, MADV_DOFORK);
	if (!err) {
		err = ray_inject_fork(in, child, inner);
		also = mark(g, in, MADV_DONTFORK);
		if (err)
			ray_error_free(also);
		else
			err = also;
	}
	if (!ray_inject_end(in) && !err)
		err = ray_error_new(RAY_FAILED, "process %d ended while it forked", g->pid);
	g->report->borrowed_ns += ray_inject_ns(in);
	return err;
}

/* ------------------------------------------------------------------------- what the child lacks */

static struct ray_error *child_maps(int child, struct ray_target **ret)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", child);
	return ray_target_open(&(struct ray_target_options){ .name = name }, ret);
}

static bool child_has(struct ray_target *child, const struct ray_map *m)
{
	uint64_t at = m->start;

	while (at < m->end) {
		const struct ray_map *c = ray_target_find_map(child, at);

		if (!c)
			return false;
		at = c->end;
	}
	return true;
}

static struct ray_error *add_pages(struct gcore *g, const struct ray_map *m, struct ray_page_runs *to)
{
	struct ray_page_runs runs = { 0 };
	struct ray_error *err = ray_pages_find(g->pagemap, m, 1, &runs);

	for (size_t i = 0; !err && i < runs.runs.n; i++)
		if (!ray_vec_push(&to->runs, runs.runs.at[i]))
			err = &ray_enomem;
	ray_page_runs_deinit(&runs);
	return err;
}

static struct ray_error *copy_side(struct gcore *g, struct side *s)
{
	struct ray_copy c = { .pid = g->pid, .mem = g->mem, .threads = g->processors };
	RAY_VEC(struct ray_extent) extents = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < s->runs.runs.n; i++) {
		struct ray_extent e = { .start = s->runs.runs.at[i].start,
					.size = s->runs.runs.at[i].end - s->runs.runs.at[i].start };

		g->side_copied += e.size;
		ok = ray_vec_push(&extents, e);
	}
	s->bytes = malloc(g->side_copied + 1);
	ok = ok && s->bytes && ray_copy_extents(&c, extents.at, extents.n, s->bytes, &g->report->unreadable);
	ray_vec_free(&extents);
	return ok ? NULL : ray_error_new(RAY_FAILED, "interrupted or out of memory");
}

static struct ray_error *find_side(struct gcore *g, struct ray_target *child, struct side *s)
{
	struct ray_error *err = NULL;

	for (size_t i = 0; !err && i < g->maps.n; i++) {
		const struct ray_gcore_map *m = &g->maps.at[i];

		if (ray_gcore_content(m, g->options->full) == RAY_GCORE_NOTHING)
			continue;
		if (m->map->shared)
			err = add_pages(g, m->map, &s->shared);
		else if ((m->flags & RAY_SMAP_WIPEONFORK) || !child_has(child, m->map))
			err = add_pages(g, m->map, &s->runs);
	}
	return err ? err : copy_side(g, s);
}

/* Tells the plan's extents where their bytes are. Both lists are by address. */
static void attach_side(struct gcore *g, const struct side *s)
{
	const unsigned char *bytes = s->bytes;
	size_t e = 0;

	for (size_t i = 0; i < s->runs.runs.n; i++) {
		const struct ray_page_run *run = &s->runs.runs.at[i];

		while (e < g->plan.extents.n && g->plan.extents.at[e].start < run->start)
			e++;
		for (; e < g->plan.extents.n && g->plan.extents.at[e].start < run->end; e++) {
			struct ray_extent *x = &g->plan.extents.at[e];

			if (x->start + x->size <= run->end)
				x->copy = bytes + (x->start - run->start);
		}
		bytes += run->end - run->start;
	}
}

/* ------------------------------------------------------------------------- the child */

static struct ray_error *plan_child(struct gcore *g, int pagemap, const struct side *s)
{
	struct ray_error *err = ray_pages_find(pagemap, g->t->maps.at, g->t->maps.n, &g->pages);
	const struct ray_page_runs *more[] = { &s->runs, &s->shared };

	for (size_t k = 0; !err && k < RAY_COUNT(more); k++)
		for (size_t i = 0; !err && i < more[k]->runs.n; i++)
			if (!ray_vec_push(&g->pages.runs, more[k]->runs.at[i]))
				err = &ray_enomem;
	ray_page_runs_sort(&g->pages);
	if (!err)
		err = ray_pages_add_shared(g->pid, g->t->maps.at, g->t->maps.n, &g->pages, &g->report->unseen);
	if (!err)
		err = ray_gcore_plan_make(g->maps.at, g->maps.n, &g->pages, g->options->full, &g->plan);
	if (!err)
		attach_side(g, s);
	return err;
}

static struct ray_error *write_child(struct gcore *g, int child, const struct side *s)
{
	struct ray_error *err = NULL;
	ray_auto_fd int pagemap = ray_gcore_open_proc(child, "pagemap", &err);

	if (err)
		return err;
	close(g->mem);
	g->mem = ray_gcore_open_proc(child, "mem", &err);
	g->source = child;
	if (!err)
		err = plan_child(g, pagemap, s);
	return err ? err : ray_gcore_write_frozen(g);
}

/* ------------------------------------------------------------------------- its end */

static struct ray_error *reap(struct gcore *g, const struct ray_gadgets *gadgets, int inner, bool *done)
{
	const uint64_t args[5] = { (uint64_t)inner, 0, __WALL | WNOHANG, 0, 0 };
	ray_auto(ray_stop, stop) = NULL;
	ray_auto(ray_inject, in) = NULL;
	struct ray_error *err = ray_gcore_read_maps(g); /* stacks stay where they are */
	int64_t result = -1;

	if (!err)
		err = ray_stop_all(g->pid, RAY_STOP_TIMEOUT_MS, &stop);
	if (!err)
		err = ray_inject_begin(stop, gadgets, g->t->maps.at, g->t->maps.n, &in);
	if (!err)
		err = ray_inject_call(in, SYS_wait4, args, &result);
	if (!err && ray_inject_end(in))
		g->report->borrowed_ns += ray_inject_ns(in);
	if (stop) {
		ray_stop_release(stop);
		g->report->pause_ns += ray_stop_report(stop).pause_ns;
	}
	/* Somebody who waits for all children of any kind has it already (ECHILD). */
	*done = !err && (result == inner || result == -ECHILD);
	return err;
}

static void end_child(struct gcore *g, const struct ray_gadgets *gadgets, int child, int inner)
{
	struct timespec nap = { .tv_nsec = 1000000 };
	bool done = false;
	int status;

	kill(child, SIGKILL);
	while (waitpid(child, &status, __WALL) == child && !WIFEXITED(status) && !WIFSIGNALED(status))
		;
	for (int i = 0; i < REAP_TRIES && !done && !kill(g->pid, 0); i++) {
		ray_error_free(reap(g, gadgets, inner, &done));
		if (!done)
			nanosleep(&nap, NULL);
	}
	if (!done && !kill(g->pid, 0))
		g->report->zombie = child;
}

struct ray_error *ray_gcore_dump_fork(struct gcore *g, struct ray_stop *stop)
{
	__attribute__((cleanup(free_side))) struct side side = { 0 };
	ray_auto(ray_target, copy) = NULL;
	int child = 0, inner = 0;
	struct ray_error *err;

	err = ray_gcore_read_maps(g);
	if (!err)
		err = fork_target(g, stop, &g->gadgets, &child, &inner);
	if (!err)
		err = child_maps(child, &copy);
	if (!err)
		err = find_side(g, copy, &side);
	ray_stop_release(stop);
	g->report->pause_ns = ray_stop_report(stop).pause_ns;
	if (!err)
		err = write_child(g, child, &side);
	if (child)
		end_child(g, &g->gadgets, child, inner);
	return err;
}
