/* rehearse.h - names frames while the target is stopped, to keep what is read for it. SPDX-License-Identifier: MIT */
#ifndef RAY_STACK_REHEARSE_H
#define RAY_STACK_REHEARSE_H

#include "stack/js.h"

/* Call it while the threads are stopped and their stacks are copied; takes a few milliseconds at the most. */
void ray_rehearse(struct ray_js *js, const struct ray_thread *threads, size_t count);

#endif
