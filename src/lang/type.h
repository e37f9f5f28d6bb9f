/* type.h - the types of D: C's, and `string`.
 * SPDX-License-Identifier: MIT
 *
 * Types live in the arena of one compilation and are compared through ray_type_resolve(), which looks
 * through typedefs. The table knows C's basic types and D's (uint64_t, pid_t, string...); structures of
 * the kernel are taken from its BTF only when a script names one. Knows no expressions. */
#ifndef RAY_LANG_TYPE_H
#define RAY_LANG_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

enum ray_type_kind {
	RAY_TYPE_VOID,
	RAY_TYPE_INTEGER, /* char, bool and enumerators' int too */
	RAY_TYPE_FLOAT,	  /* can be declared and recorded; no arithmetic */
	RAY_TYPE_POINTER,
	RAY_TYPE_ARRAY,
	RAY_TYPE_STRUCT,
	RAY_TYPE_UNION,
	RAY_TYPE_ENUM,
	RAY_TYPE_TYPEDEF,
	RAY_TYPE_FUNCTION,
	RAY_TYPE_STRING,  /* D's: by reference, at most strsize bytes and a NUL */
	RAY_TYPE_DYNAMIC, /* of an aggregation, a translated value: no storage */
	RAY_TYPE_FORWARD, /* struct, union or enum that was named but not defined, or a kernel's not yet looked at */
};

enum ray_type_flag {
	RAY_TYPE_SIGNED = 1,
	RAY_TYPE_CHAR = 2, /* printed as a character by print() */
	RAY_TYPE_BOOL = 4,
	RAY_TYPE_CONST = 8,
	RAY_TYPE_VOLATILE = 16,
	RAY_TYPE_USERLAND = 32, /* pointer into the traced process */
	RAY_TYPE_FLEXIBLE = 64, /* array without a size */
	RAY_TYPE_TEXT = 128,	/* char * of a structure that is read as the string it points to */
};

struct ray_type;

struct ray_member {
	const char *name; /* NULL: an anonymous struct or union, whose members count as ours */
	const struct ray_type *type;
	uint32_t bit_offset;
	uint32_t bit_width; /* 0: not a bit-field */
};

struct ray_enumerator {
	const char *name;
	int64_t value;
};

struct ray_type {
	enum ray_type_kind kind;
	uint32_t flags;
	const char *name; /* tag or typedef name or "unsigned long"; NULL if anonymous */
	/* Bytes; 0 when incomplete; a string's is strsize + 1, set when options are final. Ask ray_type_size(): a typedef
	 * may have been made before its target was complete. */
	uint64_t size;
	uint32_t align;
	const struct ray_type *target; /* of pointer, array (element), typedef; return type of a function */
	uint64_t count; /* array: elements; struct, union: members; enum: enumerators; function: parameters */
	const struct ray_member *members;
	const struct ray_enumerator *enumerators;
	const struct ray_type *const *parameters;
	bool is_variadic;
	/* The table's own, to complete a FORWARD when it is resolved: ray_type_define() and btf.c set them. */
	struct ray_types *owner;
	uint32_t btf_id;		 /* 0: not the kernel's */
	enum ray_type_kind forward_kind; /* of FORWARD: STRUCT, UNION or ENUM; set by whoever makes it */
};

struct ray_types; /* the table of one compilation */

RAY_MUST_USE struct ray_error *ray_types_create(struct ray_arena *arena, struct ray_types **ret);
void ray_types_free(struct ray_types *types); /* what is not in the arena: the kernel's BTF, if it was needed */
RAY_DEFINE_AUTO(ray_types, ray_types_free)
/* What strsize is: the size of `string`. To be called once, after all options are known. */
void ray_types_set_strsize(struct ray_types *types, uint32_t strsize);

enum ray_basic {
	RAY_BASIC_VOID,
	RAY_BASIC_CHAR,
	RAY_BASIC_SCHAR,
	RAY_BASIC_UCHAR,
	RAY_BASIC_SHORT,
	RAY_BASIC_USHORT,
	RAY_BASIC_INT,
	RAY_BASIC_UINT,
	RAY_BASIC_LONG,
	RAY_BASIC_ULONG,
	RAY_BASIC_LLONG,
	RAY_BASIC_ULLONG,
	RAY_BASIC_BOOL,
	RAY_BASIC_FLOAT,
	RAY_BASIC_DOUBLE,
	RAY_BASIC_LDOUBLE,
	RAY_BASIC_STRING,
	RAY_BASIC_DYNAMIC,
	RAY_BASIC_INT64,
	RAY_BASIC_UINT64,
	RAY_BASIC_COUNT_
};

const struct ray_type *ray_type_basic(const struct ray_types *types, enum ray_basic which);
/* A typedef by name, or NULL. The kernel's typedefs are found too, if the name ends in _t or is written vmlinux`name:
 * other identifiers never make it read the kernel's BTF. */
const struct ray_type *ray_type_typedef(struct ray_types *types, const char *name);
/* struct, union or enum by tag; kernel structures are looked up in BTF when the script has none. NULL if unknown. */
const struct ray_type *ray_type_tagged(struct ray_types *types, enum ray_type_kind kind, const char *tag);
/* The same, or (kind TYPEDEF) a typedef, only if the script or D itself defined or named it. */
const struct ray_type *ray_type_defined(struct ray_types *types, enum ray_type_kind kind, const char *name);
const struct ray_type *ray_type_pointer(struct ray_types *types, const struct ray_type *to);
const struct ray_type *ray_type_array(struct ray_types *types, const struct ray_type *of, uint64_t count);
const struct ray_type *ray_type_qualified(struct ray_types *types, const struct ray_type *type, uint32_t flags);
/* Adds a type made by the declaration parser (in the arena); later lookups by its name find it. A definition takes the place
 * of a FORWARD of its name; types that were made with that one are complete from then on. Enums without a name are given, too, for
 * their enumerators. Fails for a name that is defined already. */
RAY_MUST_USE struct ray_error *ray_type_define(struct ray_types *types, struct ray_type *type);
/* An enumerator by name: NULL if none; its enum type in type_ret. */
const struct ray_enumerator *ray_type_enumerator(struct ray_types *types, const char *name,
						 const struct ray_type **type_ret);

/* Through typedefs, and from FORWARD to what it stands for, if that is known by now. */
const struct ray_type *ray_type_resolve(const struct ray_type *type);
uint64_t ray_type_size(const struct ray_type *type);
/* Looks into anonymous members too; bit_offset_ret is from the start of type. NULL if there is none. */
const struct ray_member *ray_type_member(const struct ray_type *type, const char *name, uint32_t *bit_offset_ret);
bool ray_type_is_integer(const struct ray_type *type); /* integers and enums */
bool ray_type_is_signed(const struct ray_type *type);
bool ray_type_is_scalar(const struct ray_type *type); /* integer or pointer */
bool ray_type_is_pointer(const struct ray_type *type);
bool ray_type_is_string(const struct ray_type *type);	    /* D's string */
bool ray_type_is_stringish(const struct ray_type *type);    /* string, char *, char [] */
bool ray_type_is_by_reference(const struct ray_type *type); /* struct, union, array, string */
/* A type written as C writes it: "unsigned int", "const char *", "struct sockaddr *", "char [16]". Structures behind a
 * pointer are not looked up yet. NULL if it is none that is known. */
const struct ray_type *ray_type_from_text(struct ray_types *types, const char *text);
/* Whether two types are the same but for typedefs and qualifiers. */
bool ray_type_equals(const struct ray_type *a, const struct ray_type *b);
/* As C would write it: "struct foo *", "char [16]", "unsigned long". */
void ray_type_print(const struct ray_type *type, struct ray_text *out);

#endif
