/* worker.h - the node::worker::Worker behind a thread.
 * SPDX-License-Identifier: MIT
 *
 * A worker thread is started with a pointer to its Worker. The members' offsets differ between releases, but the
 * object describes itself: it holds the thread's own pthread_t, right behind its isolate, and the thread's id right
 * before an address on the thread's own stack. Only an object that shows all this, once, is believed. */
#ifndef RAY_STACK_WORKER_H
#define RAY_STACK_WORKER_H

#include "target/target.h"

struct ray_worker {
	int id;	       /* threadId */
	char name[48]; /* raw bytes as the program gave them, cut; "" if none or not known */
};

/* pointer: the thread's; object: what it was started with; vtable: what the object must begin with, 0 if not known;
 * isolate: what the object must hold, 0 if not known. False when it is no Worker of this thread. */
bool ray_worker_read(struct ray_target *t, uint64_t pointer, uint64_t object, uint64_t vtable, uint64_t isolate,
		     struct ray_worker *ret);

#endif
