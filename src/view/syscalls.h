/* syscalls.h - what `noderay syscalls` shows: a list, a table, distributions.
 * SPDX-License-Identifier: MIT
 *
 * Is told the facts of scripts/syscalls.d. Lists are written as they come, tables when all is known. Pure but for the stream it writes to. */
#ifndef RAY_VIEW_SYSCALLS_H
#define RAY_VIEW_SYSCALLS_H

#include <stdio.h>

#include "view/syscall.h"

struct ray_syscalls_settings {
	FILE *out;
	size_t width; /* 0: no limit */
	bool is_json;
	const char *columns; /* -o; NULL: the usual ones */
};

struct ray_syscalls_view;

RAY_MUST_USE struct ray_error *ray_syscalls_create(const struct ray_syscalls_settings *settings,
						   struct ray_syscalls_view **ret);
void ray_syscalls_free(struct ray_syscalls_view *v);
RAY_DEFINE_AUTO(ray_syscalls_view, ray_syscalls_free)
void ray_syscalls_tell(struct ray_syscalls_view *v, const struct ray_fact *f);
/* The tables. duration_ns: how long was looked. */
void ray_syscalls_finish(struct ray_syscalls_view *v, uint64_t duration_ns);

#endif
