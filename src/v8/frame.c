/* frame.c - see frame.h. SPDX-License-Identifier: MIT */
#include "v8/frame.h"

#include <string.h>

#include "v8/function.h"

enum { MAX_FRAME_TYPE = 64, MAX_ARGC = 65536 };

static bool slot(struct ray_v8 *v8, uint64_t fp, enum ray_v8_field field, uint64_t *ret)
{
	return ray_read_u64(&v8->memory, fp + (uint64_t)(int64_t)ray_v8_get(v8->layout, field), ret);
}

/* The bytecode array slot and the Smi behind it, as the interpreter leaves them. */
static void read_bytecode_slots(struct ray_v8 *v8, uint64_t fp, struct ray_v8_frame *f)
{
	uint64_t array, offset;
	int32_t length;
	int64_t index;

	f->bytecode_offset = -1;
	if (!slot(v8, fp, RAY_V8_FP_BYTECODE_ARRAY, &array) || !ray_v8_is(v8, array, RAY_V8_TYPE_BYTECODE_ARRAY))
		return;
	f->bytecode_array = array;
	if (!slot(v8, fp, RAY_V8_FP_BYTECODE_OFFSET, &offset) || (offset & 0xffffffff) ||
	    !ray_v8_smi_field(v8, array, RAY_V8_BYTECODE_LENGTH, &length))
		return;
	index = (int64_t)ray_v8_smi(offset) - (ray_v8_get(v8->layout, RAY_V8_BYTECODE_DATA) - 1);
	if (index >= 0 && index <= length)
		f->bytecode_offset = (int32_t)index;
}

static void read_arguments(struct ray_v8 *v8, uint64_t fp, struct ray_v8_frame *f)
{
	uint64_t argc;

	f->argc = -1;
	f->args = fp + (uint64_t)ray_v8_get(v8->layout, RAY_V8_FP_ARGS);
	if (!ray_read_u64(&v8->memory, f->args, &f->receiver))
		f->receiver = 0;
	f->args += 8;
	if (!slot(v8, fp, RAY_V8_FP_ARGC, &argc))
		return;
	argc -= (uint64_t)ray_v8_get(v8->layout, RAY_V8_ARGC_COUNTS_RECEIVER);
	if (argc <= MAX_ARGC)
		f->argc = (int)argc;
}

void ray_v8_frame_read(struct ray_v8 *v8, uint64_t fp, struct ray_v8_frame *ret)
{
	uint64_t context;

	memset(ret, 0, sizeof(*ret));
	ret->bytecode_offset = -1;
	ret->argc = -1;
	if (!slot(v8, fp, RAY_V8_FP_CONTEXT, &context))
		return;
	/* A frame's type is stored as type * 2: a Smi whose upper half is empty. */
	if (ray_v8_is_smi(context) && context / 2 < MAX_FRAME_TYPE) {
		ret->type = (int64_t)(context / 2);
		if (ray_v8_frame_type(v8->layout, ret->type))
			ret->kind = RAY_V8_FRAME_TYPED;
		return;
	}
	if (!ray_v8_is_context(v8, context) || !slot(v8, fp, RAY_V8_FP_FUNCTION, &ret->function) ||
	    !ray_v8_function_shared(v8, ret->function, &ret->shared))
		return;
	ret->kind = RAY_V8_FRAME_FUNCTION;
	read_bytecode_slots(v8, fp, ret);
	read_arguments(v8, fp, ret);
}

void ray_v8_frame_read_as(struct ray_v8 *v8, uint64_t fp, uint64_t shared, struct ray_v8_frame *ret)
{
	*ret = (struct ray_v8_frame){
		.kind = RAY_V8_FRAME_FUNCTION, .shared = shared, .bytecode_offset = -1, .argc = -1
	};
	read_bytecode_slots(v8, fp, ret);
}

static void interpreted_place(struct ray_v8 *v8, const struct ray_v8_frame *f, int32_t leaf_offset,
			      struct ray_v8_frame_code *ret)
{
	int32_t offset = leaf_offset >= 0 ? leaf_offset : f->bytecode_offset;

	ret->tier = RAY_TIER_INTERPRETED;
	ret->places[0].position = ray_v8_bytecode_position(v8, f->bytecode_array, offset, f->shared);
}

static void baseline_place(struct ray_v8 *v8, const struct ray_v8_frame *f, const struct ray_v8_code *code, uint64_t pc,
			   struct ray_v8_frame_code *ret)
{
	int64_t offset = ray_v8_baseline_offset(v8, code, pc, f->bytecode_array);

	if (offset >= 0)
		ret->places[0].position = ray_v8_bytecode_position(v8, f->bytecode_array, offset, f->shared);
}

void ray_v8_frame_places(struct ray_v8 *v8, const struct ray_v8_frame *f, uint64_t pc, bool in_jit, int32_t leaf_offset,
			 struct ray_v8_frame_code *ret)
{
	struct ray_v8_code code;
	uint64_t owner;

	ret->count = 1;
	ret->places[0] = (struct ray_v8_place){ f->shared, -1, false };
	ret->tier = RAY_TIER_NONE;
	if (!in_jit) {
		if (f->bytecode_array && (f->bytecode_offset >= 0 || leaf_offset >= 0))
			interpreted_place(v8, f, leaf_offset, ret);
		else
			ret->tier = RAY_TIER_BUILTIN;
		return;
	}
	/* Code of another function on this frame: it stands between two frames, and its positions are not this one's. */
	if (!ray_v8_code_find(v8, pc, &code) ||
	    (ray_v8_code_shared(v8, &code, &owner) && code.tier != RAY_TIER_BASELINE && owner != f->shared))
		return;
	ret->tier = code.tier;
	if (code.tier == RAY_TIER_BASELINE)
		baseline_place(v8, f, &code, pc, ret);
	else if (code.tier == RAY_TIER_MAGLEV || code.tier == RAY_TIER_TURBOFAN)
		ret->count = ray_v8_optimized_places(v8, &code, pc, f->shared, ret->places);
}
