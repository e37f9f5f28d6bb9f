/* completion_bash.c - see completion.h. SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/completion.h"

static const char *const kind_names[] = {
	[RAY_VALUE_TEXT] = "text", [RAY_VALUE_PID] = "pid",	  [RAY_VALUE_FILE] = "file",
	[RAY_VALUE_DIR] = "dir",   [RAY_VALUE_TARGET] = "target", [RAY_VALUE_WORDS] = "words",
};

static void print_verb_names(void)
{
	size_t i;

	for (i = 0; ray_verbs[i]; i++)
		printf("%s%s", i ? " " : "", ray_verbs[i]->name);
}

/* What follows an option that wants a value. */
static void print_value(const struct ray_option *o, struct ray_text *words)
{
	enum ray_value_kind kind = ray_value_kind(o->argument, words);

	fputs("\t\t", stdout);
	if (o->letter)
		printf("-%c | ", o->letter);
	printf("--%s) kind=%s words='%s' ;;\n", o->name, kind_names[kind], ray_text_get(words));
}

static void print_verb(const struct ray_verb *verb)
{
	ray_auto_text words = { 0 };
	enum ray_value_kind kind = ray_value_kind(verb->operands, &words);
	size_t i;

	printf("\t%s", verb->name);
	if (verb->alias)
		printf(" | %s", verb->alias);
	printf(")\n\t\toperand=%s words='%s'\n\t\toptions='-h --help", kind_names[kind], ray_text_get(&words));
	for (i = 0; i < verb->option_count; i++) {
		if (verb->options[i].letter)
			printf(" -%c", verb->options[i].letter);
		printf(" --%s", verb->options[i].name);
	}
	puts("'\n\t\tcase $previous in");
	for (i = 0; i < verb->option_count; i++)
		if (verb->options[i].argument)
			print_value(&verb->options[i], &words);
	puts("\t\tesac\n\t\t;;");
}

static const char head[] =
	"# bash completion for noderay, printed by 'noderay completion bash'\n"
	"_noderay() {\n"
	"\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal options='' operand=text kind='' words=''\n"
	"\tCOMPREPLY=()\n"
	"\t# readline takes --exe=FILE for three words.\n"
	"\tif [[ $current == = ]]; then\n"
	"\t\tcurrent=''\n"
	"\telif [[ $previous == = ]]; then\n"
	"\t\tprevious=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$_noderay_verbs help --help --version\" -- \"$current\")\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tcase ${COMP_WORDS[1]} in\n"
	"\thelp) operand=words words=$_noderay_verbs ;;\n";

static const char tail[] =
	"\tesac\n"
	"\tif [[ -z $kind && $current == -* ]]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tcase ${kind:-$operand} in\n"
	"\tpid | target) words=$(noderay completion pids 2>/dev/null | cut -f1) ;;\n"
	"\tesac\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
	"\tcase ${kind:-$operand} in\n"
	"\tfile | target) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$current\") ;;\n"
	"\tdir) mapfile -t COMPREPLY < <(compgen -d -- \"$current\") ;;\n"
	"\t*) return ;;\n"
	"\tesac\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"}\n"
	"complete -F _noderay noderay\n";

void ray_completion_bash(void)
{
	size_t i;

	fputs("_noderay_verbs='", stdout);
	print_verb_names();
	puts("'");
	fputs(head, stdout);
	for (i = 0; ray_verbs[i]; i++)
		print_verb(ray_verbs[i]);
	fputs(tail, stdout);
}
