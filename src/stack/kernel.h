/* kernel.h - the kernel's own functions by address.
 * SPDX-License-Identifier: MIT
 *
 * From somebody who can ask the kernel for one, or else from /proc/kallsyms, which is read once, at the first question: it takes some tens of
 * milliseconds. Without the right to see addresses (kptr_restrict) nothing has a name there. */
#ifndef RAY_STACK_KERNEL_H
#define RAY_STACK_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
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

/* Prints "name+0x1/0x20", or with " [module]" behind it, or anything else for an address that has no name. False: it cannot be asked. */
typedef bool ray_kernel_asked(void *arg, uint64_t address, char *text, size_t size);
/* From now on ask is asked, until it cannot be; the first time is not before an address is looked up. */
void ray_kernel_ask(struct ray_kernel *k, ray_kernel_asked *ask, void *arg);

/* Its texts hold until the next call. */
bool ray_kernel_symbol_at(struct ray_kernel *k, uint64_t address, struct ray_kernel_symbol *ret);
/* For tests: takes the text of a file like /proc/kallsyms instead of the file. */
bool ray_kernel_parse(struct ray_kernel *k, char *text);

#endif
