/* rows.c - see rows.h. SPDX-License-Identifier: MIT */
#include "elf/rows.h"

#include <dwarf.h>
#include <string.h>

#include "elf/cfi.h"
#include "elf/impl.h"

/* Gaps that are smaller are padding between functions, where nothing runs. */
enum { PADDING = 16, PAGE = 1 << RAY_PAGE_SHIFT, MAX_CFA = UINT16_MAX, MAX_SAVED = 253 };

struct maker {
	struct ray_rows *rows;
	uint64_t end; /* of what the rows cover so far */
	bool failed;
};

/* The rules that gcc writes for a realigned stack (what stands at rbp - n), and linkers for .plt. */
static bool compact_expression(const struct ray_cfi_rule *rule, struct ray_unwind_row *row)
{
	static const uint8_t plt[] = { DW_OP_breg7, 8,	      DW_OP_breg16, 0,	       DW_OP_lit15, DW_OP_and,
				       DW_OP_lit11, DW_OP_ge, DW_OP_lit3,   DW_OP_shl, DW_OP_plus };
	const uint8_t *e = rule->expr;

	if (rule->expr_size == sizeof(plt) && !memcmp(e, plt, sizeof(plt))) {
		row->kind = RAY_ROW_PLT;
		return true;
	}
	/* DW_OP_breg6 -n; DW_OP_deref, with n in one signed LEB128 byte */
	if (rule->expr_size == 3 && e[0] == DW_OP_breg6 && e[1] >= 0x40 && e[1] < 0x80 && e[2] == DW_OP_deref &&
	    !((0x80 - e[1]) % 8)) {
		row->kind = RAY_ROW_FP_DEREF;
		row->cfa = (uint16_t)((0x80 - e[1]) / 8);
		return true;
	}
	return false;
}

static bool compact_cfa(const struct ray_cfi_rule *rule, struct ray_unwind_row *row)
{
	if (rule->kind == RAY_CFI_VAL_EXPR)
		return compact_expression(rule, row);
	if (rule->kind != RAY_CFI_REGISTER || rule->offset < 0 || rule->offset % 8 || rule->offset / 8 > MAX_CFA ||
	    (rule->reg != RAY_UNWIND_RSP && rule->reg != RAY_UNWIND_RBP))
		return false;
	row->kind = rule->reg == RAY_UNWIND_RSP ? RAY_ROW_SP : RAY_ROW_FP;
	row->cfa = (uint16_t)(rule->offset / 8);
	return true;
}

static bool compact_saved(const struct ray_cfi_rule *rule, struct ray_unwind_row *row)
{
	switch (rule->kind) {
	case RAY_CFI_UNSPECIFIED:
	case RAY_CFI_SAME:
		row->saved = RAY_ROW_FP_SAME;
		return true;
	case RAY_CFI_OFFSET:
		if (rule->offset >= 0 || rule->offset % 8 || -rule->offset / 8 > MAX_SAVED)
			return false;
		row->saved = (uint8_t)(-rule->offset / 8);
		return true;
	case RAY_CFI_EXPR: /* saved relative to rbp itself, in functions that realign the stack: DW_OP_breg6 0 */
		if (row->kind != RAY_ROW_FP_DEREF || rule->expr_size != 2 || rule->expr[0] != DW_OP_breg6 ||
		    rule->expr[1])
			return false;
		row->saved = RAY_ROW_FP_AT_FP;
		return true;
	default:
		row->saved = RAY_ROW_FP_LOST;
		return true;
	}
}

static void compact(const struct ray_cfi_row *cfi, struct ray_unwind_row *row)
{
	const struct ray_cfi_rule *address = &cfi->reg[cfi->return_column];

	if (cfi->is_signal_frame) {
		row->kind = RAY_ROW_SIGNAL;
		return;
	}
	if (address->kind == RAY_CFI_UNDEFINED || address->kind == RAY_CFI_UNSPECIFIED) {
		row->kind = RAY_ROW_END;
		return;
	}
	if (address->kind == RAY_CFI_OFFSET && address->offset == -8 && compact_cfa(&cfi->cfa, row) &&
	    compact_saved(&cfi->reg[RAY_UNWIND_RBP], row))
		return;
	*row = (struct ray_unwind_row){ .start = row->start, .kind = RAY_ROW_UNSUPPORTED };
}

static void add_row(struct maker *m, struct ray_unwind_row row)
{
	size_t n = m->rows->rows.n;
	const struct ray_unwind_row *last = n ? &m->rows->rows.at[n - 1] : NULL;

	if (last && last->kind == row.kind && last->cfa == row.cfa && last->saved == row.saved)
		return;
	if (!ray_vec_push(&m->rows->rows, row))
		m->failed = true;
}

static bool on_row(uint64_t start, uint64_t end, const struct ray_cfi_row *cfi, void *arg)
{
	struct ray_unwind_row row = { 0 };
	struct maker *m = arg;

	if (!m->rows->rows.n && !m->end) {
		m->rows->base = start & ~(uint64_t)(PAGE - 1);
		m->end = start;
	}
	/* Entries come by address; one that lies about where it is, is left out, as is what 32 bits cannot count. */
	if (start < m->end || end <= start || end - m->rows->base > UINT32_MAX)
		return true;
	if (start - m->end >= PADDING)
		add_row(m, (struct ray_unwind_row){ .start = (uint32_t)(m->end - m->rows->base) });
	row.start = (uint32_t)(start - m->rows->base);
	compact(cfi, &row);
	add_row(m, row);
	m->end = end;
	return !m->failed;
}

static bool make_pages(struct ray_rows *r)
{
	uint32_t last = r->rows.n ? r->rows.at[r->rows.n - 1].start >> RAY_PAGE_SHIFT : 0, page = 0;

	for (size_t i = 0; i < r->rows.n; i++) {
		for (; page <= r->rows.at[i].start >> RAY_PAGE_SHIFT; page++) {
			if (!ray_vec_push(&r->pages, (uint32_t)i))
				return false;
		}
	}
	return !r->rows.n || (page == last + 1 && ray_vec_push(&r->pages, (uint32_t)r->rows.n));
}

struct ray_error *ray_rows_make(struct ray_elf *e, struct ray_rows *ret)
{
	struct maker m = { .rows = ret };

	memset(ret, 0, sizeof(*ret));
	ray_cfi_each(e, on_row, &m);
	if (ret->rows.n)
		add_row(&m, (struct ray_unwind_row){ .start = (uint32_t)(m.end - ret->base) });
	if (m.failed || !make_pages(ret)) {
		ray_rows_deinit(ret);
		return &ray_enomem;
	}
	return NULL;
}

void ray_rows_deinit(struct ray_rows *r)
{
	ray_vec_free(&r->rows);
	ray_vec_free(&r->pages);
}
