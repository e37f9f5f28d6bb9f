/* node_derive_internal.h - what the parts of node_derive share. SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_NODE_DERIVE_INTERNAL_H
#define RAY_PROBE_NODE_DERIVE_INTERNAL_H

#include "probe/follow.h"
#include "probe/node_derive.h"

struct ray_derive {
	struct ray_elf *elf;
	struct ray_local_place *places;
};

/* Nothing happens if no function begins there. */
void ray_derive_set(struct ray_derive *d, enum ray_local_function function, uint64_t vaddr);
/* What the loop calls when a descriptor is ready: uv__stream_io and the like. */
void ray_derive_watchers(struct ray_derive *d);
/* What V8 does when it collects, and when something is thrown. */
void ray_derive_v8(struct ray_derive *d);

#endif
