/* tracefs.c - finding tracefs and reading its files. SPDX-License-Identifier: MIT */
#include "probe/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

enum { MOST_BYTES = 1 << 20 };

/* A directory that is not mounted is there too, but empty. */
static int mounted_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && faccessat(fd, "events", X_OK, 0)) {
		int saved = errno;

		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

static int private_mount(void)
{
	ray_auto_fd int fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);

	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

struct ray_error *ray_tracefs_open(int *ret)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	struct ray_error *err;
	int denied = 0;
	int fd = -1;

	for (size_t i = 0; i < RAY_COUNT(places) && fd < 0; i++) {
		fd = mounted_open(places[i]);
		if (fd < 0 && errno == EACCES)
			denied = EACCES;
	}
	if (fd < 0)
		fd = private_mount();
	if (fd >= 0) {
		*ret = fd;
		return NULL;
	}
	err = ray_error_errno(RAY_FAILED, denied ? denied : errno,
			      "cannot read the kernel's list of tracepoints (tracefs)");
	return denied ? ray_error_remedy(err, "run as root, or let your group read it: sudo mount -o "
					      "remount,mode=0750,gid=$(id -g) /sys/kernel/tracing") :
			ray_error_remedy(err, "sudo mount -t tracefs nodev /sys/kernel/tracing");
}

struct ray_error *ray_tracefs_read(int tracefs, const char *path, char **ret)
{
	ray_auto_fd int fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);
	ray_auto_text text = { 0 };
	char buffer[4096];
	ssize_t n = -1;

	if (fd < 0)
		return ray_error_errno(RAY_FAILED, errno, "tracefs: cannot open %s", path);
	while (text.length < MOST_BYTES && (n = read(fd, buffer, sizeof(buffer))) > 0)
		ray_text_add_bytes(&text, buffer, n);
	if (n < 0)
		return ray_error_errno(RAY_FAILED, errno, "tracefs: cannot read %s", path);
	if (text.failed)
		return &ray_enomem;
	ray_text_add(&text, "");
	*ret = ray_take(text.bytes);
	return *ret ? NULL : ray_error_new(RAY_FAILED, "tracefs: %s is empty", path);
}
