/* gen_bin.c - which word of a distribution a value counts in. SPDX-License-Identifier: MIT */
#include "engine/gen.h"

bool ray_gen_has_bins(const struct ray_aggregation *a)
{
	return a->function == RAY_AGG_QUANTIZE || a->function == RAY_AGG_LQUANTIZE || a->function == RAY_AGG_LLQUANTIZE;
}

/* llquantize() whose powers and parts are found by shifts. */
static bool is_powers_of_two(const struct ray_aggregation *a)
{
	const int64_t *p = a->parameters;

	return a->function == RAY_AGG_LLQUANTIZE && p[0] == 2 && p[1] >= 0 && p[1] <= p[2] && p[2] < 62 && p[3] >= 2 &&
	       (p[3] & (p[3] - 1)) == 0;
}

/* R3 = the logarithm of R1, which is less than the power above high. Without a jump: the verifier would follow each way through all that comes later. */
static void emit_log2(struct ray_gen *g, int64_t high)
{
	ray_gen_emit(g, RAY_MOV_IMM(R3, 0));
	for (int log = 5; log >= 0; log--) {
		int shift = 1 << log;
		int64_t bits = high + 1 - shift < shift ? high + 1 - shift : shift; /* of what is above it */

		if (bits <= 0)
			continue;
		/* R2 = 1 if there is anything, else 0 */
		ray_gen_emit(g, RAY_MOV_REG(R2, R1));
		ray_gen_emit(g, RAY_ALU_IMM(BPF_RSH, R2, shift));
		ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, R2, (1LL << bits) - 1));
		ray_gen_emit(g, RAY_ALU_IMM(BPF_RSH, R2, bits));
		ray_gen_emit(g, RAY_ALU_IMM(BPF_AND, R2, 1));
		ray_gen_emit(g, RAY_ALU_IMM(BPF_LSH, R2, log));
		ray_gen_emit(g, RAY_ALU_REG(BPF_RSH, R1, R2));
		ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R3, R2));
	}
}

/* ray_llquantize_shift() of the value in R6, without a call where it is above 0 and neither too small nor too large: a call would cost as much again. */
static void emit_shifts(struct ray_gen *g, const struct ray_aggregation *a)
{
	int64_t low = a->parameters[1], high = a->parameters[2], shift = __builtin_ctzll((uint64_t)a->parameters[3]);
	int64_t least = low >= shift ? low : shift, each = 1LL << (shift - 1);
	int64_t first = 1 + (high - low + 1) * each + 1 - each - low * each; /* the bin of part 0 of power 0 */
	uint32_t call = ray_piece_label(g->c), done = ray_piece_label(g->c);

	ray_gen_emit(g, RAY_MOV_REG(R1, R6));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_RSH, R1, high + 1));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R1, 0), call);
	ray_gen_emit(g, RAY_MOV_REG(R1, R6));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_RSH, R1, least));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R1, 0), call);
	ray_gen_emit(g, RAY_MOV_REG(R1, R6));
	emit_log2(g, high);
	ray_gen_emit(g, RAY_MOV_REG(R2, R3));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, R2, 1 - shift));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_AND, R2, 63));
	ray_gen_emit(g, RAY_ALU_REG(BPF_RSH, R6, R2));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_LSH, R3, shift - 1));
	ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R6, R3));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, R6, first));
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, done);
	ray_piece_place(g->c, call);
	ray_gen_emit(g, RAY_MOV_REG(R1, R6));
	ray_gen_emit(g, RAY_MOV_IMM(R2, low));
	ray_gen_emit(g, RAY_MOV_IMM(R3, high));
	ray_gen_emit(g, RAY_MOV_IMM(R4, shift));
	ray_piece_call_runtime(g->c, "ray_llquantize_shift");
	ray_gen_emit(g, RAY_MOV_REG(R6, R0));
	ray_piece_place(g->c, done);
}

void ray_gen_bin(struct ray_gen *g, const struct ray_aggregation *a)
{
	static const char *const functions[] = { [RAY_AGG_QUANTIZE] = "ray_quantize_bin",
						 [RAY_AGG_LQUANTIZE] = "ray_lquantize_bin",
						 [RAY_AGG_LLQUANTIZE] = "ray_llquantize_bin" };
	int parameters = a->function == RAY_AGG_QUANTIZE ? 0 : a->function == RAY_AGG_LQUANTIZE ? 3 : 4;

	if (is_powers_of_two(a)) {
		emit_shifts(g, a);
		return;
	}
	ray_gen_emit(g, RAY_MOV_REG(R1, R6));
	for (int i = 0; i < parameters; i++)
		ray_piece_load_u64(g->c, R2 + i, a->parameters[i]);
	ray_piece_call_runtime(g->c, functions[a->function]);
	ray_gen_emit(g, RAY_MOV_REG(R6, R0));
}
