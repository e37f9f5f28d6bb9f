/* translation.c - the notes from which V8 would rebuild interpreter frames; see deopt.h.
 * SPDX-License-Identifier: MIT
 *
 * A translation is a list of instructions, each an opcode and some numbers in a variable length code. The first
 * opens it and may name an earlier translation, which then lends whole runs of its instructions: "the next n are as
 * over there". How many numbers an opcode has differs between releases and is taken from the binary; all that is
 * relied on is that the two kinds of interpreted frames are opcodes 0 and 1, which holds since V8 11.8 and shows in
 * the counts (the one that says where results go has two more). */
#include <stdbool.h>

#include "base/vec.h"
#include "v8/deopt.h"

enum { MAX_INSTRUCTIONS = 1 << 16, INTERPRETED_OPCODES = 2 };

struct instruction {
	uint8_t opcode;
	uint32_t operands[INTERPRETED_OPCODES]; /* the first two */
};

struct instructions {
	RAY_VEC(struct instruction) list;
};

struct reader {
	const uint8_t *bytes;
	size_t size, at;
	const int32_t *counts;
	size_t opcodes;
};

static bool next_number(struct reader *r, uint32_t *ret)
{
	uint32_t value = 0;

	for (int shift = 0; r->at < r->size && shift < 35; shift += 7) {
		uint8_t byte = r->bytes[r->at++];

		value |= (uint32_t)(byte & 127) << shift;
		if (!(byte & 128)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

/* The sign is the lowest bit. */
static int32_t as_signed(uint32_t value)
{
	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

static bool next_operands(struct reader *r, struct instruction *i)
{
	uint32_t value;

	for (int32_t k = 0; k < r->counts[i->opcode]; k++) {
		if (!next_number(r, &value))
			return false;
		if (k < INTERPRETED_OPCODES)
			i->operands[k] = value;
	}
	return true;
}

/* The opening: how far back the translation that lends lies (0: none), how many frames follow, how many of them JS. */
static bool next_begin(struct reader *r, uint32_t *back_ret, int32_t *frames_ret)
{
	uint32_t frames, js;
	uint8_t opcode;

	if (r->at >= r->size)
		return false;
	opcode = r->bytes[r->at++];
	if (opcode < INTERPRETED_OPCODES || opcode >= r->opcodes || r->counts[opcode] != 3 ||
	    !next_number(r, back_ret) || !next_number(r, &frames) || !next_number(r, &js))
		return false;
	*frames_ret = as_signed(frames);
	return *frames_ret > 0 && as_signed(js) >= 0 && as_signed(js) <= *frames_ret;
}

/* "The next n as over there": a last opcode with a number, or, shorter, a byte that is no opcode. */
static bool is_match(struct reader *r, uint8_t byte, uint32_t *n_ret)
{
	if (byte >= r->opcodes) {
		*n_ret = byte - (uint32_t)r->opcodes;
		return true;
	}
	return byte + 1u == r->opcodes && next_number(r, n_ret);
}

/* Appends instructions up to the end of the bytes. from is what can be borrowed; NULL: nothing. */
static bool read_instructions(struct reader *r, const struct instructions *from, struct instructions *to)
{
	while (r->at < r->size && to->list.n < MAX_INSTRUCTIONS) {
		struct instruction i = { .opcode = r->bytes[r->at++] };
		uint32_t n;

		if (is_match(r, i.opcode, &n)) {
			if (!from || n > from->list.n || to->list.n > from->list.n - n)
				return false;
			while (n--) {
				i = from->list.at[to->list.n];
				if (!ray_vec_push(&to->list, i))
					return false;
			}
			continue;
		}
		if (i.opcode >= r->opcodes || !next_operands(r, &i) || !ray_vec_push(&to->list, i))
			return false;
	}
	return true;
}

static size_t pick_frames(const struct instructions *list, struct ray_v8_translated *ret, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < list->list.n && n < max; i++) {
		const struct instruction *in = &list->list.at[i];

		if (in->opcode < INTERPRETED_OPCODES)
			ret[n++] = (struct ray_v8_translated){ as_signed(in->operands[0]), as_signed(in->operands[1]) };
	}
	return n;
}

/* The translation that lends. Others may stand between it and ours; they borrow themselves, so that reading ends in
 * the first of them. Whatever of it was taken up is behind all that can be asked for. */
static bool read_basis(struct reader r, size_t start, size_t end, struct instructions *to)
{
	int32_t frames;
	uint32_t back;

	r.at = start;
	r.size = end;
	if (!next_begin(&r, &back, &frames) || back)
		return false;
	read_instructions(&r, NULL, to);
	return true;
}

size_t ray_v8_translation_frames(const uint8_t *bytes, size_t index, size_t end, const int32_t *operands, size_t count,
				 struct ray_v8_translated *ret, size_t max)
{
	struct reader r = { bytes, end, index, operands, count };
	struct instructions lent = { 0 }, own = { 0 };
	uint32_t back = 0;
	int32_t frames;
	size_t n = 0;

	if (count <= INTERPRETED_OPCODES || count > 255 || operands[0] != operands[1] + 2 || operands[1] < 2)
		return 0;
	if (next_begin(&r, &back, &frames) && back <= index && (!back || read_basis(r, index - back, index, &lent)) &&
	    read_instructions(&r, &lent, &own))
		n = pick_frames(&own, ret, max);
	ray_vec_free(&lent.list);
	ray_vec_free(&own.list);
	return n;
}
