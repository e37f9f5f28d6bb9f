/* constants.h - from a node binary to the layout of its V8. SPDX-License-Identifier: MIT
 *
 * Reads the v8dbg_* symbols of the file, which survive stripping, and hands them to src/v8, which reads no files. */
#ifndef RAY_STACK_CONSTANTS_H
#define RAY_STACK_CONSTANTS_H

#include "target/node.h"
#include "v8/layout.h"

/* RAY_UNREADABLE, naming what is missing, when V8's layout cannot be told. */
RAY_MUST_USE struct ray_error *ray_constants_layout(struct ray_elf *e, uint32_t v8, struct ray_v8_layout **ret);

#endif
