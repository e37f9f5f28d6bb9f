/* kernel_names.h - asks the kernel itself what an address of its own is called. SPDX-License-Identifier: MIT
 *
 * Reading all of /proc/kallsyms takes 100 ms of CPU and 20 MiB; a profile needs some hundred names out of it. A small program in the kernel prints one at
 * a time, in a microsecond or two. */
#ifndef RAY_ENGINE_KERNEL_NAMES_H
#define RAY_ENGINE_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"

struct ray_kernel_names;

/* NULL: the kernel does not do that for us. */
struct ray_kernel_names *ray_kernel_names_create(void);
void ray_kernel_names_free(struct ray_kernel_names *n);
RAY_DEFINE_AUTO(ray_kernel_names, ray_kernel_names_free)

/* "do_syscall_64+0x5d/0x90", or with " [module]" behind it; an address that has no name as "0x...". False: it did not work.
 * arg is a struct ray_kernel_names: for ray_kernel_ask(). */
bool ray_kernel_names_ask(void *arg, uint64_t address, char *text, size_t size);

#endif
