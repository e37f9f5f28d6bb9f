/* diagnose.c - see diagnose.h. SPDX-License-Identifier: MIT */
#include "lang/diagnose.h"

#include <stdarg.h>
#include <string.h>

static char *copy_source_line(const struct ray_where *where)
{
	return where && where->source ? strndup(where->source, strcspn(where->source, "\r\n")) : NULL;
}

struct ray_error *ray_diagnose_text(const struct ray_lang_options *options, struct ray_diagnostic *diagnostic,
				    const struct ray_where *where, const char *region, const char *tag,
				    const char *message)
{
	ray_auto_text text = { 0 };

	if (options && options->error_tags && tag)
		ray_text_printf(&text, "[%s] ", tag);
	if (where && where->file && where->is_included)
		ray_text_printf(&text, "\"%s\", line %d: ", where->file, where->line);
	else if (where && where->file)
		ray_text_printf(&text, "line %d: ", where->line);
	else if (region)
		ray_text_printf(&text, "in %s: ", region);
	ray_text_add(&text, message);
	if (diagnostic) {
		ray_diagnostic_deinit(diagnostic);
		diagnostic->tag = tag ? strdup(tag) : NULL;
		diagnostic->message = strdup(message);
		if (where)
			diagnostic->where = *where;
		diagnostic->source_line = copy_source_line(where);
		/* The program's copy of the text may go before the diagnostic does. */
		diagnostic->where.source = NULL;
	}
	return ray_error_new(RAY_FAILED, "%s", ray_text_get(&text));
}

struct ray_error *ray_diagnose(const struct ray_lang_options *options, struct ray_diagnostic *diagnostic,
			       const struct ray_where *where, const char *region, const char *tag, const char *fmt, ...)
{
	ray_auto_memory char *message = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&message, fmt, args);
	va_end(args);
	if (n < 0) {
		message = NULL;
		return &ray_enomem;
	}
	return ray_diagnose_text(options, diagnostic, where, region, tag, message);
}

void ray_diagnostic_deinit(struct ray_diagnostic *d)
{
	free(d->tag);
	free(d->message);
	free(d->source_line);
	*d = (struct ray_diagnostic){ 0 };
}
