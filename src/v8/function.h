/* function.h - names of functions and classes, and where a function was written.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_V8_FUNCTION_H
#define RAY_V8_FUNCTION_H

#include "v8/v8.h"

/* BaselineData and InterpreterData are two words behind the map. */
enum { RAY_V8_BASELINE_DATA_CODE = 8, RAY_V8_BASELINE_DATA_DATA = 16, RAY_V8_INTERPRETER_DATA_BYTECODE = 8 };

/* The SharedFunctionInfo of a JSFunction. */
bool ray_v8_function_shared(struct ray_v8 *v8, uint64_t function, uint64_t *ret);
/* A function's own name, or the one V8 inferred from where it was assigned; "" when it has none;
 * NULL when it cannot be read. */
const char *ray_v8_shared_name(struct ray_v8 *v8, uint64_t shared);
/* A name that was set at run time (computed method names); NULL when there is none. */
const char *ray_v8_function_own_name(struct ray_v8 *v8, uint64_t function);
/* That, or else what its SharedFunctionInfo says. */
const char *ray_v8_function_name(struct ray_v8 *v8, uint64_t function);
/* Is it the constructor of a class, which can only be called with new? */
bool ray_v8_shared_is_class(struct ray_v8 *v8, uint64_t shared);
/* The Script; false for builtins and API functions, which have none. */
bool ray_v8_shared_script(struct ray_v8 *v8, uint64_t shared, uint64_t *ret);
/* The bytecode of a function that has any: what it runs, or its baseline code was compiled from. */
bool ray_v8_shared_bytecode(struct ray_v8 *v8, uint64_t shared, uint64_t *ret);
/* The same, from what SharedFunctionInfo or baseline code holds: the array, or what leads to it. */
bool ray_v8_data_bytecode(struct ray_v8 *v8, uint64_t data, uint64_t *ret);
/* First and last position of the function in its script. */
bool ray_v8_shared_range(struct ray_v8 *v8, uint64_t shared, int32_t *start_ret, int32_t *end_ret);
/* The class of an object ("Server"), as V8 itself would name it; NULL when it cannot be told. */
const char *ray_v8_class_name(struct ray_v8 *v8, uint64_t object);

#endif
