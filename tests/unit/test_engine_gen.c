/* test_engine_gen.c - generated code in the kernel: every form must pass the verifier, and do what it says.
 * SPDX-License-Identifier: MIT
 *
 * Programs are put together by hand, as the checker leaves them, and run as BEGIN. Skips where BPF programs may not
 * be loaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

#include "engine/internal.h"
#include "lang/functions.h"

enum { MOST = 80 };

struct bench {
	struct ray_arena *arena;
	struct ray_types *types;
	struct ray_catalogue *catalogue;
	struct ray_program program;
	struct ray_clause clause;
	struct ray_statement statements[MOST];
	struct ray_trace_options options;
	struct ray_trace *trace;
};

/* ---- building ---- */

static void set_up(struct bench *b)
{
	struct ray_probe_spec spec = { .provider = "dtrace", .module = "", .function = "", .name = "BEGIN" };
	ray_probe_list list = { 0 };

	memset(b, 0, sizeof(*b));
	b->arena = ray_arena_create();
	assert_non_null(b->arena);
	assert_null(ray_types_create(b->arena, &b->types));
	assert_null(ray_catalogue_create(&(struct ray_catalogue_options){ 0 }, &b->catalogue));
	ray_trace_options_init(&b->options);
	ray_types_set_strsize(b->types, b->options.strsize);
	b->program.arena = b->arena;
	b->program.types = b->types;
	b->clause.statements = b->statements;
	assert_true(ray_vec_push(&b->program.clauses, &b->clause));
	assert_null(ray_catalogue_match(b->catalogue, &spec, &list));
	memcpy(&b->clause.probes, &list, sizeof(list));
}

static void tear_down(struct bench *b)
{
	ray_trace_free(b->trace);
	ray_vec_free(&b->program.clauses);
	ray_vec_free(&b->clause.probes);
	for (int i = 0; i <= RAY_SCOPE_INLINE; i++)
		ray_vec_free(&b->program.variables[i]);
	ray_vec_free(&b->program.aggregations);
	ray_catalogue_free(b->catalogue);
	ray_trace_options_deinit(&b->options);
	ray_types_free(b->types);
	ray_arena_free(b->arena);
}

static const struct ray_type *basic(struct bench *b, enum ray_basic which)
{
	return ray_type_basic(b->types, which);
}

static struct ray_expr *node(struct bench *b, enum ray_expr_kind kind, const struct ray_type *type)
{
	struct ray_expr *e = ray_arena_alloc(b->arena, sizeof(*e));

	assert_non_null(e);
	e->kind = kind;
	e->type = type;
	return e;
}

static struct ray_expr *integer(struct bench *b, uint64_t value)
{
	struct ray_expr *e = node(b, RAY_EXPR_INTEGER, basic(b, RAY_BASIC_INT64));

	e->value = value;
	return e;
}

static struct ray_expr *text(struct bench *b, const char *bytes)
{
	struct ray_expr *e = node(b, RAY_EXPR_STRING, basic(b, RAY_BASIC_STRING));

	e->text = bytes;
	e->length = strlen(bytes);
	return e;
}

static struct ray_variable *variable(struct bench *b, enum ray_scope scope, const struct ray_type *type)
{
	struct ray_variable *v = ray_arena_alloc(b->arena, sizeof(*v));

	assert_non_null(v);
	*v = (struct ray_variable){ .scope = scope, .type = type, .id = b->program.variables[scope].n };
	assert_true(ray_vec_push(&b->program.variables[scope], v));
	return v;
}

static struct ray_expr *read_of(struct bench *b, struct ray_variable *v)
{
	struct ray_expr *e = node(b, RAY_EXPR_VARIABLE, v->type);

	e->variable = v;
	return e;
}

static struct ray_expr *element(struct bench *b, struct ray_variable *v, struct ray_expr *key)
{
	struct ray_expr *e = node(b, RAY_EXPR_ELEMENT, v->type);

	e->variable = v;
	e->args = ray_arena_alloc(b->arena, sizeof(*e->args));
	e->args[0] = key;
	e->arg_count = 1;
	return e;
}

static struct ray_variable *array_of(struct bench *b, enum ray_scope scope, const struct ray_type *type,
				     const struct ray_type *key)
{
	struct ray_variable *v = variable(b, scope, type);
	const struct ray_type **keys = ray_arena_alloc(b->arena, sizeof(*keys));

	keys[0] = key;
	v->is_assoc = true;
	v->keys = keys;
	v->key_count = 1;
	return v;
}

static struct ray_expr *binary(struct bench *b, enum ray_op op, struct ray_expr *x, struct ray_expr *y)
{
	struct ray_expr *e = node(b, RAY_EXPR_BINARY, op >= RAY_OP_EQ ? basic(b, RAY_BASIC_INT) : x->type);

	e->op = op;
	e->a = x;
	e->b = y;
	return e;
}

static struct ray_expr *assign(struct bench *b, struct ray_expr *to, struct ray_expr *value)
{
	struct ray_expr *e = node(b, RAY_EXPR_ASSIGN, to->type);

	e->a = to;
	e->b = value;
	return e;
}

static struct ray_expr *unary(struct bench *b, enum ray_op op, struct ray_expr *x)
{
	struct ray_expr *e = node(b, RAY_EXPR_UNARY, x->type);

	e->op = op;
	e->a = x;
	return e;
}

static struct ray_expr *deref(struct bench *b, struct ray_expr *address, const struct ray_type *type)
{
	struct ray_expr *e = node(b, RAY_EXPR_DEREF, type);

	e->a = address;
	return e;
}

static struct ray_expr *member(struct bench *b, struct ray_expr *of, const struct ray_type *type, uint32_t bit_offset,
			       uint32_t bit_width)
{
	struct ray_expr *e = node(b, RAY_EXPR_MEMBER, type);

	e->a = of;
	e->bit_offset = bit_offset;
	e->bit_width = bit_width;
	return e;
}

static struct ray_expr *call(struct bench *b, enum ray_function_id id, const struct ray_type *type, size_t count, ...)
{
	struct ray_expr *e = node(b, RAY_EXPR_CALL, type);
	va_list list;

	e->function = &ray_functions[id];
	e->args = ray_arena_alloc(b->arena, (count + 1) * sizeof(*e->args));
	e->arg_count = count;
	va_start(list, count);
	for (size_t i = 0; i < count; i++)
		e->args[i] = va_arg(list, struct ray_expr *);
	va_end(list);
	return e;
}

static void statement(struct bench *b, struct ray_expr *e)
{
	assert_true(b->clause.statement_count < MOST);
	b->statements[b->clause.statement_count++] = (struct ray_statement){ .kind = RAY_STATEMENT_EXPR, .expr = e };
}

static struct ray_aggregation *aggregate(struct bench *b, enum ray_aggregator function, struct ray_expr *value,
					 struct ray_expr *key)
{
	struct ray_aggregation *a = ray_arena_alloc(b->arena, sizeof(*a));
	struct ray_statement *s = &b->statements[b->clause.statement_count++];
	const struct ray_type **keys = ray_arena_alloc(b->arena, sizeof(*keys));

	*a = (struct ray_aggregation){
		.name = "a", .id = b->program.aggregations.n, .function = function, .is_signed = true
	};
	*s = (struct ray_statement){ .kind = RAY_STATEMENT_AGGREGATE, .aggregation = a };
	s->args = ray_arena_alloc(b->arena, sizeof(*s->args));
	s->keys = ray_arena_alloc(b->arena, sizeof(*s->keys));
	s->args[0] = value;
	s->arg_count = value ? 1 : 0;
	if (key) {
		keys[0] = key->type;
		a->keys = keys;
		a->key_count = s->key_count = 1;
		s->keys[0] = key;
	}
	if (function == RAY_AGG_LQUANTIZE)
		memcpy(a->parameters, (int64_t[4]){ -10, 10, 2, 0 }, sizeof(a->parameters));
	if (function == RAY_AGG_LLQUANTIZE)
		memcpy(a->parameters, (int64_t[4]){ 10, 0, 3, 20 }, sizeof(a->parameters));
	assert_true(ray_vec_push(&b->program.aggregations, a));
	return a;
}

/* ---- running ---- */

static bool must(struct bench *b, struct ray_error *err)
{
	bool denied = err && ray_error_code(err) == RAY_DENIED;

	if (err)
		print_message("%s\n", ray_error_text(err));
	ray_error_free(err);
	if (denied) {
		tear_down(b);
		skip();
	}
	assert_null(err);
	return true;
}

static void run(struct bench *b)
{
	struct ray_trace_settings settings = { .options = &b->options };

	must(b, ray_trace_create(&b->program, b->catalogue, &settings, &b->trace));
	must(b, ray_maps_create(b->trace));
	must(b, ray_stacker_create(b->trace, &b->trace->stacker));
	for (size_t i = 0; i < b->trace->entries.n; i++)
		must(b, ray_entry_load(b->trace, b->trace->entries.at[i]));
	must(b, ray_entry_run(b->trace, RAY_SITE_BEGIN));
}

static const void *global(struct bench *b, const struct ray_variable *v)
{
	static uint8_t bytes[8192];
	const struct ray_plan *plan = b->trace->plan;
	uint32_t zero = 0;

	assert_true(plan->globals_size <= sizeof(bytes));
	assert_int_equal(bpf_map_lookup_elem(b->trace->own_maps[plan->globals_map - RAY_MAP_OWN], &zero, bytes), 0);
	return bytes + plan->variables[RAY_SCOPE_GLOBAL][v->id].offset;
}

static int64_t number(struct bench *b, const struct ray_variable *v)
{
	int64_t value;

	memcpy(&value, global(b, v), sizeof(value));
	return value;
}

static const char *string(struct bench *b, const struct ray_variable *v)
{
	const char *bytes = global(b, v);

	return bytes[0] ? bytes + 8 : NULL;
}

/* ---- the tests ---- */

static void variables_of_all_scopes_keep_numbers(void **state)
{
	struct bench bench, *b = &bench;
	struct ray_variable *g, *l, *s, *a, *sum, *gone;
	const struct ray_type *wide;

	(void)state;
	set_up(b);
	wide = basic(b, RAY_BASIC_INT64);
	g = variable(b, RAY_SCOPE_GLOBAL, wide);
	sum = variable(b, RAY_SCOPE_GLOBAL, wide);
	gone = variable(b, RAY_SCOPE_GLOBAL, wide);
	l = variable(b, RAY_SCOPE_CLAUSE, basic(b, RAY_BASIC_SHORT));
	s = variable(b, RAY_SCOPE_THREAD, basic(b, RAY_BASIC_INT));
	a = array_of(b, RAY_SCOPE_GLOBAL, wide, basic(b, RAY_BASIC_STRING));
	statement(b, assign(b, read_of(b, g), integer(b, 5)));
	statement(b, assign(b, read_of(b, l), integer(b, -7)));
	statement(b, assign(b, read_of(b, s), integer(b, -100)));
	statement(b, assign(b, element(b, a, text(b, "k")), integer(b, 1000)));
	statement(b, unary(b, RAY_OP_POST_INC, element(b, a, text(b, "k"))));
	statement(b, unary(b, RAY_OP_PRE_INC, element(b, a, text(b, "new"))));
	statement(b, assign(b, read_of(b, sum),
			    binary(b, RAY_OP_ADD, binary(b, RAY_OP_ADD, read_of(b, g), read_of(b, l)),
				   binary(b, RAY_OP_ADD, read_of(b, s),
					  binary(b, RAY_OP_ADD, element(b, a, text(b, "k")),
						 element(b, a, text(b, "new")))))));
	statement(b, assign(b, element(b, a, text(b, "k")), integer(b, 0)));
	statement(b, assign(b, read_of(b, gone), element(b, a, text(b, "k"))));
	run(b);
	assert_int_equal(number(b, g), 5);
	assert_int_equal(number(b, sum), 5 - 7 - 100 + 1001 + 1);
	assert_int_equal(number(b, gone), 0);
	tear_down(b);
}

static void structures_arrays_and_bit_fields_are_written_in_place(void **state)
{
	struct bench bench, *b = &bench;
	const struct ray_type *wide, *narrow, *array, *pointer;
	struct ray_type *whole;
	struct ray_variable *g, *s, *l, *copy, *sum;
	enum ray_scope scopes[] = { RAY_SCOPE_GLOBAL, RAY_SCOPE_THREAD, RAY_SCOPE_CLAUSE };

	(void)state;
	for (int i = 0; i < 3; i++) {
		set_up(b);
		wide = basic(b, RAY_BASIC_INT64);
		narrow = basic(b, RAY_BASIC_INT);
		array = ray_type_array(b->types, narrow, 4);
		pointer = ray_type_pointer(b->types, narrow);
		whole = ray_arena_alloc(b->arena, sizeof(*whole));
		*whole = (struct ray_type){ .kind = RAY_TYPE_STRUCT, .name = "s", .size = 24, .align = 8 };
		s = variable(b, scopes[i], whole);
		copy = variable(b, RAY_SCOPE_GLOBAL, whole);
		g = variable(b, RAY_SCOPE_GLOBAL, wide);
		sum = variable(b, RAY_SCOPE_GLOBAL, wide);
		l = variable(b, RAY_SCOPE_CLAUSE, wide);
		/* struct { int a[4]; int x : 5; int y : 7; } */
		statement(b, assign(b, read_of(b, l), integer(b, 8)));
		statement(b,
			  assign(b,
				 deref(b, binary(b, RAY_OP_ADD, member(b, read_of(b, s), array, 0, 0), read_of(b, l)),
				       narrow),
				 integer(b, 77)));
		b->statements[b->clause.statement_count - 1].expr->a->a->type = pointer;
		statement(b, assign(b, member(b, read_of(b, s), narrow, 128, 5), integer(b, -3)));
		statement(b, assign(b, member(b, read_of(b, s), narrow, 133, 7), integer(b, 33)));
		statement(b, assign(b, read_of(b, copy), read_of(b, s)));
		statement(b, assign(b, read_of(b, g),
				    binary(b, RAY_OP_MUL, member(b, read_of(b, copy), narrow, 128, 5),
					   member(b, read_of(b, s), narrow, 133, 7))));
		statement(
			b,
			assign(b, read_of(b, sum),
			       deref(b, binary(b, RAY_OP_ADD, member(b, read_of(b, copy), array, 0, 0), integer(b, 8)),
				     narrow)));
		run(b);
		assert_int_equal(number(b, g), -99);
		assert_int_equal(number(b, sum), 77);
		tear_down(b);
	}
}

static void strings_are_joined_compared_and_kept(void **state)
{
	struct bench bench, *b = &bench;
	const struct ray_type *type;
	struct ray_variable *g, *never, *s, *l, *same;

	(void)state;
	set_up(b);
	type = basic(b, RAY_BASIC_STRING);
	g = variable(b, RAY_SCOPE_GLOBAL, type);
	never = variable(b, RAY_SCOPE_GLOBAL, type);
	same = variable(b, RAY_SCOPE_GLOBAL, basic(b, RAY_BASIC_INT64));
	s = variable(b, RAY_SCOPE_THREAD, type);
	l = variable(b, RAY_SCOPE_CLAUSE, type);
	statement(b, assign(b, read_of(b, l), call(b, RAY_FN_STRJOIN, type, 2, text(b, "ab"), text(b, "cd"))));
	statement(b, assign(b, read_of(b, s), read_of(b, l)));
	statement(b, assign(b, read_of(b, g), call(b, RAY_FN_STRJOIN, type, 2, read_of(b, s), text(b, "!"))));
	statement(b, assign(b, read_of(b, same),
			    binary(b, RAY_OP_LOGIC_AND, binary(b, RAY_OP_EQ, read_of(b, g), text(b, "abcd!")),
				   binary(b, RAY_OP_LT, read_of(b, s), read_of(b, g)))));
	run(b);
	assert_string_equal(string(b, g), "abcd!");
	assert_null(string(b, never));
	assert_int_equal(number(b, same), 1);
	tear_down(b);
}

static void division_by_zero_ends_the_clause(void **state)
{
	struct bench bench, *b = &bench;
	struct ray_variable *g, *zero;

	(void)state;
	set_up(b);
	g = variable(b, RAY_SCOPE_GLOBAL, basic(b, RAY_BASIC_INT64));
	zero = variable(b, RAY_SCOPE_GLOBAL, basic(b, RAY_BASIC_INT64));
	statement(b, assign(b, read_of(b, g), integer(b, 1)));
	statement(b, assign(b, read_of(b, g), binary(b, RAY_OP_DIV, integer(b, 2), read_of(b, zero))));
	statement(b, assign(b, read_of(b, g), integer(b, 3)));
	run(b);
	assert_int_equal(number(b, g), 1);
	tear_down(b);
}

/* A clause so long that no jump reaches from its start to its end. */
static void a_long_clause_loads(void **state)
{
	struct bench bench, *b = &bench;
	struct ray_variable *g, *zero;
	struct ray_expr *sum;

	(void)state;
	set_up(b);
	g = variable(b, RAY_SCOPE_GLOBAL, basic(b, RAY_BASIC_INT64));
	zero = variable(b, RAY_SCOPE_GLOBAL, basic(b, RAY_BASIC_INT64));
	for (int i = 0; i < 60; i++) {
		sum = binary(b, RAY_OP_ADD, read_of(b, g), integer(b, 1));
		for (int k = 0; k < 130; k++) /* zero is 0: each adds 0 and can fault */
			sum = binary(b, RAY_OP_ADD, sum,
				     binary(b, i % 2 ? RAY_OP_DIV : RAY_OP_MUL, read_of(b, zero),
					    binary(b, RAY_OP_OR, read_of(b, zero), integer(b, 1))));
		statement(b, assign(b, read_of(b, g), sum));
	}
	run(b);
	assert_true(b->trace->clause_code[0].insns.n > INT16_MAX);
	assert_int_equal(number(b, g), 60);
	tear_down(b);
}

/* The element of a key on a CPU: at hand, or in the hash. */
static bool find_element(struct bench *b, const struct ray_agg_plan *plan, uint64_t *whole, uint64_t *values)
{
	uint32_t number = (uint32_t)(whole[0] << plan->near_bits) +
			  ((whole[1] >> plan->near_bits ^ whole[1]) & ((1U << plan->near_bits) - 1));

	if (!plan->near_size)
		return !bpf_map_lookup_elem(b->trace->own_maps[plan->map - RAY_MAP_OWN], whole, values);
	assert_int_equal(bpf_map_lookup_elem(b->trace->own_maps[plan->near_map - RAY_MAP_OWN], &number, values), 0);
	if (values[0] != RAY_AGG_PLACE_TAKEN || values[1] != whole[1])
		return false;
	memmove(values, values + 2, plan->element_size);
	return true;
}

/* key: the tuple's one field; NULL: none. */
static void sum_of_cpus(struct bench *b, const struct ray_aggregation *a, const uint64_t *key, uint64_t *words)
{
	const struct ray_agg_plan *plan = &b->trace->plan->aggregations[a->id];
	size_t cpus = b->trace->slot_count / RAY_SLOTS_PER_CPU;
	uint64_t whole[2] = { 0, key ? *key : 0 }, values[2048];
	int found = 0;

	assert_true(plan->element_size + ray_agg_place_head(plan) <= sizeof(values));
	memset(words, 0, plan->words * 8);
	for (whole[0] = 0; whole[0] < cpus; whole[0]++) {
		if (!find_element(b, plan, whole, values))
			continue;
		found++;
		for (size_t i = 0; i < plan->words; i++)
			words[i] += values[plan->value_at / 8 + 1 + i];
	}
	assert_int_equal(found, 1);
}

static void aggregations_hold_what_went_in(void **state)
{
	struct bench bench, *b = &bench;
	struct ray_aggregation *a[10];
	struct ray_variable *name;
	uint64_t words[256];

	(void)state;
	set_up(b);
	name = variable(b, RAY_SCOPE_BUILTIN, basic(b, RAY_BASIC_STRING));
	name->builtin = RAY_BUILTIN_PROBENAME;
	for (int i = RAY_AGG_COUNT; i <= RAY_AGG_LLQUANTIZE; i++)
		a[i] = aggregate(b, i, i == RAY_AGG_COUNT ? NULL : integer(b, -5), NULL);
	a[0] = aggregate(b, RAY_AGG_COUNT, NULL, read_of(b, name));
	run(b);
	sum_of_cpus(b, a[RAY_AGG_COUNT], NULL, words);
	assert_int_equal(words[0], 1);
	sum_of_cpus(b, a[RAY_AGG_SUM], NULL, words);
	assert_int_equal(words[0], -5);
	sum_of_cpus(b, a[RAY_AGG_AVG], NULL, words);
	assert_int_equal(words[0], 1);
	assert_int_equal(words[1], -5);
	sum_of_cpus(b, a[RAY_AGG_MIN], NULL, words);
	assert_int_equal(words[0], -5);
	sum_of_cpus(b, a[RAY_AGG_MAX], NULL, words);
	assert_int_equal(words[0], -5);
	sum_of_cpus(b, a[RAY_AGG_STDDEV], NULL, words);
	assert_int_equal(words[2], 25);
	assert_int_equal(words[3], 0);
	sum_of_cpus(b, a[RAY_AGG_QUANTIZE], NULL, words);
	assert_int_equal(words[63 - 3], 1); /* -4 .. -7 */
	sum_of_cpus(b, a[RAY_AGG_LQUANTIZE], NULL, words);
	assert_int_equal(words[1 + 2], 1);	       /* -6 .. -5 */
	sum_of_cpus(b, a[0], &(uint64_t){ 1 }, words); /* by the probe's ID */
	assert_int_equal(words[0], 1);
	tear_down(b);
}

static void every_builtin_loads(void **state)
{
	static const enum ray_builtin left_out[] = {
		RAY_BUILTIN_ARGS,      RAY_BUILTIN_UREGS,	RAY_BUILTIN_FDS,
		RAY_BUILTIN_CURPSINFO, RAY_BUILTIN_CURLWPSINFO, RAY_BUILTIN_CURCPU
	};
	static const bool is_string[] = {
		[RAY_BUILTIN_EXECNAME] = true,	[RAY_BUILTIN_PROBEPROV] = true, [RAY_BUILTIN_PROBEMOD] = true,
		[RAY_BUILTIN_PROBEFUNC] = true, [RAY_BUILTIN_PROBENAME] = true, [RAY_BUILTIN_CWD] = true,
		[RAY_BUILTIN_ROOT] = true,	[RAY_BUILTIN_JID] = false
	};
	struct bench bench, *b = &bench;
	struct ray_variable *pid = NULL, *cwd = NULL, *registers, *stack;
	char path[4096];

	(void)state;
	set_up(b);
	for (int i = RAY_BUILTIN_ARG0; i <= RAY_BUILTIN_JID; i++) {
		const struct ray_type *type = basic(b, is_string[i] ? RAY_BASIC_STRING : RAY_BASIC_INT64);
		struct ray_variable *builtin, *g;
		bool is_left_out = false;

		for (size_t k = 0; k < sizeof(left_out) / sizeof(left_out[0]); k++)
			is_left_out |= left_out[k] == (enum ray_builtin)i;
		if (is_left_out)
			continue;
		builtin = variable(b, RAY_SCOPE_BUILTIN, type);
		builtin->builtin = i;
		g = variable(b, RAY_SCOPE_GLOBAL, type);
		statement(b, assign(b, read_of(b, g), read_of(b, builtin)));
		pid = i == RAY_BUILTIN_PID ? g : pid;
		cwd = i == RAY_BUILTIN_CWD ? g : cwd;
	}
	registers = variable(b, RAY_SCOPE_BUILTIN, basic(b, RAY_BASIC_INT64));
	registers->builtin = RAY_BUILTIN_UREGS;
	stack = variable(b, RAY_SCOPE_GLOBAL, basic(b, RAY_BASIC_INT64));
	statement(b, assign(b, read_of(b, stack), element(b, registers, integer(b, 25))));
	statement(b, assign(b, read_of(b, stack), element(b, registers, integer(b, 19)))); /* rsp */
	run(b);
	assert_true(number(b, stack) > 0x10000);
	assert_int_equal(number(b, pid), getpid());
	assert_non_null(getcwd(path, sizeof(path)));
	if (strlen(path) < b->options.strsize)
		assert_string_equal(string(b, cwd), path);
	tear_down(b);
}

static void every_subroutine_loads(void **state)
{
	static const enum ray_function_id strings[] = { RAY_FN_BASENAME, RAY_FN_CLEANPATH, RAY_FN_DIRNAME,
							RAY_FN_STRIP,	 RAY_FN_TOLOWER,   RAY_FN_TOUPPER };
	static const enum ray_function_id pairs[] = { RAY_FN_STRJOIN, RAY_FN_STRSTR, RAY_FN_STRTOK, RAY_FN_JSON };
	static const enum ray_function_id numbers[] = { RAY_FN_HTONL,	  RAY_FN_HTONLL,   RAY_FN_HTONS,
							RAY_FN_GETMAJOR,  RAY_FN_GETMINOR, RAY_FN_ALLOCA,
							RAY_FN_PROGENYOF, RAY_FN_FD_NUMBER };
	struct bench bench, *b = &bench;
	struct ray_variable *g, *n, *upper = NULL;
	const struct ray_type *type, *wide;

	(void)state;
	set_up(b);
	type = basic(b, RAY_BASIC_STRING);
	wide = basic(b, RAY_BASIC_INT64);
	n = variable(b, RAY_SCOPE_GLOBAL, wide);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		upper = variable(b, RAY_SCOPE_GLOBAL, type);
		statement(b, assign(b, read_of(b, upper), call(b, strings[i], type, 1, text(b, "/a/b c"))));
	}
	g = variable(b, RAY_SCOPE_GLOBAL, type);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		statement(b, assign(b, read_of(b, g), call(b, pairs[i], type, 2, text(b, "{\"a\":1}"), text(b, "a"))));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		statement(b, assign(b, read_of(b, n), call(b, numbers[i], wide, 1, integer(b, 1))));
	statement(b, assign(b, read_of(b, g), call(b, RAY_FN_LLTOSTR, type, 1, integer(b, -12))));
	statement(b, assign(b, read_of(b, g), call(b, RAY_FN_SUBSTR, type, 2, read_of(b, upper), integer(b, 1))));
	statement(b, assign(b, read_of(b, g), call(b, RAY_FN_STRCHR, type, 2, read_of(b, g), integer(b, '/'))));
	statement(b, assign(b, read_of(b, n), call(b, RAY_FN_INDEX, wide, 2, read_of(b, upper), text(b, "B"))));
	statement(b, assign(b, read_of(b, n), binary(b, RAY_OP_ADD, read_of(b, n), call(b, RAY_FN_RAND, wide, 0))));
	statement(b, assign(b, read_of(b, n), call(b, RAY_FN_STRLEN, wide, 1, read_of(b, g))));
	run(b);
	assert_string_equal(string(b, upper), "/A/B C");
	assert_string_equal(string(b, g), "/B C");
	assert_int_equal(number(b, n), 4);
	tear_down(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_of_all_scopes_keep_numbers),
		cmocka_unit_test(structures_arrays_and_bit_fields_are_written_in_place),
		cmocka_unit_test(strings_are_joined_compared_and_kept),
		cmocka_unit_test(division_by_zero_ends_the_clause),
		cmocka_unit_test(a_long_clause_loads),
		cmocka_unit_test(aggregations_hold_what_went_in),
		cmocka_unit_test(every_builtin_loads),
		cmocka_unit_test(every_subroutine_loads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
