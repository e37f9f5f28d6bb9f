/* piece.h - eBPF instructions under construction: emit, labels, references.
 * SPDX-License-Identifier: MIT
 *
 * A piece of code is one BPF function (a clause, a program's entry). Calls to other functions and references to maps
 * and constants stay symbolic until link.c puts the pieces and the runtime functions they need together. Allocation
 * failure is remembered and told at the end. */
#ifndef RAY_ENGINE_PIECE_H
#define RAY_ENGINE_PIECE_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum ray_reference_kind {
	RAY_REF_RUNTIME,       /* call of a function of the runtime, by name */
	RAY_REF_PIECE,	       /* call of another piece, by pointer */
	RAY_REF_PIECE_ADDRESS, /* ld_imm64: where another piece is, for bpf_loop() */
	/* ld_imm64: map number (enum in kern/wire.h, or ray_trace's own from RAY_MAP_OWN on). The instruction's src_reg
	 * tells the form: BPF_PSEUDO_MAP_FD, or BPF_PSEUDO_MAP_VALUE (element 0 of an array map; the second half's imm is
	 * an offset in it): only imm of the first half is the linker's to fill. */
	RAY_REF_MAP,
	RAY_REF_CONST, /* ld_imm64: RAY_LINK_* constant */
	/* mov imm: becomes that many instructions ahead of this one, as a number in the program (for faults). */
	RAY_REF_PC,
};

struct ray_piece;

struct ray_reference {
	uint32_t insn;
	enum ray_reference_kind kind;
	const char *function;
	const struct ray_piece *piece;
	uint32_t number;
};

struct ray_jump {
	uint32_t insn;
	uint32_t label;
};

struct ray_piece {
	const char *name; /* "dt_clause_0": shown by -S and in faults */
	RAY_VEC(struct bpf_insn) insns;
	RAY_VEC(struct ray_reference) references;
	RAY_VEC(struct ray_jump) jumps;
	RAY_VEC(int32_t) labels; /* instruction, or -1 while not placed */
	bool failed;		 /* no memory, or a jump too far */
};

void ray_piece_deinit(struct ray_piece *p);
void ray_piece_emit(struct ray_piece *p, struct bpf_insn insn);
uint32_t ray_piece_label(struct ray_piece *p);
void ray_piece_place(struct ray_piece *p, uint32_t label);
/* insn is a jump; its offset is filled by ray_piece_finish(). */
void ray_piece_jump(struct ray_piece *p, struct bpf_insn insn, uint32_t label);
void ray_piece_call_runtime(struct ray_piece *p, const char *function);
void ray_piece_call_piece(struct ray_piece *p, const struct ray_piece *piece);
/* The instructions of a finished piece but for the first ones, which no reference is in, here: where it would return it goes to end. */
void ray_piece_inline(struct ray_piece *p, const struct ray_piece *piece, uint32_t head, uint32_t end);
void ray_piece_load_piece(struct ray_piece *p, uint8_t reg, const struct ray_piece *piece);
void ray_piece_load_map(struct ray_piece *p, uint8_t reg, uint32_t map);
/* The address of the one element of an array map, plus offset. */
void ray_piece_load_map_value(struct ray_piece *p, uint8_t reg, uint32_t map, uint32_t offset);
void ray_piece_load_pc(struct ray_piece *p, uint8_t reg, int32_t ahead); /* RAY_REF_PC */
void ray_piece_load_const(struct ray_piece *p, uint8_t reg, uint32_t constant);
void ray_piece_load_u64(struct ray_piece *p, uint8_t reg, uint64_t value); /* one or two instructions */
bool ray_piece_finish(struct ray_piece *p);				   /* resolves jumps; false: failed */

/* Instructions, named as the kernel's own macros name them. */
#define RAY_INSN(code_, dst_, src_, off_, imm_) \
	((struct bpf_insn){ .code = (code_), .dst_reg = (dst_), .src_reg = (src_), .off = (off_), .imm = (imm_) })
#define RAY_MOV_REG(dst, src) RAY_INSN(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define RAY_MOV32_REG(dst, src) RAY_INSN(BPF_ALU | BPF_MOV | BPF_X, dst, src, 0, 0)
#define RAY_MOV_IMM(dst, imm) RAY_INSN(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm)
#define RAY_ALU_REG(op, dst, src) RAY_INSN(BPF_ALU64 | (op) | BPF_X, dst, src, 0, 0)
#define RAY_ALU_IMM(op, dst, imm) RAY_INSN(BPF_ALU64 | (op) | BPF_K, dst, 0, 0, imm)
#define RAY_LOAD(size, dst, src, off) RAY_INSN(BPF_LDX | (size) | BPF_MEM, dst, src, off, 0)
#define RAY_STORE(size, dst, src, off) RAY_INSN(BPF_STX | (size) | BPF_MEM, dst, src, off, 0)
#define RAY_STORE_IMM(size, dst, off, imm) RAY_INSN(BPF_ST | (size) | BPF_MEM, dst, 0, off, imm)
#define RAY_ATOMIC(size, op, dst, src, off) RAY_INSN(BPF_STX | (size) | BPF_ATOMIC, dst, src, off, op)
#define RAY_JUMP_IMM(op, dst, imm) RAY_INSN(BPF_JMP | (op) | BPF_K, dst, 0, 0, imm)
#define RAY_JUMP_REG(op, dst, src) RAY_INSN(BPF_JMP | (op) | BPF_X, dst, src, 0, 0)
#define RAY_JUMP_ALWAYS RAY_INSN(BPF_JMP | BPF_JA, 0, 0, 0, 0)
#define RAY_CALL_HELPER(id) RAY_INSN(BPF_JMP | BPF_CALL, 0, 0, 0, id)
#define RAY_EXIT_INSN RAY_INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

#endif
