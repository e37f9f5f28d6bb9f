/* test_v8_heap.c - V8's pages in fake memory, per layout and damaged. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "target/node.h"
#include "v8/heap.h"
#include "v8/heap_layout.h"

enum { PAGE = RAY_V8_PAGE_ALIGN, PAGES = 24, BLOCK = 256 };
static const uint64_t pages_at = 0x100000000, native_at = 0x2000, heap_a = 0xa000, heap_b = 0xb000;

/* Two stretches of memory: pages, and what malloc would have given. */
struct memory {
	unsigned char *pages;
	unsigned char native[0x10000];
	const struct ray_v8_heap_layout *layout;
	size_t next_space;
};

static size_t read_memory(void *arg, uint64_t address, void *buffer, size_t size)
{
	struct memory *m = arg;

	if (address >= pages_at && address - pages_at <= (uint64_t)PAGES * PAGE - size) {
		memcpy(buffer, m->pages + (address - pages_at), size);
		return size;
	}
	if (address >= native_at && address - native_at <= sizeof(m->native) - size) {
		memcpy(buffer, m->native + (address - native_at), size);
		return size;
	}
	return 0;
}

static void put(struct memory *m, uint64_t address, uint64_t value)
{
	unsigned char *at = address >= pages_at ? m->pages + (address - pages_at) : m->native + (address - native_at);

	memcpy(at, &value, sizeof(value));
}

static int start(void **state)
{
	struct memory *m = calloc(1, sizeof(*m));

	m->pages = calloc(PAGES, PAGE);
	m->next_space = 0x8000;
	*state = m;
	return 0;
}

static int stop(void **state)
{
	struct memory *m = *state;

	free(m->pages);
	free(m);
	return 0;
}

static int number_of(const struct ray_v8_heap_layout *l, enum ray_v8_space space)
{
	for (int i = 0; i < l->space_count; i++)
		if (l->spaces[i] == space)
			return i;
	fail_msg("no such space");
	return -1;
}

static uint64_t new_space(struct memory *m, uint64_t heap, enum ray_v8_space space, uint64_t committed)
{
	uint64_t at = native_at + m->next_space;

	m->next_space += BLOCK;
	put(m, at, 0x1234560); /* vtable */
	put(m, at + RAY_V8_SPACE_HEAP, heap);
	put(m, at + RAY_V8_SPACE_ID, (uint64_t)number_of(m->layout, space));
	put(m, at + RAY_V8_SPACE_COMMITTED, committed);
	return at;
}

/* Writes a page at index, as V8 of that layout would. */
static void new_page(struct memory *m, size_t index, uint64_t heap, uint64_t owner, uint64_t size, uint64_t flags)
{
	const struct ray_v8_heap_layout *l = m->layout;
	uint64_t at = pages_at + index * PAGE, block = at;

	if (l->style == RAY_V8_PAGE_DETACHED)
		block = native_at + index * BLOCK;
	if (l->style != RAY_V8_PAGE_PLAIN)
		put(m, at + 8, block);
	put(m, at + l->flags, flags);
	put(m, block + l->size, size);
	put(m, block + l->heap, heap);
	put(m, block + l->area_start, at + 0x1118);
	put(m, block + l->area_end, at + size);
	put(m, block + l->allocated, 100);
	put(m, block + l->owner, owner);
}

static struct ray_v8_heap *scan(struct memory *m, uint32_t version)
{
	struct ray_reader reader = { read_memory, m };
	struct ray_v8_span span = { pages_at, pages_at + (uint64_t)PAGES * PAGE };
	struct ray_v8_heap *h = NULL;

	assert_null(ray_v8_heap_scan(&(struct ray_v8_heap_input){ &reader, version, &span, 1, &span, 1 }, &h));
	assert_non_null(h);
	return h;
}

static const struct ray_v8_heap_layout *layout_of(const char *name)
{
	for (size_t i = 0; i < ray_v8_heap_layout_count; i++)
		if (!strcmp(ray_v8_heap_layouts[i].name, name))
			return &ray_v8_heap_layouts[i];
	fail_msg("no layout %s", name);
	return NULL;
}

/* main: 2 old, 1 to, 1 from, 1 large of three pages' length; worker: 1 old; shared: 1 read-only. */
static void fill(struct memory *m)
{
	uint64_t old = new_space(m, heap_a, RAY_V8_SPACE_OLD, 2 * PAGE);
	uint64_t to = new_space(m, heap_a, RAY_V8_SPACE_NEW, PAGE), from = new_space(m, heap_a, RAY_V8_SPACE_NEW, PAGE);
	uint64_t large = new_space(m, heap_a, RAY_V8_SPACE_LARGE, 2 * PAGE + 0x3000);

	new_page(m, 1, heap_a, old, PAGE, 4);
	new_page(m, 2, heap_a, old, PAGE, 4);
	new_page(m, 4, heap_a, to, PAGE, RAY_V8_FLAG_TO | 2);
	new_page(m, 5, heap_a, from, PAGE, RAY_V8_FLAG_FROM | 2);
	new_page(m, 8, heap_a, large, 2 * PAGE + 0x3000, 1u << m->layout->large_bit);
	new_page(m, 12, heap_b, new_space(m, heap_b, RAY_V8_SPACE_OLD, PAGE), PAGE, 4);
	new_page(m, 14, 0, 0, 0x1b000, 1u << m->layout->read_only_bit);
}

static void expect_filled(const struct ray_v8_heap *h)
{
	const struct ray_v8_isolate *i;
	size_t count;

	ray_v8_heap_pages(h, &count);
	assert_int_equal(count, 7);
	i = ray_v8_heap_isolates(h, &count);
	assert_int_equal(count, 3);
	assert_int_equal(i[0].heap, 0);
	assert_int_equal(i[0].spaces[RAY_V8_SPACE_READ_ONLY].bytes, 0x1b000);
	assert_int_equal(i[1].heap, heap_a);
	assert_int_equal(i[1].spaces[RAY_V8_SPACE_OLD].bytes, 2 * PAGE);
	assert_int_equal(i[1].spaces[RAY_V8_SPACE_OLD].claimed, 2 * PAGE);
	assert_int_equal(i[1].spaces[RAY_V8_SPACE_NEW].pages, 2);
	assert_int_equal(i[1].spaces[RAY_V8_SPACE_LARGE].bytes, 2 * PAGE + 0x3000);
	assert_int_equal(i[2].spaces[RAY_V8_SPACE_OLD].pages, 1);
	assert_int_equal(ray_v8_heap_damaged(h), 0);
}

static void every_row_of_the_table_finds_its_pages(void **state)
{
	struct memory *m = *state;

	for (size_t i = 0; i < ray_v8_heap_layout_count; i++) {
		ray_auto(ray_v8_heap, h) = NULL;

		memset(m->pages, 0, (size_t)PAGES * PAGE);
		memset(m->native, 0, sizeof(m->native));
		m->next_space = 0x8000;
		m->layout = &ray_v8_heap_layouts[i];
		fill(m);
		h = scan(m, m->layout->since);
		assert_string_equal(ray_v8_heap_layout_name(h), m->layout->name);
		assert_null(ray_v8_heap_note(h));
		expect_filled(h);
	}
}

static void a_page_tells_its_half_and_is_found_by_any_address_in_it(void **state)
{
	struct memory *m = *state;
	ray_auto(ray_v8_heap, h) = NULL;

	m->layout = layout_of("12.0");
	fill(m);
	h = scan(m, RAY_V8(12, 4, 254));
	assert_int_equal(ray_v8_heap_page_at(h, pages_at + 4 * PAGE)->half, RAY_V8_HALF_TO);
	assert_int_equal(ray_v8_heap_page_at(h, pages_at + 5 * PAGE + 77)->half, RAY_V8_HALF_FROM);
	assert_int_equal(ray_v8_heap_page_at(h, pages_at + 10 * PAGE)->space, RAY_V8_SPACE_LARGE);
	assert_null(ray_v8_heap_page_at(h, pages_at + 3 * PAGE));
	assert_null(ray_v8_heap_page_at(h, pages_at + 14 * PAGE + 0x1b000));
	assert_null(ray_v8_heap_page_at(h, 0));
}

static void an_unknown_version_takes_the_row_that_holds(void **state)
{
	struct memory *m = *state;
	ray_auto(ray_v8_heap, h) = NULL;
	ray_auto(ray_v8_heap, unknown) = NULL;

	m->layout = layout_of("13.0");
	fill(m);
	h = scan(m, RAY_V8(17, 3, 0));
	assert_string_equal(ray_v8_heap_layout_name(h), "13.0");
	assert_string_equal(ray_v8_heap_note(h), "the V8 heap reads like that of V8 13.0, not like 17.3");
	expect_filled(h);
	unknown = scan(m, 0);
	assert_string_equal(ray_v8_heap_layout_name(unknown), "13.0");
	assert_null(ray_v8_heap_note(unknown));
}

static void memory_without_pages_says_that_no_layout_holds(void **state)
{
	struct memory *m = *state;
	ray_auto(ray_v8_heap, h) = NULL;
	size_t count;

	h = scan(m, RAY_V8(14, 6, 202));
	ray_v8_heap_pages(h, &count);
	assert_int_equal(count, 0);
	assert_null(ray_v8_heap_layout_name(h));
	assert_string_equal(ray_v8_heap_note(h),
			    "no V8 heap pages were recognised (V8 14.6): none of the known layouts holds");
}

static void a_page_with_a_broken_size_is_known_by_its_owner(void **state)
{
	struct memory *m = *state;
	ray_auto(ray_v8_heap, h) = NULL;
	const struct ray_v8_page *p;

	m->layout = layout_of("11.0");
	fill(m);
	put(m, pages_at + 2 * PAGE + m->layout->size, 0xdeadbeefdeadbeef);
	h = scan(m, RAY_V8(11, 3, 244));
	assert_int_equal(ray_v8_heap_damaged(h), 1);
	p = ray_v8_heap_page_at(h, pages_at + 2 * PAGE);
	assert_non_null(p);
	assert_true(p->damaged);
	assert_int_equal(p->space, RAY_V8_SPACE_OLD);
	assert_int_equal(p->size, PAGE);
	assert_int_equal(p->allocated, 0);
}

static void a_page_with_a_broken_owner_is_known_by_its_heap(void **state)
{
	struct memory *m = *state;
	ray_auto(ray_v8_heap, h) = NULL;
	const struct ray_v8_isolate *isolates;
	size_t count;

	m->layout = layout_of("11.0");
	fill(m);
	put(m, pages_at + 2 * PAGE + m->layout->owner, 0x4141414141414141);
	h = scan(m, RAY_V8(11, 3, 244));
	assert_int_equal(ray_v8_heap_page_at(h, pages_at + 2 * PAGE)->space, RAY_V8_SPACE_UNKNOWN);
	isolates = ray_v8_heap_isolates(h, &count);
	assert_int_equal(isolates[1].spaces[RAY_V8_SPACE_OLD].bytes, PAGE);
	assert_int_equal(isolates[1].spaces[RAY_V8_SPACE_OLD].claimed, 2 * PAGE);
}

static void a_page_without_an_owner_is_not_in_use(void **state)
{
	struct memory *m = *state;
	ray_auto(ray_v8_heap, h) = NULL;

	m->layout = layout_of("14.6");
	fill(m);
	new_page(m, 20, heap_a, 0, PAGE, 0);
	h = scan(m, RAY_V8(14, 6, 202));
	assert_int_equal(ray_v8_heap_page_at(h, pages_at + 20 * PAGE)->space, RAY_V8_SPACE_UNUSED);
	assert_int_equal(ray_v8_heap_damaged(h), 0);
}

static void a_page_that_its_space_gave_up_is_not_in_use(void **state)
{
	struct memory *m = *state;

	for (size_t i = 0; i < ray_v8_heap_layout_count; i++) {
		const struct ray_v8_heap_layout *l = m->layout = &ray_v8_heap_layouts[i];
		ray_auto(ray_v8_heap, h) = NULL;
		const struct ray_v8_isolate *isolates;
		uint64_t owner;
		size_t count;

		memset(m->pages, 0, (size_t)PAGES * PAGE);
		memset(m->native, 0, sizeof(m->native));
		m->next_space = 0x8000;
		fill(m);
		owner = new_space(m, heap_a, RAY_V8_SPACE_NEW, 0);
		new_page(m, 20, heap_a, owner, PAGE, RAY_V8_FLAG_TO | (l->more_flags ? 0 : 1u << l->freed_bit));
		if (l->more_flags)
			put(m, native_at + 20 * BLOCK + l->more_flags, 1u << l->freed_bit);
		h = scan(m, l->since);
		assert_int_equal(ray_v8_heap_page_at(h, pages_at + 20 * PAGE)->space, RAY_V8_SPACE_UNUSED);
		isolates = ray_v8_heap_isolates(h, &count);
		assert_int_equal(isolates[1].spaces[RAY_V8_SPACE_NEW].bytes,
				 isolates[1].spaces[RAY_V8_SPACE_NEW].claimed);
	}
}

static void a_size_beyond_what_is_mapped_is_not_believed(void **state)
{
	struct memory *m = *state;
	ray_auto(ray_v8_heap, h) = NULL;

	m->layout = layout_of("10.0");
	fill(m);
	put(m, pages_at + 1 * PAGE + m->layout->size, 4096ull * PAGE);
	h = scan(m, RAY_V8(10, 2, 154));
	assert_true(ray_v8_heap_page_at(h, pages_at + PAGE)->damaged);
	assert_int_equal(ray_v8_heap_page_at(h, pages_at + 2 * PAGE)->damaged, false);
}

static void random_damage_never_harms(void **state)
{
	struct memory *m = *state;

	srandom(20);
	for (size_t round = 0; round < 300; round++) {
		ray_auto(ray_v8_heap, h) = NULL;
		size_t count;

		memset(m->pages, 0, (size_t)PAGES * PAGE);
		memset(m->native, 0, sizeof(m->native));
		m->next_space = 0x8000;
		m->layout = &ray_v8_heap_layouts[round % ray_v8_heap_layout_count];
		fill(m);
		for (int i = 0; i < 12; i++) {
			uint64_t value = (uint64_t)random() << (random() % 40);

			put(m, pages_at + (uint64_t)(random() % PAGES) * PAGE + (uint64_t)(random() % 10) * 8, value);
			put(m, native_at + (uint64_t)(random() % 0x1100) * 8, value);
		}
		h = scan(m, m->layout->since);
		const struct ray_v8_page *pages = ray_v8_heap_pages(h, &count);
		for (size_t i = 0; i < count; i++) {
			assert_true(pages[i].address + pages[i].size <= pages_at + (uint64_t)PAGES * PAGE);
			if (i)
				assert_true(pages[i].address >= pages[i - 1].address + pages[i - 1].size);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
		TEST(every_row_of_the_table_finds_its_pages),
		TEST(a_page_tells_its_half_and_is_found_by_any_address_in_it),
		TEST(an_unknown_version_takes_the_row_that_holds),
		TEST(memory_without_pages_says_that_no_layout_holds),
		TEST(a_page_with_a_broken_size_is_known_by_its_owner),
		TEST(a_page_with_a_broken_owner_is_known_by_its_heap),
		TEST(a_page_without_an_owner_is_not_in_use),
		TEST(a_page_that_its_space_gave_up_is_not_in_use),
		TEST(a_size_beyond_what_is_mapped_is_not_believed),
		TEST(random_damage_never_harms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
