/* gen_field.c - values into the places of records and keys, as plan.h lays them out.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/gen.h"

static bool is_probe_part(const struct ray_field *f)
{
	return f->kind == RAY_VALUE_STRING && f->size == 8;
}

static bool is_execname(const struct ray_expr *e)
{
	return e->kind == RAY_EXPR_VARIABLE && e->variable->scope == RAY_SCOPE_BUILTIN &&
	       e->variable->builtin == RAY_BUILTIN_EXECNAME;
}

static bool is_stack(const struct ray_field *f)
{
	return f->kind == RAY_VALUE_STACK || f->kind == RAY_VALUE_USTACK || f->kind == RAY_VALUE_JSTACK;
}

bool ray_gen_field_is_direct(const struct ray_field *f, const struct ray_expr *e)
{
	return is_probe_part(f) || is_stack(f) || (f->kind == RAY_VALUE_STRING && f->size == 16 && is_execname(e));
}

void ray_gen_field_evaluate(struct ray_gen *g, const struct ray_field *f, const struct ray_expr *e, unsigned d)
{
	if (!ray_gen_field_is_direct(f, e))
		ray_gen_expr(g, f->kind == RAY_VALUE_SYMBOL ? e->args[0] : e, d);
}

bool ray_gen_field_address(struct ray_gen *g, const struct ray_field *f, const struct ray_expr *e, unsigned d)
{
	struct ray_place p;

	if (f->kind != RAY_VALUE_STRING || ray_gen_field_is_direct(f, e) || !ray_type_is_string(e->type))
		return false;
	if (e->kind == RAY_EXPR_ARG && e->value < RAY_ARGS) {
		ray_gen_emit(g, RAY_LOAD(BPF_DW, R1, SLOT, SLOT_AT(args) + (int)e->value * 8));
		ray_gen_set(g, d, R1);
	} else if (e->kind == RAY_EXPR_CAST && !ray_type_is_string(e->a->type) && e->a->kind != RAY_EXPR_INTEGER) {
		ray_gen_expr(g, e->a, d);
	} else if (ray_gen_is_place(e)) {
		ray_gen_place(g, e, d, &p);
		if (p.kind != RAY_PLACE_ADDRESS) {
			ray_gen_place_load(g, &p, d);
			return true;
		}
		ray_gen_place_address(g, &p, d);
	} else {
		return false;
	}
	ray_gen_check_null(g, d); /* stored, NULL would be the empty string */
	return true;
}

/* R0 = bytes of the kernel stack at `offset` of the slot, or less than 0; the helper fills the rest with zeros. */
static void gen_kernel_stack(struct ray_gen *g, uint32_t offset, uint32_t size)
{
	uint32_t outside = ray_piece_label(g->c);

	ray_gen_emit(g, RAY_MOV_REG(R1, CTX));
	ray_gen_slot_pointer(g, R2, offset);
	ray_gen_emit(g, RAY_MOV_IMM(R3, size));
	/* BEGIN and END are calls of our own: frames of ours are skipped, and there are no others. */
	ray_gen_emit(g, RAY_LOAD(BPF_W, R5, SLOT, SLOT_AT(ctx_kind)));
	ray_gen_emit(g, RAY_MOV_IMM(R4, 0));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R5, RAY_CTX_TEST_RUN), outside);
	ray_gen_emit(g, RAY_MOV_IMM(R4, BPF_F_SKIP_FIELD_MASK));
	ray_piece_place(g->c, outside);
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_get_stack));
}

static bool has_clock(const struct ray_clause *clause)
{
	for (size_t i = 0; i < clause->probes.n; i++)
		if (!strcmp(clause->probes.at[i]->provider, "profile"))
			return true;
	return false;
}

/* R0 = a function of the runtime that is given the place of a kernel stack and R3. */
static void gen_kernel_call(struct ray_gen *g, const char *function, uint32_t offset)
{
	ray_piece_load_u64(g->c, R2, offset);
	ray_gen_call(g, function);
}

/* Behind all that is of fixed size: in a record only as long as it is. A clock that interrupted a program found nobody in the kernel; where it
 * interrupted the kernel, we mostly know the way ourselves. */
static void pack_kernel_stack(struct ray_gen *g, const struct ray_field *f, uint32_t offset)
{
	uint32_t ask = ray_piece_label(g->c), done = ray_piece_label(g->c), at = g->clause_plan->sent_size;
	bool is_quick = has_clock(g->clause);

	ray_gen_emit(g, RAY_MOV_IMM(R0, 0));
	ray_gen_emit(g, RAY_LOAD(BPF_W, R1, SLOT, SLOT_AT(ctx_kind)));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R1, RAY_CTX_PERF), ask);
	ray_gen_emit(g, RAY_LOAD(BPF_DW, R1, SLOT, SLOT_AT(kernel_pc)));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R1, 0), done);
	if (is_quick) {
		ray_gen_emit(g, RAY_MOV_IMM(R3, f->size));
		gen_kernel_call(g, "ray_kstack", g->plan->record_at + at);
		ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R0, 0), done);
	}
	ray_piece_place(g->c, ask);
	gen_kernel_stack(g, g->plan->record_at + at, f->size);
	if (is_quick) {
		ray_gen_emit(g, RAY_MOV_REG(R3, R0));
		gen_kernel_call(g, "ray_kstack_compare", g->plan->record_at + at);
	}
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JSGE, R0, 0), done);
	ray_gen_emit(g, RAY_MOV_IMM(R0, 0));
	ray_piece_place(g->c, done);
	ray_gen_emit(g, RAY_MOV_IMM(R1, at));
	ray_gen_slot_store(g, BPF_W, offset + offsetof(struct ray_packed, at), R1);
	ray_gen_slot_store(g, BPF_W, offset + offsetof(struct ray_packed, size), R0);
	ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R1, R0));
	ray_gen_slot_store(g, BPF_W, g->plan->record_at + offsetof(struct ray_record, size), R1);
}

static void store_stack(struct ray_gen *g, const struct ray_field *f, uint32_t offset)
{
	if (f->kind == RAY_VALUE_STACK) {
		if (f->is_packed)
			pack_kernel_stack(g, f, offset);
		else
			gen_kernel_stack(g, offset, f->size);
		return;
	}
	ray_piece_load_u64(g->c, R2, offset);
	ray_piece_load_u64(g->c, R3, f->frames);
	ray_gen_emit(g, RAY_MOV_IMM(R4, f->kind == RAY_VALUE_JSTACK));
	ray_gen_call(g, "ray_ustack");
	ray_gen_check_fault(g);
}

static void store_symbol(struct ray_gen *g, const struct ray_expr *e, unsigned d, uint32_t offset)
{
	switch (e->function->id) {
	case RAY_FN_USYM:
	case RAY_FN_UMOD:
	case RAY_FN_UFUNC:
	case RAY_FN_UADDR:
		ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_get_current_pid_tgid));
		ray_gen_emit(g, RAY_ALU_IMM(BPF_RSH, R0, 32));
		break;
	default:
		ray_gen_emit(g, RAY_MOV_IMM(R0, 0));
	}
	ray_gen_slot_store(g, BPF_DW, offset, R0);
	ray_gen_slot_store(g, BPF_DW, offset + 8, ray_gen_get(g, d, R1));
}

static void store_string(struct ray_gen *g, const struct ray_field *f, const struct ray_expr *e, unsigned d,
			 uint32_t offset)
{
	if (is_probe_part(f)) {
		ray_gen_emit(g, RAY_LOAD(BPF_W, R1, SLOT, SLOT_AT(probe)));
		ray_gen_slot_store(g, BPF_DW, offset, R1);
	} else if (ray_gen_field_is_direct(f, e)) {
		ray_piece_load_u64(g->c, R2, offset);
		ray_gen_call(g, "ray_process_name");
	} else {
		ray_gen_get_into(g, d, R3);
		ray_piece_load_u64(g->c, R2, offset);
		ray_piece_load_u64(g->c, R4, f->size);
		ray_gen_call(g, f->is_packed ? "ray_str_pack" : "ray_str_store");
		ray_gen_check_fault(g);
	}
}

static void store_bytes(struct ray_gen *g, const struct ray_field *f, unsigned d, uint32_t offset)
{
	if (!f->size)
		return;
	ray_gen_get_into(g, d, R3);
	ray_piece_load_u64(g->c, R2, offset);
	ray_piece_load_u64(g->c, R4, f->size);
	ray_gen_call(g, "ray_copy");
	ray_gen_check_fault(g);
	if (f->size % 8) { /* what is left of the last word is part of a key */
		uint32_t at = offset + f->size;

		ray_gen_emit(g, RAY_MOV_IMM(R1, 0));
		for (uint32_t end = ray_round8(f->size) + offset; at < end; at++)
			ray_gen_slot_store(g, BPF_B, at, R1);
	}
}

void ray_gen_field_store(struct ray_gen *g, const struct ray_field *f, const struct ray_expr *e, unsigned d,
			 uint32_t offset)
{
	switch (f->kind) {
	case RAY_VALUE_STACK:
	case RAY_VALUE_USTACK:
	case RAY_VALUE_JSTACK:
		store_stack(g, f, offset);
		break;
	case RAY_VALUE_SYMBOL:
		store_symbol(g, e, d, offset);
		break;
	case RAY_VALUE_STRING:
		store_string(g, f, e, d, offset);
		break;
	case RAY_VALUE_BYTES:
		store_bytes(g, f, d, offset);
		break;
	default:
		ray_gen_slot_store(g, BPF_DW, offset, ray_gen_get(g, d, R1));
	}
}
