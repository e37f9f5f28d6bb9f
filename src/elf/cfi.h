/* cfi.h - call frame information: which rules restore the caller's registers at a pc. For src/elf only.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_ELF_CFI_H
#define RAY_ELF_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/unwind.h"

enum ray_cfi_kind {
	RAY_CFI_UNSPECIFIED, /* the ABI decides */
	RAY_CFI_UNDEFINED,
	RAY_CFI_SAME,
	RAY_CFI_OFFSET,	    /* in memory at CFA + offset */
	RAY_CFI_VAL_OFFSET, /* is CFA + offset */
	RAY_CFI_REGISTER,   /* in another register; for the CFA: register + offset */
	RAY_CFI_EXPR,	    /* in memory at what the expression yields */
	RAY_CFI_VAL_EXPR,   /* is what the expression yields */
};

struct ray_cfi_rule {
	enum ray_cfi_kind kind;
	uint32_t reg;
	int64_t offset;
	const uint8_t *expr;
	size_t expr_size;
};

struct ray_cfi_row {
	struct ray_cfi_rule cfa; /* REGISTER or VAL_EXPR */
	struct ray_cfi_rule reg[RAY_UNWIND_REGS];
	uint32_t return_column; /* below RAY_UNWIND_REGS */
	bool is_signal_frame;
};

/* A frame description entry and what it takes from its CIE. */
struct ray_fde {
	uint64_t start, end; /* vaddr */
	const uint8_t *program, *program_end;
	const uint8_t *initial, *initial_end;
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_column;
	uint8_t encoding; /* of addresses */
	bool is_sized, is_signal_frame;
	uint64_t cie; /* which one that was: its offset, plus 1; 0: none was read */
};

struct ray_unwinder;

struct ray_unwinder *ray_unwinder_create(struct ray_elf *e); /* NULL if there are no tables */
void ray_unwinder_free(struct ray_unwinder *u);
/* OK, NO_ROW or BAD. */
enum ray_unwind_result ray_unwinder_find(const struct ray_unwinder *u, uint64_t vaddr, struct ray_fde *ret);
/* The rules that hold at vaddr, which the entry covers; OK or BAD. */
enum ray_unwind_result ray_cfi_run(const struct ray_unwinder *u, const struct ray_fde *fde, uint64_t vaddr,
				   struct ray_cfi_row *ret);
/* Where a byte of .eh_frame lies, as a vaddr. */
uint64_t ray_unwinder_vaddr(const struct ray_unwinder *u, const uint8_t *at);

/* The row for a vaddr of the file. */
enum ray_unwind_result ray_cfi_find(struct ray_elf *e, uint64_t vaddr, struct ray_cfi_row *ret);

/* Calls each() for all rows of the file, by address, until it returns false. Of the registers a row tells only rbp and the return address. Entries
 * that are broken are left out, and all that follows when the file makes much more work than it is long. */
void ray_cfi_each(struct ray_elf *e,
		  bool (*each)(uint64_t start, uint64_t end, const struct ray_cfi_row *row, void *arg), void *arg);
size_t ray_unwinder_size(const struct ray_unwinder *u); /* of its tables in bytes */
/* Entry number i by address; NO_ROW behind the last. ret holds the one before, or zeros: most have the same CIE. */
enum ray_unwind_result ray_unwinder_entry(const struct ray_unwinder *u, size_t i, struct ray_fde *ret);

/* Evaluates a DWARF expression; initial, if not NULL, is pushed first (the CFA). OK, FAULT or BAD. */
enum ray_unwind_result ray_expr_run(const uint8_t *bytes, size_t size, const struct ray_unwind_regs *regs,
				    uint64_t bias, const struct ray_reader *memory, const uint64_t *initial,
				    uint64_t *ret);

struct ray_cursor;
/* Reads an address in one of the encodings of .eh_frame; at is where c->at lies, as a vaddr. */
uint64_t ray_cfi_address(struct ray_cursor *c, uint8_t encoding, uint64_t at);

#endif
