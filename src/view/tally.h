/* tally.h - what happened, by name: how often, how long, how often badly. For --top of every verb.
 * SPDX-License-Identifier: MIT
 *
 * A row for each name (a URL, a path, a host). It adds up what a script's aggregations tell: rows of printa() of one name may come several times (one for each
 * pid, or because the view folds names together). Percentiles come from distributions of quantize() and its like, which must all be of one shape. Pure. */
#ifndef RAY_VIEW_TALLY_H
#define RAY_VIEW_TALLY_H

#include <stdbool.h>

#include "base/json.h"
#include "view/histogram.h"
#include "view/quantile.h"

struct ray_tally;

/* What a row adds up. */
struct ray_tally_row {
	const char *name, *kind; /* kind: "GET", "open"; "" if there is none */
	uint64_t count;		 /* of the distribution, if it has one */
	uint64_t errors, cut;	 /* that went wrong; that were cut off */
	uint64_t total, longest, bytes;
	struct ray_histogram histogram; /* bins are the row's; count 0: it has none */
	struct ray_histogram second;	/* likewise, of something else about it */
};

struct ray_tally *ray_tally_create(void); /* NULL: no memory */
void ray_tally_free(struct ray_tally *t);
RAY_DEFINE_AUTO(ray_tally, ray_tally_free)
void ray_tally_clear(struct ray_tally *t);

/* The row of that kind and name, made if it is new; NULL: no memory, which ray_tally_failed() tells then. */
struct ray_tally_row *ray_tally_row(struct ray_tally *t, const char *kind, const char *name);
/* Adds a distribution, and what it counts to row->count. */
void ray_tally_add(struct ray_tally *t, struct ray_tally_row *row, const struct ray_histogram *h);
void ray_tally_add_second(struct ray_tally *t, struct ray_tally_row *row, const struct ray_histogram *h);
bool ray_tally_failed(const struct ray_tally *t);

/* Rows, the most important first; valid until the next row is made. */
enum ray_tally_order { RAY_TALLY_BY_COUNT, RAY_TALLY_BY_TOTAL, RAY_TALLY_BY_LONGEST, RAY_TALLY_BY_ERRORS };
struct ray_tally_row *const *ray_tally_sorted(struct ray_tally *t, enum ray_tally_order order, size_t *count_ret);

/* {"count":…, "p50":…, "p90":…, "p99":…, "max":…} in milliseconds. */
json_t *ray_tally_json(const struct ray_histogram *h, uint64_t longest);
/* Milliseconds with six decimals at most: as all verbs give times in JSON. */
json_t *ray_json_ms(uint64_t ns);

/* A URL or path with what varies from one to the next taken out: numbers, UUIDs and long hexadecimal words between slashes become ":n", ":uuid" and ":hex";
 * from '?' on it goes, unless keeps_query. */
void ray_view_fold(const char *url, bool folds, bool keeps_query, struct ray_text *out);

#endif
