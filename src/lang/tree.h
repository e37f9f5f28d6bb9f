/* tree.h - a program as the tree that -x tree shows.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_LANG_TREE_H
#define RAY_LANG_TREE_H

#include "base/text.h"
#include "lang/program.h"

/* One node on each line, indented by its depth, with its type and what is known of it; the clauses from first on. Works on a
 * program that is parsed only, and on a checked one. */
void ray_tree_print(const struct ray_program *program, size_t first, struct ray_text *out);

#endif
