/* string.c - V8's strings: sequential, cons, sliced, thin and external, one and two bytes wide.
 * SPDX-License-Identifier: MIT */
#include "v8/string.h"

#include <stdlib.h>

#include "base/text.h"

enum {
	MAX_DEPTH = 200, /* cons strings nest; a damaged one may form a ring */
	MAX_STEPS = 100000,
	CHUNK = 16384,
};

struct walk {
	struct ray_v8 *v8;
	int depth, steps;
};

int64_t ray_v8_string_length(struct ray_v8 *v8, uint64_t string)
{
	uint32_t length;

	if (!ray_v8_is_string(v8, string) ||
	    !ray_read_u32(&v8->memory, string - 1 + (uint64_t)ray_v8_get(v8->layout, RAY_V8_STRING_LENGTH), &length) ||
	    length > 0x3fffffff)
		return -1;
	return length;
}

static bool read_units(struct ray_v8 *v8, uint64_t address, bool one_byte, uint32_t count, uint16_t *out)
{
	uint8_t narrow[CHUNK];
	uint32_t done = 0, n;

	if (!one_byte)
		return ray_read(&v8->memory, address, out, (size_t)count * 2);
	while (done < count) {
		n = count - done < CHUNK ? count - done : CHUNK;
		if (!ray_read(&v8->memory, address + done, narrow, n))
			return false;
		for (uint32_t i = 0; i < n; i++)
			out[done + i] = narrow[i];
		done += n;
	}
	return true;
}

static bool walk_units(struct walk *w, uint64_t string, uint32_t from, uint32_t count, uint16_t *out);

static bool cons_units(struct walk *w, uint64_t string, uint32_t from, uint32_t count, uint16_t *out)
{
	uint64_t first, second;
	uint32_t in_first;
	int64_t length;

	if (!ray_v8_field(w->v8, string, RAY_V8_CONS_FIRST, &first) ||
	    !ray_v8_field(w->v8, string, RAY_V8_CONS_SECOND, &second))
		return false;
	length = ray_v8_string_length(w->v8, first);
	if (length < 0)
		return false;
	if (from >= length)
		return walk_units(w, second, from - (uint32_t)length, count, out);
	in_first = (uint32_t)length - from < count ? (uint32_t)length - from : count;
	return walk_units(w, first, from, in_first, out) &&
	       (in_first == count || walk_units(w, second, 0, count - in_first, out + in_first));
}

static bool indirect_units(struct walk *w, uint64_t string, enum ray_v8_field to, uint32_t from, uint32_t count,
			   uint16_t *out)
{
	uint64_t inner;

	return ray_v8_field(w->v8, string, to, &inner) && walk_units(w, inner, from, count, out);
}

static bool flat_units(struct ray_v8 *v8, uint64_t string, int32_t type, uint32_t from, uint32_t count, uint16_t *out)
{
	bool one_byte = (type & ray_v8_get(v8->layout, RAY_V8_STRING_ENCODING_MASK)) ==
			ray_v8_get(v8->layout, RAY_V8_ONE_BYTE_TAG);
	int32_t shape = type & ray_v8_get(v8->layout, RAY_V8_STRING_REPRESENTATION_MASK);
	uint64_t address;

	if (shape == ray_v8_get(v8->layout, RAY_V8_EXTERNAL_TAG)) {
		if (!ray_v8_field(v8, string, RAY_V8_EXTERNAL_DATA, &address))
			return false;
	} else if (shape == 0) {
		address = string - 1 +
			  (uint64_t)ray_v8_get(v8->layout, one_byte ? RAY_V8_SEQ_ONE_CHARS : RAY_V8_SEQ_TWO_CHARS);
	} else {
		return false;
	}
	return read_units(v8, address + (uint64_t)from * (one_byte ? 1 : 2), one_byte, count, out);
}

static bool walk_inner(struct walk *w, uint64_t string, uint32_t from, uint32_t count, uint16_t *out)
{
	struct ray_v8 *v8 = w->v8;
	int32_t type = ray_v8_type(v8, string), shape, skip;

	shape = type & ray_v8_get(v8->layout, RAY_V8_STRING_REPRESENTATION_MASK);
	if (shape == ray_v8_get(v8->layout, RAY_V8_CONS_TAG))
		return cons_units(w, string, from, count, out);
	if (shape == ray_v8_get(v8->layout, RAY_V8_THIN_TAG))
		return indirect_units(w, string, RAY_V8_THIN_ACTUAL, from, count, out);
	if (shape == ray_v8_get(v8->layout, RAY_V8_SLICED_TAG))
		return ray_v8_smi_field(v8, string, RAY_V8_SLICED_OFFSET, &skip) && skip >= 0 &&
		       indirect_units(w, string, RAY_V8_SLICED_PARENT, from + (uint32_t)skip, count, out);
	return flat_units(v8, string, type, from, count, out);
}

static bool walk_units(struct walk *w, uint64_t string, uint32_t from, uint32_t count, uint16_t *out)
{
	int64_t length = ray_v8_string_length(w->v8, string);
	bool ok;

	if (length < 0 || (int64_t)from + count > length || w->depth >= MAX_DEPTH || w->steps >= MAX_STEPS)
		return false;
	if (!count)
		return true;
	w->depth++;
	w->steps++;
	ok = walk_inner(w, string, from, count, out);
	w->depth--;
	return ok;
}

bool ray_v8_string_units(struct ray_v8 *v8, uint64_t string, uint32_t from, uint32_t count, uint16_t *out)
{
	struct walk w = { v8, 0, 0 };

	return walk_units(&w, string, from, count, out);
}

static void add_utf16(struct ray_text *t, const uint16_t *u, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = u[i];

		if (c >= 0xd800 && c < 0xdc00 && i + 1 < n && u[i + 1] >= 0xdc00 && u[i + 1] < 0xe000)
			c = 0x10000 + ((c - 0xd800) << 10) + (u[++i] - 0xdc00u);
		ray_text_add_codepoint(t, c);
	}
}

const char *ray_v8_string_text(struct ray_v8 *v8, uint64_t string, uint32_t limit)
{
	int64_t length = ray_v8_string_length(v8, string);
	uint32_t n = length > limit ? limit : (uint32_t)length;
	ray_auto_memory uint16_t *units = NULL;
	ray_auto_text text = { 0 };

	if (length < 0)
		return NULL;
	units = malloc((size_t)n * 2 + 2);
	if (!units || !ray_v8_string_units(v8, string, 0, n, units))
		return NULL;
	add_utf16(&text, units, n);
	if (length > limit)
		ray_text_add(&text, "...");
	return ray_arena_copy(v8->arena, ray_text_get(&text), text.length);
}
