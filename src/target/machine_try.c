/* machine_try.c - see machine_try.h. SPDX-License-Identifier: MIT
 *
 * Each attempt is on this process or a child of it, and is undone before the function returns. bpf(2) is called
 * directly, with structures of our own: the headers of an older system lack what newer kernels have. */
#include "target/machine_try.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/auto.h"

enum ray_answer ray_try_ptrace(void)
{
	pid_t child = fork();
	bool seized;

	if (child < 0)
		return RAY_MAYBE;
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	seized = !ptrace(PTRACE_SEIZE, child, 0, 0);
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return seized ? RAY_YES : RAY_NO;
}

enum ray_answer ray_try_perf(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	ray_auto_fd int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd >= 0 ? RAY_YES : RAY_NO;
}

/* Numbers of include/uapi/linux/bpf.h. */
enum {
	MAP_CREATE = 0,
	PROG_LOAD = 5,
	LINK_CREATE = 28,
	TYPE_RING_BUFFER = 27,
	TYPE_KPROBE = 2,
	ATTACH_UPROBE_MULTI = 48,
};

static int bpf(int command, void *attr, size_t size)
{
	return (int)syscall(SYS_bpf, command, attr, size);
}

/* r0 = 0; exit. Returns its descriptor, or -1 with errno. */
static int load_program(uint32_t attach_type)
{
	static const uint64_t code[] = { 0x00000000000000b7, 0x0000000000000095 };
	struct {
		uint32_t type, count;
		uint64_t code, licence;
		uint32_t log_level, log_size;
		uint64_t log;
		uint32_t kernel_version, flags;
		char name[16];
		uint32_t ifindex, expected_attach_type;
	} attr = { 0 };

	attr.type = TYPE_KPROBE;
	attr.count = RAY_COUNT(code);
	attr.code = (uint64_t)(uintptr_t)code;
	attr.licence = (uint64_t)(uintptr_t) "Dual MIT/GPL";
	attr.expected_attach_type = attach_type;
	return bpf(PROG_LOAD, &attr, sizeof(attr));
}

static enum ray_answer answer(int fd)
{
	if (fd >= 0)
		return RAY_YES;
	return errno == EPERM || errno == EACCES ? RAY_MAYBE : RAY_NO;
}

enum ray_answer ray_try_bpf(void)
{
	ray_auto_fd int fd = load_program(0);

	return answer(fd);
}

enum ray_answer ray_try_ring_buffer(void)
{
	struct {
		uint32_t type, key_size, value_size, max_entries, flags;
	} attr = { TYPE_RING_BUFFER, 0, 0, (uint32_t)sysconf(_SC_PAGESIZE), 0 };
	ray_auto_fd int fd = bpf(MAP_CREATE, &attr, sizeof(attr));

	return answer(fd);
}

/* A link onto a directory: a kernel that knows the kind looks at the path and says EBADF. */
enum ray_answer ray_try_uprobe_multi(void)
{
	ray_auto_fd int program = load_program(ATTACH_UPROBE_MULTI);
	unsigned long offset = 0;
	struct {
		uint32_t program, target, attach_type, flags;
		uint64_t path, offsets, ref_counters, cookies;
		uint32_t count, multi_flags, pid, pad;
	} attr = { 0 };
	ray_auto_fd int fd = -1;

	if (program < 0)
		return answer(program);
	attr.program = (uint32_t)program;
	attr.attach_type = ATTACH_UPROBE_MULTI;
	attr.path = (uint64_t)(uintptr_t) "/";
	attr.offsets = (uint64_t)(uintptr_t)&offset;
	attr.count = 1;
	fd = bpf(LINK_CREATE, &attr, sizeof(attr) - sizeof(attr.pad));
	return fd < 0 && errno == EBADF ? RAY_YES : fd < 0 && (errno == EPERM || errno == EACCES) ? RAY_MAYBE : RAY_NO;
}
