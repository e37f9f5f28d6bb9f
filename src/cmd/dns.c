/* dns.c - `noderay dns`: names that are looked up. SPDX-License-Identifier: MIT */
#include "cmd/operations.h"

static const struct ray_option options[] = {
	RAY_OPTIONS_OPERATIONS("host"),
	RAY_OPTION_SLOW,
	{ 0, "host", "GLOB", "only hosts that match: '*.example.com'" },
	RAY_OPTIONS_SCRIPT,
};

static const char *const examples[] = {
	"noderay dns 4242",
	"every name that process 4242 looks up, and how long that took",
	"noderay dns --slow 100ms --stack 4242",
	"slow ones, and the JavaScript that asked for them",
	"noderay dns --top -d 60 4242",
	"by host: how often, how long, how often in vain",
	"noderay dns --failed -- node app.js",
	"names that a program does not find",
	NULL,
};

static struct ray_error *run(const struct ray_call *call)
{
	return ray_operations_run(call, &ray_operations_dns, "host");
}

const struct ray_verb ray_verb_dns = {
	.name = "dns",
	.summary = "list names that are looked up with their times, or sum them up",
	.operands = RAY_SCRIPT_OPERANDS,
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = RAY_SCRIPT_MAX_OPERANDS,
	.run = run,
};
