/* proc.c - see proc.h. SPDX-License-Identifier: MIT */
#include "target/proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t ray_proc_read(char *buffer, size_t size, const char *fmt, ...)
{
	ray_auto_fd int fd = -1;
	char path[128];
	size_t done = 0;
	va_list args;
	ssize_t n;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && done < size - 1 && (n = read(fd, buffer + done, size - 1 - done)) > 0)
		done += (size_t)n;
	buffer[done] = '\0';
	return done;
}

enum ray_proc_wait ray_proc_parse_syscall(const char *text, struct ray_proc_syscall *ret)
{
	struct ray_proc_syscall s = { .number = -1 };
	uint64_t *a = s.args;

	if (!strncmp(text, "running", 7))
		return RAY_PROC_RUNNING;
	if (sscanf(text,
		   "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64,
		   &s.number, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &s.sp, &s.pc) != 9) {
		s = (struct ray_proc_syscall){ .number = -1 };
		if (sscanf(text, "-1 %" SCNx64 " %" SCNx64, &s.sp, &s.pc) != 2)
			return RAY_PROC_UNKNOWN;
	}
	*ret = s;
	return RAY_PROC_WAITS;
}

enum ray_proc_wait ray_proc_syscall(int pid, int tid, struct ray_proc_syscall *ret)
{
	char text[256];

	ray_proc_read(text, sizeof(text), "/proc/%d/task/%d/syscall", pid, tid);
	return ray_proc_parse_syscall(text, ret);
}

/* ---- kinship ---- */

enum { GENERATIONS = 1000 /* a chain of parents that is longer has changed under our hands */ };

/* The parent follows the name, which may hold anything. */
pid_t ray_proc_parent(pid_t pid)
{
	char text[512];
	const char *rest;
	int parent;

	ray_proc_read(text, sizeof(text), "/proc/%d/stat", pid);
	rest = strrchr(text, ')');
	return rest && sscanf(rest, ") %*c %d", &parent) == 1 ? parent : 0;
}

bool ray_proc_is_progeny(pid_t pid, const pid_t *ancestors, size_t count)
{
	for (int depth = 0; pid && depth < GENERATIONS; depth++, pid = ray_proc_parent(pid))
		for (size_t i = 0; i < count; i++)
			if (ancestors[i] == pid)
				return true;
	return false;
}
