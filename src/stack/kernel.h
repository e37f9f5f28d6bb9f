/* kernel.h - the kernel's own functions by address, from /proc/kallsyms.
 * SPDX-License-Identifier: MIT
 *
 * Read once, at the first question: it takes some tens of milliseconds. Without the right to see addresses
 * (kptr_restrict) nothing has a name. */
#ifndef RAY_STACK_KERNEL_H
#define RAY_STACK_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"

struct ray_kernel;

struct ray_kernel *ray_kernel_create(void); /* NULL without memory */
void ray_kernel_free(struct ray_kernel *k);
RAY_DEFINE_AUTO(ray_kernel, ray_kernel_free)

struct ray_kernel_symbol {
	const char *module; /* "vmlinux" for what is no module */
	const char *name;
	uint64_t start;
};

bool ray_kernel_symbol_at(struct ray_kernel *k, uint64_t address, struct ray_kernel_symbol *ret);
/* For tests: takes the text of a file like /proc/kallsyms instead of the file. */
bool ray_kernel_parse(struct ray_kernel *k, char *text);

#endif
