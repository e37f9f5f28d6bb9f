/* watched.c - see watched.h. SPDX-License-Identifier: MIT */
#include "stack/watched.h"

#include <string.h>

#include "base/clock.h"
#include "target/proc.h"

enum { PROCESSES = 64 }; /* that are kept open */

static void close_process(struct ray_watched *p)
{
	if (!p)
		return;
	ray_js_close(p->js);
	ray_target_close(p->target);
	ray_thread_names_forget(&p->threads);
	free(p->known);
	free(p);
}

static void forget_process(struct ray_watched_list *l, size_t i)
{
	close_process(l->open.at[i]);
	l->open.at[i] = l->open.at[--l->open.n];
}

static struct ray_error *open_process(const struct ray_watched_list *l, struct ray_watched *p)
{
	struct ray_symbol unused;
	struct ray_error *err;
	char name[16];

	snprintf(name, sizeof(name), "%d", p->pid);
	err = ray_target_open(&(struct ray_target_options){ .name = name }, &p->target);
	if (err)
		return err;
	p->maps_ns = ray_clock_ns();
	err = ray_js_open(p->target, &p->js);
	if (ray_error_code(err) == RAY_NOT_NODE) {
		ray_error_free(err);
		err = ray_js_open_native(p->target, &p->js);
	}
	if (!err)
		p->js->script_maps = l->script_maps;
	/* The index of symbols is made at the first question; better now than when a stack waits. */
	if (!err && p->js->node.module && p->js->node.module->elf)
		ray_elf_symbol_at(p->js->node.module->elf, 0, &unused);
	return err;
}

static void make_room(struct ray_watched_list *l)
{
	size_t oldest = 0;

	if (l->open.n < PROCESSES)
		return;
	for (size_t i = 1; i < l->open.n; i++)
		if (l->open.at[i]->used < l->open.at[oldest]->used)
			oldest = i;
	forget_process(l, oldest);
}

static struct ray_watched *add_process(struct ray_watched_list *l, int pid)
{
	struct ray_watched *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	make_room(l);
	p->pid = pid;
	p->known = calloc(1, sizeof(*p->known));
	if (!p->known || !ray_vec_push(&l->open, p)) {
		close_process(p);
		return NULL;
	}
	return p;
}

static struct ray_watched *find(const struct ray_watched_list *l, pid_t pid)
{
	for (size_t i = 0; i < l->open.n; i++)
		if (l->open.at[i]->pid == pid)
			return l->open.at[i];
	return NULL;
}

static bool has_pid(const struct ray_watched_list *l, pid_t pid)
{
	for (size_t i = 0; i < l->pids.n; i++)
		if (l->pids.at[i] == pid)
			return true;
	return false;
}

/* Opened at the first look at it. NULL without memory. */
struct ray_watched *ray_watched_get(struct ray_watched_list *l, pid_t pid)
{
	struct ray_watched *p = find(l, pid);

	if (!p) {
		p = add_process(l, pid);
		if (!p)
			return NULL;
		if (!has_pid(l, pid) && !ray_vec_push(&l->pids, pid))
			return NULL;
		ray_error_free(open_process(l, p));
	}
	p->used = ++l->used;
	return p;
}

void ray_watched_forget(struct ray_watched_list *l, pid_t pid)
{
	for (size_t i = l->open.n; i-- > 0;)
		if (l->open.at[i]->pid == pid)
			forget_process(l, i);
}

static bool has_ended(pid_t pid)
{
	char text[256];
	const char *p;

	ray_proc_read(text, sizeof(text), "/proc/%d/stat", pid);
	p = strrchr(text, ')');
	return !p || p[2] == 'Z' || p[2] == 'X';
}

bool ray_watched_all_ended(const struct ray_watched_list *l)
{
	for (size_t i = 0; i < l->pids.n; i++)
		if (!has_ended(l->pids.at[i]))
			return false;
	return true;
}

/* What process pid has started, from the list that the kernel keeps for each thread. */
static bool add_children(struct ray_watched_list *l, pid_t pid, struct ray_target *t)
{
	const struct ray_thread *threads;
	char text[4096], *at, *end;
	size_t count;

	threads = ray_target_threads(t, &count);
	for (size_t i = 0; i < count; i++) {
		ray_proc_read(text, sizeof(text), "/proc/%d/task/%d/children", pid, threads[i].tid);
		for (at = text; *at; at = end) {
			long child = strtol(at, &end, 10);

			if (end == at)
				break;
			if (child > 0 && !has_pid(l, (pid_t)child) && !ray_vec_push(&l->pids, (pid_t)child))
				return false;
			end += *end == ' ';
		}
	}
	return true;
}

/* Those that have ended need no looking at. */
static void prune(struct ray_watched_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->pids.n; i++)
		if (!has_ended(l->pids.at[i]))
			l->pids.at[n++] = l->pids.at[i];
	l->pids.n = n;
}

bool ray_watched_find_kin(struct ray_watched_list *l)
{
	prune(l);
	for (size_t i = 0; i < l->open.n; i++) {
		struct ray_watched *w = l->open.at[i];

		if (!w->target)
			continue;
		ray_error_free(ray_target_refresh(w->target));
		if (!add_children(l, w->pid, w->target))
			return false;
	}
	return true;
}

const struct ray_role_info *ray_watched_thread_role(struct ray_watched_list *l, pid_t pid, int tid)
{
	struct ray_watched *w = find(l, pid);
	const struct ray_role_info *name = w ? ray_thread_names_find(&w->threads, tid) : NULL;
	struct ray_error *err;

	if (!w || !w->js || name || !ray_thread_names_are_old(&w->threads))
		return name;
	w->threads.asked_ns = ray_clock_ns();
	/* What was read for stacks is none of theirs. */
	err = ray_sampled_begin(w->js);
	if (!err && !has_ended(pid))
		err = ray_target_refresh(w->target);
	if (!err)
		ray_thread_names_look(&w->threads, w->js);
	ray_error_free(err);
	return ray_thread_names_find(&w->threads, tid);
}

struct ray_error *ray_watched_open(struct ray_watched_list *l, const pid_t *pids, size_t count, bool follow)
{
	struct ray_error *err;
	struct ray_watched *w;

	for (size_t i = 0; i < count; i++) {
		w = add_process(l, pids[i]);
		if (!w || !ray_vec_push(&l->pids, pids[i]))
			return &ray_enomem;
		err = open_process(l, w);
		if (err)
			return err;
	}
	/* What they have started already, and what those have. */
	for (size_t i = 0; follow && i < l->pids.n; i++) {
		w = ray_watched_get(l, l->pids.at[i]);
		if (!w || (w->target && !add_children(l, w->pid, w->target)))
			return &ray_enomem;
	}
	return NULL;
}

void ray_watched_close(struct ray_watched_list *l)
{
	for (size_t i = 0; i < l->open.n; i++)
		close_process(l->open.at[i]);
	ray_vec_free(&l->open);
	ray_vec_free(&l->pids);
}
