/* enter.c - puts the sites of all matched probes into as few programs as can be.
 * SPDX-License-Identifier: MIT
 *
 * Sites of a pooled kind share one program: whichever fires, it looks up its point, which says the probe and the clauses.
 * The other kinds have a program each, with all of that written in. A program has at most MOST_CLAUSES clauses (a point's bits; the kernel takes 256
 * functions in one program); more make more programs, hung in in the order of the script. Knows nothing of instructions. */
#include <bpf/bpf.h>
#include <string.h>

#include "engine/attach.h"
#include "engine/watch.h"
#include "probe/provider.h"
#include "probe/syscall.h"

enum { MOST_CLAUSES = 128, ERROR_ID = 3 };

/* A probe that some clause has, and its clauses in the order of the script. */
struct target {
	struct ray_probe *probe;
	RAY_VEC(const struct ray_clause *) clauses;
};

struct targets {
	RAY_VEC(struct target) all;
	uint32_t *by_id; /* index + 1; 0: none */
	uint32_t id_limit;
};

static void targets_deinit(struct targets *x)
{
	for (size_t i = 0; i < x->all.n; i++)
		ray_vec_free(&x->all.at[i].clauses);
	ray_vec_free(&x->all);
	free(x->by_id);
}
#define auto_targets __attribute__((cleanup(targets_deinit))) struct targets

static struct target *target_find(struct targets *x, uint32_t id)
{
	return id < x->id_limit && x->by_id[id] ? &x->all.at[x->by_id[id] - 1] : NULL;
}

static struct ray_error *target_add(struct targets *x, struct ray_probe *probe, const struct ray_clause *clause)
{
	struct target *target = target_find(x, probe->id);

	if (!target) {
		if (!ray_vec_push(&x->all, (struct target){ .probe = probe }))
			return &ray_enomem;
		x->by_id[probe->id] = x->all.n;
		target = &x->all.at[x->all.n - 1];
	}
	/* A clause may name the same probe twice. */
	if (target->clauses.n && target->clauses.at[target->clauses.n - 1] == clause)
		return NULL;
	return ray_vec_push(&target->clauses, clause) ? NULL : &ray_enomem;
}

static struct ray_error *targets_collect(const struct ray_program *program, struct targets *x)
{
	struct ray_error *err = NULL;

	for (size_t i = 0; i < program->clauses.n; i++)
		for (size_t k = 0; k < program->clauses.at[i]->probes.n; k++)
			if (program->clauses.at[i]->probes.at[k]->id >= x->id_limit)
				x->id_limit = program->clauses.at[i]->probes.at[k]->id + 1;
	x->by_id = calloc(x->id_limit + 1, sizeof(*x->by_id));
	if (!x->by_id)
		return &ray_enomem;
	for (size_t i = 0; i < program->clauses.n; i++)
		for (size_t k = 0;
		     !ray_clause_is_off(program->clauses.at[i]) && k < program->clauses.at[i]->probes.n && !err; k++)
			err = target_add(x, program->clauses.at[i]->probes.at[k], program->clauses.at[i]);
	return err;
}

/* ---- which program ---- */

static bool is_syscall(enum ray_site_kind kind)
{
	return kind == RAY_SITE_SYSCALL_ENTER || kind == RAY_SITE_SYSCALL_EXIT;
}

static bool is_uprobe(enum ray_site_kind kind)
{
	return kind == RAY_SITE_UPROBE || kind == RAY_SITE_URETPROBE;
}

static bool is_pooled(enum ray_site_kind kind)
{
	return is_syscall(kind) || is_uprobe(kind) || kind == RAY_SITE_PROFILE || kind == RAY_SITE_TICK;
}

/* Processes that come later add points to a program for uprobes: it always looks its point up. */
bool ray_entry_is_single(const struct ray_entry *e)
{
	return e->point_count == 1 && !is_uprobe(e->kind) && !e->is_watch;
}

static bool has_clause(const struct ray_entry *e, const struct ray_clause *clause)
{
	for (size_t i = 0; i < e->clause_count; i++)
		if (e->clauses[i] == clause)
			return true;
	return false;
}

static bool has_room(const struct ray_entry *e, const struct ray_clause *const *clauses, size_t count)
{
	size_t total = e->clause_count;

	for (size_t i = 0; i < count; i++)
		total += !has_clause(e, clauses[i]);
	return total <= MOST_CLAUSES;
}

static bool takes(const struct ray_entry *e, const struct ray_site *site, const struct ray_clause *const *clauses,
		  size_t count)
{
	if (e->kind != site->kind || !is_pooled(site->kind) || e->is_watch)
		return false;
	if (e->sites.n && e->sites.at[0]->conditions != site->conditions)
		return false;
	if (is_syscall(site->kind)) {
		if (e->sites.at[0]->fetch != site->fetch)
			return false;
		for (size_t i = 0; i < e->sites.n; i++)
			if (e->sites.at[i]->number == site->number)
				return false;
	}
	return has_room(e, clauses, count);
}

static uint32_t program_type(enum ray_site_kind kind)
{
	switch (kind) {
	case RAY_SITE_PROFILE:
	case RAY_SITE_TICK:
		return BPF_PROG_TYPE_PERF_EVENT;
	case RAY_SITE_UPROBE:
	case RAY_SITE_URETPROBE:
		return BPF_PROG_TYPE_KPROBE;
	case RAY_SITE_TRACEPOINT:
		return BPF_PROG_TYPE_TRACEPOINT;
	case RAY_SITE_SYSCALL_ENTER:
	case RAY_SITE_SYSCALL_EXIT:
		return BPF_PROG_TYPE_TRACING;
	default:
		return BPF_PROG_TYPE_RAW_TRACEPOINT;
	}
}

struct ray_entry *ray_entry_create(struct ray_trace *t, const struct ray_site *site)
{
	struct ray_entry *e = ray_arena_alloc(t->arena, sizeof(*e));

	if (!e)
		return NULL;
	e->fd = -1;
	e->kind = site->kind;
	e->prog_type = program_type(site->kind);
	e->clauses = ray_arena_alloc(t->arena, MOST_CLAUSES * sizeof(*e->clauses));
	if (site->kind == RAY_SITE_TRACEPOINT || site->kind == RAY_SITE_RAW_TRACEPOINT) {
		e->group = site->tracepoint.group;
		e->name = site->tracepoint.name;
	}
	return e->clauses && ray_vec_push(&t->entries, e) ? e : NULL;
}

/* Keeps them in the order of the script. */
static void clause_add(struct ray_entry *e, const struct ray_clause *clause)
{
	size_t at = e->clause_count;

	if (has_clause(e, clause))
		return;
	while (at && e->clauses[at - 1]->index > clause->index) {
		e->clauses[at] = e->clauses[at - 1];
		at--;
	}
	e->clauses[at] = clause;
	e->clause_count++;
	e->args_used |= clause->args_used;
}

static struct ray_error *site_add(struct ray_trace *t, const struct ray_probe *probe, const struct ray_site *site,
				  const struct ray_clause *const *clauses, size_t count)
{
	struct ray_entry *e = NULL;

	for (size_t i = 0; i < t->entries.n && !e; i++)
		if (takes(t->entries.at[i], site, clauses, count))
			e = t->entries.at[i];
	if (!e)
		e = ray_entry_create(t, site);
	if (!e || !ray_vec_push(&e->sites, site) || !ray_vec_push(&e->probes, probe))
		return &ray_enomem;
	for (size_t i = 0; i < count; i++)
		clause_add(e, clauses[i]);
	return NULL;
}

static struct ray_error *target_place(struct ray_trace *t, const struct target *target)
{
	struct ray_error *err = ray_probe_sites(t->catalogue, target->probe);

	if (err || target->probe->id == ERROR_ID)
		return err;
	if (target->clauses.n > MOST_CLAUSES && t->plan->locals_size)
		return ray_error_new(RAY_FAILED,
				     "probe %s:%s:%s:%s has %zu clauses: more than %d cannot share this-> variables",
				     target->probe->provider, target->probe->module, target->probe->function,
				     target->probe->name, target->clauses.n, MOST_CLAUSES);
	for (size_t i = 0; i < target->probe->site_count && !err; i++) {
		if (target->probe->sites[i].kind == RAY_SITE_WATCH) {
			err = ray_watch_add(t, target->probe, &target->probe->sites[i], target->clauses.at,
					    target->clauses.n);
			continue;
		}
		for (size_t first = 0; first < target->clauses.n && !err; first += MOST_CLAUSES) {
			size_t left = target->clauses.n - first;

			err = site_add(t, target->probe, &target->probe->sites[i], &target->clauses.at[first],
				       left < MOST_CLAUSES ? left : MOST_CLAUSES);
		}
	}
	return err;
}

/* ---- points ---- */

/* System calls find their point by number: a table with holes. */
static bool sites_spread(struct ray_entry *e)
{
	RAY_VEC(const struct ray_site *) sites = { 0 };
	RAY_VEC(const struct ray_probe *) probes = { 0 };

	for (size_t i = 0; i < RAY_SYSCALL_LIMIT; i++)
		if (!ray_vec_push(&sites, NULL) || !ray_vec_push(&probes, NULL)) {
			ray_vec_free(&sites);
			ray_vec_free(&probes);
			return false;
		}
	for (size_t i = 0; i < e->sites.n; i++) {
		sites.at[e->sites.at[i]->number] = e->sites.at[i];
		probes.at[e->sites.at[i]->number] = e->probes.at[i];
	}
	ray_vec_free(&e->sites);
	ray_vec_free(&e->probes);
	memcpy(&e->sites, &sites, sizeof(sites));
	memcpy(&e->probes, &probes, sizeof(probes));
	return true;
}

static void point_fill(const struct ray_entry *e, const struct ray_site *site, const struct target *target,
		       struct ray_point *point)
{
	point->probe = target->probe->id;
	if (is_uprobe(site->kind))
		point->tgid = site->uprobe.pid;
	point->fetch_count = site->fetch_count < RAY_POINT_ARGS ? site->fetch_count : RAY_POINT_ARGS;
	for (uint32_t i = 0; i < point->fetch_count; i++)
		point->fetch[i] = site->fetch[i];
	for (size_t i = 0, k = 0; i < e->clause_count; i++) {
		while (k < target->clauses.n && target->clauses.at[k]->index < e->clauses[i]->index)
			k++;
		if (k < target->clauses.n && target->clauses.at[k] == e->clauses[i])
			point->clauses[i / 64] |= 1ULL << i % 64;
	}
}

static struct ray_error *points_make(struct ray_trace *t, struct ray_entry *e, struct targets *targets)
{
	if (is_syscall(e->kind) && e->sites.n > 1 && !sites_spread(e))
		return &ray_enomem;
	e->first_point = t->points.n;
	e->point_count = e->sites.n;
	for (size_t i = 0; i < e->sites.n; i++) {
		struct ray_point point = { 0 };

		if (e->sites.at[i])
			point_fill(e, e->sites.at[i], target_find(targets, e->probes.at[i]->id), &point);
		if (!ray_vec_push(&t->points, point))
			return &ray_enomem;
	}
	return NULL;
}

/* ---- all ---- */

bool ray_clause_is_about_task(struct ray_trace *t, const struct ray_clause *clause)
{
	for (size_t i = 0; i < clause->probes.n; i++) {
		struct ray_probe *probe = clause->probes.at[i];

		/* Only the kernel's own probes can be: the others need not be looked for yet. */
		if (probe->owner->has_other_tasks && !probe->sites_known)
			ray_error_free(ray_probe_sites(t->catalogue, probe));
		if (probe->owner->has_other_tasks && probe->site_count && probe->sites[0].is_about_task)
			return true;
	}
	return false;
}

static struct ray_error *code_make(struct ray_trace *t, const struct targets *targets)
{
	struct target *errors = target_find((struct targets *)targets, ERROR_ID);

	if (errors) {
		t->error_clause_count = errors->clauses.n;
		t->error_clauses = ray_arena_alloc(t->arena, sizeof(*t->error_clauses) * errors->clauses.n);
		if (!t->error_clauses)
			return &ray_enomem;
		memcpy(t->error_clauses, errors->clauses.at, sizeof(*t->error_clauses) * errors->clauses.n);
	}
	ray_entry_emit_fault(t, &t->fault_code);
	if (!ray_piece_finish(&t->fault_code))
		return &ray_enomem;
	for (size_t i = 0; i < t->entries.n; i++) {
		ray_entry_emit(t, t->entries.at[i]);
		if (!ray_piece_finish(&t->entries.at[i]->code) || !ray_piece_finish(&t->entries.at[i]->step))
			return ray_error_new(RAY_FAILED, "the program for %s is too long", t->entries.at[i]->code.name);
	}
	return NULL;
}

/* ---- probes that come later ---- */

/* A clause that may get more probes has its place in a program for uprobes from the start: code cannot be added to one that is loaded. */
static struct ray_error *place_reserve(struct ray_trace *t, const struct ray_clause *clause, enum ray_site_kind kind)
{
	const struct ray_site site = { .kind = kind };
	struct ray_entry *e = NULL;

	for (size_t i = 0; i < t->entries.n && !e; i++)
		if (takes(t->entries.at[i], &site, &clause, 1))
			e = t->entries.at[i];
	if (!e)
		e = ray_entry_create(t, &site);
	if (!e)
		return &ray_enomem;
	e->grows = true;
	clause_add(e, clause);
	return NULL;
}

static bool may_return(const struct ray_clause *clause)
{
	for (size_t i = 0; i < clause->spec_count; i++)
		if (!strncmp(clause->specs[i].provider, "pid", 3) && ray_glob_matches(clause->specs[i].name, "return"))
			return true;
	return false;
}

static struct ray_error *places_reserve(struct ray_trace *t)
{
	struct ray_error *err = NULL;

	for (size_t i = 0; i < t->program->clauses.n && !err; i++) {
		const struct ray_clause *clause = t->program->clauses.at[i];

		if (!ray_trace_may_grow(t, clause))
			continue;
		err = place_reserve(t, clause, RAY_SITE_UPROBE);
		if (!err && may_return(clause))
			err = place_reserve(t, clause, RAY_SITE_URETPROBE);
	}
	return err;
}

struct ray_error *ray_point_add_late(struct ray_trace *t, const struct ray_point *point, uint32_t *ret)
{
	bool is_used = t->free_points.n > 0;
	uint32_t number = is_used ? t->free_points.at[t->free_points.n - 1] : (uint32_t)t->points.n;

	if (bpf_map_update_elem(t->maps[RAY_LINK_POINTS], &number, point, BPF_ANY))
		return ray_error_new(RAY_FAILED, "no room for more probes of processes that come later");
	if (is_used)
		t->free_points.n--;
	else if (!ray_vec_push(&t->points, *point))
		return &ray_enomem;
	*ret = number;
	return NULL;
}

static struct ray_error *late_add(struct ray_trace *t, struct ray_entry *e, const struct target *target,
				  const struct ray_site *site)
{
	struct ray_point point = { 0 };
	struct ray_error *err;
	uint32_t number;

	if (e->kind != site->kind || e->is_watch)
		return NULL;
	point_fill(e, site, target, &point);
	if (!point.clauses[0] && !point.clauses[1])
		return NULL;
	err = ray_point_add_late(t, &point, &number);
	if (err)
		return err;
	return ray_uprobe_add_late(t, e, site, number);
}

struct ray_error *ray_entries_add_late(struct ray_trace *t, struct ray_probe *probe)
{
	struct target target = { .probe = probe };
	struct ray_error *err = ray_probe_sites(t->catalogue, probe);

	for (size_t i = 0; i < t->program->clauses.n && !err; i++)
		for (size_t k = 0; k < t->program->clauses.at[i]->probes.n && !err; k++)
			if (t->program->clauses.at[i]->probes.at[k] == probe &&
			    !ray_vec_push(&target.clauses, t->program->clauses.at[i]))
				err = &ray_enomem;
	if (!err)
		err = ray_maps_name_probe(t, probe);
	for (size_t i = 0; i < t->entries.n && !err; i++)
		for (size_t k = 0; k < probe->site_count && !err; k++)
			err = late_add(t, t->entries.at[i], &target, &probe->sites[k]);
	for (size_t k = 0; k < probe->site_count && !err; k++)
		if (probe->sites[k].kind == RAY_SITE_WATCH)
			err = ray_watch_add_late(t, probe, &probe->sites[k], target.clauses.at, target.clauses.n);
	ray_vec_free(&target.clauses);
	return err;
}

struct ray_error *ray_entries_create(struct ray_trace *t)
{
	auto_targets targets = { 0 };
	struct ray_error *err = targets_collect(t->program, &targets);

	for (size_t i = 0; i < targets.all.n && !err; i++)
		err = target_place(t, &targets.all.at[i]);
	if (!err)
		err = places_reserve(t);
	if (!err)
		err = ray_watches_place(t);
	for (size_t i = 0; i < t->entries.n && !err; i++)
		err = t->entries.at[i]->is_watch ? NULL : points_make(t, t->entries.at[i], &targets);
	return err ? err : code_make(t, &targets);
}
