/* gcore_copy.h - copies many stretches of another process's memory, fast.
 * SPDX-License-Identifier: MIT
 *
 * By process_vm_readv, from several threads, into memory that was touched before: what takes time while the
 * target stands still is the copying alone. What that call refuses (a page that the target itself may
 * not read) is read through /proc/PID/mem; what cannot be read at all becomes zeros and is counted. */
#ifndef RAY_TARGET_GCORE_COPY_H
#define RAY_TARGET_GCORE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "target/gcore_plan.h"

struct ray_copy {
	int pid;
	int mem; /* /proc/PID/mem */
	unsigned threads;
};

/* Copies the extents one after the other into buffer. *lost_ret grows by the bytes that could not be read.
 * False: interrupted. */
bool ray_copy_extents(const struct ray_copy *c, const struct ray_extent *extents, size_t count, unsigned char *buffer,
		      uint64_t *lost_ret);

/* Memory for copies, touched already; NULL if there is none. Size is rounded up to pages. */
void *ray_copy_buffer(size_t size);
void ray_copy_buffer_free(void *buffer, size_t size);
/* How many bytes may be taken without hurting anybody: half of what the machine, and every control
 * group that noderay is in, has left. */
uint64_t ray_copy_budget(void);

#endif
