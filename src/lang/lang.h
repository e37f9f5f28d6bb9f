/* lang.h - text in, checked program or diagnostics out; runs nothing.
 * SPDX-License-Identifier: MIT
 *
 * Several texts (-n, -s) make one program. Errors carry DTrace's tags; a diagnostic is one line as the reference
 * prints it, plus the source line and a caret. */
#ifndef RAY_LANG_LANG_H
#define RAY_LANG_LANG_H

#include "lang/program.h"
#include "probe/catalogue.h"

struct ray_macros {		      /* $1.., $$1.., $target... */
	const char *const *arguments; /* $0 is arguments[0] */
	size_t argument_count;
	/* Per argument, set when a text refers to it; NULL if nobody asks. Parsing fails when the last argument has not been
	 * referred to by the end of the text, unless allow_unused: of several texts, only the last is to be asked. */
	bool *used;
	bool allow_unused;	/* -x argref, or more texts to come */
	bool default_arguments; /* -x defaultargs: missing ones are 0 or "" */
	int64_t target;		/* pid; 0 when there is none: then $target is an error */
};

/* How a text is read: whole program, or the argument of -P -m -f -n -i followed by an optional /pred/ { actions }. */
enum ray_text_kind {
	RAY_TEXT_SCRIPT,
	RAY_TEXT_PROVIDER,
	RAY_TEXT_MODULE,
	RAY_TEXT_FUNCTION,
	RAY_TEXT_NAME,
	RAY_TEXT_ID
};

struct ray_source {
	enum ray_text_kind kind;
	const char *file; /* of RAY_TEXT_SCRIPT; NULL for an argument */
	const char *text;
	size_t length;
	bool is_library; /* of -L: may depend on other libraries */
};

struct ray_lang_options {
	bool error_tags;		/* -x errtags */
	bool allow_empty;		/* -x empty: a program without clauses is none */
	bool allow_no_match;		/* -Z */
	bool allow_open_end;		/* -l: the last clause need not be closed, as only its descriptions count */
	bool knows_default_probe_field; /* -x pspec */
	uint32_t strsize;
	uint64_t scratchsize;		  /* what alloca() can give; 0: not known */
	const char *cpp_command;	  /* NULL: no -C */
	const char *const *cpp_arguments; /* NULL-ended; NULL: none */
	bool cpp_is_traditional;	  /* -x stdc=s: before ISO C */
};

struct ray_diagnostic {
	char *tag;		/* "D_SYNTAX" */
	char *message;		/* "syntax error near \"}\"" */
	struct ray_where where; /* line 0: none */
	char *source_line;	/* NULL if there is none */
};

/* Parses text into program (which may hold earlier texts already). Fails with *diagnostic filled and an error whose text is
 * "[D_TAG] line N: message" (tag only with error_tags). Pragmas' options are collected, and applied by the caller between
 * parse and check. */
RAY_MUST_USE struct ray_error *ray_program_create(const struct ray_macros *macros, struct ray_program **ret);
void ray_program_free(struct ray_program *program);
RAY_DEFINE_AUTO(ray_program, ray_program_free)
RAY_MUST_USE struct ray_error *ray_program_parse(struct ray_program *program, const struct ray_source *source,
						 const struct ray_lang_options *options,
						 const struct ray_macros *macros, struct ray_diagnostic *diagnostic);
/* Resolves and types everything parsed so far, matching each clause's descriptions in the catalogue. */
RAY_MUST_USE struct ray_error *ray_program_check(struct ray_program *program, struct ray_catalogue *catalogue,
						 const struct ray_lang_options *options,
						 const struct ray_macros *macros, struct ray_diagnostic *diagnostic);
void ray_diagnostic_deinit(struct ray_diagnostic *d);

#endif
