/* trace_compile.c - the texts of -n, -s and their like, made one checked program. See trace.h. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "cmd/trace.h"
#include "lang/tree.h"

/* The whole file; it may be a pipe. */
static struct ray_error *read_script(struct ray_trace_call *t, const char *name, const char **text_ret,
				     size_t *length_ret)
{
	ray_auto_file FILE *f = fopen(name, "re");
	ray_auto_text text = { 0 };
	char buffer[4096];
	size_t got;

	if (!f)
		return ray_error_new(RAY_FAILED, "failed to open %s: %s", name, strerror(errno));
	while ((got = fread(buffer, 1, sizeof(buffer), f)) > 0)
		ray_text_add_bytes(&text, buffer, got);
	if (ferror(f))
		return ray_error_new(RAY_FAILED, "failed to read %s: %s", name, strerror(errno));
	ray_text_add_bytes(&text, "", 0);
	if (text.failed || !ray_vec_push(&t->buffers, text.bytes ? text.bytes : strdup("")))
		return &ray_enomem;
	*text_ret = t->buffers.at[t->buffers.n - 1];
	*length_ret = text.length;
	text.bytes = NULL;
	return NULL;
}

/* Blanks as wide as the first column - 1 bytes of the line are on a terminal. */
static void add_padding(const char *line, int column, struct ray_text *out)
{
	for (int i = 0; i < column - 1 && line[i]; i++) {
		if ((line[i] & 0xc0) != 0x80) /* not within a character of UTF-8 */
			ray_text_add(out, line[i] == '\t' ? "\t" : " ");
	}
}

/* Which text it was; and, for a person, where in it. */
static struct ray_error *explain(struct ray_trace_call *t, const struct ray_trace_given *g, struct ray_error *err,
				 const struct ray_diagnostic *d)
{
	bool is_script = g->kind == RAY_TEXT_SCRIPT;
	int column = d->where.column > 0 ? d->where.column : 1;
	ray_auto_text place = { 0 };

	err = ray_error_wrap(err, is_script ? "failed to compile script %s" : "invalid probe specifier %s",
			     g->argument);
	if (t->is_testing || !d->source_line || d->where.line <= 0)
		return err;
	ray_text_printf(&place, "  at %s:%d:%d\n    %s\n    ", d->where.file ? d->where.file : "line", d->where.line,
			column, d->source_line);
	add_padding(d->source_line, column, &place);
	ray_text_add(&place, "^");
	if (!t->macros.target && strstr(d->message, "$target") && strstr(d->message, "ndefined"))
		ray_text_add(&place, "\n  -p PID or -c 'command' says which process that is");
	return ray_error_remedy(err, "%s", ray_text_get(&place));
}

static struct ray_error *pragma_error(const struct ray_trace_call *t, const struct ray_pragma_option *o,
				      struct ray_error *cause)
{
	struct ray_error *err;

	if (o->value)
		err = ray_error_new(RAY_FAILED, "%sline %d: failed to set option '%s' to '%s': %s",
				    t->options.errtags ? "[D_PRAGMA_OPTSET] " : "", o->where.line, o->name, o->value,
				    ray_error_text(cause));
	else
		err = ray_error_new(RAY_FAILED, "%sline %d: failed to set option '%s': %s",
				    t->options.errtags ? "[D_PRAGMA_OPTSET] " : "", o->where.line, o->name,
				    ray_error_text(cause));
	ray_error_free(cause);
	return err;
}

/* Options that the text sets by #pragma; those before `first` were applied with earlier texts. */
static struct ray_error *apply_pragmas(struct ray_trace_call *t, size_t first)
{
	const struct ray_pragma_option *o;
	struct ray_error *err;
	size_t i;

	for (i = first; i < t->program->options.n; i++) {
		o = &t->program->options.at[i];
		err = ray_trace_option_set(&t->options, o->name, o->value, RAY_OPTION_PRAGMA);
		if (err)
			return pragma_error(t, o, err);
	}
	return NULL;
}

/* Only who asks for it with -x tregs is told that a tuple is too long. */
static struct ray_error *check_tuples(const struct ray_trace_call *t)
{
	static const enum ray_scope scopes[] = { RAY_SCOPE_GLOBAL, RAY_SCOPE_THREAD };
	size_t most = 0;

	for (size_t i = 0; i < t->program->aggregations.n; i++)
		if (t->program->aggregations.at[i]->key_count > most)
			most = t->program->aggregations.at[i]->key_count;
	for (size_t s = 0; s < RAY_COUNT(scopes); s++)
		for (size_t i = 0; i < t->program->variables[scopes[s]].n; i++)
			if (t->program->variables[scopes[s]].at[i]->key_count > most)
				most = t->program->variables[scopes[s]].at[i]->key_count;
	if (t->options.tregs && most > (size_t)t->options.tregs)
		return ray_error_new(RAY_FAILED, "Insufficient tuple registers to generate code");
	return NULL;
}

static void options_of(const struct ray_trace_call *t, struct ray_lang_options *ret)
{
	const struct ray_trace_options *o = &t->options;

	*ret = (struct ray_lang_options){
		.error_tags = o->errtags,
		.allow_empty = o->empty,
		.allow_no_match = o->zdefs || t->list,
		.allow_open_end = t->list,
		.knows_default_probe_field = o->pspec,
		.strsize = (uint32_t)o->strsize,
		.scratchsize = o->scratchsize,
		.cpp_command = o->cpp ? o->cpppath : NULL,
		.cpp_arguments = (const char *const *)o->cppargs,
		.cpp_is_traditional = o->stdc == 's',
	};
}

/* A description that speaks of a process's code needs its libraries: they are there at its entry point only. A script that does
 * not sees the child from its first instruction. */
static struct ray_error *advance_children(struct ray_trace_call *t, const struct ray_source *source)
{
	struct ray_error *err = NULL;

	if (t->options.evaltime == RAY_EVALTIME_EXEC)
		return NULL;
	if (t->options.evaltime == RAY_EVALTIME_DEFAULT && !memmem(source->text, source->length, "$target:", 8))
		return NULL;
	for (; !err && t->advanced < t->children.n; t->advanced++)
		err = ray_spawn_run_to_entry(t->children.at[t->advanced]);
	return err;
}

/* -x tree: what has become of the text so far. */
static void show_tree(const struct ray_trace_call *t, const struct ray_trace_given *g, unsigned int pass)
{
	ray_auto_text text = { 0 };

	if (!(t->options.tree & 1u << (pass - 1)))
		return;
	ray_tree_print(t->program, g->first_clause, &text);
	fprintf(stderr, "Parse tree (Pass %u):\n%s", pass, ray_text_get(&text));
}

static struct ray_error *compile_one(struct ray_trace_call *t, struct ray_trace_given *g, struct ray_diagnostic *d)
{
	struct ray_source source = { .kind = g->kind, .text = g->argument, .length = strlen(g->argument) };
	struct ray_lang_options options;
	struct ray_error *err;
	size_t pragmas = t->program->options.n;

	g->first_clause = t->program->clauses.n;
	if (g->kind == RAY_TEXT_SCRIPT) {
		source.file = g->argument;
		source.text = g->text;
		source.length = g->text ? strlen(g->text) : 0;
		err = g->text ? NULL : read_script(t, g->argument, &source.text, &source.length);
		if (err)
			return err;
		t->arguments.at[0] = g->argument;
	}
	err = advance_children(t, &source);
	if (err)
		return err;
	t->macros.arguments = t->arguments.at;
	t->macros.default_arguments = t->options.defaultargs;
	t->macros.allow_unused = t->options.argref;
	options_of(t, &options);
	err = ray_program_parse(t->program, &source, &options, &t->macros, d);
	if (!err)
		err = apply_pragmas(t, pragmas);
	if (!err && t->options.syscalls)
		err = ray_catalogue_limit_syscalls(t->catalogue, t->options.syscalls);
	if (!err)
		show_tree(t, g, 1);
	t->macros.default_arguments = t->options.defaultargs;
	options_of(t, &options);
	if (!err)
		err = ray_program_check(t->program, t->catalogue, &options, &t->macros, d);
	for (unsigned int pass = 2; !err && pass <= 3; pass++)
		show_tree(t, g, pass);
	if (!err)
		err = check_tuples(t);
	g->clause_count = t->program->clauses.n - g->first_clause;
	return err ? explain(t, g, err, d) : NULL;
}

struct ray_error *ray_trace_compile(struct ray_trace_call *t)
{
	struct ray_catalogue_options options = { .pids = t->pids.at,
						 .pid_count = t->pids.n,
						 .only_family = t->only_family,
						 .exact_entry = t->options.exactentry };
	struct ray_diagnostic d = { 0 };
	struct ray_error *err = NULL;
	size_t i;

	err = ray_catalogue_create(&options, &t->catalogue);
	t->macros = (struct ray_macros){ .arguments = t->arguments.at,
					 .argument_count = t->arguments.n,
					 .used = t->argument_used,
					 .target = t->pids.n ? t->pids.at[0] : 0 };
	if (!err)
		err = ray_program_create(&t->macros, &t->program);
	if (!err)
		err = ray_trace_libraries(t);
	/* The reference reads libraries with its first text, and blames that one. */
	if (err && t->given.n && t->options.libdirs)
		err = explain(t, &t->given.at[0], err, &d);
	for (i = 0; !err && i < t->given.n; i++)
		err = compile_one(t, &t->given.at[i], &d);
	ray_diagnostic_deinit(&d);
	return err;
}
