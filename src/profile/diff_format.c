/* diff_format.c - see diff_format.h. SPDX-License-Identifier: MIT */
#include "profile/diff_format.h"

#include <string.h>

#include "base/text.h"
#include "profile/formats.h"

/* In the order of --help. */
static const struct ray_diff_format formats[] = {
	{ "html", ".html", "a report in a browser: what grew and what shrank", ray_write_html_diff },
	{ "svg", ".svg", "an interactive flame graph in two colours", ray_write_svg_diff },
	{ "folded", ".folded", "a line a stack with both weights, for flamegraph.pl", ray_diff_write_folded },
	{ "text", ".txt", "a table of functions, for reading as it is", ray_diff_write_text },
};

const struct ray_diff_format *ray_diff_format_at(size_t index)
{
	return index < RAY_COUNT(formats) ? &formats[index] : NULL;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), n = strlen(end);

	return n <= length && !strcasecmp(text + length - n, end);
}

struct ray_error *ray_diff_format_find(const char *name, const char *file, const struct ray_diff_format **ret)
{
	ray_auto_text names = { 0 };

	for (size_t i = 0; i < RAY_COUNT(formats); i++) {
		ray_text_printf(&names, "%s%s", i ? ", " : "", formats[i].name);
		if (name ? strcmp(name, formats[i].name) : !ends_with(file, formats[i].suffix))
			continue;
		*ret = &formats[i];
		return NULL;
	}
	if (!name) {
		*ret = &formats[0];
		return NULL;
	}
	return ray_error_remedy(ray_error_new(RAY_USAGE, "no such format of a difference: '%s'", name), "there are: %s",
				ray_text_get(&names));
}

struct task {
	const struct ray_profile_diff *d;
	const struct ray_diff_format *format;
};

static struct ray_error *write_diff(const void *arg, FILE *out)
{
	const struct task *task = arg;

	return task->format->write(task->d, out);
}

struct ray_error *ray_profile_diff_write(const struct ray_profile_diff *d, const struct ray_diff_format *format,
					 const char *path)
{
	return ray_profile_write_with(write_diff, &(struct task){ d, format }, path);
}
