/* formats.h - the writers and readers that the table in format.c names. SPDX-License-Identifier: MIT
 *
 * Each is of write_NAME.c or read_NAME.c; format.h says what they promise. */
#ifndef RAY_PROFILE_FORMATS_H
#define RAY_PROFILE_FORMATS_H

#include "base/text.h"
#include "profile/diff.h"
#include "profile/format.h"

#define RAY_FORMAT_WRITER(name) RAY_MUST_USE struct ray_error *ray_write_##name(const struct ray_profile *p, FILE *out)
#define RAY_FORMAT_READER(name)                             \
	bool ray_is_##name(const char *bytes, size_t size); \
	RAY_MUST_USE struct ray_error *ray_read_##name(const char *bytes, size_t size, struct ray_profile **ret)

RAY_FORMAT_WRITER(html);
RAY_FORMAT_READER(html);
/* What changed, in colours. It is not read back: it is no profile. */
RAY_MUST_USE struct ray_error *ray_write_html_diff(const struct ray_profile_diff *d, FILE *out);
RAY_MUST_USE struct ray_error *ray_write_svg_diff(const struct ray_profile_diff *d, FILE *out);
RAY_FORMAT_WRITER(svg);
RAY_FORMAT_READER(svg);
RAY_FORMAT_WRITER(speedscope);
RAY_FORMAT_READER(speedscope);
RAY_FORMAT_WRITER(cpuprofile);
RAY_FORMAT_READER(cpuprofile);
RAY_FORMAT_WRITER(pprof);
RAY_FORMAT_READER(pprof);
RAY_FORMAT_WRITER(chrome);
RAY_FORMAT_READER(chrome);
RAY_FORMAT_WRITER(text);
RAY_FORMAT_WRITER(folded);
RAY_FORMAT_READER(folded);
/* One function as folded stacks name it. */
void ray_folded_frame(const struct ray_profile_function *f, struct ray_text *out);

#endif
