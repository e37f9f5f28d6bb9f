/* completion.c - `noderay completion`: scripts for shells, and the nodes that they offer.
 * SPDX-License-Identifier: MIT */
#include "cmd/completion.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "target/node.h"

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

/* What tells one node from another in a menu: its command line, without the path of node. */
static void add_command(struct ray_text *line, char *args, size_t size)
{
	char *slash = memrchr(args, '/', strnlen(args, size));
	size_t skip = slash ? (size_t)(slash + 1 - args) : 0, i;

	if (size && !args[size - 1])
		size--;
	for (i = skip; i < size; i++)
		if (!args[i])
			args[i] = ' ';
	ray_text_add_safe(line, args + skip, size - skip);
}

static void print_node(int pid)
{
	ray_auto(ray_target, t) = NULL;
	ray_auto_memory char *args = NULL;
	ray_auto_text line = { 0 };
	char name[16];
	size_t size = 0;
	int length = 60;

	snprintf(name, sizeof(name), "%d", pid);
	ray_error_free(ray_target_open(&(struct ray_target_options){ .name = name }, &t));
	if (t)
		ray_error_free(ray_target_args(t, &args, &size));
	if (args)
		add_command(&line, args, size);
	/* Not in the middle of a character. */
	while (line.length > (size_t)length && (line.bytes[length] & 0xc0) == 0x80)
		length--;
	printf("%d\t%.*s\n", pid, length, ray_text_get(&line));
}

static struct ray_error *print_nodes(void)
{
	ray_auto_memory int *pids = NULL;
	size_t count, unreadable, i;
	struct ray_error *err = ray_node_list(&pids, &count, &unreadable);

	if (err)
		return err;
	for (i = 0; i < count; i++)
		print_node(pids[i]);
	return NULL;
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
	else if (!strcmp(what, "pids"))
		return print_nodes();
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
