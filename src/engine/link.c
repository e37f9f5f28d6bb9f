/* link.c - from pieces and runtime functions to one program; see link.h. SPDX-License-Identifier: MIT */
#include "engine/link.h"

#include <string.h>

#include "base/search.h"

static const uint8_t WIDE = BPF_LD | BPF_IMM | BPF_DW;

void ray_linked_deinit(struct ray_linked *l)
{
	ray_vec_free(&l->parts);
	ray_vec_free(&l->insns);
	ray_vec_free(&l->infos);
	free(l->part_of);
	l->part_of = NULL;
}

/* ---- what is needed ---- */

static bool add_function(const struct ray_object *o, uint32_t index, struct ray_linked *l)
{
	const struct ray_object_function *f = &o->functions.at[index];

	if (l->part_of[index])
		return true;
	if (!ray_vec_push(&l->parts, (struct ray_linked_part){ .function = f, .count = f->count }))
		return false;
	l->part_of[index] = (uint32_t)l->parts.n;
	return true;
}

static int64_t piece_part(const struct ray_linked *l, const struct ray_piece *piece)
{
	for (size_t i = 0; i < l->parts.n; i++)
		if (l->parts.at[i].piece == piece)
			return (int64_t)i;
	return -1;
}

static bool add_piece(const struct ray_piece *piece, struct ray_linked *l)
{
	if (piece_part(l, piece) >= 0)
		return true;
	return ray_vec_push(&l->parts, (struct ray_linked_part){ .piece = piece, .count = (uint32_t)piece->insns.n });
}

static size_t first_call(const struct ray_object *o, uint32_t insn)
{
	return ray_search(o->calls.at, o->calls.n, one, one->insn < insn);
}

static struct ray_error *add_called_by_piece(const struct ray_object *o, const struct ray_piece *piece,
					     struct ray_linked *l)
{
	const struct ray_object_function *f;

	for (size_t i = 0; i < piece->references.n; i++) {
		const struct ray_reference *ref = &piece->references.at[i];

		if ((ref->kind == RAY_REF_PIECE || ref->kind == RAY_REF_PIECE_ADDRESS) && !add_piece(ref->piece, l))
			return &ray_enomem;
		if (ref->kind != RAY_REF_RUNTIME)
			continue;
		f = ray_object_find(o, ref->function);
		if (!f)
			return ray_error_new(RAY_FAILED, "%s calls %s(), which the runtime does not have", piece->name,
					     ref->function);
		if (!add_function(o, (uint32_t)(f - o->functions.at), l))
			return &ray_enomem;
	}
	return NULL;
}

static bool add_called_by_function(const struct ray_object *o, const struct ray_object_function *f,
				   struct ray_linked *l)
{
	for (size_t i = first_call(o, f->start); i < o->calls.n && o->calls.at[i].insn < f->start + f->count; i++)
		if (!add_function(o, o->calls.at[i].function, l))
			return false;
	return true;
}

struct ray_error *ray_link_collect(const struct ray_object *object, const struct ray_piece *entry, struct ray_linked *l)
{
	struct ray_error *err;

	l->part_of = calloc(object->functions.n + 1, sizeof(*l->part_of));
	if (!l->part_of || !add_piece(entry, l))
		return &ray_enomem;
	for (size_t i = 0; i < l->parts.n; i++) {
		if (l->parts.at[i].piece) {
			err = add_called_by_piece(object, l->parts.at[i].piece, l);
			if (err)
				return err;
		} else if (!add_called_by_function(object, l->parts.at[i].function, l)) {
			return &ray_enomem;
		}
	}
	return NULL;
}

/* The number of a symbolic constant in the runtime's code, or -1. */
static int magic_number(const struct bpf_insn *insn)
{
	uint64_t value;

	if (insn->code != WIDE || insn->src_reg)
		return -1;
	value = (uint64_t)(uint32_t)insn[1].imm << 32 | (uint32_t)insn[0].imm;
	return (value & RAY_MAGIC_MASK) == RAY_MAGIC ? (int)(value & ~RAY_MAGIC_MASK) : -1;
}

void ray_link_used_maps(const struct ray_object *object, const struct ray_linked *l, bool used[RAY_LINK_MAP_COUNT])
{
	for (size_t i = 0; i < l->parts.n; i++) {
		const struct ray_linked_part *part = &l->parts.at[i];

		for (size_t j = 0; part->piece && j < part->piece->references.n; j++) {
			const struct ray_reference *ref = &part->piece->references.at[j];

			if (ref->kind == RAY_REF_MAP && ref->number < RAY_LINK_MAP_COUNT)
				used[ref->number] = true;
		}
		for (uint32_t j = 0; part->function && j < part->count; j++) {
			int number = magic_number(&object->insns.at[part->function->start + j]);

			if (number >= 0 && number < RAY_LINK_MAP_COUNT)
				used[number] = true;
		}
	}
}

/* ---- putting it together ---- */

struct linker {
	const struct ray_object *object;
	const struct ray_link_values *values;
	struct ray_linked *l;
};

static struct ray_error *put_map(struct linker *k, uint32_t number, struct bpf_insn *insn)
{
	insn[0].imm = -1;
	if (insn[0].src_reg != BPF_PSEUDO_MAP_VALUE) { /* else the upper half is an offset into its one element */
		insn[0].src_reg = BPF_PSEUDO_MAP_FD;
		insn[1].imm = 0;
	}
	return k->values->map(k->values->arg, number, &insn[0].imm);
}

static struct ray_error *put_constant(struct linker *k, uint32_t number, struct bpf_insn *insn)
{
	uint64_t value = 0;
	struct ray_error *err = k->values->constant(k->values->arg, number, &value);

	insn[0].src_reg = 0;
	insn[0].imm = (int32_t)(uint32_t)value;
	insn[1].imm = (int32_t)(uint32_t)(value >> 32);
	return err;
}

static void put_call(struct linker *k, uint32_t at, uint32_t part, bool is_address)
{
	struct bpf_insn *insn = &k->l->insns.at[at];

	insn->src_reg = is_address ? BPF_PSEUDO_FUNC : BPF_PSEUDO_CALL;
	insn->imm = (int32_t)k->l->parts.at[part].start - (int32_t)at - 1;
	if (is_address)
		insn[1].imm = 0;
}

static struct ray_error *fix_function(struct linker *k, const struct ray_linked_part *part)
{
	const struct ray_object_function *f = part->function;
	struct ray_error *err = NULL;

	for (uint32_t i = 0; i < f->count && !err; i++) {
		struct bpf_insn *insn = &k->l->insns.at[part->start + i];
		int number = i + 1 < f->count ? magic_number(insn) : -1;

		if (number >= 0)
			err = number < RAY_LINK_MAP_COUNT ? put_map(k, (uint32_t)number, insn) :
							    put_constant(k, (uint32_t)number, insn);
		i += insn->code == WIDE;
	}
	for (size_t i = first_call(k->object, f->start); i < k->object->calls.n; i++) {
		const struct ray_object_call *call = &k->object->calls.at[i];

		if (call->insn >= f->start + f->count)
			break;
		put_call(k, part->start + call->insn - f->start, k->l->part_of[call->function] - 1, call->is_address);
	}
	return err;
}

static struct ray_error *fix_reference(struct linker *k, const struct ray_linked_part *part,
				       const struct ray_reference *ref)
{
	uint32_t at = part->start + ref->insn;
	struct bpf_insn *insn = &k->l->insns.at[at];
	bool is_wide = ref->kind == RAY_REF_MAP || ref->kind == RAY_REF_CONST || ref->kind == RAY_REF_PIECE_ADDRESS;

	if (ref->insn >= part->count || (is_wide && ref->insn + 1 >= part->count))
		return ray_error_new(RAY_FAILED, "%s: a reference outside of its code", part->piece->name);
	switch (ref->kind) {
	case RAY_REF_RUNTIME: {
		const struct ray_object_function *f = ray_object_find(k->object, ref->function);

		put_call(k, at, k->l->part_of[f - k->object->functions.at] - 1, false);
		return NULL;
	}
	case RAY_REF_PIECE:
	case RAY_REF_PIECE_ADDRESS:
		put_call(k, at, (uint32_t)piece_part(k->l, ref->piece), ref->kind == RAY_REF_PIECE_ADDRESS);
		return NULL;
	case RAY_REF_MAP:
		return put_map(k, ref->number, insn);
	case RAY_REF_CONST:
		return put_constant(k, ref->number, insn);
	case RAY_REF_PC:
		insn->imm += (int32_t)at;
		return NULL;
	}
	return NULL;
}

static struct ray_error *place_parts(struct linker *k)
{
	for (size_t i = 0; i < k->l->parts.n; i++) {
		struct ray_linked_part *part = &k->l->parts.at[i];
		const struct bpf_insn *from = part->piece ? part->piece->insns.at :
							    &k->object->insns.at[part->function->start];
		struct bpf_func_info info = { .insn_off = (uint32_t)k->l->insns.n,
					      .type_id = part->piece ? k->object->static_type_id :
								       part->function->type_id };

		part->start = info.insn_off;
		if (!ray_vec_push(&k->l->infos, info))
			return &ray_enomem;
		for (uint32_t j = 0; j < part->count; j++)
			if (!ray_vec_push(&k->l->insns, from[j]))
				return &ray_enomem;
	}
	return NULL;
}

struct ray_error *ray_link_finish(const struct ray_object *object, const struct ray_link_values *values,
				  struct ray_linked *l)
{
	struct linker k = { object, values, l };
	struct ray_error *err = place_parts(&k);

	for (size_t i = 0; i < l->parts.n && !err; i++) {
		const struct ray_linked_part *part = &l->parts.at[i];

		if (part->function) {
			err = fix_function(&k, part);
			continue;
		}
		for (size_t j = 0; j < part->piece->references.n && !err; j++)
			err = fix_reference(&k, part, &part->piece->references.at[j]);
	}
	return err;
}
