/* params.h - a list of C parameters, taken apart into types and names. SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_PARAMS_H
#define RAY_PROBE_PARAMS_H

#include "base/arena.h"
#include "probe/catalogue.h"

/* "unsigned int fd, char *buf" -> { "unsigned int", "fd" }, { "char *", "buf" }; argument i is argi. */
RAY_MUST_USE struct ray_error *ray_params_parse(struct ray_arena *arena, const char *text, struct ray_probe_args *ret);
/* "char *buf" -> type "char *", name "buf"; "char name[16]" -> "char[16]". False: there is no name, or no memory. */
bool ray_param_split(struct ray_arena *arena, const char *text, size_t length, const char **type, const char **name);

#endif
