/* test_profile_folded.c - folded stacks, written and read. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_profile.h"

static struct ray_profile *parsed(const char *text)
{
	struct ray_profile *p = NULL;
	struct ray_error *err = ray_profile_parse(text, strlen(text), &p);

	if (err)
		print_error("%s\n", ray_error_text(err));
	assert_null(err);
	return p;
}

static void a_stack_is_a_line(void **state)
{
	ray_auto(ray_profile, p) = fake_profile();
	size_t size;
	ray_auto_memory char *text = fake_written(p, "folded", &size);
	(void)state;

	assert_non_null(strstr(text, "main-4242/4242;node::Start(int, char**);JSEntry_[j];Module._compile "
				     "(node:internal/modules/cjs/loader:1412:37)_[j];(anonymous) "
				     "(/srv/app.js:1:1)_[j];handle (/srv/app.js:5:18)_[j];Odd\\x3bname \"quoted\" "
				     "(/srv/app.js:30:2)_[j] 2\n"));
	assert_non_null(strstr(text, "handle (/srv/app.js:5:18)_[j];do_syscall_64_[k] 1\n"));
	assert_non_null(strstr(text, "worker_threads worker 1 (a\\x3bb)-4242/4250;"));
}

static void what_was_written_is_read_back(void **state)
{
	const unsigned what = FAKE_KINDS | FAKE_FILES | FAKE_COLUMNS | FAKE_THREADS;
	ray_auto(ray_profile, p) = fake_profile();
	size_t size;
	ray_auto_memory char *text = fake_written(p, "folded", &size);
	ray_auto(ray_profile, again) = parsed(text);
	ray_auto_memory char *before = fake_text(p, what), *after = fake_text(again, what);
	(void)state;

	assert_string_equal(after, before);
	assert_int_equal(ray_profile_weight(again), ray_profile_weight(p));
}

static const struct ray_profile_function *function_of(const struct ray_profile *p, const char *name)
{
	for (size_t i = 1; i < p->functions.n; i++)
		if (!strcmp(p->functions.at[i].name, name))
			return &p->functions.at[i];
	fail_msg("no function '%s'", name);
	return NULL;
}

static void names_of_v8s_perf_map_are_taken_apart(void **state)
{
	ray_auto(ray_profile, p) = parsed("node-17;JS:*handle /srv/a.js:12:3;Builtin:ArrayMap;entry_SYSCALL_64_[k] 5\n"
					  "node-17;LazyCompile:~next /srv/node_modules/koa/x.js:7_[j] 2\n"
					  "node-17;JS:^ file:///srv/b.mjs:1:1;[unknown] 1.6\r\n\n# a remark\n");
	const struct ray_profile_function *f = function_of(p, "handle");
	(void)state;

	assert_int_equal(p->samples.n, 3);
	assert_int_equal(p->threads.n, 1);
	assert_int_equal(p->threads.at[0].pid, 17);
	assert_string_equal(p->threads.at[0].name, "node");
	assert_int_equal(f->kind, RAY_KIND_JS);
	assert_string_equal(f->file, "/srv/a.js");
	assert_int_equal(f->line, 12);
	assert_int_equal(f->column, 3);
	f = function_of(p, "next");
	assert_int_equal(f->kind, RAY_KIND_PACKAGE);
	assert_string_equal(f->package, "koa");
	assert_int_equal(f->line, 7);
	assert_int_equal(function_of(p, "ArrayMap")->kind, RAY_KIND_BUILTIN);
	assert_int_equal(function_of(p, "entry_SYSCALL_64")->kind, RAY_KIND_KERNEL);
	assert_int_equal(function_of(p, "[unknown]")->kind, RAY_KIND_UNKNOWN);
	assert_string_equal(function_of(p, "(anonymous)")->file, "file:///srv/b.mjs");
	assert_int_equal(p->samples.at[2].weight, 2);
}

static void a_line_without_a_number_is_refused_with_its_place(void **state)
{
	ray_auto(ray_error, err) = NULL;
	struct ray_profile *p = NULL;
	const char *text = "a;b 1\nc;d\n";
	(void)state;

	err = ray_profile_parse(text, strlen(text), &p);
	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	assert_string_equal(ray_error_text(err), "as folded: line 2: no number at its end");
}

static void a_difference_is_no_profile(void **state)
{
	ray_auto(ray_error, err) = NULL;
	struct ray_profile *p = NULL;
	const char *text = "a;b 1 2\nc;d 0 4\n";
	(void)state;

	err = ray_profile_parse(text, strlen(text), &p);
	assert_string_equal(ray_error_text(err), "as folded: every line has two numbers: a difference, not a profile");
}

static void text_that_is_none_of_it_says_so(void **state)
{
	static const char *const texts[] = { "", "hello\n", "{}", "\x01\x02", " \n \n" };
	(void)state;

	for (size_t i = 0; i < RAY_COUNT(texts); i++) {
		ray_auto(ray_error, err) = NULL;
		struct ray_profile *p = NULL;

		err = ray_profile_parse(texts[i], strlen(texts[i]), &p);
		assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_is_a_line),
		cmocka_unit_test(what_was_written_is_read_back),
		cmocka_unit_test(names_of_v8s_perf_map_are_taken_apart),
		cmocka_unit_test(a_line_without_a_number_is_refused_with_its_place),
		cmocka_unit_test(a_difference_is_no_profile),
		cmocka_unit_test(text_that_is_none_of_it_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
