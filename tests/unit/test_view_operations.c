/* test_view_operations.c - operations as lines and tables. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "view/operations.h"

static struct ray_fact_field number(const char *name, int64_t value)
{
	return (struct ray_fact_field){ .name = name,
					.value = { .kind = RAY_VALUE_INTEGER, .integer = (uint64_t)value } };
}

static struct ray_fact_field text(const char *name, const char *value)
{
	return (struct ray_fact_field){ .name = name,
					.value = { .kind = RAY_VALUE_STRING,
						   .bytes = value,
						   .length = strlen(value),
						   .size = strlen(value) + 1 } };
}

#define FACT(word, ...)                                                                        \
	(&(struct ray_fact){ .name = word,                                                     \
			     .time_ns = 1000000000,                                            \
			     .pid = 42,                                                        \
			     .fields = (const struct ray_fact_field[]){ __VA_ARGS__ },         \
			     .count = sizeof((const struct ray_fact_field[]){ __VA_ARGS__ }) / \
				      sizeof(struct ray_fact_field) })

struct output {
	FILE *file;
	char *text;
	size_t size;
};

static struct ray_operations *create(struct output *o, const struct ray_operations_options *options)
{
	struct ray_operations *v;

	o->file = open_memstream(&o->text, &o->size);
	assert_null(ray_operations_create(&ray_operations_fs, options, o->file, &v));
	return v;
}

static void finish(struct output *o, struct ray_operations *v)
{
	ray_operations_finish(v);
	ray_operations_free(v);
	fclose(o->file);
}

static void a_line_for_each(void **state)
{
	struct output o;
	struct ray_operations *v = create(&o, &(struct ray_operations_options){ .glob = "/etc/*" });

	(void)state;
	ray_operations_start(v);
	ray_operations_take(v, FACT("asked", number("id", 7), text("stack", "node`x\nread (/a.js:1:1)\n")));
	ray_operations_take(v, FACT("fs", number("id", 7), number("tid", 43), text("op", "open"), number("fd", -1),
				    number("sync", 0), number("wait", 1500), number("run", 2000000),
				    number("result", -2), text("path", "/etc/none"), text("to", "")));
	ray_operations_take(v, FACT("fs", number("id", 8), text("op", "open"), text("path", "/tmp/other")));
	ray_operations_take(v, FACT("fs", number("id", 9), text("op", "rename"), number("fd", -1), number("sync", 1),
				    number("run", 1000), text("path", "/etc/a"), text("to", "/etc/b\x1b")));
	finish(&o, v);
	assert_string_equal(o.text,
			    "TIME                PID OP           WAIT     RUN   RESULT PATH\n"
			    "00:00:01.000000      42 open       1.50us  2.00ms   ENOENT /etc/none\n"
			    "    read (/a.js:1:1)\n"
			    "00:00:01.000000      42 rename       sync  1.00us        0 /etc/a -> /etc/b\\x1b\n");
	free(o.text);
}

static void rows_of_a_table(struct ray_operations *v, const char *op, const char *path, int64_t count, int64_t total)
{
	int64_t bins[RAY_POWER_BINS] = { [RAY_POWER_ZERO + 11] = count };
	struct ray_histogram h = { .kind = RAY_HISTOGRAM_POWERS, .bins = bins, .count = RAY_POWER_BINS, .normal = 1 };
	struct ray_fact_field times = { .name = "times", .histogram = &h };

	ray_operations_take(v, FACT("times", text("op", op), text("path", path), times, number("total", total),
				    number("longest", 1500)));
	ray_operations_take(v, FACT("errors", text("op", op), text("path", path), number("count", 1)));
}

static void a_table_by_operation_adds_paths_up(void **state)
{
	struct output o;
	struct ray_operations *v = create(&o, &(struct ray_operations_options){ .by_operation = true, .most = 1 });

	(void)state;
	ray_operations_start(v);
	rows_of_a_table(v, "open", "/a", 2, 3000);
	rows_of_a_table(v, "open", "/b", 1, 1500);
	rows_of_a_table(v, "close", "/b", 1, 1200);
	finish(&o, v);
	assert_non_null(strstr(o.text, "COUNT  ERRORS   TOTAL"));
	assert_non_null(strstr(o.text, "    3       2  4.50us"));
	assert_null(strstr(o.text, "/a"));
	assert_non_null(strstr(o.text, "  open\n... and 1 more\n"));
	free(o.text);
}

static void an_empty_table_says_so(void **state)
{
	struct output o;
	struct ray_operations *v = create(&o, &(struct ray_operations_options){ .by_subject = true });

	(void)state;
	finish(&o, v);
	assert_string_equal(o.text, "nothing happened\n");
	free(o.text);
}

static void columns_that_there_are_none_of_are_refused(void **state)
{
	struct ray_operations *v;
	struct ray_error *err = ray_operations_create(
		&ray_operations_dns, &(struct ray_operations_options){ .columns = "path" }, stdout, &v);

	(void)state;
	assert_non_null(err);
	ray_error_free(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_for_each),
		cmocka_unit_test(a_table_by_operation_adds_paths_up),
		cmocka_unit_test(an_empty_table_says_so),
		cmocka_unit_test(columns_that_there_are_none_of_are_refused),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
