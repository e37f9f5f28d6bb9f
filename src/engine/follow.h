/* follow.h - probes of processes and libraries that appear while a trace runs.
 * SPDX-License-Identifier: MIT
 *
 * The kernel tells of every executable mapping and every fork through perf's own records; the process is looked at
 * again then, and what its code has that a description matches is hung in. What it did before that moment was not seen, but for system
 * calls of programs that are known (kin.h). */
#ifndef RAY_ENGINE_FOLLOW_H
#define RAY_ENGINE_FOLLOW_H

#include "engine/internal.h"

/* NULL in *ret when no description can grow. */
RAY_MUST_USE struct ray_error *ray_follow_create(struct ray_trace *t, struct ray_follow **ret);
void ray_follow_free(struct ray_follow *f); /* accepts NULL */
/* Reads what the kernel told; attaches. How often it found something new is in *found_ret. */
RAY_MUST_USE struct ray_error *ray_follow_work(struct ray_follow *f);
/* A process is another program now, and the kernel's side knows: what we have of the one before goes, and it is looked at again. */
void ray_follow_replace(struct ray_trace *t, pid_t pid);

#endif
