/* error.h - what went wrong, in words a user can act on.
 * SPDX-License-Identifier: MIT
 *
 * NULL is success. An error carries the exit code, a text built from the inside out ("core.412:
 * thread 412: cannot read 8 bytes at 0x10") and, where there is one, the remedy. Wrap it where you
 * know something the callee did not; it is printed once, in main. Creating one never fails.
 * One with RAY_DONE is no failure: its text is what was asked for, and nothing more is to be done. */
#ifndef RAY_BASE_ERROR_H
#define RAY_BASE_ERROR_H

#include "base/auto.h"

/* The process's exit codes: part of the product's interface. */
enum ray_code {
	RAY_DONE = 0,
	RAY_FAILED = 1,
	RAY_USAGE = 2,
	RAY_DENIED = 3,
	RAY_NOT_NODE = 4,
	RAY_UNREADABLE = 5, /* unsupported or unreadable target */
};

struct ray_error;

/* What is returned when there is no memory for an error; freeing it is harmless. */
extern struct ray_error ray_enomem;

RAY_MUST_USE struct ray_error *ray_error_new(enum ray_code code, const char *fmt, ...) RAY_PRINTF(2, 3);

/* Appends ": " and strerror(errnum). EPERM and EACCES become RAY_DENIED, whatever code says. */
RAY_MUST_USE struct ray_error *ray_error_errno(enum ray_code code, int errnum, const char *fmt, ...) RAY_PRINTF(3, 4);

/* Prefixes "text: ". Consumes cause; NULL stays NULL. */
RAY_MUST_USE struct ray_error *ray_error_wrap(struct ray_error *cause, const char *fmt, ...) RAY_PRINTF(2, 3);

/* Adds what the user can do about it (a line of its own when printed); returns err. NULL stays NULL. */
RAY_MUST_USE struct ray_error *ray_error_remedy(struct ray_error *err, const char *fmt, ...) RAY_PRINTF(2, 3);

/* Returns the first error and frees the other: for steps that all run, whether or not one fails. */
RAY_MUST_USE struct ray_error *ray_error_first(struct ray_error *first, struct ray_error *second);

enum ray_code ray_error_code(const struct ray_error *err);
const char *ray_error_text(const struct ray_error *err);
const char *ray_error_remedy_text(const struct ray_error *err); /* "" if none */
void ray_error_free(struct ray_error *err);
RAY_DEFINE_AUTO(ray_error, ray_error_free)

#endif
