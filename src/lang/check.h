/* check.h - the checker as its own parts see it.
 * SPDX-License-Identifier: MIT
 *
 * Every function that checks an expression returns the checked one, or NULL when it failed: then error is set and all
 * that is left to do is to return. Kinds of expressions are rows of a table in check_expr.c. */
#ifndef RAY_LANG_CHECK_H
#define RAY_LANG_CHECK_H

#include "lang/diagnose.h"
#include "lang/functions.h"
#include "lang/lang.h"

/* A name that stands for something while an inline or a translator is checked. */
struct ray_check_binding {
	const struct ray_check_binding *outer;
	struct ray_variable *variable;
};

struct ray_check {
	struct ray_program *program;
	struct ray_arena *arena;
	struct ray_types *types;
	struct ray_catalogue *catalogue;
	const struct ray_lang_options *options;
	const struct ray_macros *macros;
	struct ray_diagnostic *diagnostic;
	struct ray_error *error;
	const char *tag;	   /* of error */
	const char *region;	   /* "action list" or "predicate": told where there is no line */
	struct ray_clause *clause; /* NULL outside of one */
	const struct ray_check_binding *bindings;
	size_t inlines_known; /* those before this one can be used: an inline cannot use itself */
	int depth;
	bool is_prelude;    /* hidden functions may be called */
	bool has_providers; /* ray_check_load_providers() was here */
};

/* How the value of an expression is used. */
enum ray_use {
	RAY_USE_READ = 1,
	RAY_USE_WRITE = 2,
	RAY_USE_NEITHER = 0, /* sizeof, the left side of = before it is known what it is */
};

/* check.c. Always NULL, for `return ray_check_fail(...)`. The first error stays. */
void *ray_check_fail(struct ray_check *c, const struct ray_where *where, const char *tag, const char *fmt, ...)
	RAY_PRINTF(4, 5);
void *ray_check_nomem(struct ray_check *c);

/* check_expr.c */
struct ray_expr *ray_check_expr(struct ray_check *c, struct ray_expr *e, enum ray_use use);
bool ray_check_args(struct ray_check *c, struct ray_expr **args, size_t count, enum ray_use use);
struct ray_expr *ray_check_new(struct ray_check *c, enum ray_expr_kind kind, const struct ray_type *type,
			       const struct ray_where *where);
struct ray_expr *ray_check_integer(struct ray_check *c, uint64_t value, const struct ray_type *type,
				   const struct ray_where *where);
struct ray_expr *ray_check_call(struct ray_check *c, enum ray_function_id id, struct ray_expr **args, size_t count,
				const struct ray_type *type, const struct ray_where *where);
struct ray_expr *ray_check_deref(struct ray_check *c, struct ray_expr *pointer, const struct ray_where *where);

/* check_type.c: what the reference asks of a node. */
bool ray_check_is_integer(const struct ray_expr *e);
bool ray_check_is_scalar(const struct ray_expr *e);
bool ray_check_is_pointer(const struct ray_expr *e);	  /* arrays too, strings not */
bool ray_check_is_void_pointer(const struct ray_expr *e); /* or to a function: nothing to count with */
bool ray_check_is_string(const struct ray_expr *e);
bool ray_check_is_dynamic(const struct ray_expr *e);
bool ray_check_is_void(const struct ray_expr *e);
bool ray_check_is_special(const struct ray_type *t, const char *name); /* "stack", "_symaddr", "_usymaddr" */
bool ray_check_is_zero(const struct ray_expr *e);
bool ray_check_is_positive(const struct ray_expr *e); /* constant */
bool ray_check_is_lvalue(const struct ray_expr *e);
bool ray_check_is_writable(const struct ray_expr *e);
/* Whether two pointers (or one and the constant 0) go together; the more telling type in ret, if not NULL. */
bool ray_check_pointers_fit(const struct ray_expr *l, const struct ray_expr *r, const struct ray_type **ret);
/* Whether r can be given where a value of type l is wanted. */
bool ray_check_fits(const struct ray_type *l, const struct ray_expr *r);
const struct ray_type *ray_check_promote(struct ray_check *c, const struct ray_expr *l, const struct ray_expr *r);
const struct ray_type *ray_check_promote_one(struct ray_check *c, const struct ray_type *t);
/* Values are computed as C does, in int at least; but what is kept or shown of (char)x + (char)y is a char in D. That type is
 * in cast_type of the operator; keep() cuts the value to it. */
const struct ray_type *ray_check_kept_type(const struct ray_expr *e);
void ray_check_set_kept(struct ray_expr *e, const struct ray_type *t);
const struct ray_type *ray_check_kept_of_two(struct ray_check *c, const struct ray_expr *l, const struct ray_expr *r);
struct ray_expr *ray_check_keep(struct ray_check *c, struct ray_expr *e);
/* The value as one of that type, with a CAST if it takes one. */
struct ray_expr *ray_check_convert(struct ray_check *c, struct ray_expr *e, const struct ray_type *to);
/* As messages name it. In the arena. */
const char *ray_check_type_name(struct ray_check *c, const struct ray_type *t);
const char *ray_check_type_of(struct ray_check *c, const struct ray_expr *e);
const char *ray_op_text(enum ray_op op);

/* check_fold.c: e if nothing can be folded. */
struct ray_expr *ray_check_fold(struct ray_check *c, struct ray_expr *e);
uint64_t ray_check_normalize(uint64_t value, const struct ray_type *t);

/* check_op.c, check_assign.c, check_member.c, check_name.c, check_call.c: handlers of the table. */
typedef struct ray_expr *ray_check_fn(struct ray_check *c, struct ray_expr *e, enum ray_use use);
ray_check_fn ray_check_unary, ray_check_binary, ray_check_cond, ray_check_comma, ray_check_assign, ray_check_cast,
	ray_check_address, ray_check_dereference, ray_check_arrow, ray_check_index, ray_check_sizeof,
	ray_check_offsetof, ray_check_name, ray_check_aggregation, ray_check_symbol, ray_check_function,
	ray_check_xlate;

/* check_name.c */
struct ray_variable *ray_check_find_variable(struct ray_check *c, enum ray_scope scope, const char *name);
struct ray_variable *ray_check_create_variable(struct ray_check *c, enum ray_scope scope, const char *name,
					       const struct ray_where *where);
bool ray_check_is_virgin(const struct ray_variable *v); /* neither declared nor used yet */
const char *ray_check_variable_kind(const struct ray_variable *v);
/* The name on the left of =, op=, ++: makes the variable if there is none. e if it is no name. */
struct ray_expr *ray_check_target(struct ray_check *c, struct ray_expr *e);
struct ray_aggregation *ray_check_get_aggregation(struct ray_check *c, const char *name, const struct ray_where *where);
/* variable[args] of an associative array, or inline[args]. */
struct ray_expr *ray_check_element(struct ray_check *c, struct ray_expr *e, struct ray_variable *v, enum ray_use use);
bool ray_check_keys(struct ray_check *c, const struct ray_where *where, const char *name, const char *prefix,
		    const char *kind, const struct ray_type *const **types, size_t *type_count, bool *is_known,
		    struct ray_expr **keys, size_t count);

/* check_call.c: words of D_PROTO_LEN. bound: "", "at least ", "at most ". */
void *ray_check_wrong_count(struct ray_check *c, const struct ray_where *where, const char *name, size_t given,
			    const char *what, const char *bound, size_t expected);

/* builtin.c: NULL without an error if the name is none. */
struct ray_expr *ray_check_builtin(struct ray_check *c, const char *name, const struct ray_where *where);
/* args[n], uregs[n], fds[n]: NULL without an error if the name is none of them. */
struct ray_expr *ray_check_builtin_element(struct ray_check *c, struct ray_expr *e, const char *name);
bool ray_check_is_builtin(const char *name);
struct ray_expr *ray_check_arg(struct ray_check *c, struct ray_expr *index);
/* The args[] of whatever the clause may fire for, until each() returns false; false after an error. */
bool ray_check_each_args(struct ray_check *c, bool (*each)(const struct ray_probe_args *args, void *arg), void *arg);
/* check_call_args.c: args[0]->name of a call; the string behind a pointer, "" behind none; that of an argument. */
struct ray_expr *ray_check_call_member(struct ray_check *c, const char *name, const struct ray_where *where);
struct ray_expr *ray_check_text(struct ray_check *c, struct ray_expr *pointer);
struct ray_expr *ray_check_call_text(struct ray_check *c, int native, const struct ray_where *where);
/* check_view.c: e is a->text or a.text, s the structure. NULL without an error if nothing calculates such a member. */
struct ray_expr *ray_check_view_member(struct ray_check *c, struct ray_expr *e, const struct ray_type *s);
/* constants.c */
bool ray_prelude_constant(const char *name, int64_t *ret);

/* xlate.c. from -> to (a structure, or a pointer to one): an expression XLATE. NULL without an error if nothing translates. */
struct ray_expr *ray_check_translate(struct ray_check *c, struct ray_expr *from, const struct ray_type *to,
				     const struct ray_where *where);
struct ray_expr *ray_check_translated_member(struct ray_check *c, struct ray_expr *xlate, const char *member,
					     const struct ray_where *where);
bool ray_check_translators(struct ray_check *c);
/* prelude.c: parses D's own translator to that structure, if there is one and it is not there yet. */
bool ray_check_load_prelude(struct ray_check *c, const struct ray_type *to);
bool ray_check_load_providers(struct ray_check *c);
/* prelude_cpu.c: curcpu->member. */
struct ray_expr *ray_check_cpu_member(struct ray_check *c, struct ray_expr *cpu, const char *member,
				      const struct ray_where *where);
/* fds[n].member. */
struct ray_expr *ray_check_file_member(struct ray_check *c, struct ray_expr *fd, const char *member,
				       const struct ray_where *where);

/* check_inline.c */
bool ray_check_inlines(struct ray_check *c);
struct ray_expr *ray_check_expand(struct ray_check *c, const struct ray_variable *v, struct ray_expr **args);

/* clone.c: a copy in which variables are replaced by values. */
struct ray_substitution {
	const struct ray_variable *variable;
	struct ray_expr *value;
};
struct ray_expr *ray_expr_clone(struct ray_arena *arena, const struct ray_expr *e, const struct ray_substitution *s,
				size_t count);

/* check.c: what is checked twice must be copied first. */
struct ray_statement *ray_check_copy_statements(struct ray_check *c, const struct ray_clause *clause);
/* check_split.c */
bool ray_check_split(struct ray_check *c, size_t index);

/* check_statement.c: first pass, types; second pass, what actions ask for. */
bool ray_check_statement(struct ray_check *c, struct ray_statement *s);
struct ray_clause_state {
	bool has_speculate, has_commit, has_record, has_aggregation;
};
bool ray_check_effects(struct ray_check *c, struct ray_statement *s, struct ray_clause_state *state);
/* check_action.c, check_agg.c, check_format.c: what one statement's arguments must be. */
bool ray_check_action(struct ray_check *c, struct ray_statement *s);
bool ray_check_aggregate(struct ray_check *c, struct ray_statement *s);
bool ray_check_aggregate_types(struct ray_check *c, struct ray_statement *s);
bool ray_check_stack_args(struct ray_check *c, const struct ray_function *f, struct ray_expr **args, size_t count);
bool ray_check_format(struct ray_check *c, struct ray_statement *s, const char *text, size_t length,
		      const struct ray_type *const *types, size_t count, const struct ray_aggregation *aggregation);

#endif
