/* test_elf_unwind.c - native unwinding: of this very process against backtrace(3), and the rules
 * against libdw's. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include "elf/cfi.h"
#include "elf/unwind.h"

enum { FRAMES = 64 };

/* --- this process as a target --- */

static size_t read_self(void *arg, uint64_t address, void *buffer, size_t size)
{
	struct iovec to = { buffer, size }, from = { (void *)(uintptr_t)address, size };
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	(void)arg;
	return n < 0 ? 0 : (size_t)n;
}

static const struct ray_reader self = { read_self, NULL };

struct module {
	uint64_t pc, bias;
	char path[256];
};

static int find_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module *m = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && m->pc >= start && m->pc - start < p->p_memsz) {
			m->bias = info->dlpi_addr;
			snprintf(m->path, sizeof(m->path), "%s", *info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
			return 1;
		}
	}
	return 0;
}

static enum ray_unwind_result step_self(struct ray_unwind_regs *regs, bool exact, bool *is_signal)
{
	struct module m = { .pc = regs->reg[RAY_UNWIND_PC] };
	ray_auto(ray_elf, e) = NULL;

	if (!dl_iterate_phdr(find_module, &m))
		return RAY_UNWIND_NO_ROW;
	assert_null(ray_elf_open(m.path, &e));
	return ray_unwind_step(e, m.pc - m.bias - !exact, m.bias, &self, regs, is_signal);
}

struct trace {
	void *truth[FRAMES];
	int truth_count;
	uint64_t pcs[FRAMES];
	int count;
	int signal_frames;
	enum ray_unwind_result last;
};

/* The registers of the function it is used in, at this very place. */
#define CAPTURE(r)                                                                                       \
	do {                                                                                             \
		__asm__ volatile("movq %%rbx, 24(%0)\n\tmovq %%rbp, 48(%0)\n\tmovq %%rsp, 56(%0)\n\t"    \
				 "movq %%r12, 96(%0)\n\tmovq %%r13, 104(%0)\n\tmovq %%r14, 112(%0)\n\t"  \
				 "movq %%r15, 120(%0)\n\tleaq 0(%%rip), %%rax\n\tmovq %%rax, 128(%0)"    \
				 :                                                                       \
				 : "r"(&(r)->reg)                                                        \
				 : "rax", "memory");                                                     \
		(r)->valid = 1 << 3 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15 | 1 << 16; \
	} while (0)

static __attribute__((noinline)) void take(struct trace *t)
{
	struct ray_unwind_regs regs;
	bool exact = true;

	memset(t, 0, sizeof(*t));
	CAPTURE(&regs);
	t->truth_count = backtrace(t->truth, FRAMES);
	do {
		bool is_signal = false;

		t->pcs[t->count++] = regs.reg[RAY_UNWIND_PC];
		t->last = step_self(&regs, exact, &is_signal);
		t->signal_frames += is_signal;
		exact = is_signal;
	} while (t->last == RAY_UNWIND_OK && t->count < FRAMES);
}

static void matches_backtrace(const struct trace *t)
{
	/* AddressSanitizer's wrapper of backtrace() sees itself first. */
	int extra = t->truth_count - t->count;

	assert_int_equal(t->last, RAY_UNWIND_END);
	assert_in_range(extra, 0, 1);
	assert_true(t->count > 4);
	for (int i = 1; i < t->count; i++)
		assert_int_equal(t->pcs[i], (uint64_t)t->truth[i + extra]);
}

static struct trace taken;

static void unwinds_a_plain_call_chain_to_its_end(void **state)
{
	(void)state;
	take(&taken);
	matches_backtrace(&taken);
}

static int compare_and_take(const void *a, const void *b)
{
	if (!taken.count)
		take(&taken);
	return *(const int *)a - *(const int *)b;
}

static void unwinds_through_a_callback_of_libc(void **state)
{
	int numbers[] = { 3, 1, 2 };

	(void)state;
	taken.count = 0;
	qsort(numbers, 3, sizeof(int), compare_and_take);
	matches_backtrace(&taken);
}

static void take_in_handler(int signal)
{
	(void)signal;
	take(&taken);
}

static void unwinds_through_a_signal_handler(void **state)
{
	struct sigaction action = { .sa_handler = take_in_handler }, old;

	(void)state;
	sigaction(SIGUSR1, &action, &old);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &old, NULL);
	matches_backtrace(&taken);
	assert_int_equal(taken.signal_frames, 1);
}

static void unwinds_through_a_handler_on_another_stack(void **state)
{
	struct sigaction action = { .sa_handler = take_in_handler, .sa_flags = SA_ONSTACK }, old;
	stack_t stack = { .ss_sp = malloc(1 << 18), .ss_size = 1 << 18 }, before;

	(void)state;
	assert_non_null(stack.ss_sp);
	sigaltstack(&stack, &before);
	sigaction(SIGUSR1, &action, &old);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &old, NULL);
	sigaltstack(&before, NULL);
	free(stack.ss_sp);
	matches_backtrace(&taken);
	assert_int_equal(taken.signal_frames, 1);
}

static void *thread_main(void *arg)
{
	take(arg);
	return NULL;
}

static void a_thread_ends_where_clone_left_it(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, thread_main, &taken), 0);
	pthread_join(thread, NULL);
	assert_int_equal(taken.last, RAY_UNWIND_END);
	assert_in_range(taken.count, 3, 6);
}

/* No frame pointer, a stack that moves, and a call whose return address is past the function. */
__attribute__((noinline, optimize("O2", "omit-frame-pointer"), no_sanitize_address)) static int
without_frame_pointer(int n)
{
	volatile char room[1000];

	room[n] = (char)n;
	if (n)
		return without_frame_pointer(n - 1) + room[n];
	take(&taken);
	return room[0];
}

static void unwinds_code_without_frame_pointers(void **state)
{
	(void)state;
	without_frame_pointer(10);
	matches_backtrace(&taken);
}

/* --- steps over memory that a test makes up --- */

struct fake {
	uint64_t base;
	uint64_t words[16];
};

static size_t read_fake(void *arg, uint64_t address, void *buffer, size_t size)
{
	const struct fake *f = arg;

	if (address < f->base || address - f->base >= sizeof(f->words))
		return 0;
	if (size > sizeof(f->words) - (address - f->base))
		size = sizeof(f->words) - (address - f->base);
	memcpy(buffer, (const char *)f->words + (address - f->base), size);
	return size;
}

static const char *libc_path(void)
{
	static struct module m;

	m.pc = (uint64_t)(uintptr_t)qsort;
	dl_iterate_phdr(find_module, &m);
	/* The sanitizer's own functions may stand in for libc's. */
	if (!strstr(m.path, "libc.so"))
		snprintf(m.path, sizeof(m.path), "/lib/x86_64-linux-gnu/libc.so.6");
	return m.path;
}

static void a_plt_entry_is_unwound_before_and_after_its_push(void **state)
{
	struct fake stack = { .base = 0x7000, .words = { 0x11, 0x22, 0x33 } };
	struct ray_reader memory = { read_fake, &stack };
	ray_auto(ray_elf, e) = NULL;
	const void *bytes;
	size_t size;
	uint64_t plt;

	(void)state;
	assert_null(ray_elf_open(libc_path(), &e));
	if (!ray_elf_section(e, ".plt", &bytes, &size, &plt)) {
		print_message("libc has no .plt here\n");
		skip();
	}
	for (uint64_t at = 0; at < 16; at++) {
		struct ray_unwind_regs regs = { .valid = 1 << 7 | 1 << 16 };
		bool is_signal = true;

		regs.reg[RAY_UNWIND_RSP] = 0x7000;
		regs.reg[RAY_UNWIND_PC] = 0x100000 + plt + 16 + at;
		assert_int_equal(ray_unwind_step(e, plt + 16 + at, 0x100000, &memory, &regs, &is_signal),
				 RAY_UNWIND_OK);
		assert_false(is_signal);
		assert_int_equal(regs.reg[RAY_UNWIND_PC], at >= 11 ? 0x22 : 0x11);
		assert_int_equal(regs.reg[RAY_UNWIND_RSP], at >= 11 ? 0x7010 : 0x7008);
		assert_int_equal(regs.valid, 1 << 7 | 1 << 16);
	}
}

static size_t mapping_size(unsigned long address)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start = 0, end = 0;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start == address)
			break;
	fclose(f);
	return start == address ? end - start : 0;
}

static void the_vdso_is_unwound_from_its_image(void **state)
{
	struct fake stack = { .base = 0x7000, .words = { 0x4711 } };
	struct ray_reader memory = { read_fake, &stack };
	struct ray_unwind_regs regs = { .valid = 1 << 6 | 1 << 7 | 1 << 16 };
	ray_auto(ray_elf, e) = NULL;
	struct ray_symbol s;
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);

	(void)state;
	if (!vdso) {
		print_message("there is no vdso here\n");
		skip();
	}
	assert_null(ray_elf_open_image((const void *)vdso, mapping_size(vdso), "[vdso]", &e));
	assert_true(ray_elf_find_dynamic(e, "__vdso_clock_gettime", &s));
	regs.reg[RAY_UNWIND_RBP] = 0xbb;
	regs.reg[RAY_UNWIND_RSP] = 0x7000;
	regs.reg[RAY_UNWIND_PC] = vdso + s.value;
	assert_int_equal(ray_unwind_step(e, s.value, vdso, &memory, &regs, NULL), RAY_UNWIND_OK);
	assert_int_equal(regs.reg[RAY_UNWIND_PC], 0x4711);
	assert_int_equal(regs.reg[RAY_UNWIND_RBP], 0xbb);
}

static void failures_leave_the_registers_alone(void **state)
{
	struct fake stack = { .base = 0x7000 };
	struct ray_reader memory = { read_fake, &stack };
	struct ray_unwind_regs regs = { .valid = 1 << 16 }, before;
	ray_auto(ray_elf, e) = NULL;
	struct ray_symbol s;

	(void)state;
	assert_null(ray_elf_open(libc_path(), &e));
	assert_true(ray_elf_find_dynamic(e, "qsort", &s));
	regs.reg[RAY_UNWIND_RSP] = 0x9000;
	before = regs;
	assert_int_equal(ray_unwind_step(e, 1, 0, &memory, &regs, NULL), RAY_UNWIND_NO_ROW);
	assert_int_equal(ray_unwind_step(e, ~0ull, 0, &memory, &regs, NULL), RAY_UNWIND_NO_ROW);
	assert_int_equal(ray_unwind_step(e, s.value, 0, &memory, &regs, NULL), RAY_UNWIND_BAD);
	assert_memory_equal(&regs, &before, sizeof(regs));
	regs.valid |= 1 << 7;
	before = regs;
	assert_int_equal(ray_unwind_step(e, s.value, 0, &memory, &regs, NULL), RAY_UNWIND_FAULT);
	assert_memory_equal(&regs, &before, sizeof(regs));
	regs.reg[RAY_UNWIND_RSP] = 0x7000;
	assert_int_equal(ray_unwind_step(e, s.value, 0, &memory, &regs, NULL), RAY_UNWIND_END);
}

/* --- expressions --- */

static enum ray_unwind_result evaluate(const uint8_t *bytes, size_t size, uint64_t *ret)
{
	static struct fake stack = { .base = 0x7000, .words = { 0x1122334455667788 } };
	static struct ray_unwind_regs regs = { .valid = 1 << 7 };
	const struct ray_reader memory = { read_fake, &stack };

	regs.reg[RAY_UNWIND_RSP] = 0x7000;
	return ray_expr_run(bytes, size, &regs, 0x1000, &memory, NULL, ret);
}

static void expressions_compute(void **state)
{
	static const struct {
		uint8_t code[16];
		size_t size;
		uint64_t expected;
	} rows[] = {
		{ { DW_OP_lit3, DW_OP_lit5, DW_OP_minus }, 3, (uint64_t)-2 },
		{ { DW_OP_breg7, 0, DW_OP_deref }, 3, 0x1122334455667788 },
		{ { DW_OP_breg7, 0x7f }, 2, 0x6fff },
		{ { DW_OP_bregx, 7, 4, DW_OP_deref_size, 2 }, 5, 0x3344 },
		{ { DW_OP_addr, 1, 0, 0, 0, 0, 0, 0, 0 }, 9, 0x1001 },
		{ { DW_OP_const1s, 0xff, DW_OP_abs }, 3, 1 },
		{ { DW_OP_const2s, 0xfe, 0xff, DW_OP_lit1, DW_OP_shra }, 5, (uint64_t)-1 },
		{ { DW_OP_lit1, DW_OP_const1u, 64, DW_OP_shl }, 4, 0 },
		{ { DW_OP_lit7, DW_OP_lit2, DW_OP_mod }, 3, 1 },
		{ { DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_drop }, 5, 1 },
		{ { DW_OP_lit1, DW_OP_lit2, DW_OP_over, DW_OP_plus }, 4, 3 },
		{ { DW_OP_lit1, DW_OP_lit2, DW_OP_swap, DW_OP_minus }, 4, 1 },
		{ { DW_OP_lit9, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit4 }, 6, 4 },
		{ { DW_OP_lit9, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit4 }, 6, 9 },
		{ { DW_OP_lit9, DW_OP_plus_uconst, 0x80, 1 }, 4, 137 },
		{ { DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, DW_OP_const1s, 0xff, DW_OP_div }, 12, 1ull << 63 },
	};

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		uint64_t value = 0xdead;

		assert_int_equal(evaluate(rows[i].code, rows[i].size, &value), RAY_UNWIND_OK);
		assert_int_equal(value, rows[i].expected);
	}
}

static void broken_expressions_are_refused(void **state)
{
	static const struct {
		uint8_t code[8];
		size_t size;
		enum ray_unwind_result expected;
	} rows[] = {
		{ { 0 }, 0, RAY_UNWIND_BAD },			      /* leaves nothing */
		{ { DW_OP_plus }, 1, RAY_UNWIND_BAD },		      /* stack is empty */
		{ { DW_OP_breg0, 0 }, 2, RAY_UNWIND_BAD },	      /* rax is not known */
		{ { DW_OP_bregx, 77, 0 }, 3, RAY_UNWIND_BAD },	      /* no such register */
		{ { DW_OP_lit0, DW_OP_deref }, 2, RAY_UNWIND_FAULT }, /* nothing there */
		{ { DW_OP_lit1, DW_OP_lit0, DW_OP_div }, 3, RAY_UNWIND_BAD },
		{ { DW_OP_const4u, 1 }, 2, RAY_UNWIND_BAD },		       /* ends inside */
		{ { DW_OP_lit1, DW_OP_skip, 0xfc, 0xff }, 4, RAY_UNWIND_BAD }, /* fills the stack */
		{ { DW_OP_skip, 0xfd, 0xff }, 3, RAY_UNWIND_BAD },	       /* for ever */
		{ { DW_OP_skip, 0xf0, 0xff }, 3, RAY_UNWIND_BAD },	       /* out of itself */
		{ { DW_OP_breg7, 0, DW_OP_deref_size, 9 }, 4, RAY_UNWIND_BAD },
		{ { DW_OP_call_frame_cfa }, 1, RAY_UNWIND_BAD },
	};

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		uint64_t value = 0xdead;

		assert_int_equal(evaluate(rows[i].code, rows[i].size, &value), rows[i].expected);
		assert_int_equal(value, 0xdead);
	}
}

/* --- every rule against libdw --- */

static void same_cfa(const struct ray_cfi_row *row, Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t n;

	assert_int_equal(dwarf_frame_cfa(frame, &ops, &n), 0);
	if (row->cfa.kind == RAY_CFI_REGISTER) {
		assert_int_equal(n, 1);
		assert_int_equal(ops[0].atom, DW_OP_bregx);
		assert_int_equal(ops[0].number, row->cfa.reg);
		assert_int_equal(ops[0].number2, row->cfa.offset);
	} else {
		assert_true(n > 0);
		assert_int_equal(row->cfa.kind, RAY_CFI_VAL_EXPR);
		assert_int_equal(ops[0].atom, row->cfa.expr[0]);
	}
}

static void same_rule(const struct ray_cfi_rule *rule, Dwarf_Frame *frame, int reg)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	assert_int_equal(dwarf_frame_register(frame, reg, memory, &ops, &n), 0);
	switch (rule->kind) {
	case RAY_CFI_UNSPECIFIED: /* libdw has filled the ABI's rules in */
		return;
	case RAY_CFI_UNDEFINED:
		assert_true(n == 0 && ops == memory);
		return;
	case RAY_CFI_SAME:
		assert_true(n == 0 && ops == NULL);
		return;
	case RAY_CFI_OFFSET:
		assert_int_equal(n, rule->offset ? 2 : 1);
		assert_int_equal(ops[0].atom, DW_OP_call_frame_cfa);
		if (rule->offset)
			assert_int_equal(ops[1].number, rule->offset);
		return;
	case RAY_CFI_REGISTER:
		assert_int_equal(ops[0].atom, DW_OP_regx);
		assert_int_equal(ops[0].number, rule->reg);
		return;
	case RAY_CFI_VAL_OFFSET:
		assert_int_equal(ops[n - 1].atom, DW_OP_stack_value);
		return;
	case RAY_CFI_EXPR:
	case RAY_CFI_VAL_EXPR:
		assert_int_equal(ops[0].atom, DW_OP_call_frame_cfa);
		assert_int_equal(ops[1].atom, rule->expr[0]);
		return;
	}
}

struct functions {
	uint64_t at[200000];
	size_t count;
};

static bool collect(const struct ray_symbol *s, void *arg)
{
	struct functions *f = arg;

	if (s->type == STT_FUNC && f->count < RAY_COUNT(f->at))
		f->at[f->count++] = s->value + s->size / 2;
	return true;
}

static void rules_agree_with_libdw(const char *path)
{
	ray_auto(ray_elf, e) = NULL;
	struct functions *f = calloc(1, sizeof(*f));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;
	Dwarf_CFI *cfi;
	size_t found = 0, step;

	assert_non_null(f);
	assert_null(ray_elf_open(path, &e));
	ray_elf_each_symbol(e, collect, f);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	step = f->count / 5000 + 1;
	for (size_t i = 0; i < f->count; i += step) {
		struct ray_cfi_row row;
		Dwarf_Frame *frame = NULL;
		enum ray_unwind_result result = ray_cfi_find(e, f->at[i], &row);

		assert_int_equal(result == RAY_UNWIND_OK, dwarf_cfi_addrframe(cfi, f->at[i], &frame) == 0);
		if (result != RAY_UNWIND_OK)
			continue;
		found++;
		same_cfa(&row, frame);
		for (int r = 0; r < RAY_UNWIND_REGS; r++)
			same_rule(&row.reg[r], frame, r);
		free(frame);
	}
	assert_true(found > f->count / step / 2);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	close(fd);
	free(f);
}

static void rules_of_libc_agree_with_libdw(void **state)
{
	(void)state;
	rules_agree_with_libdw(libc_path());
}

static void rules_of_this_program_agree_with_libdw(void **state)
{
	(void)state;
	rules_agree_with_libdw("/proc/self/exe");
}

/* Where the node binaries of the tests are; "" if they were not fetched. */
static const char *nodes_directory(void)
{
	static char path[256];
	FILE *f = popen("tools/nodes --dir 2>/dev/null", "r");

	if (f && fgets(path, sizeof(path), f))
		path[strcspn(path, "\n")] = 0;
	if (f)
		pclose(f);
	return path;
}

static void rules_of_node_agree_with_libdw(void **state)
{
	static const char *const files[] = { "16.20.2/bin/node", "26.10.0/bin/node",
					     "debian/usr/lib/x86_64-linux-gnu/libnode.so.108" };
	int found = 0;

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(files); i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", nodes_directory(), files[i]);
		if (access(path, R_OK) != 0)
			continue;
		rules_agree_with_libdw(path);
		found++;
	}
	if (!found) {
		print_message("no node was fetched (tools/nodes)\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unwinds_a_plain_call_chain_to_its_end),
		cmocka_unit_test(unwinds_through_a_callback_of_libc),
		cmocka_unit_test(unwinds_through_a_signal_handler),
		cmocka_unit_test(unwinds_through_a_handler_on_another_stack),
		cmocka_unit_test(a_thread_ends_where_clone_left_it),
		cmocka_unit_test(unwinds_code_without_frame_pointers),
		cmocka_unit_test(a_plt_entry_is_unwound_before_and_after_its_push),
		cmocka_unit_test(the_vdso_is_unwound_from_its_image),
		cmocka_unit_test(failures_leave_the_registers_alone),
		cmocka_unit_test(expressions_compute),
		cmocka_unit_test(broken_expressions_are_refused),
		cmocka_unit_test(rules_of_libc_agree_with_libdw),
		cmocka_unit_test(rules_of_this_program_agree_with_libdw),
		cmocka_unit_test(rules_of_node_agree_with_libdw),
	};

	return cmocka_run_group_tests_name("elf/unwind", tests, NULL, NULL);
}
