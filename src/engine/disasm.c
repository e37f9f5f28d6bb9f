/* disasm.c - generated code as text: -S. See disasm.h. SPDX-License-Identifier: MIT */
#include "engine/disasm.h"

#include <string.h>

static const char *const registers[16] = { "%r0", "%r1", "%r2", "%r3", "%r4", "%r5", "%r6", "%r7",
					   "%r8", "%r9", "%fp", "%?",  "%?",  "%?",  "%?",  "%?" };
static const char *const alu_names[16] = { "add", "sub", "mul", "div", "or",   "and", "lsh", "rsh",
					   "neg", "mod", "xor", "mov", "arsh", "end", NULL,  NULL };
static const char *const jump_names[16] = { "ja",   "jeq",  "jgt", "jge", "jset", "jne",  "jsgt", "jsge",
					    "call", "exit", "jlt", "jle", "jslt", "jsle", NULL,	  NULL };
static const char size_letters[4][3] = { "w", "h", "b", "dw" }; /* by BPF_SIZE >> 3 */

#define HELPER_NAME(name) [BPF_FUNC_##name] = #name
static const char *const helpers[] = { __BPF_FUNC_MAPPER(HELPER_NAME) };
#undef HELPER_NAME

/* With a remark in a column of its own. */
static void put(FILE *out, const char *text, const char *remark)
{
	if (remark && *remark)
		fprintf(out, "%-30s! %s\n", text, remark);
	else
		fprintf(out, "%s\n", text);
}

static void print_alu(FILE *out, const struct bpf_insn *in, const char *remark)
{
	const char *name = alu_names[BPF_OP(in->code) >> 4];
	char text[64];

	if (BPF_OP(in->code) == BPF_NEG)
		snprintf(text, sizeof(text), "%-4s %s", name, registers[in->dst_reg]);
	else if (BPF_OP(in->code) == BPF_END)
		snprintf(text, sizeof(text), "%-4s %s, %d", BPF_SRC(in->code) == BPF_TO_BE ? "tobe" : "tole",
			 registers[in->dst_reg], in->imm);
	else if (!name)
		snprintf(text, sizeof(text), "(illegal opcode)");
	else if (BPF_SRC(in->code) == BPF_X)
		snprintf(text, sizeof(text), "%-4s %s, %s", name, registers[in->dst_reg], registers[in->src_reg]);
	else
		snprintf(text, sizeof(text), "%-4s %s, %d", name, registers[in->dst_reg], in->imm);
	put(out, text, remark);
}

static void print_call(FILE *out, const struct bpf_insn *in, uint32_t at, const char *remark)
{
	char text[64], where[32];

	if (in->src_reg == BPF_PSEUDO_CALL && remark) {
		fprintf(out, "call %s\n", remark);
		return;
	}
	if (in->src_reg == BPF_PSEUDO_CALL) {
		snprintf(text, sizeof(text), "call %d", in->imm);
		snprintf(where, sizeof(where), "-> %03u", at + 1 + (uint32_t)in->imm);
		put(out, text, where);
	} else if (in->imm >= 0 && (size_t)in->imm < RAY_COUNT(helpers) && helpers[in->imm]) {
		fprintf(out, "call bpf_%s\n", helpers[in->imm]);
	} else {
		fprintf(out, "call %d\n", in->imm);
	}
}

static void print_jump(FILE *out, const struct bpf_insn *in, uint32_t at, const char *remark)
{
	uint8_t op = BPF_OP(in->code);
	const char *name = jump_names[op >> 4];
	char text[64], where[32];

	if (op == BPF_CALL) {
		print_call(out, in, at, remark);
		return;
	}
	if (op == BPF_EXIT || !name) {
		fprintf(out, "%s\n", name ? name : "(illegal opcode)");
		return;
	}
	snprintf(where, sizeof(where), "-> %03d", (int)at + 1 + in->off);
	if (op == BPF_JA)
		snprintf(text, sizeof(text), "%-4s %d", name, in->off);
	else if (BPF_SRC(in->code) == BPF_X)
		snprintf(text, sizeof(text), "%-4s %s, %s, %d", name, registers[in->dst_reg], registers[in->src_reg],
			 in->off);
	else if (op == BPF_JSGT || op == BPF_JSGE || op == BPF_JSLT || op == BPF_JSLE)
		snprintf(text, sizeof(text), "%-4s %s, %d, %d", name, registers[in->dst_reg], in->imm, in->off);
	else
		snprintf(text, sizeof(text), "%-4s %s, %u, %d", name, registers[in->dst_reg], (unsigned)in->imm,
			 in->off);
	put(out, text, where);
}

static void print_memory(FILE *out, const struct bpf_insn *in, const char *remark)
{
	const char *size = size_letters[BPF_SIZE(in->code) >> 3];
	char text[64];

	if (BPF_CLASS(in->code) == BPF_LDX)
		snprintf(text, sizeof(text), "ld%-2s %s, [%s%+d]", size, registers[in->dst_reg], registers[in->src_reg],
			 in->off);
	else if (BPF_CLASS(in->code) == BPF_ST)
		snprintf(text, sizeof(text), "st%-2s [%s%+d], %d", size, registers[in->dst_reg], in->off, in->imm);
	else if (BPF_MODE(in->code) == BPF_ATOMIC && in->imm != BPF_ADD)
		snprintf(text, sizeof(text), "atomic%s [%s%+d], %s, 0x%x", size, registers[in->dst_reg], in->off,
			 registers[in->src_reg], (unsigned)in->imm);
	else
		snprintf(text, sizeof(text), "%s%-2s [%s%+d], %s", BPF_MODE(in->code) == BPF_ATOMIC ? "xadd" : "st",
			 size, registers[in->dst_reg], in->off, registers[in->src_reg]);
	put(out, text, remark);
}

static void print_prefix(FILE *out, uint32_t at, const struct bpf_insn *in)
{
	fprintf(out, "%04u %05u: %02hhx %01hhx %01hhx %04hx %08x    ", at, at * 8, in->code, (uint8_t)in->dst_reg,
		(uint8_t)in->src_reg, (uint16_t)in->off, (unsigned)in->imm);
}

static void print_wide(FILE *out, const struct bpf_insn *in, uint32_t at, bool is_whole, const char *remark)
{
	uint64_t value = (uint32_t)in[0].imm;
	char text[64];

	if (is_whole)
		value |= (uint64_t)(uint32_t)in[1].imm << 32;
	snprintf(text, sizeof(text), "lddw %s, 0x%llx", registers[in->dst_reg], (unsigned long long)value);
	put(out, text, remark);
	if (!is_whole)
		return;
	print_prefix(out, at + 1, &in[1]);
	fprintf(out, "\n");
}

uint32_t ray_insn_print(FILE *out, const struct bpf_insn *in, uint32_t at, bool is_last, const char *remark)
{
	print_prefix(out, at, in);
	switch (BPF_CLASS(in->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		print_alu(out, in, remark);
		return 1;
	case BPF_JMP:
	case BPF_JMP32:
		print_jump(out, in, at, remark);
		return 1;
	case BPF_LD:
		if (in->code != (BPF_LD | BPF_IMM | BPF_DW)) {
			fprintf(out, "(illegal opcode)\n");
			return 1;
		}
		print_wide(out, in, at, !is_last, remark);
		return 2;
	default:
		print_memory(out, in, remark);
		return 1;
	}
}
