/* kernel_btf.h - where a member lies in a structure of the running kernel.
 * SPDX-License-Identifier: MIT
 *
 * Scans the raw bytes of the kernel's BTF once, in a few milliseconds, and keeps no types: lang/btf.c does, for scripts. */
#ifndef RAY_ENGINE_KERNEL_BTF_H
#define RAY_ENGINE_KERNEL_BTF_H

#include <stdint.h>

#include "base/error.h"

struct ray_kernel_btf;

/* path NULL: the running kernel's. */
RAY_MUST_USE struct ray_error *ray_kernel_btf_create(const char *path, struct ray_kernel_btf **ret);
void ray_kernel_btf_free(struct ray_kernel_btf *b);
RAY_DEFINE_AUTO(ray_kernel_btf, ray_kernel_btf_free)
/* In bytes. member may be a path ("se.sum_exec_runtime"); anonymous structures and unions are looked into. */
RAY_MUST_USE struct ray_error *ray_kernel_btf_offset(const struct ray_kernel_btf *b, const char *type,
						     const char *member, uint32_t *ret);
/* The id of a type by the name that a typedef gives it. */
RAY_MUST_USE struct ray_error *ray_kernel_btf_typedef(const struct ray_kernel_btf *b, const char *name, uint32_t *ret);

#endif
