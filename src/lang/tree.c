/* tree.c - see tree.h. SPDX-License-Identifier: MIT */
#include "lang/tree.h"

#include <string.h>

#include "lang/functions.h"

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
	[RAY_OP_NEGATE] = "-",
	[RAY_OP_PLUS] = "+",
	[RAY_OP_INVERT] = "~",
	[RAY_OP_NOT] = "!",
	[RAY_OP_PRE_INC] = "++",
	[RAY_OP_PRE_DEC] = "--",
	[RAY_OP_POST_INC] = "++",
	[RAY_OP_POST_DEC] = "--",
	[RAY_OP_STRINGOF] = "stringof",
};

struct printer {
	const struct ray_program *program;
	struct ray_text *out;
};

static void print(const struct printer *p, const struct ray_expr *e, int depth);

static void begin(const struct printer *p, int depth, const char *what)
{
	ray_text_printf(p->out, "%*s%s", depth * 2, "", what);
}

/* (type=<...> flags=...) ends a node's line. */
static void end(const struct printer *p, const struct ray_expr *e)
{
	char flags[64] = "";

	if (e->type && ray_type_is_integer(e->type) && ray_type_is_signed(e->type))
		strcat(flags, ",SIGN");
	if (e->type)
		strcat(flags, ",COOK");
	if (e->type && ray_type_is_by_reference(e->type))
		strcat(flags, ",REF");
	if (e->bit_width)
		strcat(flags, ",BITF");
	if (e->is_alloca)
		strcat(flags, ",ALLOCA");
	if (e->kind == RAY_EXPR_STRING)
		strcat(flags, ",DPTR");
	ray_text_add(p->out, " (type=<");
	if (e->type)
		ray_type_print(e->type, p->out);
	ray_text_printf(p->out, "> flags=%s)\n", *flags ? flags + 1 : "0");
}

static void print_list(const struct printer *p, struct ray_expr *const *list, size_t count, int depth)
{
	for (size_t i = 0; i < count; i++) {
		if (i) {
			begin(p, depth - 1, ",\n");
		}
		print(p, list[i], depth);
	}
}

static const char *scope_prefix(enum ray_scope scope)
{
	return scope == RAY_SCOPE_THREAD ? "self->" : scope == RAY_SCOPE_CLAUSE ? "this->" : "";
}

static void print_variable(const struct printer *p, const struct ray_expr *e, int depth)
{
	const struct ray_variable *v = e->variable;
	const char *how = v->holds_alloca ? "(alloca-assigned) " : v->is_written ? "(normally-assigned) " : "";

	begin(p, depth, "VARIABLE ");
	ray_text_printf(p->out, "%s%s%s", how, scope_prefix(v->scope), v->name);
	end(p, e);
	if (e->kind == RAY_EXPR_ELEMENT) {
		begin(p, depth, "[\n");
		print_list(p, e->args, e->arg_count, depth + 1);
		begin(p, depth, "]\n");
	}
}

static void print_call(const struct printer *p, const struct ray_expr *e, int depth)
{
	begin(p, depth, "FUNC ");
	ray_text_add(p->out, e->function ? e->function->name : e->text);
	end(p, e);
	print_list(p, e->args, e->arg_count, depth + 1);
	/* What is left out stands for the longest string. */
	if (e->function && e->function->id == RAY_FN_COPYINSTR && e->arg_count == 1) {
		begin(p, depth, ",\n");
		begin(p, depth + 1, "INT ");
		ray_text_printf(p->out, "0x%llx (type=<size_t> flags=COOK)\n",
				(unsigned long long)ray_type_basic(p->program->types, RAY_BASIC_STRING)->size - 1);
	}
}

static void print_string(const struct printer *p, const struct ray_expr *e, int depth)
{
	begin(p, depth, "STRING \"");
	ray_text_add_safe(p->out, e->text, e->length);
	ray_text_add(p->out, "\"");
	end(p, e);
}

/* Up to two operands, of a node that is an operator or is shown like one. */
static void print_operator(const struct printer *p, const struct ray_expr *e, const char *op, const char *more,
			   int depth)
{
	begin(p, depth, e->b || e->cast_type ? "OP2 " : "OP1 ");
	ray_text_printf(p->out, "%s%s", op, more);
	end(p, e);
	if (e->cast_type) {
		begin(p, depth + 1, "TYPE (type=<");
		ray_type_print(e->cast_type, p->out);
		ray_text_add(p->out, ">)\n");
	}
	if (e->a)
		print(p, e->a, depth + 1);
	if (e->b)
		print(p, e->b, depth + 1);
	if (e->text)
		ray_text_printf(p->out, "%*sIDENT %s\n", (depth + 1) * 2, "", e->text);
	print_list(p, e->args, e->arg_count, depth + 1);
}

/* Asked for, or put in by the checker: C's conversions. */
static void print_cast(const struct printer *p, const struct ray_expr *e, int depth)
{
	begin(p, depth, "CAST ");
	ray_type_print(e->cast_type ? e->cast_type : e->type, p->out);
	end(p, e);
	print(p, e->a, depth + 1);
}

static void print_choice(const struct printer *p, const struct ray_expr *e, int depth)
{
	begin(p, depth, "OP3");
	end(p, e);
	print(p, e->a, depth + 1);
	begin(p, depth, "?\n");
	print(p, e->b, depth + 1);
	begin(p, depth, ":\n");
	print(p, e->c, depth + 1);
}

static void print_named(const struct printer *p, const struct ray_expr *e, const char *what, const char *name,
			int depth)
{
	begin(p, depth, what);
	ray_text_add(p->out, name);
	end(p, e);
	print_list(p, e->args, e->arg_count, depth + 1);
}

static const char *operator_name(const struct ray_expr *e)
{
	switch (e->kind) {
	case RAY_EXPR_COMMA:
		return ",";
	case RAY_EXPR_DEREF:
		return "*";
	case RAY_EXPR_ADDRESS:
		return "&";
	case RAY_EXPR_ARROW:
		return "->";
	case RAY_EXPR_DOT:
	case RAY_EXPR_MEMBER:
		return ".";
	case RAY_EXPR_INDEX:
		return "[";
	case RAY_EXPR_SIZEOF:
		return "sizeof";
	case RAY_EXPR_OFFSETOF:
		return "offsetof";
	case RAY_EXPR_XLATE:
		return "xlate";
	default:
		return ops[e->op];
	}
}

static void print(const struct printer *p, const struct ray_expr *e, int depth)
{
	switch (e->kind) {
	case RAY_EXPR_INTEGER:
		begin(p, depth, "INT ");
		ray_text_printf(p->out, "0x%llx", (unsigned long long)e->value);
		end(p, e);
		break;
	case RAY_EXPR_ARG:
		begin(p, depth, "VARIABLE ");
		ray_text_printf(p->out, "args[%llu]", (unsigned long long)e->value);
		end(p, e);
		break;
	case RAY_EXPR_STRING:
		print_string(p, e, depth);
		break;
	case RAY_EXPR_VARIABLE:
	case RAY_EXPR_ELEMENT:
		print_variable(p, e, depth);
		break;
	case RAY_EXPR_CALL:
		print_call(p, e, depth);
		break;
	case RAY_EXPR_CAST:
		if (e->op == RAY_OP_STRINGOF)
			print_operator(p, e, "stringof", "", depth);
		else
			print_cast(p, e, depth);
		break;
	case RAY_EXPR_COND:
		print_choice(p, e, depth);
		break;
	case RAY_EXPR_NAME:
		print_named(p, e, e->scope == RAY_SCOPE_GLOBAL ? "IDENT " : scope_prefix(e->scope), e->text, depth);
		break;
	case RAY_EXPR_SYMBOL:
		print_named(p, e, "SYMBOL ", e->text, depth);
		break;
	case RAY_EXPR_AGGREGATION:
		print_named(p, e, "AGGREGATION @", e->text ? e->text : e->aggregation->name, depth);
		break;
	default:
		print_operator(p, e, operator_name(e), e->kind == RAY_EXPR_ASSIGN ? "=" : "", depth);
	}
}

static void print_statement(const struct printer *p, const struct ray_statement *s, int depth)
{
	switch (s->kind) {
	case RAY_STATEMENT_EXPR:
		begin(p, depth, "D EXPRESSION\n");
		print(p, s->expr, depth + 1);
		break;
	case RAY_STATEMENT_ACTION:
		begin(p, depth, "D PRODUCER\n");
		begin(p, depth + 1, "FUNC ");
		ray_text_printf(p->out, "%s\n", s->function->name);
		print_list(p, s->args, s->arg_count, depth + 2);
		break;
	case RAY_STATEMENT_AGGREGATE:
		begin(p, depth, "AGGREGATE @");
		ray_text_printf(p->out, "%s [\n", s->aggregation->name);
		print_list(p, s->keys, s->key_count, depth + 1);
		begin(p, depth, "]\n");
		begin(p, depth, "=\n");
		begin(p, depth + 1, "FUNC ");
		ray_text_printf(p->out, "%s\n", s->function->name);
		print_list(p, s->args, s->arg_count, depth + 2);
		break;
	case RAY_STATEMENT_DEFAULT:
		break;
	}
}

static void print_clause(const struct printer *p, const struct ray_clause *clause, int depth)
{
	begin(p, depth, "CLAUSE\n");
	for (size_t i = 0; i < clause->spec_count; i++) {
		const struct ray_probe_spec *spec = &clause->specs[i];

		begin(p, depth + 1, "PDESC ");
		ray_text_printf(p->out, "%s:%s:%s:%s [%u]\n", spec->provider, spec->module, spec->function, spec->name,
				spec->id);
	}
	begin(p, depth, "CTXATTR\n");
	if (clause->predicate) {
		begin(p, depth, "PREDICATE /\n");
		print(p, clause->predicate, depth + 1);
		begin(p, depth, "/\n");
	}
	begin(p, depth, "ACTION\n");
	for (size_t i = 0; i < clause->statement_count; i++)
		print_statement(p, &clause->statements[i], depth + 1);
}

void ray_tree_print(const struct ray_program *program, size_t first, struct ray_text *out)
{
	const struct printer p = { program, out };

	begin(&p, 1, "PROGRAM\n");
	for (size_t i = first; i < program->clauses.n; i++)
		print_clause(&p, program->clauses.at[i], 2);
}
