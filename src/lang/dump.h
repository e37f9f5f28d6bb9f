/* dump.h - a program as s-expressions, for tests.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_LANG_DUMP_H
#define RAY_LANG_DUMP_H

#include "base/text.h"
#include "lang/program.h"

void ray_dump_expr(const struct ray_expr *e, struct ray_text *out);
/* descriptions / predicate / { statements }, one line for each clause. */
void ray_dump_program(const struct ray_program *program, struct ray_text *out);

#endif
