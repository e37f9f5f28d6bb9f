/* completion_fish.c - see completion.h. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/completion.h"
#include "cmd/options.h"

static void print_quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (strchr("'\\", *text))
			putchar('\\');
		putchar(*text);
	}
	putchar('\'');
}

/* Begins a line that holds once the verb was typed. */
static void print_condition(const struct ray_verb *verb)
{
	printf("complete -c noderay -n '__fish_seen_subcommand_from %s%s%s'", verb->name, verb->alias ? " " : "",
	       verb->alias ? verb->alias : "");
}

static void print_values(enum ray_value_kind kind, const char *words)
{
	switch (kind) {
	case RAY_VALUE_PID:
		fputs(" -f -a '(noderay completion pids 2>/dev/null)'", stdout);
		break;
	case RAY_VALUE_TARGET:
		fputs(" -F -a '(noderay completion pids 2>/dev/null)'", stdout);
		break;
	case RAY_VALUE_FILE:
		fputs(" -F", stdout);
		break;
	case RAY_VALUE_DIR:
		fputs(" -f -a '(__fish_complete_directories (commandline -ct))'", stdout);
		break;
	case RAY_VALUE_WORDS:
		printf(" -f -a '%s'", words);
		break;
	case RAY_VALUE_TEXT:
		fputs(" -f", stdout);
		break;
	}
}

static void print_option(const struct ray_verb *verb, const struct ray_option *o)
{
	ray_auto_text words = { 0 };
	enum ray_value_kind kind = ray_value_kind(o->argument, &words);

	print_condition(verb);
	if (o->letter)
		printf(" -s %c", o->letter);
	printf(" -l %s", o->name);
	if (o->argument) {
		fputs(" -r", stdout);
		print_values(kind, ray_text_get(&words));
	}
	fputs(" -d ", stdout);
	print_quoted(o->help);
	putchar('\n');
}

static void print_verb(const struct ray_verb *verb)
{
	ray_auto_text words = { 0 };
	enum ray_value_kind kind = ray_value_kind(verb->operands, &words);
	size_t i;

	printf("complete -c noderay -n __fish_use_subcommand -a %s -d ", verb->name);
	print_quoted(verb->summary);
	putchar('\n');
	for (i = 0; i < verb->option_count; i++)
		print_option(verb, &verb->options[i]);
	print_option(verb, &ray_option_help);
	if (!verb->max_operands)
		return;
	print_condition(verb);
	print_values(kind, ray_text_get(&words));
	putchar('\n');
}

void ray_completion_fish(void)
{
	size_t i;

	puts("# fish completion for noderay, printed by 'noderay completion fish'\n"
	     "complete -c noderay -f\n"
	     "complete -c noderay -n __fish_use_subcommand -l help -d 'print the verbs'\n"
	     "complete -c noderay -n __fish_use_subcommand -l version -d 'print the version'\n"
	     "complete -c noderay -n __fish_use_subcommand -a help -d 'print the help of a verb'");
	for (i = 0; ray_verbs[i]; i++) {
		print_verb(ray_verbs[i]);
		printf("complete -c noderay -n '__fish_seen_subcommand_from help' -a %s\n", ray_verbs[i]->name);
	}
}
