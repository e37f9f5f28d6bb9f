/* test_target_core.c - cores: whole, cut, damaged, foreign, with and without their program.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "fake_core.h"
#include "stack/regions.h"
#include "target/target.h"

static char directory[64], core_path[128], program_path[128];

static const int tids[] = { 4713, FAKE_PID, 4712, 0 }; /* the one that crashed comes first */
static const char *const args[] = { "node", "app.js", NULL }, *const env[] = { "A=1", "B=2", NULL };

static struct fake_core usual(void)
{
	return (struct fake_core){
		.program = program_path, .build_id = fake_id, .tids = tids, .args = args, .env = env
	};
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void write_program(const uint8_t *id)
{
	ray_auto_text program = { 0 };

	fake_program(&program, id);
	write_file(program_path, program.bytes, program.length);
}

static int make_directory(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/noderay-unit-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(core_path, sizeof(core_path), "%s/core", directory);
	snprintf(program_path, sizeof(program_path), "%s/fake", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(core_path);
	unlink(program_path);
	return rmdir(directory);
}

static int fresh_program(void **state)
{
	(void)state;
	write_program(fake_id);
	return 0;
}

static void write_core(const struct fake_core *f)
{
	ray_auto_text core = { 0 };

	fake_core_build(&core, f);
	write_file(core_path, core.bytes, core.length);
}

static struct ray_error *open_with(struct ray_target_options options, struct ray_target **ret)
{
	options.name = core_path;
	return ray_target_open(&options, ret);
}

static struct ray_target *open_core(const struct fake_core *f)
{
	struct ray_target *t = NULL;

	write_core(f);
	assert_null(open_with((struct ray_target_options){ 0 }, &t));
	return t;
}

/* The error of a file with these bytes, without the path before it. */
static void assert_refused(const void *bytes, size_t size, enum ray_code code, const char *text)
{
	ray_auto(ray_error, err) = NULL;
	struct ray_target *t = NULL;

	write_file(core_path, bytes, size);
	err = open_with((struct ray_target_options){ 0 }, &t);
	assert_non_null(err);
	assert_int_equal(ray_error_code(err), code);
	assert_string_equal(ray_error_text(err) + strlen(core_path) + 2, text);
}

static bool has_warning(struct ray_target *t, const char *part)
{
	for (const char *const *w = ray_target_warnings(t); *w; w++) {
		if (strstr(*w, part))
			return true;
	}
	return false;
}

static char byte_at(struct ray_target *t, uint64_t address)
{
	char c = '?';

	return ray_target_read(t, address, &c, 1) == 1 ? c : '!';
}

/* ------------------------------------------------------------------ whole cores */

static void threads_come_with_the_main_one_first(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_target, t) = open_core(&f);
	const struct ray_thread *threads;
	size_t n;

	(void)state;
	threads = ray_target_threads(t, &n);
	assert_int_equal(n, 3);
	assert_int_equal(threads[0].tid, FAKE_PID);
	assert_int_equal(threads[0].registers.rip, 0x1001);
	assert_int_equal(threads[1].tid, 4712);
	assert_int_equal(threads[2].tid, 4713);
	assert_true(threads[2].has_registers);
	assert_int_equal(ray_target_pid(t), FAKE_PID);
	assert_int_equal(ray_target_signal(t), 6);
	assert_int_equal(ray_target_kind(t), RAY_TARGET_CORE);
	assert_null(*ray_target_warnings(t));
}

static void mappings_have_names_modes_and_dumped_bytes(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_target, t) = open_core(&f);
	const struct ray_map *maps;
	size_t n;

	(void)state;
	maps = ray_target_maps(t, &n);
	assert_int_equal(n, 4);
	assert_string_equal(maps[0].path, program_path);
	assert_int_equal(maps[0].prot, PROT_READ | PROT_EXEC);
	assert_int_equal(maps[0].end - maps[0].start, 2 * FAKE_PAGE);
	assert_int_equal(maps[0].dumped, FAKE_PAGE);
	assert_string_equal(maps[1].path, "");
	assert_int_equal(maps[2].dumped, 0);
	assert_string_equal(maps[3].path, "[stack]");
	assert_string_equal(ray_target_exe(t), program_path);
}

static void memory_comes_from_the_core_and_then_from_the_file(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_target, t) = open_core(&f);
	char bytes[2 * FAKE_PAGE + 8];

	(void)state;
	assert_int_equal(byte_at(t, FAKE_DATA), 'd');
	assert_int_equal(byte_at(t, FAKE_PROGRAM + 1), 'E');
	assert_int_equal(byte_at(t, FAKE_PROGRAM + FAKE_PAGE), 't');
	assert_int_equal(byte_at(t, FAKE_HOLE), '!');
	assert_int_equal(byte_at(t, 0), '!');
	assert_int_equal(byte_at(t, UINT64_MAX - 1), '!');
	assert_int_equal(ray_target_read(t, FAKE_PROGRAM, bytes, sizeof(bytes)), 2 * FAKE_PAGE);
	assert_int_equal(ray_target_read(t, FAKE_DATA + FAKE_PAGE - 3, bytes, 8), 3);
}

static void arguments_and_environment_come_from_the_stack(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_target, t) = open_core(&f);
	ray_auto_memory char *a = NULL, *e = NULL;
	size_t size;

	(void)state;
	assert_null(ray_target_args(t, &a, &size));
	assert_int_equal(size, 12);
	assert_memory_equal(a, "node\0app.js", 12);
	assert_null(ray_target_env(t, &e, &size));
	assert_int_equal(size, 8);
	assert_memory_equal(e, "A=1\0B=2", 8);
	assert_null(ray_target_args_note(t));
}

static void without_a_stack_the_kernels_note_has_the_command(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_error, err) = NULL;
	ray_auto(ray_target, t) = NULL;
	ray_auto_memory char *a = NULL, *e = NULL;
	size_t size;

	(void)state;
	f.no_stack = true;
	t = open_core(&f);
	assert_null(ray_target_args(t, &a, &size));
	assert_string_equal(a, "fake from the kernel");
	assert_non_null(ray_target_args_note(t));
	err = ray_target_env(t, &e, &size);
	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	assert_non_null(strstr(ray_error_text(err), "the core does not hold the initial stack"));
}

/* With private memory left out, what the file has may be long overwritten. */
static void data_is_not_taken_from_the_file_when_written_pages_are_left_out(void **state)
{
	(void)state;
	for (int no_stack = 0; no_stack < 2; no_stack++) {
		ray_auto_text core = { 0 }, program = { 0 };
		ray_auto(ray_target, t) = NULL;
		struct fake_core f = usual();
		Elf64_Phdr *p;

		f.no_stack = no_stack;
		fake_core_build(&core, &f);
		fake_program(&program, fake_id);
		((Elf64_Phdr *)(void *)(program.bytes + sizeof(Elf64_Ehdr)))->p_flags |= PF_W;
		p = (Elf64_Phdr *)(void *)(core.bytes + sizeof(Elf64_Ehdr));
		memcpy(core.bytes + p[1].p_offset, program.bytes, FAKE_PAGE);
		write_file(core_path, core.bytes, core.length);
		write_file(program_path, program.bytes, program.length);
		assert_null(open_with((struct ray_target_options){ 0 }, &t));
		assert_int_equal(has_warning(t, "the core holds no private memory"), no_stack);
		assert_int_equal(byte_at(t, FAKE_PROGRAM + FAKE_PAGE), no_stack ? '!' : 't');
	}
}

static void own_notes_are_found_and_name_threads(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;
	const struct ray_thread *threads;
	size_t n;

	(void)state;
	f.own_name = "threads";
	f.own_text = "[{\"tid\":4712,\"name\":\"libuv-worker\",\"state\":\"S\"},{\"tid\":-1},7,"
		     "{\"tid\":5000,\"name\":\"late\",\"note\":\"did not stop\"}]";
	t = open_core(&f);
	assert_string_equal(ray_target_note(t, "threads"), f.own_text);
	assert_null(ray_target_note(t, "files"));
	threads = ray_target_threads(t, &n);
	assert_string_equal(threads[1].name, "libuv-worker");
	assert_int_equal(threads[1].state, 'S');
	assert_int_equal(threads[0].state, '?');
	assert_int_equal(n, 4);
	assert_int_equal(threads[3].tid, 5000);
	assert_false(threads[3].has_registers);
	assert_string_equal(threads[3].note, "did not stop");
}

static void own_note_on_mappings_names_them(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;

	(void)state;
	f.own_name = "maps";
	f.own_text = "{\"rows\":[[\"0x600000\",\"0x601000\",\"rw-s\",\"[heap]\",0,0,0,0,\"\"]]}";
	t = open_core(&f);
	assert_string_equal(ray_target_find_map(t, FAKE_DATA)->path, "[heap]");
	assert_true(ray_target_find_map(t, FAKE_DATA)->shared);
}

static void a_damaged_own_note_is_only_a_warning(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;

	(void)state;
	f.own_name = "maps";
	f.own_text = "{\"rows\":[1]}";
	t = open_core(&f);
	assert_true(has_warning(t, "noderay's note on mappings is not used"));
}

static void more_than_65534_segments_are_counted_in_the_section_header(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;
	struct ray_target *cut = NULL;
	struct stat st;
	size_t n;

	(void)state;
	f.extended = true;
	t = open_core(&f);
	ray_target_maps(t, &n);
	assert_int_equal(n, 4);
	/* When the end of the file is lost, the notes tell where the program headers end. */
	assert_int_equal(stat(core_path, &st), 0);
	assert_int_equal(truncate(core_path, st.st_size - 10), 0);
	assert_null(open_with((struct ray_target_options){ 0 }, &cut));
	ray_target_maps(cut, &n);
	assert_int_equal(n, 4);
	ray_target_close(cut);
}

/* ------------------------------------------------------------------ files */

static void a_program_of_another_build_is_an_error_unless_forced(void **state)
{
	static const uint8_t other[20] = "another build's id!";
	struct fake_core f = usual();
	ray_auto(ray_error, err) = NULL;
	struct ray_target *t = NULL;

	(void)state;
	write_core(&f);
	write_program(other);
	err = open_with((struct ray_target_options){ 0 }, &t);
	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	assert_non_null(strstr(ray_error_text(err), "has build-id 616e6f74686572206275696c642773206964"));
	assert_non_null(strstr(ray_error_text(err),
			       "the fake in the core has build-id 30313233343536373839616263646566676869"));
	assert_non_null(strstr(ray_error_remedy_text(err), "--force"));
	assert_null(open_with((struct ray_target_options){ .force = true }, &t));
	assert_true(has_warning(t, "used nevertheless (--force)"));
	assert_int_equal(byte_at(t, FAKE_PROGRAM + FAKE_PAGE), 't');
	ray_target_close(t);
}

static void without_build_ids_the_segments_are_compared(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_error, err) = NULL;
	struct ray_target *t = NULL;
	ray_auto_text program = { 0 };

	(void)state;
	f.build_id = NULL;
	write_core(&f);
	write_program(NULL);
	assert_null(open_with((struct ray_target_options){ 0 }, &t));
	assert_int_equal(byte_at(t, FAKE_PROGRAM + FAKE_PAGE), 't');
	ray_target_close(t);
	fake_program(&program, NULL);
	((Elf64_Ehdr *)(void *)program.bytes)->e_entry++;
	write_file(program_path, program.bytes, program.length);
	err = open_with((struct ray_target_options){ 0 }, &t);
	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	assert_non_null(strstr(ray_error_text(err), "its segments differ"));
}

static void a_missing_program_leaves_the_rest_readable(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;

	(void)state;
	unlink(program_path);
	t = open_core(&f);
	assert_true(has_warning(t, "the executable is not here"));
	assert_true(has_warning(t, "--exe FILE"));
	assert_int_equal(byte_at(t, FAKE_PROGRAM + 1), 'E');
	assert_int_equal(byte_at(t, FAKE_PROGRAM + FAKE_PAGE), '!');
	assert_int_equal(byte_at(t, FAKE_DATA), 'd');
}

static void exe_and_sysroot_say_where_the_program_is(void **state)
{
	struct fake_core f = usual();
	struct ray_target *t = NULL;

	(void)state;
	f.program = "/opt/app/fake";
	write_core(&f);
	assert_null(open_with((struct ray_target_options){ .exe = program_path }, &t));
	assert_int_equal(byte_at(t, FAKE_PROGRAM + FAKE_PAGE), 't');
	assert_string_equal(ray_target_exe(t), "/opt/app/fake");
	ray_target_close(t);
	/* By its name, as in a folder of collected files. */
	assert_null(open_with((struct ray_target_options){ .sysroot = directory }, &t));
	assert_int_equal(byte_at(t, FAKE_PROGRAM + FAKE_PAGE), 't');
	ray_target_close(t);
}

/* As the paths of a container's files are outside of it. */
static void a_path_may_have_the_sysroot_in_it_already(void **state)
{
	char folder[96], nested[128], slashed[96];
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/opt", directory);
	snprintf(nested, sizeof(nested), "%s/nested", folder);
	snprintf(slashed, sizeof(slashed), "%s/./", directory);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(rename(program_path, nested), 0);
	f.program = nested;
	write_core(&f);
	assert_null(open_with((struct ray_target_options){ .sysroot = slashed }, &t));
	assert_int_equal(unlink(nested) | rmdir(folder), 0);
	assert_int_equal(byte_at(t, FAKE_PROGRAM + FAKE_PAGE), 't');
}

static void wrong_exe_and_sysroot_are_errors(void **state)
{
	struct fake_core f = usual();
	struct ray_error *err;
	struct ray_target *t = NULL;

	(void)state;
	write_core(&f);
	err = open_with((struct ray_target_options){ .exe = "/nonexistent" }, &t);
	assert_non_null(strstr(ray_error_text(err), "--exe /nonexistent: No such file or directory"));
	ray_error_free(err);
	err = open_with((struct ray_target_options){ .sysroot = program_path }, &t);
	assert_non_null(strstr(ray_error_text(err), "Not a directory"));
	ray_error_free(err);
	err = open_with((struct ray_target_options){ .exe = core_path }, &t);
	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	ray_error_free(err);
}

static void a_deleted_program_is_looked_for_under_its_old_name(void **state)
{
	struct fake_core f = usual();
	char gone[160];
	ray_auto(ray_target, t) = NULL;

	(void)state;
	snprintf(gone, sizeof(gone), "%s (deleted)", program_path);
	f.program = gone;
	t = open_core(&f);
	assert_null(*ray_target_warnings(t));
	assert_int_equal(byte_at(t, FAKE_PROGRAM + FAKE_PAGE), 't');
}

static void paths_with_control_bytes_are_made_safe_in_warnings(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;

	(void)state;
	f.program = "/no/\x1b[31mred";
	t = open_core(&f);
	assert_true(has_warning(t, "the executable is not here"));
	assert_false(has_warning(t, "\x1b"));
}

/* ------------------------------------------------------------------ bad input */

static void what_is_no_core_is_named(void **state)
{
	ray_auto_text core = { 0 }, program = { 0 };
	struct fake_core f = usual();
	Elf64_Ehdr *h;

	(void)state;
	fake_core_build(&core, &f);
	fake_program(&program, fake_id);
	h = (Elf64_Ehdr *)(void *)core.bytes;
	assert_refused("", 0, RAY_UNREADABLE, "is empty");
	assert_refused("hello\n", 6, RAY_UNREADABLE, "is not a core file");
	assert_refused("\x7f"
		       "ELF",
		       4, RAY_UNREADABLE, "is cut inside its ELF header");
	assert_refused(core.bytes, sizeof(*h), RAY_UNREADABLE, "is cut right after its ELF header");
	assert_refused("MDMP....", 8, RAY_UNREADABLE, "is a minidump, not an ELF core");
	assert_refused(program.bytes, program.length, RAY_UNREADABLE, "is an ELF executable, not a core");
	h->e_machine = EM_AARCH64;
	assert_refused(core.bytes, core.length, RAY_UNREADABLE,
		       "is from 64-bit ARM (aarch64); noderay reads cores of x86-64 only");
	h->e_machine = EM_386;
	h->e_ident[EI_CLASS] = ELFCLASS32;
	assert_refused(core.bytes, core.length, RAY_UNREADABLE,
		       "is from 32-bit x86; noderay reads cores of x86-64 only");
	h->e_machine = EM_X86_64;
	assert_refused(core.bytes, core.length, RAY_UNREADABLE, "is from a 32-bit program; noderay reads 64-bit ones");
	h->e_ident[EI_DATA] = ELFDATA2MSB;
	assert_refused(core.bytes, core.length, RAY_UNREADABLE,
		       "is an ELF file of a big-endian machine; noderay reads x86-64");
}

static void directories_and_fifos_are_refused_at_once(void **state)
{
	struct ray_target_options options = { .name = directory };
	struct ray_target *t = NULL;
	struct ray_error *err;

	(void)state;
	err = ray_target_open(&options, &t);
	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	assert_non_null(strstr(ray_error_text(err), "is a directory"));
	ray_error_free(err);
	unlink(core_path);
	assert_int_equal(mkfifo(core_path, 0600), 0);
	err = open_with((struct ray_target_options){ 0 }, &t);
	assert_non_null(strstr(ray_error_text(err), "is not a regular file"));
	ray_error_free(err);
	unlink(core_path);
	err = open_with((struct ray_target_options){ 0 }, &t);
	assert_int_equal(ray_error_code(err), RAY_FAILED);
	ray_error_free(err);
}

/* Whatever is there can be read, and nothing that is not. */
static void a_core_cut_anywhere_gives_what_is_left(void **state)
{
	ray_auto_text core = { 0 };
	struct fake_core f = usual();
	unsigned char bytes[3 * FAKE_PAGE];
	size_t opened = 0;

	(void)state;
	fake_core_build(&core, &f);
	for (size_t size = core.length; size > 0; size -= size > 4 * FAKE_PAGE ? 509 : 61) {
		ray_auto(ray_target, t) = NULL;
		struct ray_error *err;
		ray_auto_memory char *a = NULL;
		size_t n;

		write_file(core_path, core.bytes, size);
		err = open_with((struct ray_target_options){ 0 }, &t);
		ray_error_free(err);
		if (err)
			assert_true(size < sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));
		if (!err) {
			opened++;
			assert_true(size == core.length || has_warning(t, "the core is cut"));
			n = ray_target_read(t, fake_stack, bytes, sizeof(bytes));
			assert_true(n <= 2 * FAKE_PAGE && (size == core.length) == (n == 2 * FAKE_PAGE));
			ray_error_free(ray_target_args(t, &a, &n));
		}
		if (size < 61)
			break;
	}
	assert_true(opened > 50);
}

static void the_warning_of_a_cut_core_counts_the_bytes(void **state)
{
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;
	struct stat st;

	(void)state;
	write_core(&f);
	assert_int_equal(stat(core_path, &st), 0);
	assert_int_equal(truncate(core_path, st.st_size - 100), 0);
	assert_null(open_with((struct ray_target_options){ 0 }, &t));
	assert_true(has_warning(t, "the core is cut: 100 bytes are missing, in 1 mapping (0x7ffffff00000"));
	assert_int_equal(ray_target_find_map(t, fake_stack)->dumped, 2 * FAKE_PAGE - 100);
}

static void segments_that_overlap_do_not_confuse(void **state)
{
	ray_auto_text core = { 0 };
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;
	const struct ray_map *maps;
	Elf64_Phdr *p;
	size_t n;

	(void)state;
	fake_core_build(&core, &f);
	p = (Elf64_Phdr *)(void *)(core.bytes + sizeof(Elf64_Ehdr));
	p[3].p_vaddr = FAKE_DATA + 1024; /* the hole reaches into the data */
	p[1].p_memsz = UINT64_MAX - 5;	 /* and past the end of all memory */
	write_file(core_path, core.bytes, core.length);
	assert_null(open_with((struct ray_target_options){ 0 }, &t));
	maps = ray_target_maps(t, &n);
	for (size_t i = 1; i < n; i++)
		assert_true(maps[i].start >= maps[i - 1].end);
	assert_int_equal(byte_at(t, FAKE_DATA + 1023), 'd');
	assert_int_equal(byte_at(t, FAKE_DATA + 1024), '!');
}

static bool add_run(uint64_t start, uint64_t end, void *arg)
{
	uint64_t *sum = arg;

	*sum += end - start;
	return true;
}

/* A mapping of exabytes took scans that went through it page by page years. */
static void a_segment_of_exabytes_is_only_what_the_core_holds(void **state)
{
	ray_auto_text core = { 0 };
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;
	ray_auto(ray_regions, r) = NULL;
	Elf64_Phdr *p;
	const struct ray_map *map;
	uint64_t sum = 0;
	size_t n;

	(void)state;
	fake_core_build(&core, &f);
	p = (Elf64_Phdr *)(void *)(core.bytes + sizeof(Elf64_Ehdr));
	p[2].p_memsz = p[2].p_filesz = 1ull << 60;
	p[3].p_type = p[4].p_type = PT_NULL; /* nothing above it */
	write_file(core_path, core.bytes, core.length);
	assert_null(open_with((struct ray_target_options){ 0 }, &t));
	assert_true(has_warning(t, "the core is damaged: 1 of its 5 program headers"));
	map = ray_target_find_map(t, FAKE_DATA);
	assert_true(map->end == 1ull << 56);
	assert_true(ray_target_dumped_runs(t, map->start, map->end, add_run, &sum));
	assert_int_equal(sum, map->dumped);
	assert_true(sum >= FAKE_PAGE && sum < core.length);
	assert_int_equal(byte_at(t, FAKE_DATA), 'd');
	assert_null(ray_regions_create(t, NULL, &r));
	ray_regions_list(r, &n);
	assert_int_equal(n, 2);
}

static size_t count_warnings(struct ray_target *t)
{
	size_t n = 0;

	for (const char *const *w = ray_target_warnings(t); *w; w++)
		n++;
	return n;
}

/* A core whose program headers are all the same, but for their addresses; notes are the real ones unless p_offset
 * says otherwise. */
static void write_many(const struct fake_core *f, size_t count, const Elf64_Phdr *all, uint64_t step)
{
	ray_auto_text core = { 0 }, many = { 0 };
	Elf64_Ehdr *h;
	Elf64_Phdr p = *all;
	uint64_t notes, size;

	fake_core_build(&core, f);
	h = (Elf64_Ehdr *)(void *)core.bytes;
	notes = ((Elf64_Phdr *)(void *)(core.bytes + sizeof(*h)))->p_offset;
	size = ((Elf64_Phdr *)(void *)(core.bytes + sizeof(*h)))->p_filesz;
	h->e_phnum = (Elf64_Half)count;
	h->e_phoff = core.length;
	for (size_t i = 0; i < count; i++) {
		if (p.p_type == PT_NOTE && !p.p_offset) {
			p.p_offset = notes;
			p.p_filesz = size;
		}
		ray_text_add_bytes(&many, &p, sizeof(p));
		p.p_vaddr += step;
	}
	ray_text_add_bytes(&core, many.bytes, many.length);
	write_file(core_path, core.bytes, core.length);
}

static void the_same_warning_is_given_once(void **state)
{
	Elf64_Phdr beyond = { .p_type = PT_NOTE, .p_offset = 1ull << 40, .p_filesz = 4096 };
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;

	(void)state;
	write_many(&f, 60000, &beyond, 0);
	assert_null(open_with((struct ray_target_options){ 0 }, &t));
	assert_true(has_warning(t, "the core is cut inside its notes"));
	assert_true(has_warning(t, "60000 program headers make no sense"));
	assert_true(count_warnings(t) < 10);
}

static void threads_that_are_noted_again_and_again_count_once(void **state)
{
	Elf64_Phdr notes = { .p_type = PT_NOTE };
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;
	size_t n;

	(void)state;
	write_many(&f, 60000, &notes, 0);
	assert_null(open_with((struct ray_target_options){ 0 }, &t));
	ray_target_threads(t, &n);
	assert_int_equal(n, RAY_COUNT(tids) - 1);
	assert_true(has_warning(t, "have the id of another"));
	assert_int_equal(ray_target_signal(t), 6);
}

/* Each of many segments claims the whole file: what reads all of them must not read it so many times. */
static void segments_that_claim_the_same_bytes_share_a_budget(void **state)
{
	Elf64_Phdr whole = { .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = 1 << 30, .p_filesz = 1 << 20 };
	struct fake_core f = usual();
	ray_auto(ray_target, t) = NULL;
	struct stat st;

	(void)state;
	write_many(&f, 60000, &whole, 1 << 21);
	assert_int_equal(stat(core_path, &st), 0);
	assert_null(open_with((struct ray_target_options){ 0 }, &t));
	assert_true(ray_target_dumped(t, 0, UINT64_MAX) >= (uint64_t)st.st_size);
	assert_true(ray_target_dumped(t, 0, UINT64_MAX) <= 4 * (uint64_t)st.st_size);
	assert_true(has_warning(t, "make no sense"));
	assert_int_equal(byte_at(t, 1 << 30), 0x7f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, fresh_program)
	const struct CMUnitTest tests[] = {
		TEST(threads_come_with_the_main_one_first),
		TEST(mappings_have_names_modes_and_dumped_bytes),
		TEST(memory_comes_from_the_core_and_then_from_the_file),
		TEST(arguments_and_environment_come_from_the_stack),
		TEST(without_a_stack_the_kernels_note_has_the_command),
		TEST(data_is_not_taken_from_the_file_when_written_pages_are_left_out),
		TEST(own_notes_are_found_and_name_threads),
		TEST(own_note_on_mappings_names_them),
		TEST(a_damaged_own_note_is_only_a_warning),
		TEST(more_than_65534_segments_are_counted_in_the_section_header),
		TEST(a_program_of_another_build_is_an_error_unless_forced),
		TEST(without_build_ids_the_segments_are_compared),
		TEST(a_missing_program_leaves_the_rest_readable),
		TEST(exe_and_sysroot_say_where_the_program_is),
		TEST(a_path_may_have_the_sysroot_in_it_already),
		TEST(wrong_exe_and_sysroot_are_errors),
		TEST(a_deleted_program_is_looked_for_under_its_old_name),
		TEST(paths_with_control_bytes_are_made_safe_in_warnings),
		TEST(what_is_no_core_is_named),
		TEST(directories_and_fifos_are_refused_at_once),
		TEST(a_core_cut_anywhere_gives_what_is_left),
		TEST(the_warning_of_a_cut_core_counts_the_bytes),
		TEST(segments_that_overlap_do_not_confuse),
		TEST(a_segment_of_exabytes_is_only_what_the_core_holds),
		TEST(the_same_warning_is_given_once),
		TEST(threads_that_are_noted_again_and_again_count_once),
		TEST(segments_that_claim_the_same_bytes_share_a_budget),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
