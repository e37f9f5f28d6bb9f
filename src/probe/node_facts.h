/* node_facts.h - numbers that handlers need: where libuv's fields lie, what V8's numbers are called.
 * SPDX-License-Identifier: MIT
 *
 * libuv's structures are public and keep their layout through all of version 1 (checked against the DWARF of libuv 1.43 to 1.52);
 * a process whose libuv says otherwise, by its own accessor functions, gets no offsets: handlers then tell less, never something wrong. */
#ifndef RAY_PROBE_NODE_FACTS_H
#define RAY_PROBE_NODE_FACTS_H

#include "probe/node_symbols.h"

/* Fills in at and reasons. */
void ray_node_facts(const struct ray_node_about *about, struct ray_watched *ret);

/* Fills in v8: takes a look at all symbols of the file, so only who needs it asks. Nothing is filled in where V8 does not tell enough. */
void ray_node_facts_v8(const struct ray_node_about *about, struct ray_watched *ret);

/* Why V8 collects, in V8's own words ("allocation failure"); NULL for a number that is not known. */
const char *ray_v8_gc_reason(unsigned reason);

/* ---- for tests ---- */

/* Whether the accessors of this libuv read the fields where they should be. A file without them does not contradict. */
bool ray_uv_layout_holds(struct ray_elf *e);

#endif
