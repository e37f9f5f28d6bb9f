/* test_profile_format.c - formats by name, files written whole or not at all. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "fake_profile.h"

static char directory[64];

static int setup(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/noderay-format-XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];
	(void)state;

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static const char *in(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void a_format_is_found_by_name_and_by_the_end_of_a_file(void **state)
{
	const struct ray_profile_format *f;
	ray_auto(ray_error, err) = NULL;
	(void)state;

	assert_null(ray_profile_format_find("folded", "x.html", &f));
	assert_string_equal(f->name, "folded");
	assert_null(ray_profile_format_find("txt", "x.html", &f));
	assert_string_equal(f->name, "text");
	assert_null(ray_profile_format_find(".pb.gz", "x.html", &f));
	assert_string_equal(f->name, "pprof");
	assert_null(ray_profile_format_find(NULL, "/tmp/X.FOLDED", &f));
	assert_string_equal(f->name, "folded");
	err = ray_profile_format_find("fold", "x", &f);
	assert_int_equal(ray_error_code(err), RAY_USAGE);
	assert_string_equal(ray_error_text(err), "no such format: 'fold'");
	assert_non_null(strstr(ray_error_remedy_text(err), "folded"));
}

static void a_file_is_replaced_as_a_whole_and_a_link_stays_one(void **state)
{
	ray_auto(ray_profile, p) = fake_profile();
	ray_auto(ray_profile, again) = NULL;
	const struct ray_profile_format *f;
	struct stat st;
	(void)state;

	assert_null(ray_profile_format_find("folded", "", &f));
	assert_null(ray_profile_write(p, f, in("real.folded")));
	assert_int_equal(chmod(in("real.folded"), 0640), 0);
	assert_int_equal(symlink("real.folded", in("link.folded")), 0);
	assert_null(ray_profile_write(p, f, in("link.folded")));
	assert_int_equal(lstat(in("link.folded"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(in("real.folded"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_null(ray_profile_read(in("link.folded"), &again));
	assert_int_equal(again->samples.n, 8);
	assert_null(ray_profile_write(p, f, "/dev/null"));
}

static void what_cannot_be_written_says_so_and_leaves_nothing(void **state)
{
	ray_auto(ray_profile, p) = fake_profile();
	const struct ray_profile_format *f;
	ray_auto(ray_error, err) = NULL;
	ray_auto(ray_error, full) = NULL;
	(void)state;

	assert_null(ray_profile_format_find("folded", "", &f));
	err = ray_profile_write(p, f, in("none/x.folded"));
	assert_non_null(strstr(ray_error_text(err), "none/x.folded: cannot be written: No such file"));
	full = ray_profile_write(p, f, "/dev/full");
	assert_string_equal(ray_error_text(full), "/dev/full: cannot be written: No space left on device");
}

static void packed_files_are_unpacked(void **state)
{
	ray_auto(ray_profile, p) = NULL;
	ray_auto(ray_error, err) = NULL;
	gzFile z = gzopen(in("x.folded.gz"), "w");
	(void)state;

	gzputs(z, "a;b 7\n");
	gzclose(z);
	assert_null(ray_profile_read(in("x.folded.gz"), &p));
	assert_int_equal(ray_profile_weight(p), 7);
	assert_int_equal(truncate(in("x.folded.gz"), 20), 0);
	ray_profile_free(ray_take(p));
	err = ray_profile_read(in("x.folded.gz"), &p);
	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	assert_non_null(strstr(ray_error_text(err), "gzip"));
}

static void what_is_not_there_is_unreadable(void **state)
{
	struct ray_profile *p = NULL;
	ray_auto(ray_error, gone) = ray_profile_read(in("gone"), &p);
	ray_auto(ray_error, wrong) = ray_profile_read(directory, &p);
	(void)state;

	assert_int_equal(ray_error_code(gone), RAY_UNREADABLE);
	assert_non_null(strstr(ray_error_text(gone), "gone: cannot be opened: No such file or directory"));
	assert_non_null(strstr(ray_error_text(wrong), "is a directory"));
}

static void names_of_files_expand(void **state)
{
	ray_auto_memory char *name = ray_profile_expand("a-%p-%%-%x-%", 42), *time = ray_profile_expand("%t", 1);
	ray_auto_memory char *host = ray_profile_expand("%h", 1);
	(void)state;

	assert_string_equal(name, "a-42-%-%x-%");
	assert_int_equal(strlen(time), strlen("20261115-142305"));
	assert_int_equal(time[8], '-');
	assert_true(*host && !strchr(host, '/'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_format_is_found_by_name_and_by_the_end_of_a_file),
		cmocka_unit_test(a_file_is_replaced_as_a_whole_and_a_link_stays_one),
		cmocka_unit_test(what_cannot_be_written_says_so_and_leaves_nothing),
		cmocka_unit_test(packed_files_are_unpacked),
		cmocka_unit_test(what_is_not_there_is_unreadable),
		cmocka_unit_test(names_of_files_expand),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
