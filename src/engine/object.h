/* object.h - a compiled BPF object, taken apart: functions, who calls whom, types.
 * SPDX-License-Identifier: MIT
 *
 * Reads what clang writes for `-target bpf`: one .text with functions and no data sections. Every offset is checked; an object that
 * does not hold is an error, never a wrong program. Knows no maps and no kernel: engine/link.c gives the instructions their meaning. */
#ifndef RAY_ENGINE_OBJECT_H
#define RAY_ENGINE_OBJECT_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

struct ray_object_function {
	char *name;
	uint32_t start, count; /* instructions */
	bool is_global;
	uint32_t type_id; /* its FUNC in the BTF */
};

/* An instruction that names another function: a call, or ld_imm64 of its address (a callback). */
struct ray_object_call {
	uint32_t insn;
	uint32_t function; /* index */
	bool is_address;
};

struct ray_object {
	RAY_VEC(struct bpf_insn) insns;
	RAY_VEC(struct ray_object_function) functions; /* by start */
	RAY_VEC(struct ray_object_call) calls;	       /* by insn */
	void *btf;
	size_t btf_size;
	uint32_t static_type_id; /* a FUNC of static linkage: what generated functions pass for */
};

RAY_MUST_USE struct ray_error *ray_object_create(const void *bytes, size_t size, struct ray_object **ret);
void ray_object_free(struct ray_object *o);
RAY_DEFINE_AUTO(ray_object, ray_object_free)
const struct ray_object_function *ray_object_find(const struct ray_object *o, const char *name); /* NULL if none */

#endif
