/* machine.c - see machine.h. SPDX-License-Identifier: MIT */
#include "target/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/auto.h"
#include "target/machine_try.h"

/* The first namespaces have fixed numbers (include/linux/proc_ns.h). */
static const uint64_t first_user_namespace = 0xeffffffd, first_pid_namespace = 0xeffffffc;

static bool read_line(const char *path, char *out, int size)
{
	ray_auto_file FILE *f = fopen(path, "re");

	if (!f || !fgets(out, size, f))
		return false;
	out[strcspn(out, "\n")] = '\0';
	return true;
}

static int read_number(const char *path)
{
	char line[32], *end;
	long v;

	if (!read_line(path, line, sizeof(line)))
		return RAY_UNKNOWN;
	v = strtol(line, &end, 10);
	return end == line ? RAY_UNKNOWN : (int)v;
}

static bool is_first_namespace(const char *path, uint64_t number)
{
	struct stat st;

	return stat(path, &st) || st.st_ino == number;
}

static void look_at_kernel(struct ray_machine *m)
{
	unsigned major_number = 0, minor_number = 0;
	struct utsname u;

	if (uname(&u))
		return;
	snprintf(m->kernel, sizeof(m->kernel), "%s", u.release);
	snprintf(m->architecture, sizeof(m->architecture), "%s", u.machine);
	if (sscanf(u.release, "%u.%u", &major_number, &minor_number) == 2)
		m->kernel_version = major_number << 16 | minor_number << 8;
}

static void look_at_self(struct ray_machine *m)
{
	ray_auto_file FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	m->uid = geteuid();
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "CapEff: %" SCNx64, &m->capabilities);
		sscanf(line, "Seccomp: %d", &m->seccomp);
	}
	m->user_namespace = !is_first_namespace("/proc/self/ns/user", first_user_namespace);
	m->pid_namespace = !is_first_namespace("/proc/self/ns/pid", first_pid_namespace);
}

/* "... /proc rw,... - proc proc rw,hidepid=invisible": only what is mounted on /proc itself. */
static bool is_proc_hidden(void)
{
	ray_auto_file FILE *f = fopen("/proc/self/mountinfo", "re");
	ray_auto_memory char *line = NULL;
	bool hidden = false;
	size_t cap = 0;
	const char *at;

	while (f && getline(&line, &cap, f) > 0) {
		if (!strstr(line, " /proc ") || !strstr(line, " - proc "))
			continue;
		at = strstr(line, "hidepid=");
		hidden = at && strncmp(at, "hidepid=0", 9) != 0 && strncmp(at, "hidepid=off", 11) != 0;
	}
	return hidden;
}

static void look_for_container(struct ray_machine *m)
{
	ray_auto_file FILE *f = fopen("/proc/self/cgroup", "re");
	const char *environment = getenv("container");
	char text[8192];
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[n] = '\0';
	m->in_container = ray_container_parse(text, &m->container);
	if (m->in_container)
		return;
	memset(&m->container, 0, sizeof(m->container));
	m->in_container = true;
	if (!access("/.dockerenv", F_OK))
		snprintf(m->container.runtime, sizeof(m->container.runtime), "docker");
	else if (!access("/run/.containerenv", F_OK))
		snprintf(m->container.runtime, sizeof(m->container.runtime), "podman");
	else if (getenv("KUBERNETES_SERVICE_HOST"))
		snprintf(m->container.runtime, sizeof(m->container.runtime), "kubernetes");
	else if (environment && *environment)
		snprintf(m->container.runtime, sizeof(m->container.runtime), "%s", environment);
	else
		m->in_container = false;
}

static void look_at_settings(struct ray_machine *m)
{
	struct rlimit limit = { 0 };

	m->paranoid = read_number("/proc/sys/kernel/perf_event_paranoid");
	m->yama = read_number("/proc/sys/kernel/yama/ptrace_scope");
	m->unprivileged_bpf = read_number("/proc/sys/kernel/unprivileged_bpf_disabled");
	m->kptr = read_number("/proc/sys/kernel/kptr_restrict");
	m->suid_dumpable = read_number("/proc/sys/fs/suid_dumpable");
	m->core_uses_pid = read_number("/proc/sys/kernel/core_uses_pid");
	m->jit = read_number("/proc/sys/net/core/bpf_jit_enable");
	read_line("/proc/sys/kernel/core_pattern", m->core_pattern, sizeof(m->core_pattern));
	getrlimit(RLIMIT_CORE, &limit);
	m->core_limit = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
	m->core_limit_hard = limit.rlim_max == RLIM_INFINITY ? UINT64_MAX : limit.rlim_max;
}

/* By the mount table: to other users than root its files look absent. */
static void look_for_tracefs(struct ray_machine *m)
{
	ray_auto_file FILE *f = fopen("/proc/self/mountinfo", "re");
	ray_auto_memory char *line = NULL;
	char path[sizeof(m->tracefs) + 8];
	size_t cap = 0;

	while (f && !m->tracefs[0] && getline(&line, &cap, f) > 0)
		if (strstr(line, " - tracefs ") && sscanf(line, "%*s %*s %*s %*s %127s", m->tracefs) != 1)
			m->tracefs[0] = '\0';
	snprintf(path, sizeof(path), "%s/events", m->tracefs);
	m->tracefs_readable = m->tracefs[0] && !access(path, R_OK);
}

bool ray_machine_has_capability(const struct ray_machine *m, int number)
{
	return m->capabilities >> number & 1;
}

void ray_machine_look(struct ray_machine *ret)
{
	memset(ret, 0, sizeof(*ret));
	look_at_kernel(ret);
	look_at_self(ret);
	ret->hidepid = is_proc_hidden();
	look_for_container(ret);
	look_at_settings(ret);
	look_for_tracefs(ret);
	ret->btf = !access("/sys/kernel/btf/vmlinux", R_OK);
	ret->ptrace = ray_try_ptrace();
	ret->perf = ray_try_perf();
	ret->bpf = ray_try_bpf();
	ret->ring_buffer = ray_try_ring_buffer();
	if (ret->ring_buffer == RAY_MAYBE && ret->kernel_version)
		ret->ring_buffer = ret->kernel_version >= (5 << 16 | 8 << 8) ? RAY_YES : RAY_NO;
	ret->uprobe_multi = ray_try_uprobe_multi();
	if (ret->uprobe_multi == RAY_MAYBE && ret->kernel_version)
		ret->uprobe_multi = ret->kernel_version >= (6 << 16 | 6 << 8) ? RAY_YES : RAY_NO;
}
