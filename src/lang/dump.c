/* dump.c - see dump.h. SPDX-License-Identifier: MIT */
#include "lang/dump.h"

#include <string.h>

static const char *const ops[] = {
	[RAY_OP_NONE] = "",
	[RAY_OP_ADD] = "+",
	[RAY_OP_SUB] = "-",
	[RAY_OP_MUL] = "*",
	[RAY_OP_DIV] = "/",
	[RAY_OP_MOD] = "%",
	[RAY_OP_AND] = "&",
	[RAY_OP_OR] = "|",
	[RAY_OP_XOR] = "^",
	[RAY_OP_SHL] = "<<",
	[RAY_OP_SHR] = ">>",
	[RAY_OP_EQ] = "==",
	[RAY_OP_NE] = "!=",
	[RAY_OP_LT] = "<",
	[RAY_OP_LE] = "<=",
	[RAY_OP_GT] = ">",
	[RAY_OP_GE] = ">=",
	[RAY_OP_LOGIC_AND] = "&&",
	[RAY_OP_LOGIC_OR] = "||",
	[RAY_OP_LOGIC_XOR] = "^^",
	[RAY_OP_NEGATE] = "neg",
	[RAY_OP_PLUS] = "pos",
	[RAY_OP_INVERT] = "~",
	[RAY_OP_NOT] = "!",
	[RAY_OP_PRE_INC] = "++x",
	[RAY_OP_PRE_DEC] = "--x",
	[RAY_OP_POST_INC] = "x++",
	[RAY_OP_POST_DEC] = "x--",
	[RAY_OP_STRINGOF] = "stringof",
};

static void dump_args(const struct ray_expr *e, struct ray_text *out)
{
	for (size_t i = 0; i < e->arg_count; i++) {
		ray_text_add(out, " ");
		ray_dump_expr(e->args[i], out);
	}
}

static void dump_type(const struct ray_type *type, struct ray_text *out)
{
	ray_text_add(out, " <");
	ray_type_print(type, out);
	ray_text_add(out, ">");
}

/* (head type text a b c args...), of what there is */
static void dump_list(const char *head, const struct ray_expr *e, struct ray_text *out)
{
	const struct ray_expr *const operands[] = { e->a, e->b, e->c };

	ray_text_printf(out, "(%s", head);
	if (e->cast_type)
		dump_type(e->cast_type, out);
	for (size_t i = 0; i < RAY_COUNT(operands); i++) {
		if (operands[i]) {
			ray_text_add(out, " ");
			ray_dump_expr(operands[i], out);
		}
	}
	if (e->text)
		ray_text_printf(out, " %s", e->text);
	dump_args(e, out);
	ray_text_add(out, ")");
}

static void dump_string(const struct ray_expr *e, struct ray_text *out)
{
	ray_text_add(out, "\"");
	ray_text_add_safe(out, e->text, e->length);
	ray_text_add(out, "\"");
}

static const char *scope_prefix(enum ray_scope scope)
{
	return scope == RAY_SCOPE_THREAD ? "self->" : scope == RAY_SCOPE_CLAUSE ? "this->" : "";
}

static void dump_named(const struct ray_expr *e, struct ray_text *out)
{
	ray_text_printf(out, "(call %s", e->text ? e->text : "?");
	dump_args(e, out);
	ray_text_add(out, ")");
}

static void dump_aggregation(const struct ray_expr *e, struct ray_text *out)
{
	ray_text_printf(out, e->arg_count ? "(@%s" : "@%s", e->text ? e->text : "?");
	dump_args(e, out);
	ray_text_add(out, e->arg_count ? ")" : "");
}

static void dump_assign(const struct ray_expr *e, struct ray_text *out)
{
	ray_text_printf(out, "(%s= ", ops[e->op]);
	ray_dump_expr(e->a, out);
	ray_text_add(out, " ");
	ray_dump_expr(e->b, out);
	ray_text_add(out, ")");
}

static void dump_integer(const struct ray_expr *e, struct ray_text *out)
{
	ray_text_printf(out, "%llu%s%s", (unsigned long long)e->value, e->is_unsigned ? "u" : "",
			e->is_long ? "l" : "");
}

void ray_dump_expr(const struct ray_expr *e, struct ray_text *out)
{
	static const char *const heads[] = {
		[RAY_EXPR_ELEMENT] = "element",	  [RAY_EXPR_ARG] = "arg",	[RAY_EXPR_COND] = "?",
		[RAY_EXPR_COMMA] = ",",		  [RAY_EXPR_CAST] = "cast",	[RAY_EXPR_DEREF] = "deref",
		[RAY_EXPR_ADDRESS] = "address",	  [RAY_EXPR_MEMBER] = "member", [RAY_EXPR_INDEX] = "index",
		[RAY_EXPR_ARROW] = "->",	  [RAY_EXPR_DOT] = ".",		[RAY_EXPR_SIZEOF] = "sizeof",
		[RAY_EXPR_OFFSETOF] = "offsetof", [RAY_EXPR_XLATE] = "xlate",
	};

	switch (e->kind) {
	case RAY_EXPR_INTEGER:
		dump_integer(e, out);
		break;
	case RAY_EXPR_STRING:
		dump_string(e, out);
		break;
	case RAY_EXPR_VARIABLE:
		ray_text_printf(out, "%s%s", scope_prefix(e->variable->scope), e->variable->name);
		break;
	case RAY_EXPR_NAME:
	case RAY_EXPR_SYMBOL:
		ray_text_printf(out, "%s%s", scope_prefix(e->scope), e->text);
		break;
	case RAY_EXPR_AGGREGATION:
		dump_aggregation(e, out);
		break;
	case RAY_EXPR_UNARY:
	case RAY_EXPR_BINARY:
		dump_list(ops[e->op], e, out);
		break;
	case RAY_EXPR_ASSIGN:
		dump_assign(e, out);
		break;
	case RAY_EXPR_CALL:
		dump_named(e, out);
		break;
	default:
		dump_list(e->op == RAY_OP_STRINGOF ? "stringof" : heads[e->kind], e, out);
	}
}

static void dump_clause(const struct ray_clause *clause, struct ray_text *out)
{
	for (size_t i = 0; i < clause->spec_count; i++) {
		const struct ray_probe_spec *spec = &clause->specs[i];

		ray_text_add(out, i ? ", " : "");
		if (spec->id)
			ray_text_printf(out, "%u", spec->id);
		else
			ray_text_printf(out, "%s:%s:%s:%s", spec->provider, spec->module, spec->function, spec->name);
	}
	if (clause->predicate) {
		ray_text_add(out, " / ");
		ray_dump_expr(clause->predicate, out);
		ray_text_add(out, " /");
	}
	ray_text_add(out, " {");
	for (size_t i = 0; i < clause->statement_count; i++) {
		ray_text_add(out, " ");
		if (clause->statements[i].expr)
			ray_dump_expr(clause->statements[i].expr, out);
		else
			ray_text_add(out, "default");
	}
	ray_text_add(out, " }\n");
}

static void dump_variables(const struct ray_program *program, struct ray_text *out)
{
	for (int scope = 0; scope <= RAY_SCOPE_INLINE; scope++) {
		for (size_t i = 0; i < program->variables[scope].n; i++) {
			const struct ray_variable *v = program->variables[scope].at[i];

			if (!v->is_declared)
				continue;
			ray_text_printf(out, "%s%s%s:", scope == RAY_SCOPE_INLINE ? "inline " : "",
					scope_prefix((enum ray_scope)scope), v->name);
			for (size_t k = 0; k < v->key_count; k++)
				dump_type(v->keys[k], out);
			ray_text_add(out, v->key_count ? " ->" : "");
			dump_type(v->type, out);
			if (v->body) {
				ray_text_add(out, " = ");
				ray_dump_expr(v->body, out);
			}
			ray_text_add(out, "\n");
		}
	}
}

static void dump_translator(const struct ray_translator *t, struct ray_text *out)
{
	ray_text_add(out, "translator");
	dump_type(t->to, out);
	dump_type(t->from, out);
	ray_text_printf(out, " %s {", t->parameter);
	for (size_t i = 0; i < t->member_count; i++) {
		ray_text_printf(out, " (%s ", t->members[i].name);
		ray_dump_expr(t->members[i].expr, out);
		ray_text_add(out, ")");
	}
	ray_text_add(out, " }\n");
}

void ray_dump_program(const struct ray_program *program, struct ray_text *out)
{
	for (size_t i = 0; i < program->options.n; i++) {
		const struct ray_pragma_option *option = &program->options.at[i];

		ray_text_printf(out, "option %s%s%s\n", option->name, option->value ? "=" : "",
				option->value ? option->value : "");
	}
	dump_variables(program, out);
	for (size_t i = 0; i < program->translators.n; i++)
		dump_translator(program->translators.at[i], out);
	for (size_t i = 0; i < program->clauses.n; i++)
		dump_clause(program->clauses.at[i], out);
}
