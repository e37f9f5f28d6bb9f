/* summary_advice.c - in plain words: what is worth a look, and the command for it. SPDX-License-Identifier: MIT
 *
 * Each rule weighs what it sees against the point from which it matters; the heaviest are said. Knows the verbs by name, nothing else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "view/summary_internal.h"

enum { MS = 1000000 };

struct advisor {
	const struct ray_summary *s;
	const struct ray_summary_about *about;
	struct ray_summary_advice *out;
	size_t count;
};

/* A place for one more, if it matters. */
static struct ray_summary_advice *advise(struct advisor *a, double weight, const char *command)
{
	struct ray_summary_advice *next;

	if (weight < 1 || a->count >= RAY_ADVICE_ALL)
		return NULL;
	next = &a->out[a->count++];
	next->weight = 1 + log2(weight);
	snprintf(next->command, sizeof(next->command), "noderay %s %d", command, a->about->pid);
	return next;
}

static void loops(struct advisor *a)
{
	const struct ray_tally_row *loop = ray_summary_loop(a->s);
	double busy = ray_summary_utilization(loop);
	struct ray_summary_advice *x;
	char text[24];

	if (!loop)
		return;
	x = advise(a, (double)loop->longest / (50.0 * MS), "loop --block 50ms");
	if (x)
		snprintf(x->text, sizeof(x->text),
			 "The event loop was blocked for %s at the longest: everything else had to wait.",
			 ray_duration_format(loop->longest, text));
	x = advise(a, busy > 0.8 ? 1 + (busy - 0.8) * 20 : 0, "stack --thread main");
	if (x)
		snprintf(x->text, sizeof(x->text),
			 "The event loop has work %.0f %% of the time: there is little room for more load.",
			 100 * busy);
}

static void collections(struct advisor *a)
{
	double share = ray_summary_gc_share(a->s);
	struct ray_summary_advice *x = advise(a, share / 0.1, "gc --stack --summary -d 10");
	char text[24];

	if (x)
		snprintf(x->text, sizeof(x->text), "Garbage collection takes %.0f %% of the time, up to %s at once.",
			 100 * share, ray_duration_format(a->s->longest_pause, text));
}

static void requests(struct advisor *a)
{
	size_t count;
	struct ray_tally_row *const *urls = ray_tally_sorted(a->s->urls, RAY_TALLY_BY_ERRORS, &count);
	uint64_t all = 0, failed = 0, worst = 0;
	const struct ray_tally_row *slow = NULL;
	struct ray_summary_advice *x;
	char text[24];

	for (size_t i = 0; i < count; i++) {
		uint64_t p99 = ray_histogram_percentile(&urls[i]->histogram, 99, urls[i]->longest);

		all += urls[i]->count;
		failed += urls[i]->errors;
		if (p99 > worst) {
			worst = p99;
			slow = urls[i];
		}
	}
	x = advise(a, all ? (double)failed / (double)all / 0.01 : 0, "http --status 5xx --stack");
	if (x)
		snprintf(x->text, sizeof(x->text),
			 "%.3g %% of the requests fail (status 500 and above), mostly %s %.120s.",
			 100.0 * (double)failed / (double)all, urls[0]->kind, urls[0]->name);
	x = advise(a, (double)worst / (200.0 * MS), "http --slow 200ms --stack");
	if (x && slow)
		snprintf(x->text, sizeof(x->text), "One in a hundred requests for %.120s takes %s or longer.",
			 slow->name, ray_duration_format(worst, text));
}

static void files(struct advisor *a)
{
	size_t count;
	struct ray_tally_row *const *rows = ray_tally_sorted(a->s->blocking, RAY_TALLY_BY_TOTAL, &count);
	uint64_t total = 0;
	struct ray_summary_advice *x;
	char text[24];

	for (size_t i = 0; i < count; i++)
		total += rows[i]->total;
	x = advise(a, a->s->duration_ns ? (double)total / (double)a->s->duration_ns / 0.02 : 0, "fs --sync --stack");
	if (x)
		snprintf(x->text, sizeof(x->text),
			 "Requests wait for synchronous file operations, %s in all, mostly %s of %.100s.",
			 ray_duration_format(total, text), rows[0]->kind, rows[0]->name);
}

static void names(struct advisor *a)
{
	size_t count;
	struct ray_tally_row *const *rows = ray_tally_sorted(a->s->names, RAY_TALLY_BY_LONGEST, &count);
	struct ray_summary_advice *x =
		advise(a, count ? (double)rows[0]->longest / (100.0 * MS) : 0, "dns --slow 100ms --stack");
	char text[24];

	if (x)
		snprintf(x->text, sizeof(x->text), "Looking up %.120s took %s.", rows[0]->name,
			 ray_duration_format(rows[0]->longest, text));
}

static void pool(struct advisor *a)
{
	uint64_t p99 = a->s->waits_bins ? ray_histogram_percentile(&a->s->waits, 99, a->s->longest_wait) : 0;
	struct ray_summary_advice *x = advise(a, (double)p99 / (10.0 * MS), "pool");
	char text[24];

	if (x)
		snprintf(x->text, sizeof(x->text),
			 "Work for the thread pool waits %s for a free thread (UV_THREADPOOL_SIZE).",
			 ray_duration_format(p99, text));
}

static void resources(struct advisor *a)
{
	double used = a->about->file_limit ? (double)a->about->files / (double)a->about->file_limit : 0;
	struct ray_summary_advice *x = advise(a, used / 0.8, "files --summary");
	double kernel = ray_summary_cpu(a->s, RAY_CPU_KERNEL), all = 0;

	if (x)
		snprintf(x->text, sizeof(x->text), "%zu of %llu file descriptors are in use.", a->about->files,
			 (unsigned long long)a->about->file_limit);
	for (int i = 0; i < RAY_CPU_KINDS; i++)
		all += ray_summary_cpu(a->s, i);
	x = advise(a, all > 0.2 ? kernel / all / 0.4 : 0, "syscalls -c -d 10");
	if (x)
		snprintf(x->text, sizeof(x->text), "%.0f %% of its processor time is spent in the kernel.",
			 100 * kernel / all);
}

static int heavier(const void *a, const void *b)
{
	double left = ((const struct ray_summary_advice *)a)->weight,
	       right = ((const struct ray_summary_advice *)b)->weight;

	return left > right ? -1 : left < right;
}

size_t ray_summary_advise(const struct ray_summary *s, const struct ray_summary_about *about,
			  struct ray_summary_advice out[RAY_ADVICE_ALL])
{
	static void (*const rules[])(
		struct advisor *) = { loops, collections, requests, files, names, pool, resources };
	struct advisor a = { s, about, out, 0 };

	for (size_t i = 0; i < RAY_COUNT(rules); i++)
		rules[i](&a);
	qsort(out, a.count, sizeof(*out), heavier);
	return a.count < RAY_ADVICE_MOST ? a.count : RAY_ADVICE_MOST;
}
