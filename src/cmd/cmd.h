/* cmd.h - what a verb is.
 * SPDX-License-Identifier: MIT
 *
 * One table of options per verb drives parsing, --help, the completions and the check that the man
 * page names every option. A verb's file holds its table and calls below; no logic of its own. */
#ifndef RAY_CMD_CMD_H
#define RAY_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "target/target.h"

struct ray_option {
	char letter;	      /* 0 if there is only the long form */
	const char *name;     /* without the dashes */
	const char *argument; /* what --help calls it, "FILE"; NULL for a flag */
	const char *help;     /* one line, no full stop */
};

/* Options that several verbs share; a verb lists them with these macros. --help is implied. */
/* clang-format off */
#define RAY_OPTION_JSON { 0, "json", NULL, "print JSON, one object a line" }
#define RAY_OPTIONS_TARGET                                                            \
	{ 'p', "pid", "PID", "look at this process" },                                \
	{ 0, "exe", "FILE", "the executable the core was made from" },                \
	{ 0, "sysroot", "DIR", "look for the core's files below DIR" },               \
	{ 0, "force", NULL, "go on although a build-id does not match" }
/* clang-format on */

struct ray_call; /* one parsed command line */

struct ray_verb {
	const char *name;
	const char *alias;	     /* the old tool it stands for ("pstack"), or NULL: a link of that name runs it */
	const char *summary;	     /* one line */
	const char *operands;	     /* "[TARGET]" as shown in the usage line */
	const char *const *examples; /* pairs: command, what it does; NULL-ended */
	const struct ray_option *options;
	size_t option_count;
	size_t max_operands;
	const char *voice; /* what messages begin with; NULL: "noderay" */
	struct ray_error *(*run)(const struct ray_call *call);
};

extern const struct ray_verb *const ray_verbs[]; /* NULL-ended, in the order of --help */

bool ray_call_has(const struct ray_call *call, const char *option);
/* The last value given for the option; NULL if it was not given. */
const char *ray_call_value(const struct ray_call *call, const char *option);
/* A value as a number; an error (RAY_USAGE) that names the option when it is none. fallback if not given. */
RAY_MUST_USE struct ray_error *ray_call_number(const struct ray_call *call, const char *option, long fallback,
					       long *ret);
/* Options in the order they were given; NULL past the last. value_ret is NULL for a flag. */
const struct ray_option *ray_call_given(const struct ray_call *call, size_t index, const char **value_ret);
size_t ray_call_operands(const struct ray_call *call);
const char *ray_call_operand(const struct ray_call *call, size_t index); /* NULL past the last */
const struct ray_verb *ray_call_verb(const struct ray_call *call);
/* What the process ends with when the verb itself succeeds: exit() in a script. */
void ray_call_exit_with(int status);

/* The target named by the first operand or -p; with neither, the only node on the machine.
 * Warnings of the target go to stderr. */
RAY_MUST_USE struct ray_error *ray_call_target(const struct ray_call *call, struct ray_target **ret);

#endif
