/* interrupt.h - the user wants to stop.
 * SPDX-License-Identifier: MIT
 *
 * SIGINT, SIGTERM and SIGHUP, for which main installs a handler. As long as nothing has been collected, the process ends at once, by the signal. From
 * ray_interrupt_keep() on the first one is a wish: ray_interrupted is set, long work in any layer looks at it between its steps and ends early, and what was collected is
 * printed. That has a second. A signal often comes twice, to the process and to its group: what follows within half a second is the same wish. A later one
 * leaves a tenth of a second.
 *
 * Whatever must not be left behind by an end at once (a half-written file, a child that is held) is told beforehand: ray_interrupt_undo(). */
#ifndef RAY_BASE_INTERRUPT_H
#define RAY_BASE_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

extern volatile int ray_interrupted;

void ray_interrupt_install(void);
void ray_interrupt_keep(void);
/* Whether so many milliseconds have passed since the first signal: whatever would take long is left out then, and counted. */
bool ray_interrupt_passed(uint32_t ms);

/* Results are being written to fd: as long as somebody takes them, that may last longer than a second. Into a file of its own, whose end is only a matter of time: no limit but
 * the next signal. */
enum ray_interrupt_writing { RAY_WRITING_NOTHING, RAY_WRITING_OUTPUT, RAY_WRITING_FILE };
void ray_interrupt_writing(enum ray_interrupt_writing what, int fd);

/* Called in the handler: by calls only that are safe there. False: no more room, and it will not be called. */
typedef void ray_interrupt_undo_fn(void *arg);
bool ray_interrupt_undo(ray_interrupt_undo_fn *undo, void *arg);
void ray_interrupt_undo_no_more(ray_interrupt_undo_fn *undo, void *arg);

#endif
