/* test_target_unpack.c - packed streams, whole, cut and damaged. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "base/text.h"
#include "target/spool.h"
#include "target/unpack.h"

enum { PLAIN = 3 << 20 };

static unsigned char *plain, *packed, *again;

/* Some of it packs well, some does not, some is zeroes. */
static int make_plain(void **state)
{
	uint32_t x = 1;

	(void)state;
	plain = calloc(1, PLAIN);
	packed = malloc(2 * PLAIN);
	again = malloc(PLAIN + 1);
	for (size_t i = 0; i < PLAIN / 3; i++)
		plain[i] = (unsigned char)(x = x * 1103515245 + 12345);
	memset(plain + PLAIN / 3, 'a', PLAIN / 3);
	return 0;
}

static int free_plain(void **state)
{
	(void)state;
	free(plain);
	free(packed);
	free(again);
	return 0;
}

static size_t pack(enum ray_packing packing, const void *bytes, size_t size)
{
	size_t at = 0;
	z_stream z = {
		.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size, .next_out = packed, .avail_out = 2 * PLAIN
	};

	if (packing == RAY_PACKED_ZSTD)
		return ZSTD_compress(packed, 2 * PLAIN, bytes, size, 1);
	if (packing == RAY_PACKED_XZ) {
		assert_int_equal(
			lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, bytes, size, packed, &at, 2 * PLAIN),
			LZMA_OK);
		return at;
	}
	if (packing == RAY_PACKED_LZ4)
		return LZ4F_compressFrame(packed, 2 * PLAIN, bytes, size, NULL);
	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return 2 * PLAIN - z.avail_out;
}

static int file_of(const void *bytes, size_t size, unsigned times)
{
	int fd = memfd_create("packed", MFD_CLOEXEC);

	while (times--)
		assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

static const enum ray_packing all[] = { RAY_PACKED_ZSTD, RAY_PACKED_LZ4, RAY_PACKED_GZIP, RAY_PACKED_XZ };

static void packings_are_told_by_their_first_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < RAY_COUNT(all); i++) {
		pack(all[i], "x", 1);
		assert_int_equal(ray_packing_of(packed, RAY_PACKING_MAGIC), all[i]);
		assert_int_equal(ray_packing_of(packed, 2), RAY_PACKED_NOT);
	}
	assert_int_equal(ray_packing_of((const unsigned char *)"\x7f"
							       "ELF\2\1",
					6),
			 RAY_PACKED_NOT);
	assert_int_equal(ray_packing_of((const unsigned char *)"\xfd"
							       "7zXZ\0",
					6),
			 RAY_PACKED_XZ);
	assert_int_equal(ray_packing_of((const unsigned char *)"\x50\x2a\x4d\x18\0\0", 6), RAY_PACKED_ZSTD);
	assert_string_equal(ray_packing_name(RAY_PACKED_LZ4), "lz4");
}

static void what_was_packed_comes_out_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < RAY_COUNT(all); i++) {
		size_t size = pack(all[i], plain, PLAIN);
		ray_auto_fd int fd = file_of(packed, size, 1);
		ray_auto(ray_unpacker, u) = NULL;

		assert_null(ray_unpacker_create(fd, all[i], &u));
		assert_int_equal(ray_unpacker_read(u, again, 5), 5);
		assert_int_equal(ray_unpacker_read(u, again + 5, PLAIN), PLAIN - 5);
		assert_memory_equal(again, plain, PLAIN);
		assert_null(ray_unpacker_trouble(u));
		assert_int_equal(ray_unpacker_consumed(u), size);
		assert_int_equal(ray_unpacker_read(u, again, 1), 0);
	}
}

static void frames_one_after_the_other_are_one_stream(void **state)
{
	(void)state;
	for (size_t i = 0; i < RAY_COUNT(all); i++) {
		ray_auto_fd int fd = file_of(packed, pack(all[i], "hello, ", 7), 3);
		ray_auto(ray_unpacker, u) = NULL;

		assert_null(ray_unpacker_create(fd, all[i], &u));
		assert_int_equal(ray_unpacker_read(u, again, 100), 21);
		assert_memory_equal(again, "hello, hello, hello, ", 21);
		assert_null(ray_unpacker_trouble(u));
	}
}

static void a_cut_stream_gives_what_came_before_the_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < RAY_COUNT(all); i++) {
		size_t size = pack(all[i], plain, PLAIN), n;
		ray_auto_fd int fd = file_of(packed, size - size / 4, 1);
		ray_auto(ray_unpacker, u) = NULL;

		assert_null(ray_unpacker_create(fd, all[i], &u));
		n = ray_unpacker_read(u, again, PLAIN);
		assert_true(n > PLAIN / 8 && n < PLAIN);
		assert_memory_equal(again, plain, n);
		assert_string_equal(ray_unpacker_trouble(u), "it ends early");
	}
}

static void a_damaged_stream_says_so_and_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < RAY_COUNT(all); i++) {
		size_t size = pack(all[i], plain, PLAIN);
		ray_auto(ray_unpacker, u) = NULL;
		ray_auto_fd int fd = -1;

		memset(packed + size / 2, 0xff, 64);
		fd = file_of(packed, size, 1);
		assert_null(ray_unpacker_create(fd, all[i], &u));
		ray_unpacker_read(u, again, PLAIN + 1);
		assert_int_equal(ray_unpacker_read(u, again, 1), 0);
		if (all[i] != RAY_PACKED_LZ4) /* its frames need not have a checksum */
			assert_non_null(ray_unpacker_trouble(u));
	}
}

static struct ray_error *accept(const unsigned char *bytes, size_t size)
{
	(void)bytes;
	return size ? NULL : ray_error_new(RAY_UNREADABLE, "is empty");
}

static struct ray_error *refuse(const unsigned char *bytes, size_t size)
{
	(void)bytes;
	(void)size;
	return ray_error_new(RAY_UNREADABLE, "not what is wanted");
}

static void a_spool_holds_the_plain_bytes_and_no_zeroes(void **state)
{
	struct ray_spool spool = { "x", accept };
	char *trouble = NULL;
	int out = -1;
	ray_auto_fd int fd = file_of(packed, pack(RAY_PACKED_ZSTD, plain, PLAIN), 1);

	(void)state;
	assert_null(ray_spool_unpack(&spool, fd, RAY_PACKED_ZSTD, &out, &trouble));
	assert_null(trouble);
	assert_int_equal(pread(out, again, PLAIN + 1, 0), PLAIN);
	assert_memory_equal(again, plain, PLAIN);
	assert_true(lseek(out, 0, SEEK_HOLE) <= PLAIN - PLAIN / 3 + 4096);
	close(out);
}

static void a_spool_ends_before_the_rest_when_the_start_is_wrong(void **state)
{
	struct ray_spool spool = { "x", refuse };
	ray_auto(ray_error, err) = NULL;
	char *trouble = NULL;
	int out = -1;
	ray_auto_fd int fd = file_of(packed, pack(RAY_PACKED_GZIP, plain, PLAIN), 1);

	(void)state;
	err = ray_spool_unpack(&spool, fd, RAY_PACKED_GZIP, &out, &trouble);
	assert_string_equal(ray_error_text(err), "not what is wanted");
	assert_int_equal(out, -1);
}

static void a_spool_of_nonsense_says_why(void **state)
{
	struct ray_spool spool = { "x", accept };
	ray_auto(ray_error, err) = NULL;
	char *trouble = NULL;
	int out = -1;
	ray_auto_fd int fd = file_of("\x28\xb5\x2f\xfd nonsense nonsense nonsense", 32, 1);

	(void)state;
	err = ray_spool_unpack(&spool, fd, RAY_PACKED_ZSTD, &out, &trouble);
	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	assert_memory_equal(ray_error_text(err), "cannot be unpacked: ", 20);
}

static void a_spool_without_a_place_says_what_to_set(void **state)
{
	struct ray_spool spool = { "x", accept };
	ray_auto(ray_error, err) = NULL;
	char *trouble = NULL;
	int out = -1;
	ray_auto_fd int fd = file_of(packed, pack(RAY_PACKED_ZSTD, "x", 1), 1);

	(void)state;
	setenv("TMPDIR", "/nonexistent", 1);
	err = ray_spool_unpack(&spool, fd, RAY_PACKED_ZSTD, &out, &trouble);
	unsetenv("TMPDIR");
	assert_int_equal(ray_error_code(err), RAY_FAILED);
	assert_string_equal(ray_error_text(err),
			    "cannot make a temporary file in /nonexistent: No such file or directory");
	assert_string_equal(ray_error_remedy_text(err), "set TMPDIR to a directory with room for the unpacked core");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packings_are_told_by_their_first_bytes),
		cmocka_unit_test(what_was_packed_comes_out_again),
		cmocka_unit_test(frames_one_after_the_other_are_one_stream),
		cmocka_unit_test(a_cut_stream_gives_what_came_before_the_cut),
		cmocka_unit_test(a_damaged_stream_says_so_and_ends),
		cmocka_unit_test(a_spool_holds_the_plain_bytes_and_no_zeroes),
		cmocka_unit_test(a_spool_ends_before_the_rest_when_the_start_is_wrong),
		cmocka_unit_test(a_spool_of_nonsense_says_why),
		cmocka_unit_test(a_spool_without_a_place_says_what_to_set),
	};

	return cmocka_run_group_tests(tests, make_plain, free_plain);
}
