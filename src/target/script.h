/* script.h - what a node was told to run, from its command line.
 * SPDX-License-Identifier: MIT
 *
 * Pure: text in, text out. Knows which of node's options take a value of their own (a table in script.c, the
 * union over the releases 16 to 26), so that the value is not taken for the script. V8's options never do:
 * node passes them on only in the form --name=value. */
#ifndef RAY_TARGET_SCRIPT_H
#define RAY_TARGET_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

enum ray_script_kind {
	RAY_SCRIPT_NONE, /* no command line to look at */
	RAY_SCRIPT_FILE,
	RAY_SCRIPT_EVAL, /* -e, -p: text is "-e 'code'" */
	RAY_SCRIPT_REPL,
	RAY_SCRIPT_STDIN,
	RAY_SCRIPT_TEST,    /* --test [FILE...] */
	RAY_SCRIPT_RUN,	    /* --run TASK */
	RAY_SCRIPT_INSPECT, /* node inspect ...: the debugger's own process */
	RAY_SCRIPT_TOOL,    /* --prof-process and other modes of node itself */
	RAY_SCRIPT_BUNDLED, /* a single executable application */
	RAY_SCRIPT_TITLE,   /* the program wrote its title over the command line */
};

struct ray_script {
	enum ray_script_kind kind;
	const char *text;	    /* as given; "" when none */
	const char *const *options; /* node's and V8's own; NULL-ended */
};

/* args: NUL-separated as in /proc/PID/cmdline. terminal: standard input is one (REPL or a script on it?).
 * Everything lives in arena. False when there is no memory. */
bool ray_script_parse(const char *args, size_t size, bool terminal, struct ray_arena *arena, struct ray_script *ret);
const char *ray_script_kind_name(enum ray_script_kind kind);

#endif
