/* pack.h - a whole profile as a compact text, for files that carry one inside: the HTML report and the SVG. SPDX-License-Identifier: MIT
 *
 * Columns of numbers (LEB128; signed ones zigzag) after a line that says what it is, compressed (zlib), as base64:
 *
 *   "noderay-profile 1\n"
 *   texts      n, n lengths, the bytes of all
 *   kinds      n, n texts: the words of RAY_KIND_*, so that a file outlives a new kind
 *   head       n, n numbers: enum ray_pack_head; a reader skips what it does not know
 *   functions  n, and n each of: kind, name, file, line, column, package
 *   frames     n, and n each of: function (signed, less the one before), line, column, is inlined
 *   nodes      n without the root, and n each of: own number less the parent's, frame
 *   threads    n, and n each of: pid, tid, name, process
 *   samples    n, and n each of: time (signed, less the one before), node (the same), thread, weight (signed), count
 *
 * Functions, frames and nodes are numbered from 1 as in profile.h, texts from 0. The page's own reader is report/data.js. Pure. */
#ifndef RAY_PROFILE_PACK_H
#define RAY_PROFILE_PACK_H

#include "base/text.h"
#include "profile/diff.h"

#define RAY_PACK_MAGIC "noderay-profile 1\n"

enum ray_pack_head {
	RAY_PACK_TITLE,
	RAY_PACK_EVENT,
	RAY_PACK_COMMAND,
	RAY_PACK_HOST,
	RAY_PACK_NODE_VERSION,
	RAY_PACK_BEFORE_TITLE,
	RAY_PACK_UNIT,
	RAY_PACK_START,
	RAY_PACK_DURATION,
	RAY_PACK_PERIOD,
	RAY_PACK_HAS_TIMES,
	RAY_PACK_LOST,
	RAY_PACK_CUT,
	RAY_PACK_UNNAMED,
	RAY_PACK_BEFORE_THREADS,
	RAY_PACK_HEAD_COUNT,
};

RAY_MUST_USE struct ray_error *ray_profile_pack(const struct ray_profile *p, struct ray_text *ret);
/* Of both sides: RAY_PACK_BEFORE_THREADS is 1. */
RAY_MUST_USE struct ray_error *ray_profile_diff_pack(const struct ray_profile_diff *d, struct ray_text *ret);
/* RAY_UNREADABLE: it is damaged, and where. */
RAY_MUST_USE struct ray_error *ray_profile_unpack(const char *text, size_t size, struct ray_profile **ret);

#endif
