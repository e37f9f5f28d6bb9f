/* process.h - what the parts of a running process as a target share; for src/target/process*.c only.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_TARGET_PROCESS_H
#define RAY_TARGET_PROCESS_H

#include "target/internal.h"

struct process {
	int mem;   /* /proc/PID/mem; -1: pidfd is there instead */
	int pidfd; /* -1: mem is there */
	int proc;  /* /proc/PID */
};

static inline struct process *ray_process_of(struct ray_target *t)
{
	return t->data;
}

/* Reads a whole file of /proc/PID; *size_ret excludes the NUL that is added. */
struct ray_error *ray_process_file(struct ray_target *t, const char *name, char **ret, size_t *size_ret);

size_t ray_process_read(struct ray_target *t, uint64_t address, void *buffer, size_t size);
void ray_process_read_many(struct ray_target *t, const struct ray_range *ranges, unsigned char *const *buffers,
			   size_t *done, size_t count);
/* When /proc/PID/mem was refused (errno): sets pidfd up if the memory can be read all the same. Leaves errno as it was. */
bool ray_process_open_by_pidfd(struct ray_target *t);
/* What the kernel would copy for /proc/PID/environ, which only the owner may open. False if it cannot be had. */
bool ray_process_environment(struct ray_target *t, char **ret, size_t *size_ret);

#endif
