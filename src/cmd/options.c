/* options.c - see options.h. SPDX-License-Identifier: MIT */
#include "cmd/options.h"

#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "cmd/suggest.h"

const struct ray_option ray_option_help = { 'h', "help", NULL, "print this help" };

struct given {
	const struct ray_option *option;
	const char *value; /* NULL for a flag */
};

struct ray_call {
	const struct ray_verb *verb;
	RAY_VEC(struct given) given;
	RAY_VEC(const char *) operands;
};

/* The words that are still to be read. */
struct words {
	char *const *at;
	size_t n;
};

static int exit_status;

void ray_call_exit_with(int status)
{
	exit_status = status;
}

int ray_call_exit_status(void)
{
	return exit_status;
}

void ray_call_free(struct ray_call *call)
{
	if (!call)
		return;
	ray_vec_free(&call->given);
	ray_vec_free(&call->operands);
	free(call);
}

static struct ray_error *usage(const struct ray_verb *verb, struct ray_error *err)
{
	return ray_error_remedy(err, "'noderay %s --help' lists the options", verb->name);
}

/* Walks the verb's own options and then the implied one; NULL past the last. */
static const struct ray_option *option_at(const struct ray_verb *verb, size_t i)
{
	if (i < verb->option_count)
		return &verb->options[i];
	return i == verb->option_count ? &ray_option_help : NULL;
}

static const struct ray_option *find_long(const struct ray_verb *verb, const char *name, size_t length)
{
	const struct ray_option *o;
	size_t i;

	for (i = 0; (o = option_at(verb, i)); i++)
		if (strlen(o->name) == length && !memcmp(o->name, name, length))
			return o;
	return NULL;
}

static const struct ray_option *find_short(const struct ray_verb *verb, char letter)
{
	const struct ray_option *o;
	size_t i;

	for (i = 0; (o = option_at(verb, i)); i++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static struct ray_error *unknown_long(const struct ray_verb *verb, const char *name, size_t length)
{
	struct ray_error *err = ray_error_new(RAY_USAGE, "%s: unknown option '--%.*s'", verb->name, (int)length, name);
	struct ray_suggest best;
	const struct ray_option *o;
	size_t i;

	ray_suggest_init(&best, name, length);
	for (i = 0; (o = option_at(verb, i)); i++)
		ray_suggest_offer(&best, o->name);
	if (best.word)
		return ray_error_remedy(err, "did you mean '--%s'?", best.word);
	return usage(verb, err);
}

static struct ray_error *give(struct ray_call *call, const struct ray_option *option, const char *value)
{
	struct given given = { option, value };

	return ray_vec_push(&call->given, given) ? NULL : &ray_enomem;
}

/* name is what follows the two dashes. */
static struct ray_error *parse_long(struct ray_call *call, const char *name, struct words *rest)
{
	const char *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const struct ray_option *o = find_long(call->verb, name, length);
	const char *value = equals ? equals + 1 : NULL;

	if (!o)
		return unknown_long(call->verb, name, length);
	if (!o->argument && value)
		return usage(call->verb,
			     ray_error_new(RAY_USAGE, "%s: option '--%s' takes no value", call->verb->name, o->name));
	if (o->argument && !value) {
		if (!rest->n)
			return usage(call->verb, ray_error_new(RAY_USAGE, "%s: option '--%s' needs a value: %s",
							       call->verb->name, o->name, o->argument));
		value = *rest->at++;
		rest->n--;
	}
	return give(call, o, value);
}

/* letters is what follows the one dash: flags, and at most one option with a value at its end. */
static struct ray_error *parse_short(struct ray_call *call, const char *letters, struct words *rest)
{
	const struct ray_option *o;
	struct ray_error *err;

	for (; *letters; letters++) {
		o = find_short(call->verb, *letters);
		if (!o)
			return usage(call->verb,
				     ray_error_new(RAY_USAGE, "%s: unknown option '-%c'", call->verb->name, *letters));
		if (!o->argument) {
			err = give(call, o, NULL);
			if (err)
				return err;
			continue;
		}
		if (letters[1])
			return give(call, o, letters + 1);
		if (!rest->n)
			return usage(call->verb, ray_error_new(RAY_USAGE, "%s: option '-%c' needs a value: %s",
							       call->verb->name, o->letter, o->argument));
		rest->n--;
		return give(call, o, *rest->at++);
	}
	return NULL;
}

static struct ray_error *parse_words(struct ray_call *call, struct words rest)
{
	bool options_ended = false;
	struct ray_error *err;
	const char *word;

	while (rest.n) {
		word = *rest.at++;
		rest.n--;
		err = NULL;
		if (options_ended || word[0] != '-' || !word[1])
			err = ray_vec_push(&call->operands, word) ? NULL : &ray_enomem;
		else if (!strcmp(word, "--"))
			options_ended = true;
		else if (word[1] == '-')
			err = parse_long(call, word + 2, &rest);
		else
			err = parse_short(call, word + 1, &rest);
		if (err)
			return err;
	}
	return NULL;
}

struct ray_error *ray_call_parse(const struct ray_verb *verb, size_t argc, char *const *argv, struct ray_call **ret)
{
	struct words words = { argv, argc };
	ray_auto(ray_call, call) = calloc(1, sizeof(*call));
	struct ray_error *err;

	if (!call)
		return &ray_enomem;
	call->verb = verb;
	err = parse_words(call, words);
	if (err)
		return err;
	if (call->operands.n > verb->max_operands && !ray_call_has(call, "help"))
		return usage(verb, ray_error_new(RAY_USAGE, "%s: one word too many: '%s'", verb->name,
						 call->operands.at[verb->max_operands]));
	*ret = ray_take(call);
	return NULL;
}

/* The last time the option was given; NULL if it was not. */
static const struct given *find_given(const struct ray_call *call, const char *option)
{
	size_t i;

	for (i = call->given.n; i--;)
		if (!strcmp(call->given.at[i].option->name, option))
			return &call->given.at[i];
	return NULL;
}

bool ray_call_has(const struct ray_call *call, const char *option)
{
	return find_given(call, option) != NULL;
}

const char *ray_call_value(const struct ray_call *call, const char *option)
{
	const struct given *g = find_given(call, option);

	return g ? g->value : NULL;
}

struct ray_error *ray_call_number(const struct ray_call *call, const char *option, long fallback, long *ret)
{
	const char *value = ray_call_value(call, option);
	char *end;
	long number;

	if (!value) {
		*ret = fallback;
		return NULL;
	}
	errno = 0;
	number = strtol(value, &end, 10);
	if (end == value || *end || errno)
		return ray_error_new(RAY_USAGE, "%s: --%s needs a number, not '%s'", call->verb->name, option, value);
	*ret = number;
	return NULL;
}

const struct ray_option *ray_call_given(const struct ray_call *call, size_t index, const char **value_ret)
{
	if (index >= call->given.n)
		return NULL;
	*value_ret = call->given.at[index].value;
	return call->given.at[index].option;
}

size_t ray_call_operands(const struct ray_call *call)
{
	return call->operands.n;
}

const char *ray_call_operand(const struct ray_call *call, size_t index)
{
	return index < call->operands.n ? call->operands.at[index] : NULL;
}

const struct ray_verb *ray_call_verb(const struct ray_call *call)
{
	return call->verb;
}
