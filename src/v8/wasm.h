/* wasm.h - which WebAssembly function a frame runs.
 * SPDX-License-Identifier: MIT
 *
 * A WebAssembly frame holds its instance. From there the way leads to V8's NativeModule, which knows every piece of
 * compiled code (also code that was replaced but still runs) and the bytes the module was made from. No symbol tells
 * where these members are, and they move between releases; but the objects point at each other in ways that nothing
 * else does, so they are found by search and are believed only when all of it fits: code begins and ends where its
 * neighbours say, function numbers agree with the table of functions, the bytes are a module. What does not fit
 * gives no function. Pure: reads memory through a reader. See docs/internals/threads-and-wasm.md. */
#ifndef RAY_V8_WASM_H
#define RAY_V8_WASM_H

#include "base/auto.h"
#include "base/reader.h"

struct ray_v8_layout;

struct ray_wasm_layout {
	uint16_t map_instance_type; /* offset of the instance type in a map, from the untagged address */
	uint16_t script_type;	    /* instance type of Script; 0: not known, scripts are not looked for */
	bool position_flags;	    /* source position tables as since V8 14: two flags below the code delta */
};

struct ray_wasm_layout ray_wasm_layout_of(const struct ray_v8_layout *l);

enum { RAY_WASM_MAX_INLINED = 15 };

struct ray_wasm_function {
	uint32_t index;
	bool is_exported_name; /* the name is that of an export: the module has no name for it */
	int64_t offset;	       /* in the module's bytes, as V8 prints it; -1 when not known */
	char name[160];	       /* raw bytes from the module; "" if none */
};

struct ray_wasm_frame {
	/* Innermost first; all but the last were inlined into the last. */
	struct ray_wasm_function functions[RAY_WASM_MAX_INLINED + 1];
	size_t count;
	char module_name[96]; /* raw bytes; "" if none */
	uint64_t script;      /* the module's Script, tagged, whose name is its url; 0 when not known */
};

struct ray_wasm; /* remembers the modules it has seen */

/* Both must outlive it. NULL when there is no memory. */
struct ray_wasm *ray_wasm_create(const struct ray_reader *reader, const struct ray_wasm_layout *layout);
void ray_wasm_free(struct ray_wasm *w);
RAY_DEFINE_AUTO(ray_wasm, ray_wasm_free)

/* instance: the word at [fp - 16] of a frame whose type is WasmFrame. pc: where it is; is_leaf: pc is the next
 * instruction and not a return address. False when the function cannot be told. */
bool ray_wasm_find(struct ray_wasm *w, uint64_t instance, uint64_t pc, bool is_leaf, struct ray_wasm_frame *ret);

#endif
