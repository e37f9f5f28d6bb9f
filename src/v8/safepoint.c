/* safepoint.c - the table behind optimized code that says, for each call, what it deoptimizes to; see safepoint.h.
 * SPDX-License-Identifier: MIT
 *
 * A header, then for each call: its return address as an offset, the number of its deoptimization plus one, where that
 * jumps to plus one, and what the collector wants to know. How wide these are, a word of the header says, but for a byte
 * more in Maglev's. Nothing marks the table or its form, so all are tried, and one is believed only if every entry
 * jumps to where its deoptimization is. */
#include "v8/safepoint.h"

#include <string.h>

enum { MAX_ENTRIES = 1 << 16, MAX_WIDTH = 4, MAX_EXTRA = 4 };

struct form {
	size_t config; /* index of the word with the widths; the length is before it */
	size_t words;  /* of the header */
};

/* Maglev's own table, V8 13 and 12, then TurboFan's. */
static const struct form forms[] = { { 2, 4 }, { 1, 4 }, { 2, 3 }, { 1, 2 } };

struct shape {
	size_t length;
	size_t pc, deopt, entry; /* widths in bytes */
};

static bool read_shape(const uint32_t *header, const struct form *form, size_t extra, struct shape *s)
{
	uint32_t bits = header[form->config];
	size_t registers = bits >> 1 & 7;

	s->length = header[form->config - 1];
	s->pc = bits >> 4 & 7;
	s->deopt = bits >> 7 & 7;
	s->entry = 2 * s->pc + s->deopt + registers + extra;
	return (bits & 1) && s->length && s->length <= MAX_ENTRIES && s->pc && s->pc <= MAX_WIDTH && s->deopt &&
	       s->deopt <= MAX_WIDTH && registers <= MAX_WIDTH;
}

static uint32_t number(const uint8_t *bytes, size_t width)
{
	uint32_t value = 0;

	memcpy(&value, bytes, width);
	return value;
}

/* Offsets ascend; an entry either has a deoptimization, and jumps to its exit, or has neither. */
static bool read_entries(const uint8_t *bytes, const struct shape *s, const struct ray_v8_exits *exits,
			 struct ray_v8_safepoint *list)
{
	uint32_t last = 0;

	for (size_t i = 0; i < s->length; i++) {
		const uint8_t *entry = bytes + i * s->entry;
		uint32_t deopt = number(entry + s->pc, s->deopt), exit = number(entry + s->pc + s->deopt, s->pc);

		list[i] = (struct ray_v8_safepoint){ number(entry, s->pc), (int64_t)deopt - 1 };
		if (list[i].offset <= last || !deopt != !exit)
			return false;
		if (deopt && (deopt > exits->count || exit - 1 != (uint32_t)exits->at[deopt - 1]))
			return false;
		last = list[i].offset;
	}
	return true;
}

static bool try_form(struct ray_v8 *v8, uint64_t at, const struct shape *s, const struct ray_v8_exits *exits,
		     struct ray_v8_safepoints *ret)
{
	size_t size = s->length * s->entry;
	uint8_t *bytes = ray_arena_alloc(v8->arena, size);
	struct ray_v8_safepoint *list = ray_arena_alloc(v8->arena, s->length * sizeof(*list));

	if (!bytes || !list || !ray_read(&v8->memory, at, bytes, size) || !read_entries(bytes, s, exits, list))
		return false;
	*ret = (struct ray_v8_safepoints){ list, s->length };
	return true;
}

bool ray_v8_safepoints_read(struct ray_v8 *v8, const struct ray_v8_code *code, const struct ray_v8_exits *exits,
			    struct ray_v8_safepoints *ret)
{
	uint64_t at = code->start + code->size;
	uint32_t header[4];
	struct shape s;

	if (!ray_read(&v8->memory, at, header, sizeof(header)))
		return false;
	for (size_t i = 0; i < RAY_COUNT(forms); i++) {
		for (size_t extra = 0; extra <= MAX_EXTRA; extra++) {
			if (read_shape(header, &forms[i], extra, &s) &&
			    try_form(v8, at + forms[i].words * sizeof(*header), &s, exits, ret))
				return true;
		}
	}
	return false;
}
