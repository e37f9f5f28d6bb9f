/* files.h - how open descriptors look: a line each, everything about each, or counts.
 * SPDX-License-Identifier: MIT
 *
 * Pure: takes the list, writes text. Untrusted names are made safe on the way. */
#ifndef RAY_VIEW_FILES_H
#define RAY_VIEW_FILES_H

#include <stddef.h>
#include <stdio.h>

#include "base/text.h"
#include "target/files.h"

/* One line for each where it fits, else goes on below. width 0: no limit. */
void ray_view_files(const struct ray_files *files, size_t width, FILE *out);
/* All that is known of each, a line per fact. */
void ray_view_files_verbose(const struct ray_files *files, FILE *out);
/* How many of each type, states of TCP connections, uses by libuv. */
void ray_view_files_summary(const struct ray_files *files, FILE *out);
json_t *ray_view_files_summary_json(const struct ray_files *files);
/* "35 open files, limit 1024 (hard 1048576)" */
void ray_view_files_heading(const struct ray_files *files, struct ray_text *out);

/* The single facts, as text that is safe for a terminal; empty when there is none. */
void ray_view_file_name(const struct ray_file *f, struct ray_text *out);   /* path, addresses, count... */
void ray_view_file_detail(const struct ray_file *f, struct ray_text *out); /* offset, state and queues */
void ray_view_file_use(const struct ray_file *f, struct ray_text *out);	   /* "main: tcp server" */
void ray_view_file_flags(const struct ray_file *f, char out[16]);	   /* "rw-nc" */

#endif
