/* watch.c - which hooks hang where, and what each process wants of them; see watch.h. SPDX-License-Identifier: MIT */
#include "engine/watch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "engine/attach.h"
#include "engine/bits.h"
#include "engine/kin.h"
#include "engine/progeny.h"
#include "probe/syscall.h"

enum { MOST_CLAUSES = 128 };

/* ---- clauses ---- */

static bool clause_add(struct ray_trace *t, const struct ray_clause *clause)
{
	size_t at = t->watch_clauses.n;

	for (size_t i = 0; i < t->watch_clauses.n; i++)
		if (t->watch_clauses.at[i] == clause)
			return true;
	if (!ray_vec_push(&t->watch_clauses, clause))
		return false;
	/* They run in the order of the script. */
	for (; at && t->watch_clauses.at[at - 1]->index > clause->index; at--)
		t->watch_clauses.at[at] = t->watch_clauses.at[at - 1];
	t->watch_clauses.at[at] = clause;
	return true;
}

/* The clauses as bits; they have their numbers only when all are known. */
static void point_set(struct ray_trace *t, const struct ray_watched_probe *w)
{
	struct ray_node_point *point = &w->watch->node.points[w->event];

	point->probe = w->probe->id;
	for (size_t i = 0; i < t->watch_clauses.n; i++)
		for (size_t k = 0; k < w->clause_count; k++)
			if (t->watch_clauses.at[i] == w->clauses[k])
				point->clauses[i / 64] |= 1ULL << i % 64;
	w->watch->node.wanted |= 1ULL << w->event;
}

static struct ray_error *remember(struct ray_trace *t, struct ray_probe *probe, const struct ray_site *site,
				  const struct ray_clause *const *clauses, size_t count, struct ray_watched_probe *ret)
{
	const struct ray_clause **copy = ray_arena_alloc(t->arena, sizeof(*copy) * (count + 1));

	if (!copy)
		return &ray_enomem;
	memcpy(copy, clauses, sizeof(*copy) * count);
	*ret = (struct ray_watched_probe){ probe, site->watch.watch, site->watch.event, copy, count };
	return ray_vec_push(&t->watched_probes, *ret) ? NULL : &ray_enomem;
}

struct ray_error *ray_watch_add(struct ray_trace *t, struct ray_probe *probe, const struct ray_site *site,
				const struct ray_clause *const *clauses, size_t count)
{
	struct ray_watched_probe w;

	for (size_t i = 0; i < count; i++)
		if (!clause_add(t, clauses[i]))
			return &ray_enomem;
	t->watched |= 1ULL << site->watch.event;
	return remember(t, probe, site, clauses, count, &w);
}

/* ---- entries ---- */

static bool is_raw(const struct ray_hook *hook)
{
	return hook->kind == RAY_SITE_RAW_TRACEPOINT;
}

static struct ray_entry *entry_find(struct ray_trace *t, const struct ray_hook *hook)
{
	for (size_t i = 0; i < t->entries.n; i++) {
		struct ray_entry *e = t->entries.at[i];

		if (e->is_watch && e->kind == hook->kind && (!is_raw(hook) || !strcmp(e->name, hook->tracepoint)))
			return e;
	}
	return NULL;
}

static struct ray_entry *entry_make(struct ray_trace *t, const struct ray_hook *hook)
{
	const struct ray_site site = { .kind = hook->kind,
				       .tracepoint = { .name = is_raw(hook) ? hook->tracepoint : NULL } };
	struct ray_entry *e = ray_entry_create(t, &site);

	if (!e)
		return NULL;
	e->is_watch = true;
	e->handlers = ray_arena_alloc(t->arena, sizeof(*e->handlers) * ray_hook_count);
	e->more = ray_arena_alloc(t->arena, sizeof(*e->more) * ray_hook_count);
	if (!e->handlers || !e->more)
		return NULL;
	e->clause_count = t->watch_clauses.n;
	for (size_t i = 0; i < t->watch_clauses.n; i++) {
		e->clauses[i] = t->watch_clauses.at[i];
		e->args_used |= t->watch_clauses.at[i]->args_used;
	}
	return e;
}

/* Its number in the entry, from 1. */
static uint32_t handler_number(struct ray_entry *e, const struct ray_hook *hook)
{
	size_t i;

	for (i = 0; i < e->handler_count; i++)
		if (!strcmp(e->handlers[i], hook->handler))
			return (uint32_t)i + 1;
	e->handlers[i] = hook->handler;
	e->more[i] = hook->more ? hook->more : hook->handler;
	e->handler_count++;
	return (uint32_t)i + 1;
}

/* ---- points ---- */

static bool is_syscall(enum ray_site_kind kind)
{
	return kind == RAY_SITE_SYSCALL_ENTER || kind == RAY_SITE_SYSCALL_EXIT;
}

static bool is_uprobe(enum ray_site_kind kind)
{
	return kind == RAY_SITE_UPROBE || kind == RAY_SITE_URETPROBE;
}

/* System calls find their handler by number, in any process that is watched. */
static struct ray_error *syscalls_point(struct ray_trace *t, struct ray_entry *e)
{
	e->first_point = (uint32_t)t->points.n;
	e->point_count = RAY_SYSCALL_LIMIT;
	for (size_t i = 0; i < RAY_SYSCALL_LIMIT; i++)
		if (!ray_vec_push(&t->points, (struct ray_point){ 0 }))
			return &ray_enomem;
	for (size_t i = 0; i < ray_hook_count; i++)
		if (ray_hooks[i].kind == e->kind && ray_hook_events(&ray_hooks[i]) & t->watched)
			t->points.at[e->first_point + ray_hooks[i].number].probe = handler_number(e, &ray_hooks[i]);
	return NULL;
}

static bool is_needed(const struct ray_trace *t, const struct ray_watch *watch, const struct ray_watch_site *site)
{
	const struct ray_hook *hook = &ray_hooks[site->row];

	return !site->is_hung && ray_hook_events(hook) & watch->node.wanted && !(hook->is_stand_in && t->has_calls);
}

static struct ray_point point_of(struct ray_entry *e, const struct ray_watch *watch, size_t row)
{
	return (struct ray_point){ .probe = handler_number(e, &ray_hooks[row]), .tgid = (uint32_t)watch->pid };
}

static struct ray_error *uprobes_point(struct ray_trace *t, struct ray_entry *e)
{
	e->first_point = (uint32_t)t->points.n;
	for (size_t i = 0; i < t->watches.n; i++) {
		struct ray_watch *watch = t->watches.at[i];

		for (size_t k = 0; k < watch->site_count; k++) {
			struct ray_watch_site *at = &watch->sites[k];

			if (at->site.kind != e->kind || !is_needed(t, watch, at))
				continue;
			at->is_hung = true;
			if (!ray_vec_push(&t->points, point_of(e, watch, at->row)) ||
			    !ray_vec_push(&e->sites, &at->site))
				return &ray_enomem;
		}
	}
	e->point_count = (uint32_t)t->points.n - e->first_point;
	return NULL;
}

/* ---- processes ---- */

static struct ray_error *watch_take(struct ray_trace *t, struct ray_watch *watch)
{
	for (size_t i = 0; i < t->watches.n; i++)
		if (t->watches.at[i] == watch)
			return NULL;
	return ray_vec_push(&t->watches, watch) ? NULL : &ray_enomem;
}

/* What clauses may want of processes that come later. */
static struct ray_error *reserve(struct ray_trace *t)
{
	t->unread = ray_watch_unread(t->program);
	for (size_t i = 0; i < t->program->clauses.n; i++) {
		const struct ray_clause *clause = t->program->clauses.at[i];
		uint64_t events = 0;

		if (ray_clause_is_off(clause))
			continue;
		for (size_t k = 0; k < clause->spec_count && ray_trace_may_grow(t, clause); k++)
			events |= ray_watch_events(&clause->specs[k]);
		t->watched |= events;
		if (events && !clause_add(t, clause))
			return &ray_enomem;
	}
	if (t->watch_clauses.n > MOST_CLAUSES)
		return ray_error_new(RAY_FAILED, "%zu clauses are about events of node: %d are the most",
				     t->watch_clauses.n, MOST_CLAUSES);
	return NULL;
}

static struct ray_error *entries_make(struct ray_trace *t)
{
	for (size_t i = 0; i < ray_hook_count; i++) {
		struct ray_entry *e;

		if (!(ray_hook_events(&ray_hooks[i]) & t->watched))
			continue;
		e = entry_find(t, &ray_hooks[i]);
		if (!e)
			e = entry_make(t, &ray_hooks[i]);
		if (!e)
			return &ray_enomem;
		handler_number(e, &ray_hooks[i]);
	}
	return NULL;
}

/* Whether something is told by system calls only. */
static bool needs_calls(const struct ray_trace *t)
{
	for (size_t i = 0; i < t->watches.n; i++)
		if (t->watches.at[i]->needs_calls)
			return true;
	for (size_t i = 0; i < ray_hook_count; i++)
		if (is_syscall(ray_hooks[i].kind) && !ray_hooks[i].has_stand_in &&
		    ray_hook_events(&ray_hooks[i]) & t->watched)
			return true;
	return false;
}

struct ray_error *ray_watches_place(struct ray_trace *t)
{
	struct ray_error *err = reserve(t);

	if (err || !t->watched)
		return err;
	for (size_t i = 0; i < t->watched_probes.n && !err; i++) {
		if (!ray_progeny_includes(t, t->watched_probes.at[i].watch->pid))
			continue;
		point_set(t, &t->watched_probes.at[i]);
		err = watch_take(t, t->watched_probes.at[i].watch);
	}
	if (!err)
		err = entries_make(t);
	t->has_calls = needs_calls(t);
	for (size_t i = 0; i < t->entries.n && !err; i++) {
		struct ray_entry *e = t->entries.at[i];

		if (e->is_watch && is_syscall(e->kind))
			err = syscalls_point(t, e);
		else if (e->is_watch && is_uprobe(e->kind))
			err = uprobes_point(t, e);
	}
	return err;
}

static bool is_loss(const struct ray_watch *watch, size_t row, uint64_t events)
{
	return watch->lacks[row] && ray_hooks[row].loss && ray_hooks[row].helps & events;
}

/* The entry and the return of a function are lost together. */
static bool is_told(const struct ray_watch *watch, size_t row, uint64_t events)
{
	for (size_t i = 0; i < row; i++)
		if (is_loss(watch, i, events) && !strcmp(ray_hooks[i].loss, ray_hooks[row].loss))
			return true;
	return false;
}

/* Said once for each process, of what clauses want in it. */
static void tell_losses(struct ray_trace *t, const struct ray_watch *watch, uint64_t events)
{
	for (size_t row = 0; row < ray_hook_count; row++)
		if (t->settings.notes && is_loss(watch, row, events) && !is_told(watch, row, events))
			fprintf(t->settings.notes,
				"%s: node%d: degraded, this binary does not show %s (%s is not in it)\n",
				t->settings.progname, watch->pid, ray_hooks[row].loss, ray_hooks[row].names[0]);
}

/* What NODES holds is another: nobody goes by what it looked up before. */
static void nodes_changed(struct ray_trace *t)
{
	__atomic_add_fetch((uint32_t *)&t->state->nodes_version, 1, __ATOMIC_SEQ_CST);
}

static struct ray_error *tell(struct ray_trace *t, struct ray_watch *watch)
{
	uint32_t tgid = (uint32_t)watch->pid;

	if (bpf_map_update_elem(t->maps[RAY_LINK_NODES], &tgid, &watch->node, BPF_ANY))
		return ray_error_errno(RAY_FAILED, errno, "cannot watch process %d", watch->pid);
	nodes_changed(t);
	if (t->node_bits)
		ray_bits_add(t->node_bits, tgid);
	return ray_kin_offer(t, watch);
}

struct ray_error *ray_watches_tell(struct ray_trace *t)
{
	struct ray_error *err = NULL;

	for (size_t i = 0; i < t->watches.n && !err; i++) {
		tell_losses(t, t->watches.at[i], t->watches.at[i]->node.wanted);
		err = tell(t, t->watches.at[i]);
	}
	return err;
}

/* ---- later ---- */

static struct ray_error *hang_late(struct ray_trace *t, struct ray_watch *watch, struct ray_watch_site *at)
{
	struct ray_entry *e = entry_find(t, &ray_hooks[at->row]);
	struct ray_point point;
	struct ray_error *err;
	uint32_t number;

	if (!e || !is_needed(t, watch, at))
		return NULL;
	point = point_of(e, watch, at->row);
	err = ray_point_add_late(t, &point, &number);
	if (err)
		return err;
	at->is_hung = true;
	return ray_uprobe_add_late(t, e, &at->site, number);
}

struct ray_error *ray_watch_add_late(struct ray_trace *t, struct ray_probe *probe, const struct ray_site *site,
				     const struct ray_clause *const *clauses, size_t count)
{
	struct ray_watch *watch = site->watch.watch;
	struct ray_watched_probe w;
	struct ray_error *err;

	if (!ray_progeny_includes(t, watch->pid))
		return NULL;
	err = remember(t, probe, site, clauses, count, &w);
	if (!err)
		err = watch_take(t, watch);
	if (err)
		return err;
	tell_losses(t, watch, ~watch->node.wanted & 1ULL << w.event);
	point_set(t, &w);
	err = tell(t, watch);
	if (!err && watch->needs_calls)
		err = ray_calls_attach(t);
	for (size_t i = 0; i < watch->site_count && !err; i++)
		err = hang_late(t, watch, &watch->sites[i]);
	return err;
}

/* Requests that were on their way on a connection of HTTP/1: the one that is kept there is not among them. */
static void forget_requests(const struct ray_trace *t, const struct ray_node_conn *conn)
{
	for (uint64_t number = conn->first; number <= conn->next; number++) {
		uint64_t request = RAY_NODE_REQUEST_KEY(conn->connection.id, number);

		bpf_map_delete_elem(t->maps[RAY_LINK_NODE_REQUESTS], &request);
	}
}

static void forget_of_conn(const struct ray_trace *t, const void *key)
{
	struct ray_node_conn conn;

	if (!bpf_map_lookup_elem(t->maps[RAY_LINK_NODE_CONNS], key, &conn))
		forget_requests(t, &conn);
}

static void forget_near(const struct ray_trace *t, uint32_t tgid)
{
	int map = t->maps[RAY_LINK_NODE_NEAR];
	struct ray_node_near near;

	for (uint32_t i = 0; map >= 0 && i < RAY_NEAR; i++) {
		if (bpf_map_lookup_elem(map, &i, &near) || near.key.tgid != tgid)
			continue;
		forget_requests(t, &near.conn);
		near.key.tgid = 0;
		bpf_map_update_elem(map, &i, &near, BPF_ANY);
	}
}

struct ray_error *ray_watch_grow(struct ray_trace *t, pid_t pid)
{
	for (size_t i = 0; i < t->watches.n; i++) {
		struct ray_watch *watch = t->watches.at[i];
		size_t before = t->late.n;
		struct ray_error *err = NULL;

		if (watch->pid != pid)
			continue;
		if (watch->needs_calls)
			err = ray_calls_attach(t);
		for (size_t k = 0; k < watch->site_count && !err; k++)
			err = hang_late(t, watch, &watch->sites[k]);
		return err || t->late.n == before ? err : tell(t, watch);
	}
	return NULL;
}

/* Elements of a map whose key begins with the process's number, and what hangs on them. */
static void forget_in(const struct ray_trace *t, int map, size_t key_size, uint32_t tgid,
		      void (*before)(const struct ray_trace *t, const void *key))
{
	char key[64], next[64];
	bool is_mine = false, is_first = true;

	while (map >= 0) {
		bool is_last = bpf_map_get_next_key(map, is_first ? NULL : key, next) != 0;

		if (is_mine && before)
			before(t, key);
		if (is_mine)
			bpf_map_delete_elem(map, key);
		if (is_last)
			return;
		memcpy(key, next, key_size);
		is_mine = !memcmp(key, &tgid, sizeof(tgid));
		is_first = false;
	}
}

void ray_watch_forget(struct ray_trace *t, pid_t pid, bool is_kept)
{
	uint32_t tgid = (uint32_t)pid;
	size_t n = 0, known = t->watches.n;

	for (size_t i = 0; i < known; i++)
		if (t->watches.at[i]->pid != pid)
			t->watches.at[n++] = t->watches.at[i];
	t->watches.n = n;
	if (n == known || is_kept)
		return;
	bpf_map_delete_elem(t->maps[RAY_LINK_NODES], &tgid);
	nodes_changed(t);
	if (t->node_bits)
		ray_bits_remove(t->node_bits, tgid);
	forget_near(t, tgid);
	forget_in(t, t->maps[RAY_LINK_NODE_CONNS], sizeof(struct ray_node_conn_key), tgid, forget_of_conn);
	forget_in(t, t->maps[RAY_LINK_NODE_H2], sizeof(struct ray_h2_key), tgid, NULL);
	forget_in(t, t->maps[RAY_LINK_NODE_WORKS], sizeof(struct ray_node_work_key), tgid, NULL);
}
