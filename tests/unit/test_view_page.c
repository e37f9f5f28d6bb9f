/* test_view_page.c - lines that never are too long, whatever is put there. SPDX-License-Identifier: MIT */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "view/page.h"

static void text_is_cut_at_the_edge(void **state)
{
	struct ray_page p = { 0 };

	(void)state;
	assert_true(ray_page_start(&p, 10, 2, RAY_LOOKS_PLAIN));
	ray_page_put(&p, RAY_STYLE_NONE, "0123456");
	ray_page_put(&p, RAY_STYLE_STRONG, "789abc");
	ray_page_put(&p, RAY_STYLE_NONE, "more");
	ray_page_end_line(&p);
	ray_page_cell(&p, RAY_STYLE_NONE, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 4, RAY_ALIGN_LEFT, RAY_CUT_END);
	ray_page_cell(&p, RAY_STYLE_NONE, "12", 5, RAY_ALIGN_RIGHT, RAY_CUT_END);
	ray_page_end_line(&p);
	ray_page_put(&p, RAY_STYLE_NONE, "past the end");
	ray_page_end_line(&p);
	assert_string_equal(ray_text_get(&p.lines[0]), "012345678\xe2\x80\xa6");
	assert_string_equal(ray_text_get(&p.lines[1]), "\xe6\x97\xa5\xe2\x80\xa6    12");
	assert_int_equal(ray_page_lines_left(&p), 0);
	ray_page_deinit(&p);
}

static void untrusted_text_is_made_safe(void **state)
{
	struct ray_page p = { 0 };

	(void)state;
	assert_true(ray_page_start(&p, 40, 1, RAY_LOOKS_PLAIN));
	ray_page_put(&p, RAY_STYLE_NONE, "a\033[2Jb\nc\xff");
	ray_page_end_line(&p);
	assert_string_equal(ray_text_get(&p.lines[0]), "a\\x1b[2Jb\\nc\xef\xbf\xbd");
	ray_page_deinit(&p);
}

static void styles(void **state)
{
	struct ray_page p = { 0 };

	(void)state;
	assert_true(ray_page_start(&p, 8, 2, RAY_LOOKS_COLOR));
	ray_page_put(&p, RAY_STYLE_STRONG, "a");
	ray_page_put(&p, RAY_STYLE_STRONG, "b");
	ray_page_put(&p, RAY_STYLE_NONE, "c");
	ray_page_end_line(&p);
	ray_page_put(&p, RAY_STYLE_HEADING, "x");
	ray_page_end_filled(&p, RAY_STYLE_HEADING);
	assert_string_equal(ray_text_get(&p.lines[0]), "\033[1mab\033[0mc\033[K");
	assert_string_equal(ray_text_get(&p.lines[1]), "\033[7mx       \033[0m");
	assert_true(ray_page_start(&p, 8, 1, RAY_LOOKS_BOLD)); /* another size */
	ray_page_put(&p, RAY_STYLE_KIND + RAY_KIND_KERNEL, "k");
	ray_page_end_line(&p);
	assert_string_equal(ray_text_get(&p.lines[0]), "k\033[K");
	ray_page_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_cut_at_the_edge),
		cmocka_unit_test(untrusted_text_is_made_safe),
		cmocka_unit_test(styles),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
