/* root_file.h - files as a process sees them: below its own root, in its own mounts. SPDX-License-Identifier: MIT */
#ifndef RAY_TARGET_ROOT_FILE_H
#define RAY_TARGET_ROOT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The whole of the regular file at path, in the root of process pid; 0, or a process that has ended: in our own. *bytes_ret is malloc'ed.
 * False: there is none, it may not be read, or it is larger than most. */
bool ray_root_file_read(pid_t pid, const char *path, size_t most, char **bytes_ret, size_t *size_ret);

#endif
