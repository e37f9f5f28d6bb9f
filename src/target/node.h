/* node.h - is this a node, and which one?
 * SPDX-License-Identifier: MIT
 *
 * Found by executable and symbols, never by comm or file name: node 24 calls its main thread
 * "MainThread", Debian's node is a small program beside libnode.so, and people rename binaries. */
#ifndef RAY_TARGET_NODE_H
#define RAY_TARGET_NODE_H

#include "target/target.h"

#define RAY_V8(major, minor, build) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16 | (uint32_t)(build))

struct ray_node {
	const struct ray_module *module; /* the file that holds V8: the executable or libnode.so */
	char version[32];		 /* "22.23.3"; "" when it could not be read */
	char v8_text[32];		 /* "12.4.254.21" */
	uint32_t v8;			 /* RAY_V8(12, 4, 254); 0 when not known */
	bool stripped;
	bool bundled; /* a single executable application: the script is in it, and all arguments are the script's */
};

/* Does this file hold V8 and node? Looks at exported symbols only: cheap. */
bool ray_node_is_module(struct ray_elf *e);
/* Fills in what the file itself says: V8's version, node's if it is spelled out there, whether it is stripped. */
void ray_node_describe(struct ray_elf *e, struct ray_node *ret);
/* RAY_NOT_NODE when it is something else. */
RAY_MUST_USE struct ray_error *ray_node_identify(struct ray_target *t, struct ray_node *ret);
/* What the files of a process tell where its memory may not be read (Yama); ret->module stays NULL. */
RAY_MUST_USE struct ray_error *ray_node_identify_files(int pid, struct ray_node *ret);
/* Every node on the machine that /proc shows, by pid, ascending. *ret is the caller's to free.
 * unreadable_ret counts the processes that could not be looked at for want of rights. */
RAY_MUST_USE struct ray_error *ray_node_list(int **ret, size_t *count_ret, size_t *unreadable_ret);
/* With no target given: the one node on the machine, or an error that lists what there is. */
RAY_MUST_USE struct ray_error *ray_node_only(int *ret);

#endif
