/* core_file.h - a core that a verb writes: its name, and what is said of it. SPDX-License-Identifier: MIT */
#ifndef RAY_CMD_CORE_FILE_H
#define RAY_CMD_CORE_FILE_H

#include "base/text.h"
#include "target/gcore.h"

/* core.PID, or the pattern with %p replaced; .zst is added to the default only. */
void ray_core_name(const char *pattern, bool zstd, int pid, struct ray_text *ret);
/* The file's name, or all as JSON, to stdout; pause and losses to stderr. */
void ray_core_print(const struct ray_gcore_options *options, const struct ray_gcore_report *report, int pid,
		    bool is_json);

#endif
