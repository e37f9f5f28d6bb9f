/* command.h - runs a command of a script's system(). SPDX-License-Identifier: MIT */
#ifndef RAY_ENGINE_COMMAND_H
#define RAY_ENGINE_COMMAND_H

#include <stdbool.h>

#include "base/auto.h"

/* By the shell, and waits for its end. After a signal that ends noderay a command that goes on is left alone: false, and errno is 0 then. Else errno says why it was not run; ECANCELED: there was no time left. */
bool ray_command_run(const char *command);

#endif
