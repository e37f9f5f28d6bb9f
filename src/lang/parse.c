/* parse.c - clauses and what else a program consists of.
 * SPDX-License-Identifier: MIT */
#include "lang/parse.h"

#include <string.h>

#include "lang/decl.h"

enum { MAX_DEPTH = 1200 }; /* of the parser's own calls: some three to a level of the source */

bool ray_parse_advance(struct ray_parser *p)
{
	return ray_lex_next(&p->lex, &p->token);
}

bool ray_parse_syntax_error(struct ray_parser *p)
{
	return ray_lex_fail_syntax(&p->lex, &p->token);
}

bool ray_parse_expect(struct ray_parser *p, int kind)
{
	return (int)p->token.kind == kind ? ray_parse_advance(p) : ray_parse_syntax_error(p);
}

bool ray_parse_enter(struct ray_parser *p)
{
	return ++p->depth <= MAX_DEPTH || ray_parse_fail(p, "D_SYNTAX", "expression is nested too deeply");
}

void ray_parse_leave(struct ray_parser *p)
{
	p->depth--;
}

static bool is_end_of_body(const struct ray_parser *p)
{
	return p->token.kind == '}' || (p->token.kind == RAY_TOKEN_END && p->options.allow_open_end);
}

static bool parse_statements(struct ray_parser *p, struct ray_clause *clause)
{
	RAY_VEC(struct ray_statement) statements = { 0 };
	bool is_ok = true;

	while (is_ok && !is_end_of_body(p)) {
		if (p->token.kind != ';') {
			struct ray_expr *e = ray_parse_expression(p);

			is_ok = e != NULL;
			if (is_ok) {
				struct ray_statement s = { .kind = RAY_STATEMENT_EXPR,
							   .expr = e,
							   .where = ray_parse_where(p, e->where) };

				is_ok = ray_vec_push(&statements, s) || ray_lex_no_memory(&p->lex);
			}
			if (is_ok && is_end_of_body(p))
				break;
		}
		is_ok = is_ok && ray_parse_expect(p, ';');
	}
	if (is_ok && statements.n) {
		clause->statements = ray_arena_alloc(p->program->arena, statements.n * sizeof(struct ray_statement));
		is_ok = clause->statements || ray_lex_no_memory(&p->lex);
	}
	if (is_ok && statements.n) {
		memcpy(clause->statements, statements.at, statements.n * sizeof(struct ray_statement));
		clause->statement_count = statements.n;
	}
	ray_vec_free(&statements);
	return is_ok;
}

/* From the brace on. What follows the closing one is outside of clauses again. */
static bool parse_body(struct ray_parser *p, struct ray_clause *clause)
{
	p->lex.mode = RAY_LEX_EXPRESSIONS;
	if (!ray_parse_advance(p) || !parse_statements(p, clause))
		return false;
	p->lex.mode = RAY_LEX_PROBES;
	return ray_parse_advance(p);
}

static bool parse_descriptions(struct ray_parser *p, struct ray_clause *clause)
{
	RAY_VEC(struct ray_probe_spec) specs = { 0 };
	RAY_VEC(struct ray_where) wheres = { 0 };
	bool is_ok;

	for (;;) {
		struct ray_probe_spec spec = { 0 };

		is_ok = ray_parse_description(p, &spec) &&
			((ray_vec_push(&specs, spec) && ray_vec_push(&wheres, p->token.where)) ||
			 ray_lex_no_memory(&p->lex)) &&
			ray_parse_advance(p);
		if (!is_ok || p->token.kind != ',')
			break;
		is_ok = ray_parse_advance(p);
		if (!is_ok)
			break;
	}
	if (is_ok) {
		clause->specs = ray_arena_alloc(p->program->arena, specs.n * sizeof(struct ray_probe_spec));
		clause->spec_wheres = ray_arena_alloc(p->program->arena, specs.n * sizeof(struct ray_where));
		is_ok = (clause->specs && clause->spec_wheres) || ray_lex_no_memory(&p->lex);
	}
	if (is_ok) {
		memcpy(clause->specs, specs.at, specs.n * sizeof(struct ray_probe_spec));
		memcpy(clause->spec_wheres, wheres.at, wheres.n * sizeof(struct ray_where));
		clause->spec_count = specs.n;
		clause->where = clause->spec_wheres[0];
	}
	ray_vec_free(&specs);
	ray_vec_free(&wheres);
	return is_ok;
}

static bool parse_predicate(struct ray_parser *p, struct ray_clause *clause)
{
	p->lex.mode = RAY_LEX_EXPRESSIONS;
	if (!ray_parse_advance(p))
		return false;
	clause->predicate = ray_parse_expression(p);
	if (!clause->predicate)
		return false;
	if (p->token.kind != RAY_TOKEN_END_PREDICATE)
		return ray_parse_syntax_error(p);
	if (!ray_parse_advance(p))
		return false;
	return p->token.kind == '{' || ray_lex_fail(&p->lex, &clause->predicate->where, "D_SYNTAX",
						    "expected actions { } following probe description and predicate");
}

/* descriptions [/ predicate /] [{ statements }]; arguments like -n need no body. */
static bool parse_clause(struct ray_parser *p)
{
	struct ray_clause *clause = ray_arena_alloc(p->program->arena, sizeof(*clause));

	if (!clause)
		return ray_lex_no_memory(&p->lex);
	if (!parse_descriptions(p, clause))
		return false;
	if (p->token.kind == '/') {
		if (!parse_predicate(p, clause))
			return false;
	}
	if (p->token.kind == '{') {
		if (!parse_body(p, clause))
			return false;
	} else if (p->is_file) {
		return ray_lex_fail(&p->lex, &clause->where, "D_SYNTAX",
				    "expected predicate and/or actions following probe description");
	}
	if (!clause->statement_count) {
		clause->statements = ray_arena_alloc(p->program->arena, sizeof(struct ray_statement));
		if (!clause->statements)
			return ray_lex_no_memory(&p->lex);
		clause->statements[0] = (struct ray_statement){ .kind = RAY_STATEMENT_DEFAULT, .where = clause->where };
		clause->statement_count = 1;
	}
	p->definitions++;
	clause->index = (uint32_t)p->program->clauses.n;
	return ray_vec_push(&p->program->clauses, clause) || ray_lex_no_memory(&p->lex);
}

bool ray_parse_program(struct ray_parser *p)
{
	p->lex.mode = RAY_LEX_PROBES;
	if (!ray_parse_advance(p))
		return false;
	while (p->token.kind != RAY_TOKEN_END) {
		bool is_clause = p->token.kind == RAY_TOKEN_PROBE || p->token.kind == RAY_TOKEN_INTEGER;

		if (is_clause ? !parse_clause(p) : !ray_decl_external(p))
			return false;
	}
	return true;
}
