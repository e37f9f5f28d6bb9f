/* suggest.h - "did you mean": the known word that a mistyped one is nearest to.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_CMD_SUGGEST_H
#define RAY_CMD_SUGGEST_H

#include <stddef.h>

struct ray_suggest {
	const char *typed;
	size_t length;
	const char *word; /* the best so far; NULL while none is near enough */
	unsigned distance;
};

void ray_suggest_init(struct ray_suggest *s, const char *typed, size_t length);
/* word must outlive s. */
void ray_suggest_offer(struct ray_suggest *s, const char *word);

#endif
