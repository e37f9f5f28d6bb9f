/* pin.h - keeps the objects that stacks point to. SPDX-License-Identifier: MIT */
#ifndef RAY_STACK_PIN_H
#define RAY_STACK_PIN_H

#include "stack/js.h"

/* Called while the target is stopped (arg is the ray_js): copies what names will be read from, before the
 * collector can move it. */
void ray_pin_objects(struct ray_target *t, void *arg);

#endif
