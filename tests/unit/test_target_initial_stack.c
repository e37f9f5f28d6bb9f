/* test_target_initial_stack.c - arguments and environment, as the kernel left them and as programs
 * change them. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fake_core.h"
#include "target/initial_stack.h"

static unsigned char stack[2 * FAKE_PAGE] __attribute__((aligned(8)));
static Elf64_auxv_t auxv[8];
static size_t auxv_count;

static const char *const args[] = { "node", "app.js", "", "-x", NULL };
static const char *const env[] = { "PATH=/bin", "HOME=/", "LAST=1", NULL };

static size_t read_stack(void *arg, uint64_t address, void *buffer, size_t size)
{
	(void)arg;
	if (address < fake_stack || address >= fake_stack + sizeof(stack))
		return 0;
	if (size > fake_stack + sizeof(stack) - address)
		size = fake_stack + sizeof(stack) - address;
	memcpy(buffer, stack + (address - fake_stack), size);
	return size;
}

static const struct ray_reader reader = { read_stack, NULL };

static bool find(struct ray_initial_stack *ret)
{
	return ray_initial_stack_find(&reader, fake_stack, fake_stack + sizeof(stack), auxv, auxv_count, ret);
}

static int fill(void **state)
{
	(void)state;
	fake_fill_stack(stack, args, env);
	auxv_count = fake_auxv(auxv);
	return 0;
}

static void assert_area(uint64_t start, uint64_t end, const char *bytes, size_t size)
{
	assert_int_equal(end - start, size);
	assert_memory_equal(stack + (start - fake_stack), bytes, size);
}

static void areas_are_those_of_cmdline_and_environ(void **state)
{
	struct ray_initial_stack s;

	(void)state;
	assert_true(find(&s));
	assert_int_equal(s.argc, 4);
	assert_false(s.is_overwritten);
	assert_area(s.args, s.args_end, "node\0app.js\0\0-x", 16);
	assert_area(s.env, s.env_end, "PATH=/bin\0HOME=/\0LAST=1", 24);
}

/* As libuv does for process.title: over all of argv's strings, and zeroes behind. */
static void a_title_over_the_arguments_is_noticed(void **state)
{
	struct ray_initial_stack s, before;

	(void)state;
	assert_true(find(&before));
	memset(stack + (before.args - fake_stack), 0, 16);
	memcpy(stack + (before.args - fake_stack), "my title", 8);
	assert_true(find(&s));
	assert_true(s.is_overwritten);
	assert_area(s.args, s.args_end, "my title\0\0\0\0\0\0\0", 16);
	assert_area(s.env, s.env_end, "PATH=/bin\0HOME=/\0LAST=1", 24);
}

static void setenv_and_unsetenv_do_not_hide_the_environment(void **state)
{
	struct ray_initial_stack s, before;
	uint64_t *envp;

	(void)state;
	assert_true(find(&before));
	envp = (uint64_t *)(void *)(stack + (before.envp - fake_stack));
	envp[1] = 0x55550000; /* HOME was set: it lies in the heap now */
	envp[0] = envp[1];    /* PATH was unset: all others moved down */
	envp[1] = envp[2];
	envp[2] = 0;
	assert_true(find(&s));
	assert_int_equal(s.argc, 4);
	assert_area(s.env, s.env_end, "PATH=/bin\0HOME=/\0LAST=1", 24);
}

static void an_empty_environment_is_empty(void **state)
{
	static const char *const none[] = { NULL };
	struct ray_initial_stack s;

	(void)state;
	fake_fill_stack(stack, args, none);
	assert_true(find(&s));
	assert_area(s.args, s.args_end, "node\0app.js\0\0-x", 16);
	assert_int_equal(s.env, s.env_end);
}

static void a_stack_without_the_vector_is_refused(void **state)
{
	struct ray_initial_stack s;

	(void)state;
	auxv[2].a_un.a_val++;
	assert_false(find(&s));
	assert_false(ray_initial_stack_find(&reader, fake_stack, fake_stack + sizeof(stack), auxv, 0, &s));
	assert_false(ray_initial_stack_find(&reader, 0x1000, 0x9000, auxv, auxv_count, &s));
	assert_false(ray_initial_stack_find(&reader, 8, 8, auxv, auxv_count, &s));
}

static void nonsense_in_place_of_argc_is_refused(void **state)
{
	uint64_t *words = (uint64_t *)(void *)(stack + FAKE_PAGE);
	struct ray_initial_stack s;

	(void)state;
	words[0] = 2; /* two words on there is no NULL */
	assert_false(find(&s));
	words[0] = 0;
	assert_false(find(&s));
	words[0] = UINT64_MAX;
	assert_false(find(&s));
}

/* Whatever single word is damaged, the answer lies within the stack, or there is none. */
static void any_damaged_word_keeps_the_areas_inside(void **state)
{
	static const uint64_t values[] = { 0,	       1,	  7, 0x7ffffff00008, 0x7ffffff01ff8, 0x7ffffff02000,
					   UINT64_MAX, 1ull << 47 };
	struct ray_initial_stack s;

	for (size_t at = FAKE_PAGE; at < FAKE_PAGE + 256; at += 8) {
		for (size_t v = 0; v < RAY_COUNT(values); v++) {
			fill(state);
			memcpy(stack + at, &values[v], 8);
			if (!find(&s))
				continue;
			assert_true(s.args >= fake_stack && s.args <= s.args_end && s.args_end <= s.env &&
				    s.env <= s.env_end && s.env_end <= fake_stack + sizeof(stack));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(areas_are_those_of_cmdline_and_environ, fill),
		cmocka_unit_test_setup(a_title_over_the_arguments_is_noticed, fill),
		cmocka_unit_test_setup(setenv_and_unsetenv_do_not_hide_the_environment, fill),
		cmocka_unit_test_setup(an_empty_environment_is_empty, fill),
		cmocka_unit_test_setup(a_stack_without_the_vector_is_refused, fill),
		cmocka_unit_test_setup(nonsense_in_place_of_argc_is_refused, fill),
		cmocka_unit_test_setup(any_damaged_word_keeps_the_areas_inside, fill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
