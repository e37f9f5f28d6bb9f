/* script.h - verbs that are a script plus a view.
 * SPDX-License-Identifier: MIT
 *
 * A verb of this kind (src/cmd/syscalls.c is one) has a D program in scripts/NAME.d, which is embedded in the binary, and a view that is
 * told its facts (view/fact.h). The verb's file turns options into values of the script's `inline` constants and picks the view;
 * everything else is done here: targets, compiling, the loop, -d, Ctrl-C, --show-script.
 *
 *   struct ray_script s = { .call = call, .name = "syscalls", .on_fact = tell, .arg = &view };
 *   err = ray_script_set(&s, "slow", "%" PRIu64, ns);     the line `inline uint64_t slow = 0;` gets that value
 *   if (!err) err = ray_script_run(&s);                   until it ends; then the verb prints what it has collected
 *   ray_script_deinit(&s);
 *
 * Scripts say `#pragma D option follow=children`: probes fire in the targets and what they start, and name no process. */
#ifndef RAY_CMD_SCRIPT_H
#define RAY_CMD_SCRIPT_H

#include "base/text.h"
#include "base/vec.h"
#include "cmd/cmd.h"
#include "view/fact.h"

/* Options of every such verb, in front of its own. */
/* clang-format off */
#define RAY_OPTIONS_SCRIPT                                                                        \
	{ 'p', "pid", "PID", "trace this process; may be repeated, or be a list: 1,2" },          \
	{ 0, "all", NULL, "trace every node of this machine" },                                   \
	{ 0, "no-children", NULL, "leave out the processes that they start" },                    \
	{ 'd', "duration", "TIME", "stop after TIME: 10 (seconds), 500ms, 2m" },                  \
	RAY_OPTION_JSON,                                                                          \
	{ 0, "show-script", NULL, "print the D program that would run, and exit" }
/* clang-format on */
#define RAY_SCRIPT_OPERANDS "[PID... | -- COMMAND...]"
enum { RAY_SCRIPT_MAX_OPERANDS = 1000 };
/* clang-format off */
#define RAY_SCRIPT_OPTION_FREQUENCY \
	{ 'F', "frequency", "HZ", "samples a second of each CPU (99), 1 to 10000" }
/* clang-format on */
enum { RAY_SCRIPT_MAX_FREQUENCY = 10000 };

struct ray_sampling;
struct ray_trace;
struct ray_trace_call;

struct ray_script {
	const struct ray_call *call;
	const char *name;     /* scripts/NAME.d */
	bool any_process;     /* targets need not be a node */
	bool is_strict;	      /* a probe that matches nothing in targets that run is an error */
	bool quiet_command;   /* a command that is started is kept off the terminal: a screen is drawn there */
	bool events_optional; /* goes on without the events of node that a target does not tell */
	bool wants_frames;    /* the view takes stacks as frames, never as text */
	const struct ray_script_maps
		*script_maps; /* who is told of the source maps of scripts on stacks; NULL: nobody */
	const char *doing;    /* "counting system calls": for a person who waits at a terminal; NULL: output says it */
	void (*on_fact)(void *arg, const struct ray_fact *fact);
	/* Before the first fact, when targets are known and probes are on; may be NULL. */
	void (*on_start)(void *arg, const pid_t *pids, size_t count);
	/* After each round of facts, some fifty times a second: output is flushed then; may be NULL. */
	void (*on_round)(void *arg);
	void *arg;
	/* Without the rights to trace: all that the script does is to tell samples, so many a second; they can be had otherwise. 0: they cannot. */
	unsigned plain_hz;
	int plain_thread;	  /* only this one; -1: the first of each process; 0: all */
	uint64_t plain_report_ns; /* so often a fact "report" comes between the samples; 0: never */
	bool only_show;		  /* as with --show-script */
	/* How long if -d does not say; 0: until it is stopped. ray_script_run() leaves there how long it was, from probes on to probes off. */
	uint64_t duration_ns;
	uint64_t plain_period_ns;      /* after it: between two samples of what ran, if it was done so; else 0 */
	bool is_done;		       /* set meanwhile: nothing more is wanted */
	struct ray_trace *trace;       /* from on_start to the last on_round; NULL: it is done without */
	struct ray_sampling *sampling; /* like it, where there is no trace */
	/* Its own: */
	struct ray_trace_call *targets;
	struct ray_text text; /* of the program */
	bool is_read;
	bool has_started; /* the view has been told */
};

/* Gives `inline TYPE NAME = ...;` of the script a value, as D text. */
RAY_MUST_USE struct ray_error *ray_script_set(struct ray_script *s, const char *name, const char *fmt, ...)
	RAY_PRINTF(3, 4);
/* The same for `inline string NAME = "";`: any text, quoted as D wants it. */
RAY_MUST_USE struct ray_error *ray_script_set_string(struct ray_script *s, const char *name, const char *value);
/* Gives `#pragma D option NAME=...` another value, or adds it: buffer sizes, strsize. */
RAY_MUST_USE struct ray_error *ray_script_set_option(struct ray_script *s, const char *name, const char *fmt, ...)
	RAY_PRINTF(3, 4);
/* Puts another probe in the place of one that the script names literally, at the start of a line. */
RAY_MUST_USE struct ray_error *ray_script_set_probe(struct ray_script *s, const char *probe, const char *other);
/* With --show-script only prints the program. has_started: there are results to print, also after an error. */
RAY_MUST_USE struct ray_error *ray_script_run(struct ray_script *s);
/* From on_start on: whether a target tells the events of this probe ("gc-done"); those that start later may. */
bool ray_script_has_event(const struct ray_script *s, const char *name);
void ray_script_deinit(struct ray_script *s);
/* What a thread is for; NULL: that cannot be told now. From on_start to the last on_round. */
const struct ray_role_info *ray_script_thread_role(const struct ray_script *s, uint32_t pid, uint32_t tid);
uint64_t ray_script_lost(const struct ray_script *s); /* records for which there was no room */

/* An option's value as a span of time; unit_ns is what a plain number counts. fallback if it was not given. */
RAY_MUST_USE struct ray_error *ray_call_duration(const struct ray_call *call, const char *option, uint64_t unit_ns,
						 uint64_t fallback, uint64_t *ret);

/* frequency.c: puts the rate of --frequency in the place of the script's profile-99. */
RAY_MUST_USE struct ray_error *ray_script_set_frequency(struct ray_script *s, const struct ray_call *call,
							const char *verb, long *ret);

/* script_targets.c: the processes of -p, of the operands, or those that --all means; or the command that is started. */
RAY_MUST_USE struct ray_error *ray_script_targets(const struct ray_script *s, struct ray_trace_call *t);

/* script_plain.c: runs it without the rights to trace, on targets that are held. denied: what tracing failed with; it is the result if this fails, too. */
RAY_MUST_USE struct ray_error *ray_script_run_plain(struct ray_script *s, struct ray_trace_call *t,
						    uint64_t duration_ns, struct ray_error *denied);
/* RAY_DENIED if we may not load programs into the kernel. what: "cannot record events". */
RAY_MUST_USE struct ray_error *ray_script_check_rights(const char *what);
/* script.c: what is told on a terminal when it begins. */
void ray_script_say_doing(const struct ray_script *s, const struct ray_trace_call *t);
/* The time that is left until then, in milliseconds, at most that of a round; 0 as end: there is none. */
int ray_script_wait_ms(uint64_t end_ns);

/* scripts.c: the embedded programs. NULL: there is none of that name. */
const char *ray_script_text(const char *name);
const char *ray_script_name(size_t index); /* NULL past the last */

#endif
