/* env.c - noderay env: the environment a node was started with (penv). SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/words.h"

static const struct ray_option options[] = {
	{ 'l', "line", NULL, "one line, quoted so that a shell can read it" },
	RAY_OPTION_JSON,
	RAY_OPTIONS_TARGET,
};

static const char *const examples[] = {
	"noderay env 4711",
	"each variable on a line of its own",
	"noderay env core.4711 | grep ^NODE_",
	"what NODE_OPTIONS was it run with?",
	NULL,
};

/* An entry without '=' is a name without a value. */
static void print_json(struct ray_target *t, const struct ray_word *word)
{
	const char *equals = memchr(word->bytes, '=', word->length);
	struct ray_word name = { word->bytes, equals ? (size_t)(equals - word->bytes) : word->length };
	struct ray_word value = { equals ? equals + 1 : NULL, equals ? word->length - name.length - 1 : 0 };

	ray_json_print(json_pack("{s:i, s:o, s:o}", "pid", ray_target_pid(t), "name", ray_words_json(&name), "value",
				 equals ? ray_words_json(&value) : json_null()));
}

/* A heading without the command will do when that cannot be had. */
static void print_heading(struct ray_target *t)
{
	ray_auto_memory char *args = NULL;
	size_t size = 0;

	ray_error_free(ray_target_args(t, &args, &size));
	ray_words_heading(t, args ? args : "", args ? size : 0);
}

static void print_list(struct ray_target *t, const char *env, size_t size, bool as_json)
{
	ray_auto_text safe = { 0 };
	struct ray_word word;
	size_t at = 0;

	if (!as_json)
		print_heading(t);
	while (ray_view_next_word(env, size, &at, &word)) {
		if (!word.length)
			continue;
		if (as_json) {
			print_json(t, &word);
			continue;
		}
		ray_text_clear(&safe);
		ray_text_add_safe(&safe, word.bytes, word.length);
		puts(ray_text_get(&safe));
	}
}

static struct ray_error *run(const struct ray_call *call)
{
	ray_auto(ray_target, t) = NULL;
	ray_auto_memory char *env = NULL;
	struct ray_error *err;
	size_t size;

	err = ray_call_target(call, &t);
	if (!err)
		err = ray_target_env(t, &env, &size);
	if (err)
		return err;
	if (ray_call_has(call, "line") && !ray_call_has(call, "json"))
		ray_words_line(env, size);
	else
		print_list(t, env, size, ray_call_has(call, "json"));
	return NULL;
}

const struct ray_verb ray_verb_env = {
	.name = "env",
	.alias = "penv",
	.summary = "print the environment a node was started with",
	.operands = "[TARGET]",
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = 1,
	.run = run,
};
