/* attach_multi.c - see attach_multi.h. SPDX-License-Identifier: MIT
 *
 * Through bpf(2) itself: Debian 12's libbpf and headers are older than this kind of link. A thousand probes take one call and go in
 * milliseconds, where a perf event each takes tens of milliseconds to close. CAP_BPF and CAP_PERFMON are enough for it. */
#include "engine/attach_multi.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/attach.h"

enum { FLAG_RETURN = 1, AT_ONCE = 4096 };

/* The part of union bpf_attr that BPF_LINK_CREATE reads for uprobe_multi. */
struct multi_attr {
	__u32 prog_fd;
	__u32 target_fd;
	__u32 attach_type;
	__u32 flags;
	__aligned_u64 path;
	__aligned_u64 offsets;
	__aligned_u64 semaphores;
	__aligned_u64 cookies;
	__u32 count;
	__u32 multi_flags;
	__u32 pid;
	__u32 pad;
};

static int link_create(struct multi_attr *attr)
{
	attr->attach_type = RAY_ATTACH_UPROBE_MULTI;
	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));
}

/* A kernel that knows it says that a directory has no code; one that does not, that the call is wrong. */
static bool try_it(void)
{
	const struct bpf_insn nothing[] = { RAY_MOV_IMM(BPF_REG_0, 0), RAY_EXIT_INSN };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = (enum bpf_attach_type)RAY_ATTACH_UPROBE_MULTI);
	ray_auto_fd int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "noderay", "Dual MIT/GPL", nothing, 2, &opts);
	uint64_t offset = 0;
	struct multi_attr attr = {
		.prog_fd = (uint32_t)prog, .path = (uintptr_t) "/", .offsets = (uintptr_t)&offset, .count = 1
	};
	ray_auto_fd int link = -1;

	if (prog < 0)
		return false;
	link = link_create(&attr);
	return link < 0 && errno == EBADF;
}

bool ray_uprobe_multi_works(void)
{
	static int answer = -1;

	if (answer < 0)
		answer = try_it();
	return answer;
}

/* Sites in an order in which those of one file and process stand together. */
struct ordered {
	const struct ray_site *site;
	uint64_t point;
};

static int by_file(const void *a, const void *b)
{
	const struct ordered *left = a, *right = b;
	int order = strcmp(left->site->uprobe.file, right->site->uprobe.file);

	if (order)
		return order;
	if (left->site->uprobe.pid != right->site->uprobe.pid)
		return left->site->uprobe.pid < right->site->uprobe.pid ? -1 : 1;
	return left->point < right->point ? -1 : 1;
}

static struct ray_error *attach_group(struct ray_trace *t, const struct ray_entry *e, const struct ordered *at,
				      size_t n)
{
	ray_auto_memory uint64_t *numbers = calloc(n, 3 * sizeof(uint64_t));
	uint64_t *offsets = numbers, *semaphores = numbers + n, *cookies = numbers + 2 * n;
	struct multi_attr attr = {
		.prog_fd = (uint32_t)e->fd,
		.path = (uintptr_t)at->site->uprobe.file,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.count = (uint32_t)n,
		.multi_flags = e->kind == RAY_SITE_URETPROBE ? FLAG_RETURN : 0,
		.pid = (uint32_t)at->site->uprobe.pid,
	};
	int fd;

	if (!numbers)
		return &ray_enomem;
	for (size_t i = 0; i < n; i++) {
		offsets[i] = at[i].site->uprobe.offset;
		semaphores[i] = at[i].site->uprobe.semaphore;
		cookies[i] = at[i].point;
		if (semaphores[i])
			attr.semaphores = (uintptr_t)semaphores;
	}
	fd = link_create(&attr);
	if (fd < 0 && ray_site_is_gone(at->site))
		return NULL;
	return fd < 0 ? ray_attach_error(errno, at->site->uprobe.file) : ray_link_keep(t, fd, at->site->uprobe.pid);
}

static bool same_group(const struct ordered *a, const struct ordered *b)
{
	return a->site->uprobe.pid == b->site->uprobe.pid && !strcmp(a->site->uprobe.file, b->site->uprobe.file);
}

static struct ray_error *attach_groups(struct ray_trace *t, const struct ray_entry *e, struct ordered *all, size_t n)
{
	struct ray_error *err = NULL;
	size_t i, first;

	qsort(all, n, sizeof(*all), by_file);
	for (first = 0; first < n && !err; first = i) {
		for (i = first + 1; i < n && i - first < AT_ONCE && same_group(&all[first], &all[i]); i++)
			;
		err = attach_group(t, e, &all[first], i - first);
	}
	return err;
}

struct ray_error *ray_uprobe_multi_attach(struct ray_trace *t, struct ray_entry *e)
{
	ray_auto_memory struct ordered *all = calloc(e->sites.n, sizeof(*all));
	size_t i, n;

	if (!all)
		return &ray_enomem;
	for (i = 0, n = 0; i < e->sites.n; i++)
		if (e->sites.at[i])
			all[n++] = (struct ordered){ e->sites.at[i], e->first_point + i };
	return attach_groups(t, e, all, n);
}

struct ray_error *ray_uprobe_multi_attach_late(struct ray_trace *t, struct ray_entry *e)
{
	ray_auto_memory struct ordered *all = calloc(t->late.n + 1, sizeof(*all));
	size_t n = 0;

	if (!all)
		return &ray_enomem;
	for (size_t i = 0; i < t->late.n; i++)
		if (t->late.at[i].entry == e)
			all[n++] = (struct ordered){ t->late.at[i].site, t->late.at[i].point };
	return n ? attach_groups(t, e, all, n) : NULL;
}
