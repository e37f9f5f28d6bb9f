/* test_v8_script.c - names of scripts, lines and columns. SPDX-License-Identifier: MIT */
#include "fake_heap.h"
#include "v8/script.h"

static uint64_t script_of(struct fake_heap *h, const char *source)
{
	return fake_script(h, fake_one(h, "/app/a.js"), fake_one(h, source));
}

static void assert_place(struct fake_heap *h, uint64_t script, int32_t position, int line, int column)
{
	int l = 0, c = 0;

	assert_true(ray_v8_script_place(&h->v8, script, position, &l, &c));
	assert_int_equal(l, line);
	assert_int_equal(c, column);
}

static void lines_end_as_v8_ends_them(void **state)
{
	static const uint16_t wide[] = { 'a', 0x2028, 'b', 0x2029, 'c' };
	struct fake_heap *h = *state;
	uint64_t s = script_of(h, "a\nbc\r\nd\re\n");

	assert_place(h, s, 0, 1, 1);
	assert_place(h, s, 1, 1, 2); /* the end of a line belongs to it */
	assert_place(h, s, 2, 2, 1);
	assert_place(h, s, 5, 2, 4);
	assert_place(h, s, 6, 3, 1);
	assert_place(h, s, 8, 4, 1);
	assert_place(h, s, 10, 5, 1); /* behind the last character */
	s = fake_script(h, 0, fake_two(h, wide, 5));
	assert_place(h, s, 2, 2, 1);
	assert_place(h, s, 4, 3, 1);
}

/* The text is read in pieces of 64 Ki: an end of line on the seam is one. */
static void lines_are_counted_across_pieces(void **state)
{
	struct fake_heap *h = *state;
	char *text = malloc(70001);
	uint64_t s;

	assert_non_null(text);
	memset(text, 'x', 70000);
	text[70000] = '\0';
	text[65535] = '\r';
	text[65536] = '\n';
	s = script_of(h, text);
	free(text);
	assert_place(h, s, 65536, 1, 65537);
	assert_place(h, s, 65537, 2, 1);
}

/* A target that runs on: another script may lie there by then. */
static void lines_are_counted_again_when_the_source_is_another(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = script_of(h, "a\nb\nc");

	assert_place(h, s, 4, 3, 1);
	assert_true(ray_v8_forget(&h->v8, true));
	assert_place(h, s, 4, 3, 1);
	fake_set(h, s, RAY_V8_SCRIPT_SOURCE, fake_one(h, "abcde"));
	assert_true(ray_v8_forget(&h->v8, true));
	assert_place(h, s, 4, 1, 5);
	fake_set(h, s, RAY_V8_SCRIPT_LINE_OFFSET, fake_smi(10));
	assert_true(ray_v8_forget(&h->v8, true));
	assert_place(h, s, 4, 11, 5);
}

static void positions_outside_have_no_place(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = script_of(h, "abc");
	int line, column;

	assert_false(ray_v8_script_place(&h->v8, s, -1, &line, &column));
	assert_false(ray_v8_script_place(&h->v8, s, 4, &line, &column));
	assert_false(ray_v8_script_place(&h->v8, h->meta, 0, &line, &column));
}

static void scripts_may_start_elsewhere(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = script_of(h, "a\nb");

	fake_set(h, s, RAY_V8_SCRIPT_LINE_OFFSET, fake_smi(10));
	fake_set(h, s, RAY_V8_SCRIPT_COLUMN_OFFSET, fake_smi(5));
	assert_place(h, s, 0, 11, 6);
	assert_place(h, s, 2, 12, 1); /* only the first line is shifted */
	assert_string_equal(ray_v8_script_line(&h->v8, s, 12, 80), "b");
	assert_null(ray_v8_script_line(&h->v8, s, 1, 80));
}

static void offsets_that_cannot_be_are_ignored(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = script_of(h, "a\nb");

	fake_set(h, s, RAY_V8_SCRIPT_LINE_OFFSET, fake_smi(INT32_MAX));
	fake_set(h, s, RAY_V8_SCRIPT_COLUMN_OFFSET, fake_smi(INT32_MIN));
	assert_place(h, s, 0, 1, 1);
	assert_null(ray_v8_script_line(&h->v8, s, INT32_MIN, 80));
	assert_null(ray_v8_script_line(&h->v8, s, INT32_MAX, 80));
}

static void source_lines_are_text(void **state)
{
	static const uint16_t snake[] = { '\t', 0xd83d, 0xdc0d, '\n', 'x' };
	struct fake_heap *h = *state;
	uint64_t s = fake_script(h, 0, fake_two(h, snake, 5));

	assert_string_equal(ray_v8_script_line(&h->v8, s, 1, 80), " \U0001f40d");
	assert_string_equal(ray_v8_script_line(&h->v8, s, 2, 80), "x");
	assert_null(ray_v8_script_line(&h->v8, s, 3, 80));
	assert_null(ray_v8_script_line(&h->v8, s, 0, 80));
	s = script_of(h, "abcdef\r\nx");
	assert_string_equal(ray_v8_script_line(&h->v8, s, 1, 80), "abcdef");
	assert_string_equal(ray_v8_script_line(&h->v8, s, 1, 3), "abc");
}

static void source_that_is_gone_has_no_lines(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = fake_script(h, fake_one(h, "x.js"), fake_smi(0)), cut = script_of(h, "abc");
	uint32_t length = FAKE_SIZE;
	uint64_t source;
	int line, column;

	assert_false(ray_v8_script_place(&h->v8, s, 0, &line, &column));
	assert_null(ray_v8_script_line(&h->v8, s, 1, 80));
	assert_true(ray_v8_field(&h->v8, cut, RAY_V8_SCRIPT_SOURCE, &source));
	fake_put(h, source - 1 + (uint64_t)fake_get(h, RAY_V8_STRING_LENGTH), &length, sizeof(length));
	assert_false(ray_v8_script_place(&h->v8, cut, 0, &line, &column));
}

static void a_script_is_known_by_name_or_url(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = script_of(h, "");

	assert_string_equal(ray_v8_script_name(&h->v8, s), "/app/a.js");
	fake_set(h, s, RAY_V8_SCRIPT_NAME, fake_smi(0));
	assert_string_equal(ray_v8_script_name(&h->v8, s), "");
	fake_set(h, s, RAY_V8_SCRIPT_SOURCE_URL, fake_one(h, "made.js"));
	assert_string_equal(ray_v8_script_name(&h->v8, s), "made.js");
	assert_null(ray_v8_script_name(&h->v8, h->meta));
}

static void the_map_is_what_the_script_says(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = script_of(h, ""), undefined = fake_object(h, RAY_V8_TYPE_ODDBALL, 56);
	ray_auto_text url = { 0 }, none = { 0 };
	char *text = malloc(150001);

	assert_non_null(text);
	memset(text, 'x', 150000);
	text[150000] = '\0';
	text[65535] = 'a';
	text[65536] = 'b';
	/* Neither a text nor undefined: it is not where it is looked for. */
	fake_set(h, s, RAY_V8_SCRIPT_MAPPING_URL, fake_smi(7));
	assert_false(ray_v8_script_map_url(&h->v8, s, &none));
	assert_false(ray_v8_script_map_url(&h->v8, h->meta, &none));
	fake_set(h, undefined, RAY_V8_ODDBALL_KIND, fake_smi(fake_get(h, RAY_V8_ODDBALL_UNDEFINED)));
	fake_set(h, s, RAY_V8_SCRIPT_MAPPING_URL, undefined);
	assert_true(ray_v8_script_map_url(&h->v8, s, &none));
	assert_string_equal(ray_text_get(&none), "");
	fake_set(h, s, RAY_V8_SCRIPT_MAPPING_URL, fake_one(h, text));
	assert_true(ray_v8_script_map_url(&h->v8, s, &url));
	assert_string_equal(ray_text_get(&url), text);
	free(text);
}

static void eval_says_where_it_was_called(void **state)
{
	struct fake_heap *h = *state;
	uint64_t from = script_of(h, "x\n  eval('1')"), s = fake_script(h, 0, fake_one(h, "1"));
	uint64_t shared = fake_shared(h, fake_scope(h, 0, fake_one(h, "run"), 0, 0, 13), from);

	fake_set(h, s, RAY_V8_SCRIPT_EVAL_SHARED, shared);
	fake_set(h, s, RAY_V8_SCRIPT_EVAL_POSITION, fake_smi(4));
	assert_true(ray_v8_script_is_eval(&h->v8, s));
	assert_false(ray_v8_script_is_eval(&h->v8, from));
	assert_string_equal(ray_v8_script_name(&h->v8, s), "eval at run (/app/a.js:2:3)");
	/* V8 keeps the bytecode offset, negated, until it needs the position. */
	fake_set(h, s, RAY_V8_SCRIPT_EVAL_POSITION, fake_smi(-7));
	assert_string_equal(ray_v8_script_name(&h->v8, s), "eval at run (/app/a.js)");
	fake_set(h, shared, RAY_V8_SFI_NAME, fake_smi(0));
	assert_string_equal(ray_v8_script_name(&h->v8, s), "eval at <anonymous> (/app/a.js)");
}

static void evals_that_call_each_other_end(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = fake_script(h, 0, fake_one(h, "1"));

	fake_set(h, s, RAY_V8_SCRIPT_EVAL_SHARED, fake_shared(h, fake_one(h, "f"), s));
	assert_non_null(ray_v8_script_name(&h->v8, s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fake_test(lines_end_as_v8_ends_them),
		fake_test(lines_are_counted_across_pieces),
		fake_test(lines_are_counted_again_when_the_source_is_another),
		fake_test(scripts_may_start_elsewhere),
		fake_test(positions_outside_have_no_place),
		fake_test(scripts_may_start_elsewhere),
		fake_test(offsets_that_cannot_be_are_ignored),
		fake_test(source_lines_are_text),
		fake_test(source_that_is_gone_has_no_lines),
		fake_test(a_script_is_known_by_name_or_url),
		fake_test(the_map_is_what_the_script_says),
		fake_test(eval_says_where_it_was_called),
		fake_test(evals_that_call_each_other_end),
	};

	return cmocka_run_group_tests_name("v8/script", tests, NULL, NULL);
}
