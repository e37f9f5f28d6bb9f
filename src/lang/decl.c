/* decl.c - the words before a declarator: classes, qualifiers, types. SPDX-License-Identifier: MIT */
#include "lang/decl.h"

#include <string.h>

static enum ray_decl_class class_of(int token)
{
	switch (token) {
	case RAY_KEY_AUTO:
		return RAY_CLASS_AUTO;
	case RAY_KEY_REGISTER:
		return RAY_CLASS_REGISTER;
	case RAY_KEY_STATIC:
		return RAY_CLASS_STATIC;
	case RAY_KEY_EXTERN:
		return RAY_CLASS_EXTERN;
	case RAY_KEY_TYPEDEF:
		return RAY_CLASS_TYPEDEF;
	case RAY_KEY_SELF:
		return RAY_CLASS_SELF;
	case RAY_KEY_THIS:
		return RAY_CLASS_THIS;
	default:
		return RAY_CLASS_NONE;
	}
}

static unsigned int flag_of(int token)
{
	switch (token) {
	case RAY_KEY_SHORT:
		return RAY_SPEC_SHORT;
	case RAY_KEY_LONG:
		return RAY_SPEC_LONG;
	case RAY_KEY_SIGNED:
		return RAY_SPEC_SIGNED;
	case RAY_KEY_UNSIGNED:
		return RAY_SPEC_UNSIGNED;
	case RAY_KEY_CONST:
	case RAY_KEY_VOLATILE:
	case RAY_KEY_RESTRICT:
		return RAY_SPEC_QUALIFIED;
	default:
		return 0;
	}
}

bool ray_decl_begins_type(const struct ray_parser *p)
{
	switch ((int)p->token.kind) {
	case RAY_TOKEN_TYPE_NAME:
	case RAY_KEY_VOID:
	case RAY_KEY_CHAR:
	case RAY_KEY_INT:
	case RAY_KEY_FLOAT:
	case RAY_KEY_DOUBLE:
	case RAY_KEY_STRING:
	case RAY_KEY_STRUCT:
	case RAY_KEY_UNION:
	case RAY_KEY_ENUM:
		return true;
	default:
		return flag_of(p->token.kind) != 0;
	}
}

bool ray_decl_begins_parameter(const struct ray_parser *p)
{
	enum ray_decl_class class = class_of(p->token.kind);

	return ray_decl_begins_type(p) ||
	       (class != RAY_CLASS_NONE && class != RAY_CLASS_SELF && class != RAY_CLASS_THIS) ||
	       p->token.kind == RAY_TOKEN_ELLIPSIS;
}

struct ray_decl_state ray_decl_push(struct ray_parser *p)
{
	struct ray_decl_state state = { p->lex.has_type, p->lex.is_typedef, p->lex.in_array_bounds };

	p->lex.has_type = p->lex.is_typedef = false;
	return state;
}

void ray_decl_pop(struct ray_parser *p, struct ray_decl_state state)
{
	p->lex.has_type = state.has_type;
	p->lex.is_typedef = state.is_typedef;
	p->lex.in_array_bounds = state.in_array_bounds;
}

static bool check_flags(struct ray_parser *p, const struct ray_decl *d)
{
	unsigned int lengths = RAY_SPEC_SHORT | RAY_SPEC_LONG | RAY_SPEC_LONG_LONG;
	unsigned int signs = RAY_SPEC_SIGNED | RAY_SPEC_UNSIGNED;

	if (d->spec == RAY_SPEC_NONE)
		return true;
	if (d->name && !strcmp(d->name, "char") && d->flags & lengths)
		return ray_parse_fail(p, "D_DECL_CHARATTR",
				      "invalid type declaration: short and long may not be used with char type");
	if (d->name && !strcmp(d->name, "void") && d->flags & (lengths | signs))
		return ray_parse_fail(p, "D_DECL_VOIDATTR",
				      "invalid type declaration: attributes may not be used with void type");
	if (d->spec != RAY_SPEC_INTEGER && d->flags & signs)
		return ray_parse_fail(
			p, "D_DECL_SIGNINT",
			"invalid type declaration: signed and unsigned may only be used with integer type");
	if (d->spec != RAY_SPEC_INTEGER && d->spec != RAY_SPEC_FLOAT && d->flags & (RAY_SPEC_LONG | RAY_SPEC_LONG_LONG))
		return ray_parse_fail(p, "D_DECL_LONGINT",
				      "invalid type declaration: long and long long may only be used with integer or "
				      "floating-point type");
	return true;
}

static bool set_ident(struct ray_parser *p, struct ray_decl *d)
{
	if (d->ident)
		return ray_parse_fail(p, "D_DECL_IDENT", "old-style declaration or incorrect type specified");
	d->ident = p->token.text;
	d->ident_where = p->token.where;
	return true;
}

bool ray_decl_spec(struct ray_parser *p, struct ray_decl *d, enum ray_spec_kind spec, const char *name)
{
	bool is_first = !d->has_spec;

	/* int foo, where foo is a type too: the variable's name, then. */
	if (d->name && spec == RAY_SPEC_NAMED) {
		if (d->class != RAY_CLASS_TYPEDEF)
			return set_ident(p, d);
		return ray_parse_fail(p, "D_DECL_IDRED", "identifier redeclared: %s", name);
	}
	if (d->name || d->spec != RAY_SPEC_NONE)
		return ray_parse_fail(p, "D_DECL_COMBO", "invalid type combination");
	if (!is_first && name && strchr(name, '`'))
		return ray_parse_fail(p, "D_DECL_SCOPE", "D scoping operator may not be used in a type name");
	d->has_spec = true;
	d->spec = spec;
	d->name = name;
	p->lex.has_type = name != NULL;
	return is_first || check_flags(p, d);
}

static bool add_flag(struct ray_parser *p, struct ray_decl *d, unsigned int flag)
{
	bool is_first = !d->has_spec;

	if (flag == RAY_SPEC_LONG && d->flags & RAY_SPEC_LONG) {
		d->flags &= ~(unsigned int)RAY_SPEC_LONG;
		flag = RAY_SPEC_LONG_LONG;
	}
	d->has_spec = true;
	d->flags |= flag;
	return is_first || check_flags(p, d);
}

static bool set_class(struct ray_parser *p, struct ray_decl *d)
{
	if (d->class != RAY_CLASS_NONE)
		return ray_parse_fail(p, "D_DECL_CLASS", "only one storage class allowed in a declaration");
	d->class = class_of(p->token.kind);
	p->lex.is_typedef = d->class == RAY_CLASS_TYPEDEF;
	return true;
}

/* struct tag, or struct [tag] { ... }; also union and enum. Ends before the token that follows. */
static bool parse_tagged(struct ray_parser *p, struct ray_decl *d)
{
	enum ray_type_kind kind = p->token.kind == RAY_KEY_STRUCT ? RAY_TYPE_STRUCT :
				  p->token.kind == RAY_KEY_UNION  ? RAY_TYPE_UNION :
								    RAY_TYPE_ENUM;
	const char *tag = NULL;

	if (!ray_parse_advance(p))
		return false;
	if (p->token.kind == RAY_TOKEN_TYPE_NAME) {
		tag = p->token.text;
		if (!ray_parse_advance(p))
			return false;
	}
	if (p->token.kind != '{') {
		if (!tag)
			return ray_parse_syntax_error(p);
		d->tag_kind = kind;
		return ray_decl_spec(p, d, RAY_SPEC_TAGGED, tag);
	}
	if (!ray_decl_spec(p, d, RAY_SPEC_TAGGED, tag))
		return false;
	d->tag_kind = kind;
	if (kind == RAY_TYPE_ENUM ? !ray_decl_enum_body(p, d) : !ray_decl_struct_body(p, d))
		return false;
	return ray_parse_advance(p);
}

static bool parse_plain(struct ray_parser *p, struct ray_decl *d)
{
	switch ((int)p->token.kind) {
	case RAY_KEY_VOID:
		return ray_decl_spec(p, d, RAY_SPEC_INTEGER, "void");
	case RAY_KEY_CHAR:
		return ray_decl_spec(p, d, RAY_SPEC_INTEGER, "char");
	case RAY_KEY_INT:
		return ray_decl_spec(p, d, RAY_SPEC_INTEGER, "int");
	case RAY_KEY_FLOAT:
		return ray_decl_spec(p, d, RAY_SPEC_FLOAT, "float");
	case RAY_KEY_DOUBLE:
		return ray_decl_spec(p, d, RAY_SPEC_FLOAT, "double");
	case RAY_KEY_STRING:
		return ray_decl_spec(p, d, RAY_SPEC_NAMED, "string");
	default:
		return ray_decl_spec(p, d, RAY_SPEC_NAMED, p->token.text);
	}
}

bool ray_decl_specifiers(struct ray_parser *p, struct ray_decl *d, bool with_class)
{
	bool is_any = false;

	for (;; is_any = true) {
		int token = p->token.kind;
		bool is_ok;

		if (token == RAY_KEY_STRUCT || token == RAY_KEY_UNION || token == RAY_KEY_ENUM) {
			if (!parse_tagged(p, d))
				return false;
			continue;
		}
		if (with_class && class_of(token) != RAY_CLASS_NONE)
			is_ok = set_class(p, d);
		else if (with_class && token == RAY_KEY_INLINE && p->token.where.is_included)
			is_ok = true; /* of a function in a header of C */
		else if (flag_of(token))
			is_ok = add_flag(p, d, flag_of(token));
		else if (ray_decl_begins_type(p))
			is_ok = parse_plain(p, d);
		else
			return is_any || ray_parse_syntax_error(p);
		if (!is_ok || !ray_parse_advance(p))
			return false;
	}
}
