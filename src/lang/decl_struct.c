/* decl_struct.c - the members of a struct or union: checks, layout, bit-fields. SPDX-License-Identifier: MIT */
#include "lang/decl.h"

#include <string.h>

/* A struct or union whose members are being read. */
struct ray_open_tag {
	const struct ray_open_tag *outer;
	enum ray_type_kind kind;
	const char *name;
};

struct body {
	bool is_union;
	RAY_VEC(struct ray_member) members;
	struct ray_names names;
	uint64_t bits;	/* so far; of a union: its size */
	uint32_t align; /* bytes */
};

static bool is_incomplete(const struct ray_type *r)
{
	return r->kind == RAY_TYPE_FORWARD || ((r->kind == RAY_TYPE_STRUCT || r->kind == RAY_TYPE_UNION) && !r->size);
}

/* The reference calls everything a struct that was only named; what is being read it knows better. */
bool ray_decl_fail_incomplete(struct ray_parser *p, const struct ray_type *type, const char *name,
			      struct ray_where where)
{
	const struct ray_type *r = ray_type_resolve(type);
	bool is_open = r->kind != RAY_TYPE_FORWARD;

	for (const struct ray_open_tag *t = p->open_tags; t && !is_open; t = t->outer)
		is_open = t->name && t->kind == r->forward_kind && !strcmp(t->name, r->name);
	if (is_open || type != r)
		return ray_parse_fail_at(p, where, "D_DECL_INCOMPLETE", "incomplete struct/union/enum %s: %s",
					 ray_decl_print(p, type), name);
	return ray_parse_fail_at(p, where, "D_DECL_INCOMPLETE", "incomplete struct/union/enum struct %s: %s", r->name,
				 name);
}

static uint64_t align_up(uint64_t value, uint64_t align)
{
	return align ? (value + align - 1) / align * align : value;
}

/* As the C compilers do it: a bit-field does not cross a unit of its type. */
static uint64_t place(struct body *b, const struct ray_type *r, uint32_t width)
{
	uint64_t size = r->size * 8, at = b->is_union ? 0 : b->bits;

	if (!width)
		at = align_up(at, (uint64_t)r->align * 8);
	else if (at / size != (at + width - 1) / size)
		at = align_up(at, size);
	if (r->align > b->align)
		b->align = r->align;
	uint64_t end = at + (width ? width : size);
	if (!b->is_union || end > b->bits)
		b->bits = end;
	return at;
}

static bool add_member(struct ray_parser *p, struct body *b, const struct ray_decl *d, const struct ray_type *type,
		       uint32_t width)
{
	const struct ray_type *r = ray_type_resolve(type);
	const char *name = d->ident;
	struct ray_where where = name ? d->ident_where : p->token.where;
	struct ray_member m = { .name = name, .type = type, .bit_width = width };
	uint64_t at;

	if (name && ray_names_find(&b->names, name))
		return ray_parse_fail_at(p, where, "D_UNKNOWN",
					 "failed to define member '%s': Duplicate member or variable name", name);
	at = place(b, r, width);
	/* Offsets are counted in bits, in 32 of them. */
	if (b->bits > UINT32_MAX || r->size > UINT32_MAX / 8)
		return ray_parse_fail_at(p, where, "D_UNKNOWN",
					 "failed to define member '%s': Limit on size of type exceeded",
					 name ? name : "(anon)");
	m.bit_offset = (uint32_t)at;
	if (!ray_vec_push(&b->members, m) || (name && !ray_names_put(&b->names, name, b)))
		return ray_lex_no_memory(&p->lex);
	return true;
}

static bool add_bit_field(struct ray_parser *p, struct body *b, const struct ray_decl *d, const struct ray_type *type,
			  const struct ray_expr *size)
{
	const struct ray_type *r = ray_type_resolve(type);
	const char *name = d->ident ? d->ident : "(anon)";
	struct ray_where where = d->ident ? d->ident_where : p->token.where;
	struct ray_constant c;
	bool is_constant = ray_constant_find(p, size, &c);

	if (!d->ident && is_constant && !c.value) { /* closes the unit */
		if (!b->is_union)
			b->bits = align_up(b->bits, r->size * 8);
		return true;
	}
	if (!is_constant || !ray_constant_is_positive(&c))
		return ray_parse_fail_at(p, where, "D_DECL_BFCONST",
					 "positive integral constant expression expected as bit-field size");
	if (r->kind != RAY_TYPE_INTEGER)
		return ray_parse_fail_at(p, where, "D_DECL_BFTYPE", "invalid type for bit-field: %s", name);
	if (c.value > r->size * 8)
		return ray_parse_fail_at(p, where, "D_DECL_BFSIZE", "bit-field too big for type: %s", name);
	if (!d->ident) {
		place(b, r, (uint32_t)c.value);
		return true;
	}
	return add_member(p, b, d, type, (uint32_t)c.value);
}

static bool finish_member(struct ray_parser *p, struct body *b, struct ray_decl *d, const struct ray_expr *size)
{
	struct ray_where where = d->ident ? d->ident_where : p->token.where;
	const struct ray_type *type, *r;

	type = ray_decl_type(p, d);
	if (!type)
		return false;
	r = ray_type_resolve(type);
	if (d->ident && strchr(d->ident, '`'))
		return ray_parse_fail_at(p, where, "D_DECL_SCOPE",
					 "D scoping operator may not be used in a member name (%s)", d->ident);
	const char *name = d->ident ? d->ident : "(null)";
	if (r->kind == RAY_TYPE_DYNAMIC)
		return ray_parse_fail_at(p, where, "D_DECL_DYNOBJ", "cannot have dynamic member: %s", name);
	if (is_incomplete(r))
		return ray_decl_fail_incomplete(p, type, name, where);
	if (!r->size && !(r->flags & RAY_TYPE_FLEXIBLE))
		return ray_parse_fail_at(p, where, "D_DECL_VOIDOBJ", "cannot have void member: %s", name);
	return size ? add_bit_field(p, b, d, type, size) : add_member(p, b, d, type, 0);
}

/* struct { ... }; within a struct: its members are ours. */
static bool is_anonymous(const struct ray_parser *p, const struct ray_decl *d)
{
	return p->token.kind == ';' && d->spec == RAY_SPEC_TAGGED && d->type && !d->name &&
	       d->tag_kind != RAY_TYPE_ENUM;
}

static bool parse_declarators(struct ray_parser *p, struct body *b, struct ray_decl *specifiers)
{
	for (;;) {
		struct ray_decl d = *specifiers;
		struct ray_expr *size = NULL;

		if (p->token.kind != ':' && !ray_decl_declarator(p, &d, RAY_DECLARATOR_NAMED))
			return false;
		if (p->token.kind == ':') {
			if (!ray_parse_advance(p))
				return false;
			size = ray_parse_conditional(p);
			if (!size)
				return false;
		}
		if (!finish_member(p, b, &d, size))
			return false;
		/* What was resolved once need not be again. */
		specifiers->type = d.type;
		if (p->token.kind != ',')
			return true;
		if (!ray_parse_advance(p))
			return false;
	}
}

static bool parse_member(struct ray_parser *p, struct body *b)
{
	struct ray_decl d = { 0 };

	p->lex.has_type = false;
	if (!ray_decl_specifiers(p, &d, false))
		return false;
	if (is_anonymous(p, &d) ? !add_member(p, b, &d, d.type, 0) : !parse_declarators(p, b, &d))
		return false;
	if (p->token.kind != ';')
		return ray_parse_syntax_error(p);
	p->lex.has_type = false;
	return ray_parse_advance(p);
}

static bool finish_body(struct ray_parser *p, struct body *b, struct ray_type *type)
{
	struct ray_member *members = ray_arena_alloc(p->program->arena, b->members.n * sizeof(*members));

	if (!members)
		return ray_lex_no_memory(&p->lex);
	if (b->members.n) /* bit-fields without a name are none */
		memcpy(members, b->members.at, b->members.n * sizeof(*members));
	type->members = members;
	type->count = b->members.n;
	type->align = b->align ? b->align : 1;
	type->size = align_up((b->bits + 7) / 8, type->align);
	return true;
}

static bool parse_members(struct ray_parser *p, struct body *b, struct ray_type *type)
{
	do {
		if (!parse_member(p, b))
			return false;
	} while (p->token.kind != '}');
	return finish_body(p, b, type);
}

/* Its name is known within itself, as incomplete. */
static bool declare_tag(struct ray_parser *p, const struct ray_decl *d)
{
	const struct ray_type *old = ray_type_defined(p->program->types, d->tag_kind, d->name);
	struct ray_type *forward;

	if (old && old->kind != RAY_TYPE_FORWARD)
		return ray_parse_fail(p, "D_DECL_TYPERED", "type redeclared: %s %s",
				      d->tag_kind == RAY_TYPE_STRUCT ? "struct" : "union", d->name);
	if (old)
		return true;
	forward = ray_arena_alloc(p->program->arena, sizeof(*forward));
	if (!forward)
		return ray_lex_no_memory(&p->lex);
	*forward = (struct ray_type){ .kind = RAY_TYPE_FORWARD, .forward_kind = d->tag_kind, .name = d->name };
	ray_auto(ray_error, err) = ray_type_define(p->program->types, forward);
	return !err || ray_parse_fail(p, "D_UNKNOWN", "failed to define %s: %s", d->name, ray_error_text(err));
}

bool ray_decl_struct_body(struct ray_parser *p, struct ray_decl *d)
{
	struct ray_type *type = ray_arena_alloc(p->program->arena, sizeof(*type));
	struct ray_decl_state state = ray_decl_push(p);
	struct body body = { .is_union = d->tag_kind == RAY_TYPE_UNION, .names = ray_names_in(p->program->arena) };
	struct ray_open_tag tag = { .outer = p->open_tags, .kind = d->tag_kind, .name = d->name };
	bool is_ok = type || ray_lex_no_memory(&p->lex);

	p->open_tags = &tag;
	is_ok = ray_parse_enter(p) && is_ok && (!d->name || declare_tag(p, d));
	p->lex.in_array_bounds = false;
	if (is_ok) {
		type->kind = d->tag_kind;
		type->name = d->name;
		is_ok = ray_parse_advance(p) && parse_members(p, &body, type);
	}
	p->open_tags = tag.outer;
	ray_vec_free(&body.members);
	ray_parse_leave(p);
	ray_decl_pop(p, state);
	if (!is_ok)
		return false;
	ray_auto(ray_error, err) = ray_type_define(p->program->types, type);
	d->type = type;
	return !err || ray_parse_fail(p, "D_UNKNOWN", "failed to define %s: %s", d->name ? d->name : "(anon)",
				      ray_error_text(err));
}
