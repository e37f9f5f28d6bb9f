/* kernel_orc.h - where the kernel keeps the tables that it unwinds its own stack by. SPDX-License-Identifier: MIT
 *
 * For kern/kstack.bpf.h, which reads them there. Reads none of them itself. */
#ifndef RAY_ENGINE_KERNEL_ORC_H
#define RAY_ENGINE_KERNEL_ORC_H

#include <stdbool.h>
#include <stdint.h>

struct ray_kernel_btf;

/* Addresses in the kernel. All 0: it has no such tables, of another shape, or does not say where. */
struct ray_kernel_orc {
	uint64_t starts, rows, count;	  /* where each row begins, the rows, their number */
	uint64_t index;			  /* for each 256 bytes of text the row that covers the first; 0: unknown */
	uint64_t text_start, text_end;	  /* what they are about */
	uint64_t graph_hook, return_hook; /* what probes put in the place of return addresses; 0: there is none */
};

void ray_kernel_orc_find(const struct ray_kernel_btf *btf, struct ray_kernel_orc *ret);

#endif
