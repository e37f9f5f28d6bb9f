/* pull.h - JSON read piece by piece, straight from memory, without a tree. SPDX-License-Identifier: MIT
 *
 * Files of profiles have millions of small numbers: a tree of them would take twenty times the file. The reader asks for what it expects, in the
 * order of the file, and skips the rest. The first thing that is wrong is kept with its place; from then on every call says that there is
 * nothing more, so that errors need to be looked at only once, at the end.
 *
 *   for (ray_pull_object(j); ray_pull_key(j, &key);)
 *           if (!strcmp(key.bytes, "samples"))
 *                   for (ray_pull_array(j); ray_pull_item(j);)
 *                           use(ray_pull_number(j));
 *           else
 *                   ray_pull_skip(j);
 *
 * null stands for an empty object, array or text, and for 0. */
#ifndef RAY_PROFILE_PULL_H
#define RAY_PROFILE_PULL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct ray_pull {
	const char *start, *at, *end;
	const char *wrong; /* NULL as long as all is well */
	bool fresh;	   /* an object or array was entered and nothing of it read */
	bool absent;	   /* null stood for it: it has no items */
	bool ended;	   /* what is wrong is that the file ends */
	struct ray_text key, text;
};

struct ray_pull_text {
	const char *bytes; /* ends in a NUL; valid until the next key, or the next text */
	size_t length;
};

void ray_pull_init(struct ray_pull *j, const char *bytes, size_t size);
void ray_pull_deinit(struct ray_pull *j);
#define ray_auto_pull __attribute__((cleanup(ray_pull_deinit))) struct ray_pull

/* The first character of what comes: { [ " t f n - or a digit; 0 at the end or after an error. */
char ray_pull_peek(struct ray_pull *j);
void ray_pull_object(struct ray_pull *j);
bool ray_pull_key(struct ray_pull *j, struct ray_pull_text *ret); /* false: that was the last */
void ray_pull_array(struct ray_pull *j);
bool ray_pull_item(struct ray_pull *j); /* false: that was the last */
/* A number, or a text that is one. */
double ray_pull_number(struct ray_pull *j);
int64_t ray_pull_integer(struct ray_pull *j); /* exact up to 2^63; a fraction is rounded */
struct ray_pull_text ray_pull_text(struct ray_pull *j);
void ray_pull_skip(struct ray_pull *j);

/* Says what is wrong, unless something else was before. */
void ray_pull_fail(struct ray_pull *j, const char *wrong);
/* RAY_UNREADABLE with line and column; NULL if all is well. */
RAY_MUST_USE struct ray_error *ray_pull_error(const struct ray_pull *j);

#endif
