/* engine.h - runs a checked program: generates, loads, attaches, consumes, aggregates.
 * SPDX-License-Identifier: MIT
 *
 * One trace is one run. The caller (src/cmd/trace.c, and later every verb that is a script) drives it:
 *   create, start (probes are on and BEGIN has run when it returns), work until it says done, stop (END has run and all
 *   has been printed), free. Nothing of it outlives the process: programs hang on file descriptors only. */
#ifndef RAY_ENGINE_ENGINE_H
#define RAY_ENGINE_ENGINE_H

#include <stdio.h>

#include "engine/options.h"
#include "lang/lang.h"
#include "view/fact.h"

struct ray_trace;

struct ray_trace_settings {
	const struct ray_trace_options *options;
	FILE *out;	      /* data; -o */
	FILE *notes;	      /* messages, drops, errors */
	const char *progname; /* "dtrace": what messages begin with */
	bool is_testing;      /* _DTRACE_TESTING: without CPU and ID columns */
	/* Called for each printf() and each row of a printa() instead of printing it (verbs have a view of their own); NULL:
	 * print. The fact is valid during the call. */
	void (*on_fact)(void *arg, const struct ray_fact *fact);
	void *arg;
	/* Records are fetched every so often, whether or not there are any: none of them wakes us, which costs who is traced. Only those of a program
	 * that names stacks do, whose process may end soon; unless that can wait, too. */
	bool is_patient;
	bool wants_frames; /* of stacks: ray_fact_stack() only, no text is made for each record */
	const struct ray_script_maps
		*script_maps; /* who is told of the source maps of scripts on stacks; NULL: nobody */
};

/* Goes before others on a busy machine, as far as it is allowed to: for what must start soon. Traces that name stacks do so by themselves. */
void ray_trace_hurry(void);
/* Generates all code; loads nothing. Fails only for what the program asks and we cannot do, with words. */
RAY_MUST_USE struct ray_error *ray_trace_create(struct ray_program *program, struct ray_catalogue *catalogue,
						const struct ray_trace_settings *settings, struct ray_trace **ret);
void ray_trace_free(struct ray_trace *trace);
RAY_DEFINE_AUTO(ray_trace, ray_trace_free)

void ray_trace_print_code(struct ray_trace *trace, FILE *out); /* -S */
RAY_MUST_USE struct ray_error *ray_trace_start(struct ray_trace *trace);

enum ray_trace_status { RAY_TRACE_GOES_ON, RAY_TRACE_DONE /* exit() was called */ };
/* Waits up to timeout_ms for something to do, and does it. */
RAY_MUST_USE struct ray_error *ray_trace_work(struct ray_trace *trace, int timeout_ms, enum ray_trace_status *ret);
/* How long to wait for it, at most most_ms: stacks that come one after the other are fetched every few milliseconds, and wake nobody. */
int ray_trace_wait_ms(struct ray_trace *trace, int most_ms);
/* A file descriptor that becomes readable when ray_trace_work() has something to do. */
int ray_trace_fd(const struct ray_trace *trace);
RAY_MUST_USE struct ray_error *ray_trace_stop(struct ray_trace *trace);
/* Looks at a target that was started for this trace, when it has mapped its libraries. */
void ray_trace_look_at(struct ray_trace *trace, pid_t pid);
/* Whether it helps if a target is held for a moment when it exits: stacks of it are named then. */
bool ray_trace_wants_exit(const struct ray_trace *trace);
/* What a thread of a process whose stacks are taken is for: "libuv pool worker 1". Valid until the next call; NULL: that cannot be told, as when it is gone. */
const struct ray_role_info *ray_trace_thread_role(struct ray_trace *trace, uint32_t pid, uint32_t tid);
/* Firings, records and stacks that were lost so far, for want of room. */
uint64_t ray_trace_lost(const struct ray_trace *trace);
int ray_trace_exit_code(const struct ray_trace *trace); /* of exit(); 0 */

#endif
