/* check.c - the checker: from a parsed program to one that the engine can take.
 * SPDX-License-Identifier: MIT
 *
 * Works through definitions, then clause by clause: descriptions are matched, statements and predicate get their types,
 * then come the rules about what actions may follow what. The first error ends it. */
#include "lang/check.h"

#include <stdarg.h>
#include <string.h>

void *ray_check_fail(struct ray_check *c, const struct ray_where *where, const char *tag, const char *fmt, ...)
{
	ray_auto_memory char *message = NULL;
	va_list args;
	int n;

	if (c->error)
		return NULL;
	va_start(args, fmt);
	n = vasprintf(&message, fmt, args);
	va_end(args);
	if (n < 0) {
		message = NULL;
		return ray_check_nomem(c);
	}
	c->tag = ray_arena_strdup(c->arena, tag);
	c->error = ray_diagnose_text(c->options, c->diagnostic, where, c->region, tag, message);
	return NULL;
}

void *ray_check_nomem(struct ray_check *c)
{
	if (!c->error)
		c->error = &ray_enomem;
	return NULL;
}

static void forget_error(struct ray_check *c)
{
	ray_error_free(ray_take(c->error));
	if (c->diagnostic)
		ray_diagnostic_deinit(c->diagnostic);
	c->tag = NULL;
}

static bool match_spec(struct ray_check *c, struct ray_clause *clause, size_t index)
{
	struct ray_probe_spec *spec = &clause->specs[index];
	const struct ray_where *where = clause->spec_wheres ? &clause->spec_wheres[index] : &clause->where;
	size_t before = clause->probes.n;
	ray_probe_list list = { clause->probes.at, clause->probes.n, clause->probes.cap };
	struct ray_error *err = ray_catalogue_match(c->catalogue, spec, &list);

	clause->probes.at = list.at;
	clause->probes.n = list.n;
	clause->probes.cap = list.cap;
	if (err) {
		const char *remedy = ray_error_remedy_text(err);

		ray_check_fail(c, where, "D_PDESC_INVAL", "%s%s%s", ray_error_text(err), *remedy ? "; try: " : "",
			       remedy);
		ray_error_free(err);
		return false;
	}
	if (list.n == before && !c->options->allow_no_match) {
		if (spec->id)
			ray_check_fail(c, where, "D_PDESC_INVAL",
				       "invalid probe identifier %u: No probe matches description", spec->id);
		else
			ray_check_fail(c, where, "D_PDESC_ZERO",
				       "probe description %s:%s:%s:%s does not match any probes", spec->provider,
				       spec->module, spec->function, spec->name);
		return false;
	}
	return true;
}

static bool check_statements(struct ray_check *c, struct ray_clause *clause)
{
	c->region = "action list";
	for (size_t i = 0; i < clause->statement_count; i++) {
		if (!ray_check_statement(c, &clause->statements[i]))
			return false;
	}
	c->region = NULL;
	return true;
}

static bool check_predicate(struct ray_check *c, struct ray_clause *clause)
{
	if (!clause->predicate)
		return true;
	c->region = "predicate";
	clause->predicate = ray_check_expr(c, clause->predicate, RAY_USE_READ);
	if (!clause->predicate)
		return false;
	if (!ray_check_is_scalar(clause->predicate)) {
		ray_check_fail(c, &clause->predicate->where, "D_PRED_SCALAR",
			       "predicate result must be of scalar type");
		return false;
	}
	c->region = NULL;
	return true;
}

/* What was checked halfway cannot be checked again. */
struct ray_statement *ray_check_copy_statements(struct ray_check *c, const struct ray_clause *clause)
{
	struct ray_arena *arena = c->program->arena;
	struct ray_statement *copy = ray_arena_alloc(arena, clause->statement_count * sizeof(*copy));

	for (size_t i = 0; copy && i < clause->statement_count; i++) {
		copy[i] = clause->statements[i];
		copy[i].expr = ray_expr_clone(arena, copy[i].expr, NULL, 0);
		if (clause->statements[i].expr && !copy[i].expr)
			return NULL;
	}
	return copy;
}

/* Statements first, as they make most variables; the predicate first if they need one that it makes. */
static bool check_types(struct ray_check *c, struct ray_clause *clause)
{
	struct ray_statement *copy = clause->predicate ? ray_check_copy_statements(c, clause) : NULL;

	if (check_statements(c, clause))
		return check_predicate(c, clause);
	if (copy)
		clause->statements = copy;
	if (!clause->predicate || !c->tag ||
	    (strcmp(c->tag, "D_IDENT_UNDEF") && strcmp(c->tag, "D_VAR_UNDEF") && strcmp(c->tag, "D_ARR_LOCAL")))
		return false;
	forget_error(c);
	return check_predicate(c, clause) && check_statements(c, clause);
}

static bool check_effects(struct ray_check *c, struct ray_clause *clause)
{
	struct ray_clause_state state = { 0 };
	size_t others = 0;

	for (size_t i = 0; i < clause->statement_count; i++) {
		struct ray_statement *s = &clause->statements[i];

		if (!ray_check_effects(c, s, &state))
			return false;
		if (s->kind == RAY_STATEMENT_ACTION && s->function->is_destructive)
			clause->is_destructive = c->program->is_destructive = true;
		others += s->kind == RAY_STATEMENT_ACTION && s->function->id != RAY_FN_SPECULATE;
	}
	clause->is_speculative = state.has_speculate;
	clause->is_recording = state.has_record || (state.has_speculate && !others);
	return true;
}

static bool check_clause(struct ray_check *c, struct ray_clause *clause)
{
	bool is_fine = true;

	if (clause->is_checked)
		return true;
	for (size_t i = 0; is_fine && i < clause->spec_count; i++)
		is_fine = match_spec(c, clause, i);
	c->clause = clause;
	is_fine = is_fine && check_types(c, clause) && check_effects(c, clause);
	c->clause = NULL;
	c->region = NULL;
	clause->is_checked = is_fine;
	return is_fine;
}

/* A variable of which nothing more than its name ever became known was only looked at in vain. */
static void drop_untyped(struct ray_check *c)
{
	for (int scope = RAY_SCOPE_GLOBAL; scope <= RAY_SCOPE_CLAUSE; scope++) {
		for (size_t i = 0; i < c->program->variables[scope].n; i++) {
			struct ray_variable *v = c->program->variables[scope].at[i];

			if (!v->type)
				v->type = ray_type_typedef(c->types, "int64_t");
		}
	}
}

struct ray_error *ray_program_check(struct ray_program *program, struct ray_catalogue *catalogue,
				    const struct ray_lang_options *options, const struct ray_macros *macros,
				    struct ray_diagnostic *diagnostic)
{
	struct ray_check c = {
		.program = program,
		.arena = program->arena,
		.types = program->types,
		.catalogue = catalogue,
		.options = options,
		.macros = macros,
		.diagnostic = diagnostic,
		.inlines_known = SIZE_MAX,
	};
	bool is_fine;

	if (options->strsize)
		ray_types_set_strsize(program->types, options->strsize);
	is_fine = ray_check_inlines(&c) && ray_check_translators(&c);
	for (size_t i = 0; is_fine && i < program->clauses.n; i++)
		is_fine = ray_check_split(&c, i) && check_clause(&c, program->clauses.at[i]);
	drop_untyped(&c);
	return c.error;
}
