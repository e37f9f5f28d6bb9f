/* http_internal.h - what http.c and http_top.c share. SPDX-License-Identifier: MIT */
#ifndef RAY_VIEW_HTTP_INTERNAL_H
#define RAY_VIEW_HTTP_INTERNAL_H

#include "base/vec.h"
#include "view/http.h"
#include "view/live.h"
#include "view/tally.h"

/* The JavaScript that sent a response, until the response's own line comes. */
struct ray_http_sent {
	uint64_t id;
	char *stack;
};

struct ray_http_view {
	struct ray_http_options options;
	FILE *out;
	struct ray_live *live;
	struct ray_text line;
	uint64_t start_ns;
	RAY_VEC(struct ray_http_sent) sent;
	struct ray_tally *tally;
	bool has_table; /* printed one already */
};

/* http_top.c */
void ray_http_top_take(struct ray_http_view *v, const struct ray_fact *fact);
void ray_http_top_print(struct ray_http_view *v, uint64_t epoch_ns);

/* http.c: whether the URL is one that was asked for. */
bool ray_http_is_wanted(const struct ray_http_view *v, const char *url);

#endif
