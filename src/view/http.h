/* http.h - requests: a line for each, or a table by URL.
 * SPDX-License-Identifier: MIT
 *
 * Takes the facts of scripts/http.d. Times in lines count from the start, as nhttpsnoop's do. Pure, but that it writes to the stream it was given. */
#ifndef RAY_VIEW_HTTP_H
#define RAY_VIEW_HTTP_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "view/fact.h"

struct ray_http_options {
	bool is_json;
	bool begins;	     /* two lines for each: when it begins, when it ends */
	bool top, bars;	     /* by URL: a table, distributions */
	bool folds;	     /* /user/123 is /user/:n */
	bool keeps_query;    /* ?a=b is part of a URL's name */
	const char *columns; /* -o; NULL: the usual ones */
	const char *url;     /* only URLs that match this pattern; NULL: all */
	size_t url_size;     /* no more of a URL is told */
	size_t most;	     /* rows of the table; 0: all */
	size_t width;	     /* of lines; 0: no limit */
};

struct ray_http_view;

/* Refuses columns that there are none of: RAY_USAGE. */
RAY_MUST_USE struct ray_error *ray_http_view_create(const struct ray_http_options *options, FILE *out,
						    struct ray_http_view **ret);
void ray_http_view_free(struct ray_http_view *v);
RAY_DEFINE_AUTO(ray_http_view, ray_http_view_free)
/* Probes are on: lines count from here. */
void ray_http_view_start(struct ray_http_view *v, uint64_t epoch_ns);
void ray_http_view_take(struct ray_http_view *v, const struct ray_fact *fact);
/* The last table. */
void ray_http_view_finish(struct ray_http_view *v, uint64_t epoch_ns);

#endif
