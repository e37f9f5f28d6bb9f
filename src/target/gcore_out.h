/* gcore_out.h - a file that appears under its name only when it is whole.
 * SPDX-License-Identifier: MIT
 *
 * Written without a name where the file system allows it (O_TMPFILE), so that nothing is left behind
 * whatever happens; else as FILE.partial-PID, which is removed on every way out but SIGKILL. Pages of
 * zeros become holes. With zstd the bytes must come in the file's order. Mode 0600: a core holds secrets. */
#ifndef RAY_TARGET_GCORE_OUT_H
#define RAY_TARGET_GCORE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct ray_out;

struct ray_out_options {
	const char *path;
	bool force; /* replace what is there */
	bool zstd;
	unsigned threads; /* that compress; 0 or 1: none but the caller's */
};

/* Fails when the file exists (but for force), or cannot be made there. Writes nothing yet. */
RAY_MUST_USE struct ray_error *ray_out_open(const struct ray_out_options *options, struct ray_out **ret);
/* An error when about `bytes` do not fit on the file system, or a file of `size` is larger than
 * RLIMIT_FSIZE allows. */
RAY_MUST_USE struct ray_error *ray_out_check_room(struct ray_out *o, uint64_t bytes, uint64_t size);
RAY_MUST_USE struct ray_error *ray_out_put(struct ray_out *o, uint64_t offset, const void *bytes, size_t size);
/* Reads back what was put, zeros where nothing was. Not with zstd. */
RAY_MUST_USE struct ray_error *ray_out_get(struct ray_out *o, uint64_t offset, void *bytes, size_t size);
/* Ends it at size bytes and gives it its name. */
RAY_MUST_USE struct ray_error *ray_out_finish(struct ray_out *o, uint64_t size);
/* After finish: what it takes on disk, and its length. */
void ray_out_sizes(const struct ray_out *o, uint64_t *disk_ret, uint64_t *length_ret);
/* Removes it unless it was finished. */
void ray_out_close(struct ray_out *o);
RAY_DEFINE_AUTO(ray_out, ray_out_close)

#endif
