/* node_events.h - the probes of the node provider: names, groups, arguments. SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_NODE_EVENTS_H
#define RAY_PROBE_NODE_EVENTS_H

#include "probe/provider.h"

enum { RAY_NODE_ARGS = 10 };

struct ray_node_event_row {
	const char *group; /* what stands in the place of a function: "http", "gc" */
	struct ray_probe_arg args[RAY_NODE_ARGS];
	size_t arg_count;
};

/* By enum ray_node_event. */
extern const struct ray_node_event_row ray_node_events[RAY_NODE_EVENT_COUNT];
extern const char ray_node_prelude[];

#endif
