/* fake_heap.h - a V8 heap that a test lays out object by object. SPDX-License-Identifier: MIT
 *
 * The constants are those of two real nodes, the oldest layout and a new one. Every object gets a map of its type;
 * maps have the map of maps. Memory ends where the last object does. */
#ifndef FAKE_HEAP_H
#define FAKE_HEAP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "v8/v8.h"

#define FAKE_V8(major, minor, build) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16 | (uint32_t)(build))

/* node 24: V8 13.6 */
static const struct ray_v8_constant fake_constants_24[] = {
	{ "SmiShiftSize", 31 },
	{ "TaggedSize", 8 },
	{ "off_fp_context", -8 },
	{ "off_fp_function", -16 },
	{ "off_fp_bytecode_array", -32 },
	{ "off_fp_bytecode_offset", -40 },
	{ "off_fp_args", 16 },
	{ "class_Map__instance_type__uint16_t", 12 },
	{ "class_Map__constructor_or_back_pointer__Tagged_Object_", 32 },
	{ "class_Map__prototype__Object", 24 },
	{ "class_Map__bit_field3__int", 16 },
	{ "class_Map__instance_descriptors__Tagged_DescriptorArray_", 40 },
	{ "class_Map__instance_size_in_words__char", 8 },
	{ "class_Map__inobject_properties_start_or_constructor_function_index__char", 9 },
	{ "class_DescriptorArray__header_size__uintptr_t", 24 },
	{ "bit_field3_number_of_own_descriptors_mask", 1047552 },
	{ "bit_field3_number_of_own_descriptors_shift", 10 },
	{ "prop_location_mask", 32 },
	{ "prop_location_shift", 5 },
	{ "prop_kind_mask", 1 },
	{ "prop_index_mask", 536346624 },
	{ "prop_index_shift", 19 },
	{ "class_JSReceiver__raw_properties_or_hash__Tagged_Object_", 8 },
	{ "bit_field3_is_dictionary_map_shift", 21 },
	{ "namedictionary_prefix_start_index", 3 },
	{ "namedictionaryshape_prefix_size", 3 },
	{ "namedictionaryshape_entry_size", 3 },
	{ "class_JSFunction__shared__SharedFunctionInfo", 32 },
	{ "class_JSFunction__context__Context", 40 },
	{ "class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_", 24 },
	{ "class_SharedFunctionInfo__script__Tagged_HeapObject_", 40 },
	{ "class_SharedFunctionInfo__raw_script__Tagged_Object_", 40 },
	{ "class_SharedFunctionInfo__internal_formal_parameter_count__uint16_t", 50 },
	{ "class_Script__source__Object", 8 },
	{ "class_Script__name__Object", 16 },
	{ "class_Script__eval_from_shared_or_wrapped_arguments__Tagged_Object_", 72 },
	{ "class_Script__eval_from_position__SMI", 80 },
	{ "scopeinfo_idx_ncontextlocals", 2 },
	{ "scopeinfo_idx_first_vars", 5 },
	{ "class_String__length__int32_t", 12 },
	{ "class_SeqOneByteString__chars__char", 16 },
	{ "class_SeqTwoByteString__chars__char", 16 },
	{ "class_ConsString__first__String", 16 },
	{ "class_ConsString__second__String", 24 },
	{ "class_SlicedString__parent__String", 16 },
	{ "class_SlicedString__offset__SMI", 24 },
	{ "class_ThinString__actual__String", 16 },
	{ "class_ExternalString__resource__Object", 16 },
	{ "class_Symbol__name__Object", 16 },
	{ "StringRepresentationMask", 7 },
	{ "StringEncodingMask", 8 },
	{ "OneByteStringTag", 8 },
	{ "ConsStringTag", 1 },
	{ "ExternalStringTag", 2 },
	{ "SlicedStringTag", 3 },
	{ "ThinStringTag", 5 },
	{ "FirstNonstringType", 128 },
	{ "class_FixedArrayBase__length__SMI", 8 },
	{ "class_FixedArray__data__uintptr_t", 16 },
	{ "class_HeapNumber__value__double", 8 },
	{ "class_Oddball__kind__int", 40 },
	{ "OddballNull", 3 },
	{ "OddballTrue", 1 },
	{ "OddballUndefined", 4 },
	{ "class_JSTypedArray__length__Object", 64 },
	{ "class_BytecodeArray__wrapper__Tagged_BytecodeWrapper_", 16 },
	{ "class_BytecodeArray__length__SMI", 8 },
	{ "class_BytecodeArray__data__uintptr_t", 64 },
	{ "class_Code__wrapper__Tagged_CodeWrapper_", 24 },
	{ "class_Code__instruction_start__Address", 40 },
	{ "class_Code__flags__uint32_t", 52 },
	{ "class_Code__instruction_size__int", 56 },
	{ "CodeKindFieldMask", 15 },
	{ "CodeKindBaseline", 10 },
	{ "class_InstructionStream__instruction_start__uintptr_t", 32 },
	{ "DeoptimizationDataInlinedFunctionCountIndex", 1 },
	{ "DeoptimizationDataLiteralArrayIndex", 3 },
	{ "DeoptimizationDataWrappedSharedFunctionInfoIndex", 7 },
	{ "DeoptimizationDataInliningPositionsIndex", 8 },
	{ "class_SharedFunctionInfoWrapper__shared_info__Tagged_SharedFunctionInfo_", 8 },
	{ "type_Map__MAP_TYPE", 272 },
	{ "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", 282 },
	{ "type_Script__SCRIPT_TYPE", 167 },
	{ "type_ScopeInfo__SCOPE_INFO_TYPE", 280 },
	{ "type_BytecodeArray__BYTECODE_ARRAY_TYPE", 186 },
	{ "type_Code__CODE_TYPE", 187 },
	{ "type_InstructionStream__INSTRUCTION_STREAM_TYPE", 192 },
	{ "type_JSFunction__JS_FUNCTION_TYPE", 2065 },
	{ "LastJSFunctionType", 2081 },
	{ "FirstContextType", 220 },
	{ "LastContextType", 229 },
	{ "type_FixedArray__FIXED_ARRAY_TYPE", 205 },
	{ "type_ByteArray__BYTE_ARRAY_TYPE", 217 },
	{ "type_TrustedByteArray__TRUSTED_BYTE_ARRAY_TYPE", 196 },
	{ "type_SharedFunctionInfoWrapper__SHARED_FUNCTION_INFO_WRAPPER_TYPE", 195 },
	{ "type_DebugInfo__DEBUG_INFO_TYPE", 154 },
	{ "type_Oddball__ODDBALL_TYPE", 131 },
	{ "type_Hole__HOLE_TYPE", 269 },
	{ "type_HeapNumber__HEAP_NUMBER_TYPE", 130 },
	{ "type_Symbol__SYMBOL_TYPE", 128 },
	{ "type_JSArray__JS_ARRAY_TYPE", 2119 },
	{ "type_JSTypedArray__JS_TYPED_ARRAY_TYPE", 2061 },
	{ "type_JSObject__JS_OBJECT_TYPE", 1057 },
	{ "APIObjectType", 1058 },
	{ "SpecialAPIObjectType", 1040 },
	{ "type_JSGlobalProxy__JS_GLOBAL_PROXY_TYPE", 301 },
	{ "type_JSGlobalObject__JS_GLOBAL_OBJECT_TYPE", 300 },
	{ "type_WasmExportedFunctionData__WASM_EXPORTED_FUNCTION_DATA_TYPE", 181 },
	{ "frametype_ConstructFrame", 24 },
	{ "frametype_EntryFrame", 1 },
	{ "frametype_ExitFrame", 3 },
	{ "frametype_WasmFrame", 4 },
};

/* node 16: V8 9.4 */
static const struct ray_v8_constant fake_constants_16[] = {
	{ "SmiShiftSize", 31 },
	{ "TaggedSize", 8 },
	{ "off_fp_context", -8 },
	{ "off_fp_function", -16 },
	{ "off_fp_args", 16 },
	{ "class_Map__instance_type__uint16_t", 12 },
	{ "class_Map__constructor_or_back_pointer__Object", 32 },
	{ "class_Map__prototype__HeapObject", 24 },
	{ "class_Map__bit_field3__int", 16 },
	{ "class_Map__instance_descriptors__DescriptorArray", 40 },
	{ "class_Map__instance_size_in_words__char", 8 },
	{ "class_Map__inobject_properties_start_or_constructor_function_index__char", 9 },
	{ "class_DescriptorArray__header_size__uintptr_t", 24 },
	{ "bit_field3_number_of_own_descriptors_mask", 1047552 },
	{ "bit_field3_number_of_own_descriptors_shift", 10 },
	{ "prop_location_mask", 2 },
	{ "prop_location_shift", 1 },
	{ "prop_kind_mask", 1 },
	{ "prop_index_mask", 536346624 },
	{ "prop_index_shift", 19 },
	{ "class_JSReceiver__raw_properties_or_hash__Object", 8 },
	{ "bit_field3_is_dictionary_map_shift", 21 },
	{ "namedictionary_prefix_start_index", 3 },
	{ "namedictionaryshape_prefix_size", 2 },
	{ "namedictionaryshape_entry_size", 3 },
	{ "class_JSFunction__shared__SharedFunctionInfo", 24 },
	{ "class_JSFunction__context__Context", 32 },
	{ "class_SharedFunctionInfo__function_data__Object", 8 },
	{ "class_SharedFunctionInfo__name_or_scope_info__Object", 16 },
	{ "class_SharedFunctionInfo__script_or_debug_info__HeapObject", 32 },
	{ "class_SharedFunctionInfo__internal_formal_parameter_count__uint16_t", 42 },
	{ "class_Script__name__Object", 16 },
	{ "class_Script__eval_from_shared_or_wrapped_arguments_or_sfi_table__Object", 72 },
	{ "class_Script__eval_from_position__SMI", 80 },
	{ "scopeinfo_idx_ncontextlocals", 2 },
	{ "scopeinfo_idx_first_vars", 3 },
	{ "class_String__length__int32_t", 12 },
	{ "class_SeqOneByteString__chars__char", 16 },
	{ "class_SeqTwoByteString__chars__char", 16 },
	{ "class_ConsString__first__String", 16 },
	{ "class_ConsString__second__String", 24 },
	{ "class_SlicedString__parent__String", 16 },
	{ "class_SlicedString__offset__SMI", 24 },
	{ "class_ThinString__actual__String", 16 },
	{ "class_ExternalString__resource__Object", 16 },
	{ "class_Symbol__name__Object", 16 },
	{ "StringRepresentationMask", 7 },
	{ "StringEncodingMask", 8 },
	{ "OneByteStringTag", 8 },
	{ "ConsStringTag", 1 },
	{ "ExternalStringTag", 2 },
	{ "SlicedStringTag", 3 },
	{ "ThinStringTag", 5 },
	{ "FirstNonstringType", 64 },
	{ "class_FixedArrayBase__length__SMI", 8 },
	{ "class_FixedArray__data__uintptr_t", 16 },
	{ "class_HeapNumber__value__double", 8 },
	{ "class_Oddball__kind_offset__int", 40 },
	{ "OddballNull", 3 },
	{ "OddballTrue", 1 },
	{ "OddballUndefined", 5 },
	{ "class_JSTypedArray__length__Object", 48 },
	{ "class_Code__source_position_table__ByteArray", 24 },
	{ "class_Code__instruction_start__uintptr_t", 96 },
	{ "class_Code__instruction_size__int", 40 },
	{ "type_Map__MAP_TYPE", 172 },
	{ "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", 179 },
	{ "type_Script__SCRIPT_TYPE", 112 },
	{ "type_ScopeInfo__SCOPE_INFO_TYPE", 178 },
	{ "type_BytecodeArray__BYTECODE_ARRAY_TYPE", 133 },
	{ "type_Code__CODE_TYPE", 162 },
	{ "type_JSFunction__JS_FUNCTION_TYPE", 1059 },
	{ "FirstContextType", 137 },
	{ "LastContextType", 146 },
	{ "type_FixedArray__FIXED_ARRAY_TYPE", 119 },
	{ "type_ByteArray__BYTE_ARRAY_TYPE", 132 },
	{ "type_DebugInfo__DEBUG_INFO_TYPE", 100 },
	{ "type_Oddball__ODDBALL_TYPE", 67 },
	{ "type_HeapNumber__HEAP_NUMBER_TYPE", 66 },
	{ "type_Symbol__SYMBOL_TYPE", 64 },
	{ "type_JSArray__JS_ARRAY_TYPE", 1085 },
	{ "type_JSTypedArray__JS_TYPED_ARRAY_TYPE", 1080 },
	{ "type_JSObject__JS_OBJECT_TYPE", 1057 },
	{ "APIObjectType", 1056 },
	{ "SpecialAPIObjectType", 1040 },
	{ "type_JSGlobalProxy__JS_GLOBAL_PROXY_TYPE", 190 },
	{ "type_JSGlobalObject__JS_GLOBAL_OBJECT_TYPE", 189 },
	{ "type_WasmExportedFunctionData__WASM_EXPORTED_FUNCTION_DATA_TYPE", 73 },
	{ "frametype_ConstructFrame", 19 },
	{ "frametype_EntryFrame", 1 },
	{ "frametype_ExitFrame", 3 },
	{ "frametype_WasmFrame", 4 },
};

enum { FAKE_SIZE = 4 << 20, FAKE_MAPS = 128 };

static const uint64_t fake_base = 0x100000000;

struct fake_heap {
	struct ray_v8 v8;
	struct ray_v8_layout *layout;
	unsigned char *bytes;
	size_t used;
	size_t reads;
	uint64_t meta; /* the map of maps */
	struct {
		int32_t type;
		uint64_t map;
	} maps[FAKE_MAPS];
	size_t map_count;
};

static inline size_t fake_read(void *arg, uint64_t address, void *buffer, size_t size)
{
	struct fake_heap *h = arg;
	uint64_t at = address - fake_base;

	h->reads++;
	if (at >= h->used)
		return 0;
	if (size > h->used - at)
		size = h->used - at;
	memcpy(buffer, h->bytes + at, size);
	return size;
}

static inline uint64_t fake_smi(int32_t value)
{
	return (uint64_t)(uint32_t)value << 32;
}

/* size bytes of zeros; returns the address. */
static inline uint64_t fake_alloc(struct fake_heap *h, size_t size)
{
	uint64_t address = fake_base + h->used;

	assert_true(h->used + size + 8 <= FAKE_SIZE);
	h->used += (size + 7) & ~(size_t)7;
	return address;
}

static inline void fake_put(struct fake_heap *h, uint64_t address, const void *bytes, size_t size)
{
	assert_true(address >= fake_base && address - fake_base + size <= h->used);
	if (size)
		memcpy(h->bytes + (address - fake_base), bytes, size);
}

static inline void fake_put64(struct fake_heap *h, uint64_t address, uint64_t value)
{
	fake_put(h, address, &value, sizeof(value));
}

/* The word at an offset of an object. */
static inline void fake_word(struct fake_heap *h, uint64_t object, int64_t offset, uint64_t value)
{
	fake_put64(h, object - 1 + (uint64_t)offset, value);
}

static inline void fake_set(struct fake_heap *h, uint64_t object, enum ray_v8_field field, uint64_t value)
{
	assert_true(ray_v8_has(h->layout, field));
	fake_word(h, object, ray_v8_get(h->layout, field), value);
}

static inline int32_t fake_get(struct fake_heap *h, enum ray_v8_field field)
{
	assert_true(ray_v8_has(h->layout, field));
	return ray_v8_get(h->layout, field);
}

/* A map of its own for objects of this type. */
static inline uint64_t fake_new_map(struct fake_heap *h, int32_t type)
{
	uint64_t map = fake_alloc(h, 80) + 1;
	uint16_t narrow = (uint16_t)type;

	fake_word(h, map, 0, h->meta ? h->meta : map);
	fake_put(h, map - 1 + (uint64_t)fake_get(h, RAY_V8_MAP_INSTANCE_TYPE), &narrow, sizeof(narrow));
	return map;
}

/* The map that objects of this type share. */
static inline uint64_t fake_map(struct fake_heap *h, int32_t type)
{
	for (size_t i = 0; i < h->map_count; i++) {
		if (h->maps[i].type == type)
			return h->maps[i].map;
	}
	assert_true(h->map_count < FAKE_MAPS);
	h->maps[h->map_count].type = type;
	return h->maps[h->map_count++].map = fake_new_map(h, type);
}

static inline uint64_t fake_object_of(struct fake_heap *h, int32_t type, size_t size)
{
	uint64_t map = fake_map(h, type), object = fake_alloc(h, size) + 1;

	fake_word(h, object, 0, map);
	return object;
}

static inline uint64_t fake_object(struct fake_heap *h, enum ray_v8_field type, size_t size)
{
	return fake_object_of(h, fake_get(h, type), size);
}

static inline void fake_init(struct fake_heap *h, uint32_t version, const struct ray_v8_constant *constants,
			     size_t count)
{
	memset(h, 0, sizeof(*h));
	assert_null(ray_v8_layout_create(version, constants, count, &h->layout));
	h->bytes = calloc(1, FAKE_SIZE);
	assert_non_null(h->bytes);
	assert_true(ray_v8_init(&h->v8, h->layout, (struct ray_reader){ fake_read, h }));
	h->meta = fake_new_map(h, ray_v8_get(h->layout, RAY_V8_TYPE_MAP));
}

static inline void fake_init_24(struct fake_heap *h)
{
	fake_init(h, FAKE_V8(13, 6, 233), fake_constants_24, RAY_COUNT(fake_constants_24));
}

static inline void fake_init_16(struct fake_heap *h)
{
	fake_init(h, FAKE_V8(9, 4, 146), fake_constants_16, RAY_COUNT(fake_constants_16));
}

static inline void fake_deinit(struct fake_heap *h)
{
	ray_v8_deinit(&h->v8);
	ray_v8_layout_free(h->layout);
	free(h->bytes);
}

/* ------------------------------------------------------------------------------ strings */

static inline uint64_t fake_string(struct fake_heap *h, int32_t shape, bool one_byte, uint32_t length, size_t size)
{
	int32_t type = shape | (one_byte ? fake_get(h, RAY_V8_ONE_BYTE_TAG) : 0);
	uint64_t s = fake_object_of(h, type, size < 32 ? 32 : size);

	fake_put(h, s - 1 + (uint64_t)fake_get(h, RAY_V8_STRING_LENGTH), &length, sizeof(length));
	return s;
}

static inline uint64_t fake_one_bytes(struct fake_heap *h, const void *bytes, uint32_t length)
{
	uint64_t s = fake_string(h, 0, true, length, 16 + length);

	fake_put(h, s - 1 + (uint64_t)fake_get(h, RAY_V8_SEQ_ONE_CHARS), bytes, length);
	return s;
}

static inline uint64_t fake_one(struct fake_heap *h, const char *text)
{
	return fake_one_bytes(h, text, (uint32_t)strlen(text));
}

static inline uint64_t fake_two(struct fake_heap *h, const uint16_t *units, uint32_t length)
{
	uint64_t s = fake_string(h, 0, false, length, 16 + 2 * (size_t)length);

	fake_put(h, s - 1 + (uint64_t)fake_get(h, RAY_V8_SEQ_TWO_CHARS), units, 2 * (size_t)length);
	return s;
}

static inline uint64_t fake_cons(struct fake_heap *h, uint64_t first, uint64_t second, uint32_t length)
{
	uint64_t s = fake_string(h, fake_get(h, RAY_V8_CONS_TAG), true, length, 32);

	fake_set(h, s, RAY_V8_CONS_FIRST, first);
	fake_set(h, s, RAY_V8_CONS_SECOND, second);
	return s;
}

/* ------------------------------------------------------------------------------ arrays and functions */

static inline uint64_t fake_array(struct fake_heap *h, const uint64_t *words, int32_t count)
{
	uint64_t a = fake_object(h, RAY_V8_TYPE_FIXED_ARRAY, 16 + 8 * (size_t)count);

	fake_set(h, a, RAY_V8_ARRAY_LENGTH, fake_smi(count));
	fake_put(h, a - 1 + (uint64_t)fake_get(h, RAY_V8_ARRAY_DATA), words, 8 * (size_t)count);
	return a;
}

static inline uint64_t fake_bytes(struct fake_heap *h, const void *bytes, int32_t size)
{
	uint64_t a = fake_object(h, RAY_V8_TYPE_BYTE_ARRAY, 16 + (size_t)size);

	fake_set(h, a, RAY_V8_ARRAY_LENGTH, fake_smi(size));
	fake_put(h, a - 1 + (uint64_t)fake_get(h, RAY_V8_ARRAY_DATA), bytes, (size_t)size);
	return a;
}

static inline uint64_t fake_script(struct fake_heap *h, uint64_t name, uint64_t source)
{
	uint64_t s = fake_object(h, RAY_V8_TYPE_SCRIPT, 160);

	fake_set(h, s, RAY_V8_SCRIPT_NAME, name);
	fake_set(h, s, RAY_V8_SCRIPT_SOURCE, source);
	return s;
}

/* name: a string, a ScopeInfo or a Smi. script may be 0. */
static inline uint64_t fake_shared(struct fake_heap *h, uint64_t name, uint64_t script)
{
	uint64_t s = fake_object(h, RAY_V8_TYPE_SFI, 72);

	fake_set(h, s, RAY_V8_SFI_NAME, name);
	fake_set(h, s, RAY_V8_SFI_SCRIPT, script);
	return s;
}

static inline uint64_t fake_function(struct fake_heap *h, uint64_t shared)
{
	uint64_t f = fake_object(h, RAY_V8_TYPE_JSFUNCTION, 72);

	fake_set(h, f, RAY_V8_JSFUNCTION_SHARED, shared);
	return f;
}

enum {
	FAKE_SCOPE_SAVED_CLASS = 1 << 10,
	FAKE_SCOPE_FUNCTION_VARIABLE = 1 << 12,
	FAKE_SCOPE_INFERRED = 1 << 14,
};

/* A ScopeInfo with that many context locals; name and inferred may be 0 for none. The range is [start, end]. */
static inline uint64_t fake_scope(struct fake_heap *h, int32_t locals, uint64_t name, uint64_t inferred, int32_t start,
				  int32_t end)
{
	uint64_t scope = fake_object(h, RAY_V8_TYPE_SCOPE_INFO, 8 * (16 + 2 * (size_t)locals));
	int64_t at = fake_get(h, RAY_V8_SCOPE_IDX_FIRST_VARS), first = fake_get(h, RAY_V8_SCOPE_FIRST);
	bool new_range = at >= 5;
	int32_t flags = (name ? FAKE_SCOPE_FUNCTION_VARIABLE : 0) | (inferred ? FAKE_SCOPE_INFERRED : 0);

	fake_word(h, scope, first, fake_smi(flags));
	fake_word(h, scope, first + 8 * (int64_t)fake_get(h, RAY_V8_SCOPE_IDX_LOCALS), fake_smi(locals));
	if (new_range) {
		fake_word(h, scope, first + 24, fake_smi(start));
		fake_word(h, scope, first + 32, fake_smi(end));
	}
	/* Since V8 9.7 up to 74 names stand beside their infos; more are in a hash table. */
	if (locals < fake_get(h, RAY_V8_SCOPE_INLINE_LOCALS)) {
		uint64_t local = fake_one(h, "local");

		for (int32_t i = 0; i < locals; i++)
			fake_word(h, scope, first + 8 * at++, local);
	} else {
		fake_word(h, scope, first + 8 * at++, fake_array(h, NULL, 0));
	}
	for (int32_t i = 0; i < locals; i++)
		fake_word(h, scope, first + 8 * at++, fake_smi(i));
	if (name) {
		fake_word(h, scope, first + 8 * at++, name);
		fake_word(h, scope, first + 8 * at++, fake_smi(3));
	}
	if (inferred)
		fake_word(h, scope, first + 8 * at++, inferred);
	if (!new_range) {
		fake_word(h, scope, first + 8 * at++, fake_smi(start));
		fake_word(h, scope, first + 8 * at++, fake_smi(end));
	}
	return scope;
}

static inline int fake_set_up_24(void **state)
{
	struct fake_heap *h = malloc(sizeof(*h));

	assert_non_null(h);
	fake_init_24(h);
	*state = h;
	return 0;
}

static inline int fake_set_up_16(void **state)
{
	struct fake_heap *h = malloc(sizeof(*h));

	assert_non_null(h);
	fake_init_16(h);
	*state = h;
	return 0;
}

static inline int fake_tear_down(void **state)
{
	fake_deinit(*state);
	free(*state);
	return 0;
}

/* A test that runs on a heap of each node; *state is it. */
#define fake_test(f)                                                \
	{ #f " (24)", f, fake_set_up_24, fake_tear_down, NULL },    \
	{                                                           \
#f " (16)", f, fake_set_up_16, fake_tear_down, NULL \
	}

#endif
