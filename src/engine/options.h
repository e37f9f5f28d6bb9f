/* options.h - every option of -x, #pragma D option, setopt() and DTRACE_OPT_*.
 * SPDX-License-Identifier: MIT
 *
 * One table drives parsing, the manual and the refusals. The caller applies them in DTrace's order: environment,
 * command line, pragma; what is set on the command line before compiling can be overridden by a pragma, as in the
 * reference. */
#ifndef RAY_ENGINE_OPTIONS_H
#define RAY_ENGINE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* When a program started by -c is far enough for its probes to be looked up. */
enum ray_evaltime {
	RAY_EVALTIME_DEFAULT,
	RAY_EVALTIME_EXEC,
	RAY_EVALTIME_PREINIT,
	RAY_EVALTIME_POSTINIT,
	RAY_EVALTIME_MAIN
};

/* Where probes fire when there is a -p or -c. */
enum ray_follow_scope {
	RAY_FOLLOW_ALL,	     /* everywhere, as DTrace has it */
	RAY_FOLLOW_CHILDREN, /* in those processes, and in what they start */
	RAY_FOLLOW_TARGETS,  /* in those processes only */
	RAY_FOLLOW_NODES     /* in every node, also one that starts later, and in what they start; with or without -p */
};

struct ray_trace_options {
	/* run time */
	uint64_t aggsize, bufsize, dynvarsize, specsize, strsize, scratchsize, stackmemory;
	uint32_t nspec, maxframes, stackframes, ustackframes, jstackframes, jstackstrsize;
	uint64_t aggrate_ns, switchrate_ns, statusrate_ns, cleanrate_ns;
	uint64_t statusrate_given;
	int cpu; /* -1: all */
	bool destructive, noresolve, exactentry, temporal;
	enum ray_follow_scope follow;
	uint64_t bpflogsize;
	bool bpflog;
	/* how things are printed: may be changed by setopt() while it runs */
	bool quiet, flowindent, rawbytes, quietresize, aggsortkey, aggsortrev, aggpercpu;
	int aggsortpos, aggsortkeypos;
	uint32_t stackindent, printsize;
	/* compile time */
	bool cpp, errtags, droptags, empty, zdefs, defaultargs, argref, verbose, nolibs, pspec, unodefs, knodefs,
		stdc_given;
	enum ray_evaltime evaltime;
	int linkmode;
	unsigned int tree; /* bits: 1 shows programs as they are parsed, 2 and 4 as they are checked */
	char *cpppath;
	char **cppargs; /* NULL-ended */
	char **libdirs; /* NULL-ended: -x libdir, -L; NULL if none */
	char *version;
	char *syscalls;	   /* the only calls that provider syscall has; NULL: all */
	char stdc;	   /* 'a' 'c' 't': the preprocessor knows __STDC__; 's': it does not */
	int disasm, tregs; /* tregs: most keys of a tuple; 0: no limit */
	bool debug;
};

void ray_trace_options_init(struct ray_trace_options *o); /* the defaults */
void ray_trace_options_deinit(struct ray_trace_options *o);

enum ray_option_time { RAY_OPTION_COMMAND, RAY_OPTION_PRAGMA, RAY_OPTION_RUNNING /* setopt() */ };
/* value NULL: given without. Errors are worded as the reference words them ("Invalid option name", "Invalid value
 * for specified option"), without prefix. */
RAY_MUST_USE struct ray_error *ray_trace_option_set(struct ray_trace_options *o, const char *name, const char *value,
						    enum ray_option_time time);
/* Every DTRACE_OPT_NAME of the environment. */
RAY_MUST_USE struct ray_error *ray_trace_options_environment(struct ray_trace_options *o, char *const *environment);

#endif
