/* fs.c - `noderay fs`: operations on files. SPDX-License-Identifier: MIT */
#include "cmd/operations.h"

static const struct ray_option options[] = {
	RAY_OPTIONS_OPERATIONS("path"),
	RAY_OPTION_SLOW,
	{ 0, "path", "GLOB", "only paths that match: '/etc/*'" },
	RAY_OPTIONS_SCRIPT,
};

static const char *const examples[] = {
	"noderay fs 4242",
	"every operation on files of process 4242, as it ends",
	"noderay fs --slow 10ms --stack 4242",
	"slow ones, and the JavaScript that asked for them",
	"noderay fs --top -d 10 4242",
	"which files take the most time, of 10 seconds",
	"noderay fs --failed -- node app.js",
	"what a program looks for and does not find",
	NULL,
};

static struct ray_error *run(const struct ray_call *call)
{
	return ray_operations_run(call, &ray_operations_fs, "path");
}

const struct ray_verb ray_verb_fs = {
	.name = "fs",
	.summary = "list operations on files with their times, or sum them up",
	.operands = RAY_SCRIPT_OPERANDS,
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = RAY_SCRIPT_MAX_OPERANDS,
	.run = run,
};
