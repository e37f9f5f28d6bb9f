/* test_profile_pack.c - profiles inside HTML and SVG: what is written is read again, and damage is told. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <zlib.h>

#include "base/base64.h"
#include "fake_profile.h"
#include "profile/color.h"
#include "profile/formats.h"
#include "profile/markup.h"
#include "profile/pack.h"

enum { EVERYTHING = 0xffff };

typedef struct ray_error *writer(const struct ray_profile *p, FILE *out);
typedef struct ray_error *reader(const char *bytes, size_t size, struct ray_profile **ret);

static char *written(writer *write, const struct ray_profile *p, size_t *size_ret)
{
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, size_ret);

	assert_null(write(p, out));
	fclose(out);
	return bytes;
}

static void assert_error(struct ray_error *err, const char *text)
{
	assert_non_null(err);
	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	assert_non_null(strstr(ray_error_text(err), text));
	ray_error_free(err);
}

static void assert_same(const struct ray_profile *a, const struct ray_profile *b)
{
	ray_auto_memory char *x = fake_text(a, EVERYTHING), *y = fake_text(b, EVERYTHING);

	assert_string_equal(x, y);
	assert_string_equal(a->title, b->title);
	assert_string_equal(a->event, b->event);
	assert_string_equal(a->command, b->command);
	assert_string_equal(a->host, b->host);
	assert_string_equal(a->node_version, b->node_version);
	assert_int_equal(a->unit, b->unit);
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->duration_ns, b->duration_ns);
	assert_int_equal(a->period_ns, b->period_ns);
	assert_int_equal(a->has_times, b->has_times);
	assert_int_equal(a->lost_samples, b->lost_samples);
	assert_int_equal(a->cut_stacks, b->cut_stacks);
	assert_int_equal(a->unnamed_frames, b->unnamed_frames);
	assert_int_equal(a->before_threads, b->before_threads);
}

static void everything_comes_back(void **state)
{
	static const struct {
		writer *write;
		reader *read;
		bool (*is)(const char *bytes, size_t size);
	} formats[] = { { ray_write_html, ray_read_html, ray_is_html }, { ray_write_svg, ray_read_svg, ray_is_svg } };

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(formats); i++) {
		ray_auto(ray_profile, p) = fake_profile();
		ray_auto(ray_profile, back) = NULL;
		ray_auto_memory char *bytes = NULL, *again = NULL;
		size_t size, again_size;

		bytes = written(formats[i].write, p, &size);
		assert_true(formats[i].is(bytes, size));
		assert_null(formats[i].read(bytes, size, &back));
		assert_same(p, back);
		again = written(formats[i].write, back, &again_size);
		assert_int_equal(size, again_size);
		assert_memory_equal(bytes, again, size);
	}
}

static void an_empty_profile_is_one(void **state)
{
	ray_auto(ray_profile, p) = ray_profile_create();
	ray_auto(ray_profile, back) = NULL;
	ray_auto(ray_profile, drawn) = NULL;
	ray_auto_memory char *bytes = NULL, *svg = NULL;
	size_t size, svg_size;

	(void)state;
	bytes = written(ray_write_html, p, &size);
	svg = written(ray_write_svg, p, &svg_size);
	assert_null(ray_read_html(bytes, size, &back));
	assert_null(ray_read_svg(svg, svg_size, &drawn));
	assert_int_equal(back->samples.n, 0);
	assert_int_equal(drawn->nodes.n, 1);
}

/* Names come from targets: the only tags are the page's own. */
static void names_are_never_markup(void **state)
{
	static const char name[] = "</script></title><script>alert(\"1\")</script>&'\x01\xef\xbf\xbf]]>";
	ray_auto(ray_profile, p) = ray_profile_create();
	struct ray_profile_function f = { .kind = RAY_KIND_JS, .name = name, .file = name, .package = "" };
	uint32_t frame;
	writer *const writers[] = { ray_write_html, ray_write_svg };

	(void)state;
	p->title = p->event = p->command = ray_profile_text(p, name);
	ray_profile_thread(p, &(struct ray_profile_thread){ 1, 1, name, name });
	frame = ray_profile_frame(p, &(struct ray_profile_frame){ .function = ray_profile_function(p, &f) });
	ray_profile_add(p,
			&(struct ray_profile_sample){ .node = ray_profile_node(p, 0, frame), .weight = 1, .count = 1 });
	for (size_t i = 0; i < RAY_COUNT(writers); i++) {
		size_t size;
		ray_auto_memory char *bytes = written(writers[i], p, &size);

		assert_null(strstr(bytes, "alert(\"1\")"));
		assert_null(strstr(bytes, "<script>alert"));
		assert_null(strchr(bytes, '\x01'));
		assert_null(strstr(bytes, "\xef\xbf\xbf"));
		assert_non_null(strstr(bytes, "&lt;/script&gt;&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)"));
	}
}

typedef struct ray_error *diff_writer(const struct ray_profile_diff *d, FILE *out);

static void assert_holds_both(diff_writer *write, reader *read)
{
	ray_auto(ray_profile, a) = fake_profile();
	ray_auto(ray_profile, b) = fake_profile();
	ray_auto(ray_profile, back) = NULL;
	ray_auto(ray_profile_diff, d) = NULL;
	ray_auto_memory char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);
	const char *start;

	b->title = ray_profile_text(b, "later");
	b->samples.at[0].weight = 7;
	assert_null(ray_profile_diff_create(a, b, &d));
	assert_null(write(d, out));
	fclose(out);
	assert_error(read(bytes, size, &back), "a difference of two profiles");
	start = strstr(bytes, "x-noderay-profile\">") + strlen("x-noderay-profile\">");
	assert_null(ray_profile_unpack(start, strcspn(start, "<"), &back));
	assert_int_equal(back->before_threads, 1);
	assert_int_equal(back->threads.n, 2);
	assert_int_equal(back->lost_samples, 6);
	assert_string_equal(back->before_title, "node app.js (4242)");
	assert_string_equal(back->title, "later");
	assert_int_equal(ray_profile_weight(back), ray_profile_weight(a) + ray_profile_weight(b));
}

static void a_difference_holds_both_sides_and_is_no_profile(void **state)
{
	(void)state;
	assert_holds_both(ray_write_html_diff, ray_read_html);
	assert_holds_both(ray_write_svg_diff, ray_read_svg);
}

/* ---- damage ---- */

static void what_is_no_report_says_so(void **state)
{
	static const char page[] = "<!doctype html><p>hello";
	ray_auto(ray_profile, p) = NULL;

	(void)state;
	assert_true(ray_is_html(page, sizeof(page) - 1));
	assert_error(ray_read_html(page, sizeof(page) - 1, &p), "no profile is in it");
	assert_false(ray_is_html("{}", 2));
	assert_false(ray_is_svg("<?xml version=\"1.0\"?><html>", 27));
	assert_error(ray_read_svg("<svg>", 5, &p), "no profile is in it");
}

static void every_cut_says_so(void **state)
{
	ray_auto(ray_profile, p) = fake_profile();
	ray_auto_text packed = { 0 };
	ray_auto(ray_profile, back) = NULL;
	size_t size;
	ray_auto_memory char *bytes = written(ray_write_html, p, &size);
	const char *start = strstr(bytes, "x-noderay-profile\">");

	(void)state;
	assert_error(ray_read_html(bytes, (size_t)(start - bytes) + 40, &back), "cut");
	assert_null(ray_profile_pack(p, &packed));
	for (size_t length = 0; length < packed.length - 2; length++)
		assert_error(ray_profile_unpack(packed.bytes, length, &back), "the profile inside is damaged");
}

/* Columns that were changed and packed again: the checksum is right, what they say is not. */
static void impossible_numbers_say_so(void **state)
{
	const struct {
		const char *bytes;
		size_t size;
		const char *text;
	} cases[] = {
#define CASE(text, ...) { (const char[]){ __VA_ARGS__ }, sizeof((const char[]){ __VA_ARGS__ }), text }
		CASE("ends too early", 0),
		CASE("more than it does", 9, 1, 1),
		CASE("a text is cut", 1, 5, 'a'),
		CASE("a text that is not there", 1, 1, 'a', 1, 3),
		CASE("a kind that is not there", 1, 1, 'a', 1, 0, 0, 1, 2, 0, 0, 0, 0, 0),
		CASE("a frame of no function", 1, 1, 'a', 1, 0, 0, 0, 1, 2, 0, 0, 0),
		CASE("a call from nowhere", 1, 1, 'a', 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 2, 1),
		CASE("a call of no frame", 1, 1, 'a', 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 0),
		CASE("a sample of no thread", 1, 1, 'a', 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 1),
		CASE("a sample of no stack", 1, 1, 'a', 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 2, 0, 2, 1),
		CASE("something follows", 1, 1, 'a', 1, 0, 0, 0, 0, 0, 0, 0, 0),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(cases); i++) {
		ray_auto_text plain = { 0 }, packed = { 0 };
		ray_auto(ray_profile, p) = NULL;
		uint8_t bytes[256];
		unsigned long size = sizeof(bytes);

		ray_text_add(&plain, RAY_PACK_MAGIC);
		ray_text_add_bytes(&plain, cases[i].bytes, cases[i].size);
		assert_int_equal(compress(bytes, &size, (const uint8_t *)plain.bytes, plain.length), 0);
		ray_base64_add(&packed, bytes, size);
		assert_error(ray_profile_unpack(packed.bytes, packed.length, &p), cases[i].text);
	}
}

static void base64_of_all_lengths_comes_back(void **state)
{
	uint8_t bytes[300];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37);
	for (size_t n = 0; n < sizeof(bytes); n++) {
		ray_auto_text text = { 0 }, back = { 0 };

		ray_base64_add(&text, bytes, n);
		assert_true(ray_base64_decode(&back, ray_text_get(&text), text.length));
		assert_int_equal(back.length, n);
		assert_memory_equal(ray_text_get(&back), bytes, n);
	}
}

static void base64_that_is_none_is_refused(void **state)
{
	static const char *const wrong[] = { "A", "AA", "AAA", "A===", "AA=A", "AAA=AAAA", "A-_A", "====", "AAA=\n=" };

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(wrong); i++) {
		ray_auto_text back = { 0 };

		assert_false(ray_base64_decode(&back, wrong[i], strlen(wrong[i])));
	}
}

static void colours_follow_kinds_and_packages(void **state)
{
	struct ray_profile_function f = { .kind = RAY_KIND_JS, .name = "f", .file = "", .package = "" };
	char js[8], gc[8], first[8], second[8];

	(void)state;
	ray_color_of(&f, js);
	f.kind = RAY_KIND_GC;
	ray_color_of(&f, gc);
	f.kind = RAY_KIND_PACKAGE;
	f.package = "express";
	ray_color_of(&f, first);
	f.package = "ajv";
	ray_color_of(&f, second);
	assert_int_equal(js[0], '#');
	assert_int_equal(strlen(js), 7);
	assert_string_not_equal(js, gc);
	assert_string_not_equal(first, second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_comes_back),
		cmocka_unit_test(an_empty_profile_is_one),
		cmocka_unit_test(names_are_never_markup),
		cmocka_unit_test(a_difference_holds_both_sides_and_is_no_profile),
		cmocka_unit_test(what_is_no_report_says_so),
		cmocka_unit_test(every_cut_says_so),
		cmocka_unit_test(impossible_numbers_say_so),
		cmocka_unit_test(base64_of_all_lengths_comes_back),
		cmocka_unit_test(base64_that_is_none_is_refused),
		cmocka_unit_test(colours_follow_kinds_and_packages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
