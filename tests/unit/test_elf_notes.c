/* test_elf_notes.c - notes over bytes that are made up here. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "elf/notes.h"

struct buffer {
	uint8_t bytes[512];
	size_t size;
};

static void add(struct buffer *b, size_t align, const void *name, uint32_t name_size, uint32_t type, const void *desc,
		uint32_t desc_size)
{
	uint32_t header[3] = { name_size, desc_size, type };

	memcpy(b->bytes + b->size, header, sizeof(header));
	memcpy(b->bytes + b->size + sizeof(header), name, name_size);
	b->size = (b->size + sizeof(header) + name_size + align - 1) & ~(align - 1);
	memcpy(b->bytes + b->size, desc, desc_size);
	b->size = (b->size + desc_size + align - 1) & ~(align - 1);
}

static bool write_down(const char *owner, uint32_t type, const void *desc, size_t size, void *arg)
{
	char *text = arg;

	sprintf(text + strlen(text), "%s/%u=%.*s;", owner, type, (int)size, (const char *)desc);
	return type != 99;
}

static void notes_come_in_order_with_their_contents(void **state)
{
	struct buffer b = { .size = 0 };
	char text[256] = "";

	(void)state;
	add(&b, 4, "GNU", 4, 3, "abcde", 5);
	add(&b, 4, "CORE", 5, 1, "", 0);
	add(&b, 4, "", 0, 7, "xyz", 3);
	assert_true(ray_note_each(b.bytes, b.size, 4, write_down, text));
	assert_string_equal(text, "GNU/3=abcde;CORE/1=;/7=xyz;");
}

static void eight_byte_alignment_is_followed(void **state)
{
	struct buffer b = { .size = 0 };
	char text[256] = "";

	(void)state;
	add(&b, 8, "GNU", 4, 5, "abcde", 5);
	add(&b, 8, "stapsdt", 8, 3, "f", 1);
	assert_true(ray_note_each(b.bytes, b.size, 8, write_down, text));
	assert_string_equal(text, "GNU/5=abcde;stapsdt/3=f;");
}

static void an_owner_without_nul_or_end_is_copied(void **state)
{
	struct buffer b = { .size = 0 };
	char text[256] = "", name[100];

	(void)state;
	memset(name, 'n', sizeof(name));
	add(&b, 4, "CORE", 4, 1, "d", 1);
	add(&b, 4, name, 100, 2, "e", 1);
	assert_true(ray_note_each(b.bytes, b.size, 4, write_down, text));
	name[63] = 0;
	assert_int_equal(strncmp(text, "CORE/1=d;nnn", 12), 0);
	assert_int_equal(strlen(text), 9 + 63 + 5);
}

static void the_callback_can_stop(void **state)
{
	struct buffer b = { .size = 0 };
	char text[256] = "";

	(void)state;
	add(&b, 4, "A", 2, 99, "", 0);
	add(&b, 4, "B", 2, 1, "", 0);
	assert_true(ray_note_each(b.bytes, b.size, 4, write_down, text));
	assert_string_equal(text, "A/99=;");
}

static void a_cut_note_is_told_after_the_whole_ones(void **state)
{
	struct buffer b = { .size = 0 };
	size_t first;

	(void)state;
	add(&b, 4, "A", 2, 1, "one", 3);
	first = b.size;
	add(&b, 4, "BCDEF", 6, 2, "twotwo", 6);
	for (size_t cut = first + 1; cut < b.size - 2; cut++) {
		char text[256] = "";

		assert_false(ray_note_each(b.bytes, cut, 4, write_down, text));
		assert_string_equal(text, "A/1=one;");
	}
}

static void padding_after_the_last_note_is_no_note(void **state)
{
	struct buffer b = { .size = 0 };
	char text[256] = "";

	(void)state;
	assert_true(ray_note_each(b.bytes, 0, 4, write_down, text));
	add(&b, 4, "A", 2, 1, "one", 3);
	assert_true(ray_note_each(b.bytes, b.size + 8, 4, write_down, text));
	assert_true(ray_note_each(b.bytes, b.size - 1, 4, write_down, text));
	assert_string_equal(text, "A/1=one;A/1=one;");
}

static void sizes_that_lie_are_refused(void **state)
{
	uint32_t lies[][3] = { { UINT32_MAX, 0, 1 }, { 0, UINT32_MAX, 1 }, { UINT32_MAX, UINT32_MAX, 1 }, { 0, 1, 1 } };
	char text[256] = "";

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(lies); i++)
		assert_false(ray_note_each(lies[i], sizeof(lies[i]), 4, write_down, text));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_come_in_order_with_their_contents),
		cmocka_unit_test(eight_byte_alignment_is_followed),
		cmocka_unit_test(an_owner_without_nul_or_end_is_copied),
		cmocka_unit_test(the_callback_can_stop),
		cmocka_unit_test(a_cut_note_is_told_after_the_whole_ones),
		cmocka_unit_test(padding_after_the_last_note_is_no_note),
		cmocka_unit_test(sizes_that_lie_are_refused),
	};

	return cmocka_run_group_tests_name("elf/notes", tests, NULL, NULL);
}
