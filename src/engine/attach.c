/* attach.c - hangs loaded programs in: raw tracepoints, tracepoints, clocks.
 * SPDX-License-Identifier: MIT
 *
 * Nothing is written to tracefs and nothing is pinned: the kernel takes everything away when the file descriptors go, however this process ends. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/attach.h"
#include "engine/cpus.h"
#include "engine/progeny.h"

struct ray_error *ray_attach_error(int errnum, const char *what)
{
	struct ray_error *err = ray_error_errno(RAY_FAILED, errnum, "cannot attach to %s", what);

	if (errnum == EPERM || errnum == EACCES)
		return ray_error_remedy(err, "run as root, or give noderay the capabilities it needs: setcap "
					     "cap_bpf,cap_perfmon,cap_sys_ptrace+ep $(command -v noderay)");
	if (errnum == EMFILE || errnum == ENFILE)
		return ray_error_remedy(err, "raise the number of open files: ulimit -n");
	return err;
}

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* A program that was loaded for a certain tracepoint has its name from there. */
static struct ray_error *raw_attach(struct ray_trace *t, const struct ray_entry *e, const char *name)
{
	uint64_t given = e->attach_type_id ? 0 : (uint64_t)(uintptr_t)name;
	union bpf_attr attr = { .raw_tracepoint = { .name = given, .prog_fd = e->fd } };
	long fd = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);

	return fd < 0 ? ray_attach_error(errno, name) : ray_link_keep(t, (int)fd, 0);
}

/* Kernels before 5.15 have no link for perf events; we ask for 6.1 at least. */
static struct ray_error *perf_link(struct ray_trace *t, const struct ray_entry *e, int perf_fd, uint32_t point,
				   const char *what)
{
	union bpf_attr attr = { 0 };
	long fd;

	attr.link_create.prog_fd = e->fd;
	attr.link_create.target_fd = perf_fd;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = point;
	fd = bpf(BPF_LINK_CREATE, &attr);
	return fd < 0 ? ray_attach_error(errno, what) : ray_link_keep(t, (int)fd, 0);
}

struct ray_error *ray_perf_attach(struct ray_trace *t, const struct ray_entry *e, struct perf_event_attr *attr, int cpu,
				  uint32_t point, const char *what)
{
	ray_auto_fd int fd = -1; /* the link keeps the event */

	attr->size = sizeof(*attr);
	fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? ray_attach_error(errno, what) : perf_link(t, e, fd, point, what);
}

/* ---- clocks ---- */

static struct ray_error *clock_attach(struct ray_trace *t, const struct ray_entry *e, size_t i, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = e->sites.at[i]->period_ns,
		/* A CPU that has nothing to do runs no process that is followed: its clock need not ask us. */
		.exclude_idle = e->kind == RAY_SITE_PROFILE && ray_progeny_is_wanted(t),
	};

	return ray_perf_attach(t, e, &attr, cpu, e->first_point + i, e->probes.at[i]->name);
}

static struct ray_error *clocks_attach(struct ray_trace *t, const struct ray_entry *e)
{
	ray_auto_cpus cpus = { 0 };
	struct ray_error *err = ray_cpus_online(&cpus);
	int only = t->options.cpu;

	for (size_t i = 0; i < e->sites.n && !err; i++) {
		if (only >= 0 || e->kind == RAY_SITE_TICK)
			err = clock_attach(t, e, i, only >= 0 ? only : cpus.at[0]);
		else
			for (size_t k = 0; k < cpus.n && !err; k++)
				err = clock_attach(t, e, i, cpus.at[k]);
	}
	return err;
}

/* ---- tracepoints ---- */

static struct ray_error *tracepoint_attach(struct ray_trace *t, const struct ray_entry *e)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = e->sites.at[0]->tracepoint.id,
		.sample_period = 1,
		.wakeup_events = 1,
	};

	/* Programs of a tracepoint run on every CPU, whichever the event was opened for. */
	return ray_perf_attach(t, e, &attr, 0, e->first_point, e->name);
}

/* ---- all ---- */

static bool is_hook_of_calls(const struct ray_entry *e)
{
	return e->is_watch && (e->kind == RAY_SITE_SYSCALL_ENTER || e->kind == RAY_SITE_SYSCALL_EXIT);
}

static struct ray_error *entry_attach(struct ray_trace *t, struct ray_entry *e)
{
	switch (e->kind) {
	case RAY_SITE_PROFILE:
	case RAY_SITE_TICK:
		return clocks_attach(t, e);
	case RAY_SITE_SYSCALL_ENTER:
		return raw_attach(t, e, "sys_enter");
	case RAY_SITE_SYSCALL_EXIT:
		return raw_attach(t, e, "sys_exit");
	case RAY_SITE_RAW_TRACEPOINT:
		return raw_attach(t, e, e->name);
	case RAY_SITE_TRACEPOINT:
		return tracepoint_attach(t, e);
	case RAY_SITE_UPROBE:
	case RAY_SITE_URETPROBE:
		return ray_uprobes_attach(t, e);
	default:
		return NULL;
	}
}

struct ray_error *ray_calls_attach(struct ray_trace *t)
{
	struct ray_error *err = NULL;

	if (t->has_calls)
		return NULL;
	for (size_t i = 0; i < t->entries.n && !err; i++)
		if (is_hook_of_calls(t->entries.at[i]))
			err = entry_attach(t, t->entries.at[i]);
	t->has_calls = true;
	return err;
}

struct ray_error *ray_entries_attach(struct ray_trace *t)
{
	struct ray_error *err = NULL;

	for (size_t i = 0; i < t->entries.n && !err; i++)
		if (t->has_calls || !is_hook_of_calls(t->entries.at[i]))
			err = entry_attach(t, t->entries.at[i]);
	return err;
}
