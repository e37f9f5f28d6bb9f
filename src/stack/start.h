/* start.h - the function and the argument that a thread was started with.
 * SPDX-License-Identifier: MIT
 *
 * glibc keeps both in the thread's descriptor, at an offset that moves between releases and is not published. It is
 * found by looking: behind the thread-specific data, the one word that is an address of code in (nearly) every
 * thread. musl forgets them; there, and for threads made with a bare clone(), all is zero. */
#ifndef RAY_STACK_START_H
#define RAY_STACK_START_H

#include "target/target.h"

struct ray_start {
	uint64_t routine, argument; /* routine 0: not known */
};

/* pointers: the threads' thread pointers, 0 where not known. The main thread is started by nobody. */
void ray_start_find(struct ray_target *t, const uint64_t *pointers, size_t count, struct ray_start *ret);

#endif
