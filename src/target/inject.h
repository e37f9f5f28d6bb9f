/* inject.h - runs a few system calls in a stopped thread of another process.
 * SPDX-License-Identifier: MIT
 *
 * Nothing of the target's code is written: a `syscall` instruction that its C library has is borrowed, and
 * the thread's registers are put back before it runs on, so that an interrupted system call goes on as if
 * nothing had happened.
 *
 * Should noderay die in between, the thread mends itself: what follows the borrowed instruction returns
 * into a signal frame, laid below its stack before, which restores all its registers; it has then run
 * the system call that was on its way, and an interrupted one starts anew. A child made by clone finds another
 * frame, which makes it exit. All calls for one ray_inject are made by the thread that made the ray_stop. */
#ifndef RAY_TARGET_INJECT_H
#define RAY_TARGET_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "target/stop.h"
#include "target/target.h"

/* Where the target has what is borrowed. */
struct ray_gadgets {
	uint64_t call;	    /* syscall; ...; ret */
	uint64_t sigreturn; /* the C library's return from a signal handler */
};

/* Looks through the executable files that the target maps; can be done while it runs. */
RAY_MUST_USE struct ray_error *ray_gadgets_find(struct ray_target *t, struct ray_gadgets *ret);

struct ray_inject;

/* Picks a thread and takes its registers. maps are the target's at this moment. */
RAY_MUST_USE struct ray_error *ray_inject_begin(struct ray_stop *stop, const struct ray_gadgets *gadgets,
						const struct ray_map *maps, size_t count, struct ray_inject **ret);
/* Runs one. *result_ret is what it returns (-errno). */
RAY_MUST_USE struct ray_error *ray_inject_call(struct ray_inject *in, long number, const uint64_t args[5],
					       int64_t *result_ret);
/* Makes a child that is stopped before its first instruction and dies with noderay. It shares the
 * descriptors; nobody gets a signal when it ends. *inner_ret is its pid as the target counts. */
RAY_MUST_USE struct ray_error *ray_inject_fork(struct ray_inject *in, int *child_ret, int *inner_ret);
/* Gives the registers back. False: the thread is gone, or could not be stopped where it must. */
bool ray_inject_end(struct ray_inject *in);
uint64_t ray_inject_ns(const struct ray_inject *in); /* how long they were borrowed; after end */
void ray_inject_free(struct ray_inject *in);	     /* ends first */
RAY_DEFINE_AUTO(ray_inject, ray_inject_free)

#endif
