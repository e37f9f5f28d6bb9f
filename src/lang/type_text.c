/* type_text.c - a type from its text, as prototypes and probes' arguments give it.
 * SPDX-License-Identifier: MIT
 *
 * Only abstract declarations that such texts contain: words, stars, [n]. Whatever it does not know gives NULL; a pointer
 * to a structure is fine even if nobody knows the structure. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lang/type_table.h"

struct words {
	int longs, shorts, chars, ints, signs, unsigneds, bools, floats, doubles, voids;
};

static bool count_word(struct words *w, const char *word)
{
	static const struct {
		const char *word;
		size_t at;
	} known[] = {
		{ "long", offsetof(struct words, longs) },     { "short", offsetof(struct words, shorts) },
		{ "char", offsetof(struct words, chars) },     { "int", offsetof(struct words, ints) },
		{ "signed", offsetof(struct words, signs) },   { "unsigned", offsetof(struct words, unsigneds) },
		{ "_Bool", offsetof(struct words, bools) },    { "float", offsetof(struct words, floats) },
		{ "double", offsetof(struct words, doubles) }, { "void", offsetof(struct words, voids) },
	};

	for (size_t i = 0; i < RAY_COUNT(known); i++) {
		if (!strcmp(known[i].word, word)) {
			++*(int *)((char *)w + known[i].at);
			return true;
		}
	}
	return false;
}

static const struct ray_type *from_words(struct ray_types *types, const struct words *w)
{
	enum ray_basic b;

	if (w->voids)
		b = RAY_BASIC_VOID;
	else if (w->bools)
		b = RAY_BASIC_BOOL;
	else if (w->floats)
		b = RAY_BASIC_FLOAT;
	else if (w->doubles)
		b = w->longs ? RAY_BASIC_LDOUBLE : RAY_BASIC_DOUBLE;
	else if (w->chars)
		b = w->unsigneds ? RAY_BASIC_UCHAR : w->signs ? RAY_BASIC_SCHAR : RAY_BASIC_CHAR;
	else if (w->shorts)
		b = w->unsigneds ? RAY_BASIC_USHORT : RAY_BASIC_SHORT;
	else if (w->longs > 1)
		b = w->unsigneds ? RAY_BASIC_ULLONG : RAY_BASIC_LLONG;
	else if (w->longs)
		b = w->unsigneds ? RAY_BASIC_ULONG : RAY_BASIC_LONG;
	else if (w->ints || w->signs || w->unsigneds)
		b = w->unsigneds ? RAY_BASIC_UINT : RAY_BASIC_INT;
	else
		return NULL;
	return ray_type_basic(types, b);
}

static const struct ray_type *tagged(struct ray_types *types, enum ray_type_kind kind, const char *tag)
{
	const struct ray_type *t = ray_type_defined(types, kind, tag);
	struct ray_type *f;

	if (t)
		return t;
	f = ray_arena_alloc(types->arena, sizeof(*f));
	if (!f)
		return NULL;
	*f = (struct ray_type){ .kind = RAY_TYPE_FORWARD,
				.forward_kind = kind,
				.owner = types,
				.name = ray_arena_strdup(types->arena, tag) };
	return f->name ? f : NULL;
}

/* The next word into out; false at a star, a bracket or the end. */
static bool next_word(const char **at, char *out, size_t size)
{
	size_t n = 0;

	while (isspace((unsigned char)**at))
		++*at;
	while (isalnum((unsigned char)**at) || **at == '_' || **at == '`') {
		if (n + 1 < size)
			out[n++] = **at;
		++*at;
	}
	out[n] = '\0';
	return n > 0;
}

static const struct ray_type *add_declarator(struct ray_types *types, const struct ray_type *t, const char *at)
{
	for (; t && *at; at++) {
		if (*at == '*')
			t = ray_type_pointer(types, t);
		else if (*at == '[')
			t = ray_type_array(types, t, strtoul(at + 1, NULL, 0));
		else if (!strncmp(at, "const", 5))
			at += 4;
		else if (!isspace((unsigned char)*at) && *at != ']' && !isdigit((unsigned char)*at))
			return NULL;
	}
	return t;
}

const struct ray_type *ray_type_from_text(struct ray_types *types, const char *text)
{
	const struct ray_type *t = NULL;
	struct words words = { 0 };
	uint32_t flags = 0;
	char word[128];

	while (next_word(&text, word, sizeof(word))) {
		enum ray_type_kind kind = !strcmp(word, "struct") ? RAY_TYPE_STRUCT :
					  !strcmp(word, "union")  ? RAY_TYPE_UNION :
					  !strcmp(word, "enum")	  ? RAY_TYPE_ENUM :
								    RAY_TYPE_VOID;

		if (kind != RAY_TYPE_VOID) {
			if (!next_word(&text, word, sizeof(word)))
				return NULL;
			t = tagged(types, kind, word);
		} else if (!strcmp(word, "const")) {
			flags |= RAY_TYPE_CONST;
		} else if (!strcmp(word, "userland") || !strcmp(word, "__user")) {
			flags |= RAY_TYPE_USERLAND;
		} else if (!strcmp(word, "volatile") || !strcmp(word, "restrict")) {
			continue;
		} else if (!count_word(&words, word)) {
			t = !strcmp(word, "string") ? ray_type_basic(types, RAY_BASIC_STRING) :
						      ray_type_typedef(types, word);
			if (!t) /* names that are no types where scripts use them */
				t = ray_probe_type_(types, RAY_TYPE_TYPEDEF, word);
			if (!t)
				return NULL;
		}
	}
	if (!t)
		t = from_words(types, &words);
	if (t && (flags & RAY_TYPE_CONST))
		t = ray_type_qualified(types, t, RAY_TYPE_CONST);
	t = add_declarator(types, t, text);
	return t && (flags & RAY_TYPE_USERLAND) ? ray_type_qualified(types, t, RAY_TYPE_USERLAND) : t;
}
