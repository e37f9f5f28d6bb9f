/* position.c - see position.h.
 * SPDX-License-Identifier: MIT
 *
 * A source position table is a list of (code offset, position), both as differences in a variable
 * length code. Its first number changed in V8 14: then it is unsigned, with two flags in the low bits;
 * before, zig-zag with the sign as flag. A table read in the wrong way decodes without complaint and
 * lies, so both ways are tried and the one whose positions lie inside the function is believed. */
#include "v8/position.h"

#include <string.h>

#include "v8/deopt.h"
#include "v8/function.h"

enum { MAX_TABLE = 4 << 20, MAX_SHIFT = 63 };

struct cursor {
	const uint8_t *at, *end;
};

static bool next_unsigned(struct cursor *c, uint64_t *ret)
{
	uint64_t value = 0;
	int shift = 0;

	while (c->at < c->end && shift <= MAX_SHIFT) {
		uint8_t byte = *c->at++;

		value |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128)) {
			*ret = value;
			return true;
		}
		shift += 7;
	}
	return false;
}

static bool next_signed(struct cursor *c, int64_t *ret)
{
	uint64_t u;

	if (!next_unsigned(c, &u))
		return false;
	*ret = (int64_t)(u >> 1) ^ -(int64_t)(u & 1);
	return true;
}

static bool next_code_delta(struct cursor *c, bool new_code, int64_t *ret)
{
	uint64_t u;

	if (new_code) {
		if (!next_unsigned(c, &u))
			return false;
		*ret = (int64_t)(u >> 2);
		return true;
	}
	if (!next_signed(c, ret))
		return false;
	if (*ret < 0)
		*ret = -(*ret + 1);
	return true;
}

bool ray_v8_positions_each(const uint8_t *bytes, size_t size, bool new_code,
			   bool (*each)(int64_t code_offset, int64_t position, void *arg), void *arg)
{
	struct cursor c = { bytes, bytes + size };
	/* The first entry counts from the function's entry, which V8 numbers -1. */
	int64_t code = -1, position = 0, d;

	while (c.at < c.end) {
		if (!next_code_delta(&c, new_code, &d) || d < 0 || d > INT32_MAX)
			return false;
		code += d;
		if (!next_signed(&c, &d) || __builtin_add_overflow(position, d, &position))
			return false;
		if (!each(code, position, arg))
			break;
	}
	return true;
}

/* SourcePosition: bit 0 external, bits 1..30 script offset + 1, bits 31..46 inlining id. */
static int32_t script_offset(int64_t position)
{
	return (int32_t)((position >> 1 & 0x3fffffff) - 1);
}

static int32_t inlining_id(int64_t position)
{
	return (int32_t)(position >> 31 & 0xffff);
}

struct lookup {
	int64_t wanted;
	int64_t code_limit;  /* no entry may lie behind it */
	int32_t first, last; /* the function's own range: of entries that are not inlined */
	bool has_range;
	int64_t best; /* -1: none */
	bool broken;
};

static bool look(int64_t code, int64_t position, void *arg)
{
	struct lookup *l = arg;
	int32_t offset = script_offset(position);

	/* Maglev puts prologues at offset 0, which is nowhere. */
	if (code > l->code_limit || position < 0 ||
	    (l->has_range && !inlining_id(position) && !(position & 1) && offset > 0 &&
	     (offset < l->first - 1 || offset > l->last + 1))) {
		l->broken = true;
		return false;
	}
	if (code <= l->wanted)
		l->best = position;
	return true;
}

/* The last entry at or before wanted; -1 when there is none or the table does not hold together. */
static int64_t find_position(struct ray_v8 *v8, uint64_t table, int64_t wanted, int64_t code_limit, uint64_t shared)
{
	bool new_first = ray_v8_get(v8->layout, RAY_V8_NEW_POSITION_CODE);
	const uint8_t *bytes;
	size_t size;

	bytes = ray_v8_bytes(v8, table, MAX_TABLE, &size);
	if (!bytes)
		return -1;
	for (int i = 0; i < 2; i++) {
		struct lookup l = { .wanted = wanted, .code_limit = code_limit, .best = -1 };

		l.has_range = ray_v8_shared_range(v8, shared, &l.first, &l.last);
		if (ray_v8_positions_each(bytes, size, new_first ^ (i == 1), look, &l) && !l.broken)
			return l.best;
	}
	return -1;
}

int32_t ray_v8_bytecode_position(struct ray_v8 *v8, uint64_t bytecode_array, int64_t offset, uint64_t shared)
{
	int64_t position;
	uint64_t table;
	int32_t length;

	if (!ray_v8_is(v8, bytecode_array, RAY_V8_TYPE_BYTECODE_ARRAY) ||
	    !ray_v8_smi_field(v8, bytecode_array, RAY_V8_BYTECODE_LENGTH, &length) || offset < 0 || offset > length ||
	    !ray_v8_field(v8, bytecode_array, RAY_V8_BYTECODE_POSITIONS, &table))
		return -1;
	position = find_position(v8, table, offset, length, shared);
	return position < 0 ? -1 : script_offset(position);
}

/* The bytecodes as they lie in the array, to walk them beside the table of pc lengths. */
static const uint8_t *read_bytecodes(struct ray_v8 *v8, uint64_t array, size_t *size_ret)
{
	uint8_t *bytes;
	int32_t length;

	if (!ray_v8_is(v8, array, RAY_V8_TYPE_BYTECODE_ARRAY) ||
	    !ray_v8_smi_field(v8, array, RAY_V8_BYTECODE_LENGTH, &length) || length <= 0 || length > MAX_TABLE)
		return NULL;
	bytes = ray_arena_alloc(v8->arena, (size_t)length);
	if (!bytes || !ray_read(&v8->memory, array - 1 + (uint64_t)ray_v8_get(v8->layout, RAY_V8_BYTECODE_DATA), bytes,
				(size_t)length))
		return NULL;
	*size_ret = (size_t)length;
	return bytes;
}

/* Wide, ExtraWide and their debug-break forms are bytecodes 0 to 3 and scale the one that follows. */
static size_t bytecode_length(const struct ray_v8 *v8, const uint8_t *b, size_t left)
{
	size_t scale = 0, prefix = 0;

	if (b[0] < 4) {
		scale = 1 + (b[0] & 1);
		prefix = 1;
		if (left < 2)
			return 0;
	}
	if (b[prefix] >= v8->bytecode_count)
		return 0;
	return prefix + v8->bytecode_sizes[scale * v8->bytecode_count + b[prefix]];
}

int64_t ray_v8_baseline_offset(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t pc, uint64_t array)
{
	const uint8_t *bytes, *table;
	uint64_t table_object, pc_end, n;
	size_t size, table_size, at = 0, length;
	struct cursor c;
	int64_t found = -1;

	if (!v8->bytecode_sizes || !ray_v8_field(v8, code->object, RAY_V8_CODE_POSITIONS, &table_object))
		return -1;
	bytes = read_bytecodes(v8, array, &size);
	table = ray_v8_bytes(v8, table_object, MAX_TABLE, &table_size);
	if (!bytes || !table)
		return -1;
	/* The first number is the length of the prologue; then one for each bytecode. */
	c = (struct cursor){ table, table + table_size };
	if (!next_unsigned(&c, &n))
		return -1;
	pc_end = n;
	while (at < size) {
		if (!next_unsigned(&c, &n))
			return -1;
		pc_end += n;
		if (found < 0 && pc - code->start < pc_end)
			found = (int64_t)at;
		length = bytecode_length(v8, bytes + at, size - at);
		if (!length)
			return -1;
		at += length;
	}
	/* V8 9.0 wrote another kind of table: only one that ends with the bytecodes is this. */
	return c.at == c.end && pc_end <= code->size ? found : -1;
}

struct inlining_position {
	uint64_t position; /* of the call */
	int32_t function;  /* index of the inlined function in the literals; -1: the function itself */
	int32_t padding;
};

static bool inlined_function(struct ray_v8 *v8, uint64_t deopt, int32_t id, struct inlining_position *ip,
			     uint64_t outer, uint64_t *ret)
{
	uint64_t inlinings, literals, value;
	const uint8_t *bytes;
	size_t size;

	if (!ray_v8_element(v8, deopt, ray_v8_get(v8->layout, RAY_V8_DEOPT_INLINING), &inlinings))
		return false;
	bytes = ray_v8_bytes(v8, inlinings, MAX_TABLE, &size);
	if (!bytes || (size_t)id * sizeof(*ip) > size)
		return false;
	memcpy(ip, bytes + (size_t)(id - 1) * sizeof(*ip), sizeof(*ip));
	if (ip->function < 0) {
		*ret = outer;
		return true;
	}
	if (!ray_v8_element(v8, deopt, ray_v8_get(v8->layout, RAY_V8_DEOPT_LITERALS), &literals) ||
	    !ray_v8_element(v8, literals, ip->function, &value))
		return false;
	value &= ~(uint64_t)2; /* a weak reference */
	*ret = value;
	return ray_v8_is(v8, value, RAY_V8_TYPE_SFI);
}

static size_t places_at(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t pc, uint64_t shared,
			struct ray_v8_place *places)
{
	uint64_t table, deopt, function;
	struct inlining_position ip;
	/* Maglev's positions tell in which functions pc is, but name the loop instead of the call in it. */
	bool coarse = code->tier == RAY_TIER_MAGLEV;
	int64_t position = -1;
	int32_t id;
	size_t n = 0;

	/* V8's own notes first where its positions are known to be coarse; there and elsewhere the one helps out the other. */
	if (code->tier == RAY_TIER_MAGLEV)
		n = ray_v8_deopt_places(v8, code, pc, shared, places);
	if (n)
		return n;
	if (ray_v8_field(v8, code->object, RAY_V8_CODE_POSITIONS, &table))
		position = find_position(v8, table, (int64_t)(pc - code->start), (int64_t)code->size, shared);
	if (position < 0 && code->tier != RAY_TIER_MAGLEV)
		n = ray_v8_deopt_places(v8, code, pc, shared, places);
	if (n)
		return n;
	if (position >= 0 && ray_v8_field(v8, code->object, RAY_V8_CODE_DEOPT, &deopt)) {
		while ((id = inlining_id(position)) && n + 1 < RAY_V8_MAX_INLINED) {
			if (!inlined_function(v8, deopt, id, &ip, shared, &function))
				break;
			places[n++] = (struct ray_v8_place){ function, coarse ? -1 : script_offset(position), true };
			position = (int64_t)ip.position;
		}
	}
	/* Offset 0 is a prologue: the function's start says more. */
	if (position >= 0 && (coarse || script_offset(position) <= 0))
		position = -1;
	places[n++] = (struct ray_v8_place){ shared, position < 0 ? -1 : script_offset(position), false };
	return n;
}

static size_t places_of_exit(struct ray_v8 *v8, const struct ray_v8_code *code, const struct ray_v8_exit *exit,
			     uint64_t shared, struct ray_v8_place *places)
{
	size_t n;

	if (exit->call)
		return places_at(v8, code, exit->call, shared, places);
	n = ray_v8_exit_places(v8, code, exit, shared, places);
	if (!n)
		places[n++] = (struct ray_v8_place){ shared, -1, false };
	return n;
}

size_t ray_v8_optimized_places(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t pc, uint64_t shared,
			       struct ray_v8_place *places)
{
	struct ray_v8_exit exit;

	return ray_v8_exit_find(v8, code, pc + 1, false, &exit) ? places_of_exit(v8, code, &exit, shared, places) :
								  places_at(v8, code, pc, shared, places);
}

size_t ray_v8_left_places(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t pc, uint64_t shared,
			  struct ray_v8_place *places)
{
	struct ray_v8_exit exit;

	if (ray_v8_exit_find(v8, code, pc, true, &exit))
		return places_of_exit(v8, code, &exit, shared, places);
	places[0] = (struct ray_v8_place){ shared, -1, false };
	return 1;
}
