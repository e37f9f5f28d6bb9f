/* instruction.c - see instruction.h. Decoding is Zydis's. SPDX-License-Identifier: MIT */
#include "probe/instruction.h"

#include "probe/decode.h"

enum { LOOK_AHEAD = 8 /* instructions: further on, arguments are hardly ever still in place */ };

bool ray_decode(const uint8_t *code, size_t size, ZydisDecodedInstruction *insn, ZydisDecodedOperand *operands)
{
	static ZydisDecoder decoder;
	static bool is_ready;

	if (!is_ready)
		is_ready = ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
	return is_ready && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, insn, operands));
}

/* What arch/x86's uprobes emulate on every kernel we support: push of a register, the one-byte nop, and relative
 * calls and jumps. A jump with an operand-size prefix is not among them. */
static bool is_emulated(const ZydisDecodedInstruction *insn)
{
	if (insn->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)
		return false;
	if (insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		return (insn->opcode >= 0x50 && insn->opcode <= 0x57) ||
		       (insn->opcode >= 0x70 && insn->opcode <= 0x7f) || (insn->opcode == 0x90 && insn->length == 1) ||
		       insn->opcode == 0xe8 || insn->opcode == 0xe9 || insn->opcode == 0xeb;
	return insn->opcode_map == ZYDIS_OPCODE_MAP_0F && insn->opcode >= 0x80 && insn->opcode <= 0x8f;
}

static bool is_branch(const ZydisDecodedInstruction *insn)
{
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return true;
	default:
		return false;
	}
}

/* A register that a script can see as an argument, or by which it finds one. */
static bool is_argument(ZydisRegister reg, int arguments)
{
	static const ZydisRegister order[RAY_REGISTER_ARGUMENTS] = { ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI,
								     ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RCX,
								     ZYDIS_REGISTER_R8,	 ZYDIS_REGISTER_R9 };
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	for (int i = 0; i < arguments && i < RAY_REGISTER_ARGUMENTS; i++)
		if (whole == order[i])
			return true;
	return whole == ZYDIS_REGISTER_RSP;
}

/* Memory counts too: what an argument points to must still be what the caller put there. */
static bool leaves_arguments(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands, int arguments)
{
	size_t i;

	for (i = 0; i < insn->operand_count; i++) {
		if (!(operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return false;
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER && is_argument(operands[i].reg.value, arguments))
			return false;
	}
	return true;
}

/* Whether something in the function jumps to [0, last]: then a probe there would fire again without a call. */
static bool is_jumped_to(const uint8_t *code, size_t size, uint64_t last)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZyanU64 to;
	size_t at;

	for (at = 0; at < size && ray_decode(code + at, size - at, &insn, operands); at += insn.length)
		if (insn.operand_count && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		    operands[0].imm.is_relative && insn.meta.category != ZYDIS_CATEGORY_CALL &&
		    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&insn, &operands[0], at, &to)) && to <= last)
			return true;
	return at < size; /* it could not be read to its end */
}

uint64_t ray_instruction_entry(const uint8_t *code, size_t size, int arguments)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	size_t at = 0;
	int i;

	for (i = 0; i < LOOK_AHEAD && at < size && ray_decode(code + at, size - at, &insn, operands); i++) {
		if (is_emulated(&insn))
			return at && !is_jumped_to(code, size, at) ? at : 0;
		if (is_branch(&insn) || !leaves_arguments(&insn, operands, arguments))
			break;
		at += insn.length;
	}
	return 0;
}

/* Comparisons write nothing but flags. */
static bool only_compares(const ZydisDecodedInstruction *insn)
{
	return insn->mnemonic == ZYDIS_MNEMONIC_CMP || insn->mnemonic == ZYDIS_MNEMONIC_TEST;
}

size_t ray_instruction_after_calls(const uint8_t *code, size_t size, uint64_t *ret, size_t most)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	bool is_after = false;
	size_t at, n = 0;

	for (at = 0; at < size && ray_decode(code + at, size - at, &insn, operands); at += insn.length) {
		if (is_after && is_emulated(&insn)) {
			if (n == most)
				return 0;
			ret[n++] = at;
			is_after = false;
		} else if (is_after && !only_compares(&insn)) {
			return 0;
		}
		is_after |= insn.mnemonic == ZYDIS_MNEMONIC_SYSCALL;
	}
	return is_after || at < size ? 0 : n;
}

bool ray_instruction_starts_at(const uint8_t *code, size_t size, uint64_t offset)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	size_t at = 0;

	while (at < offset && at < size && ray_decode(code + at, size - at, &insn, operands))
		at += insn.length;
	return at == offset && at < size && ray_decode(code + at, size - at, &insn, operands);
}

bool ray_instruction_is_cheap(const uint8_t *code, size_t size)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;

	return ray_decode(code, size, &insn, operands) && is_emulated(&insn);
}
