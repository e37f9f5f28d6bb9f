/* completion.h - completion scripts for shells, from the same tables as --help.
 * SPDX-License-Identifier: MIT
 *
 * The scripts ask 'noderay completion pids' for the nodes that run while one types. What a value may
 * be is told by the name that --help gives it: FILE, DIR, PID, TARGET, or one|of|these. */
#ifndef RAY_CMD_COMPLETION_H
#define RAY_CMD_COMPLETION_H

#include "base/text.h"

enum ray_value_kind { RAY_VALUE_TEXT, RAY_VALUE_PID, RAY_VALUE_FILE, RAY_VALUE_DIR, RAY_VALUE_TARGET, RAY_VALUE_WORDS };

/* words receives "one of these" for RAY_VALUE_WORDS. */
enum ray_value_kind ray_value_kind(const char *name, struct ray_text *words);

void ray_completion_bash(void);
void ray_completion_zsh(void);
void ray_completion_fish(void);

#endif
