/* script_plain.c - the samples of a script without the rights to trace. See script.h. SPDX-License-Identifier: MIT
 *
 * For whoever is the same user as the targets and nothing more. Says so once, and what more would take. */
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/heartbeat.h"
#include "cmd/script.h"
#include "cmd/signals.h"
#include "cmd/trace.h"
#include "engine/engine.h"
#include "engine/sampling.h"

const struct ray_role_info *ray_script_thread_role(const struct ray_script *s, uint32_t pid, uint32_t tid)
{
	if (s->sampling)
		return ray_sampling_thread_role(s->sampling, pid, tid);
	return s->trace ? ray_trace_thread_role(s->trace, pid, tid) : NULL;
}

uint64_t ray_script_lost(const struct ray_script *s)
{
	if (s->sampling)
		return ray_sampling_report(s->sampling).lost;
	return s->trace ? ray_trace_lost(s->trace) : 0;
}

/* Whoever has neither can load nothing; what else there is to complain about does not matter then. */
struct ray_error *ray_script_check_rights(const char *what)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	uint64_t effective;

	if (syscall(SYS_capget, &head, data))
		return NULL;
	effective = (uint64_t)data[1].effective << 32 | data[0].effective;
	if (effective >> CAP_SYS_ADMIN & 1 || (effective >> CAP_BPF & 1 && effective >> CAP_PERFMON & 1))
		return NULL;
	return ray_error_remedy(ray_error_new(RAY_DENIED, "%s: Operation not permitted", what),
				"run as root, or with the capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE:\n"
				"  sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep $(command -v noderay)");
}

static void say_how(const struct ray_sampler_report *r)
{
	static const char more[] = "kernel frames, waits and events need rights:\n"
				   "  sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep $(command -v noderay)\n";

	if (!r->why_stops)
		fprintf(stderr, "noderay: without capabilities: what runs in user space is sampled; %s", more);
	else
		fprintf(stderr,
			"noderay: without capabilities, and %s:\n"
			"noderay: what runs is stopped for a moment instead, for at most 2%% of the time; %s",
			r->why_stops, more);
}

static void say_pauses(const struct ray_sampler_report *r, uint64_t duration_ns)
{
	if (r->why_stops && r->stops && duration_ns)
		fprintf(stderr,
			"noderay: stopped %" PRIu64 " times for %.2f ms on average, %.1f%% of the time; "
			"looked %.1f times a second\n",
			r->stops, (double)r->pause_ns / 1e6 / (double)r->stops,
			(double)r->pause_ns * 100 / (double)duration_ns, 1e9 / (double)r->period_ns);
	if (r->missed)
		fprintf(stderr, "noderay: %" PRIu64 " threads ran and could not be stopped in time\n", r->missed);
	if (r->unreadable)
		fprintf(stderr, "noderay: %" PRIu64 " samples of processes that cannot be read have no stack\n",
			r->unreadable);
}

/* Until Ctrl-C, the time is over, the targets have ended or nobody reads what is written. */
static struct ray_error *work(struct ray_script *s, struct ray_trace_call *t, uint64_t end_ns)
{
	uint64_t report_ns = ray_clock_ns() + s->plain_report_ns;
	struct ray_error *err = NULL;

	while (!err && !ray_interrupted && !s->is_done && !(end_ns && ray_clock_ns() >= end_ns)) {
		ray_heartbeat();
		err = ray_sampling_work(s->sampling, ray_script_wait_ms(end_ns));
		if (s->plain_report_ns && ray_clock_ns() >= report_ns) {
			report_ns += s->plain_report_ns;
			s->on_fact(s->arg, &(struct ray_fact){ .name = "report" });
		}
		if (s->on_round)
			s->on_round(s->arg);
		if (ray_stdio_reader_is_gone(stdout) || (ray_trace_procs_ended(t) && ray_sampling_is_over(s->sampling)))
			break;
	}
	ray_heartbeat_stop();
	return err;
}

static struct ray_error *release(struct ray_trace_call *t)
{
	struct ray_error *err = NULL;

	for (size_t i = 0; i < t->children.n && !err; i++)
		err = ray_spawn_release(t->children.at[i], false);
	return err;
}

static struct ray_error *run(struct ray_script *s, struct ray_trace_call *t, uint64_t duration_ns)
{
	struct ray_sampler_report report = ray_sampling_report(s->sampling);
	uint64_t start_ns = ray_clock_ns();
	struct ray_error *err;

	ray_interrupt_defer();
	ray_stdio_batch(stdout);
	say_how(&report);
	ray_script_say_doing(s, t);
	s->has_started = true;
	if (s->on_start)
		s->on_start(s->arg, t->pids.at, t->pids.n);
	err = release(t);
	if (!err)
		err = work(s, t, duration_ns ? start_ns + duration_ns : 0);
	s->duration_ns = ray_clock_ns() - start_ns;
	report = ray_sampling_report(s->sampling);
	s->plain_period_ns = report.period_ns;
	say_pauses(&report, s->duration_ns);
	return err;
}

struct ray_error *ray_script_run_plain(struct ray_script *s, struct ray_trace_call *t, uint64_t duration_ns,
				       struct ray_error *denied)
{
	struct ray_sampling_options o = { .pids = t->pids.at,
					  .count = t->pids.n,
					  .hz = s->plain_hz,
					  .follow = !ray_call_has(s->call, "no-children"),
					  .thread = s->plain_thread,
					  .script_maps = s->script_maps,
					  .on_fact = s->on_fact,
					  .arg = s->arg };
	struct ray_error *err = ray_sampling_create(&o, &s->sampling);

	if (ray_error_code(err) == RAY_DENIED) { /* tracing would have been better, and says what it takes */
		ray_error_free(err);
		return denied;
	}
	ray_error_free(denied);
	if (!err)
		err = run(s, t, duration_ns);
	ray_sampling_free(s->sampling);
	s->sampling = NULL;
	return err;
}
