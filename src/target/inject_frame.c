/* inject_frame.c - see inject_frame.h. SPDX-License-Identifier: MIT */
#include "target/inject_frame.h"

#include <string.h>

/* The kernel's struct sigcontext and ucontext; the C library's differ in name only. */
struct context {
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t di, si, bp, bx, dx, ax, cx, sp, ip, flags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2, fpstate, reserved[8];
};

struct frame {
	uint64_t return_to;
	uint64_t uc_flags, uc_link;
	uint64_t stack_sp, stack_flags, stack_size; /* all zero: the alternate stack stays as it is */
	struct context c;
	uint64_t mask;
};

_Static_assert(sizeof(struct context) == 256, "the kernel's layout");

enum {
	UC_FP_XSTATE = 1,
	UC_SIGCONTEXT_SS = 2,
	UC_STRICT_RESTORE_SS = 4,
	ALIGN = 64,
	SW_RESERVED = 464, /* in the legacy area: what follows it */
	XSTATE_HEADER = 512,
};

static const uint32_t magic1 = 0x46505853, magic2 = 0x46505845;

/* The state must start at a multiple of 64 and ends with a magic number. */
static size_t fp_offset(void)
{
	return (sizeof(struct frame) + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

size_t ray_frame_size(size_t xstate_size)
{
	return (fp_offset() + xstate_size + sizeof(magic2) + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static void put_xstate(const struct ray_frame *f, unsigned char *out)
{
	struct {
		uint32_t magic, extended_size;
		uint64_t features;
		uint32_t size, padding[7];
	} sw = { .magic = magic1,
		 .extended_size = (uint32_t)(f->xstate_size + sizeof(magic2)),
		 .size = (uint32_t)f->xstate_size };

	memcpy(out, f->xstate, f->xstate_size);
	/* ptrace keeps the mask of all features that this kernel uses where the frame has its own mark. */
	memcpy(&sw.features, out + SW_RESERVED, sizeof(sw.features));
	memcpy(out + SW_RESERVED, &sw, sizeof(sw));
	memcpy(out + f->xstate_size, &magic2, sizeof(magic2));
}

void ray_frame_build(const struct ray_frame *f, uint64_t at, unsigned char *out)
{
	const struct user_regs_struct *r = f->registers;
	struct frame frame = {
		.return_to = f->sigreturn,
		.uc_flags = UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS,
		.c = { .r8 = r->r8,
		       .r9 = r->r9,
		       .r10 = r->r10,
		       .r11 = r->r11,
		       .r12 = r->r12,
		       .r13 = r->r13,
		       .r14 = r->r14,
		       .r15 = r->r15,
		       .di = r->rdi,
		       .si = r->rsi,
		       .bp = r->rbp,
		       .bx = r->rbx,
		       .dx = r->rdx,
		       .ax = r->rax,
		       .cx = r->rcx,
		       .sp = r->rsp,
		       .ip = r->rip,
		       .flags = r->eflags,
		       .cs = (uint16_t)r->cs,
		       .ss = (uint16_t)r->ss },
		.mask = f->mask,
	};

	memset(out, 0, ray_frame_size(f->xstate ? f->xstate_size : 0));
	if (f->xstate && f->xstate_size > XSTATE_HEADER) {
		frame.uc_flags |= UC_FP_XSTATE;
		frame.c.fpstate = at + fp_offset();
		put_xstate(f, out + fp_offset());
	}
	memcpy(out, &frame, sizeof(frame));
}

void ray_frame_restart(struct user_regs_struct *r)
{
	/* ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK */
	const int64_t first = -516, last = -512;
	int64_t result = (int64_t)r->rax;

	if ((int64_t)r->orig_rax < 0 || result < first || result > last || result == -515)
		return;
	r->rax = r->orig_rax;
	r->rip -= 2;
}
