/* function.h - names of functions and classes, and where a function was written.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_V8_FUNCTION_H
#define RAY_V8_FUNCTION_H

#include "v8/v8.h"

/* The SharedFunctionInfo of a JSFunction. */
bool ray_v8_function_shared(struct ray_v8 *v8, uint64_t function, uint64_t *ret);
/* A function's own name, or the one V8 inferred from where it was assigned; "" when it has none;
 * NULL when it cannot be read. */
const char *ray_v8_shared_name(struct ray_v8 *v8, uint64_t shared);
/* Like it, but a name that was set at run time (computed method names) counts too. */
const char *ray_v8_function_name(struct ray_v8 *v8, uint64_t function);
/* The Script; false for builtins and API functions, which have none. */
bool ray_v8_shared_script(struct ray_v8 *v8, uint64_t shared, uint64_t *ret);
/* First and last position of the function in its script. */
bool ray_v8_shared_range(struct ray_v8 *v8, uint64_t shared, int32_t *start_ret, int32_t *end_ret);
/* The name of the constructor that made an object ("Server"); NULL when it cannot be told. */
const char *ray_v8_class_name(struct ray_v8 *v8, uint64_t object);

#endif
