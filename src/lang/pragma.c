/* pragma.c - control lines: #pragma D, #line and what cpp leaves behind.
 * SPDX-License-Identifier: MIT
 *
 * Options are collected for the caller; only those that change how the text itself is read are taken here. */
#include <string.h>
#include <strings.h>

#include "lang/decl.h"

/* ---- splitting ---- */

static bool is_blank(char c)
{
	return c && strchr("\f\t\v\r ", c);
}

static bool read_word(struct ray_lexer *l, struct ray_token *t)
{
	size_t length = strcspn(l->at, "\f\n\t\v\r \""), integer = ray_lex_integer_length(l->at);

	if (integer && integer >= length)
		return ray_lex_number(l, t, l->at + integer);
	t->kind = RAY_TOKEN_NAME;
	t->text = ray_arena_copy(l->arena, l->at, length);
	if (!t->text)
		return ray_lex_no_memory(l);
	l->at += length;
	return true;
}

bool ray_lex_control_line(struct ray_lexer *l)
{
	RAY_VEC(struct ray_token) tokens = { 0 };
	struct ray_where where = ray_lex_where(l, l->at);
	bool is_ok = true;

	l->at++;
	while (is_ok && l->at < l->end && *l->at != '\n') {
		struct ray_token t = { .where = ray_lex_where(l, l->at) };

		if (is_blank(*l->at) || !*l->at) {
			l->at++;
			continue;
		}
		is_ok = *l->at == '"' ? ray_lex_string(l, &t) : read_word(l, &t);
		t.where = where;
		is_ok = is_ok && (ray_vec_push(&tokens, t) || ray_lex_no_memory(l));
	}
	if (is_ok && l->at >= l->end) {
		where = ray_lex_where(l, l->at);
		is_ok = ray_lex_fail(l, &where, "D_SYNTAX", "end-of-file encountered before end of control line");
	}
	if (is_ok) {
		l->at++;
		l->line++;
		l->line_start = l->at;
		is_ok = !tokens.n || l->calls.run_control_line(l->calls.arg, tokens.at, tokens.n);
	}
	ray_vec_free(&tokens);
	return is_ok;
}

/* ---- the directives ---- */

struct arguments {
	const struct ray_token *tokens;
	size_t count;
	const struct ray_where *where;
};

static bool is_word(const struct arguments *a, size_t i)
{
	return i < a->count && a->tokens[i].kind == RAY_TOKEN_NAME;
}

#define fail(p, a, tag, ...) ray_lex_fail(&(p)->lex, (a)->where, tag, __VA_ARGS__)

/* A pragma for a name may come before the name's declaration. */
static bool apply_to_name(struct ray_parser *p, const struct arguments *a, const char *pragma, const char *name)
{
	bool is_declared = ray_names_find(&p->program->declared->globals, name);
	struct ray_pending_pragma *pending;

	if (is_declared)
		return true;
	if (ray_decl_is_global(p, name, NULL))
		return fail(p, a, "D_PRAGMA_SCOPE", "#pragma %s cannot modify entity defined outside program scope",
			    pragma);
	pending = ray_arena_alloc(p->program->arena, sizeof(*pending));
	if (!pending)
		return ray_lex_no_memory(&p->lex);
	*pending =
		(struct ray_pending_pragma){ .next = p->pending, .pragma = pragma, .name = name, .where = *a->where };
	p->pending = pending;
	return true;
}

void ray_pragma_declared(struct ray_parser *p, const char *name)
{
	for (struct ray_pending_pragma *q = p->pending; q; q = q->next) {
		if (!strcmp(q->name, name))
			q->is_used = true;
	}
}

bool ray_pragma_finish(struct ray_parser *p)
{
	const struct ray_pending_pragma *first = NULL;

	for (const struct ray_pending_pragma *q = p->pending; q; q = q->next) {
		if (!q->is_used)
			first = q;
	}
	return !first || ray_lex_fail(&p->lex, &first->where, "D_PRAGMA_UNUSED", "unused #pragma %s", first->pragma);
}

static bool is_one_of(const char *word, size_t length, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(names[i]) == length && !strncasecmp(names[i], word, length))
			return true;
	}
	return false;
}

/* Stability/Stability/Class; the end may be left out. */
static bool are_attributes(const char *text)
{
	static const char *const stabilities[] = { "Internal", "Private",  "Obsolete", "External",
						   "Unstable", "Evolving", "Stable",   "Standard" };
	static const char *const classes[] = { "Unknown", "CPU", "Platform", "Group", "ISA", "Common" };

	for (int part = 0;; part++) {
		size_t length = strcspn(text, "/");

		if (part > 2 || !(part < 2 ? is_one_of(text, length, stabilities, RAY_COUNT(stabilities)) :
					     is_one_of(text, length, classes, RAY_COUNT(classes))))
			return false;
		if (!text[length])
			return true;
		text += length + 1;
	}
}

static bool run_attributes(struct ray_parser *p, const struct arguments *a)
{
	if (!is_word(a, 0) || !is_word(a, 1))
		return fail(p, a, "D_PRAGMA_MALFORM", "malformed #pragma attributes <attributes> <ident>");
	if (!are_attributes(a->tokens[0].text))
		return fail(p, a, "D_PRAGMA_INVAL", "invalid attributes specified by #pragma attributes");
	if (!strcmp(a->tokens[1].text, "provider")) {
		if (!is_word(a, 2) || !is_word(a, 3))
			return fail(p, a, "D_PRAGMA_MALFORM", "malformed #pragma attributes <attributes> <ident>");
		return true; /* providers say themselves how stable they are */
	}
	return apply_to_name(p, a, "attributes", a->tokens[1].text);
}

static bool is_version(const char *text)
{
	unsigned int parts[3] = { 0 }, i = 0;

	for (; *text; text++) {
		if (*text >= '0' && *text <= '9' && parts[i] < 100000)
			parts[i] = parts[i] * 10 + (unsigned int)(*text - '0');
		else if (*text != '.' || ++i >= RAY_COUNT(parts))
			return false;
	}
	return parts[0] <= 255 && parts[1] <= 4095 && parts[2] <= 4095;
}

static bool run_binding(struct ray_parser *p, const struct arguments *a)
{
	if (!a->count || a->tokens[0].kind != RAY_TOKEN_STRING || !is_word(a, 1))
		return fail(p, a, "D_PRAGMA_MALFORM", "malformed #pragma binding \"version\" <ident>");
	if (!is_version(a->tokens[0].text))
		return fail(p, a, "D_PRAGMA_INVAL", "invalid version string specified by #pragma binding");
	return apply_to_name(p, a, "binding", a->tokens[1].text);
}

/* Whether a provider exists is known only when probes are looked for: a missing one is found out there. */
static bool run_depends_on(struct ray_parser *p, const struct arguments *a)
{
	if (!is_word(a, 0) || !is_word(a, 1))
		return fail(p, a, "D_PRAGMA_MALFORM", "malformed #pragma depends_on <class> <name>");
	/* Whoever gives us a library has seen to those it needs. */
	if (!strcmp(a->tokens[0].text, "library") && p->is_library)
		return true;
	if (!strcmp(a->tokens[0].text, "library"))
		return fail(p, a, "D_PRAGMA_DEPEND", "main program may not explicitly depend on a library");
	if (strcmp(a->tokens[0].text, "provider") && strcmp(a->tokens[0].text, "module"))
		return fail(p, a, "D_PRAGMA_INVAL", "invalid class %s specified by #pragma depends_on",
			    a->tokens[0].text);
	return true;
}

static bool run_error(struct ray_parser *p, const struct arguments *a)
{
	ray_auto_text text = { 0 };

	for (size_t i = 0; i < a->count; i++) {
		if (a->tokens[i].text)
			ray_text_printf(&text, "%s ", a->tokens[i].text);
	}
	return fail(p, a, "D_PRAGERR", "#error: %s", ray_text_get(&text));
}

static bool run_ident(struct ray_parser *p, const struct arguments *a)
{
	(void)p;
	(void)a;
	return true;
}

/* Some options change how the rest of this text is read. */
static void take_option(struct ray_parser *p, const char *name, const char *value)
{
	unsigned int major, minor = 0, micro = 0;

	if (!strcmp(name, "version") && value && sscanf(value, "%3u.%3u.%3u", &major, &minor, &micro) > 0)
		p->version = major << 16 | minor << 8 | micro;
	if (!strcmp(name, "defaultargs"))
		p->macros.default_arguments = true;
	else if (!strcmp(name, "argref"))
		p->macros.allow_unused = true;
	else if (!strcmp(name, "empty"))
		p->options.allow_empty = true;
	else if (!strcmp(name, "pspec"))
		p->options.knows_default_probe_field = true;
	else if (!strcmp(name, "errtags"))
		p->options.error_tags = true;
}

static bool run_option(struct ray_parser *p, const struct arguments *a)
{
	struct ray_pragma_option option = { .where = *a->where };
	char *name, *equals;

	if (!is_word(a, 0))
		return fail(p, a, "D_PRAGMA_MALFORM", "malformed #pragma option <option>=<val>");
	if (a->count > 1)
		return fail(p, a, "D_PRAGMA_MALFORM", "superfluous arguments specified for #pragma option");
	name = ray_arena_strdup(p->program->arena, a->tokens[0].text);
	if (!name)
		return ray_lex_no_memory(&p->lex);
	equals = strchr(name, '=');
	if (equals) {
		*equals = '\0';
		option.value = equals + 1;
	}
	option.name = name;
	take_option(p, name, option.value);
	return ray_vec_push(&p->program->options, option) || ray_lex_no_memory(&p->lex);
}

/* # 12 "file" 1: the next line is that one. cpp was given the text itself as /dev/stdin. */
static bool run_line(struct ray_parser *p, const struct arguments *a)
{
	bool is_well_formed = a->count && a->tokens[0].kind == RAY_TOKEN_INTEGER &&
			      (a->count < 2 || a->tokens[1].kind == RAY_TOKEN_STRING);

	for (size_t i = 2; i < a->count; i++)
		is_well_formed = is_well_formed && a->tokens[i].kind == RAY_TOKEN_INTEGER;
	if (!is_well_formed)
		return fail(p, a, "D_PRAGMA_MALFORM", "malformed #line <line> [ [\"file\"] state ]");
	p->lex.line = a->tokens[0].value > INT32_MAX ? INT32_MAX : (int)a->tokens[0].value;
	if (a->count > 1) {
		bool is_other = strcmp(a->tokens[1].text, "/dev/stdin") != 0;

		p->lex.is_included = is_other || p->is_library;
		p->lex.file = is_other ? a->tokens[1].text : p->file;
	}
	return true;
}

enum context { AFTER_HASH, AFTER_PRAGMA, AFTER_PRAGMA_D };

static const struct {
	const char *name;
	bool (*run)(struct ray_parser *p, const struct arguments *a);
	enum context context; /* the least special place where it is known */
} directives[] = {
	{ "attributes", run_attributes, AFTER_PRAGMA_D },
	{ "binding", run_binding, AFTER_PRAGMA_D },
	{ "depends_on", run_depends_on, AFTER_PRAGMA_D },
	{ "error", run_error, AFTER_HASH },
	{ "ident", run_ident, AFTER_HASH },
	{ "line", run_line, AFTER_HASH },
	{ "option", run_option, AFTER_PRAGMA_D },
};

static bool run_directive(struct ray_parser *p, const char *name, enum context context, const struct arguments *a)
{
	for (size_t i = 0; i < RAY_COUNT(directives); i++) {
		if (directives[i].context <= context && !strcmp(directives[i].name, name))
			return directives[i].run(p, a);
	}
	if (context == AFTER_HASH)
		return fail(p, a, "D_PRAGCTL_INVAL", "invalid control directive: #%s", name);
	/* C has unknown pragmas ignored. */
	return context == AFTER_PRAGMA || fail(p, a, "D_PRAGMA_INVAL", "invalid D pragma: %s", name);
}

bool ray_pragma_run(void *parser, struct ray_token *tokens, size_t count)
{
	struct ray_parser *p = parser;
	enum context context = AFTER_HASH;
	struct arguments all = { tokens, count, &tokens[0].where };

	if (tokens[0].kind == RAY_TOKEN_INTEGER)
		return run_line(p, &all);
	for (size_t i = 0; i < count; i++) {
		struct arguments rest = { tokens + i + 1, count - i - 1, &tokens[0].where };

		if (tokens[i].kind != RAY_TOKEN_NAME)
			return fail(p, &all, "D_PRAGCTL_INVAL", "invalid control directive");
		if (context == AFTER_HASH && !strcmp(tokens[i].text, "pragma"))
			context = AFTER_PRAGMA;
		else if (context == AFTER_PRAGMA && !strcmp(tokens[i].text, "D"))
			context = AFTER_PRAGMA_D;
		else
			return run_directive(p, tokens[i].text, context, &rest);
	}
	return true;
}
