/* Searching, cutting and naming in the kernel, against tables and plain C. SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kern_run.h"

static struct kern_run run;

static void need(const char *function)
{
	if (kern_load(&run, function))
		return;
	if (strstr(run.skip, "not permitted"))
		skip();
	fail_msg("%s: %s", function, run.skip);
}

static uint64_t string(int i, const char *text)
{
	return text ? kern_string(&run, i, text) : 0;
}

/* What a function with one or two strings leaves; NULL when it gives NULL. */
static const char *text_of(uint64_t a, uint64_t b)
{
	int64_t ret = kern_call(&run, kern_temp(3), a, b, 0);

	return ret ? kern_memory(&run, (uint64_t)ret) : NULL;
}

static void index_and_rindex_are_those_of_perl(void **state)
{
	static const struct {
		const char *in, *what;
		int64_t start, first, last;
	} rows[] = {
		{ "foobarbaz", "barbaz", INT64_MIN, 3, 3 },
		{ "foofoofoo", "foo", INT64_MIN, 0, 6 },
		{ "foofoofoo", "foo", 1, 3, 0 },
		{ "foofoofoo", "foo", -1, 0, -1 },
		{ "foofoofoo", "foo", 400, -1, 6 },
		{ "foobar", "foobarbaz", INT64_MIN, -1, -1 },
		{ "", "foobar", INT64_MIN, -1, -1 },
		{ "foobar", "", INT64_MIN, 0, 6 },
		{ "foobar", "", -1, 0, 0 },
		{ "foobar", "", 3, 3, 3 },
		{ "foobar", "", 400, 6, 6 },
		{ "", "", INT64_MIN, 0, 0 },
		{ "aaaaaaab", "aab", INT64_MIN, 5, 5 },
		{ "foobar", "foobar", 0, 0, 0 },
	};

	(void)state;
	need("ray_index");
	for (size_t i = 0; i < RAY_COUNT(rows); i++)
		assert_int_equal(
			kern_call(&run, string(0, rows[i].in), string(1, rows[i].what), (uint64_t)rows[i].start, 0),
			rows[i].first);
	need("ray_rindex");
	for (size_t i = 0; i < RAY_COUNT(rows); i++)
		assert_int_equal(
			kern_call(&run, string(0, rows[i].in), string(1, rows[i].what), (uint64_t)rows[i].start, 0),
			rows[i].last);
}

static void substr_is_that_of_perl(void **state)
{
	static const struct {
		const char *in;
		int64_t index, length;
		const char *out;
	} rows[] = {
		{ "foobarbazbop", 3, INT64_MAX, "barbazbop" },
		{ "foobarbazbop", 300, INT64_MAX, "" },
		{ "foobarbazbop", -10, INT64_MAX, "obarbazbop" },
		{ "foobarbazbop", 4, 4, "arba" },
		{ "foobarbazbop", 3, -4, "barba" },
		{ "foobarbazbop", 3, -20, "" },
		{ "foobarbazbop", -1, 400, "p" },
		{ "abcde", -10, 3, "" },
		{ "abcde", -7, 3, "a" },
		{ "abcde", -10, INT64_MAX, "abcde" },
		{ "abcde", 2, 0, "" },
		{ "abcde", INT32_MIN, INT32_MAX, "abcd" },
	};

	(void)state;
	need("ray_substr");
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		assert_int_equal(kern_call(&run, kern_temp(3), string(0, rows[i].in), (uint64_t)rows[i].index,
					   (uint64_t)rows[i].length),
				 RAY_SCRATCH | kern_temp(3));
		assert_string_equal(kern_memory(&run, kern_temp(3)), rows[i].out);
	}
}

struct pair {
	const char *in, *out;
};

static void check_pairs(const char *function, const struct pair *rows, size_t count)
{
	need(function);
	for (size_t i = 0; i < count; i++) {
		const char *got = text_of(string(0, rows[i].in), 0);

		assert_non_null(got);
		if (strcmp(got, rows[i].out))
			fail_msg("%s(\"%s\") = \"%s\", expected \"%s\"", function, rows[i].in, got, rows[i].out);
	}
}

static void the_last_component_of_a_path(void **state)
{
	static const struct pair rows[] = { { "/foo/bar/baz", "baz" },
					    { "/foo/bar///baz/", "baz" },
					    { "/foo/bar/baz/.//", "." },
					    { "/", "/" },
					    { "//", "/" },
					    { "f/", "f" },
					    { "", "." },
					    { "foo", "foo" } };

	(void)state;
	check_pairs("ray_basename", rows, RAY_COUNT(rows));
}

static void the_directory_of_a_path(void **state)
{
	static const struct pair rows[] = { { "/foo/bar/baz", "/foo/bar" },
					    { "/foo/bar///baz/", "/foo/bar" },
					    { "/./.", "/." },
					    { "/", "/" },
					    { "/////", "/" },
					    { "f/", "." },
					    { "", "." },
					    { "foo/bar/baz/", "foo/bar" },
					    { "/.//", "/" },
					    { "//a", "/" } };

	(void)state;
	check_pairs("ray_dirname", rows, RAY_COUNT(rows));
}

static void a_path_is_cleaned(void **state)
{
	static const struct pair rows[] = {
		{ "/foo/bar///baz/", "/foo/bar/baz" },
		{ "/foo/bar/baz/./", "/foo/bar/baz" },
		{ "/foo/bar/../../baz/.//", "/baz" },
		{ "foo/bar/./././././baz/", "foo/bar/baz" },
		{ "/foo/bar/baz/../../../../../../", "/" },
		{ "/../../..", "/" },
		{ "/./", "/" },
		{ "/foo/bar/baz/../../bop/bang/../../bar/baz/", "/foo/bar/baz" },
		{ "./", "." },
		{ "//", "/" },
		{ "/./.", "/" },
		{ ".", "." },
		{ "", "" },
		{ "a/.", "a" },
		{ "./a", "a" },
		{ "././a", "a" },
		{ "..", ".." },
		{ "../..", "../.." },
		{ "../../../..", "../../../.." },
		{ "a/..", "." },
		{ "abc", "abc" },
		{ "ab/", "ab" },
		{ "z/a/../b", "z/b" },
		{ "/z/a/b/../../././c///d/e", "/z/c/d/e" },
		{ "/a/..", "/" },
		{ "/a/../..", "/" },
		{ "a/../..", ".." },
		{ "a/b/../../././c///d/e", "c/d/e" },
		{ "...", "..." },
		{ ".a/..b/c..", ".a/..b/c.." },
		{ "../a/../b", "../b" },
		{ "a/.../..", "a" },
		{ "../a/..", ".." },
		{ "a/../../b", "../b" },
	};

	(void)state;
	check_pairs("ray_cleanpath", rows, RAY_COUNT(rows));
}

static void letters_change(void **state)
{
	static const struct pair up[] = { { "azAZ09@[`{", "AZAZ09@[`{" },
					  { "", "" },
					  { "\xe4hello, w\xf6rld", "\xe4HELLO, W\xf6RLD" } };
	static const struct pair low[] = { { "azAZ09@[`{", "azaz09@[`{" },
					   { "HELLO WORLD AGAIN", "hello world again" } };

	(void)state;
	check_pairs("ray_toupper", up, RAY_COUNT(up));
	check_pairs("ray_tolower", low, RAY_COUNT(low));
}

static void space_around_is_stripped(void **state)
{
	static const struct pair rows[] = { { "  a b  ", "a b" }, { "", "" },	  { " \t\n", "" },
					    { "x", "x" },	  { "\tx", "x" }, { "x\r\n", "x" } };

	(void)state;
	check_pairs("ray_strip", rows, RAY_COUNT(rows));
}

static void strings_are_found_in_strings(void **state)
{
	(void)state;
	need("ray_strstr");
	assert_string_equal(text_of(string(0, "foobarbaz"), string(1, "bar")), "barbaz");
	assert_string_equal(text_of(string(0, "aaab"), string(1, "aab")), "aab");
	assert_string_equal(text_of(string(0, "foo"), string(1, "")), "foo");
	assert_null(text_of(string(0, "foo"), string(1, "food")));
	assert_null(text_of(string(0, "foo"), string(1, "x")));
	need("ray_strchr");
	assert_string_equal(text_of(string(0, "fooeyfoo"), 'y'), "yfoo");
	assert_null(text_of(string(0, "fooeyfoo"), 'x'));
	need("ray_strrchr");
	assert_string_equal(text_of(string(0, "fooeyfoo"), 'f'), "foo");
	assert_null(text_of(string(0, ""), 'x'));
}

static void tokens_come_one_by_one(void **state)
{
	static const char *const fields[] = { "Carrots", "Barley", "Oatmeal", "Beans" };

	(void)state;
	need("ray_strtok");
	kern_slot(&run)->strtok_at = 0;
	assert_null(text_of(0, string(1, ",")));
	assert_int_equal(kern_slot(&run)->fault, RAY_FAULT_BADADDR);
	for (size_t i = 0; i < RAY_COUNT(fields); i++)
		assert_string_equal(text_of(i ? 0 : string(0, ",,,Carrots,,Barley,Oatmeal,,,Beans,"), string(1, ",")),
				    fields[i]);
	assert_null(text_of(0, string(1, ",")));
	assert_null(text_of(0, string(1, ",")));
	assert_string_equal(text_of(string(0, "foo"), string(1, "")), "foo");
	assert_null(text_of(0, string(1, "")));
	assert_null(text_of(string(0, ""), string(1, "foo")));
	assert_int_equal(kern_slot(&run)->fault, 0);
	assert_null(text_of(string(0, "abc"), 0));
	assert_int_equal(kern_slot(&run)->fault, RAY_FAULT_BADADDR);
}

static void strings_are_joined_up_to_the_limit(void **state)
{
	char a[KERN_STRSIZE + 1] = { 0 };

	(void)state;
	need("ray_strjoin");
	assert_string_equal(text_of(string(0, "foo"), string(1, "bar")), "foobar");
	assert_string_equal(text_of(string(0, ""), string(1, "")), "");
	memset(a, 'x', KERN_STRSIZE - 2);
	assert_int_equal(strlen(text_of(string(0, a), string(1, "bar"))), KERN_STRSIZE);
	assert_string_equal(kern_memory(&run, kern_temp(3)) + KERN_STRSIZE - 3, "xba");
	memset(a, 'x', KERN_STRSIZE);
	assert_string_equal(text_of(string(0, a), string(1, "bar")), a);
}

static void numbers_become_text(void **state)
{
	static const int64_t numbers[] = { 0, 1, -1, 123456789, -123456789, INT64_MAX, INT64_MIN, 10, 99, 100 };
	char expected[32];

	(void)state;
	need("ray_lltostr");
	for (size_t i = 0; i < RAY_COUNT(numbers); i++) {
		snprintf(expected, sizeof(expected), "%" PRId64, numbers[i]);
		assert_string_equal(text_of((uint64_t)numbers[i], 0), expected);
		snprintf(expected, sizeof(expected), "%#" PRIx64, (uint64_t)numbers[i]);
		assert_string_equal(text_of((uint64_t)numbers[i], 16), expected);
		snprintf(expected, sizeof(expected), "%#" PRIo64, (uint64_t)numbers[i]);
		assert_string_equal(text_of((uint64_t)numbers[i], 8), expected);
	}
	assert_int_equal(strlen(text_of((uint64_t)INT64_MIN, 2)), 64);
	assert_null(text_of(5, 1));
	assert_int_equal(kern_slot(&run)->fault, RAY_FAULT_ILLOP);
}

static void addresses_of_networks(void **state)
{
	static const char *const six[] = { "fe80::214:4fff:fe0b:76c8",
					   "1080::808:c:417a",
					   "::1",
					   "::",
					   "::127.0.0.1",
					   "::ffff:127.0.0.1",
					   "::fffe:7f00:1",
					   "fe12:3456:789a:bcde:214::",
					   "fe12:3456:789a:bcde:214:4fff:fe0b:0",
					   "1:0:0:2::3",
					   "1::2:0:0:3" };
	unsigned char bytes[20] = { 192, 168, 1, 23 };

	(void)state;
	need("ray_inet_ntop");
	for (size_t i = 0; i < RAY_COUNT(six); i++) {
		inet_pton(AF_INET6, six[i], bytes);
		assert_int_equal(kern_call(&run, kern_temp(3), AF_INET6, (uintptr_t)bytes, 0),
				 RAY_SCRATCH | kern_temp(3));
		assert_string_equal(kern_memory(&run, kern_temp(3)), six[i]);
	}
	need("ray_inet_ntoa6");
	inet_pton(AF_INET6, "::ffff:127.0.0.1", bytes);
	assert_string_equal(text_of((uintptr_t)bytes, 0), "127.0.0.1");
	assert_string_equal(text_of((uintptr_t)bytes, 1), "::ffff:127.0.0.1");
	need("ray_inet_ntoa");
	inet_pton(AF_INET, "192.168.1.230", bytes);
	assert_string_equal(text_of((uintptr_t)bytes, 0), "192.168.1.230");
	need("ray_link_ntop");
	for (int i = 0; i < 20; i++)
		bytes[i] = (unsigned char)(i * 13);
	assert_string_equal(text_of(1, (uintptr_t)bytes), "00:0d:1a:27:34:41");
	assert_string_equal(text_of(32, (uintptr_t)bytes),
			    "00:0d:1a:27:34:41:4e:5b:68:75:82:8f:9c:a9:b6:c3:d0:dd:ea:f7");
}

static int setup(void **state)
{
	(void)state;
	kern_init(&run);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kern_deinit(&run);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(index_and_rindex_are_those_of_perl),
		cmocka_unit_test(substr_is_that_of_perl),
		cmocka_unit_test(the_last_component_of_a_path),
		cmocka_unit_test(the_directory_of_a_path),
		cmocka_unit_test(a_path_is_cleaned),
		cmocka_unit_test(letters_change),
		cmocka_unit_test(space_around_is_stripped),
		cmocka_unit_test(strings_are_found_in_strings),
		cmocka_unit_test(tokens_come_one_by_one),
		cmocka_unit_test(strings_are_joined_up_to_the_limit),
		cmocka_unit_test(numbers_become_text),
		cmocka_unit_test(addresses_of_networks),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
