/* test_view_syscalls.c - how the list and the tables of `noderay syscalls` look. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/syscalls.h"

static struct ray_fact_field text(const char *name, const char *value)
{
	return (struct ray_fact_field){ .name = name,
					.value = { .kind = RAY_VALUE_STRING,
						   .bytes = value,
						   .length = strlen(value),
						   .size = (uint32_t)strlen(value) + 1 } };
}

static struct ray_fact_field stack(const char *name, const char *value)
{
	struct ray_fact_field f = text(name, value);

	f.value.kind = RAY_VALUE_JSTACK;
	return f;
}

static struct ray_fact_field number(const char *name, int64_t value)
{
	return (struct ray_fact_field){ .name = name,
					.value = { .kind = RAY_VALUE_INTEGER, .size = 8, .integer = (uint64_t)value } };
}

static struct ray_fact_field average(const char *name, int64_t count, int64_t sum)
{
	struct ray_fact_field f = number(name, sum / count);

	f.count = count;
	f.sum = sum;
	return f;
}

#define FACT(what, ...)                                                                                               \
	&(struct ray_fact)                                                                                            \
	{                                                                                                             \
		.name = what, .fields = (struct ray_fact_field[]){ __VA_ARGS__ },                                     \
		.count = sizeof((struct ray_fact_field[]){ __VA_ARGS__ }) / sizeof(struct ray_fact_field), .pid = 10, \
		.tid = 11, .time_ns = 3723004005006                                                                   \
	}
#define ROW(what, ...)                                                                                    \
	&(struct ray_fact)                                                                                \
	{                                                                                                 \
		.name = what, .is_row = true, .fields = (struct ray_fact_field[]){ __VA_ARGS__ },         \
		.count = sizeof((struct ray_fact_field[]){ __VA_ARGS__ }) / sizeof(struct ray_fact_field) \
	}

struct shown {
	char *bytes;
	size_t size;
	FILE *out;
	struct ray_syscalls_view *view;
};

static void begin(struct shown *s, size_t width)
{
	s->out = open_memstream(&s->bytes, &s->size);
	assert_null(ray_syscalls_create(&(struct ray_syscalls_settings){ .out = s->out, .width = width }, &s->view));
}

static void shows(struct shown *s, const char *expected)
{
	ray_syscalls_finish(s->view, 2000000000);
	fclose(s->out);
	assert_string_equal(s->bytes, expected);
	ray_syscalls_free(s->view);
	free(s->bytes);
}

static void tell_close(struct shown *s)
{
	ray_syscalls_tell(s->view, FACT("file", text("name", "close"), number("arg", 0),
					text("path", "/a/long/path/to/something/that/is/open"), number("socket", 0)));
	ray_syscalls_tell(s->view,
			  FACT("stack", text("name", "close"),
			       stack("frames", "libc.so.6`close+0x1\nend (/app/x.js:1:2)\nnode`uv_run+0x3\n")));
	ray_syscalls_tell(
		s->view, FACT("call", text("name", "close"), number("ns", 1234), number("result", -5), number("a", 3)));
}

static void a_list(void **state)
{
	struct shown s;

	(void)state;
	setenv("TZ", "UTC", 1);
	begin(&s, 0);
	tell_close(&s);
	shows(&s,
	      "TIME                TID LATENCY CALL\n"
	      "01:02:03.004005      11  1.23us close(3</a/long/path/to/something/that/is/open>) = -1 EIO (Input/output error)\n"
	      "    end (/app/x.js:1:2)\n");
	begin(&s, 80);
	tell_close(&s);
	shows(&s, "TIME                TID LATENCY CALL\n"
		  "01:02:03.004005      11  1.23us close(3</a/long/\xe2\x80\xa6) = -1 EIO (Input/output error)\n"
		  "    end (/app/x.js:1:2)\n");
}

static void a_table_by_time_with_callers(void **state)
{
	struct shown s;

	(void)state;
	begin(&s, 0);
	ray_syscalls_tell(s.view, ROW("calls", text("name", "read"), average("avg", 4, 10000), number("max", 9000),
				      number("errors", 1)));
	ray_syscalls_tell(s.view, ROW("calls", text("name", "newfstat"), average("avg", 1, 5000000),
				      number("max", 5000000), number("errors", 0)));
	ray_syscalls_tell(s.view, &(struct ray_fact){ .name = "calls", .is_row = true, .is_end = true });
	/* Other native frames, the same JavaScript. */
	ray_syscalls_tell(s.view, ROW("callers", text("name", "read"), stack("stack", "a`b+0x1\nf (/x.js:1:1)\n"),
				      number("ns", 6000)));
	ray_syscalls_tell(s.view, ROW("callers", text("name", "read"), stack("stack", "a`c+0x1\nf (/x.js:1:1)\n"),
				      number("ns", 4000)));
	shows(&s, "CALL   COUNT   RATE  ERRORS   TOTAL     AVG     MAX\n"
		  "fstat      1  0.5/s       0  5.00ms  5.00ms  5.00ms\n"
		  "read       4  2.0/s       1  10.0us  2.50us  9.00us\n"
		  "all        5  2.5/s       1  5.01ms  1.00ms  5.00ms\n"
		  "\n"
		  "read: 10.0us in calls from\n"
		  "    f (/x.js:1:1)\n");
}

static void distributions(void **state)
{
	int64_t bins[RAY_POWER_BINS] = { [RAY_POWER_ZERO + 11] = 3, [RAY_POWER_ZERO + 12] = 1 };
	const struct ray_histogram h = {
		.kind = RAY_HISTOGRAM_POWERS, .bins = bins, .count = RAY_POWER_BINS, .normal = 1
	};
	struct ray_fact_field bars = { .name = "bars", .histogram = &h };
	struct shown s;

	(void)state;
	begin(&s, 0);
	ray_syscalls_tell(s.view, ROW("latency", text("name", "read"), bars, number("max", 3000)));
	shows(&s, "read: 4 calls, p50 1.71us, p90 2.62us, p99 2.96us, max 3.00us\n"
		  "   1.02us to    2.05us |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|       3  75.0%\n"
		  "   2.05us to    4.10us |@@@@@@@@@@@@@                           |       1  25.0%\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list),
		cmocka_unit_test(a_table_by_time_with_callers),
		cmocka_unit_test(distributions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
