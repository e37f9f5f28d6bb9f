/* main.c - finds the verb, runs it, prints the one error. SPDX-License-Identifier: MIT */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/help.h"
#include "cmd/options.h"
#include "cmd/signals.h"
#include "cmd/verbs.h"

/* Who speaks in messages: a verb that stands for an old tool says its name. */
static const char *voice = "noderay";

static struct ray_error *run_verb(const struct ray_verb *verb, size_t argc, char *const *argv)
{
	ray_auto(ray_call, call) = NULL;
	struct ray_error *err;

	err = ray_call_parse(verb, argc, argv, &call);
	if (err)
		return err;
	if (verb->voice)
		voice = verb->voice;
	if (ray_call_has(call, "help")) {
		ray_help_verb(verb);
		return NULL;
	}
	return verb->run(call);
}

static struct ray_error *run_help(size_t argc, char *const *argv)
{
	const struct ray_verb *verb;
	struct ray_error *err;

	if (!argc) {
		ray_help_overview();
		return NULL;
	}
	err = ray_verb_get(argv[0], &verb);
	if (!err)
		ray_help_verb(verb);
	return err;
}

/* argv holds what follows the program's name. */
static struct ray_error *run_words(size_t argc, char *const *argv)
{
	const struct ray_verb *verb;
	struct ray_error *err;

	if (!argc || !strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))
		return run_help(0, NULL);
	if (!strcmp(argv[0], "help"))
		return run_help(argc - 1, argv + 1);
	if (!strcmp(argv[0], "--version") || !strcmp(argv[0], "-V")) {
		ray_help_version();
		return NULL;
	}
	if (argv[0][0] == '-')
		return ray_error_remedy(ray_error_new(RAY_USAGE, "a verb comes before options such as '%s'", argv[0]),
					"'noderay --help' lists the verbs");
	err = ray_verb_get(argv[0], &verb);
	return err ? err : run_verb(verb, argc - 1, argv + 1);
}

/* A link named pstack, pmap... behaves as that verb. */
static const struct ray_verb *verb_of_link(const char *program)
{
	const char *slash = strrchr(program, '/');
	const struct ray_verb *verb = ray_verb_find(slash ? slash + 1 : program);

	return verb && verb->alias && !strcmp(verb->alias, slash ? slash + 1 : program) ? verb : NULL;
}

static int report(struct ray_error *err)
{
	int code = (int)ray_error_code(err);

	if (!err)
		return 0;
	fprintf(stderr, "%s: %s\n", voice, ray_error_text(err));
	if (*ray_error_remedy_text(err))
		fprintf(stderr, "%s\n", ray_error_remedy_text(err));
	ray_error_free(err);
	return code;
}

/* What was asked for instead of running: `-o help`. */
static struct ray_error *answer(struct ray_error *err)
{
	if (!err || ray_error_code(err) != RAY_DONE)
		return err;
	printf("%s\n", ray_error_text(err));
	ray_error_free(err);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct ray_verb *verb = argc > 0 ? verb_of_link(argv[0]) : NULL;
	size_t words = argc > 1 ? (size_t)argc - 1 : 0;
	struct ray_error *err;
	int code, written;

	ray_stdio_reserve();
	ray_signals_install();
	/* By lines also into a pipe: notes on stderr then stand between lines, and after what they speak of. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Only for the width of characters: numbers and messages stay those of the C locale. */
	if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
		setlocale(LC_CTYPE, "C.UTF-8");
	err = answer(verb ? run_verb(verb, words, argv + 1) : run_words(words, argv + 1));
	written = report(ray_stdio_finish(stdout));
	code = report(err);
	return code ? code : written ? written : ray_call_exit_status();
}
