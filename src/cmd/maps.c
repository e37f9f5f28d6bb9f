/* maps.c - `noderay maps`: every mapping and what it is (pmap). SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cmd/cmd.h"
#include "target/node.h"
#include "view/maps.h"
#include "view/table.h"

static void print_notes(const struct ray_regions *r)
{
	for (const char *const *note = ray_regions_notes(r); *note; note++)
		fprintf(stderr, "noderay: note: %s\n", *note);
}

static struct ray_error *print(const struct ray_call *call, const struct ray_regions *r, const struct ray_target *t)
{
	struct ray_maps_style style = { .pid = ray_target_pid(t),
					.verbose = ray_call_has(call, "verbose"),
					.is_core = ray_target_kind(t) == RAY_TARGET_CORE,
					.width = ray_view_width(stdout) };
	bool summary = ray_call_has(call, "summary"), ok = true;

	if (ray_call_has(call, "json")) {
		if (!summary)
			ray_maps_json_table(r, &style);
		ray_maps_json_summary(r, &style);
	} else {
		if (!summary) {
			ok = ray_maps_print_table(r, &style, stdout);
			printf("\n");
		}
		ok = ray_maps_print_summary(r, &style, stdout) && ok;
	}
	print_notes(r);
	return ok ? NULL : &ray_enomem;
}

static struct ray_error *run(const struct ray_call *call)
{
	ray_auto(ray_target, t) = NULL;
	ray_auto(ray_regions, r) = NULL;
	struct ray_node node;
	struct ray_error *err;
	bool known = true;

	err = ray_call_target(call, &t);
	if (!err)
		err = ray_node_identify(t, &node);
	/* Without the binary there is still the memory, whose pages tell what they are. */
	if (err && t && ray_error_code(err) == RAY_UNREADABLE) {
		fprintf(stderr, "noderay: warning: %s\n", ray_error_text(err));
		ray_error_free(err);
		err = NULL;
		known = false;
	}
	if (!err)
		err = ray_regions_create(t, known ? &node : NULL, &r);
	return err ? err : print(call, r, t);
}

static const char *const examples[] = {
	"noderay maps 4711",
	"every mapping of process 4711",
	"noderay maps --summary 4711",
	"where its memory went, in a few lines",
	"noderay maps core.4711",
	"the same of a core, and what the core holds of it",
	"noderay maps --json 4711 | jq 'select(.type == \"isolate\")'",
	"the V8 heap of each worker, space by space",
	NULL,
};

static const struct ray_option options[] = {
	{ 0, "summary", NULL, "only the sums by kind" },
	{ 'v', "verbose", NULL, "show every part of a mapping and every V8 page" },
	RAY_OPTION_JSON,
	RAY_OPTIONS_TARGET,
};

const struct ray_verb ray_verb_maps = {
	.name = "maps",
	.alias = "pmap",
	.summary = "the memory map, and what each mapping is",
	.operands = "[TARGET]",
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = 1,
	.run = run,
};
