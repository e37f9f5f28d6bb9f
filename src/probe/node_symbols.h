/* node_symbols.h - where the functions that hooks hang on lie in one node process.
 * SPDX-License-Identifier: MIT
 *
 * Official builds have everything in the executable and keep its symbols; distributions spread it over libnode.so, libuv.so, libssl.so and strip
 * them. A function is found by its symbol; a local function of a stripped libuv by following the code of exported ones
 * (node_derive.h). What cannot be proven is not there: no address is ever guessed.
 *
 * Each file is looked at once per catalogue, whatever the number of processes that map it. */
#ifndef RAY_PROBE_NODE_SYMBOLS_H
#define RAY_PROBE_NODE_SYMBOLS_H

#include "probe/node_names.h"
#include "probe/process.h"
#include "target/node.h"

/* Where one body of a function lies. */
struct ray_node_place {
	const struct ray_code_module *module;
	const char *symbol;   /* as found, for -l */
	uint64_t vaddr, size; /* in the file's own addresses */
	uint64_t offset;      /* in the file: where probes go, the cheapest instruction that does (instruction.h) */
	bool is_clone;	      /* arguments may be missing or have moved: see node_names.h */
	bool is_derived;      /* found by following code, not by a symbol */
};

enum { RAY_NODE_NAMES = 8 };

/* A function under the names it has had, the preferred one first; a name may end in *: see node_names.h. */
struct ray_node_want {
	const char *names[RAY_NODE_NAMES]; /* up to the first NULL */
	bool is_libc; /* it is glibc's: looked for there, and nowhere else, and found if the probe is a cheap one */
	bool is_after_call; /* not where it begins but behind its system calls, each of which is a body then */
};

struct ray_node_found {
	size_t name; /* which of the names it was */
	struct ray_node_place places[RAY_NODE_BODIES];
	size_t count; /* 0: it is not there. More than 1: all bodies, and a hook must hang on each */
};

/* Finds many functions at once: much cheaper than one after the other where names are not exported. ret has an element for each want. */
RAY_MUST_USE struct ray_error *ray_node_find_all(struct ray_catalogue *c, pid_t pid, const struct ray_node_want *wants,
						 size_t count, struct ray_node_found *ret);
/* One function, its plain body. */
RAY_MUST_USE struct ray_error *ray_node_find(struct ray_catalogue *c, pid_t pid, const struct ray_node_want *want,
					     struct ray_node_place *ret, bool *found_ret);

/* What a process is as a node. */
struct ray_node_about {
	pid_t pid;
	struct ray_node node;
	unsigned major, minor;			 /* of node; 0.0 if it could not be read */
	const struct ray_code_process *process;	 /* looked at anew when it has changed */
	const struct ray_code_module *module;	 /* the one that holds V8 */
	const struct ray_code_module *uv_module; /* the one that holds libuv; NULL if none does */
};

/* Whether glibc will be there when it has been loaded. */
bool ray_node_awaits_glibc(const struct ray_code_process *p);

/* NULL in *ret when it is no node: that is no error. The result lives as long as the catalogue. */
RAY_MUST_USE struct ray_error *ray_node_about(struct ray_catalogue *c, pid_t pid, const struct ray_node_about **ret);

#endif
