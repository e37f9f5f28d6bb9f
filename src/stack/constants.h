/* constants.h - from a node binary to what src/v8 must know of its V8. SPDX-License-Identifier: MIT
 *
 * Reads the v8dbg_* symbols of the file, which survive stripping, and two tables of V8's own (the lengths of bytecodes,
 * the operands of translations), whose symbols may not, in one pass over the symbols; src/v8 reads no files. */
#ifndef RAY_STACK_CONSTANTS_H
#define RAY_STACK_CONSTANTS_H

#include "target/node.h"
#include "v8/layout.h"

struct ray_constants {
	struct ray_v8_layout *layout;
	uint8_t *bytecode_sizes;       /* three rows, one per operand scale; NULL when the binary does not tell */
	size_t bytecode_count;	       /* of a row */
	int32_t *translation_operands; /* of each opcode; NULL when the binary does not tell */
	size_t translation_opcodes;
};

/* RAY_UNREADABLE, naming what is missing, when V8's layout cannot be told. */
RAY_MUST_USE struct ray_error *ray_constants_read(struct ray_elf *e, uint32_t v8, struct ray_constants *ret);
void ray_constants_deinit(struct ray_constants *c);

#endif
