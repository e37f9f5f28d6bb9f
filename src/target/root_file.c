/* root_file.c - see root_file.h. SPDX-License-Identifier: MIT
 *
 * A symbolic link in a container means a place in the container: openat2() takes it so, where /proc/PID/root/... alone would lead out of it. */
#include "target/root_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/auto.h"

static int open_in(int root, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, .resolve = RESOLVE_IN_ROOT };

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static int open_file(pid_t pid, const char *path)
{
	ray_auto_fd int root = -1;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/root", pid);
	if (pid)
		root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root >= 0 ? open_in(root, path) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

bool ray_root_file_read(pid_t pid, const char *path, size_t most, char **bytes_ret, size_t *size_ret)
{
	ray_auto_fd int fd = open_file(pid, path);
	ray_auto_memory char *bytes = NULL;
	struct stat st;
	size_t done = 0;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > most)
		return false;
	bytes = malloc((size_t)st.st_size + 1);
	while (bytes && done < (size_t)st.st_size && (n = read(fd, bytes + done, (size_t)st.st_size - done)) > 0)
		done += (size_t)n;
	if (!bytes || n < 0)
		return false;
	bytes[done] = '\0';
	*bytes_ret = ray_take(bytes);
	*size_ret = done;
	return true;
}
