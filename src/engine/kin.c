/* kin.c - see kin.h. SPDX-License-Identifier: MIT */
#include "engine/kin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/follow.h"
#include "engine/maps.h"
#include "engine/progeny.h"
#include "probe/provider.h"

enum {
	SPARES = 16,		 /* of one program: how many may start until we look */
	FIXED_CODE = 0x7fffffff, /* below: at the same address in every process */
};

/* A program. */
struct kind {
	uint64_t inode;
	uint32_t dev;
	const struct ray_watch *like; /* a process of it */
	uint64_t events;
};

struct spare {
	const struct kind *kind; /* NULL: not in use */
	struct ray_probe *probes[RAY_NODE_EVENT_COUNT];
};

struct ray_kins {
	struct ray_kin *at; /* mapped */
	struct spare spares[RAY_KIN_COUNT];
	struct kind kinds[RAY_KIN_COUNT / SPARES];
	size_t kind_count;
	uint64_t taken; /* as far as we know */
};

void ray_kins_free(struct ray_kins *k)
{
	if (!k)
		return;
	if (k->at)
		munmap(k->at, sizeof(*k->at) * RAY_KIN_COUNT);
	free(k);
}

/* ---- what is wanted of a process that nobody knows ---- */

/* nodeN whatever N is. */
static bool is_any_process(const char *provider)
{
	size_t plain = strcspn(provider, "*");

	return !*provider || (plain <= 4 && !strncmp(provider, "node", plain) && !strcmp(provider + plain, "*"));
}

static bool wants(const struct ray_trace *t, const struct ray_clause *clause, const char *module, uint64_t events)
{
	for (size_t i = 0; i < clause->spec_count; i++) {
		const struct ray_probe_spec *spec = &clause->specs[i];

		if (is_any_process(spec->provider) && ray_watch_events(spec) & events &&
		    ray_catalogue_may_grow(t->catalogue, spec) && (!module || ray_glob_matches(spec->module, module)))
			return true;
	}
	return false;
}

struct ray_error *ray_kin_prepare(struct ray_trace *t)
{
	for (size_t i = 0; i < t->watch_clauses.n; i++)
		if (wants(t, t->watch_clauses.at[i], NULL, ~0ULL))
			return ray_keeper_add(t, "sched_process_exec", 0,
					      ray_progeny_is_wanted(t) ? "ray_kin_exec_followed" : "ray_kin_exec");
	return NULL;
}

struct ray_error *ray_kin_create(struct ray_trace *t)
{
	struct ray_error *err;
	void *at;

	t->kins = calloc(1, sizeof(*t->kins));
	if (!t->kins)
		return &ray_enomem;
	err = ray_map_array_create("node_kin", sizeof(struct ray_kin), RAY_KIN_COUNT, &t->maps[RAY_LINK_NODE_KIN]);
	if (!err)
		err = ray_map_array_open(t->maps[RAY_LINK_NODE_KIN], sizeof(struct ray_kin) * RAY_KIN_COUNT, &at);
	if (!err)
		t->kins->at = at;
	return err;
}

/* ---- offers ---- */

static struct ray_error *point_fill(struct ray_trace *t, const struct kind *kind, uint32_t event, struct spare *spare,
				    struct ray_watched *node)
{
	struct ray_node_point *point = &node->points[event];
	struct ray_error *err = NULL;
	bool is_wanted = false;

	for (size_t i = 0; i < t->watch_clauses.n; i++) {
		if (!wants(t, t->watch_clauses.at[i], kind->like->module, 1ULL << event))
			continue;
		point->clauses[i / 64] |= 1ULL << i % 64;
		is_wanted = true;
	}
	if (!is_wanted)
		return NULL;
	if (!spare->probes[event])
		err = ray_watch_reserve(t->catalogue, kind->like, event, &spare->probes[event]);
	if (!err)
		err = ray_maps_name_probe(t, spare->probes[event]);
	if (err)
		return err;
	point->probe = spare->probes[event]->id;
	node->wanted |= 1ULL << event;
	return NULL;
}

/* What can be known of a process before it is looked at. */
static struct ray_error *node_fill(struct ray_trace *t, const struct kind *kind, struct spare *spare,
				   struct ray_watched *node)
{
	struct ray_error *err = NULL;

	*node = kind->like->node;
	node->wanted = 0;
	memset(node->points, 0, sizeof(node->points));
	for (size_t i = 0; i < RAY_NODE_CODES; i++)
		if (node->code[i] > FIXED_CODE)
			node->code[i] = 0;
	for (uint32_t event = 1; event < RAY_NODE_EVENT_COUNT && !err; event++)
		if (kind->events >> event & 1)
			err = point_fill(t, kind, event, spare, node);
	return err;
}

/* An element that the kernel does not look at meanwhile; false: a process has just taken it. */
static bool hold(struct ray_kin *kin)
{
	uint32_t nobody = 0;

	return __atomic_compare_exchange_n(&kin->tgid, &nobody, RAY_KIN_HELD, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* The element is held. */
static struct ray_error *release(struct ray_trace *t, size_t i)
{
	struct ray_kin *kin = &t->kins->at[i];
	struct spare *spare = &t->kins->spares[i];
	struct ray_error *err = node_fill(t, spare->kind, spare, &kin->node);

	if (err)
		return err;
	kin->dev = spare->kind->dev;
	kin->inode = spare->kind->inode;
	kin->born = 0;
	__atomic_store_n(&kin->tgid, 0, __ATOMIC_SEQ_CST);
	return NULL;
}

/* The kind of a process, made if there is room; NULL: there is none, or the process has ended. */
static struct kind *kind_of(struct ray_kins *k, const struct ray_watch *watch)
{
	ray_auto(ray_error, err) = NULL;
	struct ray_program_key key;

	err = ray_program_key_of(watch->pid, &key);
	if (err)
		return NULL;
	for (size_t i = 0; i < k->kind_count; i++)
		if (k->kinds[i].inode == key.inode && k->kinds[i].dev == key.dev)
			return &k->kinds[i];
	if (k->kind_count == RAY_COUNT(k->kinds))
		return NULL;
	k->kinds[k->kind_count] = (struct kind){ .inode = key.inode, .dev = key.dev };
	return &k->kinds[k->kind_count++];
}

struct ray_error *ray_kin_offer(struct ray_trace *t, struct ray_watch *watch)
{
	struct ray_error *err = NULL;
	struct kind *kind;
	size_t first;

	if (!t->kins || watch->offered == watch->events)
		return NULL;
	watch->offered = watch->events;
	kind = kind_of(t->kins, watch);
	/* One that has not mapped all of its libraries yet knows less. */
	if (!kind || !(watch->events & ~kind->events))
		return NULL;
	kind->like = watch;
	kind->events = watch->events;
	first = (size_t)(kind - t->kins->kinds) * SPARES;
	for (size_t i = first; i < first + SPARES && !err; i++) {
		t->kins->spares[i].kind = kind;
		if (hold(&t->kins->at[i]))
			err = release(t, i);
	}
	return err;
}

/* ---- what was taken ---- */

static bool is_taken(const struct ray_kin *kin)
{
	uint32_t tgid = __atomic_load_n(&kin->tgid, __ATOMIC_SEQ_CST);

	return tgid && tgid != RAY_KIN_HELD && __atomic_load_n(&kin->born, __ATOMIC_SEQ_CST);
}

bool ray_kin_has(const struct ray_trace *t, pid_t pid)
{
	for (size_t i = 0; t->kins && i < RAY_KIN_COUNT; i++)
		if (t->kins->at[i].tgid == (uint32_t)pid)
			return true;
	return false;
}

static struct ray_error *name_probes(struct ray_trace *t, const struct spare *spare, struct ray_watch *watch)
{
	struct ray_error *err = NULL;
	char provider[32];

	snprintf(provider, sizeof(provider), "node%d", watch->pid);
	for (size_t i = 0; i < RAY_NODE_EVENT_COUNT && !err; i++) {
		struct ray_probe *probe = spare->probes[i];

		if (!probe)
			continue;
		err = ray_catalogue_name(t->catalogue, probe, provider);
		probe->pid = watch->pid;
		probe->data = watch;
		if (!err)
			err = ray_maps_name_probe(t, probe);
	}
	return err;
}

static struct ray_error *adopt(struct ray_trace *t, size_t i)
{
	struct ray_kin *kin = &t->kins->at[i];
	struct spare *spare = &t->kins->spares[i];
	pid_t pid = (pid_t)kin->tgid;
	struct ray_watch *watch;
	struct ray_error *err;

	ray_follow_replace(t, pid);
	err = ray_watch_adopt(t->catalogue, spare->kind->like, pid, &watch);
	if (err)
		return err;
	watch->node = kin->node;
	watch->born = kin->born;
	err = name_probes(t, spare, watch);
	if (!err && !ray_vec_push(&t->watches, watch))
		err = &ray_enomem;
	memset(spare->probes, 0, sizeof(spare->probes));
	return err ? err : release(t, i);
}

struct ray_error *ray_kin_adopt(struct ray_trace *t)
{
	struct ray_error *err = NULL;

	if (!t->kins || t->kins->taken == t->state->kin_taken)
		return NULL;
	t->kins->taken = t->state->kin_taken;
	for (size_t i = 0; i < RAY_KIN_COUNT && !err; i++)
		if (is_taken(&t->kins->at[i]))
			err = adopt(t, i);
	return err;
}

const struct ray_probe *ray_trace_probe(struct ray_trace *t, uint32_t id)
{
	const struct ray_probe *probe = ray_catalogue_probe(t->catalogue, id);

	/* Without memory it is a node without a number. */
	if (probe && probe->is_reserved)
		ray_error_free(ray_kin_adopt(t));
	return probe;
}
