/* args.c - noderay args: what a node was started with (pargs). SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/words.h"

static const struct ray_option options[] = {
	{ 'l', "line", NULL, "one line, quoted so that a shell can run it" },
	RAY_OPTION_JSON,
	RAY_OPTIONS_TARGET,
};

static const char *const examples[] = {
	"noderay args 4711",
	"each argument on a line of its own",
	"noderay args -l core.4711",
	"the command line of a core, to run it again",
	NULL,
};

static void print_json(struct ray_target *t, const char *args, size_t size, const char *note)
{
	json_t *list = json_array();
	struct ray_word word;
	size_t at = 0;

	while (ray_view_next_word(args, size, &at, &word))
		json_array_append_new(list, ray_words_json(&word));
	ray_json_print(json_pack("{s:i, s:o, s:o, s:o}", "pid", ray_target_pid(t), "exe",
				 ray_json_text(ray_target_exe(t)), "args", list, "note", ray_json_text(note)));
}

static void print_list(struct ray_target *t, const char *args, size_t size)
{
	ray_auto_text safe = { 0 };
	struct ray_word word;
	size_t at = 0;

	ray_words_heading(t, args, size);
	for (unsigned i = 0; ray_view_next_word(args, size, &at, &word); i++) {
		ray_text_clear(&safe);
		ray_text_add_safe(&safe, word.bytes, word.length);
		printf("argv[%u]: %s\n", i, ray_text_get(&safe));
	}
}

static struct ray_error *run(const struct ray_call *call)
{
	ray_auto(ray_target, t) = NULL;
	ray_auto_memory char *args = NULL;
	struct ray_error *err;
	const char *note;
	size_t size;

	err = ray_call_target(call, &t);
	if (!err)
		err = ray_target_args(t, &args, &size);
	if (err)
		return err;
	note = ray_target_args_note(t);
	/* What is left of the old arguments behind a title is zeroes. */
	while (note && size > 1 && !args[size - 1] && !args[size - 2])
		size--;
	if (ray_call_has(call, "json")) {
		print_json(t, args, size, note);
		return NULL;
	}
	if (note)
		fprintf(stderr, "noderay: %s: %s\n", ray_target_name(t), note);
	if (ray_call_has(call, "line"))
		ray_words_line(args, size);
	else
		print_list(t, args, size);
	return NULL;
}

const struct ray_verb ray_verb_args = {
	.name = "args",
	.alias = "pargs",
	.summary = "print the arguments a node was started with",
	.operands = "[TARGET]",
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = 1,
	.run = run,
};
