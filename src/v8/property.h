/* property.h - own properties of an object, fast and dictionary ones.
 * SPDX-License-Identifier: MIT
 *
 * Data properties only: reading never runs a getter. */
#ifndef RAY_V8_PROPERTY_H
#define RAY_V8_PROPERTY_H

#include "v8/v8.h"

/* Calls each() for every own data property (key: a String or Symbol) until it returns false. False when the
 * object's properties cannot be read. */
bool ray_v8_property_each(struct ray_v8 *v8, uint64_t object, bool (*each)(uint64_t key, uint64_t value, void *arg),
			  void *arg);
bool ray_v8_property_get(struct ray_v8 *v8, uint64_t object, const char *name, uint64_t *ret);
/* The name under which an object or its prototypes hold this value, as it is or as getter or setter; NULL if none
 * does. */
const char *ray_v8_property_holding(struct ray_v8 *v8, uint64_t object, uint64_t value);

#endif
