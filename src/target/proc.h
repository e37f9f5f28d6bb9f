/* proc.h - small files of /proc, which a process may take away at any moment.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_TARGET_PROC_H
#define RAY_TARGET_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Reads at most size - 1 bytes of the file that fmt names, and ends them with NUL. Returns how many; 0 and "" when
 * it cannot be read. */
size_t ray_proc_read(char *buffer, size_t size, const char *fmt, ...) RAY_PRINTF(3, 4);

/* The process that started it, as far as that one lives; 0: it is gone itself. */
pid_t ray_proc_parent(pid_t pid);
/* Whether it is one of these, or has been started by one of them, over any number of generations. */
bool ray_proc_is_progeny(pid_t pid, const pid_t *ancestors, size_t count);

/* Where a thread waits in the kernel, from /proc/PID/task/TID/syscall. */
struct ray_proc_syscall {
	long number; /* -1: it waits, but not in a system call (a page fault...) */
	uint64_t args[6];
	uint64_t sp, pc;
};

/* RUNNING: it does not wait, so nothing is known. */
enum ray_proc_wait { RAY_PROC_UNKNOWN, RAY_PROC_RUNNING, RAY_PROC_WAITS };

enum ray_proc_wait ray_proc_syscall(int pid, int tid, struct ray_proc_syscall *ret);
/* The same of the file's text. */
enum ray_proc_wait ray_proc_parse_syscall(const char *text, struct ray_proc_syscall *ret);

#endif
