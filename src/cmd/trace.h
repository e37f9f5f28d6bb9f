/* trace.h - what the parts of `noderay trace` share. SPDX-License-Identifier: MIT */
#ifndef RAY_CMD_TRACE_H
#define RAY_CMD_TRACE_H

#include "base/vec.h"
#include "cmd/cmd.h"
#include "engine/engine.h"
#include "target/spawn.h"

/* One -n, -s, -P, -m, -f or -i. */
struct ray_trace_given {
	enum ray_text_kind kind;
	const char *argument; /* the text, or the script's file name */
	const char *text;     /* of a script that is no file: its name is the argument; NULL: read it */
	char letter;
	size_t first_clause, clause_count; /* of the program, after compiling */
};

struct ray_trace_call {
	const struct ray_call *call;
	struct ray_trace_options options;
	RAY_VEC(struct ray_trace_given) given;
	RAY_VEC(const char *) arguments; /* $0, $1... */
	bool *argument_used;
	RAY_VEC(pid_t) pids; /* of -p and -c */
	RAY_VEC(int) pidfds;
	RAY_VEC(struct ray_spawn *) children;
	size_t advanced;	 /* children that were let run to their entry point */
	RAY_VEC(char *) buffers; /* texts of scripts */
	struct ray_catalogue *catalogue;
	struct ray_program *program;
	struct ray_macros macros;
	FILE *out;
	const char *out_name;
	bool list, only_compile, verbose, show_code, version, is_testing, no_probes_ok;
	bool is_quiet;	  /* what is started is kept off the terminal */
	bool only_family; /* of the targets: a verb follows them */
};

/* trace_args.c: options, in DTrace's order: environment, then the command line. */
RAY_MUST_USE struct ray_error *ray_trace_call_init(struct ray_trace_call *t, const struct ray_call *call);
void ray_trace_call_deinit(struct ray_trace_call *t);
/* Lines that would be printed without -q. */
void ray_trace_notice(const struct ray_trace_call *t, const char *fmt, ...) RAY_PRINTF(2, 3);

/* trace_procs.c: -p and -c. */
RAY_MUST_USE struct ray_error *ray_trace_procs_open(struct ray_trace_call *t);
/* One that runs; one that is started, and held until ray_trace_procs_release(). words is NULL-ended. */
RAY_MUST_USE struct ray_error *ray_trace_procs_add(struct ray_trace_call *t, pid_t pid);
RAY_MUST_USE struct ray_error *ray_trace_procs_start(struct ray_trace_call *t, char *const *words);
/* Lets them go. If the trace wants stacks, each stops once more when it has mapped its libraries, so that
 * the kernel side can be told of them, and when it exits. */
RAY_MUST_USE struct ray_error *ray_trace_procs_release(struct ray_trace_call *t, struct ray_trace *trace);
/* Waits for data, for a process's end or for a signal, at most timeout_ms. */
void ray_trace_procs_wait(struct ray_trace_call *t, int data_fd, int timeout_ms);
bool ray_trace_procs_ended(const struct ray_trace_call *t); /* all of them; false if there are none */

/* trace_library.c: those of -L, before the first script. */
RAY_MUST_USE struct ray_error *ray_trace_libraries(struct ray_trace_call *t);
/* trace_compile.c: texts to a checked program. */
RAY_MUST_USE struct ray_error *ray_trace_compile(struct ray_trace_call *t);
/* trace_list.c: -l, and -v's reports. */
RAY_MUST_USE struct ray_error *ray_trace_list(struct ray_trace_call *t);
void ray_trace_stability(struct ray_trace_call *t, const struct ray_trace_given *g);

#endif
