/* cpp.h - a script through the C preprocessor.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_LANG_CPP_H
#define RAY_LANG_CPP_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

/* Runs command with arguments (NULL-ended, or NULL) and text as its input. Line numbers stay what they were: the output speaks
 * of "/dev/stdin". Its own messages go to standard error. */
RAY_MUST_USE struct ray_error *ray_cpp_run(const char *command, bool is_traditional, const char *const *arguments,
					   const char *text, size_t length, struct ray_text *out);

#endif
