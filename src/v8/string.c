/* string.c - V8's strings: sequential, cons, sliced, thin and external, one and two bytes wide.
 * SPDX-License-Identifier: MIT */
#include "v8/string.h"

#include <stdlib.h>

#include "base/text.h"

enum {
	MAX_DEPTH = 64,	    /* at each level the shorter half is done first: honest strings need 30 */
	MAX_STEPS = 100000, /* strings that were built in a loop nest as deep; a damaged one may form a ring */
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

/* A part of a string that is still to be copied. */
struct part {
	uint64_t string;
	uint32_t from, count;
	uint16_t *out;
};

static bool walk_part(struct walk *w, struct part p);

/* Leaves in *p the half of a cons string that holds more of what is wanted, and copies the other one. */
static bool enter_cons(struct walk *w, struct part *p)
{
	struct part first = *p, second = *p;
	int64_t length;

	if (!ray_v8_field(w->v8, p->string, RAY_V8_CONS_FIRST, &first.string) ||
	    !ray_v8_field(w->v8, p->string, RAY_V8_CONS_SECOND, &second.string))
		return false;
	length = ray_v8_string_length(w->v8, first.string);
	/* A ring, or halves that are not of this string. */
	if (length < 0 || length + ray_v8_string_length(w->v8, second.string) != ray_v8_string_length(w->v8, p->string))
		return false;
	if (p->from >= length) {
		p->string = second.string;
		p->from -= (uint32_t)length;
		return true;
	}
	if ((uint32_t)length - p->from < p->count)
		first.count = (uint32_t)length - p->from;
	second.from = 0;
	second.count -= first.count;
	second.out += first.count;
	if (!second.count || first.count > second.count) {
		*p = first;
		return !second.count || walk_part(w, second);
	}
	*p = second;
	return walk_part(w, first);
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

/* One step towards the flat string that holds the part; false when there is none. *flat_ret: it was reached and
 * copied. */
static bool enter(struct walk *w, struct part *p, bool *flat_ret)
{
	struct ray_v8 *v8 = w->v8;
	int32_t type = ray_v8_type(v8, p->string), shape, skip;

	shape = type & ray_v8_get(v8->layout, RAY_V8_STRING_REPRESENTATION_MASK);
	if (shape == ray_v8_get(v8->layout, RAY_V8_CONS_TAG))
		return enter_cons(w, p);
	if (shape == ray_v8_get(v8->layout, RAY_V8_THIN_TAG))
		return ray_v8_field(v8, p->string, RAY_V8_THIN_ACTUAL, &p->string);
	if (shape == ray_v8_get(v8->layout, RAY_V8_SLICED_TAG)) {
		if (!ray_v8_smi_field(v8, p->string, RAY_V8_SLICED_OFFSET, &skip) || skip < 0)
			return false;
		p->from += (uint32_t)skip;
		return ray_v8_field(v8, p->string, RAY_V8_SLICED_PARENT, &p->string);
	}
	*flat_ret = true;
	return flat_units(v8, p->string, type, p->from, p->count, p->out);
}

static bool walk_part(struct walk *w, struct part p)
{
	bool flat = false, ok = w->depth < MAX_DEPTH;
	int64_t length;

	w->depth++;
	while (ok && !flat) {
		length = ray_v8_string_length(w->v8, p.string);
		ok = length >= 0 && (int64_t)p.from + p.count <= length && w->steps++ < MAX_STEPS;
		if (!ok || !p.count)
			break;
		ok = enter(w, &p, &flat);
	}
	w->depth--;
	return ok;
}

bool ray_v8_string_units(struct ray_v8 *v8, uint64_t string, uint32_t from, uint32_t count, uint16_t *out)
{
	struct walk w = { v8, 0, 0 };

	return walk_part(&w, (struct part){ string, from, count, out });
}

void ray_v8_add_utf16(struct ray_text *t, const uint16_t *u, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = u[i];

		if (c >= 0xd800 && c < 0xdc00 && i + 1 < n && u[i + 1] >= 0xdc00 && u[i + 1] < 0xe000)
			c = 0x10000 + ((c - 0xd800) << 10) + (u[++i] - 0xdc00u);
		/* Texts end at a NUL; what is behind it must not be lost. */
		if (c)
			ray_text_add_codepoint(t, c);
		else
			ray_text_add(t, "\\x00");
	}
}

static const char *read_text(struct ray_v8 *v8, uint64_t string, uint32_t limit)
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
	ray_v8_add_utf16(&text, units, n);
	if (length > limit)
		ray_text_add(&text, "...");
	return ray_arena_copy(v8->arena, ray_text_get(&text), text.length);
}

const char *ray_v8_string_text(struct ray_v8 *v8, uint64_t string, uint32_t limit)
{
	struct ray_v8_text_cache *c = &v8->texts[(string >> 3) * 0x9e3779b1u % RAY_V8_TEXT_CACHE];

	/* The frames of a recursion share their names and often their arguments. */
	if (c->string != string || c->limit != limit)
		*c = (struct ray_v8_text_cache){ string, limit, read_text(v8, string, limit) };
	return c->text;
}
