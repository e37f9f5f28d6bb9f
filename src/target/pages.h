/* pages.h - which pages of a process exist at all.
 * SPDX-License-Identifier: MIT
 *
 * From /proc/PID/pagemap, which the owner of a process may read: by the PAGEMAP_SCAN request where the
 * kernel has it (6.7), else entry by entry. A page that was never touched, or that only ever was
 * read as zeros, does not exist. Knows nothing of what a page holds. */
#ifndef RAY_TARGET_PAGES_H
#define RAY_TARGET_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "target/target.h"

enum { RAY_PAGE = 4096 };

struct ray_page_run {
	uint64_t start, end;
	bool file; /* pages of a file or of shared memory; else anonymous, also copies of a file's page */
};

struct ray_page_runs {
	RAY_VEC(struct ray_page_run) runs; /* by address */
};
void ray_page_runs_deinit(struct ray_page_runs *r);
/* Puts runs that were pushed in any order into order, without overlaps. */
void ray_page_runs_sort(struct ray_page_runs *r);

/* pagemap is an open /proc/PID/pagemap. Replaces what ret holds. */
RAY_MUST_USE struct ray_error *ray_pages_find(int pagemap, const struct ray_map *maps, size_t count,
					      struct ray_page_runs *ret);
/* Adds the pages of shared memory that others touched but this process did not: its own page tables do
 * not have them. Takes rights (CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE); without them *unseen_ret becomes
 * the bytes of shared memory of which nothing is known. */
RAY_MUST_USE struct ray_error *ray_pages_add_shared(int pid, const struct ray_map *maps, size_t count,
						    struct ray_page_runs *ret, uint64_t *unseen_ret);
/* One by one, as older kernels need it: for the tests, which compare both. */
RAY_MUST_USE struct ray_error *ray_pages_find_slowly(int pagemap, const struct ray_map *maps, size_t count,
						     struct ray_page_runs *ret);

#endif
