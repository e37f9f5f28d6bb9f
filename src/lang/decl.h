/* decl.h - declarations: their types are made as they are read, so that later words are understood.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_LANG_DECL_H
#define RAY_LANG_DECL_H

#include "lang/parse.h"

enum ray_decl_class {
	RAY_CLASS_NONE,
	RAY_CLASS_AUTO,
	RAY_CLASS_REGISTER,
	RAY_CLASS_STATIC,
	RAY_CLASS_EXTERN,
	RAY_CLASS_TYPEDEF,
	RAY_CLASS_SELF,
	RAY_CLASS_THIS,
};

/* What the words before the declarator have said so far. */
enum ray_spec_kind { RAY_SPEC_NONE, RAY_SPEC_INTEGER, RAY_SPEC_FLOAT, RAY_SPEC_NAMED, RAY_SPEC_TAGGED };

enum ray_spec_flag {
	RAY_SPEC_SIGNED = 1,
	RAY_SPEC_UNSIGNED = 2,
	RAY_SPEC_SHORT = 4,
	RAY_SPEC_LONG = 8,
	RAY_SPEC_LONG_LONG = 16,
	RAY_SPEC_QUALIFIED = 32, /* const, volatile, restrict: no difference to D */
};

struct ray_parameter {
	const struct ray_type *type; /* NULL: ... */
	const char *name;	     /* NULL: none */
	struct ray_where where;
};

enum ray_derive { RAY_DERIVE_POINTER, RAY_DERIVE_ARRAY, RAY_DERIVE_ASSOC, RAY_DERIVE_FUNCTION };

/* From the declared name outwards: `*a[3]` is ARRAY, then POINTER. */
struct ray_derivation {
	struct ray_derivation *next;
	enum ray_derive kind;
	bool has_count; /* of ARRAY */
	uint64_t count;
	const struct ray_parameter *parameters; /* of ASSOC, FUNCTION */
	size_t parameter_count;
};

struct ray_decl {
	enum ray_decl_class class;
	bool has_spec; /* anything of a type was said */
	enum ray_spec_kind spec;
	const char *name;	     /* "int", a typedef or a tag */
	enum ray_type_kind tag_kind; /* of TAGGED */
	const struct ray_type *type; /* if it was defined right here */
	unsigned int flags;
	/* The declarator. */
	const char *ident; /* NULL: none */
	struct ray_where ident_where;
	struct ray_derivation *derivations;
	unsigned int pointers; /* stars before what is being read */
};

/* decl.c */
bool ray_decl_begins_type(const struct ray_parser *p);	    /* the present token */
bool ray_decl_begins_parameter(const struct ray_parser *p); /* that, or a class */
bool ray_decl_specifiers(struct ray_parser *p, struct ray_decl *d, bool with_class);
bool ray_decl_spec(struct ray_parser *p, struct ray_decl *d, enum ray_spec_kind spec, const char *name);
/* A declaration within another: what the lexer knows of the outer one comes back afterwards. */
struct ray_decl_state {
	bool has_type, is_typedef, in_array_bounds;
};
struct ray_decl_state ray_decl_push(struct ray_parser *p);
void ray_decl_pop(struct ray_parser *p, struct ray_decl_state state);

/* declarator.c */
enum ray_declarator { RAY_DECLARATOR_NAMED, RAY_DECLARATOR_ABSTRACT, RAY_DECLARATOR_EITHER };
bool ray_decl_declarator(struct ray_parser *p, struct ray_decl *d, enum ray_declarator form);
/* (parameters): the parenthesis is the present token; afterwards, what follows the closing one. */
bool ray_decl_function(struct ray_parser *p, struct ray_derivation *function);

/* decl_type.c */
const struct ray_type *ray_decl_type(struct ray_parser *p, struct ray_decl *d); /* NULL: it has failed */
/* Of the type without its first derivation: the value of an associative array. */
const struct ray_type *ray_decl_element_type(struct ray_parser *p, struct ray_decl *d);
const struct ray_type *ray_decl_type_name(struct ray_parser *p); /* of casts, sizeof, ... */
const char *ray_decl_print(struct ray_parser *p, const struct ray_type *type);

/* decl_proto.c */
enum ray_proto_flag { RAY_PROTO_VARARGS = 1, RAY_PROTO_VOID = 2, RAY_PROTO_ANONYMOUS = 4 };
/* formals: what the names must be among; the same list if each must be new. */
bool ray_decl_prototype(struct ray_parser *p, const struct ray_derivation *list, const struct ray_derivation *formals,
			const char *kind, unsigned int flags);

/* decl_struct.c, decl_enum.c: from behind the opening brace to the closing one, which has not been passed yet. */
bool ray_decl_struct_body(struct ray_parser *p, struct ray_decl *d);
/* Fails: a type is not complete where it must be. */
bool ray_decl_fail_incomplete(struct ray_parser *p, const struct ray_type *type, const char *name,
			      struct ray_where where);
bool ray_decl_enum_body(struct ray_parser *p, struct ray_decl *d);
bool ray_enum_body_find(const struct ray_enum_body *body, const char *name, int64_t *ret);

/* decl_variable.c */
bool ray_decl_variable(struct ray_parser *p, struct ray_decl *d);
bool ray_decl_add(struct ray_parser *p, struct ray_names *names, struct ray_variable *v); /* and into the program */
/* Whether a name is taken among D's globals; kind_ret says by what: "scalar", "function". */
bool ray_decl_is_global(const struct ray_parser *p, const char *name, const char **kind_ret);
bool ray_decl_is_function(struct ray_parser *p, const char *name, struct ray_where where); /* fails if it is none */

/* define.c */
bool ray_decl_external(struct ray_parser *p); /* whatever stands outside of clauses */

/* constant.c */
struct ray_constant {
	uint64_t value;
	bool is_unsigned;
	uint64_t size;
};
bool ray_constant_find(struct ray_parser *p, const struct ray_expr *e,
		       struct ray_constant *ret);				/* false: it is none */
bool ray_constant_convert(struct ray_constant *c, const struct ray_type *type); /* false: no integer type */
bool ray_constant_is_positive(const struct ray_constant *c);

/* parse_primary.c: at a parenthesis. A type in it goes to type_ret, then NULL is returned. */
struct ray_expr *ray_parse_type_or_unary(struct ray_parser *p, const struct ray_type **type_ret);

/* pragma.c: a name was declared; pragmas may have waited for it. */
void ray_pragma_declared(struct ray_parser *p, const char *name);
bool ray_pragma_finish(struct ray_parser *p); /* fails if one waits in vain */
bool ray_pragma_run(void *parser, struct ray_token *tokens, size_t count);

#endif
