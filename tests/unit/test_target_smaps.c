/* test_target_smaps.c - the kernel's counts per mapping. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "target/smaps.h"

static const char two_maps[] =
	"00400000-00402000 r-xp 00000000 08:01 123                        /opt/a b/node (deleted)\n"
	"Size:                  8 kB\nRss:                   4 kB\nPss:                   4 kB\n"
	"Shared_Dirty:          4 kB\nPrivate_Dirty:         8 kB\nAnonymous:             0 kB\n"
	"Swap:                  0 kB\nVmFlags: rd ex mr mw me sd \n"
	"7f0000000000-7f0000001000 rw-s 00000000 00:0e 99                 anon_inode:[io_uring]\n"
	"Rss:                   0 kB\nSwap:                 12 kB\nVmFlags: rd wr sh pf io dc dd \n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          [vsyscall]\n"
	"Rss:                   0 kB\nVmFlags: ex \n";

static struct ray_smaps *parsed(const char *from)
{
	ray_auto_memory char *text = strdup(from);
	struct ray_smaps *s = NULL;

	assert_null(ray_smaps_parse(text, &s));
	return s;
}

static void check(const struct ray_smaps *s)
{
	assert_int_equal(s->n, 3);
	assert_string_equal(s->at[0].name, "/opt/a b/node (deleted)");
	assert_string_equal(s->at[0].mode, "r-xp");
	assert_int_equal(s->at[0].rss, 4096);
	assert_int_equal(s->at[0].dirty, 12288);
	assert_int_equal(s->at[0].flags, 0);
	assert_int_equal(s->at[1].swap, 12288);
	assert_int_equal(s->at[1].flags, RAY_SMAP_PFNMAP | RAY_SMAP_IO | RAY_SMAP_DONTCOPY | RAY_SMAP_DONTDUMP);
	assert_true(s->at[2].end == 0xffffffffff601000);
}

static void counts_and_flags_are_read(void **state)
{
	ray_auto(ray_smaps, s) = parsed(two_maps);
	(void)state;

	check(s);
}

static void the_note_says_the_same(void **state)
{
	ray_auto(ray_smaps, s) = parsed(two_maps);
	ray_auto(ray_smaps, again) = NULL;
	json_t *json = ray_smaps_to_json(s);
	ray_auto_memory char *text = json_dumps(json, JSON_COMPACT);
	(void)state;

	json_decref(json);
	assert_null(ray_smaps_from_json(text, &again));
	check(again);
}

static void an_address_is_found_in_its_mapping_only(void **state)
{
	ray_auto(ray_smaps, s) = parsed(two_maps);
	(void)state;

	assert_null(ray_smaps_find(s, 0x3fffff));
	assert_ptr_equal(ray_smaps_find(s, 0x401fff), &s->at[0]);
	assert_null(ray_smaps_find(s, 0x402000));
	assert_ptr_equal(ray_smaps_find(s, 0x7f0000000000), &s->at[1]);
}

static void a_damaged_note_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{\"rows\":3}",
		"{\"rows\":[[]]}",
		"{\"rows\":[[\"0x2\",\"0x1\",\"rw-p\",\"\",0,0,0,0,\"\"]]}",
		"{\"rows\":[[\"0x1\",\"0x2\",\"rw-p-too-long\",\"\",0,0,0,0,\"\"]]}",
		"{\"rows\":[[\"0x1\",\"0x2\",\"rw-p\",\"\",-1,0,0,0,\"\"]]}",
	};
	(void)state;

	for (size_t i = 0; i < RAY_COUNT(bad); i++) {
		ray_auto(ray_smaps, s) = NULL;
		ray_auto(ray_error, err) = ray_smaps_from_json(bad[i], &s);

		assert_non_null(err);
		assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_and_flags_are_read),
		cmocka_unit_test(the_note_says_the_same),
		cmocka_unit_test(an_address_is_found_in_its_mapping_only),
		cmocka_unit_test(a_damaged_note_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
