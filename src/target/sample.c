/* sample.c - one look at a running thread without stopping it.
 * SPDX-License-Identifier: MIT
 *
 * The kernel's own sampler (perf_event_open on the CPU clock, user space only) copies registers and
 * stack at one moment. Needs no right on one's own processes unless perf_event_paranoid is above 2. */
#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "target/internal.h"

enum {
	DATA_PAGES = 64,     /* a power of two; room for a few samples */
	STACK_BYTES = 65528, /* the most the kernel takes */
	PERIOD_NS = 500 * 1000,
};

/* What callees keep, and where V8 has the function that is being called (rdi) and the bytecode offset (r9). */
#define USER_REGISTERS                                                                          \
	((1ull << PERF_REG_X86_BX) | (1ull << PERF_REG_X86_DI) | (1ull << PERF_REG_X86_BP) |    \
	 (1ull << PERF_REG_X86_SP) | (1ull << PERF_REG_X86_IP) | (1ull << PERF_REG_X86_R9) |    \
	 (1ull << PERF_REG_X86_R12) | (1ull << PERF_REG_X86_R13) | (1ull << PERF_REG_X86_R14) | \
	 (1ull << PERF_REG_X86_R15))

enum { REGISTERS = 10 };

/* In the order of the bits above, which is the order in the sample. */
static void set_registers(const uint64_t v[REGISTERS], struct user_regs_struct *regs)
{
	memset(regs, 0, sizeof(*regs));
	regs->rbx = v[0];
	regs->rdi = v[1];
	regs->rbp = v[2];
	regs->rsp = v[3];
	regs->rip = v[4];
	regs->r9 = v[5];
	regs->r12 = v[6];
	regs->r13 = v[7];
	regs->r14 = v[8];
	regs->r15 = v[9];
}

static int open_event(int tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = USER_REGISTERS,
		.sample_stack_user = STACK_BYTES,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.wakeup_events = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The first sample in the ring starts at its beginning, since nothing has wrapped yet. */
static bool take_sample(const unsigned char *data, uint64_t head, struct user_regs_struct *regs,
			unsigned char **stack_ret, size_t *size_ret)
{
	uint64_t at = 0;

	while (at + sizeof(struct perf_event_header) <= head) {
		const struct perf_event_header *h = (const void *)(data + at);
		const uint64_t *words = (const void *)(h + 1);
		uint64_t dumped, kept;

		if (h->size < sizeof(*h) || at + h->size > head)
			return false;
		at += h->size;
		/* abi, registers, stack size, the stack, how much of it is real */
		if (h->type != PERF_RECORD_SAMPLE || words[0] != PERF_SAMPLE_REGS_ABI_64)
			continue;
		dumped = words[1 + REGISTERS];
		if (!dumped || dumped > STACK_BYTES || h->size < sizeof(*h) + (3 + REGISTERS) * 8 + dumped)
			continue;
		kept = words[2 + REGISTERS + dumped / 8];
		if (kept > dumped)
			continue;
		*stack_ret = malloc(kept + 1);
		if (!*stack_ret)
			return false;
		memcpy(*stack_ret, words + 2 + REGISTERS, kept);
		*size_ret = kept;
		set_registers(words + 1, regs);
		return true;
	}
	return false;
}

bool ray_sample_thread(int tid, unsigned timeout_ms, struct user_regs_struct *regs, unsigned char **stack_ret,
		       size_t *size_ret, const char **why_ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page * (DATA_PAGES + 1);
	ray_auto_fd int fd = open_event(tid);
	struct perf_event_mmap_page *ring;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	bool found = false;
	uint64_t head;

	if (fd < 0) {
		*why_ret = errno == EACCES || errno == EPERM ?
				   "it is running, and kernel.perf_event_paranoid forbids to sample it" :
				   "it is running and cannot be sampled";
		return false;
	}
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		*why_ret = "no memory for a sample (RLIMIT_MEMLOCK, kernel.perf_event_mlock_kb)";
		return false;
	}
	*why_ret = "it did not run in user space long enough to be sampled";
	poll(&p, 1, (int)timeout_ms);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	if (head <= size - page)
		found = take_sample((unsigned char *)ring + page, head, regs, stack_ret, size_ret);
	munmap(ring, size);
	return found;
}
