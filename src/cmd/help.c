/* help.c - see help.h. SPDX-License-Identifier: MIT */
#include "cmd/help.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/version.h"
#include "cmd/options.h"

enum { COLUMNS = 80, MAX_LABEL = 26 };

/* Prints text broken at spaces, starting in column `at`; further lines are indented by `indent`. */
static void print_wrapped(const char *text, size_t at, size_t indent)
{
	size_t length;

	while (*text) {
		length = strcspn(text, " ");
		if (at + length > COLUMNS && at > indent) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		}
		printf("%.*s", (int)length, text);
		at += length;
		text += length;
		if (*text == ' ') {
			text++;
			if (at + 1 + strcspn(text, " ") <= COLUMNS)
				putchar(' ');
			at++;
		}
	}
	putchar('\n');
}

static void print_row(const char *label, size_t width, const char *text)
{
	if (strlen(label) > width)
		printf("  %s\n  %*s  ", label, (int)width, "");
	else
		printf("  %-*s  ", (int)width, label);
	print_wrapped(text, width + 4, width + 4);
}

static void option_label(const struct ray_option *o, struct ray_text *label)
{
	ray_text_clear(label);
	if (o->letter)
		ray_text_printf(label, "-%c, ", o->letter);
	else
		ray_text_add(label, "    ");
	ray_text_printf(label, "--%s", o->name);
	if (o->argument)
		ray_text_printf(label, " %s", o->argument);
}

static void print_options(const struct ray_verb *verb)
{
	ray_auto_text label = { 0 };
	const struct ray_option *o;
	size_t i, width = 0;

	for (i = 0; i < verb->option_count; i++) {
		option_label(&verb->options[i], &label);
		if (label.length > width && label.length <= MAX_LABEL)
			width = label.length;
	}
	if (width < strlen("-h, --help"))
		width = strlen("-h, --help");
	puts("\nOptions:");
	for (i = 0; i <= verb->option_count; i++) {
		o = i < verb->option_count ? &verb->options[i] : &ray_option_help;
		option_label(o, &label);
		print_row(ray_text_get(&label), width, o->help);
	}
}

static void print_examples(const char *const *examples)
{
	if (!examples || !examples[0])
		return;
	puts("\nExamples:");
	for (; examples[0]; examples += 2) {
		printf("  %s\n      ", examples[0]);
		print_wrapped(examples[1], 6, 6);
	}
}

void ray_help_verb(const struct ray_verb *verb)
{
	printf("noderay %s - ", verb->name);
	print_wrapped(verb->summary, strlen("noderay  - ") + strlen(verb->name), 4);
	printf("\nUsage: noderay %s [OPTION]...%s%s\n", verb->name, verb->operands && *verb->operands ? " " : "",
	       verb->operands ? verb->operands : "");
	if (verb->operands && strstr(verb->operands, "TARGET"))
		puts("\nTARGET is a process (PID, /proc/PID), one of its threads (PID/TID) or a core\n"
		     "file (zstd, lz4, gzip or xz if compressed). Without it: the only node there is.");
	print_options(verb);
	print_examples(verb->examples);
	if (verb->alias)
		printf("\nA link to noderay that is named '%s' does the same.\n", verb->alias);
	printf("\nMore: man noderay-%s\n", verb->name);
}

void ray_help_overview(void)
{
	ray_auto_text label = { 0 };
	size_t i, width = 0;

	puts("noderay - look at any Node.js process or core file from outside\n\n"
	     "Usage: noderay VERB [OPTION]... [TARGET]\n"
	     "       noderay VERB --help\n"
	     "       noderay --help | --version\n\n"
	     "Verbs:");
	for (i = 0; ray_verbs[i]; i++)
		if (strlen(ray_verbs[i]->name) > width)
			width = strlen(ray_verbs[i]->name);
	for (i = 0; ray_verbs[i]; i++) {
		ray_text_clear(&label);
		ray_text_add(&label, ray_verbs[i]->summary);
		if (ray_verbs[i]->alias)
			ray_text_printf(&label, " (%s)", ray_verbs[i]->alias);
		print_row(ray_verbs[i]->name, width, ray_text_get(&label));
	}
	puts("\nTARGET is a process (PID, /proc/PID), one of its threads (PID/TID) or a core\n"
	     "file. Without it: the only node there is. It needs no flags and no restart.\n\n"
	     "Exit status: 0 done, 1 failed, 2 wrong usage, 3 no permission, 4 not a node,\n"
	     "5 unsupported or unreadable target.\n\n"
	     "Examples:\n"
	     "  noderay ps                 which nodes run here\n"
	     "  noderay stack 4711         what process 4711 is doing now, JavaScript named\n"
	     "  noderay core 4711 -o f     write a core file of it\n"
	     "  noderay stack f            the same stacks, from the core");
}

void ray_help_version(void)
{
	puts("noderay " RAY_VERSION);
}
