/* attach.h - hanging programs in: what attach*.c share. Everything hangs on file descriptors, and ends with them.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_ENGINE_ATTACH_H
#define RAY_ENGINE_ATTACH_H

#include <linux/perf_event.h>

#include "engine/internal.h"

/* Takes fd over: closed by ray_entries_detach(). pid: the process that it is about; 0: no certain one. */
RAY_MUST_USE struct ray_error *ray_link_keep(struct ray_trace *t, int fd, pid_t pid);
/* Closes those of processes that have ended; their points are free then. */
void ray_links_forget(struct ray_trace *t, const pid_t *pids, size_t count);
/* Opens a perf event and lets it run the entry's program, which finds `point` in its cookie. `what` is for the error. */
RAY_MUST_USE struct ray_error *ray_perf_attach(struct ray_trace *t, const struct ray_entry *e,
					       struct perf_event_attr *attr, int cpu, uint32_t point, const char *what);
/* errno of a system call that the kernel refused, with what would allow it. */
RAY_MUST_USE struct ray_error *ray_attach_error(int errnum, const char *what);
/* Whether the process that it is in has ended meanwhile: no reason to fail. */
bool ray_site_is_gone(const struct ray_site *site);
/* All sites of an entry for uprobes. */
RAY_MUST_USE struct ray_error *ray_uprobes_attach(struct ray_trace *t, struct ray_entry *e);

/* Hooks at system calls, if functions have stood in for them until now: a process has come that has none. */
RAY_MUST_USE struct ray_error *ray_calls_attach(struct ray_trace *t);
/* One more site of an entry that is loaded. It hangs after ray_uprobes_attach_late(): many at once cost as much as one. */
RAY_MUST_USE struct ray_error *ray_uprobe_add_late(struct ray_trace *t, struct ray_entry *e,
						   const struct ray_site *site, uint32_t point);
RAY_MUST_USE struct ray_error *ray_uprobes_attach_late(struct ray_trace *t);

#endif
