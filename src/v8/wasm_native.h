/* wasm_native.h - V8's NativeModule and the code in it. SPDX-License-Identifier: MIT
 *
 * For wasm.c only; wasm.h says how and why. */
#ifndef RAY_V8_WASM_NATIVE_H
#define RAY_V8_WASM_NATIVE_H

#include "v8/wasm_bytes.h"

/* One stretch of compiled code. */
struct ray_wasm_code {
	uint64_t object; /* the WasmCode */
	uint64_t start, size;
	int32_t index; /* of the function; -1 for tables and wrappers */
};

struct ray_wasm_native {
	const struct ray_reader *reader;
	uint64_t address;
	struct ray_wasm_bytes bytes;
	uint64_t map;	      /* where the map from addresses to code has its head */
	uint64_t table;	      /* the current code of each declared function */
	unsigned size_offset; /* members of WasmCode */
	unsigned index_offset;
	struct ray_wasm_code *recent; /* code that is not in the map yet, by address; read when first needed */
	size_t recent_count;
	unsigned readings; /* of recent */
};

/* Is there a NativeModule at this address? ret is ray_wasm_native_deinit()ed by the caller if so. */
bool ray_wasm_native_read(const struct ray_reader *reader, uint64_t address, struct ray_wasm_native *ret);
void ray_wasm_native_deinit(struct ray_wasm_native *n);
/* The code that holds pc and belongs to a function. */
bool ray_wasm_native_find(struct ray_wasm_native *n, uint64_t pc, struct ray_wasm_code *ret);

/* Tables that V8 keeps beside the code; NULL-safe sizes, 0 when there is none or the layout is not known. */
struct ray_wasm_tables {
	uint64_t positions, inlining; /* addresses */
	uint32_t positions_size, inlining_size;
};
bool ray_wasm_native_tables(const struct ray_wasm_native *n, const struct ray_wasm_code *code,
			    struct ray_wasm_tables *ret);

#endif
