/* progress.h - one line on the terminal while something takes long.
 * SPDX-License-Identifier: MIT
 *
 * Says nothing in the first second; wipes its line at the end, so that what is printed next starts on
 * a clean one. When stderr is no terminal it says nothing at all, or with `lines` a line every five seconds. */
#ifndef RAY_BASE_PROGRESS_H
#define RAY_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct ray_progress {
	const char *what; /* "unpacking core.zst" */
	uint64_t total;	  /* bytes; 0 when not known */
	uint64_t started_ns, shown_ns;
	bool is_terminal;
	bool lines; /* to be set after ray_progress_start() */
	bool is_shown;
};

void ray_progress_start(struct ray_progress *p, const char *what, uint64_t total);
void ray_progress_update(struct ray_progress *p, uint64_t done);
void ray_progress_end(struct ray_progress *p);

#endif
