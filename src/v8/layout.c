/* layout.c - the table of V8's layouts; see layout.h.
 * SPDX-License-Identifier: MIT
 *
 * One row per (field, first version), newest first. A row gives the symbols to try, by their start when
 * they end in "_", else by their whole name; then how to derive the value: a base field plus a delta, or
 * the delta alone. A row whose base is not there is passed over. Offsets are for 64-bit builds without
 * pointer compression. */
#include "v8/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"

#define V(major, minor, build) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16 | (uint32_t)(build))

enum { NO_BASE = -1, SYMBOL_ONLY = -2, PTR = 8, MAX_VALUE = 1 << 20 };

struct row {
	enum ray_v8_field field;
	uint32_t since;
	const char *symbols[3]; /* NULL-filled */
	int base;		/* a field, NO_BASE (delta is the value), or SYMBOL_ONLY */
	int32_t delta;
};

#define SYMBOL(field, name)                                 \
	{                                                   \
		RAY_V8_##field, 0, { name }, SYMBOL_ONLY, 0 \
	}
#define OR(field, name, value)                              \
	{                                                   \
		RAY_V8_##field, 0, { name }, NO_BASE, value \
	}
#define FROM(field, name, base, delta)                            \
	{                                                         \
		RAY_V8_##field, 0, { name }, RAY_V8_##base, delta \
	}
#define SINCE(version, field, name, base, delta)               \
	{                                                      \
		RAY_V8_##field, version, { name }, base, delta \
	}

static const struct row rows[] = {
	OR(SMI_SHIFT_SIZE, "SmiShiftSize", 31),
	OR(TAGGED_SIZE, "TaggedSize", PTR),

	OR(FP_CONTEXT, "off_fp_context", -8),
	OR(FP_FUNCTION, "off_fp_function", -16),
	OR(FP_ARGC, NULL, -24),
	OR(FP_BYTECODE_ARRAY, "off_fp_bytecode_array", -32),
	OR(FP_BYTECODE_OFFSET, "off_fp_bytecode_offset", -40),
	OR(FP_ARGS, "off_fp_args", 16),
	/* kJSArgcIncludesReceiver, on by default since V8 9.9. */
	SINCE(V(9, 9, 0), ARGC_COUNTS_RECEIVER, NULL, NO_BASE, 1),
	SINCE(0, ARGC_COUNTS_RECEIVER, NULL, NO_BASE, 0),

	SYMBOL(MAP_INSTANCE_TYPE, "class_Map__instance_type_"),
	FROM(MAP_CONSTRUCTOR, "class_Map__constructor_or_back_pointer_", MAP_PROTOTYPE, PTR),
	SYMBOL(MAP_PROTOTYPE, "class_Map__prototype__"),
	SYMBOL(MAP_BIT_FIELD2, "class_Map__bit_field2_"),
	SYMBOL(MAP_BIT_FIELD3, "class_Map__bit_field3_"),
	SYMBOL(MAP_DESCRIPTORS, "class_Map__instance_descriptors_"),
	SYMBOL(MAP_INSTANCE_SIZE, "class_Map__instance_size_in_words_"),
	SYMBOL(MAP_INOBJECT_START, "class_Map__inobject_properties_start_or_constructor_function_index_"),
	OR(DESCRIPTORS_HEADER, "class_DescriptorArray__header_size_", 24),
	SYMBOL(OWN_DESCRIPTORS_MASK, "bit_field3_number_of_own_descriptors_mask"),
	SYMBOL(OWN_DESCRIPTORS_SHIFT, "bit_field3_number_of_own_descriptors_shift"),
	SYMBOL(PROP_LOCATION_MASK, "prop_location_mask"),
	SYMBOL(PROP_LOCATION_SHIFT, "prop_location_shift"),
	SYMBOL(PROP_KIND_MASK, "prop_kind_mask"),
	SYMBOL(PROP_INDEX_MASK, "prop_index_mask"),
	SYMBOL(PROP_INDEX_SHIFT, "prop_index_shift"),
	OR(PROPERTIES, "class_JSReceiver__raw_properties_or_hash_", 8),
	OR(DICTIONARY_SHIFT, "bit_field3_is_dictionary_map_shift", 21),
	OR(DICTIONARY_PREFIX_START, "namedictionary_prefix_start_index", 3),
	OR(DICTIONARY_PREFIX_SIZE, "namedictionaryshape_prefix_size", 2),
	OR(DICTIONARY_ENTRY_SIZE, "namedictionaryshape_entry_size", 3),

	SYMBOL(JSFUNCTION_SHARED, "class_JSFunction__shared_"),
	SYMBOL(JSFUNCTION_CONTEXT, "class_JSFunction__context_"),

	/* Published up to V8 11; since then it is a trusted pointer, still the first field. */
	OR(SFI_DATA, "class_SharedFunctionInfo__function_data_", 8),
	SYMBOL(SFI_NAME, "class_SharedFunctionInfo__name_or_scope_info_"),
	{ RAY_V8_SFI_SCRIPT,
	  0,
	  { "class_SharedFunctionInfo__script__", "class_SharedFunctionInfo__script_or_debug_info_",
	    "class_SharedFunctionInfo__raw_script_" },
	  SYMBOL_ONLY,
	  0 },
	SYMBOL(SFI_FORMAL_COUNT, "class_SharedFunctionInfo__internal_formal_parameter_count_"),

	OR(SCRIPT_SOURCE, "class_Script__source_", 8),
	SYMBOL(SCRIPT_NAME, "class_Script__name_"),
	FROM(SCRIPT_LINE_OFFSET, "class_Script__line_offset_", SCRIPT_NAME, PTR),
	FROM(SCRIPT_COLUMN_OFFSET, "class_Script__column_offset_", SCRIPT_NAME, 2 * PTR),
	SYMBOL(SCRIPT_EVAL_SHARED, "class_Script__eval_from_shared_"),
	SYMBOL(SCRIPT_EVAL_POSITION, "class_Script__eval_from_position_"),
	/* Behind eval_from_position, shared_function_infos, [compiled_lazy_function_positions], flags. */
	SINCE(V(10, 5, 0), SCRIPT_SOURCE_URL, NULL, RAY_V8_SCRIPT_EVAL_POSITION, 4 * PTR),
	SINCE(0, SCRIPT_SOURCE_URL, NULL, RAY_V8_SCRIPT_EVAL_POSITION, 3 * PTR),
	FROM(SCRIPT_MAPPING_URL, NULL, SCRIPT_SOURCE_URL, PTR),
	/* While a debugger is attached, the script slot of V8 before 11.7 holds a DebugInfo. */
	OR(DEBUG_INFO_SCRIPT, "class_DebugInfo__script_", 24),

	/* A ScopeInfo was a FixedArray, with its length first, up to V8 9.0. */
	SINCE(V(9, 1, 0), SCOPE_FIRST, NULL, NO_BASE, 8),
	SINCE(0, SCOPE_FIRST, NULL, NO_BASE, 16),
	/* Up to 9.6, a slot for where the receiver is, if it is used. */
	SINCE(V(9, 7, 0), SCOPE_RECEIVER_INFO, NULL, NO_BASE, 0),
	SINCE(0, SCOPE_RECEIVER_INFO, NULL, NO_BASE, 1),
	SYMBOL(SCOPE_IDX_LOCALS, "scopeinfo_idx_ncontextlocals"),
	SYMBOL(SCOPE_IDX_FIRST_VARS, "scopeinfo_idx_first_vars"),
	/* Scopes with that many context locals keep their names in a hash table; up to 9.6 none did. */
	SINCE(V(9, 7, 0), SCOPE_INLINE_LOCALS, NULL, NO_BASE, 75),
	SINCE(0, SCOPE_INLINE_LOCALS, NULL, NO_BASE, MAX_VALUE),

	SYMBOL(STRING_LENGTH, "class_String__length_"),
	SYMBOL(SEQ_ONE_CHARS, "class_SeqOneByteString__chars_"),
	SYMBOL(SEQ_TWO_CHARS, "class_SeqTwoByteString__chars_"),
	SYMBOL(CONS_FIRST, "class_ConsString__first_"),
	SYMBOL(CONS_SECOND, "class_ConsString__second_"),
	SYMBOL(SLICED_PARENT, "class_SlicedString__parent_"),
	SYMBOL(SLICED_OFFSET, "class_SlicedString__offset_"),
	SYMBOL(THIN_ACTUAL, "class_ThinString__actual_"),
	SYMBOL(EXTERNAL_RESOURCE, "class_ExternalString__resource_"),
	FROM(EXTERNAL_DATA, NULL, EXTERNAL_RESOURCE, PTR),
	SYMBOL(SYMBOL_NAME, "class_Symbol__name_"),
	SYMBOL(STRING_REPRESENTATION_MASK, "StringRepresentationMask"),
	SYMBOL(STRING_ENCODING_MASK, "StringEncodingMask"),
	SYMBOL(ONE_BYTE_TAG, "OneByteStringTag"),
	SYMBOL(CONS_TAG, "ConsStringTag"),
	SYMBOL(EXTERNAL_TAG, "ExternalStringTag"),
	SYMBOL(SLICED_TAG, "SlicedStringTag"),
	SYMBOL(THIN_TAG, "ThinStringTag"),
	SYMBOL(FIRST_NONSTRING, "FirstNonstringType"),

	OR(ARRAY_LENGTH, "class_FixedArrayBase__length_", 8),
	OR(ARRAY_DATA, "class_FixedArray__data_", 16),
	OR(HEAP_NUMBER_VALUE, "class_HeapNumber__value_", 8),
	SYMBOL(ODDBALL_KIND, "class_Oddball__kind_"),
	SYMBOL(ODDBALL_NULL, "OddballNull"),
	SYMBOL(ODDBALL_TRUE, "OddballTrue"),
	SYMBOL(ODDBALL_UNDEFINED, "OddballUndefined"),
	OR(JSARRAY_LENGTH, "class_JSArray__length_", 24),
	SYMBOL(VIEW_BYTE_LENGTH, "class_JSArrayBufferView__byte_length_"),
	SYMBOL(TYPED_ARRAY_LENGTH, "class_JSTypedArray__length_"),

	/* V8 12 made bytecode a trusted object: a wrapper comes first, then the position table. */
	SYMBOL(BYTECODE_WRAPPER, "class_BytecodeArray__wrapper_"),
	OR(BYTECODE_LENGTH, "class_BytecodeArray__length_", 8),
	FROM(BYTECODE_POSITIONS, "class_BytecodeArray__source_position_table_", BYTECODE_WRAPPER, PTR),
	OR(BYTECODE_POSITIONS, NULL, 32),
	OR(BYTECODE_DATA, "class_BytecodeArray__data_", 54),

	SYMBOL(CODE_WRAPPER, "class_Code__wrapper_"),
	FROM(CODE_DEOPT, "class_Code__deoptimization_data_", CODE_WRAPPER, -2 * PTR),
	OR(CODE_DEOPT, NULL, 16),
	FROM(CODE_POSITIONS, "class_Code__source_position_table_", CODE_WRAPPER, -PTR),
	OR(CODE_POSITIONS, NULL, 24),
	/* Up to V8 10 the instructions lie inside the Code object; since 11.1 in an InstructionStream. */
	SYMBOL(CODE_BODY, "class_Code__instruction_start__uintptr_t"),
	SINCE(V(11, 1, 0), CODE_START, "class_Code__instruction_start__Address", RAY_V8_CODE_POSITIONS, 2 * PTR),
	SINCE(V(11, 1, 0), CODE_FLAGS, "class_Code__flags_", RAY_V8_CODE_START, PTR),
	SINCE(0, CODE_FLAGS, NULL, NO_BASE, 48),
	SINCE(V(11, 4, 0), CODE_SIZE, "class_Code__instruction_size_", RAY_V8_CODE_FLAGS, 4),
	SINCE(V(11, 1, 0), CODE_SIZE, NULL, RAY_V8_CODE_FLAGS, 8),
	SINCE(0, CODE_SIZE, NULL, NO_BASE, 40),
	OR(CODE_KIND_MASK, "CodeKindFieldMask", 15),
	OR(CODE_KIND_BASELINE, "CodeKindBaseline", 11),
	/* The first of TurboFan's kinds; node has Maglev, whose kind is between, since V8 11. Before 9.2 TurboFan's is the
	 * third behind baseline, then the second: the others are TurboFan too, set up in other ways. */
	SINCE(V(11, 0, 0), CODE_KIND_TURBOFAN, NULL, RAY_V8_CODE_KIND_BASELINE, 2),
	SINCE(0, CODE_KIND_TURBOFAN, NULL, RAY_V8_CODE_KIND_BASELINE, 1),
	SYMBOL(STREAM_BODY, "class_InstructionStream__instruction_start_"),
	SINCE(V(11, 1, 0), STREAM_CODE, NULL, NO_BASE, 8),

	OR(DEOPT_INLINED_COUNT, "DeoptimizationDataInlinedFunctionCountIndex", 1),
	OR(DEOPT_LITERALS, "DeoptimizationDataLiteralArrayIndex", 2),
	{ RAY_V8_DEOPT_SFI,
	  0,
	  { "DeoptimizationDataSharedFunctionInfoIndex", "DeoptimizationDataWrappedSharedFunctionInfoIndex",
	    "DeoptimizationDataSharedFunctionInfoWrapperIndex" },
	  NO_BASE,
	  6 },
	OR(DEOPT_INLINING, "DeoptimizationDataInliningPositionsIndex", 7),
	OR(SFI_WRAPPER_SFI, "class_SharedFunctionInfoWrapper__shared_info_", 8),
	/* How the first number of a source position entry is written; position.c checks what it decodes.
	 * It changed between 13.6 (node 24) and 14.1 (node 25). */
	SINCE(V(14, 1, 0), NEW_POSITION_CODE, NULL, NO_BASE, 1),
	SINCE(0, NEW_POSITION_CODE, NULL, NO_BASE, 0),

	SYMBOL(TYPE_MAP, "type_Map__"),
	SYMBOL(TYPE_SFI, "type_SharedFunctionInfo__"),
	SYMBOL(TYPE_SCRIPT, "type_Script__"),
	SYMBOL(TYPE_SCOPE_INFO, "type_ScopeInfo__"),
	SYMBOL(TYPE_BYTECODE_ARRAY, "type_BytecodeArray__"),
	SYMBOL(TYPE_CODE, "type_Code__"),
	SYMBOL(TYPE_STREAM, "type_InstructionStream__"),
	SYMBOL(TYPE_JSFUNCTION, "type_JSFunction__"),
	/* Constructors of classes, arrays, promises... have types of their own behind it. Whoever asks also
	 * checks the function's SharedFunctionInfo, so that a range too wide does no harm. */
	FROM(TYPE_JSFUNCTION_LAST, "LastJSFunctionType", TYPE_JSFUNCTION, 16),
	SYMBOL(TYPE_CONTEXT_FIRST, "FirstContextType"),
	SYMBOL(TYPE_CONTEXT_LAST, "LastContextType"),
	SYMBOL(TYPE_FIXED_ARRAY, "type_FixedArray__"),
	SYMBOL(TYPE_BYTE_ARRAY, "type_ByteArray__"),
	SYMBOL(TYPE_TRUSTED_BYTE_ARRAY, "type_TrustedByteArray__"),
	SYMBOL(TYPE_SFI_WRAPPER, "type_SharedFunctionInfoWrapper__"),
	/* Up to V8 9.4 it joins baseline code and bytecode; since then the code knows its bytecode. */
	SYMBOL(TYPE_BASELINE_DATA, "type_BaselineData__"),
	SYMBOL(TYPE_INTERPRETER_DATA, "type_InterpreterData__"),
	SYMBOL(TYPE_DEBUG_INFO, "type_DebugInfo__"),
	SYMBOL(TYPE_ODDBALL, "type_Oddball__"),
	SYMBOL(TYPE_HOLE, "type_Hole__"),
	SYMBOL(TYPE_HEAP_NUMBER, "type_HeapNumber__"),
	SYMBOL(TYPE_ACCESSOR_PAIR, "type_AccessorPair__"),
	/* The primitive types follow one another: symbol, bigint, number, oddball. */
	FROM(TYPE_BIGINT, "type_BigInt__", TYPE_SYMBOL, 1),
	SYMBOL(TYPE_SYMBOL, "type_Symbol__"),
	SYMBOL(TYPE_JSARRAY, "type_JSArray__"),
	SYMBOL(TYPE_TYPED_ARRAY, "type_JSTypedArray__"),
	SYMBOL(TYPE_JSOBJECT, "type_JSObject__"),
	SYMBOL(TYPE_API_OBJECT, "APIObjectType"),
	SYMBOL(TYPE_SPECIAL_API_OBJECT, "SpecialAPIObjectType"),
	SYMBOL(TYPE_GLOBAL_PROXY, "type_JSGlobalProxy__"),
	SYMBOL(TYPE_GLOBAL_OBJECT, "type_JSGlobalObject__"),
	SYMBOL(TYPE_WASM_EXPORT, "type_WasmExportedFunctionData__"),
};

static const char *const names[] = {
#define X(field, required) #field,
	RAY_V8_FIELDS(X)
#undef X
};

static const bool is_required[] = {
#define X(field, required) required,
	RAY_V8_FIELDS(X)
#undef X
};

struct frame_type {
	int32_t number;
	const char *name;
};

struct ray_v8_layout {
	int32_t value[RAY_V8_FIELD_COUNT];
	bool guessed[RAY_V8_FIELD_COUNT];
	RAY_VEC(struct frame_type) frame_types;
	struct ray_arena *arena;
};

struct source {
	uint32_t version;
	const struct ray_v8_constant *constants;
	size_t count;
};

static const struct ray_v8_constant *find_constant(const struct source *s, const char *wanted)
{
	size_t n = strlen(wanted);
	bool by_start = wanted[n - 1] == '_';

	for (size_t i = 0; i < s->count; i++) {
		if (!strncmp(s->constants[i].name, wanted, n + !by_start))
			return &s->constants[i];
	}
	return NULL;
}

static bool resolve_row(struct ray_v8_layout *l, const struct source *s, const struct row *r)
{
	const struct ray_v8_constant *c;

	for (size_t i = 0; i < RAY_COUNT(r->symbols) && r->symbols[i]; i++) {
		c = find_constant(s, r->symbols[i]);
		if (c) {
			l->value[r->field] = c->value;
			return true;
		}
	}
	/* An unknown version is taken for the newest: its rows come first. */
	if (r->base == SYMBOL_ONLY || (s->version && s->version < r->since))
		return false;
	if (r->base == NO_BASE)
		l->value[r->field] = r->delta;
	else if (l->value[r->base] >= -MAX_VALUE && l->value[r->base] <= MAX_VALUE)
		l->value[r->field] = l->value[r->base] + r->delta;
	else
		return false;
	l->guessed[r->field] = true;
	return true;
}

/* Symbols of all rows first, so that no derived value hides one; then derivations, in the order of the
 * table, twice, since a base may stand below the row that uses it. */
static void resolve(struct ray_v8_layout *l, const struct source *s)
{
	for (size_t i = 0; i < RAY_V8_FIELD_COUNT; i++)
		l->value[i] = RAY_V8_NONE;
	for (int pass = 0; pass < 3; pass++) {
		for (size_t i = 0; i < RAY_COUNT(rows); i++) {
			struct row r = rows[i];

			if (pass == 0)
				r.base = SYMBOL_ONLY;
			if (l->value[r.field] == RAY_V8_NONE)
				resolve_row(l, s, &r);
		}
	}
}

static bool load_frame_types(struct ray_v8_layout *l, const struct source *s)
{
	static const char start[] = "frametype_";
	const char *name;

	for (size_t i = 0; i < s->count; i++) {
		if (strncmp(s->constants[i].name, start, sizeof(start) - 1))
			continue;
		name = ray_arena_strdup(l->arena, s->constants[i].name + sizeof(start) - 1);
		if (!name || !ray_vec_push(&l->frame_types, (struct frame_type){ s->constants[i].value, name }))
			return false;
	}
	return true;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* A damaged binary must not lead to shifts and sums that C does not define. */
static bool is_plausible(enum ray_v8_field field, int32_t value)
{
	if (ends_in(names[field], "_MASK") || value == RAY_V8_NONE)
		return true;
	if (ends_in(names[field], "_SHIFT"))
		return value >= 0 && value < 32;
	return value >= -MAX_VALUE && value <= MAX_VALUE;
}

static struct ray_error *check(const struct ray_v8_layout *l)
{
	if (l->value[RAY_V8_TAGGED_SIZE] != PTR || l->value[RAY_V8_SMI_SHIFT_SIZE] != 31)
		return ray_error_new(RAY_UNREADABLE,
				     "this V8 was built with pointer compression, which is not supported");
	for (size_t i = 0; i < RAY_V8_FIELD_COUNT; i++) {
		if (is_required[i] && l->value[i] == RAY_V8_NONE)
			return ray_error_new(RAY_UNREADABLE, "the binary does not say where V8 keeps %s", names[i]);
		if (!is_plausible((enum ray_v8_field)i, l->value[i]))
			return ray_error_new(RAY_UNREADABLE, "the binary says that V8's %s is %d, which cannot be",
					     names[i], l->value[i]);
	}
	return NULL;
}

struct ray_error *ray_v8_layout_create(uint32_t version, const struct ray_v8_constant *constants, size_t count,
				       struct ray_v8_layout **ret)
{
	struct source s = { version, constants, count };
	ray_auto(ray_v8_layout, l) = calloc(1, sizeof(*l));
	struct ray_error *err;

	if (!l)
		return &ray_enomem;
	l->arena = ray_arena_create();
	if (!l->arena)
		return &ray_enomem;
	if (!count)
		return ray_error_new(RAY_UNREADABLE, "the binary has no v8dbg_* symbols");
	resolve(l, &s);
	if (!load_frame_types(l, &s))
		return &ray_enomem;
	err = check(l);
	if (err)
		return err;
	*ret = ray_take(l);
	return NULL;
}

void ray_v8_layout_free(struct ray_v8_layout *l)
{
	if (!l)
		return;
	ray_vec_free(&l->frame_types);
	ray_arena_free(l->arena);
	free(l);
}

int32_t ray_v8_get(const struct ray_v8_layout *l, enum ray_v8_field field)
{
	return l->value[field];
}

bool ray_v8_has(const struct ray_v8_layout *l, enum ray_v8_field field)
{
	return l->value[field] != RAY_V8_NONE;
}

bool ray_v8_is_guessed(const struct ray_v8_layout *l, enum ray_v8_field field)
{
	return l->guessed[field];
}

const char *ray_v8_frame_type(const struct ray_v8_layout *l, int64_t number)
{
	for (size_t i = 0; i < l->frame_types.n; i++) {
		if (l->frame_types.at[i].number == number)
			return l->frame_types.at[i].name;
	}
	return NULL;
}
