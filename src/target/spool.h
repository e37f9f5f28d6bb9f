/* spool.h - unpacks a compressed file into a nameless, sparse temporary file.
 * SPDX-License-Identifier: MIT
 *
 * On disk, because a core can be far larger than the memory noderay may use; nameless, so that
 * nothing stays behind whatever happens to noderay. Goes to $TMPDIR, or to /var/tmp. */
#ifndef RAY_TARGET_SPOOL_H
#define RAY_TARGET_SPOOL_H

#include "base/error.h"
#include "target/unpack.h"

struct ray_spool {
	const char *name; /* for messages */
	/* Looks at the first bytes that come out; an error ends the work before the rest is unpacked. */
	struct ray_error *(*check)(const unsigned char *bytes, size_t size);
};

/* The unpacked file. *trouble_ret: what was wrong with the packed one ("it ends early"), to be freed;
 * NULL if nothing. */
RAY_MUST_USE struct ray_error *ray_spool_unpack(const struct ray_spool *spool, int fd, enum ray_packing packing,
						int *fd_ret, char **trouble_ret);

#endif
