/* sourceurl.h - where a script's source map is, and what the sources in it are called. SPDX-License-Identifier: MIT
 *
 * Pure: text in, text out; opens nothing. Results are the caller's to free; NULL is "there is none", or no memory. */
#ifndef RAY_PROFILE_SOURCEURL_H
#define RAY_PROFILE_SOURCEURL_H

#include <stdbool.h>
#include <stddef.h>

/* The file of a script as node names it: a path, or file:///path. NULL for what is no file: node:fs, evalmachine.<anonymous>, [eval]. */
char *ray_source_script_path(const char *name);
/* What the last "//# sourceMappingURL=" of a script says; NULL: it has none. Not copied. */
const char *ray_source_url_find(const char *script, size_t size, size_t *length_ret);
bool ray_source_url_is_data(const char *url, size_t length);
/* The bytes of a data: URL, in base64 or as text. */
char *ray_source_url_data(const char *url, size_t length, size_t *size_ret);
/* The path that a URL in the script at path means; NULL: it is elsewhere (http:), or too strange. */
char *ray_source_url_path(const char *path, const char *url, size_t length);
/* What people call a source: its path, absolute where the map is a file at map_path; without the names that bundlers put before it
 * (webpack://pkg/./src/x.ts?1a2b is src/x.ts). */
char *ray_source_name(const char *map_path, const char *root, const char *source);

#endif
