/* proc.c - provider proc: processes and threads come, exec, are signalled and go. A table, see derived.h.
 * SPDX-License-Identifier: MIT */
#include "probe/derived.h"

#include <sys/syscall.h>

/* enum of the kernel's trace/events/signal.h: what became of a generated signal. */
enum { IGNORED = 1, ALREADY_PENDING = 2, OVERFLOW_FAIL = 3 };

/* The current thread is the first of its process. */
#define LEADER_FETCH [RAY_DERIVED_LEFT] = { .kind = RAY_FETCH_TID }, [RAY_DERIVED_RIGHT] = { .kind = RAY_FETCH_TGID }
#define LEADER_CONDITION                                                \
	{                                                               \
		RAY_DERIVED_LEFT, RAY_COMPARE_EQ_ARG, RAY_DERIVED_RIGHT \
	}

#define TASK_FIELD(argument, constant)                                                                         \
	{                                                                                                      \
		.kind = RAY_FETCH_RAW_FIELD, .reg = (argument), .value = (constant), .size = 4, .flags = 1 | 4 \
	}

#define RAW(group_, name_) .kind = RAY_SITE_RAW_TRACEPOINT, .tracepoint = { .group = (group_), .name = (name_) }

#define SIGNAL_FETCH                                                                                                \
	RAY_DERIVED_FETCH(RAY_DERIVED_RAW(2, 8), RAY_DERIVED_RAW(0, 4), [RAY_DERIVED_LEFT] = RAY_DERIVED_RAW(4, 4), \
			  RAY_DERIVED_LAST)
#define SIGNAL_ARGS                                          \
	.args = { RAY_DERIVED_TASK("lwpsinfo_t *", "lwp"),   \
		  RAY_DERIVED_TASK("psinfo_t *", "process"), \
		  { "int", "signal", 1, NULL } }

/* Shared by the sites of a probe: those with the same conditions share a program. */
static const struct ray_condition succeeded_in_child[] = { { 0, RAY_COMPARE_EQ, 0 } };
static const struct ray_condition succeeded_in_process[] = { { 0, RAY_COMPARE_EQ, 0 }, LEADER_CONDITION };
static const struct ray_condition failed[] = { { 0, RAY_COMPARE_LT, 0 } };
static const struct ray_fetch leader[RAY_ARGS] = { { .kind = RAY_FETCH_RAW }, LEADER_FETCH };

#define CHILD(call)                                                                                \
	{                                                                                          \
		.kind = RAY_SITE_SYSCALL_EXIT, .number = (call), .conditions = succeeded_in_child, \
		.condition_count = 1                                                               \
	}
#define CHILD_PROCESS(call)                                                                                \
	{                                                                                                  \
		.kind = RAY_SITE_SYSCALL_EXIT, .number = (call), .fetch = leader, .fetch_count = RAY_ARGS, \
		.conditions = succeeded_in_process, .condition_count = 2                                   \
	}
#define FAILED(call)                                                                                        \
	{                                                                                                   \
		.kind = RAY_SITE_SYSCALL_EXIT, .number = (call), .conditions = failed, .condition_count = 1 \
	}

static const struct ray_derived rows[] = {
	{ .name = "create", /* a process; in the parent */
	  .args = { RAY_DERIVED_TASK("psinfo_t *", "child") },
	  .sites = { { RAW("sched", "sched_process_fork"),
		       RAY_DERIVED_FETCH(RAY_DERIVED_RAW(1, 8), [RAY_DERIVED_LEFT] = TASK_FIELD(1, RAY_LINK_TASK_PID),
					 [RAY_DERIVED_RIGHT] = TASK_FIELD(1, RAY_LINK_TASK_TGID)),
		       RAY_DERIVED_IF(LEADER_CONDITION) } },
	  .site_count = 1 },
	{ .name = "exec", /* about to be tried */
	  .args = { { "string", "path", 0, NULL } },
	  .sites = { { .kind = RAY_SITE_SYSCALL_ENTER, .number = SYS_execve },
		     { .kind = RAY_SITE_SYSCALL_ENTER,
		       .number = SYS_execveat,
		       RAY_DERIVED_FETCH(RAY_DERIVED_RAW(1, 8), RAY_DERIVED_LAST) } },
	  .site_count = 2 },
	{ .name = "exec-failure",
	  .args = { { "int", "error", 0, NULL } },
	  .sites = { FAILED(SYS_execve), FAILED(SYS_execveat) },
	  .site_count = 2 },
	{ .name = "exec-success", .sites = { { RAW("sched", "sched_process_exec") } }, .site_count = 1 },
	{ .name = "exit", /* a process */
	  .args = { { "int", "reason", 0, NULL } },
	  .sites = { { RAW("sched", "sched_process_exit"),
		       RAY_DERIVED_FETCH({ .kind = RAY_FETCH_EXIT,
					   .reg = 0,
					   .value = RAY_LINK_TASK_EXIT_CODE,
					   .size = 4,
					   .flags = 4 },
					 LEADER_FETCH),
		       RAY_DERIVED_IF(LEADER_CONDITION) } },
	  .site_count = 1 },
	{ .name = "lwp-create", /* any thread; in the one that makes it */
	  .args = { RAY_DERIVED_TASK("lwpsinfo_t *", "lwp"), RAY_DERIVED_TASK("psinfo_t *", "process") },
	  .sites = { { RAW("sched", "sched_process_fork"),
		       RAY_DERIVED_FETCH(RAY_DERIVED_RAW(1, 8), RAY_DERIVED_LAST) } },
	  .site_count = 1 },
	{ .name = "lwp-exit", .sites = { { RAW("sched", "sched_process_exit") } }, .site_count = 1 },
	{ .name = "lwp-start", /* any thread; its own first act */
	  .sites = { CHILD(SYS_clone), CHILD(SYS_fork), CHILD(SYS_vfork), CHILD(SYS_clone3) },
	  .site_count = 4 },
	{ .name = "signal-clear", /* taken by sigwait() and its like */
	  .args = { { "int", "signal", 0, NULL } },
	  .sites = { { .kind = RAY_SITE_SYSCALL_EXIT,
		       .number = SYS_rt_sigtimedwait,
		       RAY_DERIVED_IF({ 0, RAY_COMPARE_GE, 1 }) } },
	  .site_count = 1 },
	{ .name = "signal-discard",
	  SIGNAL_ARGS,
	  .sites = { { RAW("signal", "signal_generate"), SIGNAL_FETCH,
		       RAY_DERIVED_IF({ RAY_DERIVED_LEFT, RAY_COMPARE_EQ, IGNORED }) } },
	  .site_count = 1 },
	{ .name = "signal-handle",
	  .args = { { "int", "signal", 0, NULL },
		    { "siginfo_t *", "info", 1, NULL },
		    { "void (*)(void)", "handler", 2, NULL } },
	  .sites = { { RAW("signal", "signal_deliver"),
		       RAY_DERIVED_FETCH({ .kind = RAY_FETCH_SIGNAL }, RAY_DERIVED_RAW(1, 8),
					 { .kind = RAY_FETCH_RAW_FIELD, .reg = 2, .value = 0, .size = 8 },
					 RAY_DERIVED_LAST) } },
	  .site_count = 1 },
	{ .name = "signal-send",
	  SIGNAL_ARGS,
	  .sites = { { RAW("signal", "signal_generate"), SIGNAL_FETCH,
		       RAY_DERIVED_IF({ RAY_DERIVED_LEFT, RAY_COMPARE_NE, IGNORED },
				      { RAY_DERIVED_LEFT, RAY_COMPARE_NE, ALREADY_PENDING },
				      { RAY_DERIVED_LEFT, RAY_COMPARE_NE, OVERFLOW_FAIL }) } },
	  .site_count = 1 },
	{ .name = "start", /* a process; its own first act */
	  .sites = { CHILD_PROCESS(SYS_clone), CHILD_PROCESS(SYS_fork), CHILD_PROCESS(SYS_vfork),
		     CHILD_PROCESS(SYS_clone3) },
	  .site_count = 4 },
};

static struct ray_error *proc_match(struct ray_catalogue *c, const struct ray_provider *p,
				    const struct ray_probe_spec *spec, ray_probe_list *matches)
{
	return ray_derived_match(c, p, rows, RAY_COUNT(rows), spec, matches);
}

const struct ray_provider ray_provider_proc = {
	.name = "proc",
	.first_id = 1200,
	.id_count = RAY_COUNT(rows),
	.stability = { { "Evolving", "Evolving", "ISA" },
		       { "Private", "Private", "Unknown" },
		       { "Private", "Private", "Unknown" },
		       { "Evolving", "Evolving", "ISA" },
		       { "Evolving", "Evolving", "ISA" } },
	.match = proc_match,
	.args = ray_derived_args,
	.sites = ray_derived_sites,
};
