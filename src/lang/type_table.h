/* type_table.h - the table of types as its own parts see it.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_LANG_TYPE_TABLE_H
#define RAY_LANG_TYPE_TABLE_H

#include "base/hashmap.h"
#include "lang/type.h"

struct ray_type_entry {
	const char *name;
	enum ray_type_kind kind; /* namespace: TYPEDEF, STRUCT, UNION, ENUM; INTEGER: an enumerator */
	const struct ray_type *type;
	const struct ray_enumerator *enumerator;
};

struct ray_btf;

struct ray_types {
	struct ray_arena *arena;
	struct ray_type basic[RAY_BASIC_COUNT_];
	RAY_HASHMAP(struct ray_type_entry) entries; /* in the arena */
	struct ray_btf *btf;			    /* NULL until something of the kernel's was asked for */
	bool btf_tried;
};

/* What a FORWARD stands for; itself while that is not known. */
const struct ray_type *ray_type_complete_(const struct ray_type *forward);

/* prelude_types.c: a structure of D's own libraries (psinfo_t...), made when its name is first used. NULL if there is none. */
const struct ray_type *ray_prelude_type_(struct ray_types *types, enum ray_type_kind kind, const char *name);

/* probe_types.c: one of a traced program's library that a provider knows, likewise. */
const struct ray_type *ray_probe_type_(struct ray_types *types, enum ray_type_kind kind, const char *name);

/* btf.c. The kernel's types, by name or number; NULL if there is none, or no BTF. */
const struct ray_type *ray_btf_find_(struct ray_types *types, enum ray_type_kind kind, const char *name);
const struct ray_type *ray_btf_complete_(struct ray_types *types, uint32_t id);
void ray_btf_free_(struct ray_btf *btf);

#endif
