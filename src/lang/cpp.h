/* cpp.h - a script through the C preprocessor.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_LANG_CPP_H
#define RAY_LANG_CPP_H

#include "base/error.h"
#include "base/text.h"

/* Runs command (words as the shell would split them: quotes and backslashes, nothing else) with "/dev/stdin" as its last
 * argument and text as that. Line numbers stay what they were. Its own messages go to standard error. */
RAY_MUST_USE struct ray_error *ray_cpp_run(const char *command, const char *text, size_t length, struct ray_text *out);

#endif
