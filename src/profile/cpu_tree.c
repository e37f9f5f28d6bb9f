/* cpu_tree.c - see cpu_tree.h. SPDX-License-Identifier: MIT */
#include "profile/cpu_tree.h"

#include <stdlib.h>
#include <string.h>

#include "profile/reading.h"
#include "profile/timeline.h"

enum { NONE = UINT32_MAX };

struct tick {
	int line;
	uint32_t left; /* samples of this line that are not given out yet */
};

struct node {
	int64_t id;
	uint32_t function; /* of the profile; 0: a root, or the node of a thread */
	uint32_t parent;   /* index; NONE */
	uint32_t made;	   /* its node in the profile, plus 1; 0: not yet */
	uint32_t depth;
	uint32_t thread; /* plus 1; 0: that of its parent */
	double start_us; /* of that thread */
	size_t tick, tick_end;
	bool is_gap, is_open;
};

struct link {
	int64_t parent, child; /* ids */
};

struct ray_cpu_tree {
	struct ray_profile *p;
	RAY_VEC(struct node) nodes;
	RAY_VEC(struct link) links;
	RAY_VEC(struct tick) ticks;
	RAY_VEC(int64_t) samples;
	RAY_VEC(int64_t) deltas;
	RAY_VEC(uint32_t) path;
};

struct ray_cpu_tree *ray_cpu_tree_create(struct ray_profile *p)
{
	struct ray_cpu_tree *t = calloc(1, sizeof(*t));

	if (t)
		t->p = p;
	return t;
}

void ray_cpu_tree_free(struct ray_cpu_tree *t)
{
	if (!t)
		return;
	ray_vec_free(&t->nodes);
	ray_vec_free(&t->links);
	ray_vec_free(&t->ticks);
	ray_vec_free(&t->samples);
	ray_vec_free(&t->deltas);
	ray_vec_free(&t->path);
	free(t);
}

/* ---- reading ---- */

static const char *read_text(struct ray_cpu_tree *t, struct ray_pull *j)
{
	struct ray_pull_text text = ray_pull_text(j);

	return ray_reading_text(t->p, text.bytes, text.length);
}

static void read_call_frame(struct ray_cpu_tree *t, struct ray_pull *j, struct node *node)
{
	struct ray_reading_function f = { .name = "", .file = "" };
	struct ray_pull_text key;

	for (ray_pull_object(j); ray_pull_key(j, &key);) {
		if (!strcmp(key.bytes, "functionName"))
			f.name = read_text(t, j);
		else if (!strcmp(key.bytes, "url"))
			f.file = read_text(t, j);
		else if (!strcmp(key.bytes, "lineNumber"))
			f.line = ray_reading_line(ray_pull_number(j) + 1);
		else if (!strcmp(key.bytes, "columnNumber"))
			f.column = ray_reading_line(ray_pull_number(j) + 1);
		else if (!strcmp(key.bytes, "kind") && ray_pull_peek(j) == '"')
			f.kind = read_text(t, j);
		else
			ray_pull_skip(j);
	}
	if (strcmp(f.name, "(root)"))
		node->function = ray_reading_function(t->p, &f);
}

static void read_thread(struct ray_cpu_tree *t, struct ray_pull *j, struct node *node)
{
	struct ray_profile_thread thread = { 0 };
	struct ray_pull_text key;

	for (ray_pull_object(j); ray_pull_key(j, &key);) {
		if (!strcmp(key.bytes, "pid"))
			thread.pid = (uint32_t)ray_pull_integer(j);
		else if (!strcmp(key.bytes, "tid"))
			thread.tid = (uint32_t)ray_pull_integer(j);
		else if (!strcmp(key.bytes, "name"))
			thread.name = read_text(t, j);
		else if (!strcmp(key.bytes, "process"))
			thread.process = read_text(t, j);
		else if (!strcmp(key.bytes, "start"))
			node->start_us = ray_pull_number(j);
		else
			ray_pull_skip(j);
	}
	node->thread = ray_profile_thread(t->p, &thread) + 1;
}

static void read_ticks(struct ray_cpu_tree *t, struct ray_pull *j, struct node *node)
{
	node->tick = t->ticks.n;
	for (ray_pull_array(j); ray_pull_item(j);) {
		struct tick tick = { 0 };
		struct ray_pull_text key;

		for (ray_pull_object(j); ray_pull_key(j, &key);) {
			if (!strcmp(key.bytes, "line"))
				tick.line = ray_reading_line(ray_pull_number(j));
			else if (!strcmp(key.bytes, "ticks"))
				tick.left = (uint32_t)ray_reading_line(ray_pull_number(j));
			else
				ray_pull_skip(j);
		}
		if (!ray_vec_push(&t->ticks, tick))
			t->p->failed = true;
	}
	node->tick_end = t->ticks.n;
}

static void read_children(struct ray_cpu_tree *t, struct ray_pull *j)
{
	for (ray_pull_array(j); ray_pull_item(j);)
		if (!ray_vec_push(&t->links, (struct link){ 0, ray_pull_integer(j) }))
			t->p->failed = true;
}

static void read_node(struct ray_cpu_tree *t, struct ray_pull *j)
{
	struct node node = { .parent = NONE };
	size_t first = t->links.n;
	struct ray_pull_text key;
	bool has_id = false;

	for (ray_pull_object(j); ray_pull_key(j, &key);) {
		if (!strcmp(key.bytes, "id")) {
			node.id = ray_pull_integer(j);
			has_id = true;
		} else if (!strcmp(key.bytes, "callFrame")) {
			read_call_frame(t, j, &node);
		} else if (!strcmp(key.bytes, "children")) {
			read_children(t, j);
		} else if (!strcmp(key.bytes, "positionTicks")) {
			read_ticks(t, j, &node);
		} else if (!strcmp(key.bytes, "thread")) {
			read_thread(t, j, &node);
		} else if (!strcmp(key.bytes, "gap")) {
			node.is_gap = true;
			ray_pull_skip(j);
		} else if (!strcmp(key.bytes, "parent")) {
			/* Chrome's traces name the parent instead: the id of this one is filled in below. */
			if (!ray_vec_push(&t->links, (struct link){ ray_pull_integer(j), INT64_MIN }))
				t->p->failed = true;
		} else {
			ray_pull_skip(j);
		}
	}
	if (!has_id)
		ray_pull_fail(j, "a node without an id");
	for (size_t i = first; i < t->links.n; i++)
		if (t->links.at[i].child == INT64_MIN)
			t->links.at[i].child = node.id;
		else
			t->links.at[i].parent = node.id;
	if (node.thread)
		node.function = 0;
	if (!ray_vec_push(&t->nodes, node))
		t->p->failed = true;
}

void ray_cpu_tree_nodes(struct ray_cpu_tree *t, struct ray_pull *j)
{
	for (ray_pull_array(j); ray_pull_item(j);)
		read_node(t, j);
}

void ray_cpu_tree_samples(struct ray_cpu_tree *t, struct ray_pull *j)
{
	for (ray_pull_array(j); ray_pull_item(j);)
		if (!ray_vec_push(&t->samples, ray_pull_integer(j)))
			t->p->failed = true;
}

void ray_cpu_tree_deltas(struct ray_cpu_tree *t, struct ray_pull *j)
{
	for (ray_pull_array(j); ray_pull_item(j);)
		if (!ray_vec_push(&t->deltas, ray_pull_integer(j)))
			t->p->failed = true;
}

/* ---- joining ---- */

static int by_id(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static struct node *find(struct ray_cpu_tree *t, int64_t id)
{
	struct node key = { .id = id };

	return t->nodes.n ? bsearch(&key, t->nodes.at, t->nodes.n, sizeof(key), by_id) : NULL;
}

static struct ray_error *join(struct ray_cpu_tree *t)
{
	if (t->nodes.n)
		qsort(t->nodes.at, t->nodes.n, sizeof(*t->nodes.at), by_id);
	for (size_t i = 1; i < t->nodes.n; i++)
		if (t->nodes.at[i].id == t->nodes.at[i - 1].id)
			return ray_error_new(RAY_UNREADABLE, "two nodes have the id %jd", (intmax_t)t->nodes.at[i].id);
	for (size_t i = 0; i < t->links.n; i++) {
		struct node *parent = find(t, t->links.at[i].parent), *child = find(t, t->links.at[i].child);

		if (!parent || !child)
			return ray_error_new(RAY_UNREADABLE, "there is no node %jd",
					     (intmax_t)(parent ? t->links.at[i].child : t->links.at[i].parent));
		child->parent = (uint32_t)(parent - t->nodes.at);
	}
	return NULL;
}

/* What is above it, up to what is made already; the outermost comes last. */
static struct ray_error *collect_path(struct ray_cpu_tree *t, struct node *node)
{
	t->path.n = 0;
	for (;;) {
		if (node->is_open || t->path.n > RAY_READING_DEPTH)
			return ray_error_new(RAY_UNREADABLE,
					     node->is_open ? "the calls of node %jd go in a circle" :
							     "the stack of node %jd is too deep",
					     (intmax_t)node->id);
		if (node->made)
			return NULL;
		node->is_open = true;
		if (!ray_vec_push(&t->path, (uint32_t)(node - t->nodes.at)))
			return &ray_enomem;
		if (node->parent == NONE)
			return NULL;
		node = &t->nodes.at[node->parent];
	}
}

static struct ray_error *make(struct ray_cpu_tree *t, struct node *node)
{
	struct ray_error *err = collect_path(t, node);

	for (size_t i = t->path.n; !err && i-- > 0;) {
		struct node *at = &t->nodes.at[t->path.at[i]];
		const struct node *parent = at->parent == NONE ? NULL : &t->nodes.at[at->parent];
		uint32_t below = parent ? parent->made - 1 : 0;

		at->depth = parent ? parent->depth + 1 : 0;
		if (at->depth > RAY_READING_DEPTH)
			return ray_error_new(RAY_UNREADABLE, "the stack of node %jd is too deep", (intmax_t)at->id);
		if (parent && !at->thread) {
			at->thread = parent->thread;
			at->start_us = parent->start_us;
		}
		at->made = (at->function ? ray_reading_node(t->p, below, at->function, 0, 0) : below) + 1;
		at->is_open = false;
	}
	return err;
}

/* The node with the line that ran: which sample had which is not told, only how many. */
static uint32_t with_line(struct ray_cpu_tree *t, struct node *node)
{
	while (node->tick < node->tick_end && !t->ticks.at[node->tick].left)
		node->tick++;
	if (node->tick == node->tick_end || !node->function)
		return node->made - 1;
	t->ticks.at[node->tick].left--;
	return ray_reading_node(t->p, t->p->nodes.at[node->made - 1].parent, node->function,
				t->ticks.at[node->tick].line, 0);
}

/* ---- samples ---- */

/* When a sample was taken, and which of the file's it is. */
struct moment {
	double at_us;
	size_t number;
};

static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->at_us != y->at_us)
		return x->at_us < y->at_us ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* V8's are not always in order: some are taken by the thread itself, others by the one that watches it. A sample lasts until the next in time. */
static struct moment *find_moments(const struct ray_cpu_tree *t, double start_us)
{
	struct moment *moments = calloc(t->samples.n + 1, sizeof(*moments));

	for (size_t i = 0; moments && i < t->samples.n; i++) {
		start_us += (double)t->deltas.at[i];
		moments[i] = (struct moment){ start_us, i };
	}
	if (moments)
		qsort(moments, t->samples.n, sizeof(*moments), by_time);
	return moments;
}

static struct ray_error *add_sample(struct ray_cpu_tree *t, const struct ray_cpu_times *times, uint32_t thread,
				    size_t number, double at_us, double length_us)
{
	struct node *node = find(t, t->samples.at[number]);
	struct ray_profile_sample s = { .thread = thread, .count = 1 };
	struct ray_error *err;
	double time;

	if (!node)
		return ray_error_new(RAY_UNREADABLE, "sample %zu is of node %jd, which is not there", number + 1,
				     (intmax_t)t->samples.at[number]);
	err = make(t, node);
	if (err || (times->is_ours && node->is_gap))
		return err;
	s.node = with_line(t, node);
	if (node->thread)
		s.thread = node->thread - 1;
	s.weight = times->is_ours ? ray_timeline_weight(t->p, length_us * 1000) : ray_reading_weight(length_us * 1000);
	time = (at_us - node->start_us + (t->p->unit == RAY_UNIT_NS ? length_us : 0)) * 1000;
	s.time_ns = t->p->has_times ? ray_reading_time(time) : 0;
	ray_profile_add(t->p, &s);
	return NULL;
}

struct ray_error *ray_cpu_tree_finish(struct ray_cpu_tree *t, const struct ray_cpu_times *times)
{
	ray_auto_memory struct moment *moments = NULL;
	struct ray_error *err = join(t);
	uint32_t thread = 0;
	bool has_threads = false;

	if (!err && t->deltas.n != t->samples.n)
		return ray_error_new(RAY_UNREADABLE, "%zu samples, but %zu times between them", t->samples.n,
				     t->deltas.n);
	for (size_t i = 0; i < t->nodes.n; i++)
		has_threads = has_threads || t->nodes.at[i].thread;
	if (!has_threads)
		thread = ray_profile_thread(t->p, &times->thread);
	moments = err ? NULL : find_moments(t, times->start_us);
	if (!err && !moments)
		return &ray_enomem;
	for (size_t i = 0; !err && i < t->samples.n; i++) {
		const struct moment *m = &moments[i];
		double length = (i + 1 < t->samples.n ? m[1].at_us : times->end_us) - m->at_us;

		/* The last one of a trace has no end, and one of a profile may be behind it. */
		if (i + 1 == t->samples.n && !times->end_us)
			length = i ? m->at_us - m[-1].at_us : 0;
		err = add_sample(t, times, thread, m->number, m->at_us, length > 0 ? length : 0);
	}
	return err;
}
