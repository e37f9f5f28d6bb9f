/* uv.h - what is known of libuv: its functions and its structures. SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_UV_H
#define RAY_PROBE_UV_H

#include "base/arena.h"
#include "probe/catalogue.h"
#include "probe/types.h"

struct ray_uv_function {
	const char *name;
	const char *returns;	/* as C writes it */
	const char *parameters; /* likewise: "uv_loop_t *loop, const char *path"; "" if there are none */
	const char *js;		/* which JavaScript leads to it; "": none does */
};

extern const struct ray_uv_function ray_uv_functions[];
extern const size_t ray_uv_function_count;
extern const struct ray_probe_type ray_uv_types[];	   /* up to one without a name */
extern const struct ray_probe_constant ray_uv_constants[]; /* likewise */

const struct ray_uv_function *ray_uv_public_find(const char *name); /* NULL if it is none that we know */
/* args[] at its entry: one, the call, with a member for each parameter; at its return: what pid has, then the value. */
RAY_MUST_USE struct ray_error *ray_uv_entry_args(struct ray_arena *arena, const struct ray_uv_function *f,
						 struct ray_probe_args *ret);
RAY_MUST_USE struct ray_error *ray_uv_return_args(struct ray_arena *arena, const struct ray_uv_function *f,
						  struct ray_probe_args *ret);

#endif
