/* disasm.h - instructions as text, in the layout of DTrace's -S.
 * SPDX-License-Identifier: MIT
 *
 * Knows instructions only; what they are for is print_code.c's. */
#ifndef RAY_ENGINE_DISASM_H
#define RAY_ENGINE_DISASM_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/auto.h"

/* One line (two for a constant of 64 bits). remark, if any, is what the linker puts in here. Returns how many instructions it was. */
uint32_t ray_insn_print(FILE *out, const struct bpf_insn *insn, uint32_t at, bool is_last, const char *remark);

#endif
