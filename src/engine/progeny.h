/* progeny.h - -x follow=children: probes fire in the processes of -p and -c and in what they start, and nowhere else.
 * SPDX-License-Identifier: MIT
 *
 * Every entry asks the map TARGETS first, before anything else is done for a firing (hooks of node NODE_BITS). Two small programs keep it: one adds the child of
 * a target when it is made, one takes away what has ended. Without -p or -c, probes fire everywhere. */
#ifndef RAY_ENGINE_PROGENY_H
#define RAY_ENGINE_PROGENY_H

#include "engine/internal.h"

bool ray_progeny_is_wanted(const struct ray_trace *t);
/* Adds the two programs to t->entries. */
RAY_MUST_USE struct ray_error *ray_progeny_prepare(struct ray_trace *t);
/* A program at a raw tracepoint of the scheduler: calls a function of the runtime with the task that is argument number `argument`. */
RAY_MUST_USE struct ray_error *ray_keeper_add(struct ray_trace *t, const char *name, int argument,
					      const char *function);
/* Before anything is attached: the targets. */
RAY_MUST_USE struct ray_error *ray_progeny_begin(struct ray_trace *t);
/* Whether nodes that start later are followed, whoever starts them; and one that has been looked at. */
bool ray_progeny_grows(const struct ray_trace *t);
RAY_MUST_USE struct ray_error *ray_progeny_meet(struct ray_trace *t, pid_t pid);
/* What a process runs. */
RAY_MUST_USE struct ray_error *ray_program_key_of(pid_t pid, struct ray_program_key *ret);
/* When the two programs are at work: the children that targets have already. */
RAY_MUST_USE struct ray_error *ray_progeny_complete(struct ray_trace *t);

/* The same of one that has just come: what is made by a target is known the moment it is made. Where every node is followed, anything may be one. */
bool ray_progeny_knows(const struct ray_trace *t, pid_t pid);
/* Whether probes fire in this process, as far as can be told: always without -x follow. */
bool ray_progeny_includes(const struct ray_trace *t, pid_t pid);

#endif
