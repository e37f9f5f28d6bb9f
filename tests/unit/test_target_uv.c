/* test_target_uv.c - libuv's loops in made-up memory. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/uv.h"
#include "target/uv_layout.h"

/* One piece of memory at BASE; everything below has its place in it. */
enum {
	SIZE = 16384,
	LOOP = 0,
	TCP = 1024,
	UDP = 1536,
	PIPE = 2048,
	WATCH = 2560,
	PATH = 2816,
	TABLE = 4096,
	FIELDS = 8192
};
static const uint64_t BASE = 0x7f0000000000;

static unsigned char memory[SIZE];
static struct ray_arena *arena;
static uint64_t change_at; /* a read of this address finds the list changed, each time */

static size_t read_fake(void *arg, uint64_t address, void *buffer, size_t size)
{
	(void)arg;
	if (address < BASE || address >= BASE + SIZE)
		return 0;
	if (size > BASE + SIZE - address)
		size = BASE + SIZE - address;
	memcpy(buffer, memory + (address - BASE), size);
	if (change_at && address == change_at)
		memset((char *)buffer + UV_HANDLE_QUEUE + 8, 0x11, 8);
	return size;
}

static const struct ray_reader reader = { read_fake, NULL };

static void put64(size_t at, uint64_t value)
{
	memcpy(memory + at, &value, 8);
}

static void put32(size_t at, uint32_t value)
{
	memcpy(memory + at, &value, 4);
}

static void empty_list(size_t at)
{
	put64(at, BASE + at);
	put64(at + 8, BASE + at);
}

/* Puts a handle at the end of the loop's list. */
static void add_handle(size_t at, enum ray_uv_type type, uint32_t flags)
{
	uint64_t head = LOOP + UV_LOOP_HANDLE_QUEUE, last, self = BASE + at + UV_HANDLE_QUEUE;

	memcpy(&last, memory + head + 8, 8);
	put64(last - BASE, self);
	put64(at + UV_HANDLE_QUEUE, BASE + head);
	put64(at + UV_HANDLE_QUEUE + 8, last);
	put64(head + 8, self);
	put64(at + UV_HANDLE_LOOP, BASE + LOOP);
	put32(at + UV_HANDLE_TYPE, type);
	put32(at + UV_HANDLE_FLAGS, flags);
}

static void watch(int fd, size_t watcher)
{
	put32(watcher + UV_IO_FD, (uint32_t)fd);
	put64(TABLE + (size_t)fd * 8, BASE + watcher);
}

static void make_ring(size_t tail, int fd)
{
	put64(FIELDS + tail - 32, 1024);
	put64(FIELDS + tail - 24, 8256);
	put64(FIELDS + tail - 16, 8256);
	put64(FIELDS + tail - 8, 16384);
	put32(FIELDS + tail, (uint32_t)fd);
}

static int make_loop(void **state)
{
	(void)state;
	change_at = 0;
	memset(memory, 0, sizeof(memory));
	empty_list(LOOP + UV_LOOP_HANDLE_QUEUE);
	empty_list(LOOP + UV_LOOP_PENDING_QUEUE);
	empty_list(LOOP + UV_LOOP_WATCHER_QUEUE);
	put32(LOOP + UV_LOOP_BACKEND_FD, 3);
	put64(LOOP + UV_LOOP_INTERNAL_FIELDS, BASE + FIELDS);
	put64(LOOP + UV_LOOP_WATCHERS, BASE + TABLE);
	put32(LOOP + UV_LOOP_NWATCHERS, 62);
	put32(LOOP + UV_LOOP_NFDS, 5);
	put32(LOOP + UV_LOOP_ASYNC_WFD, (uint32_t)-1);
	watch(5, LOOP + UV_LOOP_ASYNC_WATCHER);
	put32(LOOP + UV_LOOP_SIGNAL_PIPE, 6);
	put32(LOOP + UV_LOOP_SIGNAL_PIPE + 4, 7);
	put32(LOOP + UV_LOOP_EMFILE_FD, (uint32_t)-1);
	put32(LOOP + UV_LOOP_INOTIFY_FD, 8);
	add_handle(LOOP + UV_LOOP_WQ_ASYNC, RAY_UV_ASYNC, UV_FLAG_ACTIVE);
	add_handle(LOOP + UV_LOOP_CHILD_WATCHER, RAY_UV_SIGNAL, 0);
	add_handle(TCP, RAY_UV_TCP, UV_FLAG_ACTIVE | UV_FLAG_REF | UV_FLAG_READING);
	put32(TCP + UV_STREAM_ACCEPTED_FD, (uint32_t)-1);
	watch(10, TCP + UV_STREAM_WATCHER);
	add_handle(UDP, RAY_UV_UDP, UV_FLAG_ACTIVE);
	watch(11, UDP + UV_UDP_WATCHER);
	add_handle(PIPE, RAY_UV_NAMED_PIPE, UV_FLAG_ACTIVE);
	put64(PIPE + UV_STREAM_CONNECTION_CB, 0x401000);
	put32(PIPE + UV_STREAM_ACCEPTED_FD, (uint32_t)-1);
	put32(PIPE + UV_PIPE_IPC, 0);
	watch(12, PIPE + UV_STREAM_WATCHER);
	add_handle(WATCH, RAY_UV_FS_EVENT, UV_FLAG_ACTIVE);
	put64(WATCH + UV_FS_EVENT_PATH, BASE + PATH);
	strcpy((char *)memory + PATH, "/tmp/watched");
	return 0;
}

static const struct ray_uv_handle *handle_of(const struct ray_uv_loop *l, size_t at)
{
	size_t i;

	for (i = 0; i < l->handle_count; i++)
		if (l->handles[i].address == BASE + at)
			return &l->handles[i];
	return NULL;
}

static void a_loop_is_found_by_its_own_pointers(void **state)
{
	uint64_t found[4];
	(void)state;

	assert_int_equal(ray_uv_scan(memory, sizeof(memory), BASE, found, 4), 1);
	assert_true(found[0] == BASE + LOOP);
	/* The same bytes elsewhere are no loop. */
	assert_int_equal(ray_uv_scan(memory, sizeof(memory), BASE + 8, found, 4), 0);
	assert_int_equal(ray_uv_scan(memory, 7, BASE, found, 4), 0);
}

static void a_whole_loop_is_read(void **state)
{
	struct ray_uv_loop l;
	(void)state;

	assert_true(ray_uv_read_loop(&reader, BASE + LOOP, arena, &l));
	assert_false(l.torn);
	assert_int_equal(l.backend_fd, 3);
	assert_int_equal(l.async_fd, 5);
	assert_int_equal(l.async_write_fd, -1);
	assert_int_equal(l.signal_fds[0], 6);
	assert_int_equal(l.signal_fds[1], 7);
	assert_int_equal(l.inotify_fd, 8);
	assert_int_equal(l.emfile_fd, -1);
	assert_int_equal(l.control_ring, -1);
	assert_int_equal(l.handle_count, 6);
	assert_int_equal(handle_of(&l, TCP)->fd, 10);
	assert_true(handle_of(&l, TCP)->reading);
	assert_false(handle_of(&l, TCP)->listens);
	assert_int_equal(handle_of(&l, UDP)->fd, 11);
	assert_int_equal(handle_of(&l, PIPE)->fd, 12);
	assert_true(handle_of(&l, PIPE)->listens);
	assert_string_equal(handle_of(&l, WATCH)->path, "/tmp/watched");
	assert_false(l.runs_js);
}

static void an_environment_is_known_by_its_handles(void **state)
{
	static const enum ray_uv_type types[] = { RAY_UV_TIMER, RAY_UV_CHECK, RAY_UV_IDLE, RAY_UV_PREPARE };
	struct ray_uv_loop l;
	size_t i;
	(void)state;

	for (i = 0; i < RAY_COUNT(types); i++)
		add_handle(10240 + i * 256, types[i], 0);
	assert_true(ray_uv_read_loop(&reader, BASE + LOOP, arena, &l));
	assert_true(l.runs_js);
}

static void rings_are_known_wherever_they_lie(void **state)
{
	/* Where the two descriptors lie in libuv 1.46 and in 1.51. */
	static const size_t tails[][2] = { { 320, 456 }, { 312, 432 } };
	struct ray_uv_loop l;
	size_t i;
	(void)state;

	for (i = 0; i < RAY_COUNT(tails); i++) {
		memset(memory + FIELDS, 0, 512);
		make_ring(tails[i][0], 20);
		assert_true(ray_uv_read_loop(&reader, BASE + LOOP, arena, &l));
		assert_int_equal(l.control_ring, 20);
		assert_int_equal(l.file_ring, -1);
		make_ring(tails[i][1], 21);
		assert_true(ray_uv_read_loop(&reader, BASE + LOOP, arena, &l));
		assert_int_equal(l.control_ring, 20);
		assert_int_equal(l.file_ring, 21);
	}
}

static void what_is_not_quite_a_loop_is_refused(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} damage[] = {
		{ UV_LOOP_BACKEND_FD, (uint32_t)-1 }, /* closed */
		{ UV_LOOP_WQ_ASYNC + UV_HANDLE_TYPE, RAY_UV_TIMER },
		{ UV_LOOP_CHILD_WATCHER + UV_HANDLE_LOOP, 0x1234 },
		{ UV_LOOP_CHILD_WATCHER + UV_HANDLE_TYPE, 0 },
		{ UV_LOOP_NWATCHERS, 0x7fffffff },
		{ UV_LOOP_NFDS, 1000 },
	};
	struct ray_uv_loop l;
	size_t i;

	for (i = 0; i < RAY_COUNT(damage); i++) {
		make_loop(state);
		put32(LOOP + damage[i].at, damage[i].value);
		assert_false(ray_uv_read_loop(&reader, BASE + LOOP, arena, &l));
	}
	assert_false(ray_uv_read_loop(&reader, 0x1000, arena, &l));
}

static void a_descriptor_that_the_table_gives_to_another_is_not_believed(void **state)
{
	struct ray_uv_loop l;
	(void)state;

	put64(TABLE + 10 * 8, BASE + UDP + UV_UDP_WATCHER);
	assert_true(ray_uv_read_loop(&reader, BASE + LOOP, arena, &l));
	assert_int_equal(handle_of(&l, TCP)->fd, -1);
	/* A stream that waits for nothing is in no table. */
	put64(TABLE + 10 * 8, 0);
	assert_true(ray_uv_read_loop(&reader, BASE + LOOP, arena, &l));
	assert_int_equal(handle_of(&l, TCP)->fd, 10);
}

static void a_list_that_changes_is_mended_by_the_table(void **state)
{
	struct ray_uv_loop l;
	(void)state;

	change_at = BASE + UDP;
	assert_true(ray_uv_read_loop(&reader, BASE + LOOP, arena, &l));
	assert_true(l.torn);
	assert_int_equal(handle_of(&l, TCP)->fd, 10);
	assert_int_equal(handle_of(&l, PIPE)->fd, 12);
	assert_null(handle_of(&l, WATCH));
}

static void a_list_that_runs_in_a_circle_ends(void **state)
{
	struct ray_uv_loop l;
	(void)state;

	put64(PIPE + UV_HANDLE_QUEUE, BASE + TCP + UV_HANDLE_QUEUE);
	assert_true(ray_uv_read_loop(&reader, BASE + LOOP, arena, &l));
	assert_true(l.torn);
	put64(TCP + UV_HANDLE_QUEUE, BASE + TCP + UV_HANDLE_QUEUE);
	put64(TCP + UV_HANDLE_QUEUE + 8, BASE + TCP + UV_HANDLE_QUEUE);
	assert_true(ray_uv_read_loop(&reader, BASE + LOOP, arena, &l));
	assert_true(l.torn);
	put64(TCP + UV_HANDLE_QUEUE, 8);
	assert_true(ray_uv_read_loop(&reader, BASE + LOOP, arena, &l));
}

/* A core of generated code, more than is ever searched and mostly holes, and of the loop, above it. */
static int make_core(uint64_t code_size)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr code, data;
	} c = { .header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_CORE,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_phoff = sizeof(Elf64_Ehdr),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 2 },
		.code = { .p_type = PT_LOAD,
			  .p_flags = PF_R | PF_W | PF_X,
			  .p_offset = 4096 + SIZE,
			  .p_vaddr = BASE - (1ull << 32),
			  .p_filesz = code_size,
			  .p_memsz = code_size },
		.data = { .p_type = PT_LOAD,
			  .p_flags = PF_R | PF_W,
			  .p_offset = 4096,
			  .p_vaddr = BASE,
			  .p_filesz = SIZE,
			  .p_memsz = SIZE } };
	int fd = memfd_create("core", MFD_CLOEXEC);

	assert_int_equal(pwrite(fd, &c, sizeof(c), 0), sizeof(c));
	assert_int_equal(pwrite(fd, memory, sizeof(memory), 4096), sizeof(memory));
	assert_int_equal(ftruncate(fd, (off_t)(4096 + SIZE + code_size)), 0);
	return fd;
}

static void generated_code_is_not_searched(void **state)
{
	ray_auto_fd int fd = make_core(1ull << 30);
	ray_auto(ray_target, t) = NULL;
	ray_auto(ray_uv, uv) = NULL;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_null(ray_target_open(&(struct ray_target_options){ .name = path }, &t));
	assert_null(ray_uv_find(t, NULL, 0, &uv));
	assert_false(uv->cut);
	assert_int_equal(uv->n, 1);
	assert_true(uv->loops[0].address == BASE + LOOP);
}

static void every_type_of_handle_has_a_name(void **state)
{
	int type;
	(void)state;

	for (type = 0; type < RAY_UV_TYPE_COUNT; type++)
		assert_true(*ray_uv_type_name((enum ray_uv_type)type));
	assert_string_equal(ray_uv_type_name(RAY_UV_TCP), "tcp");
	assert_string_equal(ray_uv_type_name(RAY_UV_SIGNAL), "signal");
	assert_string_equal(ray_uv_type_name((enum ray_uv_type)99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_loop_is_found_by_its_own_pointers, make_loop),
		cmocka_unit_test_setup(a_whole_loop_is_read, make_loop),
		cmocka_unit_test_setup(an_environment_is_known_by_its_handles, make_loop),
		cmocka_unit_test_setup(rings_are_known_wherever_they_lie, make_loop),
		cmocka_unit_test_setup(what_is_not_quite_a_loop_is_refused, make_loop),
		cmocka_unit_test_setup(a_descriptor_that_the_table_gives_to_another_is_not_believed, make_loop),
		cmocka_unit_test_setup(a_list_that_changes_is_mended_by_the_table, make_loop),
		cmocka_unit_test_setup(a_list_that_runs_in_a_circle_ends, make_loop),
		cmocka_unit_test_setup(generated_code_is_not_searched, make_loop),
		cmocka_unit_test(every_type_of_handle_has_a_name),
	};
	int failed;

	arena = ray_arena_create();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	ray_arena_free(arena);
	return failed;
}
