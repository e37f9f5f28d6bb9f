/* function.c - see function.h. SPDX-License-Identifier: MIT */
#include "v8/function.h"

#include "v8/property.h"
#include "v8/string.h"

enum {
	NAME_LIMIT = 256, /* UTF-16 units of a name that are shown */
	TAIL_SLOTS = 8,	  /* slots behind the locals that can hold the name */
};

/* Bits of ScopeInfo's flags, the same from V8 9.0 to 14.6. */
enum {
	SCOPE_RECEIVER_VARIABLE = 3 << 7, /* 1 on the stack, 2 in the context, 3 not used */
	SCOPE_HAS_SAVED_CLASS = 1 << 10,
	SCOPE_FUNCTION_VARIABLE = 3 << 12,
	SCOPE_HAS_INFERRED_NAME = 1 << 14,
	SCOPE_KIND_SHIFT = 17,
	SCOPE_KIND_MASK = 31,
};

/* Kinds of functions, the same too: four of constructors, then what V8 makes of the fields and blocks of a class. */
enum {
	KIND_FIRST_CONSTRUCTOR = 3,
	KIND_LAST_CONSTRUCTOR = 6,
	KIND_MEMBERS = 24,
	KIND_STATICS = 25,
	KIND_STATICS_LAST = 26, /* of V8 14 */
};

bool ray_v8_function_shared(struct ray_v8 *v8, uint64_t function, uint64_t *ret)
{
	return ray_v8_is_function(v8, function) && ray_v8_field(v8, function, RAY_V8_JSFUNCTION_SHARED, ret);
}

static bool scope_slot(struct ray_v8 *v8, uint64_t scope, int64_t index, uint64_t *ret)
{
	return ray_v8_word(v8, scope, ray_v8_get(v8->layout, RAY_V8_SCOPE_FIRST) + index * 8, ret);
}

/* Index of the first slot behind the context locals. */
static bool scope_tail(struct ray_v8 *v8, uint64_t scope, int64_t *ret)
{
	int64_t first = ray_v8_get(v8->layout, RAY_V8_SCOPE_IDX_FIRST_VARS);
	uint64_t locals;
	int32_t n;

	if (!scope_slot(v8, scope, ray_v8_get(v8->layout, RAY_V8_SCOPE_IDX_LOCALS), &locals) || !ray_v8_is_smi(locals))
		return false;
	n = ray_v8_smi(locals);
	if (n < 0 || n > 1 << 20)
		return false;
	*ret = n < ray_v8_get(v8->layout, RAY_V8_SCOPE_INLINE_LOCALS) ? first + 2 * (int64_t)n : first + 1 + n;
	return true;
}

/* A Smi up to V8 12.8, then a plain number in the lower half. */
static bool scope_flags(struct ray_v8 *v8, uint64_t scope, uint32_t *ret)
{
	uint64_t word;

	if (!scope_slot(v8, scope, 0, &word))
		return false;
	*ret = (uint32_t)word ? (uint32_t)word : (uint32_t)(word >> 32);
	return true;
}

static int scope_kind(struct ray_v8 *v8, uint64_t scope)
{
	uint32_t flags;

	return scope_flags(v8, scope, &flags) ? (int)(flags >> SCOPE_KIND_SHIFT & SCOPE_KIND_MASK) : 0;
}

/* How many of the slots behind the locals have to do with names and the receiver. */
static int scope_name_slots(struct ray_v8 *v8, uint64_t scope)
{
	uint32_t flags, receiver;
	int slots = 0;

	if (!scope_flags(v8, scope, &flags))
		return 0;
	receiver = flags & SCOPE_RECEIVER_VARIABLE;
	if (receiver && receiver != SCOPE_RECEIVER_VARIABLE)
		slots = ray_v8_get(v8->layout, RAY_V8_SCOPE_RECEIVER_INFO);
	return slots + (flags & SCOPE_HAS_SAVED_CLASS ? 1 : 0) + (flags & SCOPE_FUNCTION_VARIABLE ? 2 : 0) +
	       (flags & SCOPE_HAS_INFERRED_NAME ? 1 : 0);
}

/* The function's name, or the inferred one: the first string that is not empty. NULL, and not "", where there is
 * a name that cannot be read. */
static const char *scope_name(struct ray_v8 *v8, uint64_t scope)
{
	int slots = scope_name_slots(v8, scope);
	const char *name, *none = "";
	uint64_t value;
	int64_t tail;

	if (!scope_tail(v8, scope, &tail))
		return NULL;
	for (int i = 0; i < TAIL_SLOTS; i++) {
		if (!scope_slot(v8, scope, tail + i, &value))
			break;
		if (ray_v8_is_smi(value))
			continue;
		if (!ray_v8_is_string(v8, value)) {
			if (ray_v8_is(v8, value, RAY_V8_TYPE_SCOPE_INFO))
				break; /* the outer scope: the names are behind us */
			if (i < slots && ray_v8_type(v8, value) < 0)
				none = NULL;
			continue;
		}
		name = ray_v8_string_text(v8, value, NAME_LIMIT);
		if (!name || name[0])
			return name;
	}
	return none;
}

const char *ray_v8_shared_name(struct ray_v8 *v8, uint64_t shared)
{
	uint64_t value;

	if (!ray_v8_is(v8, shared, RAY_V8_TYPE_SFI) || !ray_v8_field(v8, shared, RAY_V8_SFI_NAME, &value))
		return NULL;
	if (ray_v8_is_smi(value))
		return "";
	if (ray_v8_is_string(v8, value))
		return ray_v8_string_text(v8, value, NAME_LIMIT);
	if (!ray_v8_is(v8, value, RAY_V8_TYPE_SCOPE_INFO))
		return NULL;
	/* They have no name any more since V8 11.8, but V8 still gives them one. */
	if (scope_kind(v8, value) == KIND_MEMBERS)
		return "<instance_members_initializer>";
	if (scope_kind(v8, value) >= KIND_STATICS && scope_kind(v8, value) <= KIND_STATICS_LAST)
		return "<static_initializer>";
	return scope_name(v8, value);
}

bool ray_v8_shared_is_class(struct ray_v8 *v8, uint64_t shared)
{
	uint64_t scope;
	int kind;

	if (!ray_v8_field(v8, shared, RAY_V8_SFI_NAME, &scope) || !ray_v8_is(v8, scope, RAY_V8_TYPE_SCOPE_INFO))
		return false;
	kind = scope_kind(v8, scope);
	return kind >= KIND_FIRST_CONSTRUCTOR && kind <= KIND_LAST_CONSTRUCTOR;
}

const char *ray_v8_function_own_name(struct ray_v8 *v8, uint64_t function)
{
	const char *own = NULL;
	uint64_t value;

	/* Usually an accessor; a value there was set at run time and is what the program calls it. */
	if (ray_v8_is_function(v8, function) && ray_v8_property_get(v8, function, "name", &value) &&
	    ray_v8_is_string(v8, value))
		own = ray_v8_string_text(v8, value, NAME_LIMIT);
	return own && own[0] ? own : NULL;
}

const char *ray_v8_function_name(struct ray_v8 *v8, uint64_t function)
{
	const char *own = ray_v8_function_own_name(v8, function);
	uint64_t shared;

	if (own)
		return own;
	return ray_v8_function_shared(v8, function, &shared) ? ray_v8_shared_name(v8, shared) : NULL;
}

bool ray_v8_shared_script(struct ray_v8 *v8, uint64_t shared, uint64_t *ret)
{
	uint64_t value;

	if (!ray_v8_field(v8, shared, RAY_V8_SFI_SCRIPT, &value))
		return false;
	if (ray_v8_is(v8, value, RAY_V8_TYPE_DEBUG_INFO) && !ray_v8_field(v8, value, RAY_V8_DEBUG_INFO_SCRIPT, &value))
		return false;
	*ret = value;
	return ray_v8_is(v8, value, RAY_V8_TYPE_SCRIPT);
}

bool ray_v8_data_bytecode(struct ray_v8 *v8, uint64_t data, uint64_t *ret)
{
	if (ray_v8_is(v8, data, RAY_V8_TYPE_BASELINE_DATA) && !ray_v8_word(v8, data, RAY_V8_BASELINE_DATA_DATA, &data))
		return false;
	if (ray_v8_is(v8, data, RAY_V8_TYPE_INTERPRETER_DATA) &&
	    !ray_v8_word(v8, data, RAY_V8_INTERPRETER_DATA_BYTECODE, &data))
		return false;
	*ret = data;
	return ray_v8_is(v8, data, RAY_V8_TYPE_BYTECODE_ARRAY);
}

bool ray_v8_shared_bytecode(struct ray_v8 *v8, uint64_t shared, uint64_t *ret)
{
	uint64_t data;

	if (!ray_v8_is(v8, shared, RAY_V8_TYPE_SFI) || !ray_v8_field(v8, shared, RAY_V8_SFI_DATA, &data))
		return false;
	/* Baseline code stands in for the bytecode and holds it where optimized code has its deoptimization data. */
	if (ray_v8_is(v8, data, RAY_V8_TYPE_CODE) && !ray_v8_field(v8, data, RAY_V8_CODE_DEOPT, &data))
		return false;
	return ray_v8_data_bytecode(v8, data, ret);
}

static bool is_range(uint64_t start, uint64_t end)
{
	return ray_v8_is_smi(start) && ray_v8_is_smi(end) && ray_v8_smi(start) >= 0 &&
	       ray_v8_smi(end) >= ray_v8_smi(start);
}

/* Newer V8 keeps start and end before the locals (then there are five fixed slots), older behind the names. */
static bool scope_range(struct ray_v8 *v8, uint64_t scope, uint64_t *start, uint64_t *end)
{
	int64_t tail;

	if (ray_v8_get(v8->layout, RAY_V8_SCOPE_IDX_FIRST_VARS) >= 5)
		return scope_slot(v8, scope, 3, start) && scope_slot(v8, scope, 4, end);
	if (!scope_tail(v8, scope, &tail))
		return false;
	tail += scope_name_slots(v8, scope);
	return scope_slot(v8, scope, tail, start) && scope_slot(v8, scope, tail + 1, end);
}

bool ray_v8_shared_range(struct ray_v8 *v8, uint64_t shared, int32_t *start_ret, int32_t *end_ret)
{
	uint64_t scope, start, end;

	if (!ray_v8_field(v8, shared, RAY_V8_SFI_NAME, &scope) || !ray_v8_is(v8, scope, RAY_V8_TYPE_SCOPE_INFO) ||
	    !scope_range(v8, scope, &start, &end) || !is_range(start, end))
		return false;
	*start_ret = ray_v8_smi(start);
	*end_ret = ray_v8_smi(end);
	return true;
}
