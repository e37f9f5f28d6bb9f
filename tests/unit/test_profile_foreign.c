/* test_profile_foreign.c - profiles as other programs write them, and ones that nobody should. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_profile.h"

static struct ray_profile *parsed_bytes(const char *bytes, size_t size)
{
	struct ray_profile *p = NULL;
	struct ray_error *err = ray_profile_parse(bytes, size, &p);

	if (err)
		print_error("%s\n", ray_error_text(err));
	assert_null(err);
	return p;
}

static struct ray_profile *parsed(const char *text)
{
	return parsed_bytes(text, strlen(text));
}

static void refused(const char *text, const char *why)
{
	struct ray_profile *p = NULL;
	ray_auto(ray_error, err) = ray_profile_parse(text, strlen(text), &p);

	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	assert_string_equal(ray_error_text(err), why);
}

/* "a>b>c" and its weight, for each sample. */
static char *stacks(const struct ray_profile *p)
{
	ray_auto_text out = { 0 };

	for (size_t i = 0; i < p->samples.n; i++) {
		const char *names[16];
		size_t n = 0;

		for (uint32_t at = p->samples.at[i].node; at && n < RAY_COUNT(names); at = p->nodes.at[at].parent)
			names[n++] = p->functions.at[p->frames.at[p->nodes.at[at].frame].function].name;
		while (n--)
			ray_text_printf(&out, "%s%s", names[n], n ? ">" : "");
		ray_text_printf(&out, " %" PRId64 " @%" PRIu64 "\n", p->samples.at[i].weight, p->samples.at[i].time_ns);
	}
	return strdup(ray_text_get(&out));
}

static void check_stacks(const struct ray_profile *p, const char *expected)
{
	ray_auto_memory char *text = stacks(p);

	assert_string_equal(text, expected);
}

static const struct ray_profile_function *function_of(const struct ray_profile *p, const char *name)
{
	for (size_t i = 1; i < p->functions.n; i++)
		if (!strcmp(p->functions.at[i].name, name))
			return &p->functions.at[i];
	fail_msg("no function '%s'", name);
	return NULL;
}

/* ---- speedscope ---- */

#define SCHEMA "\"$schema\":\"https://www.speedscope.app/file-format-schema.json\""

static void speedscope_with_events(void **state)
{
	ray_auto(ray_profile, p) = parsed(
		"{" SCHEMA ",\"profiles\":[{\"type\":\"evented\",\"name\":\"CrRendererMain\",\"unit\":\"milliseconds\","
		"\"startValue\":1000,\"endValue\":1010,\"events\":[{\"type\":\"O\",\"at\":1000,\"frame\":0},"
		"{\"type\":\"O\",\"at\":1002,\"frame\":1},{\"type\":\"C\",\"at\":1005,\"frame\":1},"
		"{\"type\":\"C\",\"at\":1006,\"frame\":0},{\"type\":\"O\",\"at\":1008,\"frame\":1},"
		"{\"type\":\"C\",\"at\":1010,\"frame\":1}]}],"
		"\"shared\":{\"frames\":[{\"name\":\"outer\",\"file\":\"app.js\",\"line\":3,\"col\":null},{\"name\":\"in\\u00e9r\"}]}}");
	(void)state;

	check_stacks(p, "outer 2000000 @2000000\nouter>in\xc3\xa9r 3000000 @5000000\nouter 1000000 @6000000\n"
			"in\xc3\xa9r 2000000 @10000000\n");
	assert_int_equal(p->unit, RAY_UNIT_NS);
	assert_string_equal(p->threads.at[0].name, "CrRendererMain");
	assert_int_equal(function_of(p, "outer")->line, 3);
	assert_int_equal(function_of(p, "outer")->kind, RAY_KIND_JS);
}

static void speedscope_that_is_nonsense(void **state)
{
	(void)state;
	refused("{" SCHEMA
		",\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{\"type\":\"sampled\",\"unit\":\"none\","
		"\"samples\":[[0,1]],\"weights\":[1]}]}",
		"as speedscope: line 1, column 159: a frame that is not among the shared ones");
	refused("{" SCHEMA
		",\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{\"samples\":[[0]],\n\"weights\":[]}]}",
		"as speedscope: line 2, column 14: as many weights as samples were expected");
	refused("{" SCHEMA ",\"shared\":{\"frames\":[{\"name\":\"a\"",
		"as speedscope: line 1, column 96: the file ends in the middle");
	refused("{" SCHEMA ",\"profiles\":[[[7]]]}", "as speedscope: line 1, column 77: an object was expected");
}

/* ---- cpuprofile ---- */

#define FRAME(name, url, line)                                                                                     \
	"\"callFrame\":{\"functionName\":\"" name "\",\"scriptId\":\"1\",\"url\":\"" url "\",\"lineNumber\":" line \
	",\"columnNumber\":4}"

static void cpuprofile_of_v8(void **state)
{
	ray_auto(ray_profile, p) = parsed("{\"nodes\":[{\"id\":1," FRAME(
		"(root)", "",
		"-1") ",\"hitCount\":0,\"children\":[2,3,5]},"
		      "{\"id\":5," FRAME(
			      "(garbage collector)", "",
			      "-1") ",\"hitCount\":1},"
				    "{\"id\":2," FRAME(
					    "", "file:///srv/a.mjs",
					    "0") ",\"hitCount\":1,\"children\":[4]},"
						 "{\"id\":3," FRAME(
							 "(idle)", "",
							 "-1") "},"
							       "{\"id\":4," FRAME(
								       "work", "node:fs",
								       "9") ",\"hitCount\":3,\"positionTicks\":[{\"line\":12,\"ticks\":1},{\"line\":14,\"ticks\":2}]}],"
									    "\"startTime\":5000,\"endTime\":5600,\"samples\":[2,4,3,4,5,4],\"timeDeltas\":[0,100,100,100,100,100]}");
	(void)state;

	check_stacks(
		p,
		"(anonymous) 100000 @100000\n(anonymous)>work 100000 @200000\n(idle) 100000 @300000\n"
		"(anonymous)>work 100000 @400000\n(garbage collector) 100000 @500000\n(anonymous)>work 100000 @600000\n");
	assert_int_equal(function_of(p, "(idle)")->kind, RAY_KIND_IDLE);
	assert_int_equal(function_of(p, "(garbage collector)")->kind, RAY_KIND_GC);
	assert_int_equal(function_of(p, "work")->kind, RAY_KIND_NODE);
	assert_int_equal(function_of(p, "work")->line, 10);
	assert_int_equal(function_of(p, "work")->column, 5);
	assert_int_equal(p->frames.at[p->nodes.at[p->samples.at[1].node].frame].line, 12);
	assert_int_equal(p->frames.at[p->nodes.at[p->samples.at[5].node].frame].line, 14);
}

/* Times 100, 300, 200, 500, of 600: what was taken last is not always the latest. */
static void cpuprofile_out_of_order(void **state)
{
	ray_auto(ray_profile, p) =
		parsed("{\"nodes\":[{\"id\":1," FRAME("(root)", "", "-1") ",\"children\":[2,3]},{\"id\":2," FRAME(
			"a", "file:///a.js",
			"1") "},{\"id\":3," FRAME("b", "file:///a.js",
						  "5") "}],"
						       "\"startTime\":5000,\"endTime\":5600,\"samples\":[2,3,2,3],\"timeDeltas\":[100,200,-100,300]}");
	(void)state;

	check_stacks(p, "a 100000 @200000\na 100000 @300000\nb 200000 @500000\nb 100000 @600000\n");
}

static void cpuprofile_that_is_nonsense(void **state)
{
	(void)state;
	refused("{\"nodes\":[{\"id\":1," FRAME("a", "", "1") ",\"children\":[2]},{\"id\":2," FRAME(
			"b", "", "1") ",\"children\":[1]}],\"samples\":[1],\"timeDeltas\":[1]}",
		"as cpuprofile: the calls of node 1 go in a circle");
	refused("{\"nodes\":[{\"id\":1," FRAME("a", "", "1") "}],\"samples\":[9],\"timeDeltas\":[1]}",
		"as cpuprofile: sample 1 is of node 9, which is not there");
	refused("{\"nodes\":[{\"id\":1," FRAME("a", "", "1") "}],\"samples\":[1],\"timeDeltas\":[]}",
		"as cpuprofile: 1 samples, but 0 times between them");
	refused("{\"nodes\":[{\"id\":1," FRAME("a", "", "1") ",\"children\":[8]}]}",
		"as cpuprofile: there is no node 8");
	refused("{\"nodes\":[{\"id\":1," FRAME("a", "", "1") "},{\"id\":1," FRAME("a", "", "1") "}]}",
		"as cpuprofile: two nodes have the id 1");
}

/* ---- Chrome ---- */

static void slices_of_a_trace(void **state)
{
	/* An array, as traces that were cut off end; beginnings and ends apart; two threads; one slice that sticks out. */
	ray_auto(ray_profile, p) = parsed(
		"[{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"first\"}},\n"
		"{\"name\":\"a\",\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":1700000000000100.5},{\"name\":\"b\",\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1700000000000110.5,\"dur\":5},\n"
		"{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":1700000000000120.5},\n"
		"{\"name\":\"c\",\"ph\":\"X\",\"pid\":1,\"tid\":\"3\",\"ts\":1700000000000100.5,\"dur\":10,\"args\":{\"x\":[{}]}},"
		"{\"name\":\"d\",\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":1700000000000108.5,\"dur\":10},\n"
		"{\"name\":\"e\",\"ph\":\"X\",\"pid\":1,\"ti");
	(void)state;

	check_stacks(p, "c 8000 @8000\na 10000 @10000\nc>d 2000 @10000\na>b 5000 @15000\na 5000 @20000\n");
	assert_string_equal(p->threads.at[0].name, "first");
}

static void profile_chunks_of_a_trace(void **state)
{
	ray_auto(ray_profile, p) = parsed(
		"{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"RunTask\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":9},"
		"{\"ph\":\"P\",\"name\":\"Profile\",\"id\":\"0x1\",\"pid\":1,\"tid\":2,\"ts\":5000,\"args\":{\"data\":{\"startTime\":5000}}},"
		"{\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[{\"id\":1," FRAME("(root)", "", "-1") "},{\"id\":2,\"parent\":1," FRAME(
			"f", "/a.js",
			"0") "}],\"samples\":[2,2]},\"timeDeltas\":[10,20]}},\"ph\":\"P\",\"name\":\"ProfileChunk\",\"id\":\"0x1\",\"pid\":1,\"tid\":9,\"ts\":6000},"
			     "{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"id\":\"0x1\",\"pid\":1,\"tid\":9,\"ts\":7000,\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[{\"id\":3,\"parent\":2," FRAME(
				     "g", "/a.js", "5") "}],\"samples\":[3]},\"timeDeltas\":[30]}}}]}");
	(void)state;

	check_stacks(p, "f 20000 @30000\nf 30000 @60000\nf>g 30000 @90000\n");
	assert_int_equal(p->threads.at[p->samples.at[0].thread].tid, 2);
}

/* ---- pprof ---- */

struct bytes {
	unsigned char at[1024];
	size_t n;
};

static void put(struct bytes *b, unsigned field, const void *bytes, size_t size)
{
	b->at[b->n++] = (unsigned char)(field << 3 | 2);
	b->at[b->n++] = (unsigned char)size;
	memcpy(b->at + b->n, bytes, size);
	b->n += size;
}

#define PUT(field, ...) \
	put(&b, field, (const unsigned char[]){ __VA_ARGS__ }, sizeof((const unsigned char[]){ __VA_ARGS__ }))

/* The shape that the profilers of npm write: two types of value, labels with names of threads, a location with an inlined function. */
static size_t wall_profile(struct bytes *out)
{
	static const char *const strings[] = { "",
					       "sample",
					       "count",
					       "wall",
					       "nanoseconds",
					       "inner",
					       "outer",
					       "/srv/node_modules/koa/k.js",
					       "thread name",
					       "Main Event Loop",
					       "thread id" };
	struct bytes b = { .n = 0 };

	PUT(1, 8, 1, 16, 2);
	PUT(1, 8, 3, 16, 4);
	/* Locations as a block; values one by one; labels. */
	PUT(2, 10, 1, 1, 16, 5, 16, 0xc0, 0x84, 0x3d, 26, 4, 8, 8, 16, 9, 26, 4, 8, 10, 24, 7);
	PUT(4, 8, 1, 34, 4, 8, 1, 16, 12, 34, 4, 8, 2, 16, 40);
	PUT(5, 8, 1, 16, 5, 32, 7, 40, 10);
	PUT(5, 8, 2, 16, 6, 32, 7, 40, 30);
	for (size_t i = 0; i < RAY_COUNT(strings); i++)
		put(&b, 6, strings[i], strlen(strings[i]));
	*out = b;
	return b.n;
}

static void pprof_of_others(void **state)
{
	struct bytes b;
	ray_auto(ray_profile, p) = NULL;
	const struct ray_profile_frame *frame;
	(void)state;

	p = parsed_bytes((const char *)b.at, wall_profile(&b));
	check_stacks(p, "outer>inner 1000000 @0\n");
	assert_int_equal(p->unit, RAY_UNIT_NS);
	assert_string_equal(p->event, "wall");
	assert_string_equal(p->threads.at[0].name, "Main Event Loop");
	assert_int_equal(p->threads.at[0].tid, 7);
	assert_string_equal(function_of(p, "inner")->package, "koa");
	frame = &p->frames.at[p->nodes.at[p->samples.at[0].node].frame];
	assert_true(frame->is_inlined);
	assert_int_equal(frame->line, 12);
}

static void pprof_that_is_cut(void **state)
{
	struct bytes b;
	size_t size = wall_profile(&b);
	(void)state;

	for (size_t i = 1; i < size; i++) {
		struct ray_profile *p = NULL;
		struct ray_error *err = ray_profile_parse((const char *)b.at, i, &p);

		ray_error_free(err);
		ray_profile_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speedscope_with_events),
		cmocka_unit_test(speedscope_that_is_nonsense),
		cmocka_unit_test(cpuprofile_of_v8),
		cmocka_unit_test(cpuprofile_out_of_order),
		cmocka_unit_test(cpuprofile_that_is_nonsense),
		cmocka_unit_test(slices_of_a_trace),
		cmocka_unit_test(profile_chunks_of_a_trace),
		cmocka_unit_test(pprof_of_others),
		cmocka_unit_test(pprof_that_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
