/* summary_internal.h - what summary*.c share: the numbers of one page. SPDX-License-Identifier: MIT */
#ifndef RAY_VIEW_SUMMARY_INTERNAL_H
#define RAY_VIEW_SUMMARY_INTERNAL_H

#include "view/summary.h"
#include "view/tally.h"

enum ray_summary_cpu { RAY_CPU_JS, RAY_CPU_GC, RAY_CPU_NATIVE, RAY_CPU_KERNEL, RAY_CPU_KINDS };

struct ray_summary {
	FILE *out;
	bool is_json;
	size_t width;
	uint64_t samples[RAY_CPU_KINDS]; /* of all threads */
	uint64_t main_samples[RAY_CPU_KINDS];
	uint64_t pauses, longest_pause, collections;
	/* Rows by "pid/tid": total is busy, bytes is idle. */
	struct ray_tally *loops;
	struct ray_tally *urls, *outgoing, *functions, *files, *blocking, *names, *works;
	struct ray_histogram waits; /* of works; bins are in waits_bins */
	int64_t *waits_bins;
	uint64_t longest_wait;
	uint64_t duration_ns;
};

/* What is worth a look: words and the command. */
struct ray_summary_advice {
	double weight; /* the more the worse; 1 is where it begins to matter */
	char text[256];
	char command[128];
};

enum { RAY_ADVICE_MOST = 3, RAY_ADVICE_ALL = 16 };

/* summary_advice.c: the most important first; how many. */
size_t ray_summary_advise(const struct ray_summary *s, const struct ray_summary_about *about,
			  struct ray_summary_advice out[RAY_ADVICE_ALL]);

/* summary_print.c */
void ray_summary_print_text(struct ray_summary *s, const struct ray_summary_about *about);
void ray_summary_print_json(struct ray_summary *s, const struct ray_summary_about *about);

/* summary.c. The loop that was busiest; NULL: none was seen. */
const struct ray_tally_row *ray_summary_loop(const struct ray_summary *s);
double ray_summary_utilization(const struct ray_tally_row *loop); /* 0 to 1 */
/* Samples as a share of one processor. */
double ray_summary_cpu(const struct ray_summary *s, enum ray_summary_cpu kind);
double ray_summary_gc_share(const struct ray_summary *s);

enum { RAY_SUMMARY_HERTZ = 97 /* as scripts/summary.d has it */ };

#endif
