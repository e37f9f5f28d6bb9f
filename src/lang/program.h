/* program.h - a program, parsed and then checked: what the parsers make and the engine takes.
 * SPDX-License-Identifier: MIT
 *
 * The parser fills names, operands and positions. The checker resolves names, gives every expression a
 * type, puts in the casts that C's conversions ask for, folds constants, inlines `inline` and translators,
 * and refuses what is wrong: the engine meets only the kinds and forms that are described here as checked.
 * All of it lives in the arena of one compilation. Knows no eBPF, no process. */
#ifndef RAY_LANG_PROGRAM_H
#define RAY_LANG_PROGRAM_H

#include "base/vec.h"
#include "lang/type.h"
#include "probe/spec.h"
#include "view/format.h"

struct ray_where {
	const char *file; /* NULL: the text of -n and its like */
	int line, column; /* from 1; a tab is one column */
	const char *
		source; /* where that line begins in the program's copy of the text; ends at \n or NUL. NULL: unknown */
	bool is_included; /* file is another than the one that was asked for (#include, #line): messages name it */
};

/* ---- variables ---- */

enum ray_scope {
	RAY_SCOPE_GLOBAL,
	RAY_SCOPE_THREAD,  /* self-> */
	RAY_SCOPE_CLAUSE,  /* this->: lives for one firing of a probe, through all its clauses */
	RAY_SCOPE_BUILTIN, /* see RAY_BUILTINS */
	RAY_SCOPE_INLINE,  /* parser and checker only */
};

/* X(identifier in C, name in D, type in D). args, uregs and fds are arrays. curpsinfo, curlwpsinfo, fds and
 * cwd are translated by the checker into expressions over curthread (see prelude.c), the rest is the engine's. */
/* clang-format off */
#define RAY_BUILTINS(X) \
	X(ARG0, "arg0", "int64_t") \
	X(ARG1, "arg1", "int64_t") \
	X(ARG2, "arg2", "int64_t") \
	X(ARG3, "arg3", "int64_t") \
	X(ARG4, "arg4", "int64_t") \
	X(ARG5, "arg5", "int64_t") \
	X(ARG6, "arg6", "int64_t") \
	X(ARG7, "arg7", "int64_t") \
	X(ARG8, "arg8", "int64_t") \
	X(ARG9, "arg9", "int64_t") \
	X(ARGS, "args", "") \
	X(UREGS, "uregs", "uint64_t") \
	X(FDS, "fds", "fileinfo_t") \
	X(PID, "pid", "pid_t") \
	X(PPID, "ppid", "pid_t") \
	X(TID, "tid", "id_t") \
	X(UID, "uid", "uid_t") \
	X(GID, "gid", "gid_t") \
	X(EXECNAME, "execname", "string") \
	X(PROBEPROV, "probeprov", "string") \
	X(PROBEMOD, "probemod", "string") \
	X(PROBEFUNC, "probefunc", "string") \
	X(PROBENAME, "probename", "string") \
	X(TIMESTAMP, "timestamp", "uint64_t") \
	X(VTIMESTAMP, "vtimestamp", "uint64_t") \
	X(WALLTIMESTAMP, "walltimestamp", "int64_t") \
	X(ERRNO, "errno", "int") \
	X(CALLER, "caller", "uintptr_t") \
	X(UCALLER, "ucaller", "uint64_t") \
	X(STACKDEPTH, "stackdepth", "uint32_t") \
	X(USTACKDEPTH, "ustackdepth", "uint32_t") \
	X(EPID, "epid", "uint64_t") \
	X(ID, "id", "uint_t") \
	X(IPL, "ipl", "uint_t") \
	X(CPU, "cpu", "processorid_t") \
	X(CURCPU, "curcpu", "cpuinfo_t *") \
	X(CURTHREAD, "curthread", "struct task_struct *") \
	X(CURPSINFO, "curpsinfo", "psinfo_t *") \
	X(CURLWPSINFO, "curlwpsinfo", "lwpsinfo_t *") \
	X(CWD, "cwd", "string") \
	X(ROOT, "root", "string") \
	X(CGROUP, "cgroup", "uint64_t") \
	X(JID, "jid", "uint64_t")
/* clang-format on */

enum ray_builtin {
	RAY_BUILTIN_NONE,
#define RAY_BUILTIN_ENUM(id, name, type) RAY_BUILTIN_##id,
	RAY_BUILTINS(RAY_BUILTIN_ENUM)
#undef RAY_BUILTIN_ENUM
};

struct ray_variable {
	const char *name;
	enum ray_scope scope;
	enum ray_builtin builtin;    /* of RAY_SCOPE_BUILTIN */
	const struct ray_type *type; /* of the value, or of one element; NULL until the first assignment tells */
	bool is_assoc;
	const struct ray_type *const *keys; /* of an associative array: the types of its tuple */
	size_t key_count;
	uint32_t id; /* dense, per scope, from 0 */
	struct ray_where where;
	bool is_declared; /* explicitly: `int x;` */
	bool is_written, is_read;
	bool holds_alloca, holds_other; /* the checker's: what kind of addresses */
	/* RAY_SCOPE_INLINE */
	struct ray_expr *body;
	struct ray_variable *const *formals;
};

enum ray_aggregator {
	RAY_AGG_NONE,
	RAY_AGG_COUNT,
	RAY_AGG_SUM,
	RAY_AGG_AVG,
	RAY_AGG_MIN,
	RAY_AGG_MAX,
	RAY_AGG_STDDEV,
	RAY_AGG_QUANTIZE,
	RAY_AGG_LQUANTIZE,
	RAY_AGG_LLQUANTIZE,
};

struct ray_aggregation {
	const char *name;	      /* without the @; "_" for the anonymous one */
	uint32_t id;		      /* dense, from 0; the anonymous one too */
	enum ray_aggregator function; /* NONE: only ever named, never filled */
	const struct ray_type *const *keys;
	size_t key_count;
	/* lquantize: low, high, step. llquantize: factor, low magnitude, high magnitude, steps */
	int64_t parameters[4];
	bool is_signed; /* the aggregated value's type */
	struct ray_where where;
};

/* ---- expressions ---- */

enum ray_expr_kind {
	RAY_EXPR_INTEGER,  /* value */
	RAY_EXPR_STRING,   /* text, length */
	RAY_EXPR_VARIABLE, /* variable. Parser: RAY_EXPR_NAME with scope */
	RAY_EXPR_ELEMENT,  /* associative array: variable[args]; uregs[a], too */
	RAY_EXPR_ARG,	   /* args[value], typed: native argument number in value */
	RAY_EXPR_UNARY,	   /* op a: - ~ ! and, on lvalues, ++x x++ --x x-- */
	RAY_EXPR_BINARY,   /* a op b: arithmetic, comparison, && || ^^; both operands have one type, but for shifts,
			      pointer + integer (b is already multiplied by the size) and string comparison */
	RAY_EXPR_ASSIGN,   /* a = b, or a op= b (op is then the binary operator, else RAY_OP_NONE) */
	RAY_EXPR_COND,	   /* a ? b : c */
	RAY_EXPR_COMMA,	   /* a, b */
	RAY_EXPR_CAST,	   /* a to type; string from char *: RAY_OP_STRINGOF */
	RAY_EXPR_DEREF,	   /* *a : lvalue of the pointed-to type, at the address a */
	RAY_EXPR_ADDRESS,  /* &a, a being DEREF or MEMBER or a by-reference variable */
	RAY_EXPR_MEMBER,   /* a.member: a is an lvalue of struct or union type; bit_offset is from its start.
			      Checked: p->m is MEMBER(DEREF(p)); p[i] is DEREF(p + i) */
	RAY_EXPR_CALL,	   /* function(args), a subroutine with a value */
	/* parser and checker only: */
	RAY_EXPR_NAME,	      /* text, scope */
	RAY_EXPR_INDEX,	      /* a[args] */
	RAY_EXPR_ARROW,	      /* a->text */
	RAY_EXPR_DOT,	      /* a.text */
	RAY_EXPR_SIZEOF,      /* of cast_type, or of a */
	RAY_EXPR_OFFSETOF,    /* cast_type, text */
	RAY_EXPR_XLATE,	      /* xlate <cast_type>(a) */
	RAY_EXPR_AGGREGATION, /* @text or @text[args]: in statements and as argument of actions (also checked there) */
	RAY_EXPR_SYMBOL,      /* kernel symbol: `text, module`text */
};

enum ray_op {
	RAY_OP_NONE,
	RAY_OP_ADD,
	RAY_OP_SUB,
	RAY_OP_MUL,
	RAY_OP_DIV,
	RAY_OP_MOD,
	RAY_OP_AND,
	RAY_OP_OR,
	RAY_OP_XOR,
	RAY_OP_SHL,
	RAY_OP_SHR,
	RAY_OP_EQ,
	RAY_OP_NE,
	RAY_OP_LT,
	RAY_OP_LE,
	RAY_OP_GT,
	RAY_OP_GE,
	RAY_OP_LOGIC_AND,
	RAY_OP_LOGIC_OR,
	RAY_OP_LOGIC_XOR,
	RAY_OP_NEGATE,
	RAY_OP_PLUS,
	RAY_OP_INVERT,
	RAY_OP_NOT,
	RAY_OP_PRE_INC,
	RAY_OP_PRE_DEC,
	RAY_OP_POST_INC,
	RAY_OP_POST_DEC,
	RAY_OP_STRINGOF,
};

struct ray_function; /* lang/functions.h: one row per action, subroutine and aggregating function */

struct ray_expr {
	enum ray_expr_kind kind;
	enum ray_op op;
	const struct ray_type *type; /* checked: never NULL */
	struct ray_where where;
	struct ray_expr *a, *b, *c;
	struct ray_expr **args;
	size_t arg_count;
	uint64_t value;
	const char *text;
	size_t length;
	enum ray_scope scope; /* of NAME */
	struct ray_variable *variable;
	struct ray_aggregation *aggregation;
	const struct ray_function *function;
	const struct ray_type *cast_type;
	const struct ray_member *member;
	uint32_t bit_offset, bit_width; /* of MEMBER; width 0: no bit-field */
	bool is_unsigned, is_long;	/* INTEGER: how it was written */
	bool is_char;			/* INTEGER: 'x' */
	bool is_parenthesized;
	uint16_t depth; /* of the tree as parsed; at most RAY_EXPR_MAX_DEPTH, so whoever walks it may recurse */
	/* The checker's: an address of scratch memory (alloca, copyin); it cannot be kept in a variable. */
	bool is_alloca, is_unassignable;
	const struct ray_translator *translator; /* of XLATE, while it is checked */
};

enum { RAY_EXPR_MAX_DEPTH = 400 };

/* ---- statements and clauses ---- */

enum ray_statement_kind {
	RAY_STATEMENT_EXPR,	 /* expr, for its effects */
	RAY_STATEMENT_ACTION,	 /* function(args): trace, printf, exit, ustack, clear, ... */
	RAY_STATEMENT_AGGREGATE, /* aggregation[keys] = function(args) */
	RAY_STATEMENT_DEFAULT,	 /* a clause without statements: the default action */
};

struct ray_statement {
	enum ray_statement_kind kind;
	struct ray_where where;
	struct ray_expr *expr;
	const struct ray_function *function;
	/* ACTION: the arguments without the format string; a named aggregation is RAY_EXPR_AGGREGATION.
	 * AGGREGATE: args[0] the value (none for count), then lquantize's constants; the last may be the increment:
	 * then has_increment. */
	struct ray_expr **args;
	size_t arg_count;
	bool has_increment;
	struct ray_format *format; /* of printf and its like; NULL if none was given */
	struct ray_aggregation *aggregation;
	struct ray_expr **keys;
	size_t key_count;
};

struct ray_clause {
	struct ray_where where;
	uint32_t index; /* in the program, from 0; clauses of libraries do not count */
	struct ray_probe_spec *specs;
	struct ray_where *spec_wheres; /* of each of them */
	size_t spec_count;
	struct ray_expr *predicate; /* NULL if none */
	struct ray_statement *statements;
	size_t statement_count;
	/* The checker's: what the engine must know before it generates. */
	bool is_checked;
	bool is_speculative; /* has speculate() */
	bool is_destructive;
	bool is_recording;  /* has a data-recording action, or the default one */
	uint32_t args_used; /* bit i: argi or args[] that needs native argument i */
	/* The probes it was matched with; the engine fires it for these. */
	RAY_VEC(struct ray_probe *) probes;
};

/* Its predicate is the constant 0, as of what an inline constant switches off: it never runs, and costs nothing. */
bool ray_clause_is_off(const struct ray_clause *clause);

/* translator to < from parameter > { name = expr; ... }; */
struct ray_translator_member {
	const char *name;
	struct ray_expr *expr;
	struct ray_where where;
};

struct ray_translator {
	struct ray_where where;
	const struct ray_type *to, *from;
	const char *parameter;
	struct ray_translator_member *members;
	size_t member_count;
	struct ray_where end;	       /* of its last ; */
	struct ray_variable *variable; /* the checker's: the parameter; NULL until it was checked */
	bool is_prelude;	       /* D's own */
};

/* provider name { probe name(types) : (types); }; : parsed and checked in itself, no more. */
struct ray_provider_block {
	struct ray_where where;
	const char *name;
	const char *const *probes;
	size_t probe_count;
};

struct ray_pragma_option {
	const char *name, *value; /* value NULL if none */
	struct ray_where where;
};

struct ray_program {
	struct ray_arena *arena; /* owns all of it */
	struct ray_types *types;
	RAY_VEC(struct ray_clause *) clauses;
	RAY_VEC(struct ray_variable *) variables[RAY_SCOPE_INLINE + 1]; /* by scope */
	RAY_VEC(struct ray_aggregation *) aggregations;
	RAY_VEC(struct ray_translator *) translators;
	RAY_VEC(struct ray_provider_block *) providers;
	RAY_VEC(struct ray_variable *) externs; /* `extern int x;`, prototypes: declared, no storage */
	RAY_VEC(struct ray_pragma_option) options;
	struct ray_declared *declared; /* the parser's: what earlier texts have declared */
	bool is_destructive;	       /* some clause needs -w */
};

#endif
