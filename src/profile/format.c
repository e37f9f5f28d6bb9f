/* format.c - see format.h. SPDX-License-Identifier: MIT */
#include "profile/format.h"

#include <string.h>

#include "base/text.h"
#include "profile/formats.h"

/* In the order of --help. Where what is in a file decides, the first that knows it reads it. */
static const struct ray_profile_format formats[] = {
	{ "html", ".html", "a report that shows itself in a browser: flame graph, time, table", ray_write_html,
	  ray_is_html, ray_read_html },
	{ "svg", ".svg", "a flame graph that can be zoomed and searched", ray_write_svg, ray_is_svg, ray_read_svg },
	{ "speedscope", ".speedscope.json", "https://www.speedscope.app", ray_write_speedscope, ray_is_speedscope,
	  ray_read_speedscope },
	{ "cpuprofile", ".cpuprofile", "Chrome DevTools and VS Code", ray_write_cpuprofile, ray_is_cpuprofile,
	  ray_read_cpuprofile },
	{ "pprof", ".pb.gz", "go tool pprof, Pyroscope, Parca", ray_write_pprof, ray_is_pprof, ray_read_pprof },
	{ "chrome", ".json", "Chrome's trace viewer and https://ui.perfetto.dev", ray_write_chrome, ray_is_chrome,
	  ray_read_chrome },
	{ "folded", ".folded", "one line a stack, for flamegraph.pl and its like", ray_write_folded, ray_is_folded,
	  ray_read_folded },
	{ "text", ".txt", "a table of functions, for reading as it is", ray_write_text, NULL, NULL },
};

const struct ray_profile_format *ray_profile_format_at(size_t index)
{
	return index < RAY_COUNT(formats) ? &formats[index] : NULL;
}

/* By its name, or as its files end: "text", "txt", "pb.gz". */
static const struct ray_profile_format *find_name(const char *name)
{
	for (size_t i = 0; i < RAY_COUNT(formats); i++)
		if (!strcmp(formats[i].name, name) || !strcmp(formats[i].suffix + (name[0] != '.'), name))
			return &formats[i];
	return NULL;
}

static const struct ray_profile_format *find_suffix(const char *file)
{
	const struct ray_profile_format *found = NULL;
	size_t best = 0, length = strlen(file);

	for (size_t i = 0; i < RAY_COUNT(formats); i++) {
		size_t end = strlen(formats[i].suffix);

		if (end > best && end <= length && !strcasecmp(file + length - end, formats[i].suffix)) {
			best = end;
			found = &formats[i];
		}
	}
	return found;
}

struct ray_error *ray_profile_format_find(const char *name, const char *file, const struct ray_profile_format **ret)
{
	const struct ray_profile_format *found;
	ray_auto_text names = { 0 };

	found = name ? find_name(name) : find_suffix(file);
	if (!found && !name)
		found = find_name("html");
	if (found) {
		*ret = found;
		return NULL;
	}
	for (size_t i = 0; i < RAY_COUNT(formats); i++)
		ray_text_printf(&names, "%s%s", i ? ", " : "", formats[i].name);
	if (!name)
		return ray_error_remedy(ray_error_new(RAY_USAGE, "the end of '%s' is that of no format", file),
					"-f chooses one of: %s", ray_text_get(&names));
	return ray_error_remedy(ray_error_new(RAY_USAGE, "no such format: '%s'", name), "there are: %s",
				ray_text_get(&names));
}
