/* diff.c - `noderay diff`: what changed between two profiles. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "profile/diff_format.h"
#include "profile/format.h"

static const struct ray_option options[] = {
	{ 'o', "output", "FILE", "where to: its end tells the format; '-' is standard output" },
	{ 'f', "format", "FORMAT", "html, svg, folded or text" },
	RAY_OPTION_JSON,
};

static const char *const examples[] = {
	"noderay diff before.html after.html",
	"the functions whose share changed most",
	"noderay diff before.html after.html -o change.html",
	"a flame graph in two colours: what grew and what shrank",
	"noderay diff before.html after.html -o change.svg",
	"the same as a picture, for an issue or a page",
	"noderay diff v1.cpuprofile v2.cpuprofile -o change.folded",
	"for flamegraph.pl",
	NULL,
};

static struct ray_error *read_both(const struct ray_call *call, const char *out, struct ray_profile_diff **ret)
{
	ray_auto(ray_profile, before) = NULL;
	ray_auto(ray_profile, after) = NULL;
	const char *names[] = { ray_call_operand(call, 0), ray_call_operand(call, 1) };
	struct ray_error *err;

	if (!names[0] || !names[1])
		return ray_error_remedy(ray_error_new(RAY_USAGE, "diff: two profiles are needed"),
					"noderay diff before.html after.html -o change.html");
	if (!strcmp(names[0], "-") && !strcmp(names[1], "-"))
		return ray_error_new(RAY_USAGE, "diff: standard input can be read once");
	if (ray_profile_is_same_file(names[0], out) || ray_profile_is_same_file(names[1], out))
		return ray_error_remedy(ray_error_new(RAY_USAGE, "diff: %s is what is read: it stays as it is", out),
					"-o names another file");
	err = ray_profile_read(names[0], &before);
	if (!err)
		err = ray_profile_read(names[1], &after);
	if (err)
		return err;
	/* What says nothing of itself goes by its file. */
	if (!*before->title)
		before->title = ray_profile_text(before, names[0]);
	if (!*after->title)
		after->title = ray_profile_text(after, names[1]);
	return ray_error_wrap(ray_profile_diff_create(before, after, ret), "diff");
}

static struct ray_error *print_json(const struct ray_profile_diff *d)
{
	ray_auto_memory struct ray_profile_diff_row *rows = NULL;
	size_t count;

	if (!ray_profile_diff_rank(d, &rows, &count))
		return &ray_enomem;
	for (size_t i = 0; i < count; i++) {
		const struct ray_profile_function *f = &d->tree->functions.at[rows[i].function];
		json_t *j = json_object();

		json_object_set_new(j, "function", ray_json_text(f->name));
		json_object_set_new(j, "kind", json_string(ray_profile_kind_word(f->kind)));
		json_object_set_new(j, "file", ray_json_text(*f->file ? f->file : NULL));
		json_object_set_new(j, "line", f->line ? json_integer(f->line) : json_null());
		json_object_set_new(j, "self_before", json_real(rows[i].self[RAY_DIFF_BEFORE]));
		json_object_set_new(j, "self_after", json_real(rows[i].self[RAY_DIFF_AFTER]));
		json_object_set_new(j, "total_before", json_real(rows[i].total[RAY_DIFF_BEFORE]));
		json_object_set_new(j, "total_after", json_real(rows[i].total[RAY_DIFF_AFTER]));
		ray_json_print(j);
	}
	return NULL;
}

static struct ray_error *run(const struct ray_call *call)
{
	const char *out = ray_call_value(call, "output"), *name = ray_call_value(call, "format");
	const struct ray_diff_format *format = NULL;
	ray_auto(ray_profile_diff, d) = NULL;
	struct ray_error *err = NULL;

	if (ray_call_has(call, "json") && (out || name))
		return ray_error_new(RAY_USAGE, "diff: --json is printed: it goes with neither --output nor --format");
	/* Nothing said: to be read here. */
	if (!out && !name)
		name = "text";
	if (!out)
		out = "-";
	err = ray_diff_format_find(name, out, &format);
	if (!err)
		err = read_both(call, out, &d);
	if (err)
		return err;
	return ray_call_has(call, "json") ? print_json(d) : ray_profile_diff_write(d, format, out);
}

const struct ray_verb ray_verb_diff = {
	.name = "diff",
	.summary = "show what changed between two profiles",
	.operands = "BEFORE AFTER",
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = 2,
	.run = run,
};
