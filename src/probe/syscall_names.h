/* syscall_names.h - what the arguments of system calls are called: flags, commands, families.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_SYSCALL_NAMES_H
#define RAY_PROBE_SYSCALL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ray_value_name {
	uint64_t value;
	const char *name;
};

struct ray_name_set {
	const char *name; /* what syscall_table.c calls it: "open" of flags:open */
	const struct ray_value_name *rows;
	size_t count;
	bool is_flags;	 /* bits; else one of the values */
	uint64_t choice; /* of flags: these bits together are one value (O_RDWR) */
};

const struct ray_name_set *ray_name_set_find(const char *name, size_t length); /* NULL if there is none */
const char *ray_value_name(const struct ray_name_set *set, uint64_t value);    /* NULL if it has none */

#endif
