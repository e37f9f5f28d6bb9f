/* decode.h - one x86-64 instruction, by Zydis. For the files of src/probe that look at code. SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_DECODE_H
#define RAY_PROBE_DECODE_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* operands has room for ZYDIS_MAX_OPERAND_COUNT. False when the bytes are no instruction. */
bool ray_decode(const uint8_t *code, size_t size, ZydisDecodedInstruction *insn, ZydisDecodedOperand *operands);

#endif
