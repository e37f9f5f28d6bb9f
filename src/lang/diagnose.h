/* diagnose.h - the error that ends a compilation, worded and placed as the reference does it.
 * SPDX-License-Identifier: MIT
 *
 * For the parser and the checker. Knows no program: a position carries its own source line. */
#ifndef RAY_LANG_DIAGNOSE_H
#define RAY_LANG_DIAGNOSE_H

#include "lang/lang.h"

/* Fills *diagnostic (NULL: nobody asks) and returns the error, "[TAG] line N: message"; without a line where there is no
 * file, then "in REGION: " if region is not NULL ("predicate", "action list"). where may be NULL. */
RAY_MUST_USE struct ray_error *ray_diagnose(const struct ray_lang_options *options, struct ray_diagnostic *diagnostic,
					    const struct ray_where *where, const char *region, const char *tag,
					    const char *fmt, ...) RAY_PRINTF(6, 7);
RAY_MUST_USE struct ray_error *ray_diagnose_text(const struct ray_lang_options *options,
						 struct ray_diagnostic *diagnostic, const struct ray_where *where,
						 const char *region, const char *tag, const char *message);

#endif
