/* test_elf_elf.c - opening ELF files, their symbols and bytes, on files that are built here.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elf.h"

/* A function of each kind that a symbol table can hold; nothing of libc is needed. */
static const char source[] =
	"int exported_data = 7; int zero_data[2];\n"
	"static __thread long local_a; static __thread char local_b[3];\n"
	"__attribute__((noipa)) static int hidden(int n) { volatile int k = n; return k * 3; }\n"
	"__attribute__((noipa)) int exported(int n) { return hidden(n) + exported_data + local_a++ + local_b[1]++; }\n"
	"int weak_alias(int) __attribute__((weak, alias(\"exported\")));\n"
	"int __exp(int) __attribute__((alias(\"exported\")));\n"
	"int exported_longer_alias(int) __attribute__((alias(\"exported\")));\n"
	"__asm__(\".text\\n.globl label_one\\nlabel_one: nop; nop; nop\\nlabel_two: nop; nop; ret\\n\"\n"
	"        \".type sized, @function\\nsized: nop; inner_label: nop; ret\\n.size sized, .-sized\\n\"\n"
	"        \".section .other,\\\"ax\\\",@progbits\\nlast_label: nop; nop; ret\\n.text\\n\");\n";

static char directory[64];

static const char *in_directory(const char *name)
{
	static char path[4][128];
	static unsigned turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", directory, name);
	return path[turn];
}

static void run(const char *fmt, ...)
{
	char command[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);
}

static char *read_file(const char *path, size_t *size_ret)
{
	struct stat st;
	FILE *f = fopen(path, "r");
	char *bytes;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
	fclose(f);
	*size_ret = (size_t)st.st_size;
	return bytes;
}

/* "whole" has everything, "stripped" no .symtab, "headless" no section headers either, "sysv" the
 * older hash table. */
static int build_files(void **state)
{
	const char *options = "-O1 -shared -fPIC -nostdlib -fasynchronous-unwind-tables -Wl,--build-id=sha1";
	char *bytes;
	size_t size;

	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/noderay-unit-XXXXXX");
	assert_non_null(mkdtemp(directory));
	write_file(in_directory("a.c"), source, strlen(source));
	run("cc %s -Wl,--hash-style=gnu -o %s/whole %s/a.c", options, directory, directory);
	run("cc %s -Wl,--hash-style=sysv -o %s/sysv %s/a.c", options, directory, directory);
	run("strip -o %s/stripped %s/whole", directory, directory);
	for (int i = 0; i < 2; i++) {
		bytes = read_file(in_directory(i ? "sysv" : "whole"), &size);
		((Elf64_Ehdr *)bytes)->e_shoff = 0;
		((Elf64_Ehdr *)bytes)->e_shnum = 0;
		((Elf64_Ehdr *)bytes)->e_shstrndx = 0;
		write_file(in_directory(i ? "headless-sysv" : "headless"), bytes, size);
		free(bytes);
	}
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	run("rm -rf %s", directory);
	return 0;
}

static struct ray_elf *open_file(const char *name)
{
	struct ray_elf *e = NULL;

	assert_null(ray_elf_open(in_directory(name), &e));
	return e;
}

static void says(struct ray_error *err, enum ray_code code, const char *part)
{
	assert_non_null(err);
	assert_int_equal(ray_error_code(err), code);
	if (!strstr(ray_error_text(err), part))
		fail_msg("'%s' does not say '%s'", ray_error_text(err), part);
	ray_error_free(err);
}

/* --- what cannot be opened --- */

static void files_that_are_no_elf_are_named_so(void **state)
{
	struct ray_elf *e = NULL;

	(void)state;
	write_file(in_directory("text"), "hello", 5);
	write_file(in_directory("empty"), "", 0);
	write_file(in_directory("magic"), "\177ELF\2\1\1", 7);
	assert_int_equal(mkfifo(in_directory("fifo"), 0600), 0);
	says(ray_elf_open(in_directory("text"), &e), RAY_UNREADABLE, "text is not an ELF file");
	says(ray_elf_open(in_directory("empty"), &e), RAY_UNREADABLE, "empty is empty");
	says(ray_elf_open(in_directory("magic"), &e), RAY_UNREADABLE, "ends inside its ELF header");
	says(ray_elf_open(in_directory("fifo"), &e), RAY_UNREADABLE, "is not a regular file");
	says(ray_elf_open(directory, &e), RAY_UNREADABLE, "is a directory");
	says(ray_elf_open(in_directory("missing"), &e), RAY_UNREADABLE, "No such file");
	assert_null(e);
}

static void a_file_without_permission_is_denied(void **state)
{
	struct ray_elf *e = NULL;
	struct ray_error *err;
	bool root = geteuid() == 0;

	(void)state;
	write_file(in_directory("secret"), "x", 1);
	chmod(in_directory("secret"), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	err = ray_elf_open(in_directory("secret"), &e);
	if (root)
		assert_int_equal(seteuid(0), 0);
	says(err, RAY_DENIED, "Permission denied");
}

static void foreign_machines_are_named(void **state)
{
	static const struct {
		unsigned char class, data;
		uint16_t machine;
		const char *text;
	} rows[] = {
		{ ELFCLASS32, ELFDATA2LSB, EM_ARM, "is a 32-bit ELF file for ARM" },
		{ ELFCLASS32, ELFDATA2LSB, EM_386, "is a 32-bit ELF file for x86" },
		{ ELFCLASS32, ELFDATA2LSB, EM_X86_64, "is a 32-bit ELF file for x86-64" },
		{ ELFCLASS64, ELFDATA2MSB, EM_S390, "is a 64-bit big-endian ELF file for s390" },
		{ ELFCLASS64, ELFDATA2LSB, EM_RISCV, "is a 64-bit ELF file for RISC-V" },
		{ ELFCLASS64, ELFDATA2LSB, 9999, "is a 64-bit ELF file for machine 9999" },
		{ 7, ELFDATA2LSB, EM_X86_64, "has a broken ELF header" },
		{ ELFCLASS64, 0, EM_X86_64, "has a broken ELF header" },
	};

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		unsigned char image[64] = { 0x7f, 'E', 'L', 'F', rows[i].class, rows[i].data, EV_CURRENT };
		bool big = rows[i].data == ELFDATA2MSB;
		struct ray_elf *e = NULL;

		image[18] = (unsigned char)(big ? rows[i].machine >> 8 : rows[i].machine);
		image[19] = (unsigned char)(big ? rows[i].machine : rows[i].machine >> 8);
		says(ray_elf_open_image(image, sizeof(image), "thing", &e), RAY_UNREADABLE, rows[i].text);
	}
}

static void an_aarch64_file_is_opened(void **state)
{
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_DYN,
			 .e_machine = EM_AARCH64,
			 .e_version = EV_CURRENT,
			 .e_ehsize = sizeof(h) };
	ray_auto(ray_elf, e) = NULL;
	struct ray_symbol s;

	(void)state;
	assert_null(ray_elf_open_image(&h, sizeof(h), "arm", &e));
	assert_string_equal(ray_elf_name(e), "arm");
	assert_false(ray_elf_find_symbol(e, "main", &s));
	assert_false(ray_elf_symbol_at(e, 0, &s));
	assert_true(ray_elf_is_stripped(e));
	assert_string_equal(ray_elf_build_id_text(e), "");
}

/* --- symbols --- */

static void exported_symbols_are_found_however_stripped(void **state)
{
	static const char *const files[] = { "whole", "stripped", "headless", "sysv", "headless-sysv" };
	struct ray_symbol first = { 0 }, s;

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(files); i++) {
		ray_auto(ray_elf, e) = open_file(files[i]);

		assert_true(ray_elf_find_dynamic(e, "exported", &s));
		assert_int_equal(s.type, STT_FUNC);
		assert_int_equal(s.bind, STB_GLOBAL);
		assert_true(s.value && s.size);
		assert_false(ray_elf_find_dynamic(e, "hidden", &first));
		assert_false(ray_elf_find_dynamic(e, "", &first));
		assert_true(ray_elf_find_symbol(e, "exported_data", &s));
		assert_int_equal(s.type, STT_OBJECT);
		assert_false(ray_elf_find_symbol(e, "exporte", &first));
		assert_true(ray_elf_symbol_at(e, s.value + 3, &s));
		assert_string_equal(s.name, "exported_data");
		assert_false(ray_elf_symbol_at(e, s.value + 4, &s));
	}
}

static bool count_symbol(const struct ray_symbol *s, void *arg)
{
	assert_true(*s->name);
	return ++*(int *)arg < 5;
}

static void static_symbols_are_found_unless_stripped(void **state)
{
	ray_auto(ray_elf, whole) = open_file("whole");
	ray_auto(ray_elf, stripped) = open_file("stripped");
	struct ray_symbol s;
	int count = 0;

	(void)state;
	assert_true(ray_elf_find_symbol(whole, "hidden", &s));
	assert_int_equal(s.bind, STB_LOCAL);
	assert_true(ray_elf_symbol_at(whole, s.value + s.size - 1, &s));
	assert_string_equal(s.name, "hidden");
	assert_false(ray_elf_is_stripped(whole));
	assert_true(ray_elf_is_stripped(stripped));
	assert_false(ray_elf_find_symbol(stripped, "hidden", &s));
	ray_elf_each_symbol(whole, count_symbol, &count);
	assert_int_equal(count, 5);
}

static void of_aliases_the_plain_public_and_short_one_wins(void **state)
{
	ray_auto(ray_elf, e) = open_file("whole");
	struct ray_symbol alias, s;

	(void)state;
	assert_true(ray_elf_find_symbol(e, "weak_alias", &alias));
	assert_int_equal(alias.bind, STB_WEAK);
	assert_true(ray_elf_symbol_at(e, alias.value + 1, &s));
	assert_string_equal(s.name, "exported");
}

static void a_label_reaches_to_the_next_symbol(void **state)
{
	ray_auto(ray_elf, e) = open_file("whole");
	struct ray_symbol one, s;

	(void)state;
	assert_true(ray_elf_find_symbol(e, "label_one", &one));
	assert_int_equal(one.size, 0);
	assert_true(ray_elf_symbol_at(e, one.value + 2, &s));
	assert_string_equal(s.name, "label_one");
	assert_int_equal(s.size, 3);
	assert_true(ray_elf_symbol_at(e, one.value + 5, &s));
	assert_string_equal(s.name, "label_two");
}

static void a_label_does_not_hide_the_function_around_it(void **state)
{
	ray_auto(ray_elf, e) = open_file("whole");
	struct ray_symbol label, s;

	(void)state;
	assert_true(ray_elf_find_symbol(e, "inner_label", &label));
	assert_true(ray_elf_symbol_at(e, label.value, &s));
	assert_string_equal(s.name, "sized");
}

static void a_label_ends_with_its_section(void **state)
{
	ray_auto(ray_elf, e) = open_file("whole");
	struct ray_symbol s;
	const void *bytes;
	size_t size;
	uint64_t vaddr;

	(void)state;
	assert_true(ray_elf_section(e, ".other", &bytes, &size, &vaddr));
	assert_int_equal(size, 3);
	assert_true(ray_elf_symbol_at(e, vaddr + 2, &s));
	assert_string_equal(s.name, "last_label");
	assert_int_equal(s.size, 3);
	assert_false(ray_elf_symbol_at(e, vaddr + 3, &s));
}

static void a_debug_file_of_the_machine_lends_its_symbols(void **state)
{
	ray_auto(ray_elf, e) = NULL;
	struct ray_symbol s;
	char path[200];

	(void)state;
	assert_null(ray_elf_open("/lib/x86_64-linux-gnu/libc.so.6", &e));
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", ray_elf_build_id_text(e),
		 ray_elf_build_id_text(e) + 2);
	if (access(path, R_OK) != 0) {
		print_message("there is no debug file of libc here\n");
		skip();
	}
	assert_false(ray_elf_find_dynamic(e, "__libc_start_call_main", &s));
	assert_true(ray_elf_find_symbol(e, "__libc_start_call_main", &s));
	assert_true(ray_elf_symbol_at(e, s.value + 8, &s));
	assert_string_equal(s.name, "__libc_start_call_main");
	assert_true(ray_elf_is_stripped(e));
}

static void write_compressed(const char *from, const char *to)
{
	size_t size, used = 0, room;
	char *bytes = read_file(from, &size);
	uint8_t *out = malloc(room = lzma_stream_buffer_bound(size));

	assert_non_null(out);
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, (uint8_t *)bytes, size, out, &used, room),
			 LZMA_OK);
	write_file(to, out, used);
	free(out);
	free(bytes);
}

static void the_debug_file_inside_lends_its_symbols(void **state)
{
	struct ray_symbol s;

	(void)state;
	write_compressed(in_directory("whole"), in_directory("whole.xz"));
	run("objcopy --add-section .gnu_debugdata=%s/whole.xz %s/stripped %s/mini", directory, directory, directory);
	ray_auto(ray_elf, e) = open_file("mini");
	assert_false(ray_elf_find_dynamic(e, "hidden", &s));
	assert_true(ray_elf_find_symbol(e, "hidden", &s));
	assert_true(ray_elf_symbol_at(e, s.value + 1, &s));
	assert_string_equal(s.name, "hidden");
	assert_true(ray_elf_find_dynamic(e, "exported", &s));
	assert_true(ray_elf_symbol_at(e, s.value + 1, &s));
	assert_string_equal(s.name, "exported");
	assert_true(ray_elf_is_stripped(e));
}

static void a_broken_debug_file_inside_is_ignored(void **state)
{
	struct ray_symbol s;

	(void)state;
	write_compressed("/dev/null", in_directory("nothing.xz"));
	run("head -c 100 %s/whole.xz >%s/cut.xz", directory, directory);
	for (int i = 0; i < 2; i++) {
		run("objcopy --add-section .gnu_debugdata=%s/%s.xz %s/stripped %s/bad", directory,
		    i ? "cut" : "nothing", directory, directory);
		ray_auto(ray_elf, e) = open_file("bad");
		assert_false(ray_elf_find_symbol(e, "hidden", &s));
		assert_true(ray_elf_find_symbol(e, "exported", &s));
		assert_true(ray_elf_symbol_at(e, s.value + 1, &s));
	}
}

/* --- bytes --- */

static void addresses_and_offsets_belong_together(void **state)
{
	ray_auto(ray_elf, e) = open_file("whole");
	struct ray_symbol s;
	uint64_t offset, vaddr;
	int by_address = 0, by_offset = 0;

	(void)state;
	assert_true(ray_elf_find_symbol(e, "exported_data", &s));
	assert_true(ray_elf_vaddr_to_offset(e, s.value, &offset));
	assert_true(offset != s.value);
	assert_true(ray_elf_offset_to_vaddr(e, offset, &vaddr));
	assert_int_equal(vaddr, s.value);
	assert_int_equal(ray_elf_read(e, s.value, &by_address, 4), 4);
	assert_int_equal(ray_elf_read_file(e, offset, &by_offset, 4), 4);
	assert_int_equal(by_address, 7);
	assert_int_equal(by_offset, 7);
	assert_int_equal(ray_elf_read(e, 1ull << 60, &by_address, 4), 0);
	assert_int_equal(ray_elf_read_file(e, 1ull << 60, &by_address, 4), 0);
	assert_false(ray_elf_vaddr_to_offset(e, 1ull << 60, &vaddr));
	assert_false(ray_elf_offset_to_vaddr(e, 1ull << 60, &vaddr));
}

/* The minor version of V8 9.0 lies there. */
static void zeros_that_the_file_does_not_hold_are_read(void **state)
{
	ray_auto(ray_elf, e) = open_file("whole");
	struct ray_symbol s;
	uint64_t bytes = UINT64_MAX;

	(void)state;
	assert_true(ray_elf_find_symbol(e, "zero_data", &s));
	assert_int_equal(ray_elf_read(e, s.value, &bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(bytes, 0);
}

static void sections_tls_and_build_id_are_told(void **state)
{
	ray_auto(ray_elf, whole) = open_file("whole");
	ray_auto(ray_elf, headless) = open_file("headless");
	const void *bytes;
	size_t size;
	uint64_t vaddr;

	(void)state;
	assert_true(ray_elf_section(whole, ".data", &bytes, &size, &vaddr));
	assert_int_equal(size, 4);
	assert_int_equal(*(const int *)bytes, 7);
	assert_false(ray_elf_section(whole, ".tbss", &bytes, &size, &vaddr));
	assert_false(ray_elf_section(whole, ".dat", &bytes, &size, &vaddr));
	assert_false(ray_elf_section(headless, ".data", &bytes, &size, &vaddr));
	assert_int_equal(ray_elf_tls_size(whole), 16);
	assert_non_null(ray_elf_build_id(whole, &size));
	assert_int_equal(size, 20);
	assert_int_equal(strlen(ray_elf_build_id_text(whole)), 40);
	assert_string_equal(ray_elf_build_id_text(whole), ray_elf_build_id_text(headless));
}

/* --- damage --- */

static void ask_everything(struct ray_elf *e)
{
	struct ray_symbol s;
	const void *bytes;
	size_t size;
	uint64_t vaddr;
	int count = 0;

	ray_elf_build_id_text(e);
	ray_elf_find_symbol(e, "exported", &s);
	ray_elf_find_symbol(e, "hidden", &s);
	ray_elf_symbol_at(e, 0x1000, &s);
	ray_elf_section(e, ".other", &bytes, &size, &vaddr);
	ray_elf_each_symbol(e, count_symbol, &count);
}

static void a_file_cut_anywhere_is_survived(void **state)
{
	size_t size;
	char *bytes = read_file(in_directory("whole"), &size);

	(void)state;
	for (size_t cut = 0; cut < size; cut += cut < 1024 ? 1 : 37) {
		ray_auto(ray_elf, e) = NULL;
		ray_auto(ray_error, err) = ray_elf_open_image(bytes, cut, "cut", &e);

		assert_true(!err == !!e);
		if (e)
			ask_everything(e);
	}
	free(bytes);
}

static void a_file_truncated_while_open_is_survived(void **state)
{
	char byte;
	size_t size;
	char *bytes = read_file(in_directory("whole"), &size);

	(void)state;
	write_file(in_directory("victim"), bytes, size);
	ray_auto(ray_elf, e) = open_file("victim");
	assert_int_equal(truncate(in_directory("victim"), 100), 0);
	ask_everything(e);
	assert_int_equal(ray_elf_read_file(e, 5000, &byte, 1), 0);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_are_no_elf_are_named_so),
		cmocka_unit_test(a_file_without_permission_is_denied),
		cmocka_unit_test(foreign_machines_are_named),
		cmocka_unit_test(an_aarch64_file_is_opened),
		cmocka_unit_test(exported_symbols_are_found_however_stripped),
		cmocka_unit_test(static_symbols_are_found_unless_stripped),
		cmocka_unit_test(of_aliases_the_plain_public_and_short_one_wins),
		cmocka_unit_test(a_label_reaches_to_the_next_symbol),
		cmocka_unit_test(a_label_does_not_hide_the_function_around_it),
		cmocka_unit_test(a_label_ends_with_its_section),
		cmocka_unit_test(a_debug_file_of_the_machine_lends_its_symbols),
		cmocka_unit_test(the_debug_file_inside_lends_its_symbols),
		cmocka_unit_test(a_broken_debug_file_inside_is_ignored),
		cmocka_unit_test(addresses_and_offsets_belong_together),
		cmocka_unit_test(zeros_that_the_file_does_not_hold_are_read),
		cmocka_unit_test(sections_tls_and_build_id_are_told),
		cmocka_unit_test(a_file_cut_anywhere_is_survived),
		cmocka_unit_test(a_file_truncated_while_open_is_survived),
	};

	return cmocka_run_group_tests_name("elf/elf", tests, build_files, remove_files);
}
