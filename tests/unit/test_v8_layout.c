/* test_v8_layout.c - V8's layout from symbols and from the table. SPDX-License-Identifier: MIT */
#include "fake_heap.h"

enum { MAX_LIST = 256 };

struct list {
	struct ray_v8_constant at[MAX_LIST];
	size_t n;
};

/* The constants of node 24 but for those whose name starts like this; NULL for all. */
static struct list without(const char *start)
{
	struct list l = { .n = 0 };

	for (size_t i = 0; i < RAY_COUNT(fake_constants_24); i++) {
		if (!start || strncmp(fake_constants_24[i].name, start, strlen(start)))
			l.at[l.n++] = fake_constants_24[i];
	}
	return l;
}

static struct list with(const char *start, const char *name, int32_t value)
{
	struct list l = without(start);

	l.at[l.n++] = (struct ray_v8_constant){ name, value };
	return l;
}

static struct ray_v8_layout *create(uint32_t version, const struct list *list)
{
	struct ray_v8_layout *l = NULL;

	assert_null(ray_v8_layout_create(version, list->at, list->n, &l));
	return l;
}

static void assert_refused(const struct list *list, const char *text)
{
	struct ray_v8_layout *l = NULL;
	struct ray_error *err = ray_v8_layout_create(FAKE_V8(13, 6, 233), list->at, list->n, &l);

	assert_non_null(err);
	assert_null(l);
	if (!strstr(ray_error_text(err), text))
		fail_msg("'%s' does not say '%s'", ray_error_text(err), text);
	ray_error_free(err);
}

static void a_field_is_found_whatever_its_type_is_called(void **state)
{
	struct list list = with("class_JSFunction__shared_", "class_JSFunction__shared__Tagged_Whatever_", 48);
	ray_auto(ray_v8_layout, l) = create(FAKE_V8(13, 6, 233), &list);

	(void)state;
	assert_int_equal(ray_v8_get(l, RAY_V8_JSFUNCTION_SHARED), 48);
	assert_false(ray_v8_is_guessed(l, RAY_V8_JSFUNCTION_SHARED));
}

static void a_whole_name_is_not_the_start_of_another(void **state)
{
	struct list list = with("OddballNull", "OddballNullAndMore", 77);

	(void)state;
	assert_refused(&list, "ODDBALL_NULL");
}

static void a_field_is_not_mistaken_for_a_longer_one(void **state)
{
	/* raw_script and script_or_debug_info stand for script only where it is missing. */
	struct list list = without("class_SharedFunctionInfo__script__");
	ray_auto(ray_v8_layout, l) = create(FAKE_V8(13, 6, 233), &list);

	(void)state;
	assert_int_equal(ray_v8_get(l, RAY_V8_SFI_SCRIPT), 40);
}

static void a_missing_required_field_is_named(void **state)
{
	struct list list = without("class_String__length_");

	(void)state;
	assert_refused(&list, "does not say where V8 keeps STRING_LENGTH");
}

static void a_missing_optional_field_is_none(void **state)
{
	struct list list = without("class_Symbol__name_");
	ray_auto(ray_v8_layout, l) = create(FAKE_V8(13, 6, 233), &list);

	(void)state;
	assert_false(ray_v8_has(l, RAY_V8_SYMBOL_NAME));
}

static void no_symbols_at_all_is_said(void **state)
{
	struct list none = { .n = 0 };

	(void)state;
	assert_refused(&none, "no v8dbg_* symbols");
}

static void pointer_compression_is_refused(void **state)
{
	struct list tagged = with("TaggedSize", "TaggedSize", 4), shift = with("SmiShiftSize", "SmiShiftSize", 0);

	(void)state;
	assert_refused(&tagged, "pointer compression");
	assert_refused(&shift, "pointer compression");
}

static void values_that_cannot_be_are_refused(void **state)
{
	struct list shift = with("prop_index_shift", "prop_index_shift", 40);
	struct list offset = with("class_JSFunction__context_", "class_JSFunction__context__X", INT32_MAX);
	struct list base = with("class_Code__wrapper_", "class_Code__wrapper__X", INT32_MIN + 1);

	(void)state;
	assert_refused(&shift, "PROP_INDEX_SHIFT is 40");
	assert_refused(&offset, "JSFUNCTION_CONTEXT is 2147483647");
	assert_refused(&base, "CODE_WRAPPER");
}

static void what_symbols_do_not_say_is_derived_and_marked(void **state)
{
	struct list list = without(NULL);
	ray_auto(ray_v8_layout, l) = create(FAKE_V8(13, 6, 233), &list);

	(void)state;
	assert_int_equal(ray_v8_get(l, RAY_V8_EXTERNAL_DATA), 24);
	assert_true(ray_v8_is_guessed(l, RAY_V8_EXTERNAL_DATA));
	assert_int_equal(ray_v8_get(l, RAY_V8_BYTECODE_POSITIONS), 24);
	assert_int_equal(ray_v8_get(l, RAY_V8_CODE_POSITIONS), 16);
	assert_int_equal(ray_v8_get(l, RAY_V8_CODE_DEOPT), 8);
	assert_int_equal(ray_v8_get(l, RAY_V8_SCRIPT_LINE_OFFSET), 24);
	assert_false(ray_v8_is_guessed(l, RAY_V8_CODE_START));
}

/* What no symbol says in any version. */
static void the_table_knows_each_version(void **state)
{
	static const struct {
		uint32_t version;
		int32_t counts_receiver, source_url, stream_code, new_positions;
	} rows[] = {
		{ FAKE_V8(9, 4, 146), 0, 104, RAY_V8_NONE, 0 }, { FAKE_V8(10, 2, 154), 1, 104, RAY_V8_NONE, 0 },
		{ FAKE_V8(11, 3, 244), 1, 112, 8, 0 },		{ FAKE_V8(11, 8, 172), 1, 112, 8, 0 },
		{ FAKE_V8(12, 4, 254), 1, 112, 8, 0 },		{ FAKE_V8(13, 6, 233), 1, 112, 8, 0 },
		{ FAKE_V8(14, 6, 202), 1, 112, 8, 1 },		{ 0, 1, 112, 8, 1 }, /* not known: the newest */
	};
	struct list list = without(NULL);

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		ray_auto(ray_v8_layout, l) = create(rows[i].version, &list);

		assert_int_equal(ray_v8_get(l, RAY_V8_ARGC_COUNTS_RECEIVER), rows[i].counts_receiver);
		assert_int_equal(ray_v8_get(l, RAY_V8_SCRIPT_SOURCE_URL), rows[i].source_url);
		assert_int_equal(ray_v8_get(l, RAY_V8_SCRIPT_MAPPING_URL), rows[i].source_url + 8);
		assert_int_equal(ray_v8_get(l, RAY_V8_STREAM_CODE), rows[i].stream_code);
		assert_int_equal(ray_v8_get(l, RAY_V8_NEW_POSITION_CODE), rows[i].new_positions);
	}
}

/* Code: symbols are few in the middle versions. */
static void code_is_derived_where_it_was_moved(void **state)
{
	struct list list = without("class_Code__");
	struct ray_v8_layout *l = create(FAKE_V8(11, 3, 244), &list);

	(void)state;
	assert_int_equal(ray_v8_get(l, RAY_V8_CODE_DEOPT), 16);
	assert_int_equal(ray_v8_get(l, RAY_V8_CODE_POSITIONS), 24);
	assert_int_equal(ray_v8_get(l, RAY_V8_CODE_START), 40);
	assert_int_equal(ray_v8_get(l, RAY_V8_CODE_FLAGS), 48);
	assert_int_equal(ray_v8_get(l, RAY_V8_CODE_SIZE), 56);
	ray_v8_layout_free(l);
	l = create(FAKE_V8(11, 8, 172), &list);
	assert_int_equal(ray_v8_get(l, RAY_V8_CODE_SIZE), 52);
	ray_v8_layout_free(l);
	l = create(FAKE_V8(10, 2, 154), &list);
	assert_false(ray_v8_has(l, RAY_V8_CODE_START));
	assert_int_equal(ray_v8_get(l, RAY_V8_CODE_FLAGS), 48);
	assert_int_equal(ray_v8_get(l, RAY_V8_CODE_SIZE), 40);
	ray_v8_layout_free(l);
}

static void frame_types_have_the_binary_s_names(void **state)
{
	struct list list = without(NULL);
	ray_auto(ray_v8_layout, l) = create(FAKE_V8(13, 6, 233), &list);

	(void)state;
	assert_string_equal(ray_v8_frame_type(l, 3), "ExitFrame");
	assert_null(ray_v8_frame_type(l, 63));
	assert_null(ray_v8_frame_type(l, -1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_field_is_found_whatever_its_type_is_called),
		cmocka_unit_test(a_whole_name_is_not_the_start_of_another),
		cmocka_unit_test(a_field_is_not_mistaken_for_a_longer_one),
		cmocka_unit_test(a_missing_required_field_is_named),
		cmocka_unit_test(a_missing_optional_field_is_none),
		cmocka_unit_test(no_symbols_at_all_is_said),
		cmocka_unit_test(pointer_compression_is_refused),
		cmocka_unit_test(values_that_cannot_be_are_refused),
		cmocka_unit_test(what_symbols_do_not_say_is_derived_and_marked),
		cmocka_unit_test(the_table_knows_each_version),
		cmocka_unit_test(code_is_derived_where_it_was_moved),
		cmocka_unit_test(frame_types_have_the_binary_s_names),
	};

	return cmocka_run_group_tests_name("v8/layout", tests, NULL, NULL);
}
