/* cpu.h - how much CPU time the threads of a process have used. SPDX-License-Identifier: MIT
 *
 * From /proc, which needs no rights. Knows nothing of node. */
#ifndef RAY_TARGET_CPU_H
#define RAY_TARGET_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct ray_cpu_thread {
	int tid;
	uint64_t ns; /* so far, in user space and in the kernel */
	char name[48];
};

struct ray_cpu {
	uint64_t ns;	   /* of the whole process, threads that have ended too */
	uint64_t uptime_s; /* since it was started */
	uint64_t rss;	   /* bytes */
	struct ray_cpu_thread *threads;
	size_t count;
};

/* False: it is gone, or there is no memory. */
bool ray_cpu_read(int pid, struct ray_cpu *ret);
void ray_cpu_deinit(struct ray_cpu *c);

/* The text of a thread's or process's stat: CPU time, and when it was started, in ticks of the clock; pages in memory. False: it is none. */
bool ray_cpu_parse_stat(const char *text, uint64_t *ticks_ret, uint64_t *start_ret, uint64_t *pages_ret);

#endif
