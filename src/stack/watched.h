/* watched.h - processes that are looked at again and again, and those that they start. SPDX-License-Identifier: MIT */
#ifndef RAY_STACK_WATCHED_H
#define RAY_STACK_WATCHED_H

#include "base/vec.h"
#include "stack/sampled.h"
#include "stack/thread_names.h"

struct ray_watched {
	int pid;
	struct ray_target *target; /* NULL: it could not be opened */
	struct ray_js *js;	   /* like it */
	struct ray_sampled_known *known;
	struct ray_thread_names threads;
	uint64_t maps_ns; /* when its mappings were read */
	uint64_t used;
};

struct ray_watched_list {
	RAY_VEC(struct ray_watched *) open; /* those that were needed last */
	RAY_VEC(pid_t) pids;		    /* targets and what they started, as far as it is known */
	uint64_t used;
	const struct ray_script_maps *script_maps; /* for each of them */
};

/* Opens the targets, and finds what they have started already if they are to be followed. */
RAY_MUST_USE struct ray_error *ray_watched_open(struct ray_watched_list *l, const pid_t *pids, size_t count,
						bool follow);
void ray_watched_close(struct ray_watched_list *l);
/* Opened if it is not; then it counts as one of theirs. NULL without memory. */
struct ray_watched *ray_watched_get(struct ray_watched_list *l, pid_t pid);
/* So that it is opened afresh: it is another program now. */
void ray_watched_forget(struct ray_watched_list *l, pid_t pid);
/* Adds to pids what they have started since. False without memory. */
bool ray_watched_find_kin(struct ray_watched_list *l);
/* What a thread is for; NULL: that cannot be told now. */
const struct ray_role_info *ray_watched_thread_role(struct ray_watched_list *l, pid_t pid, int tid);
bool ray_watched_all_ended(const struct ray_watched_list *l);

#endif
