/* inject.c - see inject.h. SPDX-License-Identifier: MIT */
#include "target/inject.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "target/inject_frame.h"
#include "target/proc.h"

enum {
	RED_ZONE = 128,
	MAX_XSTATE = 64 << 10,
	TIMEOUT_S = 60, /* forking a process of 100 GiB takes seconds */
	TRIES = 16,
	SYSCALL_STOP = SIGTRAP | 0x80,
};

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#define PTRACE_SETSIGMASK 0x420b
#endif

struct ray_inject {
	int pid, tid;
	struct user_regs_struct saved;
	uint64_t mask;
	struct ray_gadgets gadgets;
	uint64_t frame, child_frame; /* where they were laid */
	bool borrowed;
	uint64_t begun_ns, ended_ns;
	int child; /* as noderay counts; 0: none yet */
};

/* ------------------------------------------------------------------------- choosing a thread */

/* A filter might answer the calls with death; only root can suspend it. */
static bool has_seccomp(int tid)
{
	char text[16384];
	const char *mode;

	ray_proc_read(text, sizeof(text), "/proc/%d/status", tid);
	mode = strstr(text, "\nSeccomp:\t");
	return !mode || mode[strlen("\nSeccomp:\t")] != '0';
}

static bool has_room(const struct ray_map *maps, size_t count, uint64_t sp, uint64_t lowest)
{
	for (size_t i = 0; i < count; i++)
		if (sp > maps[i].start && sp <= maps[i].end)
			return lowest >= maps[i].start && (maps[i].prot & PROT_WRITE);
	return false;
}

/* Lays the frames below the stack of one thread. */
static bool lay_frames(struct ray_inject *in, struct ray_stop *stop, const struct ray_map *maps, size_t count)
{
	ray_auto_memory unsigned char *xstate = malloc(MAX_XSTATE), *bytes = NULL;
	size_t xstate_size = MAX_XSTATE, size, child_size = ray_frame_size(0);
	struct user_regs_struct mended = in->saved, dying = in->saved;
	struct ray_frame frame = { &mended, in->mask, in->gadgets.sigreturn, xstate, 0 };
	struct iovec local, remote;

	if (!xstate || !ray_stop_regset(stop, in->tid, NT_X86_XSTATE, xstate, &xstate_size))
		return false;
	frame.xstate_size = xstate_size;
	size = ray_frame_size(xstate_size);
	in->frame = (in->saved.rsp - RED_ZONE - size) & ~63ull;
	in->child_frame = in->frame - child_size;
	bytes = malloc(size + child_size);
	if (!bytes || !has_room(maps, count, in->saved.rsp, in->child_frame))
		return false;
	ray_frame_restart(&mended);
	dying.rip = in->gadgets.call;
	dying.rax = SYS_exit_group;
	dying.rdi = 0;
	ray_frame_build(&(struct ray_frame){ &dying, ~0ull, in->gadgets.sigreturn, NULL, 0 }, in->child_frame, bytes);
	ray_frame_build(&frame, in->frame, bytes + child_size);
	local = (struct iovec){ bytes, size + child_size };
	remote = (struct iovec){ (void *)(uintptr_t)in->child_frame, size + child_size };
	return process_vm_writev(in->pid, &local, 1, &remote, 1, 0) == (ssize_t)(size + child_size);
}

static bool prepare(struct ray_inject *in, struct ray_stop *stop, const struct ray_map *maps, size_t count)
{
	return !ptrace(PTRACE_GETSIGMASK, in->tid, (void *)sizeof(in->mask), &in->mask) &&
	       lay_frames(in, stop, maps, count);
}

/* From here on the thread's registers are not its own. Signals wait, but for SIGKILL. */
static struct ray_error *borrow(struct ray_inject *in)
{
	uint64_t all = ~0ull;
	unsigned long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE;

	if (has_seccomp(in->tid))
		options |= PTRACE_O_SUSPEND_SECCOMP;
	if (ptrace(PTRACE_SETOPTIONS, in->tid, NULL, (void *)options)) {
		if (options & PTRACE_O_SUSPEND_SECCOMP)
			return ray_error_remedy(
				ray_error_new(RAY_DENIED, "process %d has a seccomp filter that might forbid the fork",
					      in->pid),
				"run as root, or without --fork");
		return ray_error_errno(RAY_FAILED, errno, "cannot trace thread %d", in->tid);
	}
	if (ptrace(PTRACE_SETSIGMASK, in->tid, (void *)sizeof(all), &all)) {
		ptrace(PTRACE_SETOPTIONS, in->tid, NULL, NULL);
		return ray_error_errno(RAY_FAILED, errno, "cannot hold back the signals of thread %d", in->tid);
	}
	in->begun_ns = ray_clock_ns();
	in->borrowed = true;
	return NULL;
}

/* One that slept: on a busy machine the scheduler lets it run at once, while one that computes has to wait for
 * its turn each time. Every kind of memory is the same for all of them. */
static bool is_sleeper(const struct ray_inject *in)
{
	return in->tid != in->pid && (int64_t)in->saved.orig_rax >= 0;
}

struct ray_error *ray_inject_begin(struct ray_stop *stop, const struct ray_gadgets *gadgets, const struct ray_map *maps,
				   size_t count, struct ray_inject **ret)
{
	ray_auto(ray_inject, in) = calloc(1, sizeof(*in));
	const struct ray_stop_thread *threads;
	struct ray_error *err;
	size_t n;

	if (!in)
		return &ray_enomem;
	in->gadgets = *gadgets;
	threads = ray_stop_threads(stop, &n);
	in->pid = ray_stop_pid(stop);
	for (size_t i = 0; i < 2 * n; i++) {
		in->tid = threads[i % n].tid;
		if (!threads[i % n].stopped || threads[i % n].delivering ||
		    !ray_stop_registers(stop, in->tid, &in->saved) || (i < n && !is_sleeper(in)) ||
		    !prepare(in, stop, maps, count))
			continue;
		err = borrow(in);
		if (!err)
			*ret = ray_take(in);
		return err;
	}
	return ray_error_remedy(ray_error_new(RAY_FAILED, "no thread of process %d can run the fork now", in->pid),
				"try again, or without --fork");
}

/* ------------------------------------------------------------------------- running calls */

static struct ray_error *lost(const struct ray_inject *in)
{
	return ray_error_new(RAY_FAILED, "thread %d ended or did not come back from a system call", in->tid);
}

/* Waits for a stop. False: it ended, or TIMEOUT_S have passed. */
static bool wait_stop(int tid, int *status)
{
	struct timespec nap = { .tv_nsec = 20000 };
	uint64_t deadline = ray_clock_ns() + (uint64_t)TIMEOUT_S * 1000000000;
	unsigned spins = 0;
	int r;

	for (;;) {
		r = waitpid(tid, status, __WALL | WNOHANG);
		if (r == tid)
			return WIFSTOPPED(*status);
		if ((r < 0 && errno != EINTR) || ray_clock_ns() > deadline)
			return false;
		if (spins++ < 50)
			sched_yield();
		else
			nanosleep(&nap, NULL);
	}
}

static bool set_registers(int tid, struct user_regs_struct *r)
{
	struct iovec iov = { r, sizeof(*r) };

	return !ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &iov);
}

static bool get_registers(int tid, struct user_regs_struct *r)
{
	struct iovec iov = { r, sizeof(*r) };

	return !ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov) && iov.iov_len == sizeof(*r);
}

/* A new child stops by itself before its first instruction; from then on it dies with us. */
static bool adopt(struct ray_inject *in)
{
	unsigned long pid;
	int status;

	if (ptrace(PTRACE_GETEVENTMSG, in->tid, NULL, &pid))
		return false;
	in->child = (int)pid;
	return wait_stop(in->child, &status) &&
	       !ptrace(PTRACE_SETOPTIONS, in->child, NULL, (void *)(uintptr_t)PTRACE_O_EXITKILL);
}

/* SIGSTOP cannot be held back: the thread that stopped for it is to have it when it runs on. */
static void *to_deliver(int status)
{
	bool is_delivery = WIFSTOPPED(status) && !(status >> 16) && WSTOPSIG(status) != SYSCALL_STOP;

	return (void *)(intptr_t)(is_delivery ? WSTOPSIG(status) : 0);
}

/* Runs on until the thread is at the entry of a system call, or at its end. */
static bool run_to_syscall_stop(struct ray_inject *in)
{
	int status = 0;

	for (int i = 0; i < TRIES; i++) {
		if (ptrace(PTRACE_SYSCALL, in->tid, NULL, to_deliver(status)) || !wait_stop(in->tid, &status))
			return false;
		if (WSTOPSIG(status) == SYSCALL_STOP)
			return true;
		if (status >> 16 == PTRACE_EVENT_CLONE && !adopt(in))
			return false;
	}
	return false;
}

struct ray_error *ray_inject_call(struct ray_inject *in, long number, const uint64_t args[5], int64_t *result_ret)
{
	struct user_regs_struct r = in->saved;

	r.rip = in->gadgets.call;
	r.rsp = in->frame;
	r.rax = (unsigned long long)number;
	r.orig_rax = ~0ull; /* no system call is to be restarted */
	r.rdi = args[0];
	r.rsi = args[1];
	r.rdx = args[2];
	r.r10 = args[3];
	r.r8 = args[4];
	r.eflags &= ~0x500ull; /* neither single steps nor backwards strings */
	if (!set_registers(in->tid, &r) || !run_to_syscall_stop(in) || !run_to_syscall_stop(in) ||
	    !get_registers(in->tid, &r))
		return lost(in);
	*result_ret = (int64_t)r.rax;
	return NULL;
}

struct ray_error *ray_inject_fork(struct ray_inject *in, int *child_ret, int *inner_ret)
{
	/* No signal at its end; the table of descriptors is shared, so that what the target closes is closed. */
	const uint64_t args[5] = { CLONE_FILES, in->child_frame, 0, 0, 0 };
	struct ray_error *err;
	int64_t result;

	err = ray_inject_call(in, SYS_clone, args, &result);
	if (err)
		return err;
	if (result < 0)
		return ray_error_remedy(ray_error_errno(RAY_FAILED, (int)-result, "process %d cannot fork", in->pid),
					"without --fork it is not needed");
	if (!in->child)
		return lost(in);
	*child_ret = in->child;
	*inner_ret = (int)result;
	return NULL;
}

/* ------------------------------------------------------------------------- giving back */

/* Only at a stop of this kind does the kernel still look whether a system call is to be restarted. */
static bool stop_before_user_mode(struct ray_inject *in)
{
	int status = 0;

	for (int i = 0; i < TRIES; i++) {
		if (ptrace(PTRACE_INTERRUPT, in->tid, NULL, NULL) ||
		    ptrace(PTRACE_CONT, in->tid, NULL, to_deliver(status)) || !wait_stop(in->tid, &status))
			return false;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return true;
	}
	return false;
}

bool ray_inject_end(struct ray_inject *in)
{
	bool ok;

	if (!in->borrowed)
		return true;
	in->borrowed = false;
	ok = stop_before_user_mode(in) && set_registers(in->tid, &in->saved) &&
	     !ptrace(PTRACE_SETSIGMASK, in->tid, (void *)sizeof(in->mask), &in->mask);
	in->ended_ns = ray_clock_ns();
	ptrace(PTRACE_SETOPTIONS, in->tid, NULL, NULL);
	return ok;
}

uint64_t ray_inject_ns(const struct ray_inject *in)
{
	return in->ended_ns - in->begun_ns;
}

void ray_inject_free(struct ray_inject *in)
{
	if (!in)
		return;
	ray_inject_end(in);
	free(in);
}
