/* top_threads.c - threads of a node by what they are for, and how busy they are. See top.h. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/top_internal.h"

enum { MOST_THREADS = 4096, MOST_PROCESSES = 256 /* ended ones are forgotten past that */ };

/* ---- as they were last seen ---- */

static struct ray_top_thread_state *thread_find(const struct ray_top *t, uint32_t pid, uint32_t tid)
{
	for (size_t i = 0; i < t->threads.n; i++)
		if (t->threads.at[i].thread.tid == tid && t->threads.at[i].thread.pid == pid)
			return &t->threads.at[i];
	return NULL;
}

static struct ray_top_process_state *process_find(const struct ray_top *t, uint32_t pid)
{
	for (size_t i = 0; i < t->processes.n; i++)
		if (t->processes.at[i].process.pid == pid)
			return &t->processes.at[i];
	return NULL;
}

/* Replaces a text that has changed; a new one may not be had: then the old one stays. */
static const char *keep(char **own, const char *text)
{
	char *copy;

	if (*own && !strcmp(*own, text))
		return *own;
	copy = strdup(text);
	if (copy) {
		free(*own);
		*own = copy;
	}
	return *own ? *own : "";
}

static void use(struct ray_top *t, struct ray_top_slice *slice, struct ray_top_use u)
{
	if (slice && u.cpu_ns && !ray_vec_push(&slice->uses, u))
		t->failed = true;
}

static uint64_t more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void see_process(struct ray_top *t, const struct ray_top_process *p, struct ray_top_slice *slice)
{
	struct ray_top_process_state *s = process_find(t, p->pid);

	if (!s) {
		/* One that appears has used all it has since then, but for the first time. */
		struct ray_top_process_state new = { .process = { .pid = p->pid, .cpu_ns = slice ? 0 : p->cpu_ns } };

		if (!ray_vec_push(&t->processes, new)) {
			t->failed = true;
			return;
		}
		s = &t->processes.at[t->processes.n - 1];
	}
	use(t, slice, (struct ray_top_use){ p->pid, 0, more(p->cpu_ns, s->process.cpu_ns) });
	s->process = *p;
	s->process.title = keep(&s->title, p->title);
	s->process.version = keep(&s->version, p->version);
	s->is_there = true;
}

static void see_thread(struct ray_top *t, const struct ray_top_thread *thread, struct ray_top_slice *slice)
{
	struct ray_top_thread_state *s = thread_find(t, thread->pid, thread->tid);

	if (!s) {
		struct ray_top_thread_state new = { .thread = {
							    .pid = thread->pid, .tid = thread->tid, .worker = -1 } };

		new.thread.cpu_ns = slice ? 0 : thread->cpu_ns;
		if (!ray_vec_push(&t->threads, new)) {
			t->failed = true;
			return;
		}
		s = &t->threads.at[t->threads.n - 1];
	}
	use(t, slice, (struct ray_top_use){ thread->pid, thread->tid, more(thread->cpu_ns, s->thread.cpu_ns) });
	s->is_there = true;
	s->thread.cpu_ns = thread->cpu_ns;
	/* Once it was told what it is for, it stays so: later it may be that nobody can be asked. */
	if (thread->role == RAY_ROLE_OTHER && s->thread.role != RAY_ROLE_OTHER)
		return;
	s->thread.role = thread->role;
	s->thread.worker = thread->worker;
	s->thread.name = keep(&s->name, thread->name);
}

static void forget_processes(struct ray_top *t)
{
	size_t kept = 1; /* the first one names all of it */

	if (t->processes.n < MOST_PROCESSES)
		return;
	for (size_t i = 1; i < t->processes.n; i++) {
		if (t->processes.at[i].is_there) {
			t->processes.at[kept++] = t->processes.at[i];
			continue;
		}
		free(t->processes.at[i].title);
		free(t->processes.at[i].version);
	}
	t->processes.n = kept;
}

static void forget_threads(struct ray_top *t)
{
	size_t kept = 0;

	if (t->threads.n < MOST_THREADS)
		return;
	for (size_t i = 0; i < t->threads.n; i++) {
		if (t->threads.at[i].is_there)
			t->threads.at[kept++] = t->threads.at[i];
		else
			free(t->threads.at[i].name);
	}
	t->threads.n = kept;
}

void ray_top_threads_see(struct ray_top *t, const struct ray_top_moment *m, struct ray_top_slice *slice)
{
	forget_threads(t);
	forget_processes(t);
	for (size_t i = 0; i < t->threads.n; i++)
		t->threads.at[i].is_there = false;
	for (size_t i = 0; i < t->processes.n; i++)
		t->processes.at[i].is_there = false;
	for (size_t i = 0; i < m->process_count; i++)
		see_process(t, &m->processes[i], slice);
	for (size_t i = 0; i < m->thread_count; i++)
		see_thread(t, &m->threads[i], slice);
}

void ray_top_threads_free(struct ray_top *t)
{
	for (size_t i = 0; i < t->threads.n; i++)
		free(t->threads.at[i].name);
	for (size_t i = 0; i < t->processes.n; i++) {
		free(t->processes.at[i].title);
		free(t->processes.at[i].version);
	}
	ray_vec_free(&t->threads);
	ray_vec_free(&t->processes);
}

/* ---- groups ---- */

/* Each main thread and each worker has a group of its own; so have, together, all others of a kind. */
static uint64_t group_id(uint32_t pid, enum ray_role role, uint32_t one)
{
	return (uint64_t)pid << 32 | (uint64_t)(role + 1) << 24 | (one & 0xffffff);
}

static uint64_t id_of(const struct ray_top_thread *thread)
{
	uint32_t one = thread->worker >= 0 ? (uint32_t)thread->worker : thread->tid;

	return group_id(thread->pid, thread->role, thread->role == RAY_ROLE_WORKER ? one : 0);
}

/* Of a thread that came and went between two looks nothing is known but its number. */
uint64_t ray_top_group_of(const struct ray_top *t, uint32_t pid, uint32_t tid)
{
	const struct ray_top_thread_state *s = thread_find(t, pid, tid);

	return s ? id_of(&s->thread) : group_id(pid, pid == tid ? RAY_ROLE_MAIN : RAY_ROLE_OTHER, 0);
}

static const char *role_label(enum ray_role role)
{
	switch (role) {
	case RAY_ROLE_MAIN:
		return "main";
	case RAY_ROLE_WORKER:
		return "worker";
	case RAY_ROLE_PLATFORM:
		return "V8 platform";
	case RAY_ROLE_DELAYED:
		return "V8 timers";
	case RAY_ROLE_POOL:
		return "pool";
	case RAY_ROLE_INSPECTOR:
		return "inspector";
	case RAY_ROLE_SIGNAL:
		return "signals";
	default:
		return "other";
	}
}

/* "worker 2 (parser)", "pool (4)", "4711 main": the process only where there are several. */
static void make_label(struct ray_top_group *g, const char *name, bool has_pid)
{
	char pid[16] = "", number[16] = "", extra[48] = "";

	if (has_pid)
		snprintf(pid, sizeof(pid), "%u ", g->pid);
	if (g->role == RAY_ROLE_WORKER && g->worker >= 0)
		snprintf(number, sizeof(number), " %d", g->worker);
	if (g->role == RAY_ROLE_WORKER && *name)
		snprintf(extra, sizeof(extra), " (%s)", name);
	else if (g->threads > 1)
		snprintf(extra, sizeof(extra), " (%zu)", g->threads);
	snprintf(g->label, sizeof(g->label), "%s%s%s%s", pid, role_label(g->role), number, extra);
}

typedef RAY_VEC(struct ray_top_group) groups_t;

static struct ray_top_group *group_get(groups_t *groups, uint64_t id)
{
	struct ray_top_group new = { .id = id, .pid = (uint32_t)(id >> 32), .worker = -1 };

	for (size_t i = 0; i < groups->n; i++)
		if (groups->at[i].id == id)
			return &groups->at[i];
	return ray_vec_push(groups, new) ? &groups->at[groups->n - 1] : NULL;
}

/* Those that are there, and what is known of their names. */
static bool make_groups(const struct ray_top *t, groups_t *groups)
{
	for (size_t i = 0; i < t->threads.n; i++) {
		const struct ray_top_thread_state *s = &t->threads.at[i];
		struct ray_top_group *g;

		if (!s->is_there)
			continue;
		g = group_get(groups, id_of(&s->thread));
		if (!g)
			return false;
		g->role = s->thread.role;
		g->worker = s->thread.worker;
		g->tid = g->threads ? 0 : s->thread.tid;
		g->threads++;
	}
	for (size_t i = 0; i < groups->n; i++) {
		struct ray_top_group *g = &groups->at[i];
		const struct ray_top_thread_state *s = g->tid ? thread_find(t, g->pid, g->tid) : NULL;

		make_label(g, s && s->name ? s->name : "", t->processes.n > 1);
	}
	return true;
}

static void add_uses(const struct ray_top *t, const struct ray_top_slice *slice, groups_t *groups, uint64_t *all_ns,
		     uint64_t *group_ns)
{
	for (size_t i = 0; i < slice->uses.n; i++) {
		const struct ray_top_use *u = &slice->uses.at[i];
		uint64_t id;

		if (!u->tid) {
			*all_ns += u->cpu_ns;
			continue;
		}
		id = ray_top_group_of(t, u->pid, u->tid);
		for (size_t k = 0; k < groups->n; k++)
			if (groups->at[k].id == id)
				group_ns[k] += u->cpu_ns;
	}
}

static bool add_loops(const struct ray_top_past *past, size_t first, groups_t *groups, struct ray_top_figures *ret)
{
	for (size_t i = 0; i < groups->n; i++) {
		struct ray_top_group *g = &groups->at[i];

		if (!g->tid || (g->role != RAY_ROLE_MAIN && g->role != RAY_ROLE_WORKER))
			continue;
		if (!ray_top_loop_make(past, first, g->pid, g->tid, &g->loop))
			return false;
		if (!g->loop.is_known || (ret->loop.is_known && g->loop.utilization <= ret->loop.utilization))
			continue;
		ret->loop = g->loop;
		ret->loop_id = g->id;
	}
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct ray_top_group *x = a, *y = b;
	bool x_runs_js = x->role == RAY_ROLE_MAIN || x->role == RAY_ROLE_WORKER;
	bool y_runs_js = y->role == RAY_ROLE_MAIN || y->role == RAY_ROLE_WORKER;

	if (x_runs_js != y_runs_js)
		return x_runs_js ? -1 : 1;
	if (x->cpu != y->cpu && (x->role != RAY_ROLE_MAIN || y->role != RAY_ROLE_MAIN))
		return x->cpu > y->cpu ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static bool measure_groups(const struct ray_top *t, const struct ray_top_past *past, size_t first, groups_t *groups,
			   struct ray_top_figures *ret)
{
	ray_auto_memory uint64_t *ns = calloc(groups->n + 1, sizeof(*ns));
	uint64_t length = 0, all_ns = 0;

	if (!ns)
		return false;
	for (size_t i = first; i < past->slices.n; i++) {
		length += past->slices.at[i]->length_ns;
		add_uses(t, past->slices.at[i], groups, &all_ns, ns);
	}
	ret->cpu = length ? (double)all_ns / (double)length : 0;
	for (size_t i = 0; i < groups->n && length; i++)
		groups->at[i].cpu = (double)ns[i] / (double)length;
	return add_loops(past, first, groups, ret);
}

/* ---- figures ---- */

static void add_processes(const struct ray_top *t, struct ray_top_figures *ret)
{
	for (size_t i = 0; i < t->processes.n; i++) {
		const struct ray_top_process_state *s = &t->processes.at[i];

		if (!i) {
			ret->process = s->process;
			ret->process.title = ret->process.version = "";
			snprintf(ret->title, sizeof(ret->title), "%s", s->process.title);
			snprintf(ret->version, sizeof(ret->version), "%s", s->process.version);
		}
		if (!s->is_there)
			continue;
		ret->processes++;
		ret->rss += s->process.rss;
	}
	for (size_t i = 0; i < t->threads.n; i++)
		ret->threads += t->threads.at[i].is_there;
	for (size_t i = 0; i < t->collectors.n; i++) {
		const struct ray_top_process_state *s = process_find(t, t->collectors.at[i].pid);

		if (s && s->is_there)
			ret->heap += t->collectors.at[i].heap;
	}
}

static void add_events(const struct ray_top *t, const struct ray_top_past *past, size_t first,
		       struct ray_top_figures *ret)
{
	uint64_t length = 0, ns = 0, requests = 0;

	for (size_t i = first; i < past->slices.n; i++) {
		const struct ray_top_slice *s = past->slices.at[i];

		length += s->length_ns;
		requests += s->requests;
		for (size_t k = 0; k < s->pauses.n; k++) {
			ns += s->pauses.at[k].ns;
			ret->gc_count += s->pauses.at[k].count;
			if (s->pauses.at[k].longest > ret->gc_longest)
				ret->gc_longest = s->pauses.at[k].longest;
		}
	}
	ret->has_gc = t->has_gc;
	ret->has_requests = t->has_requests;
	ret->gc_share = length ? (double)ns / (double)length : 0;
	ret->requests = length ? (double)requests * 1e9 / (double)length : 0;
}

bool ray_top_figures_make(struct ray_top *t, const struct ray_top_past *past, size_t first, struct ray_top_figures *ret)
{
	groups_t groups = { 0 };

	*ret = (struct ray_top_figures){ .process = { .title = "", .version = "" } };
	add_processes(t, ret);
	add_events(t, past, first, ret);
	if (!make_groups(t, &groups) || !measure_groups(t, past, first, &groups, ret)) {
		ray_vec_free(&groups);
		return false;
	}
	if (groups.n)
		qsort(groups.at, groups.n, sizeof(*groups.at), by_place);
	ret->groups = groups.at;
	ret->group_count = groups.n;
	return true;
}
