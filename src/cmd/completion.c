/* completion.c - `noderay completion`: scripts for shells, and the nodes that they offer.
 * SPDX-License-Identifier: MIT */
#include "cmd/completion.h"

#include <stdio.h>
#include <string.h>

#include "cmd/verbs.h"

enum ray_value_kind ray_value_kind(const char *name, struct ray_text *words)
{
	ray_text_clear(words);
	if (!name || !*name)
		return RAY_VALUE_TEXT;
	if (strstr(name, "TARGET"))
		return RAY_VALUE_TARGET;
	if (strstr(name, "PID"))
		return RAY_VALUE_PID;
	if (strstr(name, "FILE") || strstr(name, "CORE"))
		return RAY_VALUE_FILE;
	if (strstr(name, "DIR"))
		return RAY_VALUE_DIR;
	if (!strchr(name, '|'))
		return RAY_VALUE_TEXT;
	for (; *name; name++)
		if (!strchr("[]", *name))
			ray_text_add_bytes(words, *name == '|' ? " " : name, 1);
	return RAY_VALUE_WORDS;
}

static struct ray_error *run(const struct ray_call *call)
{
	const char *what = ray_call_operand(call, 0);

	if (!what)
		return ray_error_remedy(ray_error_new(RAY_USAGE, "completion: for which shell?"),
					"one of: bash, zsh, fish");
	if (!strcmp(what, "bash"))
		ray_completion_bash();
	else if (!strcmp(what, "zsh"))
		ray_completion_zsh();
	else if (!strcmp(what, "fish"))
		ray_completion_fish();
	else
		return ray_error_remedy(ray_error_new(RAY_USAGE, "completion: no script for '%s'", what),
					"one of: bash, zsh, fish");
	return NULL;
}

static const char *const examples[] = {
	"source <(noderay completion bash)",
	"complete verbs, options and pids in this bash",
	"noderay completion zsh > ~/.zfunc/_noderay",
	"for zsh, if ~/.zfunc is in its fpath",
	"noderay completion fish | source",
	"in this fish",
	NULL,
};

const struct ray_verb ray_verb_completion = {
	.name = "completion",
	.summary = "print a completion script for a shell",
	.operands = "bash|zsh|fish",
	.examples = examples,
	.max_operands = 1,
	.run = run,
};
