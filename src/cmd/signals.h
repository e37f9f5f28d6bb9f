/* signals.h - what the process does on signals, and with its standard files.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_CMD_SIGNALS_H
#define RAY_CMD_SIGNALS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/* Handlers of terminating signals (base/interrupt.h); SIGPIPE and SIGXFSZ are ignored. */
void ray_signals_install(void);
/* Sees to it that no file opened later becomes standard input, output or error. */
void ray_stdio_reserve(void);
/* From now on lines are written together, as many as there are: for one file, and for whoever flushes it before it waits. */
void ray_stdio_batch(FILE *out);
/* Flushes; whether nobody is there to read it, which may have shown in an earlier write. */
bool ray_stdio_reader_is_gone(FILE *out);
/* Flushes out. A closed pipe is no error. */
RAY_MUST_USE struct ray_error *ray_stdio_finish(FILE *out);

#endif
