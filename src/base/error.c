/* error.c - see error.h. SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"

struct ray_error {
	enum ray_code code;
	char *text;
	char *remedy;
};

static char enomem_text[] = "out of memory";
struct ray_error ray_enomem = { RAY_FAILED, enomem_text, NULL };

static struct ray_error *error_create(enum ray_code code, char *text)
{
	struct ray_error *err;

	if (!text)
		return &ray_enomem;
	err = calloc(1, sizeof(*err));
	if (!err) {
		free(text);
		return &ray_enomem;
	}
	err->code = code;
	err->text = text;
	return err;
}

/* Names and messages in it may come from a target: they must not reach a terminal as they are. */
static char *format(const char *fmt, va_list args)
{
	ray_auto_memory char *text = NULL;
	ray_auto_text safe = { 0 };

	if (vasprintf(&text, fmt, args) < 0) {
		text = NULL;
		return NULL;
	}
	ray_text_add_safe_lines(&safe, text);
	return strdup(ray_text_get(&safe));
}

struct ray_error *ray_error_new(enum ray_code code, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = format(fmt, args);
	va_end(args);
	return error_create(code, text);
}

struct ray_error *ray_error_errno(enum ray_code code, int errnum, const char *fmt, ...)
{
	ray_auto_memory char *text = NULL;
	char *whole;
	va_list args;

	va_start(args, fmt);
	text = format(fmt, args);
	va_end(args);
	if (errnum == EPERM || errnum == EACCES)
		code = RAY_DENIED;
	if (!text || asprintf(&whole, "%s: %s", text, strerror(errnum)) < 0)
		return &ray_enomem;
	return error_create(code, whole);
}

struct ray_error *ray_error_wrap(struct ray_error *cause, const char *fmt, ...)
{
	ray_auto_memory char *text = NULL;
	va_list args;
	char *whole;

	if (!cause || cause == &ray_enomem)
		return cause;
	va_start(args, fmt);
	text = format(fmt, args);
	va_end(args);
	if (!text || asprintf(&whole, "%s: %s", text, cause->text) < 0)
		return cause;
	free(cause->text);
	cause->text = whole;
	return cause;
}

struct ray_error *ray_error_remedy(struct ray_error *err, const char *fmt, ...)
{
	va_list args;
	char *text;

	if (!err || err == &ray_enomem)
		return err;
	va_start(args, fmt);
	text = format(fmt, args);
	va_end(args);
	if (text) {
		free(err->remedy);
		err->remedy = text;
	}
	return err;
}

struct ray_error *ray_error_first(struct ray_error *first, struct ray_error *second)
{
	if (!first)
		return second;
	ray_error_free(second);
	return first;
}

enum ray_code ray_error_code(const struct ray_error *err)
{
	return err ? err->code : RAY_DONE;
}

const char *ray_error_text(const struct ray_error *err)
{
	return err ? err->text : "";
}

const char *ray_error_remedy_text(const struct ray_error *err)
{
	return err && err->remedy ? err->remedy : "";
}

void ray_error_free(struct ray_error *err)
{
	if (!err || err == &ray_enomem)
		return;
	free(err->text);
	free(err->remedy);
	free(err);
}
