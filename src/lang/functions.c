/* functions.c - the table of D's actions, subroutines and aggregating functions.
 * SPDX-License-Identifier: MIT */
#include "lang/functions.h"

#include <string.h>

const struct ray_function ray_functions[RAY_FN_COUNT_] = {
#define RAY_FUNCTION_ROW(id, name, kind, prototype, is_recording, is_destructive) \
	[RAY_FN_##id] = { RAY_FN_##id, name, RAY_FUNCTION_##kind, prototype, is_recording, is_destructive },
	RAY_FUNCTIONS(RAY_FUNCTION_ROW)
#undef RAY_FUNCTION_ROW
};

const struct ray_function *ray_function_find_any(const char *name)
{
	for (size_t i = 0; i < RAY_FN_COUNT_; i++) {
		if (!strcmp(ray_functions[i].name, name))
			return &ray_functions[i];
	}
	return NULL;
}

const struct ray_function *ray_function_find(const char *name)
{
	return strncmp(name, "__", 2) ? ray_function_find_any(name) : NULL;
}
