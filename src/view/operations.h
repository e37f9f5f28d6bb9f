/* operations.h - operations that take their time, on files, names or sockets: a line for each, or a table.
 * SPDX-License-Identifier: MIT
 *
 * Takes the facts of scripts/fs.d, dns.d and net.d. What is about one of them only (columns, words of JSON) is in fs.c, dns.c and net.c; what they have
 * in common is in operations.c: who asked, patterns, tables of sums. Pure, but that it writes to the stream it was given; JSON goes to standard output. */
#ifndef RAY_VIEW_OPERATIONS_H
#define RAY_VIEW_OPERATIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "view/asked.h"
#include "view/fact.h"
#include "view/live.h"
#include "view/tally.h"

/* What the three differ in. */
struct ray_operations_kind {
	const char *verb;
	const struct ray_live_column *columns;
	size_t column_count;
	const char *usual;	   /* of the columns */
	const char *subject;	   /* what an operation is about, as JSON and the script call it: "path" */
	const char *title;	   /* and a table: "PATH" */
	bool has_waits, has_bytes; /* what tables have columns for */
	/* A line's cells, in the order of the columns. */
	void (*add)(struct ray_live *l, const struct ray_fact *f);
	/* Behind time, pid, tid. */
	void (*describe)(struct ray_text *o, const struct ray_fact *f);
};

extern const struct ray_operations_kind ray_operations_fs, ray_operations_dns, ray_operations_net;

struct ray_operations_options {
	bool is_json;
	bool by_operation, by_subject; /* a table; both: by both */
	const char *columns;	       /* -o; NULL: the usual ones */
	const char *glob;	       /* only subjects that match this pattern; NULL: all */
	size_t most;		       /* rows of the table; 0: all */
	size_t width;		       /* of lines; 0: no limit */
};

struct ray_operations;

/* Refuses columns that there are none of: RAY_USAGE. */
RAY_MUST_USE struct ray_error *ray_operations_create(const struct ray_operations_kind *kind,
						     const struct ray_operations_options *options, FILE *out,
						     struct ray_operations **ret);
void ray_operations_free(struct ray_operations *v);
RAY_DEFINE_AUTO(ray_operations, ray_operations_free)
void ray_operations_start(struct ray_operations *v); /* probes are on */
void ray_operations_take(struct ray_operations *v, const struct ray_fact *fact);
void ray_operations_finish(struct ray_operations *v); /* the last table */

/* ---- for the kinds ---- */

void ray_operation_time(struct ray_live *l, const struct ray_fact *f, const char *field);
void ray_operation_number(struct ray_live *l, const struct ray_fact *f, const char *field);
/* Milliseconds; an integer; text, or null where it is "". */
void ray_operation_json_ms(struct ray_text *o, const char *key, const struct ray_fact *f, const char *field);
void ray_operation_json_number(struct ray_text *o, const char *key, const struct ray_fact *f, const char *field);
void ray_operation_json_text(struct ray_text *o, const char *key, const struct ray_fact *f, const char *field);

#endif
