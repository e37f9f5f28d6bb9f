/* block.c - see block.h. SPDX-License-Identifier: MIT */
#include "view/block.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/vec.h"
#include "view/frames.h"
#include "view/live.h"
#include "view/tally.h"
#include "view/way.h"

struct stack {
	char *text;
	uint64_t count, ns;
};

struct sample {
	uint64_t time_ns;
	size_t stack; /* number of it */
};

/* What is known of the callback that runs, or ran last, on one thread. */
struct thread {
	uint32_t pid, tid;
	uint64_t since_ns; /* 0: none */
	RAY_VEC(struct sample) samples;
	RAY_VEC(struct stack) stacks;
};

/* One that was too long. */
struct block {
	uint64_t end_ns, ns, request;
	uint64_t cpu_ns;	      /* of it on a CPU, to some milliseconds */
	const char *phase, *callback; /* NULL: it has not ended, and is not told yet */
	int64_t fd;
};

struct ray_block_view {
	struct ray_block_options options;
	FILE *out;
	struct ray_text line;
	RAY_VEC(struct thread) threads;
	uint64_t count, ns, longest;
	bool failed;
};

/* ---- life ---- */

struct ray_block_view *ray_block_view_create(const struct ray_block_options *options, FILE *out)
{
	struct ray_block_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->options = *options;
	v->out = out;
	return v;
}

static void forget(struct thread *t)
{
	for (size_t i = 0; i < t->stacks.n; i++)
		free(t->stacks.at[i].text);
	t->stacks.n = t->samples.n = 0;
	t->since_ns = 0;
}

static void thread_free(struct thread *t)
{
	forget(t);
	ray_vec_free(&t->stacks);
	ray_vec_free(&t->samples);
}

void ray_block_view_free(struct ray_block_view *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->threads.n; i++)
		thread_free(&v->threads.at[i]);
	ray_vec_free(&v->threads);
	ray_text_deinit(&v->line);
	free(v);
}

/* ---- samples ---- */

static uint64_t number(const struct ray_fact *f, const char *name)
{
	return (uint64_t)ray_fact_number(f, name);
}

/* The thread, about the callback that began then: what is known of others is of no use any more. */
static struct thread *thread_get(struct ray_block_view *v, const struct ray_fact *f)
{
	uint64_t since = number(f, "since");
	struct thread *t = NULL;

	for (size_t i = 0; i < v->threads.n && !t; i++)
		if (v->threads.at[i].tid == f->tid && v->threads.at[i].pid == f->pid)
			t = &v->threads.at[i];
	if (!t) {
		if (!ray_vec_push(&v->threads, (struct thread){ .pid = f->pid, .tid = f->tid })) {
			v->failed = true;
			return NULL;
		}
		t = &v->threads.at[v->threads.n - 1];
	}
	if (t->since_ns != since)
		forget(t);
	t->since_ns = since;
	return t;
}

static bool stack_find(struct thread *t, const char *text, size_t *ret)
{
	struct stack new = { 0 };

	for (*ret = 0; *ret < t->stacks.n; ++*ret)
		if (!strcmp(t->stacks.at[*ret].text, text))
			return true;
	new.text = strdup(text);
	if (new.text && ray_vec_push(&t->stacks, new))
		return true;
	free(new.text);
	return false;
}

static void take_sample(struct ray_block_view *v, const struct ray_fact *f)
{
	struct sample sample = { .time_ns = f->time_ns };
	struct thread *t = thread_get(v, f);

	if (!t)
		return;
	if (!stack_find(t, ray_fact_text(f, "stack"), &sample.stack) || !ray_vec_push(&t->samples, sample))
		v->failed = true;
}

/* Each sample stands for the time up to the next; the first one for what came before it, too. */
static void weigh(struct thread *t, uint64_t end_ns)
{
	uint64_t from = t->since_ns;

	for (size_t i = 0; i < t->samples.n; i++) {
		uint64_t to = i + 1 < t->samples.n ? t->samples.at[i + 1].time_ns : end_ns;
		struct stack *s = &t->stacks.at[t->samples.at[i].stack];

		s->count++;
		s->ns += to > from ? to - from : 0;
		from = to > from ? to : from;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

/* ---- JSON ---- */

static void print_json(const struct thread *t, const struct block *b)
{
	json_t *o = json_object(), *stacks = json_array();

	json_object_set_new(o, "time", json_real((double)b->end_ns / 1e9));
	json_object_set_new(o, "pid", json_integer(t->pid));
	json_object_set_new(o, "tid", json_integer(t->tid));
	json_object_set_new(o, "block_ms", ray_json_ms(b->ns));
	json_object_set_new(o, "cpu_ms", b->phase ? ray_json_ms(b->cpu_ns) : json_null());
	json_object_set_new(o, "ended", json_boolean(b->phase));
	json_object_set_new(o, "phase", ray_json_text(b->phase));
	json_object_set_new(o, "callback", ray_json_text(b->callback));
	json_object_set_new(o, "fd", b->fd < 0 ? json_null() : json_integer(b->fd));
	json_object_set_new(o, "request", b->request ? json_integer((json_int_t)b->request) : json_null());
	for (size_t i = 0; i < t->stacks.n; i++)
		json_array_append_new(stacks, json_pack("{s:I,s:o,s:o}", "count", (json_int_t)t->stacks.at[i].count,
							"ms", ray_json_ms(t->stacks.at[i].ns), "frames",
							ray_frames_json(t->stacks.at[i].text)));
	json_object_set_new(o, "stacks", stacks);
	ray_json_print(o);
}

/* ---- text ---- */

static void print_way(struct ray_block_view *v, const struct thread *t)
{
	RAY_VEC(struct ray_way_stack) stacks = { 0 };

	for (size_t i = 0; i < t->stacks.n; i++)
		if (!ray_vec_push(&stacks, (struct ray_way_stack){ t->stacks.at[i].text, t->stacks.at[i].ns }))
			v->failed = true;
	if (!ray_way_print(stacks.at, stacks.n, v->options.width, &v->line))
		v->failed = true;
	ray_vec_free(&stacks);
}

static void print_text(struct ray_block_view *v, const struct thread *t, const struct block *b)
{
	char clock[32], time[24], cpu[24];

	ray_text_clear(&v->line);
	ray_text_printf(&v->line, "%s thread %u ", ray_view_clock(b->end_ns, 3, clock), t->tid);
	ray_duration_format(b->ns, time);
	if (b->phase)
		ray_text_printf(&v->line, "blocked for %s (CPU: %s) in %s, callback of %s", time,
				ray_duration_format(b->cpu_ns, cpu), b->phase, b->callback);
	else
		ray_text_printf(&v->line, "has been blocked for %s, and still is", time);
	if (b->fd >= 0)
		ray_text_printf(&v->line, " fd %" PRId64, b->fd);
	ray_text_add(&v->line, "\n");
	print_way(v, t);
	if (!t->samples.n)
		ray_text_add(&v->line, "  it was never seen on a CPU meanwhile\n");
	fputs(ray_text_get(&v->line), v->out);
}

static void print(struct ray_block_view *v, struct thread *t, const struct block *b)
{
	v->count++;
	v->ns += b->ns;
	v->longest = b->ns > v->longest ? b->ns : v->longest;
	weigh(t, b->end_ns);
	if (t->stacks.n)
		qsort(t->stacks.at, t->stacks.n, sizeof(*t->stacks.at), by_time);
	if (v->options.is_json)
		print_json(t, b);
	else
		print_text(v, t, b);
}

/* ---- facts ---- */

static void take_done(struct ray_block_view *v, const struct ray_fact *f)
{
	struct thread *t = thread_get(v, f);
	struct block b = { .end_ns = f->time_ns,
			   .ns = number(f, "ns"),
			   .cpu_ns = number(f, "cpu"),
			   .request = number(f, "request"),
			   .phase = ray_fact_text(f, "phase"),
			   .callback = ray_fact_text(f, "callback"),
			   .fd = ray_fact_number(f, "fd") };

	if (b.cpu_ns > b.ns) /* the scheduler's clock goes in steps */
		b.cpu_ns = b.ns;
	if (t && b.ns >= v->options.limit_ns)
		print(v, t, &b);
	if (t)
		forget(t);
}

static void take_gone(struct ray_block_view *v, const struct ray_fact *f)
{
	for (size_t i = 0; i < v->threads.n; i++) {
		if (v->threads.at[i].tid != number(f, "tid"))
			continue;
		thread_free(&v->threads.at[i]);
		v->threads.at[i] = v->threads.at[--v->threads.n];
		return;
	}
}

void ray_block_view_take(struct ray_block_view *v, const struct ray_fact *f)
{
	if (ray_fact_is(f, "sample"))
		take_sample(v, f);
	else if (ray_fact_is(f, "done"))
		take_done(v, f);
	else if (ray_fact_is(f, "gone"))
		take_gone(v, f);
	if (v->failed)
		fputs("noderay: there was no memory for all of it\n", stderr);
	v->failed = false;
}

static bool is_overdue(const struct ray_block_view *v, const struct thread *t, uint64_t epoch_ns)
{
	return t->since_ns && epoch_ns >= t->since_ns + v->options.limit_ns;
}

bool ray_block_view_overdue(const struct ray_block_view *v, uint64_t epoch_ns, struct ray_block_open *ret)
{
	for (size_t i = 0; i < v->threads.n; i++) {
		const struct thread *t = &v->threads.at[i];

		if (!is_overdue(v, t, epoch_ns))
			continue;
		*ret = (struct ray_block_open){ t->pid, t->tid, t->since_ns };
		return true;
	}
	return false;
}

void ray_block_view_finish(struct ray_block_view *v, uint64_t epoch_ns, uint64_t duration_ns)
{
	char limit[24], time[24], total[24], longest[24];

	for (size_t i = 0; i < v->threads.n; i++) {
		struct thread *t = &v->threads.at[i];

		if (is_overdue(v, t, epoch_ns) && v->options.is_there(t->pid, t->tid))
			print(v, t, &(struct block){ .end_ns = epoch_ns, .ns = epoch_ns - t->since_ns, .fd = -1 });
	}
	if (v->options.is_json)
		return;
	fprintf(v->out, "%s%" PRIu64 " callback%s of %s or more in %s", v->count ? "\n" : "", v->count,
		v->count == 1 ? "" : "s", ray_duration_format(v->options.limit_ns, limit),
		ray_duration_format(duration_ns, time));
	if (v->count)
		fprintf(v->out, ": %s in all, the longest took %s", ray_duration_format(v->ns, total),
			ray_duration_format(v->longest, longest));
	fputs("\n", v->out);
}
