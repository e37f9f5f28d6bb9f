/* test_probe_uv_man.c - the manual's list of libuv's functions and types is that of the tables. SPDX-License-Identifier: MIT
 *
 * With --write it puts the tables into the manual. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/uv.h"

static const char page[] = "docs/man/noderay-uv.7";

static bool read_page(struct ray_text *out)
{
	FILE *f = fopen(page, "re");
	char buffer[4096];
	size_t n;

	while (f && (n = fread(buffer, 1, sizeof(buffer), f)) > 0)
		ray_text_add_bytes(out, buffer, n);
	if (f)
		fclose(f);
	return out->length && !out->failed;
}

static size_t parameter_length(const char *text)
{
	size_t n = 0;

	for (int depth = 0; text[n] && (depth || text[n] != ','); n++)
		depth += (text[n] == '(') - (text[n] == ')');
	return n;
}

static void add_functions(struct ray_text *out)
{
	ray_text_add(out, ".Bl -tag -width Ds -compact\n");
	for (size_t i = 0; i < ray_uv_function_count; i++) {
		const struct ray_uv_function *f = &ray_uv_functions[i];

		ray_text_printf(out, ".It Ft \"%s\" Fn %s", f->returns, f->name);
		for (const char *p = f->parameters; *p;) {
			size_t length = parameter_length(p);

			ray_text_printf(out, " \"%.*s\"", (int)length, p);
			p += length + strspn(p + length, ", ");
		}
		ray_text_printf(out, "%s\n%s%s", *f->parameters ? "" : " void", f->js[0] == '\'' ? "\\&" : "", f->js);
		ray_text_add(out, *f->js ? "\n" : "");
	}
	ray_text_add(out, ".El\n");
}

static void add_types(struct ray_text *out)
{
	ray_text_add(out, ".Bl -tag -width Ds -compact\n");
	for (const struct ray_probe_type *t = ray_uv_types; t->name; t++) {
		if (!t->members || !*t->members)
			continue;
		ray_text_printf(out, ".It Vt %s\n", t->name);
		for (const char *p = t->members; *p;) {
			size_t length = strcspn(p, ";"), digits = strspn(p, "0123456789 ");
			const char *text = p + digits;
			bool is_text = !strncmp(text, "string *", 8);

			ray_text_printf(out, "%s%.*s%s\n", is_text ? "string " : "",
					(int)(length - digits) - (is_text ? 8 : 0), text + (is_text ? 8 : 0),
					p[length]   ? "," :
					t->view_tag ? ", string address, int port" :
						      "");
			p += length + (p[length] == ';');
		}
	}
	ray_text_add(out, ".El\n");
}

/* The page with its lists as the tables have them. */
static bool make_page(const char *old, struct ray_text *out)
{
	static const struct {
		const char *start, *end;
		void (*add)(struct ray_text *out);
	} lists[] = {
		{ ".\\\" functions:", ".\\\" end of functions\n", add_functions },
		{ ".\\\" types:", ".\\\" end of types\n", add_types },
	};

	for (size_t i = 0; i < RAY_COUNT(lists); i++) {
		const char *start = strstr(old, lists[i].start);
		const char *end = start ? strstr(start, lists[i].end) : NULL;

		if (!end)
			return false;
		ray_text_add_bytes(out, old, (size_t)(start - old) + strcspn(start, "\n") + 1);
		lists[i].add(out);
		old = end;
	}
	ray_text_add(out, old);
	return !out->failed;
}

static void the_manual_has_what_the_tables_have(void **state)
{
	ray_auto_text old = { 0 };
	ray_auto_text wanted = { 0 };

	(void)state;
	assert_true(read_page(&old));
	assert_true(make_page(ray_text_get(&old), &wanted));
	if (strcmp(ray_text_get(&old), ray_text_get(&wanted)))
		fail_msg("%s is not up to date: build/asan/test_probe_uv_man --write", page);
}

static int write_page(void)
{
	ray_auto_text old = { 0 };
	ray_auto_text wanted = { 0 };
	FILE *f;

	if (!read_page(&old) || !make_page(ray_text_get(&old), &wanted))
		return 1;
	f = fopen(page, "we");
	if (!f)
		return 1;
	fwrite(ray_text_get(&wanted), 1, wanted.length, f);
	return fclose(f) ? 1 : 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_manual_has_what_the_tables_have) };

	if (argc == 2 && !strcmp(argv[1], "--write"))
		return write_page();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
