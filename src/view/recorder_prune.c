/* recorder_prune.c - a profile that grows without end is thinned out. See recorder_internal.h. SPDX-License-Identifier: MIT
 *
 * A program that makes code for ever has new functions for ever. When there are too many, calls that weigh next to nothing are folded into one
 * child of their caller, "[rarely seen]": sums stay what they are, and what matters keeps its place. Numbers of functions, frames and nodes change. */
#include <stdlib.h>
#include <string.h>

#include "view/recorder_internal.h"

struct pruning {
	const struct ray_profile *old;
	struct ray_profile *new;
	int64_t *total; /* of each old node */
	int64_t least;	/* that a node must weigh to stay */
	/* From an old number to the new one; 0: it has none yet. */
	uint32_t *functions, *frames, *nodes;
	bool *is_folded; /* by old node */
};

static void deinit(struct pruning *p)
{
	ray_profile_free(p->new);
	free(p->total);
	free(p->functions);
	free(p->frames);
	free(p->nodes);
	free(p->is_folded);
}

static bool init(struct pruning *p, const struct ray_profile *old)
{
	int64_t *self = NULL;

	*p = (struct pruning){ .old = old };
	p->new = ray_profile_create();
	p->functions = calloc(old->functions.n, sizeof(*p->functions));
	p->frames = calloc(old->frames.n, sizeof(*p->frames));
	p->nodes = calloc(old->nodes.n, sizeof(*p->nodes));
	p->is_folded = calloc(old->nodes.n, sizeof(*p->is_folded));
	if (!p->new || !p->functions || !p->frames || !p->nodes || !p->is_folded ||
	    !ray_profile_sum(old, UINT32_MAX, &self, &p->total))
		return false;
	free(self);
	return true;
}

/* ---- what stays ---- */

/* How many nodes and functions stay if a node must weigh that much. p->functions is used for counting. */
static void count(struct pruning *p, int64_t least, size_t *nodes_ret, size_t *functions_ret)
{
	memset(p->functions, 0, p->old->functions.n * sizeof(*p->functions));
	*nodes_ret = *functions_ret = 0;
	for (size_t i = 1; i < p->old->nodes.n; i++) {
		uint32_t function = p->old->frames.at[p->old->nodes.at[i].frame].function;

		if (p->total[i] < least)
			continue;
		++*nodes_ret;
		*functions_ret += !p->functions[function];
		p->functions[function] = 1;
	}
	memset(p->functions, 0, p->old->functions.n * sizeof(*p->functions));
}

/* So that half of what there may be is left. */
static void choose_least(struct pruning *p, size_t most_nodes, size_t most_functions)
{
	size_t nodes, functions;

	for (p->least = 2; p->least < INT64_MAX / 2; p->least *= 2) {
		count(p, p->least, &nodes, &functions);
		if ((!most_nodes || nodes <= most_nodes / 2) && (!most_functions || functions <= most_functions / 2))
			return;
	}
}

static uint32_t new_function(struct pruning *p, uint32_t old)
{
	if (!p->functions[old])
		p->functions[old] = ray_profile_function(p->new, &p->old->functions.at[old]);
	return p->functions[old];
}

static uint32_t new_frame(struct pruning *p, uint32_t old)
{
	struct ray_profile_frame frame = p->old->frames.at[old];

	if (!p->frames[old]) {
		frame.function = new_function(p, frame.function);
		p->frames[old] = ray_profile_frame(p->new, &frame);
	}
	return p->frames[old];
}

static uint32_t rare_child(struct pruning *p, uint32_t parent)
{
	struct ray_profile_function rare = {
		.kind = RAY_KIND_UNKNOWN, .name = "[rarely seen]", .file = "", .package = ""
	};
	struct ray_profile_frame frame = { .function = ray_profile_function(p->new, &rare) };

	return ray_profile_node(p->new, parent, ray_profile_frame(p->new, &frame));
}

static void move_nodes(struct pruning *p)
{
	for (size_t i = 1; i < p->old->nodes.n; i++) {
		uint32_t parent = p->old->nodes.at[i].parent;

		if (p->is_folded[parent]) {
			p->is_folded[i] = true;
			p->nodes[i] = p->nodes[parent];
		} else if (p->total[i] < p->least) {
			p->is_folded[i] = true;
			p->nodes[i] = rare_child(p, p->nodes[parent]);
		} else {
			p->nodes[i] =
				ray_profile_node(p->new, p->nodes[parent], new_frame(p, p->old->nodes.at[i].frame));
		}
	}
}

/* ---- the recorder's own tables ---- */

/* A function that is not in the profile any more is new when it is next seen. Texts of the old profile are still there. */
static void move_functions(struct pruning *p, struct ray_recorder_stacks *s)
{
	struct ray_recorder_table old = s->functions;
	struct ray_recorder_function *list = s->list.at;

	s->functions = (struct ray_recorder_table){ 0 };
	s->list.at = NULL;
	s->list.n = s->list.cap = 0;
	ray_hashmap_each(&old.rows, row)
	{
		struct ray_recorder_function f;
		struct ray_recorder_row *own;
		uint64_t key[4];

		if (!row->value)
			continue;
		f = list[row->value - 1];
		f.function = p->functions[f.function];
		if (!f.function)
			continue;
		f.name = ray_profile_text(p->new, f.name);
		memcpy(key, row->key, sizeof(key));
		key[0] = (uintptr_t)ray_profile_text(p->new, (const char *)(uintptr_t)key[0]);
		key[1] = (uintptr_t)ray_profile_text(p->new, (const char *)(uintptr_t)key[1]);
		own = ray_recorder_table_get(&s->functions, key);
		if (own && ray_vec_push(&s->list, f))
			own->value = (uint32_t)s->list.n;
	}
	ray_recorder_table_deinit(&old);
	free(list);
}

/* ---- all of it ---- */

#define SWAP(a, b)                      \
	do {                            \
		__typeof__(a) c_ = (a); \
		(a) = (b);              \
		(b) = c_;               \
	} while (0)

/* Puts the new tables into the old profile, which stays where it is. */
static void exchange(struct ray_profile *p, struct ray_profile *new)
{
	const char **texts[] = { &p->title, &p->event, &p->command, &p->host, &p->node_version, &p->before_title };

	for (size_t i = 0; i < RAY_COUNT(texts); i++)
		*texts[i] = ray_profile_text(new, *texts[i]);
	SWAP(p->functions, new->functions);
	SWAP(p->frames, new->frames);
	SWAP(p->nodes, new->nodes);
	SWAP(p->threads, new->threads);
	SWAP(p->arena, new->arena);
	SWAP(p->index, new->index);
	p->failed |= new->failed;
}

bool ray_recorder_prune(struct ray_recorder_stacks *s, struct ray_profile *profile, size_t most_nodes,
			size_t most_functions, uint32_t **nodes_ret)
{
	struct pruning p;

	if (!init(&p, profile)) {
		deinit(&p);
		return false;
	}
	choose_least(&p, most_nodes, most_functions);
	move_nodes(&p);
	for (size_t i = 0; i < profile->threads.n; i++)
		ray_profile_thread(p.new, &profile->threads.at[i]);
	if (p.new->failed) {
		deinit(&p);
		return false;
	}
	move_functions(&p, s);
	for (size_t i = 0; i < profile->samples.n; i++)
		profile->samples.at[i].node = p.nodes[profile->samples.at[i].node];
	exchange(profile, p.new);
	ray_recorder_table_deinit(&s->nodes);
	ray_recorder_table_deinit(&s->frames);
	*nodes_ret = p.nodes;
	p.nodes = NULL;
	deinit(&p);
	return true;
}
