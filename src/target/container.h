/* container.h - which container a process is in, from its control groups.
 * SPDX-License-Identifier: MIT
 *
 * Pure: the text of /proc/PID/cgroup in, a name out. Container runtimes name a control group after the
 * container: 64 hex digits (docker, containerd, podman, cri-o, kubernetes), or a name (lxc, systemd-nspawn). */
#ifndef RAY_TARGET_CONTAINER_H
#define RAY_TARGET_CONTAINER_H

#include <stdbool.h>

struct ray_container {
	char id[65];   /* all of it; "" when in none */
	char name[33]; /* short: 12 hex digits, or the name */
	char runtime
		[16]; /* "docker", "containerd", "podman", "cri-o", "kubernetes", "lxc", "nspawn"; "" if not known */
};

/* False when the text names none. */
bool ray_container_parse(const char *cgroup, struct ray_container *ret);

#endif
