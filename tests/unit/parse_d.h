/* parse_d.h - a text of D, parsed and written down again. SPDX-License-Identifier: MIT */
#ifndef RAY_TESTS_PARSE_D_H
#define RAY_TESTS_PARSE_D_H

#include <string.h>

#include "lang/dump.h"
#include "lang/lang.h"

/* Either the dump of the program or "error: " and the message, with its tag. */
static inline const char *parse_text(struct ray_source source, const struct ray_macros *macros, struct ray_text *out)
{
	struct ray_lang_options options = { .error_tags = true, .strsize = 256 };
	struct ray_diagnostic diagnostic = { 0 };
	ray_auto(ray_program, program) = NULL;
	ray_auto(ray_error, err) = ray_program_create(macros, &program);

	ray_text_clear(out);
	if (!err)
		err = ray_program_parse(program, &source, &options, macros, &diagnostic);
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

	return parse_text(source, NULL, out);
}

static inline const char *parse_script(const char *text, struct ray_text *out)
{
	struct ray_source source = {
		.kind = RAY_TEXT_SCRIPT, .file = "test.d", .text = text, .length = strlen(text)
	};

	return parse_text(source, NULL, out);
}

#endif
