/* btf.c - the kernel's structures, taken from its BTF as far as a script looks into them.
 * SPDX-License-Identifier: MIT
 *
 * Reading BTF costs milliseconds, so it is done when a name is asked for that only the kernel can know. Structures
 * stay FORWARD until something resolves them: task_struct alone leads to half the kernel. No BTF, or none that
 * can be read, means that the kernel's types are unknown, nothing worse. */
#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>

#include "lang/type_table.h"

enum { MAX_DEPTH = 64 };

/* What a name turned out to be; type NULL: nothing. libbpf looks through all types for each question. */
struct answer {
	struct answer *next;
	enum ray_type_kind kind;
	const char *name;
	const struct ray_type *type;
};

struct ray_btf {
	struct btf *btf;
	uint32_t count;
	const struct ray_type **made;	  /* by id: as it is used by others; structures are FORWARD */
	const struct ray_type **complete; /* by id: structures with their members */
	struct answer *answers;		  /* in the arena */
};

static struct ray_btf *load(void)
{
	struct ray_btf *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->btf = btf__parse("/sys/kernel/btf/vmlinux", NULL);
	if (!b->btf) {
		free(b);
		return NULL;
	}
	b->count = btf__type_cnt(b->btf);
	b->made = calloc(b->count, sizeof(*b->made));
	b->complete = calloc(b->count, sizeof(*b->complete));
	if (!b->made || !b->complete) {
		ray_btf_free_(b);
		return NULL;
	}
	return b;
}

void ray_btf_free_(struct ray_btf *btf)
{
	if (!btf)
		return;
	btf__free(btf->btf);
	free(btf->made);
	free(btf->complete);
	free(btf);
}

static struct ray_btf *get(struct ray_types *types)
{
	if (!types->btf && !types->btf_tried) {
		types->btf_tried = true;
		types->btf = load();
	}
	return types->btf;
}

static const struct ray_type *convert(struct ray_types *types, uint32_t id, int depth);

static const struct ray_type *convert_integer(struct ray_types *types, const struct btf_type *t)
{
	bool is_signed = btf_int_encoding(t) & BTF_INT_SIGNED;
	bool is_char = btf_int_encoding(t) & BTF_INT_CHAR;

	if (btf_int_encoding(t) & BTF_INT_BOOL)
		return ray_type_basic(types, RAY_BASIC_BOOL);
	switch (t->size) {
	case 1:
		return ray_type_basic(types, is_signed ? (is_char ? RAY_BASIC_CHAR : RAY_BASIC_SCHAR) :
					     !strcmp(btf__name_by_offset(types->btf->btf, t->name_off), "char") ?
							 RAY_BASIC_CHAR :
							 RAY_BASIC_UCHAR);
	case 2:
		return ray_type_basic(types, is_signed ? RAY_BASIC_SHORT : RAY_BASIC_USHORT);
	case 4:
		return ray_type_basic(types, is_signed ? RAY_BASIC_INT : RAY_BASIC_UINT);
	case 8:
		return ray_type_basic(types, is_signed ? RAY_BASIC_LONG : RAY_BASIC_ULONG);
	default: { /* __int128: bytes, as far as D can do anything with it */
		return ray_type_array(types, ray_type_basic(types, RAY_BASIC_UCHAR), t->size);
	}
	}
}

static const char *name_of(const struct ray_types *types, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(types->btf->btf, t->name_off);

	return name && *name ? name : NULL;
}

static uint32_t alignment(const struct btf *btf, uint32_t id)
{
	int align = btf__align_of(btf, id);

	return align > 0 ? (uint32_t)align : 1;
}

static const struct ray_type *make_forward(struct ray_types *types, uint32_t id, const struct btf_type *t)
{
	struct ray_type *f = ray_arena_alloc(types->arena, sizeof(*f));
	bool is_union = btf_is_union(t) || (btf_is_fwd(t) && btf_kflag(t));

	if (!f)
		return NULL;
	*f = (struct ray_type){ .kind = RAY_TYPE_FORWARD,
				.forward_kind = is_union ? RAY_TYPE_UNION : RAY_TYPE_STRUCT,
				.name = name_of(types, t),
				.owner = types,
				.btf_id = btf_is_fwd(t) ? 0 : id,
				.size = btf_is_fwd(t) ? 0 : t->size };
	return f;
}

static const struct ray_type *make_enum(struct ray_types *types, const struct btf_type *t)
{
	struct ray_type *e = ray_arena_alloc(types->arena, sizeof(*e));
	struct ray_enumerator *list = ray_arena_alloc(types->arena, (btf_vlen(t) + 1) * sizeof(*list));

	if (!e || !list)
		return NULL;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		if (btf_is_enum64(t)) {
			list[i].name = btf__name_by_offset(types->btf->btf, btf_enum64(t)[i].name_off);
			list[i].value = (int64_t)btf_enum64_value(&btf_enum64(t)[i]);
		} else {
			list[i].name = btf__name_by_offset(types->btf->btf, btf_enum(t)[i].name_off);
			list[i].value = btf_enum(t)[i].val;
		}
	}
	*e = (struct ray_type){ .kind = RAY_TYPE_ENUM,
				.name = name_of(types, t),
				.size = t->size,
				.align = t->size,
				.count = btf_vlen(t),
				.enumerators = list };
	return e;
}

static const struct ray_type *make_typedef(struct ray_types *types, const struct btf_type *t, int depth)
{
	const struct ray_type *target = convert(types, t->type, depth + 1);
	struct ray_type *d = ray_arena_alloc(types->arena, sizeof(*d));

	if (!d || !target)
		return NULL;
	*d = (struct ray_type){ .kind = RAY_TYPE_TYPEDEF,
				.name = name_of(types, t),
				.target = target,
				.size = target->size,
				.align = target->align };
	return d;
}

static const struct ray_type *make_function(struct ray_types *types)
{
	struct ray_type *f = ray_arena_alloc(types->arena, sizeof(*f));

	if (f)
		*f = (struct ray_type){ .kind = RAY_TYPE_FUNCTION, .target = ray_type_basic(types, RAY_BASIC_INT) };
	return f;
}

static const struct ray_type *convert_kind(struct ray_types *types, uint32_t id, const struct btf_type *t, int depth)
{
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		return convert_integer(types, t);
	case BTF_KIND_FLOAT:
		return ray_type_basic(types, t->size == 4 ? RAY_BASIC_FLOAT : RAY_BASIC_DOUBLE);
	case BTF_KIND_PTR:
		return ray_type_pointer(types, convert(types, t->type, depth + 1));
	case BTF_KIND_ARRAY:
		return ray_type_array(types, convert(types, btf_array(t)->type, depth + 1), btf_array(t)->nelems);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_FWD:
		return make_forward(types, id, t);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return make_enum(types, t);
	case BTF_KIND_TYPEDEF:
		return make_typedef(types, t, depth);
	case BTF_KIND_CONST:
		return ray_type_qualified(types, convert(types, t->type, depth + 1), RAY_TYPE_CONST);
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return convert(types, t->type, depth + 1);
	case BTF_KIND_FUNC_PROTO:
	case BTF_KIND_FUNC:
		return make_function(types);
	default:
		return NULL;
	}
}

static const struct ray_type *convert(struct ray_types *types, uint32_t id, int depth)
{
	struct ray_btf *b = types->btf;
	const struct btf_type *t = btf__type_by_id(b->btf, id);

	if (!id)
		return ray_type_basic(types, RAY_BASIC_VOID);
	if (!t || id >= b->count || depth > MAX_DEPTH)
		return NULL;
	if (!b->made[id])
		b->made[id] = convert_kind(types, id, t, depth);
	return b->made[id];
}

const struct ray_type *ray_btf_complete_(struct ray_types *types, uint32_t id)
{
	struct ray_btf *b = get(types);
	const struct btf_type *t = b ? btf__type_by_id(b->btf, id) : NULL;
	struct ray_member *members;
	struct ray_type *s;

	if (!t || id >= b->count || !btf_is_composite(t))
		return NULL;
	if (b->complete[id])
		return b->complete[id];
	s = ray_arena_alloc(types->arena, sizeof(*s));
	members = ray_arena_alloc(types->arena, (btf_vlen(t) + 1) * sizeof(*members));
	if (!s || !members)
		return NULL;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(b->btf, btf_members(t)[i].name_off);

		members[i].name = name && *name ? name : NULL;
		members[i].type = convert(types, btf_members(t)[i].type, 0);
		members[i].bit_offset = btf_member_bit_offset(t, i);
		members[i].bit_width = btf_member_bitfield_size(t, i);
		if (!members[i].type)
			members[i].type = ray_type_basic(types, RAY_BASIC_VOID);
	}
	*s = (struct ray_type){ .kind = btf_is_union(t) ? RAY_TYPE_UNION : RAY_TYPE_STRUCT,
				.name = name_of(types, t),
				.size = t->size,
				.align = alignment(b->btf, id),
				.members = members,
				.count = btf_vlen(t),
				.btf_id = id,
				.owner = types };
	b->complete[id] = s;
	return s;
}

static const struct ray_type *find(struct ray_types *types, enum ray_type_kind kind, const char *name)
{
	uint32_t wanted = kind == RAY_TYPE_STRUCT ? BTF_KIND_STRUCT :
			  kind == RAY_TYPE_UNION  ? BTF_KIND_UNION :
			  kind == RAY_TYPE_ENUM	  ? BTF_KIND_ENUM :
						    BTF_KIND_TYPEDEF;
	int id = btf__find_by_name_kind(types->btf->btf, name, wanted);

	if (id <= 0)
		return NULL;
	return kind == RAY_TYPE_STRUCT || kind == RAY_TYPE_UNION ? ray_btf_complete_(types, (uint32_t)id) :
								   convert(types, (uint32_t)id, 0);
}

const struct ray_type *ray_btf_find_(struct ray_types *types, enum ray_type_kind kind, const char *name)
{
	struct ray_btf *b = get(types);
	struct answer *a = b ? b->answers : NULL;

	while (a && (a->kind != kind || strcmp(a->name, name)))
		a = a->next;
	if (a || !b)
		return a ? a->type : NULL;
	a = ray_arena_alloc(types->arena, sizeof(*a));
	if (!a)
		return NULL;
	*a = (struct answer){ .next = b->answers,
			      .kind = kind,
			      .name = ray_arena_strdup(types->arena, name),
			      .type = find(types, kind, name) };
	if (a->name)
		b->answers = a;
	return a->type;
}
