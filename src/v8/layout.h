/* layout.h - where things are inside one particular V8 heap.
 * SPDX-License-Identifier: MIT
 *
 * Turns the v8dbg_* symbols of a node binary, plus the table in layout.c, into numbers.
 * Pure: takes a list of symbols; knows no process, no core file, does no I/O.
 * Invariant: create() resolves every required field or fails naming the missing one. A field that is
 * not required may be RAY_V8_NONE: ask ray_v8_has(). Symbols are matched on class and field; the type
 * that V8 appends to a field's symbol changes with nearly every release and is ignored. */
#ifndef RAY_V8_LAYOUT_H
#define RAY_V8_LAYOUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { RAY_V8_NONE = INT_MIN };

/* X(field, required). Offsets count from the untagged address of the object. */
#define RAY_V8_FIELDS(X)                    \
	X(SMI_SHIFT_SIZE, true)             \
	X(TAGGED_SIZE, true)                \
	X(FP_CONTEXT, true)                 \
	X(FP_FUNCTION, true)                \
	X(FP_ARGC, true)                    \
	X(FP_BYTECODE_ARRAY, true)          \
	X(FP_BYTECODE_OFFSET, true)         \
	X(FP_ARGS, true)                    \
	X(ARGC_COUNTS_RECEIVER, true)       \
	X(MAP_INSTANCE_TYPE, true)          \
	X(MAP_CONSTRUCTOR, true)            \
	X(MAP_PROTOTYPE, true)              \
	X(MAP_BIT_FIELD2, false)            \
	X(MAP_BIT_FIELD3, true)             \
	X(MAP_DESCRIPTORS, true)            \
	X(MAP_INSTANCE_SIZE, true)          \
	X(MAP_INOBJECT_START, true)         \
	X(DESCRIPTORS_HEADER, true)         \
	X(OWN_DESCRIPTORS_MASK, true)       \
	X(OWN_DESCRIPTORS_SHIFT, true)      \
	X(PROP_LOCATION_MASK, true)         \
	X(PROP_LOCATION_SHIFT, true)        \
	X(PROP_KIND_MASK, true)             \
	X(PROP_INDEX_MASK, true)            \
	X(PROP_INDEX_SHIFT, true)           \
	X(PROPERTIES, true)                 \
	X(DICTIONARY_SHIFT, true)           \
	X(DICTIONARY_PREFIX_START, true)    \
	X(DICTIONARY_PREFIX_SIZE, true)     \
	X(DICTIONARY_ENTRY_SIZE, true)      \
	X(JSFUNCTION_SHARED, true)          \
	X(JSFUNCTION_CONTEXT, true)         \
	X(SFI_DATA, true)                   \
	X(SFI_NAME, true)                   \
	X(SFI_SCRIPT, true)                 \
	X(SFI_FORMAL_COUNT, false)          \
	X(SCRIPT_SOURCE, true)              \
	X(SCRIPT_NAME, true)                \
	X(SCRIPT_LINE_OFFSET, false)        \
	X(SCRIPT_COLUMN_OFFSET, false)      \
	X(SCRIPT_EVAL_SHARED, false)        \
	X(SCRIPT_EVAL_POSITION, false)      \
	X(SCRIPT_SOURCE_URL, false)         \
	X(SCRIPT_MAPPING_URL, false)        \
	X(DEBUG_INFO_SCRIPT, false)         \
	X(SCOPE_FIRST, true)                \
	X(SCOPE_RECEIVER_INFO, true)        \
	X(SCOPE_IDX_LOCALS, true)           \
	X(SCOPE_IDX_FIRST_VARS, true)       \
	X(SCOPE_INLINE_LOCALS, true)        \
	X(STRING_LENGTH, true)              \
	X(SEQ_ONE_CHARS, true)              \
	X(SEQ_TWO_CHARS, true)              \
	X(CONS_FIRST, true)                 \
	X(CONS_SECOND, true)                \
	X(SLICED_PARENT, true)              \
	X(SLICED_OFFSET, true)              \
	X(THIN_ACTUAL, true)                \
	X(EXTERNAL_RESOURCE, true)          \
	X(EXTERNAL_DATA, true)              \
	X(SYMBOL_NAME, false)               \
	X(STRING_REPRESENTATION_MASK, true) \
	X(STRING_ENCODING_MASK, true)       \
	X(ONE_BYTE_TAG, true)               \
	X(CONS_TAG, true)                   \
	X(EXTERNAL_TAG, true)               \
	X(SLICED_TAG, true)                 \
	X(THIN_TAG, true)                   \
	X(FIRST_NONSTRING, true)            \
	X(ARRAY_LENGTH, true)               \
	X(ARRAY_DATA, true)                 \
	X(HEAP_NUMBER_VALUE, true)          \
	X(ODDBALL_KIND, true)               \
	X(ODDBALL_NULL, true)               \
	X(ODDBALL_TRUE, true)               \
	X(ODDBALL_UNDEFINED, true)          \
	X(JSARRAY_LENGTH, true)             \
	X(TYPED_ARRAY_LENGTH, false)        \
	X(VIEW_BYTE_LENGTH, false)          \
	X(BYTECODE_WRAPPER, false)          \
	X(BYTECODE_LENGTH, true)            \
	X(BYTECODE_POSITIONS, true)         \
	X(BYTECODE_DATA, true)              \
	X(CODE_WRAPPER, false)              \
	X(CODE_DEOPT, true)                 \
	X(CODE_POSITIONS, true)             \
	X(CODE_START, false)                \
	X(CODE_BODY, false)                 \
	X(CODE_FLAGS, true)                 \
	X(CODE_SIZE, true)                  \
	X(CODE_KIND_MASK, true)             \
	X(CODE_KIND_BASELINE, true)         \
	X(CODE_KIND_TURBOFAN, true)         \
	X(STREAM_CODE, false)               \
	X(STREAM_BODY, false)               \
	X(DEOPT_INLINED_COUNT, true)        \
	X(DEOPT_LITERALS, true)             \
	X(DEOPT_SFI, true)                  \
	X(DEOPT_INLINING, true)             \
	X(SFI_WRAPPER_SFI, false)           \
	X(NEW_POSITION_CODE, true)          \
	X(TYPE_MAP, true)                   \
	X(TYPE_SFI, true)                   \
	X(TYPE_SCRIPT, true)                \
	X(TYPE_SCOPE_INFO, true)            \
	X(TYPE_BYTECODE_ARRAY, true)        \
	X(TYPE_CODE, true)                  \
	X(TYPE_STREAM, false)               \
	X(TYPE_JSFUNCTION, true)            \
	X(TYPE_JSFUNCTION_LAST, true)       \
	X(TYPE_CONTEXT_FIRST, true)         \
	X(TYPE_CONTEXT_LAST, true)          \
	X(TYPE_FIXED_ARRAY, true)           \
	X(TYPE_BYTE_ARRAY, true)            \
	X(TYPE_TRUSTED_BYTE_ARRAY, false)   \
	X(TYPE_SFI_WRAPPER, false)          \
	X(TYPE_BASELINE_DATA, false)        \
	X(TYPE_INTERPRETER_DATA, false)     \
	X(TYPE_DEBUG_INFO, false)           \
	X(TYPE_ODDBALL, true)               \
	X(TYPE_HOLE, false)                 \
	X(TYPE_HEAP_NUMBER, true)           \
	X(TYPE_SYMBOL, true)                \
	X(TYPE_BIGINT, false)               \
	X(TYPE_ACCESSOR_PAIR, false)        \
	X(TYPE_JSARRAY, true)               \
	X(TYPE_TYPED_ARRAY, false)          \
	X(TYPE_JSOBJECT, true)              \
	X(TYPE_API_OBJECT, false)           \
	X(TYPE_SPECIAL_API_OBJECT, false)   \
	X(TYPE_GLOBAL_PROXY, true)          \
	X(TYPE_GLOBAL_OBJECT, true)         \
	X(TYPE_WASM_EXPORT, false)

enum ray_v8_field {
#define X(field, required) RAY_V8_##field,
	RAY_V8_FIELDS(X)
#undef X
		RAY_V8_FIELD_COUNT
};

/* One v8dbg_* symbol, its prefix "v8dbg_" cut off. */
struct ray_v8_constant {
	const char *name;
	int32_t value;
};

struct ray_v8_layout; /* opaque, immutable once created */

/* constants need not be sorted; they are copied. version is RAY_V8(major, minor, build); 0 when not known. */
RAY_MUST_USE struct ray_error *ray_v8_layout_create(uint32_t version, const struct ray_v8_constant *constants,
						    size_t count, struct ray_v8_layout **ret);
void ray_v8_layout_free(struct ray_v8_layout *l);
RAY_DEFINE_AUTO(ray_v8_layout, ray_v8_layout_free)

int32_t ray_v8_get(const struct ray_v8_layout *l, enum ray_v8_field field);
bool ray_v8_has(const struct ray_v8_layout *l, enum ray_v8_field field);
/* The value came from the version table, not from the binary's own symbols. */
bool ray_v8_is_guessed(const struct ray_v8_layout *l, enum ray_v8_field field);

/* The name of a frame type ("ExitFrame"), from the binary's own v8dbg_frametype_*; NULL if unknown. */
const char *ray_v8_frame_type(const struct ray_v8_layout *l, int64_t number);

#endif
