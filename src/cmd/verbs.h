/* verbs.h - finding a verb by its name or by that of the tool it stands for.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_CMD_VERBS_H
#define RAY_CMD_VERBS_H

#include "cmd/cmd.h"

const struct ray_verb *ray_verb_find(const char *name); /* NULL if there is none */
/* RAY_USAGE for a name that is none, with the nearest one. */
RAY_MUST_USE __attribute__((nonnull)) struct ray_error *ray_verb_get(const char *name, const struct ray_verb **ret);

#endif
