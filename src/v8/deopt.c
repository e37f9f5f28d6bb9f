/* deopt.c - see deopt.h. SPDX-License-Identifier: MIT */
#include "v8/deopt.h"

#include <string.h>

#include "base/search.h"
#include "v8/function.h"
#include "v8/safepoint.h"

enum {
	/* Of DeoptimizationData, behind the inlining positions. */
	EXIT_START = 1,
	EAGER_COUNT = 2,
	LAZY_COUNT = 3,
	FIRST_ENTRY = 4,
	ENTRY_SIZE = 3, /* bytecode offset, translation index, pc of the exit */
	ENTRY_TRANSLATION = 1,
	ENTRY_PC = 2,
	MAX_DEOPTS = 1 << 16,
	MAX_CODE = 4 << 20,
	MAX_TRANSLATION = 8 << 20,
};

struct deopts {
	struct ray_v8 *v8;
	const struct ray_v8_code *code;
	uint64_t data;
	int64_t base; /* index of the inlining positions */
	int32_t exit_start, eager, lazy;
	struct ray_v8_exits exits; /* eager ones first */
};

static bool element(const struct deopts *d, int64_t index, int32_t *ret)
{
	uint64_t value;

	if (!ray_v8_element(d->v8, d->data, index, &value) || (value & 0xffffffff))
		return false;
	*ret = ray_v8_smi(value);
	return true;
}

static bool entry(const struct deopts *d, int64_t number, int part, int32_t *ret)
{
	return element(d, d->base + FIRST_ENTRY + number * ENTRY_SIZE + part, ret);
}

/* Exits lie behind the code, in the order of their numbers. */
static bool list_exits(struct deopts *d)
{
	size_t count = (size_t)d->eager + (size_t)d->lazy;
	int32_t *exits = ray_arena_alloc(d->v8->arena, (count + 1) * sizeof(*exits)), last = d->exit_start - 1;

	for (size_t i = 0; exits && i < count; i++) {
		if (!entry(d, (int64_t)i, ENTRY_PC, &exits[i]) || exits[i] <= last)
			return false;
		last = exits[i];
	}
	d->exits = (struct ray_v8_exits){ exits, count };
	return exits != NULL;
}

static bool open_data(struct ray_v8 *v8, const struct ray_v8_code *code, struct deopts *d)
{
	*d = (struct deopts){ .v8 = v8, .code = code, .base = ray_v8_get(v8->layout, RAY_V8_DEOPT_INLINING) };
	return ray_v8_field(v8, code->object, RAY_V8_CODE_DEOPT, &d->data) &&
	       element(d, d->base + EXIT_START, &d->exit_start) && d->exit_start >= 0;
}

static bool read_counts(struct deopts *d)
{
	int32_t length;

	if (!ray_v8_smi_field(d->v8, d->data, RAY_V8_ARRAY_LENGTH, &length) ||
	    !element(d, d->base + EAGER_COUNT, &d->eager) || !element(d, d->base + LAZY_COUNT, &d->lazy))
		return false;
	return d->eager >= 0 && d->lazy >= 0 && d->eager <= MAX_DEOPTS && d->lazy <= MAX_DEOPTS &&
	       length == d->base + FIRST_ENTRY + (int64_t)(d->eager + d->lazy) * ENTRY_SIZE;
}

static bool open_deopts(struct ray_v8 *v8, const struct ray_v8_code *code, struct deopts *d)
{
	return open_data(v8, code, d) && read_counts(d) && list_exits(d);
}

/* The check that leaves for the exit at target; -1 if there is no such exit. */
static int64_t eager_at(const int32_t *exits, int32_t count, int64_t target)
{
	size_t i = ray_search(exits, (size_t)count, one, *one < target);

	return i < (size_t)count && exits[i] == target ? (int64_t)i : -1;
}

/* Where a jump at b leads, as an offset; -1 when there is none: jcc rel32, jmp rel32. */
static int64_t jump_target(const uint8_t *b, size_t at)
{
	size_t skip = b[at] == 0x0f && (b[at + 1] & 0xf0) == 0x80 ? 2 : b[at] == 0xe9 ? 1 : 0;
	int32_t distance;

	if (!skip)
		return -1;
	memcpy(&distance, b + at + skip, sizeof(distance));
	return (int64_t)(at + skip + 4) + distance;
}

/* The last check at or before wanted: *at_ret is where it is. */
static int64_t last_check(const struct deopts *d, int64_t wanted, int64_t *at_ret)
{
	size_t size = (size_t)d->exit_start < d->code->size ? (size_t)d->exit_start : (size_t)d->code->size;
	int64_t number, best = -1;
	uint8_t *b;

	*at_ret = -1;
	if (size > MAX_CODE)
		return -1;
	b = ray_arena_alloc(d->v8->arena, size + 8);
	if (!b || !ray_read(&d->v8->memory, d->code->start, b, size))
		return -1;
	memset(b + size, 0, 8);
	for (size_t at = 0; at < size && (int64_t)at <= wanted; at++) {
		number = eager_at(d->exits.at, d->eager, jump_target(b, at));
		if (number < 0)
			continue;
		best = number;
		*at_ret = (int64_t)at;
	}
	return best;
}

/* Which deoptimization describes pc: that of the call it is in, or the last one before. */
static int64_t find_deopt(const struct deopts *d, uint64_t pc)
{
	struct ray_v8_safepoints calls = { 0 };
	int64_t wanted = (int64_t)(pc - d->code->start), at, check, call = -1, call_at = -1;

	if (ray_v8_safepoints_read(d->v8, d->code, &d->exits, &calls)) {
		for (size_t i = 0; i < calls.count && calls.at[i].offset <= wanted + 1; i++) {
			if (calls.at[i].deopt < 0)
				continue;
			call = calls.at[i].deopt;
			call_at = calls.at[i].offset;
		}
		if (call_at == wanted + 1)
			return call;
	}
	check = last_check(d, wanted, &at);
	return call >= 0 && call_at > at ? call : check;
}

/* The translation of a deoptimization ends where the next one begins. */
static bool find_translation(const struct deopts *d, int64_t number, size_t size, size_t *start_ret, size_t *end_ret)
{
	int32_t start, other;
	size_t end = size;

	if (!entry(d, number, ENTRY_TRANSLATION, &start) || start < 0 || (size_t)start >= size)
		return false;
	for (int64_t i = 0; i < (int64_t)d->eager + d->lazy; i++) {
		if (entry(d, i, ENTRY_TRANSLATION, &other) && other > start && (size_t)other < end)
			end = (size_t)other;
	}
	*start_ret = (size_t)start;
	*end_ret = end;
	return true;
}

static bool place_of(const struct deopts *d, const struct ray_v8_translated *t, struct ray_v8_place *ret)
{
	uint64_t literals, shared, array;

	if (!ray_v8_element(d->v8, d->data, ray_v8_get(d->v8->layout, RAY_V8_DEOPT_LITERALS), &literals) ||
	    !ray_v8_element(d->v8, literals, t->literal, &shared))
		return false;
	shared &= ~(uint64_t)2; /* a weak reference */
	if (!ray_v8_is(d->v8, shared, RAY_V8_TYPE_SFI))
		return false;
	*ret = (struct ray_v8_place){ .shared = shared, .position = -1, .inlined = true };
	if (ray_v8_shared_bytecode(d->v8, shared, &array))
		ret->position = ray_v8_bytecode_position(d->v8, array, t->bytecode_offset, shared);
	return true;
}

/* The functions that are active where the code is left by this exit. */
static size_t places_of(struct ray_v8 *v8, const struct deopts *d, int64_t number, uint64_t shared,
			struct ray_v8_place places[RAY_V8_MAX_INLINED])
{
	struct ray_v8_translated frames[RAY_V8_MAX_INLINED];
	size_t size, start, end, n;
	const uint8_t *bytes;
	uint64_t translation;

	if (!ray_v8_element(v8, d->data, 0, &translation))
		return 0;
	bytes = ray_v8_bytes(v8, translation, MAX_TRANSLATION, &size);
	if (number < 0 || !bytes || !find_translation(d, number, size, &start, &end))
		return 0;
	n = ray_v8_translation_frames(bytes, start, end, v8->translation_operands, v8->translation_opcodes, frames,
				      RAY_V8_MAX_INLINED);
	for (size_t i = 0; i < n; i++) {
		if (!place_of(d, &frames[n - 1 - i], &places[i]))
			return 0;
	}
	if (!n || places[n - 1].shared != shared)
		return 0;
	places[n - 1].inlined = false;
	return n;
}

size_t ray_v8_deopt_places(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t pc, uint64_t shared,
			   struct ray_v8_place places[RAY_V8_MAX_INLINED])
{
	struct deopts d;

	if (!v8->translation_operands || !open_deopts(v8, code, &d))
		return 0;
	return places_of(v8, &d, find_deopt(&d, pc), shared, places);
}

/* All exits of a kind are one call each, of the same length: call [r13 + distance]. 0: it is something else. */
static int64_t exit_size(const struct deopts *d, int64_t at)
{
	static const uint8_t near[] = { 0x41, 0xff, 0x55 }, far[] = { 0x41, 0xff, 0x95 };
	uint8_t b[sizeof(near)];

	if (!ray_read(&d->v8->memory, d->code->start + (uint64_t)at, b, sizeof(b)))
		return 0;
	return !memcmp(b, near, sizeof(b)) ? 4 : !memcmp(b, far, sizeof(b)) ? 7 : 0;
}

/* The exit that begins at this offset (is_end: that ends there); those of checks come first. -1: there is none. */
static int64_t exit_at(struct deopts *d, int64_t at, bool is_end)
{
	int64_t size = d->eager ? exit_size(d, d->exit_start) : 0, lazy = d->exit_start + d->eager * size;
	int64_t in = at - d->exit_start, first = 0, count = d->eager;

	if (d->eager && !size)
		return -1;
	if (d->lazy && (is_end ? at > lazy : at >= lazy)) {
		size = exit_size(d, lazy);
		in = at - lazy;
		first = d->eager;
		count = d->lazy;
	}
	if (!size || in < 0 || in % size || in / size - is_end < 0 || in / size - is_end >= count)
		return -1;
	return first + in / size - is_end;
}

bool ray_v8_exit_find(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t pc, bool is_end,
		      struct ray_v8_exit *ret)
{
	int64_t at = (int64_t)(pc - code->start), number;
	struct deopts d;
	int32_t call;

	if (!open_data(v8, code, &d) || at < d.exit_start || !read_counts(&d))
		return false;
	number = exit_at(&d, at, is_end);
	/* Code returns only to the exits of calls. */
	if (number < 0 || (!is_end && number < d.eager))
		return false;
	*ret = (struct ray_v8_exit){ .number = number };
	/* TurboFan notes where the call is, Maglev where the exit is. */
	if (number >= d.eager && entry(&d, number, ENTRY_PC, &call) && call > 0 && call < d.exit_start)
		ret->call = code->start + (uint64_t)call - 1;
	return true;
}

size_t ray_v8_exit_places(struct ray_v8 *v8, const struct ray_v8_code *code, const struct ray_v8_exit *exit,
			  uint64_t shared, struct ray_v8_place places[RAY_V8_MAX_INLINED])
{
	struct deopts d;

	if (!v8->translation_operands || !open_data(v8, code, &d) || !read_counts(&d))
		return 0;
	return places_of(v8, &d, exit->number, shared, places);
}
