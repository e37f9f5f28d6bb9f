/* completion_zsh.c - see completion.h. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/completion.h"
#include "cmd/options.h"

/* Text inside single quotes, where zsh's _arguments and _describe give :, [ and ] a meaning. */
static void print_quoted(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr(":[]", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void print_action(enum ray_value_kind kind, const char *words)
{
	static const char *const actions[] = {
		[RAY_VALUE_TEXT] = " ",	       [RAY_VALUE_PID] = "_noderay_pids",      [RAY_VALUE_FILE] = "_files",
		[RAY_VALUE_DIR] = "_files -/", [RAY_VALUE_TARGET] = "_noderay_target",
	};

	if (kind == RAY_VALUE_WORDS)
		printf("(%s)", words);
	else
		fputs(actions[kind], stdout);
}

static void print_option(const struct ray_option *o)
{
	ray_auto_text words = { 0 };
	enum ray_value_kind kind = ray_value_kind(o->argument, &words);

	fputs(" \\\n\t\t\t", stdout);
	if (o->letter)
		printf("'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter, o->argument ? "+" : "", o->name,
		       o->argument ? "=" : "");
	else
		printf("'--%s%s[", o->name, o->argument ? "=" : "");
	print_quoted(o->help);
	putchar(']');
	if (o->argument) {
		putchar(':');
		print_quoted(o->argument);
		putchar(':');
		print_action(kind, ray_text_get(&words));
	}
	putchar('\'');
}

static void print_verb(const struct ray_verb *verb)
{
	ray_auto_text words = { 0 };
	enum ray_value_kind kind = ray_value_kind(verb->operands, &words);
	size_t i;

	printf("\t%s", verb->name);
	if (verb->alias)
		printf(" | %s", verb->alias);
	fputs(")\n\t\t_arguments -s -S", stdout);
	for (i = 0; i < verb->option_count; i++)
		print_option(&verb->options[i]);
	print_option(&ray_option_help);
	if (verb->max_operands) {
		fputs(" \\\n\t\t\t'*:", stdout);
		print_quoted(verb->operands);
		putchar(':');
		print_action(kind, ray_text_get(&words));
		putchar('\'');
	}
	puts("\n\t\t;;");
}

static const char head[] = "#compdef noderay\n"
			   "# zsh completion for noderay, printed by 'noderay completion zsh'\n"
			   "_noderay_pids() {\n"
			   "\tlocal -a pids\n"
			   "\tpids=(${${${(f)\"$(noderay completion pids 2>/dev/null)\"}//:/\\\\:}/$'\\t'/:})\n"
			   "\t_describe -t pids node pids\n"
			   "}\n"
			   "_noderay_target() { _alternative 'pids:node:_noderay_pids' 'files:core:_files' }\n"
			   "_noderay() {\n"
			   "\tlocal -a verbs\n"
			   "\tverbs=(\n";

static const char middle[] = "\t\t'help:print the help of a verb'\n"
			     "\t)\n"
			     "\tif ((CURRENT == 2)); then\n"
			     "\t\t_describe -t verbs verb verbs\n"
			     "\t\treturn\n"
			     "\tfi\n"
			     "\tlocal verb=$words[2]\n"
			     "\tshift words\n"
			     "\t((CURRENT--))\n"
			     "\tcase $verb in\n"
			     "\thelp) _describe -t verbs verb verbs ;;\n";

static const char tail[] =
	"\tesac\n"
	"}\n"
	"if [[ $funcstack[1] == _noderay ]]; then _noderay \"$@\"; else compdef _noderay noderay; fi\n";

void ray_completion_zsh(void)
{
	size_t i;

	fputs(head, stdout);
	for (i = 0; ray_verbs[i]; i++) {
		printf("\t\t'%s:", ray_verbs[i]->name);
		print_quoted(ray_verbs[i]->summary);
		puts("'");
	}
	fputs(middle, stdout);
	for (i = 0; ray_verbs[i]; i++)
		print_verb(ray_verbs[i]);
	fputs(tail, stdout);
}
