/* recorder_wait.c - what a thread waits for, as its kernel stack tells. See recorder.h. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "view/recorder_internal.h"

/* The kernel's functions that say it, wherever in the stack they are; the first row that fits counts. A name that ends with '*' is a beginning. */
static const struct {
	const char *function, *what;
} rows[] = {
	{ "rwsem_down_*", "a lock of the kernel" },
	{ "__mutex_lock*", "a lock of the kernel" },
	{ "mutex_lock*", "a lock of the kernel" },
	{ "down_read*", "a lock of the kernel" },
	{ "down_write*", "a lock of the kernel" },
	{ "do_user_addr_fault", "page fault" },
	{ "exc_page_fault", "page fault" },
	{ "handle_mm_fault", "page fault" },
	{ "do_exit", "exit" },
	{ "do_group_exit", "exit" },
	{ "ptrace_stop", "a debugger" },
	{ "do_signal_stop", "SIGCONT (stopped)" },
	{ "io_wqe_worker", "io_uring" },
	{ "io_wq_worker", "io_uring" },
	{ "io_sq_thread", "io_uring" },
};

/* System calls, however the kernel was built: __x64_sys_epoll_wait. */
static const char *const calls[] = { "__x64_sys_", "__do_sys_", "__se_sys_", "__ia32_sys_", "__arm64_sys_", "ksys_" };

static bool fits(const char *function, const char *pattern)
{
	size_t n = strlen(pattern);

	return n && pattern[n - 1] == '*' ? !strncmp(function, pattern, n - 1) : !strcmp(function, pattern);
}

static const char *row_of(const struct ray_fact_stack *kernel)
{
	for (size_t k = 0; k < RAY_COUNT(rows); k++)
		for (size_t i = 0; i < kernel->count; i++)
			if (kernel->frames[i]->function && fits(kernel->frames[i]->function, rows[k].function))
				return rows[k].what;
	return NULL;
}

static const char *call_of(const struct ray_fact_stack *kernel)
{
	for (size_t i = kernel->count; i-- > 0;) {
		const char *function = kernel->frames[i]->function;

		for (size_t k = 0; function && k < RAY_COUNT(calls); k++)
			if (!strncmp(function, calls[k], strlen(calls[k])))
				return function + strlen(calls[k]);
	}
	return NULL;
}

/* Nothing was asked for: it was made to give way, on its way back to the program or in the midst of it. */
static bool is_preempted(const struct ray_fact_stack *kernel)
{
	static const char *const ways[] = { "exit_to_user_mode*",    "irqentry_exit*",		 "preempt_schedule*",
					    "syscall_exit_to_user*", "prepare_exit_to_usermode", "__cond_resched*" };

	for (size_t i = 0; i < kernel->count; i++)
		for (size_t k = 0; kernel->frames[i]->function && k < RAY_COUNT(ways); k++)
			if (fits(kernel->frames[i]->function, ways[k]))
				return true;
	return false;
}

bool ray_recorder_is_last_wait(const struct ray_fact_stack *kernel)
{
	for (size_t i = 0; kernel && i < kernel->count; i++)
		if (kernel->frames[i]->function && !strcmp(kernel->frames[i]->function, "do_task_dead"))
			return true;
	return false;
}

const char *ray_recorder_waits_for(const struct ray_fact_stack *kernel, char *buffer, size_t size)
{
	const char *what;

	if (!kernel)
		return "unknown";
	if (is_preempted(kernel))
		return "a CPU";
	what = row_of(kernel);
	if (!what)
		what = call_of(kernel);
	snprintf(buffer, size, "%s", what ? what : "unknown");
	return buffer;
}
