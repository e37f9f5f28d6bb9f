/* auto.h - cleanup guards and the attributes every module uses.
 * SPDX-License-Identifier: MIT
 *
 * A guard frees what it names on every way out of the scope; ray_take() hands the thing over, as
 * the last and infallible act. Never mix guards with goto, and never give a guarded pointer to
 * realloc (use the vector). */
#ifndef RAY_BASE_AUTO_H
#define RAY_BASE_AUTO_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RAY_MUST_USE __attribute__((warn_unused_result))
#define RAY_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define RAY_UNUSED __attribute__((unused))

#define RAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Defines what ray_auto(type, name) does at the end of the scope. */
#define RAY_DEFINE_AUTO(type, free_function)                                \
	static inline RAY_UNUSED void ray_auto_free_##type(struct type **p) \
	{                                                                   \
		free_function(*p);                                          \
	}

#define ray_auto(type, name) __attribute__((cleanup(ray_auto_free_##type))) struct type *name

static inline RAY_UNUSED void ray_auto_free_memory(void *p)
{
	free(*(void **)p);
}

static inline RAY_UNUSED void ray_auto_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline RAY_UNUSED void ray_auto_close_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define ray_auto_memory __attribute__((cleanup(ray_auto_free_memory)))
#define ray_auto_fd __attribute__((cleanup(ray_auto_close_fd)))
#define ray_auto_file __attribute__((cleanup(ray_auto_close_file)))

/* Hands a guarded pointer over: the guard then frees nothing. */
#define ray_take(p)                             \
	({                                      \
		__typeof__(p) ray_taken_ = (p); \
		(p) = NULL;                     \
		ray_taken_;                     \
	})

#endif
