/* Random strings through the functions of the runtime, against plain C. SPDX-License-Identifier: MIT
 *
 * Few different letters, so that much matches; lengths around words and around the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kern_run.h"

enum { ROUNDS = 400 };

static struct kern_run run;
static uint64_t seed = 0x9e3779b97f4a7c15;

static void need(const char *function)
{
	if (kern_load(&run, function))
		return;
	if (strstr(run.skip, "not permitted"))
		skip();
	fail_msg("%s: %s", function, run.skip);
}

static uint32_t below(uint32_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % limit;
}

static void random_text(char *out, const char *letters)
{
	static const size_t limits[] = { 1, 4, 9, 18, 40, KERN_STRSIZE + 1 };
	size_t length = below((uint32_t)limits[below(RAY_COUNT(limits))]);

	for (size_t i = 0; i < length; i++)
		out[i] = letters[below((uint32_t)strlen(letters))];
	out[length] = '\0';
}

static const char *result(int64_t ret)
{
	return ret ? kern_memory(&run, (uint64_t)ret) : NULL;
}

static void check(const char *what, const char *a, const char *b, const char *got, const char *expected)
{
	if (!got || !expected ? got != expected : strcmp(got, expected) != 0)
		fail_msg("%s(\"%s\", \"%s\") is \"%s\", expected \"%s\"", what, a, b, got ? got : "NULL",
			 expected ? expected : "NULL");
}

static void comparing(void **state)
{
	char a[KERN_STRSIZE + 1], b[KERN_STRSIZE + 1];

	(void)state;
	need("ray_strcmp");
	for (int i = 0; i < ROUNDS; i++) {
		int expected;

		random_text(a, "ab\xff");
		if (below(2))
			strcpy(b, a);
		else
			random_text(b, "ab\xff");
		expected = strcmp(a, b);
		assert_int_equal(kern_call(&run, kern_string(&run, 0, a), kern_string(&run, 1, b), 0, 0),
				 (expected > 0) - (expected < 0));
	}
}

static int64_t slow_index(const char *a, const char *b, int64_t start, bool is_last)
{
	int64_t all = (int64_t)strlen(a), length = (int64_t)strlen(b), found = -1;

	for (int64_t i = 0; i + length <= all; i++) {
		if (strncmp(a + i, b, (size_t)length))
			continue;
		if (is_last ? i <= start : i >= start && found < 0)
			found = i;
	}
	return found;
}

static void searching(void **state)
{
	char a[KERN_STRSIZE + 1], b[KERN_STRSIZE + 1];

	(void)state;
	for (int which = 0; which < 2; which++) {
		need(which ? "ray_rindex" : "ray_index");
		for (int i = 0; i < ROUNDS; i++) {
			int64_t start = below(50);

			random_text(a, "aab");
			do
				random_text(b, "ab");
			while (!*b); /* an empty one has rules of its own */
			if (below(2))
				b[1 + below(2)] = '\0';
			assert_int_equal(
				kern_call(&run, kern_string(&run, 0, a), kern_string(&run, 1, b), (uint64_t)start, 0),
				slow_index(a, b, start, which));
		}
	}
	need("ray_strstr");
	for (int i = 0; i < ROUNDS; i++) {
		random_text(a, "aab");
		random_text(b, "ab");
		b[below(5)] = '\0';
		check("strstr", a, b,
		      result(kern_call(&run, kern_temp(3), kern_string(&run, 0, a), kern_string(&run, 1, b), 0)),
		      strstr(a, b));
	}
}

static void joining(void **state)
{
	char a[KERN_STRSIZE + 1], b[KERN_STRSIZE + 1], expected[2 * KERN_STRSIZE + 2];

	(void)state;
	need("ray_strjoin");
	for (int i = 0; i < ROUNDS; i++) {
		random_text(a, "abc");
		random_text(b, "xyz");
		snprintf(expected, sizeof(expected), "%s%s", a, b);
		expected[KERN_STRSIZE] = '\0';
		check("strjoin", a, b,
		      result(kern_call(&run, kern_temp(3), kern_string(&run, 0, a), kern_string(&run, 1, b), 0)),
		      expected);
	}
}

static void cutting(void **state)
{
	char a[KERN_STRSIZE + 1], expected[KERN_STRSIZE + 1];

	(void)state;
	need("ray_substr");
	for (int i = 0; i < ROUNDS; i++) {
		int64_t index = (int64_t)below(80) - 40, length = (int64_t)below(80) - 40, all, start, end;

		random_text(a, "abcdefgh");
		all = (int64_t)strlen(a);
		start = index < 0 ? all + index : index;
		end = length < 0 ? all + length : start + length;
		start = start < 0 ? 0 : start;
		end = end > all ? all : end;
		snprintf(expected, sizeof(expected), "%.*s", end > start ? (int)(end - start) : 0,
			 start <= all ? a + start : "");
		check("substr", a, "",
		      result(kern_call(&run, kern_temp(3), kern_string(&run, 0, a), (uint64_t)index, (uint64_t)length)),
		      expected);
	}
}

/* Component by component, on a stack. */
static void slow_cleanpath(const char *path, char *out)
{
	ray_auto_memory char *copy = strdup(path);
	const char *parts[KERN_STRSIZE];
	bool is_absolute = path[0] == '/';
	size_t depth = 0;

	for (char *save = NULL, *p = strtok_r(copy, "/", &save); p; p = strtok_r(NULL, "/", &save)) {
		if (!strcmp(p, "."))
			continue;
		if (strcmp(p, "..") != 0 || (!is_absolute && (!depth || !strcmp(parts[depth - 1], ".."))))
			parts[depth++] = p;
		else if (depth)
			depth--;
	}
	strcpy(out, is_absolute ? "/" : "");
	for (size_t i = 0; i < depth; i++) {
		strcat(out, parts[i]);
		if (i + 1 < depth)
			strcat(out, "/");
	}
	if (!*out && *path)
		strcpy(out, ".");
}

static void cleaning(void **state)
{
	char a[KERN_STRSIZE + 1], expected[KERN_STRSIZE + 8];

	(void)state;
	need("ray_cleanpath");
	for (int i = 0; i < 4 * ROUNDS; i++) {
		random_text(a, "/../a");
		slow_cleanpath(a, expected);
		check("cleanpath", a, "", result(kern_call(&run, kern_temp(3), kern_string(&run, 0, a), 0, 0)),
		      expected);
	}
}

/* As DTrace does it: the next token begins at the delimiter that ended the last. */
static void taking_tokens(void **state)
{
	char a[KERN_STRSIZE + 1], b[8], token[KERN_STRSIZE + 1];

	(void)state;
	need("ray_strtok");
	for (int i = 0; i < ROUNDS; i++) {
		const char *rest = a;

		random_text(a, "ab,;");
		snprintf(b, sizeof(b), "%s", below(2) ? "," : below(2) ? ",;" : "");
		for (bool is_first = true;; is_first = false) {
			const char *got = result(kern_call(&run, kern_temp(3), is_first ? kern_string(&run, 0, a) : 0,
							   kern_string(&run, 1, b), 0));
			size_t length;

			rest += strspn(rest, b);
			length = strcspn(rest, b);
			if (!length) {
				assert_null(got);
				break;
			}
			snprintf(token, sizeof(token), "%.*s", (int)length, rest);
			check("strtok", a, b, got, token);
			rest += length;
		}
	}
}

/* Any bytes as JSON: it may find nothing, but it comes back, and what it gives is in the text. */
static void any_json(void **state)
{
	char a[KERN_STRSIZE + 1], b[KERN_STRSIZE + 1];

	(void)state;
	need("ray_json");
	for (int i = 0; i < 4 * ROUNDS; i++) {
		const char *got;

		random_text(a, "{}[]\"a:,1\\ ");
		random_text(b, "a.[1]");
		got = result(kern_call(&run, kern_temp(3), kern_string(&run, 0, a), kern_string(&run, 1, b), 0));
		assert_true(!got || strstr(a, got));
		assert_int_equal(kern_slot(&run)->fault, 0);
	}
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
		cmocka_unit_test(comparing), cmocka_unit_test(searching), cmocka_unit_test(joining),
		cmocka_unit_test(cutting),   cmocka_unit_test(cleaning),  cmocka_unit_test(taking_tokens),
		cmocka_unit_test(any_json),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
