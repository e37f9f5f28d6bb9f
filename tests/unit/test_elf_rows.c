/* test_elf_rows.c - the rows for the walker in the kernel, against the interpreter that made them; and the walker's own
 * steps, over this very process. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <execinfo.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "elf/cfi.h"
#include "elf/rows.h"

static int read_own(void *to, size_t size, uint64_t address)
{
	struct iovec local = { to, size }, remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -1;
}

#define RAY_WALK_READ(memory, to, size, address) ((void)(memory), read_own(to, size, address))
#include "kern/unwind.h"

/* As the kernel looks it up: by the page, then in between. */
static const struct ray_unwind_row *find_row(const struct ray_rows *r, uint64_t vaddr)
{
	uint64_t start = vaddr - r->base, page = start >> RAY_PAGE_SHIFT;
	uint32_t low, high;

	if (vaddr < r->base || page + 1 >= r->pages.n)
		return NULL;
	low = r->pages.at[page];
	high = r->pages.at[page + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (r->rows.at[middle].start <= start)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &r->rows.at[low - 1] : NULL;
}

static struct ray_elf *open_libc(void)
{
	struct ray_elf *e;
	struct link_map *map = NULL;

	for (map = _r_debug.r_map; map; map = map->l_next) {
		if (strstr(map->l_name, "/libc.so")) {
			assert_null(ray_elf_open(map->l_name, &e));
			return e;
		}
	}
	fail_msg("no libc");
	return NULL;
}

static void check_row(struct ray_elf *e, const struct ray_unwind_row *row, uint64_t vaddr)
{
	struct ray_cfi_row cfi;

	if (ray_cfi_find(e, vaddr, &cfi) != RAY_UNWIND_OK) {
		/* Padding keeps the row of the function before it. */
		return;
	}
	assert_non_null(row);
	if (cfi.is_signal_frame) {
		assert_int_equal(row->kind, RAY_ROW_SIGNAL);
		return;
	}
	if (row->kind == RAY_ROW_SP || row->kind == RAY_ROW_FP) {
		assert_int_equal(cfi.cfa.kind, RAY_CFI_REGISTER);
		assert_int_equal(cfi.cfa.reg, row->kind == RAY_ROW_SP ? RAY_UNWIND_RSP : RAY_UNWIND_RBP);
		assert_int_equal(cfi.cfa.offset, row->cfa * 8);
		if (cfi.reg[RAY_UNWIND_RBP].kind == RAY_CFI_OFFSET)
			assert_int_equal(-cfi.reg[RAY_UNWIND_RBP].offset, row->saved * 8);
		else if (cfi.reg[RAY_UNWIND_RBP].kind == RAY_CFI_UNSPECIFIED)
			assert_int_equal(row->saved, RAY_ROW_FP_SAME);
	} else {
		assert_int_not_equal(row->kind, RAY_ROW_NONE);
	}
}

static void rows_say_what_the_tables_say(void **state)
{
	ray_auto(ray_elf, e) = open_libc();
	struct ray_rows rows;
	uint64_t end;
	size_t unsupported = 0;

	(void)state;
	assert_null(ray_rows_make(e, &rows));
	assert_true(rows.rows.n > 1000);
	end = rows.base + rows.rows.at[rows.rows.n - 1].start;
	for (uint64_t vaddr = rows.base; vaddr < end; vaddr += 7)
		check_row(e, find_row(&rows, vaddr), vaddr);
	for (size_t i = 1; i < rows.rows.n; i++) {
		assert_true(rows.rows.at[i].start > rows.rows.at[i - 1].start);
		unsupported += rows.rows.at[i].kind == RAY_ROW_UNSUPPORTED;
	}
	assert_int_equal(rows.rows.at[rows.rows.n - 1].kind, RAY_ROW_NONE);
	assert_true(unsupported * 100 < rows.rows.n);
	ray_rows_deinit(&rows);
}

static void a_file_without_tables_has_no_rows(void **state)
{
	Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_ehsize = sizeof(head) };
	ray_auto(ray_elf, e) = NULL;
	struct ray_rows rows;

	(void)state;
	assert_null(ray_elf_open_image(&head, sizeof(head), "empty", &e));
	assert_null(ray_rows_make(e, &rows));
	assert_int_equal(rows.rows.n, 0);
	assert_int_equal(rows.pages.n, 0);
	ray_rows_deinit(&rows);
}

/* ---- steps ---- */

enum { SEEN = 64 };
static uint64_t seen[SEEN];
static size_t seen_count;
static void *expected[SEEN];
static int expected_count;

struct loaded {
	struct ray_elf *elf;
	struct ray_rows rows;
	uint64_t bias, start, end;
};
static struct loaded loaded[32];
static size_t loaded_count;

static int load_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct loaded *l = &loaded[loaded_count];
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";

	(void)size;
	(void)arg;
	if (loaded_count == 32 || access(path, R_OK))
		return 0;
	l->bias = info->dlpi_addr;
	l->start = UINT64_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		l->start = l->bias + p->p_vaddr;
		l->end = l->start + p->p_memsz;
	}
	assert_null(ray_elf_open(path, &l->elf));
	assert_null(ray_rows_make(l->elf, &l->rows));
	loaded_count++;
	return 0;
}

static const struct ray_unwind_row *row_at(uint64_t pc)
{
	for (size_t i = 0; i < loaded_count; i++) {
		if (pc >= loaded[i].start && pc < loaded[i].end)
			return find_row(&loaded[i].rows, pc - loaded[i].bias);
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	struct ray_place p = { .exact = 1 };
	uint64_t rip, rsp, rbp;

	(void)a;
	(void)b;
	if (seen_count)
		return 0;
	expected_count = backtrace(expected, SEEN);
	asm volatile("lea 0(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2" : "=r"(rip), "=r"(rsp), "=r"(rbp));
	p.pc = rip;
	p.sp = rsp;
	p.fp = rbp;
	while (seen_count < SEEN) {
		const struct ray_unwind_row *row = row_at(p.exact ? p.pc : p.pc - 1);

		seen[seen_count++] = p.pc;
		if (!row || ray_step_by_row(NULL, &p, row->kind, row->cfa, row->saved) != RAY_STEP_OK)
			break;
	}
	return 0;
}

static void steps_go_through_a_library_without_frame_pointers(void **state)
{
	int numbers[9] = { 5, 3, 9, 1 };

	(void)state;
	dl_iterate_phdr(load_one, NULL);
	qsort(numbers, 9, sizeof(numbers[0]), compare);
	assert_true(expected_count > 4);
	assert_true(seen_count > 4);
	/* The innermost differ: where in compare() each was asked, and a sanitizer's own backtrace(). */
	for (size_t i = 1; i < seen_count; i++)
		assert_ptr_equal((void *)(uintptr_t)seen[seen_count - i], expected[(size_t)expected_count - i]);
	for (size_t i = 0; i < loaded_count; i++) {
		ray_rows_deinit(&loaded[i].rows);
		ray_elf_close(loaded[i].elf);
	}
}

static void a_caller_below_is_refused(void **state)
{
	uint64_t stack[8] = { 0 };
	struct ray_place p = { .pc = 1, .sp = (uint64_t)(uintptr_t)&stack[4], .fp = (uint64_t)(uintptr_t)&stack[1] };

	(void)state;
	assert_int_equal(ray_step_by_row(NULL, &p, RAY_ROW_FP, 2, 2), RAY_STEP_BAD);
	assert_int_equal(ray_step_by_row(NULL, &p, RAY_ROW_SP, 1, 0), RAY_STEP_END); /* the return address is 0 */
	assert_int_equal(ray_step_by_row(NULL, &p, RAY_ROW_UNSUPPORTED, 0, 0), RAY_STEP_BAD);
	assert_int_equal(ray_step_by_row(NULL, &p, RAY_ROW_END, 0, 0), RAY_STEP_END);
	p.sp = 8;
	p.fp = 16;
	assert_int_equal(ray_step_by_row(NULL, &p, RAY_ROW_FP_DEREF, 1, 0), RAY_STEP_FAULT);
	assert_int_equal(ray_step_by_row(NULL, &p, RAY_ROW_SP, 4, 0), RAY_STEP_FAULT);
	assert_int_equal(p.sp, 8);
}

static void words_change_the_hash_wherever_they_stand(void **state)
{
	uint64_t a = ray_hash_add(ray_hash_add(1, 2), 3), b = ray_hash_add(ray_hash_add(1, 3), 2);

	(void)state;
	assert_true(a != b);
	assert_true(ray_hash_add(a, 0) != a);
	for (int i = 0; i < 64; i++)
		assert_true(ray_hash_add(7, 1ull << i) != ray_hash_add(7, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_say_what_the_tables_say),
		cmocka_unit_test(a_file_without_tables_has_no_rows),
		cmocka_unit_test(steps_go_through_a_library_without_frame_pointers),
		cmocka_unit_test(a_caller_below_is_refused),
		cmocka_unit_test(words_change_the_hash_wherever_they_stand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
