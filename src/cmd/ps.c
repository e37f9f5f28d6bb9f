/* ps.c - `noderay ps`: every node on the machine. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "view/ps.h"
#include "view/table.h"

static void print_notes(const struct ray_census *census)
{
	if (!census->rows.n)
		fprintf(stderr, "noderay: no node found\n");
	for (size_t i = 0; i < census->rows.n; i++)
		if (census->rows.at[i].note)
			fprintf(stderr, "noderay: %d: %s\n", census->rows.at[i].about.pid, census->rows.at[i].note);
	if (census->unreadable && geteuid())
		fprintf(stderr, "noderay: %zu process%s of other users could not be examined; run as root to see %s\n",
			census->unreadable, census->unreadable == 1 ? "" : "es",
			census->unreadable == 1 ? "it" : "them");
	else if (census->unreadable)
		fprintf(stderr,
			"noderay: %zu process%s could not be examined: more rights are needed than root has here\n",
			census->unreadable, census->unreadable == 1 ? "" : "es");
}

static struct ray_error *run(const struct ray_call *call)
{
	ray_auto(ray_census, census) = NULL;
	struct ray_error *err = ray_census_take(&census);
	bool ok = true;

	if (err)
		return err;
	if (ray_call_has(call, "json"))
		ray_view_ps_json(census);
	else if (ray_call_has(call, "verbose"))
		ok = ray_view_ps_details(census, ray_view_width(stdout), stdout);
	else
		ok = ray_view_ps_table(census, ray_view_width(stdout), stdout);
	print_notes(census);
	return ok ? NULL : &ray_enomem;
}

static const struct ray_option options[] = {
	{ 'v', "verbose", NULL, "say more of each: options, directory, CPU time, files, cgroup" },
	RAY_OPTION_JSON,
};

static const char *const examples[] = {
	"noderay ps",
	"every node on the machine",
	"noderay ps -v",
	"with all that is known of each",
	"noderay ps --json | jq .pid",
	"their pids, for a script",
	NULL,
};

const struct ray_verb ray_verb_ps = {
	.name = "ps",
	.summary = "list every node on the machine",
	.operands = "",
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = 0,
	.run = run,
};
