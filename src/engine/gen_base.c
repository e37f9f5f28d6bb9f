/* gen_base.c - positions, calls and faults: what all of the generator stands on.
 * SPDX-License-Identifier: MIT */
#include "engine/gen.h"

void ray_gen_fail(struct ray_gen *g, const struct ray_where *where, const char *what)
{
	if (!g->err)
		g->err = ray_error_new(RAY_FAILED, "line %d: %s", where ? where->line : 0, what);
}

void ray_gen_emit(struct ray_gen *g, struct bpf_insn insn)
{
	ray_piece_emit(g->c, insn);
}

/* ---- positions ---- */

static uint32_t spill_at(struct ray_gen *g, unsigned d)
{
	if (d - 2 >= RAY_SPILLS - 1) { /* the last one is ray_gen_set_address()'s */
		ray_gen_fail(g, &g->clause->where, "an expression is nested too deeply");
		d = 2;
	}
	return SLOT_AT(spills) + (d - 2) * 8;
}

uint8_t ray_gen_target(unsigned d, uint8_t spare)
{
	return d == 0 ? R6 : d == 1 ? R7 : spare;
}

uint8_t ray_gen_get(struct ray_gen *g, unsigned d, uint8_t spare)
{
	if (d > 1)
		ray_gen_emit(g, RAY_LOAD(BPF_DW, spare, SLOT, spill_at(g, d)));
	return ray_gen_target(d, spare);
}

void ray_gen_get_into(struct ray_gen *g, unsigned d, uint8_t reg)
{
	if (d > 1)
		ray_gen_get(g, d, reg);
	else
		ray_gen_emit(g, RAY_MOV_REG(reg, ray_gen_target(d, reg)));
}

void ray_gen_set(struct ray_gen *g, unsigned d, uint8_t reg)
{
	if (d > 1)
		ray_gen_emit(g, RAY_STORE(BPF_DW, SLOT, reg, spill_at(g, d)));
	else if (ray_gen_target(d, reg) != reg)
		ray_gen_emit(g, RAY_MOV_REG(ray_gen_target(d, reg), reg));
}

void ray_gen_set_u64(struct ray_gen *g, unsigned d, uint64_t value)
{
	uint8_t reg = ray_gen_target(d, R1);

	if (d > 1 && (int64_t)value == (int32_t)value) {
		ray_gen_emit(g, RAY_STORE_IMM(BPF_DW, SLOT, spill_at(g, d), (int32_t)value));
		return;
	}
	ray_piece_load_u64(g->c, reg, value);
	ray_gen_set(g, d, reg);
}

void ray_gen_set_address(struct ray_gen *g, unsigned d, uint8_t pointer)
{
	int through = d > 1 ? (int)spill_at(g, d) : SLOT_AT(spills[RAY_SPILLS - 1]);

	/* Read back from a map's memory, a pointer is a number to the verifier. */
	ray_gen_emit(g, RAY_STORE(BPF_DW, SLOT, pointer, through));
	if (d <= 1)
		ray_gen_emit(g, RAY_LOAD(BPF_DW, ray_gen_target(d, R1), SLOT, through));
}

/* ---- the slot ---- */

void ray_gen_slot_pointer(struct ray_gen *g, uint8_t reg, uint32_t offset)
{
	ray_gen_emit(g, RAY_MOV_REG(reg, SLOT));
	if (offset)
		ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, reg, offset));
}

void ray_gen_slot_load(struct ray_gen *g, uint8_t size, uint8_t reg, uint32_t offset)
{
	if (offset <= INT16_MAX) {
		ray_gen_emit(g, RAY_LOAD(size, reg, SLOT, offset));
		return;
	}
	ray_gen_slot_pointer(g, R5, offset);
	ray_gen_emit(g, RAY_LOAD(size, reg, R5, 0));
}

void ray_gen_slot_store(struct ray_gen *g, uint8_t size, uint32_t offset, uint8_t reg)
{
	if (offset <= INT16_MAX) {
		ray_gen_emit(g, RAY_STORE(size, SLOT, reg, offset));
		return;
	}
	ray_gen_slot_pointer(g, R5, offset);
	ray_gen_emit(g, RAY_STORE(size, R5, reg, 0));
}

uint32_t ray_gen_temp(struct ray_gen *g)
{
	if (g->temps >= g->plan->temp_count)
		ray_gen_fail(g, &g->clause->where, "internal: more temporaries than were planned");
	return g->plan->temps_at + g->temps++ * g->plan->temp_size;
}

/* ---- calls and faults ---- */

void ray_gen_call(struct ray_gen *g, const char *function)
{
	ray_gen_emit(g, RAY_LOAD(BPF_W, R1, SLOT, SLOT_AT(index)));
	ray_piece_call_runtime(g->c, function);
}

uint32_t ray_gen_fault_label(struct ray_gen *g, enum ray_fault kind)
{
	struct ray_gen_fault f = { .action = g->action, .kind = kind };

	/* One place for all faults of a kind in one statement. */
	for (size_t i = g->faults.n; i-- > 0 && g->faults.at[i].action == f.action;)
		if (g->faults.at[i].kind == f.kind)
			return g->faults.at[i].label;
	f.label = ray_piece_label(g->c);
	if (!ray_vec_push(&g->faults, f))
		g->c->failed = true;
	return f.label;
}

/* Unless the jump is taken, a fault. The verifier follows what comes next before what a jump leads to, and keeps no
 * more than 8192 jumps in mind: the way to the fault ends soon, so it comes first. */
static void fault_unless(struct ray_gen *g, struct bpf_insn jump, enum ray_fault kind)
{
	uint32_t fine = ray_piece_label(g->c);

	ray_piece_jump(g->c, jump, fine);
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, ray_gen_fault_label(g, kind));
	ray_piece_place(g->c, fine);
}

void ray_gen_check_fault(struct ray_gen *g)
{
	ray_gen_emit(g, RAY_LOAD(BPF_W, R1, SLOT, SLOT_AT(fault)));
	fault_unless(g, RAY_JUMP_IMM(BPF_JEQ, R1, 0), RAY_FAULT_NONE);
}

void ray_gen_check_null(struct ray_gen *g, unsigned d)
{
	ray_gen_get_into(g, d, R1);
	fault_unless(g, RAY_JUMP_IMM(BPF_JNE, R1, 0), RAY_FAULT_BADADDR);
}

void ray_gen_faults_emit(struct ray_gen *g)
{
	for (size_t i = 0; i < g->faults.n; i++) {
		const struct ray_gen_fault *f = &g->faults.at[i];

		ray_piece_place(g->c, f->label);
		ray_gen_emit(g, f->kind ? RAY_MOV_REG(R2, R1) : RAY_MOV_IMM(R2, 0));
		ray_gen_emit(g, RAY_MOV_IMM(R3, f->kind));
		ray_gen_emit(g, RAY_MOV_IMM(R5, f->action));
		ray_gen_emit(g, RAY_MOV_REG(R1, SLOT));
		ray_piece_load_pc(g->c, R4, 1);
		ray_piece_call_runtime(g->c, "dt_probe_error");
		ray_piece_jump(g->c, RAY_JUMP_ALWAYS, g->out);
	}
	g->faults.n = 0;
}

void ray_gen_count(struct ray_gen *g, uint32_t offset)
{
	ray_piece_load_map_value(g->c, R1, RAY_LINK_STATE, offset);
	ray_gen_emit(g, RAY_MOV_IMM(R2, 1));
	ray_gen_emit(g, RAY_ATOMIC(BPF_DW, BPF_ADD, R1, R2, 0));
}

void ray_gen_count_cpu(struct ray_gen *g, uint32_t offset)
{
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_get_smp_processor_id));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_AND, R0, RAY_DROP_CPUS - 1));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_LSH, R0, 3));
	ray_piece_load_map_value(g->c, R1, RAY_LINK_STATE, offset);
	ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R1, R0));
	ray_gen_emit(g, RAY_MOV_IMM(R2, 1));
	ray_gen_emit(g, RAY_ATOMIC(BPF_DW, BPF_ADD, R1, R2, 0));
}

/* ---- types ---- */

uint8_t ray_gen_size_code(uint64_t size)
{
	return size == 1 ? BPF_B : size == 2 ? BPF_H : size == 4 ? BPF_W : BPF_DW;
}

void ray_gen_normalise(struct ray_gen *g, uint8_t reg, const struct ray_type *type)
{
	const struct ray_type *t = ray_type_resolve(type);
	int bits;

	if ((t->kind != RAY_TYPE_INTEGER && t->kind != RAY_TYPE_ENUM) || t->size >= 8 || t->size == 0)
		return;
	bits = t->size * 8;
	if (ray_type_is_signed(type)) {
		ray_gen_emit(g, RAY_ALU_IMM(BPF_LSH, reg, 64 - bits));
		ray_gen_emit(g, RAY_ALU_IMM(BPF_ARSH, reg, 64 - bits));
	} else if (bits == 32) {
		ray_gen_emit(g, RAY_MOV32_REG(reg, reg));
	} else {
		ray_gen_emit(g, RAY_ALU_IMM(BPF_AND, reg, (1 << bits) - 1));
	}
}

void ray_gen_thread(struct ray_gen *g)
{
	uint32_t known = ray_piece_label(g->c);

	if (ray_clause_is_about_task(g->trace, g->clause)) {
		ray_gen_emit(g, RAY_LOAD(BPF_DW, R0, SLOT, SLOT_AT(pid_tgid)));
		ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R0, 0), known);
	}
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_get_current_pid_tgid));
	ray_piece_place(g->c, known);
}
