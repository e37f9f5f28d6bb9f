/* interrupt.h - termination by SIGINT, SIGTERM and SIGHUP.
 * SPDX-License-Identifier: MIT
 *
 * Until ray_interrupt_defer() is called the process has no results, and the first signal kills it.
 * Afterwards the first signal sets ray_interrupted. Long operations in every layer check the flag between
 * steps and return early, and the results are printed. A timer enforces the deadline of one second.
 *
 * A signal is often delivered twice, to the process and to its process group. Signals within 500 ms of the
 * first one are ignored; a later signal shortens the deadline to 100 ms.
 *
 * Cleanup functions run before the process is killed: they remove partial files and kill child processes
 * that were not started yet. */
#ifndef RAY_BASE_INTERRUPT_H
#define RAY_BASE_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

extern volatile int ray_interrupted;

void ray_interrupt_install(void);
void ray_interrupt_defer(void);
/* True when at least that many milliseconds have passed since the first signal. */
bool ray_interrupt_elapsed(uint32_t ms);

/* While results are written the deadline is later: OUTPUT has 5 s, as long as fd accepts data; FILE, a regular
 * file that only this process reads, has no deadline except that of a second signal. */
enum ray_interrupt_writing { RAY_WRITING_NOTHING, RAY_WRITING_OUTPUT, RAY_WRITING_FILE };
void ray_interrupt_writing(enum ray_interrupt_writing what, int fd);

/* cleanup is called in a signal handler and may use only async-signal-safe functions. False: the table is full. */
typedef void ray_interrupt_cleanup_fn(void *arg);
bool ray_interrupt_cleanup_add(ray_interrupt_cleanup_fn *cleanup, void *arg);
void ray_interrupt_cleanup_remove(ray_interrupt_cleanup_fn *cleanup, void *arg);

#endif
