/* The checker, rule by rule: what it makes of a text, and with which words it refuses one.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "lang/functions.h"
#include "lang/lang.h"

struct checked {
	struct ray_program *program;
	struct ray_catalogue *catalogue;
	char error[512]; /* "" if it was accepted */
};

static void check_with(struct checked *r, const char *text, const struct ray_lang_options *options)
{
	static const char *const arguments[] = { "test.d" };
	static const struct ray_catalogue_options none;
	const struct ray_macros macros = { .arguments = arguments, .argument_count = 1 };
	const struct ray_source source = {
		.kind = RAY_TEXT_SCRIPT, .file = "test.d", .text = text, .length = strlen(text)
	};
	struct ray_error *err;

	*r = (struct checked){ 0 };
	err = ray_catalogue_create(&none, &r->catalogue);
	if (!err)
		err = ray_program_create(&macros, &r->program);
	if (!err)
		err = ray_program_parse(r->program, &source, options, &macros, NULL);
	if (!err)
		err = ray_program_check(r->program, r->catalogue, options, &macros, NULL);
	if (err)
		snprintf(r->error, sizeof(r->error), "%s", ray_error_text(err));
	ray_error_free(err);
}

static void done(struct checked *r)
{
	ray_program_free(r->program);
	ray_catalogue_free(r->catalogue);
}

static void refuses(const char *text, const char *expected)
{
	const struct ray_lang_options options = { .error_tags = true, .strsize = 256, .scratchsize = 256 };
	struct checked r;

	check_with(&r, text, &options);
	assert_string_equal(r.error, expected);
	done(&r);
}

static struct ray_statement *accepts(struct checked *r, const char *text)
{
	const struct ray_lang_options options = { .error_tags = true, .strsize = 256, .scratchsize = 256 };

	check_with(r, text, &options);
	assert_string_equal(r->error, "");
	return r->program->clauses.at[r->program->clauses.n - 1]->statements;
}

static void calls_become_actions_without_their_format(void **state)
{
	struct checked r;
	struct ray_statement *s = accepts(&r, "BEGIN { printf(\"%d %s\\n\", 42, execname); exit(0); }");

	(void)state;
	assert_int_equal(s[0].kind, RAY_STATEMENT_ACTION);
	assert_int_equal(s[0].function->id, RAY_FN_PRINTF);
	assert_int_equal(s[0].arg_count, 2);
	assert_non_null(s[0].format);
	assert_int_equal(s[1].function->id, RAY_FN_EXIT);
	assert_true(r.program->clauses.at[0]->is_recording);
	assert_int_equal(r.program->clauses.at[0]->probes.n, 1);
	done(&r);
}

static void assignments_to_aggregations_become_statements(void **state)
{
	struct checked r;
	struct ray_statement *s = accepts(&r, "BEGIN { @a[execname, pid] = lquantize(timestamp, 0, 100, 10); }");

	(void)state;
	assert_int_equal(s[0].kind, RAY_STATEMENT_AGGREGATE);
	assert_int_equal(s[0].key_count, 2);
	assert_int_equal(s[0].aggregation->function, RAY_AGG_LQUANTIZE);
	assert_int_equal(s[0].aggregation->parameters[1], 100);
	assert_int_equal(s[0].aggregation->parameters[2], 10);
	done(&r);
}

static void the_first_assignment_tells_the_type(void **state)
{
	struct checked r;

	(void)state;
	accepts(&r, "BEGIN { self->s = \"x\"; n = (short)1; a[\"k\", 2] = timestamp; this->p = (char *)0; }");
	assert_true(ray_type_is_string(r.program->variables[RAY_SCOPE_THREAD].at[0]->type));
	assert_int_equal(ray_type_size(r.program->variables[RAY_SCOPE_GLOBAL].at[0]->type), 2);
	assert_true(r.program->variables[RAY_SCOPE_GLOBAL].at[1]->is_assoc);
	assert_int_equal(r.program->variables[RAY_SCOPE_GLOBAL].at[1]->key_count, 2);
	assert_true(ray_type_is_pointer(r.program->variables[RAY_SCOPE_CLAUSE].at[0]->type));
	done(&r);
}

static void operands_get_one_type(void **state)
{
	struct checked r;
	struct ray_statement *s = accepts(&r, "int i; uint64_t u; BEGIN { x = i + u; }");
	const struct ray_expr *sum = s[0].expr->b;

	(void)state;
	assert_int_equal(sum->kind, RAY_EXPR_BINARY);
	assert_int_equal(sum->a->kind, RAY_EXPR_CAST);
	assert_false(ray_type_is_signed(sum->type));
	assert_int_equal(ray_type_size(sum->a->type), 8);
	done(&r);
}

static void narrow_sums_are_kept_narrow(void **state)
{
	struct checked r;
	struct ray_statement *s = accepts(&r, "char a; char b; BEGIN { trace(a + b); exit(a + b > 200); }");

	(void)state;
	assert_int_equal(ray_type_size(s[0].args[0]->type), 1);
	assert_int_equal(ray_type_size(s[0].args[0]->a->type), 4);
	done(&r);
}

static void constants_are_folded(void **state)
{
	struct checked r;
	struct ray_statement *s = accepts(&r,
					  "struct s { char c; int i; };"
					  "BEGIN { trace((1 << 4) * 3 - sizeof(struct s) + offsetof(struct s, i)); }");

	(void)state;
	assert_int_equal(s[0].args[0]->kind, RAY_EXPR_INTEGER);
	assert_int_equal(s[0].args[0]->value, 44);
	done(&r);
}

static void pointer_arithmetic_is_scaled(void **state)
{
	struct checked r;
	struct ray_statement *s = accepts(&r, "int *p; BEGIN { trace(p[3]); trace((p + 2) - p); }");

	(void)state;
	assert_int_equal(s[0].args[0]->kind, RAY_EXPR_DEREF);
	assert_int_equal(s[0].args[0]->a->b->value, 12);
	assert_int_equal(s[1].args[0]->op, RAY_OP_DIV);
	done(&r);
}

static void members_know_their_bits(void **state)
{
	struct checked r;
	struct ray_statement *s = accepts(&r, "struct s { int a : 3; int b : 7; union { int c; char d; }; } *p;"
					      "BEGIN { trace(p->b); trace(p->d); }");

	(void)state;
	assert_int_equal(s[0].args[0]->kind, RAY_EXPR_MEMBER);
	assert_int_equal(s[0].args[0]->bit_width, 7);
	assert_int_equal(s[0].args[0]->bit_offset, 3);
	assert_int_equal(s[0].args[0]->a->kind, RAY_EXPR_DEREF);
	assert_int_equal(s[1].args[0]->bit_offset, 32);
	done(&r);
}

static void inlines_are_put_in(void **state)
{
	struct checked r;
	struct ray_statement *s = accepts(&r, "inline int TWO = 2; inline int twice[int n] = n * TWO;"
					      "BEGIN { trace(twice[21]); trace(twice[pid]); }");

	(void)state;
	assert_int_equal(s[1].args[0]->kind, RAY_EXPR_BINARY);
	assert_int_equal(s[1].args[0]->a->kind, RAY_EXPR_VARIABLE);
	assert_int_equal(s[1].args[0]->b->value, 2);
	done(&r);
}

static void translated_members_are_their_expressions(void **state)
{
	struct checked r;
	struct ray_statement *s =
		accepts(&r, "struct in { int i; }; struct out { long o; }; struct in *p;"
			    "translator struct out < struct in *T > { o = T->i + 1; };"
			    "BEGIN { trace(xlate <struct out>(p).o); trace(xlate <struct out *>(p)->o); }");

	(void)state;
	assert_int_equal(ray_type_size(s[0].args[0]->type), 8);
	assert_int_equal(s[0].args[0]->a->kind, RAY_EXPR_BINARY);
	assert_string_equal(s[1].args[0]->a->a->a->a->variable->name, "p");
	done(&r);
}

static void files_become_calls(void **state)
{
	struct checked r;
	struct ray_statement *s =
		accepts(&r, "BEGIN { trace(fds[arg0].fi_pathname); trace(fds[1].fi_oflags & O_RDWR); }");

	(void)state;
	assert_int_equal(s[0].args[0]->function->id, RAY_FN_FD_PATH);
	assert_int_equal(r.program->clauses.at[0]->args_used, 1);
	assert_int_equal(s[1].args[0]->b->value, 2);
	done(&r);
}

static void the_predicate_may_make_what_statements_use(void **state)
{
	struct checked r;

	(void)state;
	accepts(&r, "BEGIN /x++/ { trace(x); }");
	done(&r);
	accepts(&r, "BEGIN /y == 0/ { trace(y++); }");
	done(&r);
}

static void destructive_clauses_are_told(void **state)
{
	struct checked r;

	(void)state;
	accepts(&r, "BEGIN { stop(); }");
	assert_true(r.program->is_destructive);
	done(&r);
	accepts(&r, "BEGIN { copyout(alloca(4), arg0, 4); }");
	assert_true(r.program->clauses.at[0]->is_destructive);
	done(&r);
}

static void kernel_structures_can_be_looked_into(void **state)
{
	struct checked r;
	struct ray_statement *s;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	s = accepts(&r, "BEGIN { trace(curthread->real_parent->pid); trace(curpsinfo->pr_ppid); }");
	assert_int_equal(ray_type_size(s[0].args[0]->type), 4);
	assert_int_equal(s[1].args[0]->kind, RAY_EXPR_MEMBER);
	done(&r);
}

static void wrong_texts_are_refused_in_the_references_words(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "BEGIN { trace(nothing); }",
		  "[D_IDENT_UNDEF] line 1: failed to resolve nothing: Unknown variable name" },
		{ "BEGIN { trace(self->x); }", "[D_VAR_UNDEF] line 1: self->x has not yet been declared or assigned" },
		{ "BEGIN { x += 1; }", "[D_VAR_UNDEF] line 1: x has not yet been declared or assigned" },
		{ "BEGIN { pid = 1; }", "[D_OP_WRITE] line 1: operator = can only be applied to a writable variable" },
		{ "BEGIN { 1 = 2; }", "[D_OP_LVAL] line 1: operator = requires modifiable lvalue as an operand" },
		{ "BEGIN { x = 1; x = \"s\"; }",
		  "[D_OP_INCOMPAT] line 1: operands have incompatible types: \"int\" = \"string\"" },
		{ "BEGIN { trace(\"a\" & 1); }", "[D_OP_INT] line 1: operator & requires operands of integral type" },
		{ "BEGIN { trace(-execname); }",
		  "[D_OP_ARITH] line 1: operator - requires an operand of arithmetic type" },
		{ "BEGIN { trace(&pid); }", "[D_ADDROF_VAR] line 1: cannot take address of dynamic variable" },
		{ "BEGIN { trace(*pid); }", "[D_DEREF_NONPTR] line 1: cannot dereference non-pointer type" },
		{ "int a[4]; BEGIN { trace(a[9]); }",
		  "[D_ARR_BOUNDS] line 1: index outside array bounds: 9, max is 4" },
		{ "BEGIN { this->a[1] = 1; }",
		  "[D_ARR_LOCAL] line 1: local variables may not be used as associative arrays: a" },
		{ "BEGIN { a[1] = 1; a[1, 2] = 1; }",
		  "[D_PROTO_LEN] line 1: a[ ] prototype mismatch: 2 keys passed, 1 expected" },
		{ "BEGIN { exit(); }", "[D_PROTO_LEN] line 1: exit( ) prototype mismatch: 0 args passed, 1 expected" },
		{ "BEGIN { strlen(7); }",
		  "[D_PROTO_ARG] line 1: strlen( ) argument #1 is incompatible with prototype:\n"
		  "\tprototype: char *\n\t argument: int" },
		{ "BEGIN { printf(\"%d\"); }",
		  "[D_PRINTF_ARG_PROTO] line 1: printf( ) prototype mismatch: conversion #1 (%d) is "
		  "missing a corresponding value argument" },
		{ "BEGIN { printf(\"%s\", 1); }",
		  "[D_PRINTF_ARG_TYPE] line 1: printf( ) argument #2 is incompatible with conversion #1 prototype:\n"
		  "\tconversion: %s\n\t prototype: char [] or string (or use stringof)\n\t  argument: int" },
		{ "BEGIN { @a = count(); @a = sum(1); }",
		  "[D_AGG_REDEF] line 1: aggregation redefined: @a\n"
		  "\t current: @a = sum( )\n\tprevious: @a = count( ) : line 1" },
		{ "BEGIN { @a; }", "[D_IDENT_UNDEF] line 1: failed to resolve @a: Unknown variable name" },
		{ "BEGIN { @a = lquantize(1, 5, 3); }",
		  "[D_LQUANT_MISMATCH] line 1: lquantize( ) base (argument #1) must be less than limit (argument #2)" },
		{ "BEGIN { speculate(1); exit(0); }", "[D_EXIT_SPEC] line 1: exit( ) may not follow speculate( )" },
		{ "BEGIN { trace(1); commit(1); }",
		  "[D_COMM_DREC] line 1: commit( ) may not follow data-recording action(s)" },
		{ "BEGIN { x = ustack(); }",
		  "[D_CG_EXPR] line 1: tracing function ustack( ) may not be called from a D expression "
		  "(D program context required)" },
		{ "BEGIN { x = rand() + exit(1); }",
		  "[D_OP_INCOMPAT] line 1: operands have incompatible types: \"int\" + \"void\"" },
		{ "BEGIN { trace(args[0]); }", "[D_ARGS_IDX] line 1: index 0 is out of range for :::BEGIN args[ ]" },
		{ "no:such:probe:here { }",
		  "[D_PDESC_ZERO] line 1: probe description no:such:probe:here does not match any probes" },
		{ "BEGIN { alloca(4096); }", "[D_ALLOCA_SIZE] line 1: alloca(4096) size larger than scratchsize 256" },
	};

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(rows); i++)
		refuses(rows[i].text, rows[i].error);
}

static void clauses_that_look_at_args_are_split_by_description(void **state)
{
	const struct ray_lang_options options = { .error_tags = true, .strsize = 256 };
	struct checked r;

	(void)state;
	check_with(&r, "syscall::openat:entry, syscall::write:entry { trace(args[0]); } BEGIN { exit(0); }", &options);
	if (strstr(r.error, "D_PDESC_ZERO")) {
		done(&r);
		skip(); /* no tracefs */
	}
	assert_string_equal(r.error, "");
	assert_int_equal(r.program->clauses.n, 3);
	assert_string_equal(r.program->clauses.at[1]->probes.at[0]->function, "write");
	assert_int_equal(r.program->clauses.at[2]->index, 2);
	done(&r);
}

static void the_processor_is_its_number(void **state)
{
	struct checked r;
	struct ray_statement *s = accepts(&r, "BEGIN { trace(curcpu->cpu_id); trace(lgrp); }");

	(void)state;
	assert_int_equal(s[0].args[0]->variable->builtin, RAY_BUILTIN_CPU);
	assert_int_equal(s[1].args[0]->kind, RAY_EXPR_INTEGER);
	done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_become_actions_without_their_format),
		cmocka_unit_test(assignments_to_aggregations_become_statements),
		cmocka_unit_test(the_first_assignment_tells_the_type),
		cmocka_unit_test(operands_get_one_type),
		cmocka_unit_test(narrow_sums_are_kept_narrow),
		cmocka_unit_test(constants_are_folded),
		cmocka_unit_test(pointer_arithmetic_is_scaled),
		cmocka_unit_test(members_know_their_bits),
		cmocka_unit_test(inlines_are_put_in),
		cmocka_unit_test(translated_members_are_their_expressions),
		cmocka_unit_test(files_become_calls),
		cmocka_unit_test(the_predicate_may_make_what_statements_use),
		cmocka_unit_test(destructive_clauses_are_told),
		cmocka_unit_test(kernel_structures_can_be_looked_into),
		cmocka_unit_test(clauses_that_look_at_args_are_split_by_description),
		cmocka_unit_test(the_processor_is_its_number),
		cmocka_unit_test(wrong_texts_are_refused_in_the_references_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
