/* wasm_bytes.h - a WebAssembly module in its binary form: how many functions, what they are called, where they begin.
 * SPDX-License-Identifier: MIT
 *
 * The bytes lie in a target's memory and may be anything: every length is checked, every loop ends with the bytes, and
 * code is skipped (a module can have a hundred megabytes). Where names and bodies lie is remembered when first asked for.
 * Knows nothing of V8. */
#ifndef RAY_V8_WASM_BYTES_H
#define RAY_V8_WASM_BYTES_H

#include "base/reader.h"

struct ray_wasm_section {
	uint64_t offset, size; /* of its contents, in the module; size 0 when there is none */
};

struct ray_wasm_places; /* where each function's name, export and body are */

struct ray_wasm_bytes {
	const struct ray_reader *reader; /* the caller's, for as long as this is used */
	uint64_t address, size;
	uint32_t imported, declared; /* functions; those that are imported come first */
	struct ray_wasm_section exports, code;
	struct ray_wasm_section module_name, function_names; /* parts of the name section */
	struct ray_wasm_places *places;			     /* NULL until needed */
};

/* False when this is no module, or it is broken before the functions can be counted. */
bool ray_wasm_bytes_read(const struct ray_reader *reader, uint64_t address, uint64_t size, struct ray_wasm_bytes *ret);
void ray_wasm_bytes_deinit(struct ray_wasm_bytes *w);

/* A name as it stands in the module: raw bytes, cut to fit, NUL-ended, without NULs. False when there is none. */
bool ray_wasm_bytes_module_name(const struct ray_wasm_bytes *w, char *out, size_t size);
/* From the name section. */
bool ray_wasm_bytes_function_name(struct ray_wasm_bytes *w, uint32_t index, char *out, size_t size);
/* The first name under which it is exported. */
bool ray_wasm_bytes_export_name(struct ray_wasm_bytes *w, uint32_t index, char *out, size_t size);
/* Where the body of a declared function begins, and how long it is. */
bool ray_wasm_bytes_body(struct ray_wasm_bytes *w, uint32_t index, struct ray_wasm_section *ret);

#endif
