/* node_codes.h - functions of a node process that its handlers tell apart by address, and what libuv's operations are called.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_NODE_CODES_H
#define RAY_PROBE_NODE_CODES_H

#include "kern/wire.h"
#include "probe/node_symbols.h"

/* Fills in code, operations and at.job_type. */
RAY_MUST_USE struct ray_error *ray_node_codes(struct ray_catalogue *c, const struct ray_node_about *about,
					      struct ray_watched *ret);

#endif
