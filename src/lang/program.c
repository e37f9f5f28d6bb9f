/* program.c - a program's life, and the parsing of one text into it. SPDX-License-Identifier: MIT */
#include <string.h>

#include "lang/cpp.h"
#include "lang/decl.h"
#include "lang/diagnose.h"

struct ray_error *ray_program_create(const struct ray_macros *macros, struct ray_program **ret)
{
	ray_auto(ray_program, program) = calloc(1, sizeof(*program));
	struct ray_error *err;

	(void)macros;
	if (!program)
		return &ray_enomem;
	program->arena = ray_arena_create();
	if (!program->arena)
		return &ray_enomem;
	program->declared = ray_arena_alloc(program->arena, sizeof(*program->declared));
	if (!program->declared)
		return &ray_enomem;
	program->declared->globals = program->declared->threads = program->declared->clauses =
		program->declared->externs = program->declared->constants = ray_names_in(program->arena);
	err = ray_types_create(program->arena, &program->types);
	if (err)
		return err;
	*ret = ray_take(program);
	return NULL;
}

void ray_program_free(struct ray_program *program)
{
	if (!program)
		return;
	ray_types_free(program->types);
	for (size_t i = 0; i < program->clauses.n; i++)
		ray_vec_free(&program->clauses.at[i]->probes);
	ray_vec_free(&program->clauses);
	for (size_t i = 0; i < RAY_COUNT(program->variables); i++)
		ray_vec_free(&program->variables[i]);
	ray_vec_free(&program->aggregations);
	ray_vec_free(&program->translators);
	ray_vec_free(&program->providers);
	ray_vec_free(&program->externs);
	ray_vec_free(&program->options);
	ray_arena_free(program->arena);
	free(program);
}

static bool is_variable(void *arg, const char *name)
{
	return ray_decl_is_global(arg, name, NULL);
}

static bool is_type(void *arg, const char *name)
{
	struct ray_parser *p = arg;

	return ray_type_typedef(p->program->types, name) != NULL;
}

/* What is wrong with the text as a whole has a line, as in the reference, but no place in it. */
static bool check_end(struct ray_parser *p)
{
	const struct ray_macros *macros = &p->macros;
	size_t last = macros->argument_count - 1;

	p->token.where.source = NULL;
	if (!ray_pragma_finish(p))
		return false;
	if (macros->argument_count > 1 && !macros->allow_unused && !p->lex.used[last])
		return ray_parse_fail(p, "D_MACRO_UNUSED", "extraneous argument '%s' ($%zu is not referenced)",
				      macros->arguments[last], last);
	return p->definitions || p->options.allow_empty ||
	       ray_parse_fail(p, "D_EMPTY", "empty D program translation unit");
}

/* The text as it will be parsed, in the arena: positions point into it. */
static struct ray_error *copy_text(struct ray_program *program, const struct ray_source *source,
				   const struct ray_lang_options *options, const char **text, size_t *length)
{
	ray_auto_text processed = { 0 };
	struct ray_error *err = NULL;

	*length = source->length;
	if (source->file && options && options->cpp_command) {
		err = ray_cpp_run(options->cpp_command, options->cpp_is_traditional, options->cpp_arguments,
				  source->text, source->length, &processed);
		*length = processed.length;
	}
	if (err)
		return err;
	*text = ray_arena_copy(program->arena, processed.bytes ? processed.bytes : source->text, *length);
	return *text ? NULL : &ray_enomem;
}

static bool *prepare_used(struct ray_program *program, const struct ray_macros *macros)
{
	if (macros->used)
		return macros->used;
	return ray_arena_alloc(program->arena, macros->argument_count + 1);
}

struct ray_error *ray_program_parse(struct ray_program *program, const struct ray_source *source,
				    const struct ray_lang_options *options, const struct ray_macros *macros,
				    struct ray_diagnostic *diagnostic)
{
	struct ray_parser p = { .program = program,
				.kind = source->kind,
				.is_file = source->file != NULL,
				.is_library = source->is_library };
	struct ray_error *err;
	const char *text;
	size_t length;

	if (options)
		p.options = *options;
	if (macros)
		p.macros = *macros;
	p.file = source->file ? ray_arena_strdup(program->arena, source->file) : NULL;
	p.lex = (struct ray_lexer){ .arena = program->arena,
				    .options = &p.options,
				    .macros = &p.macros,
				    .diagnostic = diagnostic,
				    .calls = { is_variable, is_type, ray_pragma_run, &p },
				    .file = p.file,
				    .is_included = source->is_library, /* messages name it */
				    .used = prepare_used(program, &p.macros) };
	if ((source->file && !p.file) || !p.lex.used)
		return &ray_enomem;
	err = copy_text(program, source, options, &text, &length);
	if (err)
		return err;
	ray_lex_start(&p.lex, text, length);
	if (ray_parse_program(&p) && check_end(&p))
		return NULL;
	return p.lex.error;
}

bool ray_clause_is_off(const struct ray_clause *clause)
{
	return clause->predicate && clause->predicate->kind == RAY_EXPR_INTEGER && !clause->predicate->value;
}
