/* piece.c - instructions under construction. Knows no D and no maps' file descriptors.
 * SPDX-License-Identifier: MIT */
#include "engine/piece.h"

void ray_piece_deinit(struct ray_piece *p)
{
	ray_vec_free(&p->insns);
	ray_vec_free(&p->references);
	ray_vec_free(&p->jumps);
	ray_vec_free(&p->labels);
}

void ray_piece_emit(struct ray_piece *p, struct bpf_insn insn)
{
	if (!ray_vec_push(&p->insns, insn))
		p->failed = true;
}

uint32_t ray_piece_label(struct ray_piece *p)
{
	if (!ray_vec_push(&p->labels, -1)) {
		p->failed = true;
		return 0;
	}
	return p->labels.n - 1;
}

void ray_piece_place(struct ray_piece *p, uint32_t label)
{
	if (label < p->labels.n)
		p->labels.at[label] = p->insns.n;
}

void ray_piece_jump(struct ray_piece *p, struct bpf_insn insn, uint32_t label)
{
	if (!ray_vec_push(&p->jumps, (struct ray_jump){ .insn = p->insns.n, .label = label }))
		p->failed = true;
	ray_piece_emit(p, insn);
}

static void refer(struct ray_piece *p, struct ray_reference reference)
{
	reference.insn = p->insns.n;
	if (!ray_vec_push(&p->references, reference))
		p->failed = true;
}

void ray_piece_call_runtime(struct ray_piece *p, const char *function)
{
	refer(p, (struct ray_reference){ .kind = RAY_REF_RUNTIME, .function = function });
	ray_piece_emit(p, RAY_INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0));
}

void ray_piece_call_piece(struct ray_piece *p, const struct ray_piece *piece)
{
	refer(p, (struct ray_reference){ .kind = RAY_REF_PIECE, .piece = piece });
	ray_piece_emit(p, RAY_INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0));
}

void ray_piece_inline(struct ray_piece *p, const struct ray_piece *piece, uint32_t head, uint32_t end)
{
	uint32_t base = (uint32_t)p->insns.n - head;

	for (size_t i = 0; i < piece->references.n; i++) {
		struct ray_reference reference = piece->references.at[i];

		reference.insn += base;
		if (!ray_vec_push(&p->references, reference))
			p->failed = true;
	}
	for (size_t i = head; i < piece->insns.n; i++)
		if (piece->insns.at[i].code == (BPF_JMP | BPF_EXIT))
			ray_piece_jump(p, RAY_JUMP_ALWAYS, end);
		else
			ray_piece_emit(p, piece->insns.at[i]);
}

static void load_wide(struct ray_piece *p, uint8_t reg, uint8_t form, uint64_t value)
{
	ray_piece_emit(p, RAY_INSN(BPF_LD | BPF_DW | BPF_IMM, reg, form, 0, (int32_t)value));
	ray_piece_emit(p, RAY_INSN(0, 0, 0, 0, (int32_t)(value >> 32)));
}

void ray_piece_load_piece(struct ray_piece *p, uint8_t reg, const struct ray_piece *piece)
{
	refer(p, (struct ray_reference){ .kind = RAY_REF_PIECE_ADDRESS, .piece = piece });
	load_wide(p, reg, BPF_PSEUDO_FUNC, 0);
}

void ray_piece_load_map(struct ray_piece *p, uint8_t reg, uint32_t map)
{
	refer(p, (struct ray_reference){ .kind = RAY_REF_MAP, .number = map });
	load_wide(p, reg, BPF_PSEUDO_MAP_FD, 0);
}

void ray_piece_load_map_value(struct ray_piece *p, uint8_t reg, uint32_t map, uint32_t offset)
{
	refer(p, (struct ray_reference){ .kind = RAY_REF_MAP, .number = map });
	load_wide(p, reg, BPF_PSEUDO_MAP_VALUE, (uint64_t)offset << 32);
}

void ray_piece_load_const(struct ray_piece *p, uint8_t reg, uint32_t constant)
{
	refer(p, (struct ray_reference){ .kind = RAY_REF_CONST, .number = constant });
	load_wide(p, reg, 0, 0);
}

void ray_piece_load_pc(struct ray_piece *p, uint8_t reg, int32_t ahead)
{
	refer(p, (struct ray_reference){ .kind = RAY_REF_PC });
	ray_piece_emit(p, RAY_MOV_IMM(reg, ahead));
}

void ray_piece_load_u64(struct ray_piece *p, uint8_t reg, uint64_t value)
{
	if ((int64_t)value == (int32_t)value)
		ray_piece_emit(p, RAY_MOV_IMM(reg, (int32_t)value));
	else if (value == (uint32_t)value) /* a 32-bit move clears the upper half */
		ray_piece_emit(p, RAY_INSN(BPF_ALU | BPF_MOV | BPF_K, reg, 0, 0, (int32_t)value));
	else
		load_wide(p, reg, 0, value);
}

bool ray_piece_finish(struct ray_piece *p)
{
	for (size_t i = 0; i < p->jumps.n && !p->failed; i++) {
		const struct ray_jump *jump = &p->jumps.at[i];
		int64_t offset;

		if (jump->label >= p->labels.n || p->labels.at[jump->label] < 0) {
			p->failed = true;
			break;
		}
		offset = (int64_t)p->labels.at[jump->label] - jump->insn - 1;
		if (offset != (int16_t)offset)
			p->failed = true;
		else
			p->insns.at[jump->insn].off = offset;
	}
	return !p->failed;
}
