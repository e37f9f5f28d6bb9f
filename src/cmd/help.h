/* help.h - what --help and --version print, all of it from the verbs' tables.
 * SPDX-License-Identifier: MIT
 *
 * Within 80 columns. */
#ifndef RAY_CMD_HELP_H
#define RAY_CMD_HELP_H

#include "cmd/cmd.h"

void ray_help_overview(void);
void ray_help_verb(const struct ray_verb *verb);
void ray_help_version(void);

#endif
