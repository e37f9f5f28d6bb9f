/* rows.h - all unwind rules of a file, as the rows that the walker in the kernel uses.
 * SPDX-License-Identifier: MIT
 *
 * Made from .eh_frame by the same interpreter that unwinds in user space. Rules that a row cannot express become
 * RAY_ROW_UNSUPPORTED; where the file says nothing there is a RAY_ROW_NONE. */
#ifndef RAY_ELF_ROWS_H
#define RAY_ELF_ROWS_H

#include "base/vec.h"
#include "elf/elf.h"
#include "kern/wire.h"

struct ray_rows {
	uint64_t base; /* vaddr that `start` counts from; a whole number of pages */
	RAY_VEC(struct ray_unwind_row) rows;
	RAY_VEC(uint32_t) pages; /* for each page of starts the number of its first row; one more at the end */
};

/* A file without tables has no rows. */
RAY_MUST_USE struct ray_error *ray_rows_make(struct ray_elf *e, struct ray_rows *ret);
void ray_rows_deinit(struct ray_rows *r);

#endif
