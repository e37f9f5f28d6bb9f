/* command.h - runs the shell command of a D system() action. SPDX-License-Identifier: MIT */
#ifndef RAY_ENGINE_COMMAND_H
#define RAY_ENGINE_COMMAND_H

#include <stdbool.h>

#include "base/auto.h"

/* Waits for the command. False: errno is the reason, ECANCELED if a signal has terminated noderay already; or
 * errno is 0: the command is still running after such a signal. */
bool ray_command_run(const char *command);

#endif
