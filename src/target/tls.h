/* tls.h - thread-local storage of a target, without stopping it.
 * SPDX-License-Identifier: MIT
 *
 * A thread's own variables lie around its thread pointer (fs_base). A core has that in its registers.
 * For a running process the registers are out of reach, but the C library has told the kernel of an address
 * inside the thread's descriptor (its list of robust mutexes), and the kernel tells us. musl does not, so
 * there the descriptor is looked for above the stack pointer. Knows glibc and musl on x86-64; what it finds
 * is checked against the pointers that a descriptor has to itself, so another C library gives nothing. */
#ifndef RAY_TARGET_TLS_H
#define RAY_TARGET_TLS_H

#include "target/target.h"

struct ray_tls_thread {
	int tid;
	uint64_t pointer; /* 0 if it could not be told, and of the kernel's own threads */
};

/* One for each of ray_target_threads(), in that order. *ret is the caller's to free. */
RAY_MUST_USE struct ray_error *ray_tls_threads(struct ray_target *t, struct ray_tls_thread **ret, size_t *count_ret);

/* Where the thread keeps the thread-local variable at offset (a TLS symbol's value) of a module. False when it
 * has none yet, or when the module's place cannot be told. */
bool ray_tls_address(struct ray_target *t, const struct ray_module *m, uint64_t pointer, uint64_t offset,
		     uint64_t *ret);
/* The same for a module id as the dynamic linker counts (what R_X86_64_DTPMOD64 leaves in the GOT). */
bool ray_tls_module_address(struct ray_target *t, uint64_t id, uint64_t pointer, uint64_t offset, uint64_t *ret);
/* What pthread_getspecific(key) would return in that thread. False when that cannot be told. */
bool ray_tls_specific(struct ray_target *t, uint64_t pointer, uint32_t key, uint64_t *ret);

#endif
