/* attach_multi.h - many addresses of a file at once, where the kernel can (6.6 and later).
 * SPDX-License-Identifier: MIT */
#ifndef RAY_ENGINE_ATTACH_MULTI_H
#define RAY_ENGINE_ATTACH_MULTI_H

#include "engine/internal.h"

/* What a program must be loaded as to be attached so. */
enum { RAY_ATTACH_UPROBE_MULTI = 48 };

/* Whether the kernel has it; asked once. */
bool ray_uprobe_multi_works(void);
/* All sites of the entry, one link for each file and process. */
RAY_MUST_USE struct ray_error *ray_uprobe_multi_attach(struct ray_trace *t, struct ray_entry *e);
/* Those of t->late that are the entry's. */
RAY_MUST_USE struct ray_error *ray_uprobe_multi_attach_late(struct ray_trace *t, struct ray_entry *e);

#endif
