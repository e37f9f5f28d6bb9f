/* parse_d.h - a text of D, parsed and written down again. SPDX-License-Identifier: MIT */
#ifndef RAY_TESTS_PARSE_D_H
#define RAY_TESTS_PARSE_D_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/dump.h"
#include "lang/lang.h"

/* Either the dump of the program or "error: " and the message, with its tag; "@line:column" goes before it if asked for. */
static inline const char *parse_text(struct ray_source source, const struct ray_macros *macros, bool with_column,
				     struct ray_text *out)
{
	struct ray_lang_options options = { .error_tags = true, .strsize = 256 };
	struct ray_diagnostic diagnostic = { 0 };
	ray_auto(ray_program, program) = NULL;
	ray_auto(ray_error, err) = ray_program_create(macros, &program);

	ray_text_clear(out);
	if (!err)
		err = ray_program_parse(program, &source, &options, macros, &diagnostic);
	if (err && with_column)
		ray_text_printf(out, "@%d:%d ", diagnostic.where.line, diagnostic.where.column);
	if (err)
		ray_text_printf(out, "error: %s", ray_error_text(err));
	else
		ray_dump_program(program, out);
	ray_diagnostic_deinit(&diagnostic);
	return ray_text_get(out);
}

static inline const char *parse_argument(const char *text, struct ray_text *out)
{
	struct ray_source source = { .kind = RAY_TEXT_NAME, .text = text, .length = strlen(text) };

	return parse_text(source, NULL, false, out);
}

static inline const char *parse_script(const char *text, struct ray_text *out)
{
	struct ray_source source = { .kind = RAY_TEXT_SCRIPT, .file = "test.d", .text = text, .length = strlen(text) };

	return parse_text(source, NULL, false, out);
}

/* The statements of one clause, without what is around them. */
static inline const char *parse_body(const char *text, struct ray_text *out)
{
	static const char before[] = ":::BEGIN { ";
	ray_auto_text clause = { 0 };

	ray_text_printf(&clause, "BEGIN { %s }", text);
	parse_argument(ray_text_get(&clause), out);
	if (strncmp(ray_text_get(out), before, strlen(before)))
		return ray_text_get(out);
	out->bytes[out->length - 3] = '\0';
	return out->bytes + strlen(before);
}

struct parse_row {
	const char *text, *expected;
};

#define check_rows(parse, ...)                                                                 \
	do {                                                                                   \
		static const struct parse_row rows_[] = { __VA_ARGS__ };                       \
		ray_auto_text out_ = { 0 };                                                    \
                                                                                               \
		for (size_t i_ = 0; i_ < RAY_COUNT(rows_); i_++)                               \
			assert_string_equal(parse(rows_[i_].text, &out_), rows_[i_].expected); \
	} while (0)

#endif
