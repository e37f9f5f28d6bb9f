/* fuzz_record.c - any bytes as a record of a clause that prints values of every kind. SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/consume.h"
#include "lang/functions.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const struct ray_type character = {
	.kind = RAY_TYPE_INTEGER, .flags = RAY_TYPE_SIGNED | RAY_TYPE_CHAR, .size = 1, .name = "char"
};
static const struct ray_type number = { .kind = RAY_TYPE_INTEGER, .flags = RAY_TYPE_SIGNED, .size = 4, .name = "int" };
static const struct ray_type string = { .kind = RAY_TYPE_STRING, .size = 257, .name = "string" };
static const struct ray_type real = { .kind = RAY_TYPE_FLOAT, .size = 8, .name = "double" };
static const struct ray_type array = { .kind = RAY_TYPE_ARRAY, .size = 5, .target = &character, .count = 5 };
static const struct ray_member members[] = { { "n", &number, 0, 0 },
					     { "text", &array, 32, 0 },
					     { "bits", &number, 72, 3 } };
static const struct ray_type structure = {
	.kind = RAY_TYPE_STRUCT, .size = 12, .name = "s", .count = 3, .members = members
};

enum { HEAD = sizeof(struct ray_record) };

static const struct ray_field printf_fields[] = {
	{ .offset = HEAD, .size = 8, .type = &number, .kind = RAY_VALUE_INTEGER },
	{ .offset = HEAD + 8, .size = 8, .type = &number, .kind = RAY_VALUE_INTEGER },
	{ .offset = HEAD + 16, .size = 16, .type = &string, .kind = RAY_VALUE_STRING },
	{ .offset = HEAD + 32, .size = 8, .type = &real, .kind = RAY_VALUE_FLOAT },
	{ .offset = HEAD + 8, .size = 8, .type = &number, .kind = RAY_VALUE_INTEGER },
};
static const struct ray_field trace_fields[] = {
	{ .offset = HEAD + 40, .size = 5, .type = &array, .kind = RAY_VALUE_BYTES },
	{ .offset = HEAD + 16, .size = 16, .type = &string, .kind = RAY_VALUE_STRING },
};
static const struct ray_field memory_fields[] = {
	{ .offset = HEAD + 48, .size = 24, .type = &number, .kind = RAY_VALUE_BYTES },
	{ .offset = HEAD, .size = 8, .type = &number, .kind = RAY_VALUE_INTEGER },
};
static const struct ray_field print_fields[] = {
	{ .offset = HEAD, .size = 8, .type = &number, .kind = RAY_VALUE_INTEGER },
	{ .offset = HEAD + 72, .size = 12, .type = &structure, .kind = RAY_VALUE_BYTES },
};
static const struct ray_field option_fields[] = {
	{ .offset = HEAD + 16, .size = 16, .type = &string, .kind = RAY_VALUE_STRING },
};

static struct ray_statement statements[] = {
	{ .kind = RAY_STATEMENT_ACTION, .function = &ray_functions[RAY_FN_PRINTF] },
	{ .kind = RAY_STATEMENT_ACTION, .function = &ray_functions[RAY_FN_TRACE] },
	{ .kind = RAY_STATEMENT_ACTION, .function = &ray_functions[RAY_FN_TRACEMEM] },
	{ .kind = RAY_STATEMENT_ACTION, .function = &ray_functions[RAY_FN_PRINT] },
	{ .kind = RAY_STATEMENT_ACTION, .function = &ray_functions[RAY_FN_SETOPT] },
};
static struct ray_step steps[] = {
	{ &statements[0], 1, printf_fields, RAY_COUNT(printf_fields) },
	{ &statements[1], 2, trace_fields, 2 },
	{ &statements[2], 3, memory_fields, 2 },
	{ &statements[3], 4, print_fields, 2 },
	{ &statements[4], 5, option_fields, 1 },
};

static struct ray_clause clause, *clauses[] = { &clause };
static struct ray_clause_plan clause_plan = {
	.clause = &clause, .steps = steps, .step_count = RAY_COUNT(steps), .record_size = HEAD + 88
};
static struct ray_program program;
static struct ray_plan plan;
static struct ray_trace trace;
static struct ray_state state;

static void set_up(void)
{
	static const char format[] = "%d %*s %S %e %c";
	const struct ray_probe_spec all = { .provider = "dtrace", .module = "", .function = "", .name = "" };
	ray_probe_list list = { 0 };
	const char *tag;

	trace.arena = ray_arena_create();
	trace.settings = (struct ray_trace_settings){ .out = fopen("/dev/null", "w"),
						      .notes = fopen("/dev/null", "w"),
						      .progname = "fuzz" };
	ray_trace_options_init(&trace.options);
	ray_error_free(ray_catalogue_create(&(struct ray_catalogue_options){ 0 }, &trace.catalogue));
	ray_error_free(ray_catalogue_match(trace.catalogue, &all, &list));
	ray_vec_free(&list);
	/* "%*s" would print the second number as a width: it is made small below. */
	ray_error_free(ray_format_parse(trace.arena, format, sizeof(format) - 1, &statements[0].format, &tag));
	program.clauses.at = clauses;
	program.clauses.n = 1;
	plan.program = &program;
	plan.clauses = &clause_plan;
	trace.plan = &plan;
	trace.program = &program;
	trace.state = &state;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct ray_consumer c;
	uint64_t copy[64] = { 0 };
	struct ray_record *r = (struct ray_record *)copy;

	if (!trace.arena) {
		set_up();
		c.t = &trace;
		c.file = trace.settings.out;
	}
	if (size < HEAD || size > sizeof(copy))
		return 0;
	memcpy(copy, bytes, size);
	r->size = r->size > size ? (uint32_t)size : r->size;
	copy[HEAD / 8 + 1] &= 0xff;
	if (r->size < HEAD)
		return 0;
	if (r->kind == RAY_RECORD_COMMIT) {
		ray_error_free(ray_speculation_commit(&c, r->speculation));
	} else if (r->speculation) {
		ray_speculation_hold(&c, r);
	} else {
		ray_error_free(ray_consume_data(&c, r));
	}
	ray_consumer_flush(&c);
	return 0;
}
