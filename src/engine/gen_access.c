/* gen_access.c - reading and writing places. SPDX-License-Identifier: MIT */
#include "engine/gen.h"

static uint64_t access_size(const struct ray_place *p)
{
	const struct ray_type *t = ray_type_resolve(p->type);

	if (p->bit_width)
		return p->bit_size;
	if (t->kind == RAY_TYPE_STRING)
		return p->variable && p->has_flag ? p->limit - p->offset : ray_type_size(p->type);
	return ray_type_size(p->type);
}

static bool is_by_reference(const struct ray_type *type)
{
	const struct ray_type *t = ray_type_resolve(type);

	return ray_type_is_by_reference(type) || (t->kind == RAY_TYPE_FLOAT && t->size > 8);
}

/* R1: a pointer to the place in a variable; R0 is the element of a dynamic one. The index is bounded here, where the
 * verifier sees it. */
static void point(struct ray_gen *g, const struct ray_place *p)
{
	uint64_t size = access_size(p);

	if (p->kind == RAY_PLACE_SLOT)
		ray_gen_slot_pointer(g, R1, p->offset);
	else if (p->kind == RAY_PLACE_GLOBAL)
		ray_piece_load_map_value(g->c, R1, g->plan->globals_map, p->offset);
	else {
		ray_gen_emit(g, RAY_MOV_REG(R1, R0));
		if (p->offset)
			ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, R1, p->offset));
	}
	if (p->offset + size > p->limit) {
		ray_gen_fail(g, &g->clause->where, "access beyond the end of a variable");
		return;
	}
	if (p->has_index) {
		uint8_t reg = ray_gen_get(g, p->index_d, R2);
		uint32_t fine = ray_piece_label(g->c);

		ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JLE, reg, p->limit - p->offset - size), fine);
		ray_gen_emit(g, RAY_MOV_REG(R1, reg));
		ray_piece_jump(g->c, RAY_JUMP_ALWAYS, ray_gen_fault_label(g, RAY_FAULT_BADINDEX));
		ray_piece_place(g->c, fine);
		ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R1, reg));
	}
}

/* R2: the D address. */
static void address_into_r2(struct ray_gen *g, const struct ray_place *p)
{
	ray_gen_get_into(g, p->d, R2);
	if (p->offset)
		ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, R2, p->offset));
}

static unsigned free_above(const struct ray_place *p, unsigned d)
{
	unsigned free = d + 1;

	if (p->element && free < p->keys_d + p->element->arg_count)
		free = p->keys_d + p->element->arg_count;
	if (p->has_index && free <= p->index_d)
		free = p->index_d + 1;
	return free;
}

/* ---- numbers ---- */

static void extract_bits(struct ray_gen *g, const struct ray_place *p, uint8_t reg)
{
	ray_gen_emit(g, RAY_ALU_IMM(BPF_LSH, reg, 64 - p->bit_shift - p->bit_width));
	ray_gen_emit(g, RAY_ALU_IMM(ray_type_is_signed(p->type) ? BPF_ARSH : BPF_RSH, reg, 64 - p->bit_width));
}

static void finish_number(struct ray_gen *g, const struct ray_place *p, uint8_t reg)
{
	if (p->bit_width)
		extract_bits(g, p, reg);
	else
		ray_gen_normalise(g, reg, p->type);
}

/* R0: the number at an address. Arguments of the node provider mostly lead to the event area, which is in the slot: read in line. */
static void load_behind_address(struct ray_gen *g, const struct ray_place *p)
{
	uint64_t size = access_size(p);
	uint32_t elsewhere = ray_piece_label(g->c), done = ray_piece_label(g->c);
	bool can_be_event = g->plan->event_size >= size && size <= 8;

	address_into_r2(g, p);
	if (can_be_event) {
		ray_piece_load_u64(g->c, R3, RAY_SCRATCH | g->plan->event_at);
		ray_gen_emit(g, RAY_MOV_REG(R1, R2));
		ray_gen_emit(g, RAY_ALU_REG(BPF_SUB, R1, R3));
		ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JGT, R1, (int32_t)(g->plan->event_size - size)), elsewhere);
		ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R1, SLOT));
		ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, R1, g->plan->event_at));
		ray_gen_emit(g, RAY_LOAD(ray_gen_size_code(size), R0, R1, 0));
		ray_piece_jump(g->c, RAY_JUMP_ALWAYS, done);
	}
	ray_piece_place(g->c, elsewhere);
	ray_gen_emit(g, RAY_MOV_IMM(R3, size));
	ray_gen_call(g, "ray_load");
	ray_gen_check_fault(g);
	ray_piece_place(g->c, done);
}

static void load_number(struct ray_gen *g, const struct ray_place *p, unsigned d)
{
	uint8_t reg = ray_gen_target(d, R3);
	uint8_t code = ray_gen_size_code(access_size(p));

	if (p->kind == RAY_PLACE_ADDRESS) {
		load_behind_address(g, p);
		finish_number(g, p, R0);
		ray_gen_set(g, d, R0);
		return;
	}
	if (p->kind == RAY_PLACE_SLOT && !p->has_index) {
		ray_gen_slot_load(g, code, reg, p->offset);
	} else if (p->kind == RAY_PLACE_DYNAMIC) {
		uint32_t absent = ray_piece_label(g->c);

		ray_gen_dynamic_find(g, p);
		ray_gen_emit(g, RAY_MOV_IMM(R3, 0));
		ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), absent);
		point(g, p);
		ray_gen_emit(g, RAY_LOAD(code, R3, R1, 0));
		ray_piece_place(g->c, absent);
		reg = R3;
	} else {
		point(g, p);
		ray_gen_emit(g, RAY_LOAD(code, reg, R1, 0));
	}
	finish_number(g, p, reg);
	ray_gen_set(g, d, reg);
}

/* R3 |= the bits of the value at d, those of the field only. */
static void merge_bits(struct ray_gen *g, const struct ray_place *p, unsigned d)
{
	uint64_t mask = (p->bit_width == 64 ? UINT64_MAX : ((1ULL << p->bit_width) - 1)) << p->bit_shift;

	ray_gen_get_into(g, d, R4);
	ray_gen_emit(g, RAY_ALU_IMM(BPF_LSH, R4, p->bit_shift));
	ray_piece_load_u64(g->c, R2, mask);
	ray_gen_emit(g, RAY_ALU_REG(BPF_AND, R4, R2));
	ray_piece_load_u64(g->c, R2, ~mask);
	ray_gen_emit(g, RAY_ALU_REG(BPF_AND, R3, R2));
	ray_gen_emit(g, RAY_ALU_REG(BPF_OR, R3, R4));
}

static void store_through_r1(struct ray_gen *g, const struct ray_place *p, unsigned d)
{
	uint8_t code = ray_gen_size_code(access_size(p));

	if (p->bit_width) {
		ray_gen_emit(g, RAY_LOAD(code, R3, R1, 0));
		merge_bits(g, p, d);
		ray_gen_emit(g, RAY_STORE(code, R1, R3, 0));
	} else {
		ray_gen_emit(g, RAY_STORE(code, R1, ray_gen_get(g, d, R3), 0));
	}
}

static void store_behind_address(struct ray_gen *g, const struct ray_place *p, unsigned d, unsigned free)
{
	if (p->bit_width) {
		address_into_r2(g, p);
		ray_gen_emit(g, RAY_MOV_IMM(R3, access_size(p)));
		ray_gen_call(g, "ray_load");
		ray_gen_check_fault(g);
		ray_gen_emit(g, RAY_MOV_REG(R3, R0));
		merge_bits(g, p, d);
		ray_gen_set(g, free, R3);
		d = free;
	}
	address_into_r2(g, p);
	ray_gen_get_into(g, d, R4);
	ray_gen_emit(g, RAY_MOV_IMM(R3, access_size(p)));
	ray_gen_call(g, "ray_store");
	ray_gen_check_fault(g);
}

static void store_number(struct ray_gen *g, const struct ray_place *p, unsigned d, unsigned free)
{
	if (p->kind == RAY_PLACE_ADDRESS) {
		store_behind_address(g, p, d, free);
		return;
	}
	if (p->kind == RAY_PLACE_SLOT && !p->has_index && !p->bit_width) {
		ray_gen_slot_store(g, ray_gen_size_code(access_size(p)), p->offset, ray_gen_get(g, d, R3));
		return;
	}
	if (p->kind == RAY_PLACE_DYNAMIC && p->is_whole) {
		ray_gen_dynamic_store(g, p, d);
		return;
	}
	if (p->kind == RAY_PLACE_DYNAMIC)
		ray_gen_dynamic_make(g, p);
	point(g, p);
	store_through_r1(g, p, d);
}

/* ---- by reference ---- */

void ray_gen_place_address(struct ray_gen *g, const struct ray_place *p, unsigned d)
{
	uint32_t absent;

	if (p->kind == RAY_PLACE_SLOT && !p->has_index) {
		ray_gen_set_u64(g, d, RAY_SCRATCH | p->offset);
		return;
	}
	if (p->kind == RAY_PLACE_SLOT) { /* scratch, so that it can be written through the pointer */
		struct ray_gen_operand index = { .d = free_above(p, d) };

		ray_gen_set(g, index.d, ray_gen_get(g, p->index_d, R1));
		ray_gen_set_u64(g, d, RAY_SCRATCH | p->offset);
		ray_gen_arith(g, RAY_OP_ADD, ray_type_basic(g->plan->program->types, RAY_BASIC_UINT64), d, index);
		return;
	}
	if (p->kind == RAY_PLACE_ADDRESS) {
		address_into_r2(g, p);
		ray_gen_set(g, d, R2);
		return;
	}
	if (p->kind == RAY_PLACE_GLOBAL) {
		point(g, p);
		ray_gen_set_address(g, d, R1);
		return;
	}
	absent = ray_piece_label(g->c);
	ray_gen_dynamic_find(g, p);
	ray_gen_emit(g, RAY_MOV_IMM(R1, 0));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), absent);
	point(g, p);
	ray_piece_place(g->c, absent);
	ray_gen_set_address(g, d, R1);
}

/* Loads the word that tells whether a string variable holds one; goes to the label if not. */
static void jump_if_null(struct ray_gen *g, const struct ray_place *p, uint32_t label)
{
	if (p->kind == RAY_PLACE_SLOT) {
		ray_gen_slot_load(g, BPF_DW, R1, p->offset - 8);
	} else {
		ray_piece_load_map_value(g->c, R1, g->plan->globals_map, p->offset - 8);
		ray_gen_emit(g, RAY_LOAD(BPF_DW, R1, R1, 0));
	}
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R1, 0), label);
}

static void load_string(struct ray_gen *g, const struct ray_place *p, unsigned d)
{
	uint32_t null = ray_piece_label(g->c), end = ray_piece_label(g->c);
	bool can_be_null = p->has_flag || p->kind == RAY_PLACE_DYNAMIC;

	if (p->has_flag)
		jump_if_null(g, p, null);
	ray_gen_place_address(g, p, d);
	if (p->kind == RAY_PLACE_DYNAMIC)
		ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, ray_gen_get(g, d, R1), 0), null);
	if (p->kind != RAY_PLACE_SLOT) {
		ray_gen_get_into(g, d, R3);
		ray_piece_load_u64(g->c, R2, ray_gen_temp(g));
		ray_gen_call(g, "ray_str_read");
		ray_gen_set(g, d, R0);
		ray_gen_check_fault(g);
	}
	if (can_be_null) {
		ray_piece_jump(g->c, RAY_JUMP_ALWAYS, end);
		ray_piece_place(g->c, null);
		ray_gen_set_u64(g, d, 0);
		ray_piece_place(g->c, end);
	}
}

static void load_reference(struct ray_gen *g, const struct ray_place *p, unsigned d)
{
	uint32_t there = ray_piece_label(g->c);

	ray_gen_place_address(g, p, d);
	if (p->kind != RAY_PLACE_DYNAMIC)
		return;
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, ray_gen_get(g, d, R1), 0), there);
	ray_gen_set_u64(g, d, RAY_SCRATCH | g->plan->zeros_at);
	ray_piece_place(g->c, there);
}

void ray_gen_place_load(struct ray_gen *g, const struct ray_place *p, unsigned d)
{
	if (ray_type_is_string(p->type))
		load_string(g, p, d);
	else if (is_by_reference(p->type))
		load_reference(g, p, d);
	else
		load_number(g, p, d);
}

/* The data at the address in position d, into the slot. */
static void fetch(struct ray_gen *g, const struct ray_place *p, unsigned d, uint32_t offset)
{
	ray_gen_get_into(g, d, R3);
	ray_piece_load_u64(g->c, R2, offset);
	ray_piece_load_u64(g->c, R4, access_size(p));
	ray_gen_call(g, ray_type_is_string(p->type) ? "ray_str_store" : "ray_copy");
	ray_gen_check_fault(g);
}

/* size bytes of the value buffer to R1. */
static void copy_value(struct ray_gen *g, uint32_t size)
{
	ray_piece_load_u64(g->c, R2, size);
	ray_gen_slot_pointer(g, R3, g->plan->value_at);
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_probe_read_kernel));
}

static void store_flagged(struct ray_gen *g, const struct ray_place *p, unsigned d)
{
	struct ray_place flag = *p;
	uint32_t null = ray_piece_label(g->c), end = ray_piece_label(g->c);

	flag.offset -= 8;
	flag.has_flag = false;
	flag.type = ray_type_basic(g->plan->program->types, RAY_BASIC_UINT64);
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, ray_gen_get(g, d, R1), 0), null);
	/* Through a buffer: the string may come from the variable itself. */
	fetch(g, p, d, g->plan->value_at + 8);
	ray_gen_emit(g, RAY_MOV_IMM(R1, 1));
	ray_gen_slot_store(g, BPF_DW, g->plan->value_at, R1);
	point(g, &flag);
	copy_value(g, access_size(p) + 8);
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, end);
	ray_piece_place(g->c, null);
	point(g, &flag);
	ray_gen_emit(g, RAY_STORE_IMM(BPF_DW, R1, 0, 0));
	ray_piece_place(g->c, end);
}

static void store_reference(struct ray_gen *g, const struct ray_place *p, unsigned d)
{
	if (p->has_flag) {
		store_flagged(g, p, d);
	} else if (p->kind == RAY_PLACE_DYNAMIC && p->is_whole) {
		ray_gen_dynamic_store(g, p, d);
	} else if (p->kind == RAY_PLACE_SLOT && !p->has_index) {
		fetch(g, p, d, p->offset);
	} else if (p->kind == RAY_PLACE_ADDRESS) {
		fetch(g, p, d, g->plan->value_at);
		address_into_r2(g, p);
		ray_piece_load_u64(g->c, R3, g->plan->value_at);
		ray_piece_load_u64(g->c, R4, access_size(p));
		ray_gen_call(g, "ray_copy_to");
		ray_gen_check_fault(g);
	} else {
		fetch(g, p, d, g->plan->value_at);
		if (p->kind == RAY_PLACE_DYNAMIC)
			ray_gen_dynamic_make(g, p);
		point(g, p);
		copy_value(g, access_size(p));
	}
}

void ray_gen_place_store(struct ray_gen *g, const struct ray_place *p, unsigned d, unsigned free)
{
	if (is_by_reference(p->type))
		store_reference(g, p, d);
	else
		store_number(g, p, d, free);
}
