/* v8.h - one V8 heap that is being read, and the smallest questions about its objects.
 * SPDX-License-Identifier: MIT
 *
 * Pure over somebody's memory (struct ray_reader): knows no process and no file. Nothing that is read
 * is trusted: every object is asked for its type before its fields are believed, loops are bounded, and
 * what does not hold is reported as absent. Tagged values are passed as they lie in memory. */
#ifndef RAY_V8_V8_H
#define RAY_V8_V8_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/reader.h"
#include "base/vec.h"
#include "v8/layout.h"

enum { RAY_V8_MAP_CACHE = 1024, RAY_V8_TEXT_CACHE = 256, RAY_V8_STREAM_MAPS = 8 };

struct ray_v8_map_cache {
	uint64_t map;
	int32_t type; /* -1: it is no map */
};

struct ray_v8_text_cache {
	uint64_t string;
	uint32_t limit;
	const char *text; /* NULL: it cannot be read */
};

struct ray_v8_script; /* script.c */
struct ray_v8_code;   /* code.h */

struct ray_v8 {
	struct ray_reader memory;
	const struct ray_v8_layout *layout;
	struct ray_arena *arena; /* names and whatever else is handed out */
	/* Bytecodes::kBytecodeSizes: lengths for scale 1, 2 and 4, one row after the other; NULL when the
	 * binary does not tell (then baseline frames have no current line). */
	const uint8_t *bytecode_sizes;
	size_t bytecode_count;
	/* In a hurry: lines of large sources are not counted. V8 does not move such strings, so they can be later. */
	bool hurry;
	/* TranslationOpcodeOperandCount: how many operands each opcode of a translation has; NULL when the binary
	 * does not tell (then optimized code without positions has no current line). */
	const int32_t *translation_operands;
	size_t translation_opcodes;
	/* What follows is the module's own. */
	struct ray_v8_map_cache maps[RAY_V8_MAP_CACHE];
	struct ray_v8_text_cache texts[RAY_V8_TEXT_CACHE];
	uint64_t stream_maps[RAY_V8_STREAM_MAPS];
	RAY_VEC(struct ray_v8_script *) scripts;
	RAY_VEC(struct ray_v8_code) codes;
};

/* Zeroes and sets up; the arena is created. False without memory. */
bool ray_v8_init(struct ray_v8 *v8, const struct ray_v8_layout *layout, struct ray_reader memory);
void ray_v8_deinit(struct ray_v8 *v8);
/* Forgets everything that was read, and frees what was handed out: the heap is not as it was. Which types the objects of a map have may be kept for a while:
 * maps are old and stay where they are. False without memory. */
bool ray_v8_forget(struct ray_v8 *v8, bool with_maps);

static inline bool ray_v8_is_smi(uint64_t value)
{
	return !(value & 1);
}

/* A heap object by its tag alone; it may still point anywhere. */
static inline bool ray_v8_is_object(uint64_t value)
{
	return (value & 3) == 1 && value > 0x10000 && value >> 47 == 0;
}

static inline int32_t ray_v8_smi(uint64_t value)
{
	return (int32_t)((int64_t)value >> 32);
}

/* The word at offset of an object. */
bool ray_v8_word(struct ray_v8 *v8, uint64_t object, int64_t offset, uint64_t *ret);
/* The word at a field of the layout; false also when the layout does not have it. */
bool ray_v8_field(struct ray_v8 *v8, uint64_t object, enum ray_v8_field field, uint64_t *ret);
/* A field that must hold a Smi. */
bool ray_v8_smi_field(struct ray_v8 *v8, uint64_t object, enum ray_v8_field field, int32_t *ret);
/* The instance type; -1 when it is no object. Follows the forwarding address that a collection in
 * progress leaves in the map word. */
int32_t ray_v8_type(struct ray_v8 *v8, uint64_t object);
/* Is it an object whose type is the value of this TYPE_ field? */
bool ray_v8_is(struct ray_v8 *v8, uint64_t object, enum ray_v8_field type);
bool ray_v8_is_string(struct ray_v8 *v8, uint64_t object);
bool ray_v8_is_function(struct ray_v8 *v8, uint64_t object);
bool ray_v8_is_context(struct ray_v8 *v8, uint64_t object);

/* Element of a FixedArray-like object (words behind ARRAY_DATA), checked against its length. */
bool ray_v8_element(struct ray_v8 *v8, uint64_t array, int64_t index, uint64_t *ret);
/* A ByteArray's bytes, into the arena. NULL when it is none or larger than limit. */
const uint8_t *ray_v8_bytes(struct ray_v8 *v8, uint64_t array, size_t limit, size_t *size_ret);

#endif
