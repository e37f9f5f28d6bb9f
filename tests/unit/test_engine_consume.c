/* test_engine_consume.c - records made by hand, and what is printed for them. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/consume.h"
#include "lang/functions.h"

static const struct ray_type int_type = {
	.kind = RAY_TYPE_INTEGER, .flags = RAY_TYPE_SIGNED, .size = 4, .name = "int"
};
static const struct ray_type long_type = { .kind = RAY_TYPE_INTEGER, .size = 8, .name = "unsigned long" };
static const struct ray_type string_type = { .kind = RAY_TYPE_STRING, .size = 257, .name = "string" };

struct fixture {
	struct ray_trace trace;
	struct ray_program program;
	struct ray_plan plan;
	struct ray_clause clause;
	struct ray_clause *clauses[1];
	struct ray_clause_plan clause_plan;
	struct ray_statement statements[4];
	struct ray_step steps[4];
	struct ray_field fields[4][4];
	struct ray_state state;
	struct ray_consumer consumer;
	char *notes;
	size_t notes_size;
	struct {
		struct ray_record head;
		uint64_t words[8];
	} record;
};

static int setup(void **state)
{
	const struct ray_probe_spec begin = { .provider = "dtrace", .module = "", .function = "", .name = "BEGIN" };
	struct fixture *f = calloc(1, sizeof(*f));
	ray_probe_list list = { 0 };

	f->trace.arena = ray_arena_create();
	ray_trace_options_init(&f->trace.options);
	assert_null(ray_catalogue_create(&(struct ray_catalogue_options){ 0 }, &f->trace.catalogue));
	assert_null(ray_catalogue_match(f->trace.catalogue, &begin, &list));
	ray_vec_free(&list);
	f->clauses[0] = &f->clause;
	f->program.clauses.at = f->clauses;
	f->program.clauses.n = 1;
	f->plan.program = &f->program;
	f->plan.clauses = &f->clause_plan;
	f->clause_plan = (struct ray_clause_plan){ .clause = &f->clause,
						   .steps = f->steps,
						   .record_size = sizeof(struct ray_record),
						   .sent_size = sizeof(struct ray_record) };
	f->trace.plan = &f->plan;
	f->trace.program = &f->program;
	f->trace.state = &f->state;
	f->trace.settings.progname = "dtrace";
	f->trace.settings.is_testing = true;
	f->trace.settings.notes = open_memstream(&f->notes, &f->notes_size);
	f->trace.settings.out = stdout;
	f->consumer.t = &f->trace;
	f->consumer.file = stdout;
	f->consumer.last_probe = f->consumer.last_clause = UINT32_MAX;
	f->record.head = (struct ray_record){ .kind = RAY_RECORD_DATA, .probe = 1, .size = sizeof(f->record) };
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fclose(f->trace.settings.notes);
	free(f->notes);
	ray_speculations_free(&f->consumer);
	ray_text_deinit(&f->consumer.out);
	for (size_t i = 0; i < f->consumer.texts.n; i++)
		ray_text_deinit(&f->consumer.texts.at[i]);
	ray_vec_free(&f->consumer.texts);
	ray_vec_free(&f->consumer.values);
	ray_vec_free(&f->consumer.flows);
	ray_trace_options_deinit(&f->trace.options);
	ray_catalogue_free(f->trace.catalogue);
	ray_arena_free(f->trace.arena);
	free(f);
	return 0;
}

/* One more statement; its fields are added by add_field(). */
static void add_step(struct fixture *f, enum ray_function_id id, const char *format)
{
	size_t n = f->clause_plan.step_count++;
	const char *tag;

	f->statements[n] = (struct ray_statement){ .kind = RAY_STATEMENT_ACTION, .function = &ray_functions[id] };
	if (format)
		assert_null(ray_format_parse(f->trace.arena, format, strlen(format), &f->statements[n].format, &tag));
	f->steps[n] =
		(struct ray_step){ .statement = &f->statements[n], .action = (uint32_t)n + 1, .fields = f->fields[n] };
}

static void add_field(struct fixture *f, const struct ray_type *type, enum ray_value_kind kind, uint32_t size)
{
	struct ray_step *s = &f->steps[f->clause_plan.step_count - 1];

	f->fields[f->clause_plan.step_count - 1][s->field_count++] =
		(struct ray_field){ .offset = f->clause_plan.record_size, .size = size, .type = type, .kind = kind };
	f->clause_plan.record_size += size;
	f->clause_plan.sent_size += size;
}

static void prints(struct fixture *f, const char *expected)
{
	assert_null(ray_consume_data(&f->consumer, &f->record.head));
	assert_string_equal(ray_text_get(&f->consumer.out), expected);
	ray_text_clear(&f->consumer.out);
}

static void notes(struct fixture *f, const char *expected)
{
	fflush(f->trace.settings.notes);
	assert_string_equal(f->notes, expected);
}

static void a_clause_without_statements_prints_its_head(void **state)
{
	struct fixture *f = *state;

	prints(f, "                   FUNCTION:NAME\n                          :BEGIN \n");
	prints(f, "                          :BEGIN \n");
	f->trace.settings.is_testing = false;
	f->record.head.cpu = 3;
	prints(f, "  3      1                           :BEGIN \n");
}

static void the_heading_has_cpu_and_id(void **state)
{
	struct fixture *f = *state;

	f->trace.settings.is_testing = false;
	prints(f, "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN \n");
}

static void flowindent_has_its_own_heading(void **state)
{
	struct fixture *f = *state;

	f->trace.options.flowindent = true;
	f->trace.settings.is_testing = false;
	prints(f, "CPU FUNCTION                                 \n  0 | :BEGIN                                  \n");
}

static void traced_values_have_columns_unless_quiet(void **state)
{
	struct fixture *f = *state;

	add_step(f, RAY_FN_TRACE, NULL);
	add_field(f, &int_type, RAY_VALUE_INTEGER, 8);
	add_step(f, RAY_FN_TRACE, NULL);
	add_field(f, &string_type, RAY_VALUE_STRING, 16);
	f->record.words[0] = (uint64_t)-7;
	memcpy(&f->record.words[1], "hello", 6);
	prints(f, "                   FUNCTION:NAME\n"
		  "                          :BEGIN          -7  hello                            \n");
	f->trace.options.quiet = true;
	prints(f, "-7hello");
}

static void printf_takes_its_values_from_the_record(void **state)
{
	struct fixture *f = *state;

	f->trace.options.quiet = true;
	add_step(f, RAY_FN_PRINTF, "%d:%s:%x\n");
	add_field(f, &int_type, RAY_VALUE_INTEGER, 8);
	add_field(f, &string_type, RAY_VALUE_STRING, 16);
	add_field(f, &long_type, RAY_VALUE_INTEGER, 8);
	f->record.words[0] = 42;
	memcpy(&f->record.words[1], "sixteen bytes wi", 16); /* a string that lost its NUL stays in its field */
	f->record.words[3] = 0xbeef;
	prints(f, "42:sixteen bytes wi:beef\n");
}

static void tracemem_dumps_as_much_as_it_was_told(void **state)
{
	struct fixture *f = *state;

	f->trace.options.quiet = true;
	add_step(f, RAY_FN_TRACEMEM, NULL);
	add_field(f, &long_type, RAY_VALUE_BYTES, 24);
	add_field(f, &int_type, RAY_VALUE_INTEGER, 8);
	memcpy(f->record.words, "Where are my bytes?\n\x7f", 22);
	f->record.words[3] = 20;
	prints(f, "\n"
		  "             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
		  "         0: 57 68 65 72 65 20 61 72 65 20 6d 79 20 62 79 74  Where are my byt\n"
		  "        10: 65 73 3f 0a                                      es?.\n");
}

/* A string that was packed: its place, and behind all places its bytes. */
static void add_packed(struct fixture *f, uint32_t at, uint32_t size)
{
	struct ray_step *s = &f->steps[f->clause_plan.step_count - 1];
	struct ray_packed place = { at, size };

	memcpy(&f->record.words[s->field_count], &place, sizeof(place));
	add_field(f, &string_type, RAY_VALUE_STRING, 8);
	f->fields[f->clause_plan.step_count - 1][s->field_count - 1].size = 264;
	f->fields[f->clause_plan.step_count - 1][s->field_count - 1].is_packed = true;
}

static void packed_strings_are_as_long_as_they_are(void **state)
{
	struct fixture *f = *state;

	f->trace.options.quiet = true;
	add_step(f, RAY_FN_PRINTF, "<%s|%s|%8s>");
	memcpy(&f->record.words[4], "first", 6);
	memcpy(&f->record.words[5], "other", 6);
	add_packed(f, sizeof(struct ray_record) + 32, 6);
	add_packed(f, sizeof(struct ray_record) + 48, 1);
	add_packed(f, sizeof(struct ray_record) + 40, 6);
	prints(f, "<first||   other>");
	notes(f, "");
}

static void a_packed_string_outside_of_its_record_is_damage(void **state)
{
	static const struct ray_packed bad[] = {
		{ sizeof(struct ray_record) + 64, 1 }, { UINT32_MAX, 8 }, { 0, UINT32_MAX }, { 48, 265 }, { 96, 9 }
	};
	struct fixture *f = *state;

	f->trace.options.quiet = true;
	add_step(f, RAY_FN_PRINTF, "<%s>");
	add_packed(f, 0, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memcpy(f->record.words, &bad[i], sizeof(bad[i]));
		prints(f, "");
		fflush(f->trace.settings.notes);
		assert_int_equal(f->notes_size, (i + 1) * strlen("dtrace: a record of clause 0 (104 bytes) is damaged: "
								 "action 1 was skipped\n"));
	}
	/* Without its NUL it is cut at its end. */
	memset(f->record.words + 1, 'x', 16);
	memcpy(f->record.words, &(struct ray_packed){ 48, 16 }, sizeof(struct ray_packed));
	prints(f, "<xxxxxxxxxxxxxxxx>");
}

static void a_record_that_is_too_short_is_told_and_skipped(void **state)
{
	struct fixture *f = *state;

	f->trace.options.quiet = true;
	add_step(f, RAY_FN_TRACE, NULL);
	add_field(f, &int_type, RAY_VALUE_INTEGER, 8);
	f->record.head.size = sizeof(struct ray_record);
	prints(f, "");
	f->record.head.clause = 77;
	prints(f, "");
	notes(f, "dtrace: a record of clause 0 (40 bytes) is damaged and was skipped\n"
		 "dtrace: a record of clause 77 (40 bytes) is damaged and was skipped\n");
}

static void setopt_complains_in_the_references_words(void **state)
{
	struct fixture *f = *state;

	f->trace.options.quiet = true;
	add_step(f, RAY_FN_SETOPT, NULL);
	add_field(f, &string_type, RAY_VALUE_STRING, 16);
	memcpy(f->record.words, "Nixon", 6);
	prints(f, "");
	notes(f,
	      "dtrace: error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): couldn't set option \"Nixon\" to \"1\": "
	      "Invalid option name\n\n");
}

static void speculations_wait_for_commit(void **state)
{
	struct fixture *f = *state;

	f->trace.options.quiet = true;
	add_step(f, RAY_FN_PRINTF, "kept\n");
	f->record.head.speculation = 1;
	f->state.spec_state[0] = 2;
	ray_speculation_hold(&f->consumer, &f->record.head);
	ray_speculation_hold(&f->consumer, &f->record.head);
	assert_int_equal(f->consumer.out.length, 0);
	assert_null(ray_speculation_commit(&f->consumer, 1));
	assert_string_equal(ray_text_get(&f->consumer.out), "kept\nkept\n");
	assert_int_equal(f->state.spec_state[0], 0);
	ray_text_clear(&f->consumer.out);
	ray_speculation_hold(&f->consumer, &f->record.head);
	ray_speculation_discard(&f->consumer, 1);
	assert_null(ray_speculation_commit(&f->consumer, 1));
	assert_int_equal(f->consumer.out.length, 0);
}

static void speculations_that_find_no_room_are_counted(void **state)
{
	struct fixture *f = *state;

	f->trace.options.specsize = 100;
	f->trace.options.droptags = true;
	f->record.head.speculation = 1;
	for (int i = 0; i < 3; i++)
		ray_speculation_hold(&f->consumer, &f->record.head);
	f->record.head.speculation = 2; /* nspec is 1 */
	ray_speculation_hold(&f->consumer, &f->record.head);
	f->state.dynvar_drops = 1;
	ray_consumer_tell_drops(&f->consumer);
	ray_consumer_tell_drops(&f->consumer);
	notes(f, "dtrace: [DTRACEDROP_DYNAMIC] 1 dynamic variable drop\n"
		 "dtrace: [DTRACEDROP_SPEC] 3 speculative drops\n");
}

static void keep_fact(void *arg, const struct ray_fact *fact)
{
	ray_text_printf(arg, "%s %u/%u at %llu:", fact->name, fact->pid, fact->tid, (unsigned long long)fact->time_ns);
	for (size_t i = 0; i < fact->count; i++)
		ray_text_printf(arg, " %s=%lld", fact->fields[i].name, (long long)fact->fields[i].value.integer);
	ray_text_printf(arg, " %lld;", (long long)ray_fact_number(fact, "size"));
}

static void a_view_is_told_the_values_of_printf_by_name(void **state)
{
	struct fixture *f = *state;
	ray_auto_text seen = { 0 };

	add_step(f, RAY_FN_PRINTF, "write fd=%d size=%d 100%% %d\n");
	add_field(f, &int_type, RAY_VALUE_INTEGER, 8);
	add_field(f, &long_type, RAY_VALUE_INTEGER, 8);
	add_field(f, &long_type, RAY_VALUE_INTEGER, 8);
	f->record.head.tgid = 10;
	f->record.head.tid = 11;
	f->record.head.time = 5;
	f->state.wall_offset = 1000;
	f->record.words[0] = (uint64_t)-7;
	f->record.words[1] = 8;
	f->record.words[2] = 9;
	f->trace.settings.on_fact = keep_fact;
	f->trace.settings.arg = &seen;
	prints(f, "");
	assert_string_equal(ray_text_get(&seen), "write 10/11 at 1005: fd=-7 size=8 =9 8;");
	ray_facts_free(&f->consumer);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_clause_without_statements_prints_its_head),
		TEST(the_heading_has_cpu_and_id),
		TEST(flowindent_has_its_own_heading),
		TEST(traced_values_have_columns_unless_quiet),
		TEST(printf_takes_its_values_from_the_record),
		TEST(tracemem_dumps_as_much_as_it_was_told),
		TEST(packed_strings_are_as_long_as_they_are),
		TEST(a_packed_string_outside_of_its_record_is_damage),
		TEST(a_record_that_is_too_short_is_told_and_skipped),
		TEST(setopt_complains_in_the_references_words),
		TEST(speculations_wait_for_commit),
		TEST(speculations_that_find_no_room_are_counted),
		TEST(a_view_is_told_the_values_of_printf_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
