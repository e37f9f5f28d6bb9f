/* parse_probe.c - a probe description: split into its fields, with $ replaced.
 * SPDX-License-Identifier: MIT
 *
 * Fields are counted from the end, the last being what -P, -m, -f or -n says: "read:entry" is a function and a name. */
#include <string.h>

#include "lang/parse.h"

enum { FIELDS = 4 };

/* Which of the four fields the last one is. */
static size_t last_field(const struct ray_parser *p)
{
	switch (p->kind) {
	case RAY_TEXT_PROVIDER:
		return 0;
	case RAY_TEXT_MODULE:
		return 1;
	case RAY_TEXT_FUNCTION:
		return 2;
	default:
		return 3;
	}
}

static bool fail(struct ray_parser *p, const char *why)
{
	return ray_parse_fail(p, "D_PDESC_INVAL", "invalid probe description \"%s\": %s", p->token.text, why);
}

/* Adds what $name or $1 stands for; returns how much of text that was, 0 if there is no such macro. */
static size_t add_macro(struct ray_parser *p, const char *text, size_t length, struct ray_text *out)
{
	size_t at = 1 + (length > 2 && text[1] == '$'), digits;
	int64_t value;

	digits = strspn(text + at, "0123456789");
	if (digits) {
		const char *argument = ray_macro_argument(&p->lex, strtoull(text + at, NULL, 10));

		if (argument)
			ray_text_add(out, argument);
		return argument ? at + digits : 0;
	}
	if (!ray_macro_variable(p->lex.macros, text + at, length - at, &value))
		return 0;
	ray_text_printf(out, "%d", (int)value);
	return length;
}

static const char *expand_field(struct ray_parser *p, const char *text, size_t length)
{
	const char *dollar = memchr(text, '$', length);
	ray_auto_text out = { 0 };
	const char *copy;
	size_t used;

	if (!dollar) {
		copy = ray_arena_copy(p->program->arena, text, length);
	} else {
		ray_text_add_bytes(&out, text, (size_t)(dollar - text));
		used = add_macro(p, dollar, length - (size_t)(dollar - text), &out);
		if (!used) {
			fail(p, "Undefined macro variable in probe description");
			return NULL;
		}
		ray_text_add_bytes(&out, dollar + used, length - used - (size_t)(dollar - text));
		copy = out.failed ? NULL : ray_arena_strdup(p->program->arena, ray_text_get(&out));
	}
	if (!copy)
		ray_lex_no_memory(&p->lex);
	return copy;
}

/* pid123:node:v8::internal::Heap::CollectGarbage:entry: the colons of a C++ name are no separators. */
static bool split_qualified(const char *text, const char *starts[FIELDS], size_t lengths[FIELDS])
{
	const char *provider = strchr(text, ':'), *module = provider ? strchr(provider + 1, ':') : NULL;
	const char *name = strrchr(text, ':');

	if (strncmp(text, "pid", 3) || !module || name <= module || !strstr(module + 1, "::"))
		return false;
	starts[0] = text;
	lengths[0] = (size_t)(provider - text);
	starts[1] = provider + 1;
	lengths[1] = (size_t)(module - provider) - 1;
	starts[2] = module + 1;
	lengths[2] = (size_t)(name - module) - 1;
	starts[3] = name + 1;
	lengths[3] = strlen(name + 1);
	return true;
}

static bool split(struct ray_parser *p, const char *text, const char *starts[FIELDS], size_t lengths[FIELDS])
{
	const char *end = text + strlen(text);

	for (size_t field = last_field(p) + 1;; field--) {
		const char *start = end;

		if (!field)
			return (last_field(p) == 3 && split_qualified(text, starts, lengths)) ||
			       fail(p, "Overspecified probe description");
		while (start > text && start[-1] != ':')
			start--;
		starts[field - 1] = start;
		lengths[field - 1] = (size_t)(end - start);
		/* A colon that begins the text separates nothing. */
		if (start - text <= 1)
			return true;
		end = start - 1;
	}
}

static bool parse_id(struct ray_parser *p, struct ray_probe_spec *spec)
{
	static const char *const kinds[] = { "providers", "modules", "functions" };
	unsigned long long id = p->token.value;

	if (id > UINT32_MAX)
		return ray_parse_fail(p, "D_PDESC_INVAL", "identifier %llu exceeds maximum probe id", id);
	if (last_field(p) < RAY_COUNT(kinds))
		return ray_parse_fail(p, "D_PDESC_INVAL", "probe identifier %llu not permitted when specifying %s", id,
				      kinds[last_field(p)]);
	if (!id)
		return ray_parse_fail(p, "D_PDESC_INVAL", "invalid probe identifier 0: Unknown probe identifier");
	spec->id = (uint32_t)id;
	spec->provider = spec->module = spec->function = spec->name = "";
	return true;
}

bool ray_parse_description(struct ray_parser *p, struct ray_probe_spec *spec)
{
	const char *starts[FIELDS] = { "", "", "", "" };
	size_t lengths[FIELDS] = { 0 };
	const char *fields[FIELDS];

	if (p->token.kind == RAY_TOKEN_INTEGER)
		return parse_id(p, spec);
	if (p->token.kind != RAY_TOKEN_PROBE)
		return ray_parse_syntax_error(p);
	if (!split(p, p->token.text, starts, lengths))
		return false;
	for (size_t i = 0; i < FIELDS; i++) {
		fields[i] = expand_field(p, starts[i], lengths[i]);
		if (!fields[i])
			return false;
	}
	spec->provider = fields[0];
	spec->module = fields[1];
	spec->function = fields[2];
	spec->name = fields[3];
	return true;
}
