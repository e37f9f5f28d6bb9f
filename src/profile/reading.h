/* reading.h - what readers of profiles share: foreign texts made safe, and functions of which the file does not say what they are.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_PROFILE_READING_H
#define RAY_PROFILE_READING_H

#include "profile/profile.h"

/* Readers refuse stacks that are deeper. */
enum { RAY_READING_DEPTH = 10000 };

/* Kept in p, with control characters escaped and UTF-8 mended. */
const char *ray_reading_text(struct ray_profile *p, const char *bytes, size_t length);

struct ray_reading_function {
	const char *name, *file; /* safe */
	int line, column;
	const char *kind; /* a word of ray_profile_kind_word(); NULL: guessed from the rest */
};
/* Its number in p, with its package. */
uint32_t ray_reading_function(struct ray_profile *p, const struct ray_reading_function *f);

/* Does the path or URL name JavaScript, or what becomes it? */
bool ray_reading_is_script(const char *file);

/* Is it a JSON object (or, if is_array, also an array) in which key stands somewhere? For looks_like. */
bool ray_reading_is_json(const char *bytes, size_t size, const char *key, bool is_array);

/* A child of parent in the same place: the frame that ran and its function. */
uint32_t ray_reading_node(struct ray_profile *p, uint32_t parent, uint32_t function, int line, int column);

/* A number of a foreign file as a weight or a time: no NaN, nothing out of range. */
int64_t ray_reading_weight(double value);
uint64_t ray_reading_time(double ns); /* 0 if it is less; clocks may count from 1970 */
int ray_reading_line(double value);   /* 0 if it is none */

/* Sorts samples by time, if they are not, and tells how long it all took if that is not known. */
void ray_reading_order(struct ray_profile *p);

#endif
