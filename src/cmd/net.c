/* net.c - `noderay net`: what happens on sockets. SPDX-License-Identifier: MIT */
#include "cmd/operations.h"

static const struct ray_option options[] = {
	RAY_OPTIONS_OPERATIONS("peer"),
	{ 0, "slow", "TIME", "only connections that took longer to be made: 10ms" },
	{ 0, "peer", "GLOB", "only peers that match: '10.0.*'" },
	RAY_OPTIONS_SCRIPT,
};

static const char *const examples[] = {
	"noderay net 4242",
	"connections, bytes and ends of process 4242, one by one",
	"noderay net --top -d 10 4242",
	"with whom it talks, and how much",
	"noderay net --failed 4242",
	"connections that were refused, or broke",
	"noderay net --slow 50ms --peer '*:5432' 4242",
	"slow connections to a database",
	NULL,
};

static struct ray_error *run(const struct ray_call *call)
{
	return ray_operations_run(call, &ray_operations_net, "peer");
}

const struct ray_verb ray_verb_net = {
	.name = "net",
	.summary = "list what happens on sockets, or sum it up by peer",
	.operands = RAY_SCRIPT_OPERANDS,
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = RAY_SCRIPT_MAX_OPERANDS,
	.run = run,
};
