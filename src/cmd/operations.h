/* operations.h - verbs that show operations one by one, or summed up: fs, dns, net.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_CMD_OPERATIONS_H
#define RAY_CMD_OPERATIONS_H

#include "cmd/script.h"
#include "view/operations.h"

/* Options of all of them, around the verb's own. */
/* clang-format off */
#define RAY_OPTIONS_OPERATIONS(subject)                                                              \
	{ 'c', "count", NULL, "a table by operation: count, errors, times" },                        \
	{ 0, "top", NULL, "a table by " subject "; with -c by both" },                               \
	{ 0, "rows", "N", "with -c, --top: only the N rows that took the most time" },               \
	{ 'i', "interval", "SECONDS", "with -c, --top: print every SECONDS, not only at the end" },  \
	{ 0, "failed", NULL, "only those that failed" },                                             \
	{ 'o', "columns", "COL,...", "which columns; '+COL' adds one" },                             \
	{ 0, "stack", NULL, "the JavaScript stack that asked for it" }
#define RAY_OPTION_SLOW { 0, "slow", "TIME", "only those that took longer: 10ms" }
/* clang-format on */

/* Everything but the table of options. glob: the option that holds the pattern of subjects. */
RAY_MUST_USE struct ray_error *ray_operations_run(const struct ray_call *call, const struct ray_operations_kind *kind,
						  const char *glob);

#endif
