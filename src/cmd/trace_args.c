/* trace_args.c - the command line of `trace`: what was given, in its order. See trace.h. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "cmd/trace.h"

extern char **environ;

static struct ray_error *set(struct ray_trace_call *t, char letter, const char *name, const char *value)
{
	struct ray_error *err = ray_trace_option_set(&t->options, name, value, RAY_OPTION_COMMAND);

	if (letter == 'x')
		return ray_error_wrap(err, "failed to set -x %s", name);
	return ray_error_wrap(err, value ? "failed to set -%c %s" : "failed to set -%c", letter, value);
}

/* -x name or -x name=value. */
static struct ray_error *set_pair(struct ray_trace_call *t, const char *pair)
{
	const char *equals = strchr(pair, '=');
	ray_auto_memory char *name = strndup(pair, equals ? (size_t)(equals - pair) : strlen(pair));

	if (!name)
		return &ray_enomem;
	return set(t, 'x', name, equals ? equals + 1 : NULL);
}

static struct ray_error *give(struct ray_trace_call *t, char letter, enum ray_text_kind kind, const char *argument)
{
	struct ray_trace_given g = { .kind = kind, .argument = argument, .letter = letter };

	return ray_vec_push(&t->given, g) ? NULL : &ray_enomem;
}

/* Letters that stand for an option of -x. */
static const struct {
	char letter;
	const char *name;
} shorthands[] = {
	{ 'q', "quiet" },  { 'w', "destructive" }, { 'F', "flowindent" }, { 'Z', "zdefs" },
	{ 'C', "cpp" },	   { 'b', "bufsize" },	   { 'D', "define" },	  { 'U', "undef" },
	{ 'I', "incdir" }, { 'H', "cpphdrs" },	   { 'L', "libdir" },	  { 'X', "stdc" },
};

static const struct {
	char letter;
	enum ray_text_kind kind;
} texts[] = {
	{ 'n', RAY_TEXT_NAME },	  { 's', RAY_TEXT_SCRIPT },   { 'P', RAY_TEXT_PROVIDER },
	{ 'm', RAY_TEXT_MODULE }, { 'f', RAY_TEXT_FUNCTION }, { 'i', RAY_TEXT_ID },
};

static struct ray_error *take(struct ray_trace_call *t, char letter, const char *value)
{
	size_t i;

	for (i = 0; i < RAY_COUNT(texts); i++)
		if (texts[i].letter == letter)
			return give(t, letter, texts[i].kind, value);
	for (i = 0; i < RAY_COUNT(shorthands); i++)
		if (shorthands[i].letter == letter)
			return set(t, letter, shorthands[i].name, value);
	switch (letter) {
	case 'x':
		return set_pair(t, value);
	case 'o':
		t->out_name = value;
		break;
	case 'l':
		t->list = true;
		break;
	case 'e':
		t->only_compile = true;
		break;
	case 'v':
		t->verbose = true;
		break;
	case 'S':
		t->show_code = true;
		break;
	case 'V':
		t->version = true;
		break;
	}
	return NULL;
}

static struct ray_error *take_operands(struct ray_trace_call *t)
{
	size_t i;

	if (!ray_vec_push(&t->arguments, "dtrace"))
		return &ray_enomem;
	for (i = 0; i < ray_call_operands(t->call); i++)
		if (!ray_vec_push(&t->arguments, ray_call_operand(t->call, i)))
			return &ray_enomem;
	t->argument_used = calloc(t->arguments.n, sizeof(*t->argument_used));
	return t->argument_used ? NULL : &ray_enomem;
}

struct ray_error *ray_trace_call_init(struct ray_trace_call *t, const struct ray_call *call)
{
	const struct ray_option *o;
	struct ray_error *err;
	const char *value;
	size_t i;

	t->call = call;
	t->out = stdout;
	t->is_testing = getenv("_DTRACE_TESTING") != NULL;
	ray_trace_options_init(&t->options);
	err = ray_trace_options_environment(&t->options, environ);
	for (i = 0; !err && (o = ray_call_given(call, i, &value)); i++)
		err = take(t, o->letter, value);
	if (err)
		return err;
	if (t->list && t->version)
		return ray_error_new(RAY_USAGE, "only one of the [-lV] options can be specified at a time");
	if (!t->list && !t->version && !t->only_compile && !t->given.n)
		return ray_error_remedy(ray_error_new(RAY_USAGE, "no probes specified"),
					"'noderay trace --help' lists the options");
	/* Listing names what does not match; it is no reason to stop. */
	t->no_probes_ok = t->options.zdefs;
	return take_operands(t);
}

void ray_trace_call_deinit(struct ray_trace_call *t)
{
	size_t i;

	for (i = 0; i < t->children.n; i++)
		ray_spawn_free(t->children.at[i]);
	for (i = 0; i < t->pidfds.n; i++)
		close(t->pidfds.at[i]);
	for (i = 0; i < t->buffers.n; i++)
		free(t->buffers.at[i]);
	ray_vec_free(&t->children);
	ray_vec_free(&t->pidfds);
	ray_vec_free(&t->pids);
	ray_vec_free(&t->given);
	ray_vec_free(&t->arguments);
	ray_vec_free(&t->buffers);
	free(t->argument_used);
	ray_program_free(t->program);
	ray_catalogue_free(t->catalogue);
	ray_trace_options_deinit(&t->options);
	if (t->out && t->out != stdout)
		fclose(t->out);
}

void ray_trace_notice(const struct ray_trace_call *t, const char *fmt, ...)
{
	va_list ap;

	if (t->options.quiet)
		return;
	fflush(t->out);
	fputs("dtrace: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}
