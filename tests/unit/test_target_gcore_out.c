/* test_target_gcore_out.c - a file that appears when it is whole. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/interrupt.h"
#include "target/gcore_out.h"

static char directory[] = "/tmp/noderay-out-XXXXXX";
static char path[64];
static unsigned char some[3 * 4096]; /* the page in the middle is zeros */

static int set_up(void **state)
{
	(void)state;
	memset(some, 'x', 4096);
	memset(some + 8192, 'y', 4096);
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/core", directory);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static bool exists(void)
{
	return !access(path, F_OK);
}

static void write_whole(bool zstd, bool force)
{
	ray_auto(ray_out, o) = NULL;

	assert_null(ray_out_open(&(struct ray_out_options){ .path = path, .zstd = zstd, .force = force }, &o));
	assert_null(ray_out_put(o, 0, some, sizeof(some)));
	assert_null(ray_out_put(o, 1 << 20, some, 4096));
	assert_null(ray_out_finish(o, 2 << 20));
}

static void check_content(const unsigned char *bytes)
{
	for (size_t i = 0; i < sizeof(some); i++)
		assert_int_equal(bytes[i], some[i]);
	assert_int_equal(bytes[sizeof(some)], 0);
	assert_int_equal(bytes[1 << 20], 'x');
	assert_int_equal(bytes[(2 << 20) - 1], 0);
}

static size_t read_back(unsigned char *into, size_t size)
{
	ray_auto_file FILE *f = fopen(path, "re");

	assert_non_null(f);
	return fread(into, 1, size, f);
}

static void it_is_there_when_it_is_whole_and_has_holes(void **state)
{
	static unsigned char bytes[4 << 20];
	struct stat st;
	(void)state;

	write_whole(false, false);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 2 << 20);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(st.st_blocks * 512 <= 64 << 10);
	assert_int_equal(read_back(bytes, sizeof(bytes)), 2 << 20);
	check_content(bytes);
	unlink(path);
}

static void packed_it_says_the_same(void **state)
{
	static unsigned char packed[1 << 20], bytes[2 << 20];
	size_t size;
	(void)state;

	write_whole(true, false);
	size = read_back(packed, sizeof(packed));
	assert_int_equal(ZSTD_decompress(bytes, sizeof(bytes), packed, size), 2 << 20);
	check_content(bytes);
	unlink(path);
}

static void what_was_not_finished_leaves_nothing(void **state)
{
	struct ray_out *o = NULL;
	(void)state;

	assert_null(ray_out_open(&(struct ray_out_options){ .path = path }, &o));
	assert_null(ray_out_put(o, 0, some, sizeof(some)));
	ray_out_close(o);
	assert_false(exists());
}

static void an_interrupt_is_an_error(void **state)
{
	ray_auto(ray_out, o) = NULL;
	ray_auto(ray_error, err) = NULL;
	(void)state;

	assert_null(ray_out_open(&(struct ray_out_options){ .path = path }, &o));
	ray_interrupted = 1;
	err = ray_out_put(o, 0, some, sizeof(some));
	ray_interrupted = 0;
	assert_non_null(err);
	assert_non_null(strstr(ray_error_text(err), "interrupted"));
}

static void an_old_file_is_replaced_only_by_force(void **state)
{
	ray_auto(ray_out, o) = NULL;
	ray_auto(ray_error, err) = NULL;
	(void)state;

	write_whole(false, false);
	err = ray_out_open(&(struct ray_out_options){ .path = path }, &o);
	assert_non_null(err);
	assert_non_null(strstr(ray_error_text(err), "exists"));
	write_whole(false, true);
	assert_true(exists());
	unlink(path);
}

static void one_that_came_meanwhile_is_not_replaced(void **state)
{
	ray_auto(ray_out, o) = NULL;
	ray_auto(ray_error, err) = NULL;
	(void)state;

	assert_null(ray_out_open(&(struct ray_out_options){ .path = path }, &o));
	write_whole(false, false);
	err = ray_out_finish(o, 4096);
	assert_non_null(err);
	unlink(path);
}

static void too_little_room_is_told_before(void **state)
{
	ray_auto(ray_out, o) = NULL;
	ray_auto(ray_error, err) = NULL;
	(void)state;

	assert_null(ray_out_open(&(struct ray_out_options){ .path = path }, &o));
	assert_null(ray_out_check_room(o, 4096, 4096));
	err = ray_out_check_room(o, 1ull << 60, 1ull << 60);
	assert_non_null(err);
	assert_non_null(strstr(ray_error_text(err), "1.0E needed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_there_when_it_is_whole_and_has_holes),
		cmocka_unit_test(packed_it_says_the_same),
		cmocka_unit_test(what_was_not_finished_leaves_nothing),
		cmocka_unit_test(an_interrupt_is_an_error),
		cmocka_unit_test(an_old_file_is_replaced_only_by_force),
		cmocka_unit_test(one_that_came_meanwhile_is_not_replaced),
		cmocka_unit_test(too_little_room_is_told_before),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
