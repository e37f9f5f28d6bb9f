/* test_profile_sourcemap.c - source maps: decoded, found, and put to use. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "profile/remap.h"
#include "profile/sourcemap.h"
#include "profile/sourceurl.h"

static struct ray_source_map *parse(const char *text)
{
	struct ray_source_map *map = NULL;

	assert_null(ray_source_map_parse(text, strlen(text), &map));
	return map;
}

static void assert_place(const struct ray_source_map *map, int line, int column, const char *source, int to_line,
			 int to_column, const char *name)
{
	struct ray_source_place place;

	assert_true(ray_source_map_find(map, line, column, &place));
	assert_string_equal(place.source, source);
	assert_int_equal(place.line, to_line);
	assert_int_equal(place.column, to_column);
	if (name)
		assert_string_equal(place.name, name);
	else
		assert_null(place.name);
}

static void assert_wrong(const char *text, const char *why)
{
	struct ray_source_map *map = NULL;
	struct ray_error *err = ray_source_map_parse(text, strlen(text), &map);

	assert_non_null(err);
	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	if (!strstr(ray_error_text(err), why))
		fail_msg("'%s' does not say '%s'", ray_error_text(err), why);
	ray_error_free(err);
}

/* ---- mappings ---- */

static void a_place_is_that_of_the_mapping_before_it(void **state)
{
	/* Line 1: column 1 is a.ts 1:1, column 10 is a.ts 1:10 named alpha; line 3: column 3 is b.ts 6:3. */
	ray_auto(ray_source_map, map) = parse(
		"{\"version\":3,\"sources\":[\"a.ts\",\"b.ts\"],\"names\":[\"alpha\"],\"mappings\":\"AAAA,SAASA;;ECKP\"}");
	struct ray_source_place place;

	(void)state;
	assert_int_equal(ray_source_map_count(map), 3);
	assert_place(map, 1, 1, "a.ts", 1, 1, NULL);
	assert_place(map, 1, 9, "a.ts", 1, 1, NULL);
	assert_place(map, 1, 10, "a.ts", 1, 10, "alpha");
	assert_place(map, 1, 9999, "a.ts", 1, 10, "alpha");
	assert_place(map, 3, 3, "b.ts", 6, 3, NULL);
	assert_false(ray_source_map_find(map, 3, 2, &place));
	assert_false(ray_source_map_find(map, 2, 1, &place));
	assert_false(ray_source_map_find(map, 4, 1, &place));
	assert_false(ray_source_map_find(map, 0, 0, &place));
	assert_false(ray_source_map_find(map, -1, 5, &place));
}

static void code_that_comes_from_no_source_says_so(void **state)
{
	ray_auto(ray_source_map, map) =
		parse("{\"version\":3,\"mappings\":\"AAAA,I,GAAI\",\"names\":[],\"sources\":[\"a.ts\"]}");
	struct ray_source_place place;

	(void)state;
	assert_true(ray_source_map_find(map, 1, 6, &place));
	assert_null(place.source);
	assert_int_equal(place.at_column, 5);
	assert_place(map, 1, 8, "a.ts", 1, 5, NULL);
}

static void a_source_that_is_not_in_the_list_is_none(void **state)
{
	ray_auto(ray_source_map, map) = parse("{\"version\":3,\"sources\":[],\"names\":[],\"mappings\":\"AAAA\"}");
	struct ray_source_place place;

	(void)state;
	assert_true(ray_source_map_find(map, 1, 1, &place));
	assert_null(place.source);
}

/* More mappings than one mark reaches over, all in one line. */
static void every_mapping_of_a_long_line_is_found(void **state)
{
	ray_auto_text text = { 0 };
	ray_auto(ray_source_map, map) = NULL;

	(void)state;
	ray_text_add(&text, "{\"version\":3,\"sources\":[\"a.ts\"],\"names\":[],\"mappings\":\";AAAA");
	for (int i = 1; i < 1000; i++)
		ray_text_add(&text, ",EACC"); /* two columns on; one line and one column on */
	ray_text_add(&text, ";AACA\"}");
	map = parse(ray_text_get(&text));
	assert_int_equal(ray_source_map_count(map), 1001);
	for (int i = 0; i < 1000; i++) {
		assert_place(map, 2, 1 + 2 * i, "a.ts", 1 + i, 1 + i, NULL);
		assert_place(map, 2, 2 + 2 * i, "a.ts", 1 + i, 1 + i, NULL);
	}
	assert_place(map, 3, 1, "a.ts", 1001, 1000, NULL);
}

static bool note_column(void *arg, const struct ray_source_place *place)
{
	ray_text_printf(arg, "%d ", place->at_column);
	return place->at_column > 5;
}

static void mappings_are_told_backwards_from_a_place(void **state)
{
	ray_auto(ray_source_map, map) = parse(
		"{\"version\":3,\"sources\":[\"a\"],\"names\":[],\"mappings\":\"AAAA,EAAA,EAAA,EAAA,EAAA,EAAA\"}");
	ray_auto_text seen = { 0 };

	(void)state;
	ray_source_map_each_back(map, 1, 1, 10, note_column, &seen);
	assert_string_equal(ray_text_get(&seen), "9 7 5 ");
	ray_text_clear(&seen);
	ray_source_map_each_back(map, 1, 8, 9, note_column, &seen);
	assert_string_equal(ray_text_get(&seen), "9 ");
}

static void sections_have_places_of_their_own(void **state)
{
	ray_auto(ray_source_map, map) = parse(
		"{\"version\":3,\"sections\":["
		"{\"offset\":{\"line\":0,\"column\":0},\"map\":{\"version\":3,\"sources\":[\"a.ts\"],\"names\":[],\"mappings\":\"AAAA\"}},"
		"{\"offset\":{\"line\":2,\"column\":10},\"map\":{\"version\":3,\"sourceRoot\":\"r\",\"sources\":[\"b.ts\"],\"names\":[],"
		"\"mappings\":\"AAEA;AACA\"}}]}");
	struct ray_source_place place;

	(void)state;
	assert_place(map, 1, 5, "a.ts", 1, 1, NULL);
	assert_place(map, 3, 11, "b.ts", 3, 1, NULL);
	assert_place(map, 4, 1, "b.ts", 4, 1, NULL);
	assert_true(ray_source_map_find(map, 3, 12, &place));
	assert_string_equal(place.root, "r");
	assert_int_equal(place.at_column, 11);
	assert_false(ray_source_map_find(map, 3, 10, &place)); /* of the first, which has nothing in this line */
}

static void what_is_wrong_is_said(void **state)
{
	(void)state;
	assert_wrong("", "ends");
	assert_wrong("[]", "");
	assert_wrong("{\"version\":2,\"mappings\":\"\"}", "version 3");
	assert_wrong("{\"version\":3,\"mappings\":\"A!\"}", "no list of numbers");
	assert_wrong("{\"version\":3,\"mappings\":\"AA\"}", "too few numbers");
	assert_wrong("{\"version\":3,\"mappings\":\"AAAAAA\"}", "no list of numbers");
	assert_wrong("{\"version\":3,\"mappings\":\"EAAA,DAAA\"}", "go back");
	assert_wrong("{\"version\":3,\"mappings\":\"ADAA\"}", "cannot be");
	assert_wrong("{\"version\":3,\"mappings\":\"AA////////\"}", "no list of numbers");
	assert_wrong(
		"{\"version\":3,\"sections\":[{\"offset\":{\"line\":-1,\"column\":0},\"map\":{\"mappings\":\"\"}}]}",
		"cannot be");
	assert_wrong("{\"version\":3,\"mappings\":\"AAAA\"", "ends");
}

static void guards_and_other_fields_do_no_harm(void **state)
{
	ray_auto(ray_source_map, map) = parse(
		")]}'\n{\"x_google_ignoreList\":[0],\"sourcesContent\":[\"a\\u0000b\",null],\"file\":\"x.js\",\"version\":3,"
		"\"sourceRoot\":null,\"sources\":[null,\"b.ts\"],\"names\":null,\"mappings\":\"ACAA\"}");

	(void)state;
	assert_place(map, 1, 1, "b.ts", 1, 1, NULL);
}

/* ---- URLs ---- */

static void assert_url(const char *script, const char *url)
{
	size_t length;
	const char *found = ray_source_url_find(script, strlen(script), &length);

	if (!url) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_int_equal(length, strlen(url));
	assert_memory_equal(found, url, length);
}

static void the_last_comment_names_the_map(void **state)
{
	(void)state;
	assert_url("a\n//# sourceMappingURL=x.js.map\n", "x.js.map");
	assert_url("a\n//@ sourceMappingURL=old.map", "old.map");
	assert_url("a\n/*# sourceMappingURL=y.map */\n", "y.map");
	assert_url("//# sourceMappingURL=one.map\nb\n//# sourceMappingURL=two.map\n\n", "two.map");
	assert_url("const s = 'sourceMappingURL=no.map';", NULL);
	assert_url("", NULL);
	assert_url("sourceMappingURL=", NULL);
	assert_url("//# sourceMappingURL=\n", NULL);
}

static void assert_text(char *text, const char *expected)
{
	if (!expected)
		assert_null(text);
	else if (!text)
		fail_msg("nothing, not %s", expected);
	else
		assert_string_equal(text, expected);
	free(text);
}

static void urls_become_paths(void **state)
{
	(void)state;
	assert_text(ray_source_script_path("/a/b.js"), "/a/b.js");
	assert_text(ray_source_script_path("file:///a/b%20c.mjs?v=1"), "/a/b c.mjs");
	assert_text(ray_source_script_path("node:fs"), NULL);
	assert_text(ray_source_script_path("evalmachine.<anonymous>"), NULL);
	assert_text(ray_source_script_path(""), NULL);
	assert_text(ray_source_url_path("/a/b.js", "b.js.map", 8), "/a/b.js.map");
	assert_text(ray_source_url_path("/a/b.js", "../m/b%2d.map?x", 15), "/m/b-.map");
	assert_text(ray_source_url_path("/a/b.js", "/c.map", 6), "/c.map");
	assert_text(ray_source_url_path("/a/b.js", "file:///d.map", 13), "/d.map");
	assert_text(ray_source_url_path("/a/b.js", "https://x/d.map", 15), NULL);
	assert_text(ray_source_url_path("/a/b.js", "a%00b", 5), NULL);
}

static void data_urls_hold_their_bytes(void **state)
{
	static const char base64[] = "data:application/json;charset=utf-8;base64,eyJhIjoxfQ==",
			  plain[] = "data:application/json,%7B%22a%22:1%7D",
			  broken[] = "data:application/json;base64,ey!";
	size_t size = 0;
	char *bytes = ray_source_url_data(base64, sizeof(base64) - 1, &size);

	(void)state;
	assert_int_equal(size, 7);
	assert_memory_equal(bytes, "{\"a\":1}", 7);
	free(bytes);
	assert_text(ray_source_url_data(plain, sizeof(plain) - 1, &size), "{\"a\":1}");
	assert_null(ray_source_url_data(broken, sizeof(broken) - 1, &size));
	assert_null(ray_source_url_data("data:x", 6, &size));
}

static void sources_have_readable_names(void **state)
{
	static const char *const names[][4] = {
		/* map, root, source, name */
		{ "/app/dist/x.js.map", "", "../src/x.ts", "/app/src/x.ts" },
		{ "/app/dist/x.js.map", "", "./x.ts", "/app/dist/x.ts" },
		{ "/app/dist/x.js.map", "../src", "x.ts", "/app/src/x.ts" },
		{ "/app/dist/x.js.map", "/src/", "x.ts", "/src/x.ts" },
		{ "/app/dist/x.js.map", "", "/abs/x.ts", "/abs/x.ts" },
		{ "/app/dist/x.js.map", "", "file:///abs/y%20z.ts", "/abs/y z.ts" },
		{ "/app/dist/x.js.map", "", "webpack://pkg/./src/x.ts", "src/x.ts" },
		{ "/app/dist/x.js.map", "", "webpack:///./src/x.ts?1a2b", "src/x.ts" },
		{ "/app/dist/x.js.map", "", "webpack://pkg/./node_modules/@s/n/i.js", "node_modules/@s/n/i.js" },
		{ "/app/dist/x.js.map", "", "webpack://pkg/webpack/bootstrap", "webpack/bootstrap" },
		{ "/app/dist/x.js.map", "webpack://pkg/", "./a/../b.ts", "b.ts" },
		{ "/app/dist/x.js.map", "", "https://cdn/x.ts", "https://cdn/x.ts" },
		{ "/app/dist/x.js.map", "", "../../../../x.ts", "/x.ts" },
	};

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(names); i++)
		assert_text(ray_source_name(names[i][0], names[i][1], names[i][2]), names[i][3]);
}

/* ---- profiles ---- */

struct file {
	const char *path, *bytes;
};

static bool read_file(void *arg, const char *path, char **bytes_ret, size_t *size_ret)
{
	for (const struct file *f = arg; f->path; f++) {
		if (strcmp(f->path, path))
			continue;
		*bytes_ret = strdup(f->bytes);
		*size_ret = strlen(f->bytes);
		return *bytes_ret;
	}
	return false;
}

/* One function and one place in it, told by sources. url: what V8 has for its script's map; NULL: that is not known. */
static struct ray_profile *remap_url(const struct file *files, struct ray_profile_function f, int line, int column,
				     const char *url, struct ray_remap_report *report)
{
	struct ray_remap_options options = { read_file, (void *)files };
	ray_auto(ray_remap, r) = ray_remap_create(&options);
	ray_auto(ray_profile, p) = ray_profile_create();
	struct ray_profile_frame frame = { .function = ray_profile_function(p, &f), .line = line, .column = column };
	uint32_t node = ray_profile_node(p, 0, ray_profile_frame(p, &frame));
	struct ray_profile *told = NULL;
	static char why[200];

	if (url)
		ray_remap_tell_url(r, f.file, url);
	p->title = ray_profile_text(p, "title");
	ray_profile_thread(p, &(struct ray_profile_thread){ .pid = 1, .tid = 2, .name = "main" });
	ray_profile_add(p, &(struct ray_profile_sample){ .node = node, .weight = 7, .count = 1 });
	assert_null(ray_remap_profile(r, p, &told));
	assert_null(ray_profile_check(told));
	*report = ray_remap_report(r);
	snprintf(why, sizeof(why), "%s", report->why_broken);
	report->why_broken = why;
	return told;
}

static struct ray_profile *remap(const struct file *files, struct ray_profile_function f, int line, int column,
				 struct ray_remap_report *report)
{
	return remap_url(files, f, line, column, NULL, report);
}

/* function n(e){return e} and a module of a package, all in line 1. */
static const struct file bundle[] = {
	{ "/out/bundle.js", "function n(e){return e+1}const t=r=>r*2;\n//# sourceMappingURL=bundle.js.map" },
	/* 10: n -> a.ts 5:10 handle; 15: a.ts 6:3; 32: t -> the package's 9:7 double; 34: 9:16 */
	{ "/out/bundle.js.map",
	  "{\"version\":3,\"sources\":[\"webpack://app/./src/a.ts\",\"webpack://app/./node_modules/dep/x.js\"],"
	  "\"names\":[\"handle\",\"double\"],\"mappings\":\"SAISA,KACP,iBCGIC,EAAS\"}" },
	{ 0 },
};

static void a_bundle_is_told_by_its_sources(void **state)
{
	struct ray_profile_function n = {
		.kind = RAY_KIND_JS, .name = "n", .file = "/out/bundle.js", .line = 1, .column = 11
	};
	struct ray_remap_report report;
	ray_auto(ray_profile, told) = remap(bundle, n, 1, 15, &report);
	const struct ray_profile_function *f = &told->functions.at[1];

	(void)state;
	assert_string_equal(f->name, "handle");
	assert_string_equal(f->file, "src/a.ts");
	assert_int_equal(f->kind, RAY_KIND_JS);
	assert_int_equal(f->line, 5);
	assert_int_equal(told->frames.at[1].line, 6);
	assert_int_equal(told->frames.at[1].column, 3);
	assert_string_equal(told->title, "title");
	assert_int_equal(told->samples.at[0].weight, 7);
	assert_int_equal(report.maps, 1);
	assert_int_equal(report.broken, 0);
	assert_int_equal(report.unmapped, 0);
}

static void a_package_inside_a_bundle_is_one(void **state)
{
	struct ray_profile_function t = {
		.kind = RAY_KIND_JS, .name = "t", .file = "/out/bundle.js", .line = 1, .column = 34
	};
	struct ray_remap_report report;
	ray_auto(ray_profile, told) = remap(bundle, t, 1, 37, &report);
	const struct ray_profile_function *f = &told->functions.at[1];

	(void)state;
	assert_string_equal(f->name, "double");
	assert_string_equal(f->file, "node_modules/dep/x.js");
	assert_int_equal(f->kind, RAY_KIND_PACKAGE);
	assert_string_equal(f->package, "dep");
	assert_int_equal(told->frames.at[1].line, 9);
}

static void a_line_of_another_file_is_none_of_the_function(void **state)
{
	struct ray_profile_function n = {
		.kind = RAY_KIND_JS, .name = "new n", .file = "/out/bundle.js", .line = 1, .column = 11
	};
	struct ray_remap_report report;
	ray_auto(ray_profile, told) = remap(bundle, n, 1, 36, &report);

	(void)state;
	assert_string_equal(told->functions.at[1].name, "new handle");
	assert_int_equal(told->frames.at[1].line, 0);
	assert_int_equal(report.unmapped, 1);
}

static void what_has_no_map_stays_as_it_was(void **state)
{
	static const struct file files[] = { { "/a.js", "x\n" },
					     { "/b.js", "//# sourceMappingURL=gone.map" },
					     { "/c.js", "//# sourceMappingURL=data:,{" },
					     { 0 } };
	struct ray_profile_function f = { .kind = RAY_KIND_JS, .name = "f", .file = "/a.js", .line = 3, .column = 4 };
	struct ray_remap_report report;
	ray_auto(ray_profile, told) = remap(files, f, 5, 6, &report);
	ray_auto(ray_profile, gone) = NULL;
	ray_auto(ray_profile, broken) = NULL;

	(void)state;
	assert_string_equal(told->functions.at[1].file, "/a.js");
	assert_int_equal(told->functions.at[1].line, 3);
	assert_int_equal(told->frames.at[1].line, 5);
	assert_int_equal(report.broken, 0);
	f.file = "/b.js";
	gone = remap(files, f, 5, 6, &report);
	assert_int_equal(report.broken, 1);
	assert_string_equal(report.why_broken, "/gone.map: cannot be read");
	f.file = "/c.js";
	broken = remap(files, f, 5, 6, &report);
	assert_int_equal(report.broken, 1);
	assert_non_null(strstr(report.why_broken, "/c.js: "));
	f.file = "node:fs";
	f.kind = RAY_KIND_NODE;
	ray_profile_free(remap(files, f, 5, 6, &report));
	assert_int_equal(report.scripts, 0);
}

static void a_function_that_no_map_begins_is_of_where_it_runs(void **state)
{
	static const struct file files[] = {
		{ "/a.js", "one\ntwo\n" },
		{ "/a.js.map", "{\"version\":3,\"sources\":[\"a.ts\"],\"names\":[],\"mappings\":\";AAIA\"}" },
		{ 0 }
	};
	struct ray_profile_function f = {
		.kind = RAY_KIND_JS, .name = "(anonymous)", .file = "file:///a.js", .line = 1, .column = 1
	};
	struct ray_remap_report report;
	ray_auto(ray_profile, told) = remap(files, f, 2, 2, &report);

	(void)state;
	assert_string_equal(told->functions.at[1].file, "/a.ts");
	assert_int_equal(told->functions.at[1].line, 0);
	assert_int_equal(told->frames.at[1].line, 5);
}

/* Columns count units of UTF-16: the letter before the name takes two. */
static void names_are_found_behind_letters_of_any_size(void **state)
{
	static const struct file files[] = {
		{ "/a.js", "\"\xf0\x9f\x98\x80\xc3\xa9\";function a(b){}" },
		{ "/a.js.map", "{\"version\":3,\"sources\":[\"a.ts\"],\"names\":[\"long\"],\"mappings\":\"eAAAA\"}" },
		{ 0 }
	};
	struct ray_profile_function f = { .kind = RAY_KIND_JS, .name = "a", .file = "/a.js", .line = 1, .column = 17 };
	struct ray_remap_report report;
	ray_auto(ray_profile, told) = remap(files, f, 1, 17, &report);

	(void)state;
	assert_string_equal(told->functions.at[1].name, "long");
}

/* {"version":3,"sources":["a.ts"],"names":["long"],"mappings":";SAIAA"} */
#define MAP_IN_MEMORY                                                                                                   \
	"data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEudHMiXSwibmFtZXMiOlsibG9uZyJdLCJtYXBwaW5ncyI6" \
	"IjtTQUlBQSJ9"

/* tsx, ts-node: what is in the file is the source itself, or nothing is there at all. */
static void a_map_that_only_v8_has_counts(void **state)
{
	static const struct file source[] = { { "/app/a.ts", "one\nfunction a(b){}\n" }, { 0 } }, none[] = { { 0 } };
	struct ray_profile_function f = {
		.kind = RAY_KIND_JS, .name = "a", .file = "/app/a.ts", .line = 2, .column = 10
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct ray_remap_report report;
		ray_auto(ray_profile, told) = remap_url(i ? source : none, f, 2, 11, MAP_IN_MEMORY, &report);

		assert_string_equal(told->functions.at[1].file, "/app/a.ts");
		assert_int_equal(told->functions.at[1].line, 5);
		/* The file does not hold what ran: a word that stands there by chance names nothing. */
		assert_string_equal(told->functions.at[1].name, "a");
		assert_int_equal(told->frames.at[1].line, 5);
		assert_int_equal(report.maps, 1);
	}
}

/* A loader's own text has the words in it, for others. */
static void a_script_that_names_no_map_has_none(void **state)
{
	static const struct file files[] = { { "/a.js", "x = '\\n//# sourceMappingURL=data:application/json;base64,'" },
					     { 0 } };
	static const struct file beside[] = {
		{ "/a.js", "function a(b){}" },
		{ "/a.js.map", "{\"version\":3,\"sources\":[\"a.ts\"],\"names\":[\"long\"],\"mappings\":\"SAAAA\"}" },
		{ 0 }
	};
	struct ray_profile_function f = { .kind = RAY_KIND_JS, .name = "a", .file = "/a.js", .line = 1, .column = 10 };
	struct ray_remap_report report;
	ray_auto(ray_profile, told) = remap_url(files, f, 1, 1, "", &report);
	ray_auto(ray_profile, hidden) = NULL;

	(void)state;
	assert_int_equal(report.broken, 0);
	assert_string_equal(told->functions.at[1].file, "/a.js");
	/* A bundler may write one beside it and not say so. */
	hidden = remap_url(beside, f, 1, 10, "", &report);
	assert_string_equal(hidden->functions.at[1].file, "/a.ts");
	assert_string_equal(hidden->functions.at[1].name, "long");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_is_that_of_the_mapping_before_it),
		cmocka_unit_test(code_that_comes_from_no_source_says_so),
		cmocka_unit_test(a_source_that_is_not_in_the_list_is_none),
		cmocka_unit_test(every_mapping_of_a_long_line_is_found),
		cmocka_unit_test(mappings_are_told_backwards_from_a_place),
		cmocka_unit_test(sections_have_places_of_their_own),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(guards_and_other_fields_do_no_harm),
		cmocka_unit_test(the_last_comment_names_the_map),
		cmocka_unit_test(urls_become_paths),
		cmocka_unit_test(data_urls_hold_their_bytes),
		cmocka_unit_test(sources_have_readable_names),
		cmocka_unit_test(a_bundle_is_told_by_its_sources),
		cmocka_unit_test(a_package_inside_a_bundle_is_one),
		cmocka_unit_test(a_line_of_another_file_is_none_of_the_function),
		cmocka_unit_test(what_has_no_map_stays_as_it_was),
		cmocka_unit_test(a_function_that_no_map_begins_is_of_where_it_runs),
		cmocka_unit_test(names_are_found_behind_letters_of_any_size),
		cmocka_unit_test(a_map_that_only_v8_has_counts),
		cmocka_unit_test(a_script_that_names_no_map_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
