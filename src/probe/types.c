/* types.c - see types.h. SPDX-License-Identifier: MIT */
#include "probe/types.h"

#include <string.h>

#include "probe/provider.h"

const struct ray_probe_type *ray_probe_type_find(const char *name, bool is_tag)
{
	for (const struct ray_provider *const *p = ray_providers; *p; p++) {
		for (const struct ray_probe_type *t = (*p)->types; t && t->name; t++) {
			const char *own = is_tag ? t->tag : t->name;

			if (own && !strcmp(own, name))
				return t;
		}
	}
	return NULL;
}

bool ray_probe_constant_find(const char *name, int64_t *ret)
{
	for (const struct ray_provider *const *p = ray_providers; *p; p++) {
		for (const struct ray_probe_constant *k = (*p)->constants; k && k->name; k++) {
			if (!strcmp(k->name, name)) {
				*ret = k->value;
				return true;
			}
		}
	}
	return false;
}
