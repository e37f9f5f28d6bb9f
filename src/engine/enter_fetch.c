/* enter_fetch.c - one argument by its rule (struct ray_fetch), for kinds whose rules are known when the code is written.
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stddef.h>

#include "engine/enter.h"

static int arg_at(int i)
{
	return offsetof(struct ray_slot, args) + 8 * i;
}

void ray_enter_store_arg(struct ray_piece *p, int i, uint8_t reg)
{
	ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, reg, arg_at(i)));
}

/* Slot memory at `offset` = `size` bytes at the address in R3. R0: not 0 if that failed. */
void ray_enter_read(struct ray_piece *p, int offset, int size, uint32_t helper)
{
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_1, RAY_SLOT_REG));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_ADD, BPF_REG_1, offset));
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_2, size));
	ray_piece_emit(p, RAY_CALL_HELPER(helper));
}

/* ---- one argument by its rule ---- */

static uint8_t load_size(uint8_t bytes)
{
	return bytes == 1 ? BPF_B : bytes == 2 ? BPF_H : bytes == 4 ? BPF_W : BPF_DW;
}

void ray_enter_extend(struct ray_piece *p, uint8_t reg, const struct ray_fetch *f)
{
	int shift = 64 - 8 * f->size;

	if (!f->size || !shift || !(f->flags & 1))
		return;
	ray_piece_emit(p, RAY_ALU_IMM(BPF_LSH, reg, shift));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_ARSH, reg, shift));
}

/* A number of the record; unaligned ones byte by byte, as the kernel lets a program load aligned ones only. */
static void emit_context(struct ray_piece *p, const struct ray_fetch *f)
{
	if (f->value % f->size == 0) {
		ray_piece_emit(p, RAY_LOAD(load_size(f->size), BPF_REG_1, RAY_CTX_REG, f->value));
	} else {
		ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, 0));
		for (int i = f->size - 1; i >= 0; i--) {
			ray_piece_emit(p, RAY_ALU_IMM(BPF_LSH, BPF_REG_1, 8));
			ray_piece_emit(p, RAY_LOAD(BPF_B, BPF_REG_2, RAY_CTX_REG, f->value + i));
			ray_piece_emit(p, RAY_ALU_REG(BPF_OR, BPF_REG_1, BPF_REG_2));
		}
	}
	ray_enter_extend(p, BPF_REG_1, f);
}

/* The address of a place in the record. The context's pointer goes through memory, so that it is a number afterwards. */
static void emit_context_address(struct ray_piece *p, int i, const struct ray_fetch *f)
{
	ray_enter_store_arg(p, i, RAY_CTX_REG);
	if (f->flags & (2 | 8)) {
		ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_2, RAY_CTX_REG, f->value));
		ray_piece_emit(p, RAY_ALU_IMM(BPF_AND, BPF_REG_2, 0xffff));
		if (f->flags & 8) /* counted from the end of this field */
			ray_piece_emit(p, RAY_ALU_IMM(BPF_ADD, BPF_REG_2, f->value + 4));
	} else {
		ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_2, f->value));
	}
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_SLOT_REG, arg_at(i)));
	ray_piece_emit(p, RAY_ALU_REG(BPF_ADD, BPF_REG_1, BPF_REG_2));
}

/* R3 += where the field is. */
static void emit_offset(struct ray_piece *p, const struct ray_fetch *f)
{
	if (f->flags & 4) {
		ray_piece_load_const(p, BPF_REG_1, f->value);
		ray_piece_emit(p, RAY_ALU_REG(BPF_ADD, BPF_REG_3, BPF_REG_1));
	} else {
		ray_piece_emit(p, RAY_ALU_IMM(BPF_ADD, BPF_REG_3, f->value));
	}
}

static void emit_field(struct ray_piece *p, int i, const struct ray_fetch *f)
{
	if (f->kind != RAY_FETCH_TASK_FIELD) {
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_3, RAY_CTX_REG, 8 * f->reg));
	} else {
		ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_get_current_task));
		ray_piece_emit(p, RAY_MOV_REG(BPF_REG_3, BPF_REG_0));
	}
	emit_offset(p, f);
	ray_piece_emit(p, RAY_STORE_IMM(BPF_DW, RAY_SLOT_REG, arg_at(i), 0));
	ray_enter_read(p, arg_at(i), f->size, BPF_FUNC_probe_read_kernel);
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_SLOT_REG, arg_at(i)));
	ray_enter_extend(p, BPF_REG_1, f);
}

/* R1, an exit code as wait() gives it, becomes CLD_EXITED, CLD_KILLED or CLD_DUMPED. */
static void emit_exit_reason(struct ray_piece *p)
{
	uint32_t done = ray_piece_label(p);

	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_2, BPF_REG_1));
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, CLD_EXITED));
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_3, BPF_REG_2));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_AND, BPF_REG_3, 0x7f));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_3, 0), done);
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, CLD_KILLED));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_AND, BPF_REG_2, 0x80));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_2, 0), done);
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, CLD_DUMPED));
	ray_piece_place(p, done);
}

/* A signal that nobody handles is delivered as SIGKILL to each thread; what it was is in the process' exit code. */
static void emit_signal(struct ray_piece *p, int i)
{
	static const struct ray_fetch task_signal = {
		.kind = RAY_FETCH_TASK_FIELD, .value = RAY_LINK_TASK_SIGNAL, .size = 8, .flags = 4
	};
	uint32_t done = ray_piece_label(p);

	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, 0));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JNE, BPF_REG_1, SIGKILL), done);
	emit_field(p, i, &task_signal);
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_3, BPF_REG_1));
	ray_piece_load_const(p, BPF_REG_1, RAY_LINK_SIGNAL_GROUP_CODE);
	ray_piece_emit(p, RAY_ALU_REG(BPF_ADD, BPF_REG_3, BPF_REG_1));
	ray_piece_emit(p, RAY_STORE_IMM(BPF_DW, RAY_SLOT_REG, arg_at(i), 0));
	ray_enter_read(p, arg_at(i), 4, BPF_FUNC_probe_read_kernel);
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_SLOT_REG, arg_at(i)));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_AND, BPF_REG_1, 0x7f));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JNE, BPF_REG_1, 0), done);
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, SIGKILL));
	ray_piece_place(p, done);
}

static void emit_thread(struct ray_piece *p, bool is_process)
{
	ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_get_current_pid_tgid));
	ray_piece_emit(p, is_process ? RAY_ALU_IMM(BPF_RSH, BPF_REG_0, 32) : RAY_MOV32_REG(BPF_REG_0, BPF_REG_0));
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_1, BPF_REG_0));
}

/* R1 = the argument. */
void ray_enter_fetch(struct ray_piece *p, int i, const struct ray_fetch *f)
{
	switch (f->kind) {
	case RAY_FETCH_CONST:
		ray_piece_load_u64(p, BPF_REG_1, f->value);
		break;
	case RAY_FETCH_CONTEXT:
		emit_context(p, f);
		break;
	case RAY_FETCH_CONTEXT_ADDR:
		emit_context_address(p, i, f);
		break;
	case RAY_FETCH_RAW:
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, 8 * f->value));
		ray_enter_extend(p, BPF_REG_1, f);
		break;
	case RAY_FETCH_RAW_FIELD:
	case RAY_FETCH_TASK_FIELD:
		emit_field(p, i, f);
		break;
	case RAY_FETCH_SIGNAL:
		emit_signal(p, i);
		break;
	case RAY_FETCH_EXIT:
		emit_field(p, i, f);
		emit_exit_reason(p);
		break;
	case RAY_FETCH_TID:
	case RAY_FETCH_TGID:
		emit_thread(p, f->kind == RAY_FETCH_TGID);
		break;
	case RAY_FETCH_TASK:
		ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_get_current_task));
		ray_piece_emit(p, RAY_MOV_REG(BPF_REG_1, BPF_REG_0));
		break;
	default:
		ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, 0));
	}
	ray_enter_store_arg(p, i, BPF_REG_1);
}
