/* test_view_top_screen.c - the screen of `top`: what it looks like at any size, and what keys do. SPDX-License-Identifier: MIT */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "top_sample.h"
#include "view/keys.h"
#include "view/top_screen.h"

struct fixture {
	struct ray_top *top;
	struct ray_top_screen screen;
	struct ray_top_answer answer;
	struct ray_page page;
	struct ray_text text; /* of the page, plain */
};

static void ask(struct fixture *f)
{
	struct ray_top_query query = ray_top_screen_query(&f->screen);

	ray_top_hold(f->top, f->screen.is_paused);
	if (f->screen.wants_reset)
		ray_top_reset(f->top);
	f->screen.wants_reset = f->screen.wants_answer = false;
	ray_top_answer_deinit(&f->answer);
	assert_null(ray_top_ask(f->top, &query, &f->answer));
	ray_top_screen_update(&f->screen, &f->answer);
}

static void press(struct fixture *f, uint32_t key)
{
	ray_top_screen_key(&f->screen, &f->answer, key);
	if (f->screen.wants_answer)
		ask(f);
}

static void type(struct fixture *f, const char *text)
{
	for (; *text; text++)
		press(f, (uint32_t)*text);
}

static const char *draw(struct fixture *f, size_t width, size_t height)
{
	assert_true(ray_page_start(&f->page, width, height, RAY_LOOKS_PLAIN));
	ray_top_screen_draw(&f->screen, &f->answer, &f->page);
	ray_text_clear(&f->text);
	for (size_t i = 0; i < height; i++) {
		struct ray_text *line = &f->page.lines[i];

		assert_true(ray_text_width(ray_text_get(line)) <= width);
		while (line->length && line->bytes[line->length - 1] == ' ')
			line->bytes[--line->length] = '\0';
		ray_text_printf(&f->text, "%s\n", ray_text_get(line));
	}
	return ray_text_get(&f->text);
}

static bool shows(struct fixture *f, const char *what)
{
	return strstr(draw(f, 80, 24), what) != NULL;
}

/* The list alone, by its first words. */
static const char *first(struct fixture *f)
{
	return f->screen.list.n ? f->answer.profile->functions.at[f->answer.rows[f->screen.list.at[0]].function].name :
				  "";
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->top = sample_top(3);
	ray_top_screen_init(&f->screen);
	f->screen.source = "99 Hz";
	f->screen.period_ns = 1000000000 / 99;
	ask(f);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	ray_top_answer_deinit(&f->answer);
	ray_page_deinit(&f->page);
	ray_text_deinit(&f->text);
	ray_top_screen_deinit(&f->screen);
	ray_top_free(f->top);
	free(f);
	return 0;
}

/* ---- looks ---- */

static const char usual[] = "100 node server.js  node 24.21.0  up 2h10m                        last 5s, 99 Hz\n"
			    "CPU 110.0%  RSS 97M  heap 43M of 2.0G  threads 5  requests 195/s\n"
			    "loop 80% busy, lag p50 816us p99 15.9ms max 183ms  GC 2.0%, 15, max 4.00ms\n"
			    "js 66% packages 8% node 0% builtins 0% native 0% gc+compiler 22% kernel 4%\n"
			    " main                       90.0% loop  80% p50 816us p99 15.9ms max 183ms\n"
			    " worker 1 (parser)          10.0% ##\n"
			    " V8 platform (2)            10.0% ##\n"
			    " pool                        0.0%\n"
			    " SELF*  TOTAL  KIND     FUNCTION                          PLACE\n"
			    " 60.0%  72.0%  js       letterDistance                    …/shop/catalogue.js:16\n"
			    " 12.0%  12.0%  native   memmove                           libc.so.6\n"
			    " 10.0%  10.0%  compiler v8::internal::compiler::Run()     node\n"
			    "  8.0%   8.0%  package  serialize                         …/fast-json/index.js:4\n"
			    "  6.0%   6.0%  js       日本語                            /srv/shop/names.js:1\n"
			    "  4.0%   4.0%  kernel   do_writev                         vmlinux\n"
			    "  0.0%  90.0%  native   node::SpinEventLoop               node\n"
			    "  0.0%  90.0%  node     Server.emit                       node:events:480\n"
			    "  0.0%  90.0%  js       Shop.handle                       /srv/shop/server.js:20\n"
			    "  0.0%  72.0%  js       score                             …/shop/catalogue.js:33\n"
			    "  0.0%  12.0%  gc       v8::internal::Heap::Scavenge()    node\n"
			    "  0.0%   4.0%  native   uv_write                          node\n"
			    "\n"
			    "\n"
			    "q quit  ? help  / filter  f flame  Enter callers  s t n sort  Space pause  Tab …\n";

static const char small[] = "100 node server.js  nod…  last 5s, 99 Hz\n"
			    "CPU 110.0%  RSS 97M  heap 43M of 2.0G  …\n"
			    "loop 80% busy, lag p50 816us p99 15.9ms…\n"
			    " SELF*  TOTAL  FUNCTION         PLACE\n"
			    " 60.0%  72.0%  letterDistance   …e.js:16\n"
			    " 12.0%  12.0%  memmove          …bc.so.6\n"
			    " 10.0%  10.0%  …compiler::Run() node\n"
			    "  8.0%   8.0%  serialize        …ex.js:4\n"
			    "  6.0%   6.0%  日本語           …es.js:1\n"
			    "q quit  ? help  / filter  f flame  Ente…\n";

static void sizes(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(draw(f, 80, 24), usual);
	assert_string_equal(draw(f, 40, 10), small);
	draw(f, 200, 60);
	assert_non_null(strstr(ray_text_get(&f->text), "/srv/shop/node_modules/fast-json/index.js:4\n"));
	assert_non_null(strstr(ray_text_get(&f->text), "Space pause  Tab thread\n"));
}

/* Whatever the size, the view and the looks: nothing is too wide, nothing is read that is not there. */
static void any_size(void **state)
{
	static const char *const ways[] = { "", "\n", "\n\n", "f", "fjjjj", "fjj\n", "?", "/letter", "c%", "123456" };
	struct fixture *f = *state;

	for (size_t i = 0; i < RAY_COUNT(ways); i++) {
		type(f, ways[i]);
		for (size_t width = 1; width < 130; width += width < 20 ? 1 : 13)
			for (size_t height = 1; height < 40; height += height < 12 ? 1 : 7)
				draw(f, width, height);
		assert_false(f->page.failed);
		assert_false(f->screen.failed);
		f->screen.view = RAY_TOP_LIST;
		f->screen.is_typing = false;
	}
}

static void nothing_yet(void **state)
{
	struct fixture *f = *state;

	ray_top_free(f->top);
	f->top = ray_top_create();
	ask(f);
	assert_true(shows(f, "collecting..."));
	for (const char *key = "\nfjk\ns?q"; *key; key++)
		press(f, (uint32_t)*key);
	press(f, RAY_KEY_TAB);
	assert_true(f->screen.wants_quit || f->screen.view != RAY_TOP_LIST || !f->screen.list.n);
	sample_moment(f->top, 0);
	draw(f, 80, 24);
}

/* ---- keys ---- */

static void sorting(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(first(f), "letterDistance");
	press(f, 't');
	assert_string_equal(first(f), "node::SpinEventLoop");
	assert_true(shows(f, " TOTAL* "));
	press(f, 'n');
	assert_string_equal(first(f), "do_writev");
	press(f, 's');
	assert_string_equal(first(f), "letterDistance");
}

static void filtering(void **state)
{
	struct fixture *f = *state;

	type(f, "/SCA");
	assert_true(shows(f, "\n/SCA"));
	assert_int_equal(f->screen.list.n, 1);
	press(f, RAY_KEY_BACKSPACE);
	press(f, RAY_KEY_ENTER);
	assert_false(f->screen.is_typing);
	assert_true(shows(f, "FUNCTION /SC/"));
	press(f, RAY_KEY_ESCAPE);
	assert_int_equal(f->screen.list.n, f->answer.row_count);
	type(f, "/catalogue.*js|^uv_");
	assert_int_equal(f->screen.list.n, 3); /* letterDistance, score, uv_write */
	press(f, 'U' - '@');
	type(f, "Heap::Scavenge("); /* no regular expression */
	assert_int_equal(f->screen.list.n, 1);
	press(f, 'U' - '@');
	type(f, "nowhere");
	assert_true(shows(f, "no function matches"));
	press(f, RAY_KEY_ESCAPE); /* as it was before */
	assert_int_equal(f->screen.list.n, f->answer.row_count);
	press(f, '/');
	for (int i = 0; i < 300; i++)
		press(f, 0x65e5);
	assert_true(strlen(f->screen.pattern) < RAY_TOP_PATTERN);
	assert_int_equal(strlen(f->screen.pattern) % 3, 0); /* whole letters */
}

static void hiding(void **state)
{
	struct fixture *f = *state;

	press(f, '5');
	press(f, '4');
	assert_true(shows(f, " 72.0%  72.0%  js       letterDistance"));
	assert_true(shows(f, "(native 0%) (gc+compiler 22%) kernel 4%"));
	press(f, '0');
	assert_true(shows(f, " 60.0%  72.0%  js       letterDistance"));
}

static void threads(void **state)
{
	struct fixture *f = *state;

	press(f, RAY_KEY_TAB);
	assert_true(shows(f, "\n>main "));
	assert_true(shows(f, " 66.7%  80.0%  js       letterDistance"));
	press(f, RAY_KEY_TAB);
	assert_true(shows(f, "this thread did not run"));
	press(f, RAY_KEY_TAB);
	assert_string_equal(first(f), "v8::internal::compiler::Run()");
	press(f, RAY_KEY_BACK_TAB);
	press(f, RAY_KEY_BACK_TAB);
	press(f, RAY_KEY_BACK_TAB);
	assert_int_equal(f->screen.group, 0);
}

static void the_choice_follows_its_function(void **state)
{
	struct fixture *f = *state;

	press(f, RAY_KEY_DOWN);
	press(f, RAY_KEY_DOWN);
	press(f, RAY_KEY_DOWN);
	assert_int_equal(f->screen.cursor, 3); /* serialize */
	press(f, '5');
	press(f, '4');
	assert_int_equal(f->screen.cursor, 1);
	press(f, RAY_KEY_HOME);
	assert_int_equal(f->screen.cursor, 0);
	press(f, RAY_KEY_END);
	assert_int_equal(f->screen.cursor, f->screen.list.n - 1);
	press(f, RAY_KEY_PAGE_UP);
	press(f, RAY_KEY_UP);
	assert_true(f->screen.cursor < f->screen.list.n - 1);
}

static void callers_and_callees(void **state)
{
	struct fixture *f = *state;

	press(f, RAY_KEY_ENTER);
	assert_true(shows(f, "letterDistance  self 60.0%  total 72.0%"));
	assert_true(shows(f, " 50.0%  50.0%  line 20\n 10.0%  10.0%  line 18\n  0.0%  12.0%  line 19\n"));
	assert_true(shows(f, "CALLED BY\n        72.0%  js       score "));
	assert_true(shows(f, "CALLS\n  0.0%  12.0%  gc       v8::internal::Heap::Scavenge() "));
	press(f, RAY_KEY_ENTER);
	assert_true(shows(f, "score  self 0.0%  total 72.0%"));
	press(f, RAY_KEY_DOWN);
	press(f, RAY_KEY_ENTER);
	assert_true(shows(f, "letterDistance  self 60.0%"));
	press(f, RAY_KEY_BACKSPACE);
	press(f, RAY_KEY_BACKSPACE);
	assert_int_equal(f->screen.view, RAY_TOP_DETAIL);
	press(f, RAY_KEY_BACKSPACE);
	assert_int_equal(f->screen.view, RAY_TOP_LIST);
	press(f, RAY_KEY_ENTER);
	press(f, RAY_KEY_ESCAPE);
	assert_int_equal(f->screen.view, RAY_TOP_LIST);
}

static void the_flame_graph(void **state)
{
	struct fixture *f = *state;

	press(f, 'f');
	assert_true(shows(f, "\n>all"));
	assert_true(shows(f, "\n|score                                                    |seri…|u…|日…\n"));
	for (int i = 0; i < 4; i++)
		press(f, RAY_KEY_DOWN);
	assert_true(shows(f, "score  total 72.0%  self 0.0%  /srv/shop/catalogue.js:33"));
	press(f, RAY_KEY_RIGHT);
	assert_true(shows(f, "serialize  total 8.0%  self 8.0%"));
	press(f, RAY_KEY_LEFT);
	press(f, RAY_KEY_ENTER); /* fills the screen now */
	assert_true(shows(f, "\n>score\n|letterDistance\n"));
	ask(f); /* and stays when numbers change */
	assert_true(shows(f, "\n>score\n|letterDistance\n"));
	press(f, RAY_KEY_UP);
	assert_true(shows(f, "\n|Shop.handle\n>score"));
	press(f, RAY_KEY_HOME);
	assert_true(shows(f, "\n>all"));
	press(f, 'f');
	assert_int_equal(f->screen.view, RAY_TOP_LIST);
}

static void windows_pause_and_reset(void **state)
{
	struct fixture *f = *state;

	press(f, 'w');
	assert_true(shows(f, "last 10s"));
	press(f, 'W');
	press(f, 'W');
	assert_true(shows(f, "last 2s"));
	press(f, 'c');
	assert_true(shows(f, "all of 3s"));
	press(f, ' ');
	sample_moment(f->top, 4);
	ask(f);
	assert_true(shows(f, "PAUSED  all of 3s"));
	press(f, ' ');
	assert_true(shows(f, "all of 4s"));
	press(f, '%');
	assert_true(shows(f, "(% of a CPU)"));
	assert_true(shows(f, " 60.6%  72.7%  js       letterDistance"));
	press(f, 'r');
	assert_int_equal(f->answer.weight, 0);
	press(f, '?');
	assert_true(shows(f, "any key goes back"));
	press(f, 'x');
	assert_int_equal(f->screen.view, RAY_TOP_LIST);
	press(f, 'q');
	assert_true(f->screen.wants_quit);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sizes),
		TEST(any_size),
		TEST(nothing_yet),
		TEST(sorting),
		TEST(filtering),
		TEST(hiding),
		TEST(threads),
		TEST(the_choice_follows_its_function),
		TEST(callers_and_callees),
		TEST(the_flame_graph),
		TEST(windows_pause_and_reset),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
