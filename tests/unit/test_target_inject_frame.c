/* test_target_inject_frame.c - signal frames that restore registers. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/auto.h"
#include "target/inject_frame.h"

static struct user_regs_struct interrupted(long number, long result)
{
	return (struct user_regs_struct){ .rip = 0x1002,
					  .orig_rax = (unsigned long long)number,
					  .rax = (unsigned long long)result };
}

static void an_interrupted_call_starts_anew(void **state)
{
	static const long restarts[] = { -512, -513, -514, -516 };
	(void)state;

	for (size_t i = 0; i < RAY_COUNT(restarts); i++) {
		struct user_regs_struct r = interrupted(35, restarts[i]);

		ray_frame_restart(&r);
		assert_int_equal(r.rip, 0x1000);
		assert_int_equal(r.rax, 35);
	}
}

static void other_results_are_left_alone(void **state)
{
	static const long results[] = { -515, -511, -517, -4, 0, 7 };
	struct user_regs_struct r = interrupted(-1, -512);
	(void)state;

	ray_frame_restart(&r);
	assert_int_equal(r.rip, 0x1002);
	for (size_t i = 0; i < RAY_COUNT(results); i++) {
		r = interrupted(35, results[i]);
		ray_frame_restart(&r);
		assert_int_equal(r.rip, 0x1002);
		assert_int_equal(r.rax, (unsigned long long)results[i]);
	}
}

/* A function that can be called with a stack pointer of our own: mov rsp, rdi; ret */
static const unsigned char code[] = { 0x48, 0x89, 0xfc, 0xc3, 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };

/* A child stops itself; another look at it after it went through the frame must see the same registers. */
static void the_kernel_restores_what_the_frame_says(void **state)
{
	unsigned char *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static unsigned char xstate[65536], again[65536];
	struct iovec x = { xstate, sizeof(xstate) }, y = { again, sizeof(again) }, iov, remote;
	struct user_regs_struct wanted, got, jump;
	ray_auto_memory unsigned char *bytes = NULL;
	uint64_t at;
	int status;
	pid_t child;
	(void)state;

	assert_true(page != MAP_FAILED);
	memcpy(page, code, sizeof(code));
	at = (uint64_t)(uintptr_t)page + 4096;
	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		for (;;)
			raise(SIGSTOP);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &wanted), 0);
	assert_int_equal(ptrace(PTRACE_GETREGSET, child, (void *)NT_X86_XSTATE, &x), 0);
	wanted.rip = at - 4096 + 64; /* int3 */
	wanted.orig_rax = ~0ull;
	wanted.rax = 1;
	wanted.r11 = 2;
	wanted.rcx = 3;
	wanted.rsp -= 512;
	bytes = malloc(ray_frame_size(x.iov_len));
	ray_frame_build(&(struct ray_frame){ &wanted, 0x1000, at - 4096 + 4, xstate, x.iov_len }, at, bytes);
	iov = (struct iovec){ bytes, ray_frame_size(x.iov_len) };
	remote = (struct iovec){ (void *)(uintptr_t)at, iov.iov_len };
	assert_int_equal(process_vm_writev(child, &iov, 1, &remote, 1, 0), iov.iov_len);
	assert_int_equal(ptrace(PTRACE_POKEDATA, child, (void *)(uintptr_t)wanted.rip, (void *)0xcc), 0);
	jump = wanted;
	jump.rip = at - 4096;
	jump.rdi = at;
	jump.rax = jump.rbx = jump.r12 = 77;
	assert_int_equal(ptrace(PTRACE_SETREGS, child, NULL, &jump), 0);
	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(WSTOPSIG(status), SIGTRAP);
	assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &got), 0);
	assert_int_equal(ptrace(PTRACE_GETREGSET, child, (void *)NT_X86_XSTATE, &y), 0);
	got.rip--; /* behind the int3 */
	got.eflags = wanted.eflags;
	assert_memory_equal(&got, &wanted, sizeof(got));
	assert_int_equal(y.iov_len, x.iov_len);
	assert_memory_equal(again, xstate, 416); /* x87, mxcsr, xmm */
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	munmap(page, 65536);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interrupted_call_starts_anew),
		cmocka_unit_test(other_results_are_left_alone),
		cmocka_unit_test(the_kernel_restores_what_the_frame_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
