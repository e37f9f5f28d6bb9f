/* spawn.h - starts a program and holds it before it does anything, until whoever watches it is ready.
 * SPDX-License-Identifier: MIT
 *
 * The child is seized by ptrace while it is held; if we die meanwhile, the kernel lets it run. Once let go it is on its own, or,
 * if asked, it stops for a moment when it exits, so that its memory can be read a last time. Knows no probes. */
#ifndef RAY_TARGET_SPAWN_H
#define RAY_TARGET_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct ray_spawn;

/* Held right after exec: only the program and the dynamic linker are mapped. The search goes through PATH. */
RAY_MUST_USE struct ray_error *ray_spawn_create(char *const *argv, struct ray_spawn **ret);
/* The same; where its input and output would be a terminal, they are /dev/null: somebody else draws there. */
RAY_MUST_USE struct ray_error *ray_spawn_create_quiet(char *const *argv, struct ray_spawn **ret);
void ray_spawn_free(struct ray_spawn *s); /* ends it, if it has not ended yet */
RAY_DEFINE_AUTO(ray_spawn, ray_spawn_free)
pid_t ray_spawn_pid(const struct ray_spawn *s);

/* Goes on to the program's entry point: its libraries are mapped and initialised then. */
RAY_MUST_USE struct ray_error *ray_spawn_run_to_entry(struct ray_spawn *s);
/* Lets it run. With watch_exit it stays traced, and ray_spawn_poll() must be called on every SIGCHLD. */
RAY_MUST_USE struct ray_error *ray_spawn_release(struct ray_spawn *s, bool watch_exit);

enum ray_spawn_state {
	RAY_SPAWN_RUNS,
	RAY_SPAWN_EXITING, /* stopped at its exit, memory still there: ray_spawn_poll() again lets it go */
	RAY_SPAWN_ENDED,
};
/* Hands signals on, and tells what became of it. Never blocks. */
enum ray_spawn_state ray_spawn_poll(struct ray_spawn *s);

#endif
