/* kin.h - processes that become a program we know are watched before we have seen them.
 * SPDX-License-Identifier: MIT
 *
 * A cluster's children serve requests some milliseconds after they have started, before we have been told of them and have looked at them. What they will
 * be watched with is therefore ready in the map NODE_KIN: elements of NODES like those of a process of the same executable, with probes that belong to nobody yet.
 * At exec the kernel's side takes one (kern/kin.bpf.h). We name the probes when a record of them comes or when we are told of the
 * process, whatever is first, and then look at it as at any other: functions hang from then on only. */
#ifndef RAY_ENGINE_KIN_H
#define RAY_ENGINE_KIN_H

#include "engine/internal.h"
#include "probe/watch.h"

struct ray_kins;

/* Adds the program that takes them to t->entries, if a clause can match processes that do not run yet. */
RAY_MUST_USE struct ray_error *ray_kin_prepare(struct ray_trace *t);
/* The map. */
RAY_MUST_USE struct ray_error *ray_kin_create(struct ray_trace *t);
/* Others of its program are watched like this process. */
RAY_MUST_USE struct ray_error *ray_kin_offer(struct ray_trace *t, struct ray_watch *watch);
/* Processes that have taken one since: they are in t->watches then, and will be looked at. */
RAY_MUST_USE struct ray_error *ray_kin_adopt(struct ray_trace *t);
/* Whether the kernel watches it as what it is now, and we do not know yet. */
bool ray_kin_has(const struct ray_trace *t, pid_t pid);
void ray_kins_free(struct ray_kins *k);

#endif
