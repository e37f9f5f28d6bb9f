/* watch.h - the events of the node provider: hooks, their handlers, and the clauses that run for what they tell.
 * SPDX-License-Identifier: MIT
 *
 * One program for each kind of place a hook can hang at. It knows its handlers by number (struct ray_point's probe), runs the one of the place that was hit
 * until that has nothing more to tell, and after each event the clauses that the process wants for it (struct ray_watched). */
#ifndef RAY_ENGINE_WATCH_H
#define RAY_ENGINE_WATCH_H

#include "engine/enter.h"
#include "probe/watch.h"

/* watch.c. A probe of this provider that clauses have; before ray_watches_place(). */
RAY_MUST_USE struct ray_error *ray_watch_add(struct ray_trace *t, struct ray_probe *probe, const struct ray_site *site,
					     const struct ray_clause *const *clauses, size_t count);
/* Makes the entries for all hooks that can be needed, also by processes that come later. */
RAY_MUST_USE struct ray_error *ray_watches_place(struct ray_trace *t);
/* Tells the kernel side about the processes; the maps are there. */
RAY_MUST_USE struct ray_error *ray_watches_tell(struct ray_trace *t);
/* A probe of a process that has just come: its hooks hang when this returns. */
RAY_MUST_USE struct ray_error *ray_watch_add_late(struct ray_trace *t, struct ray_probe *probe,
						  const struct ray_site *site, const struct ray_clause *const *clauses,
						  size_t count);
/* Hangs what has come with libraries that the process has mapped since. */
RAY_MUST_USE struct ray_error *ray_watch_grow(struct ray_trace *t, pid_t pid);
/* A process has ended: what was kept for it goes; with is_kept only on our side, as the kernel's is about what it is now. */
void ray_watch_forget(struct ray_trace *t, pid_t pid, bool is_kept);

/* watch_texts.c. RAY_UNREAD_* */
uint64_t ray_watch_unread(const struct ray_program *program);

/* enter_watch.c: what a hook does once it has its slot; what it does for each event. */
void ray_watch_emit_body(const struct ray_entry *e, struct ray_piece *p, uint32_t out);
void ray_watch_emit_step(struct ray_trace *t, struct ray_entry *e);

#endif
