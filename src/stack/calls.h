/* calls.h - which of some functions a piece of code calls first.
 * SPDX-License-Identifier: MIT
 *
 * Tells functions without a symbol apart by the exported functions that they use, directly or through the procedure
 * linkage table. Looks for call instructions byte by byte: what is none leads nowhere that has one of the names. */
#ifndef RAY_STACK_CALLS_H
#define RAY_STACK_CALLS_H

#include "target/target.h"

/* The index in names of the function that the code at vaddr of the module calls first; count when it calls none. */
size_t ray_calls_first(struct ray_target *t, const struct ray_module *m, uint64_t vaddr, const char *const *names,
		       size_t count);

#endif
