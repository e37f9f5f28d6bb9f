/* thread_names.h - what the threads of a process are for, remembered while it is watched. SPDX-License-Identifier: MIT */
#ifndef RAY_STACK_THREAD_NAMES_H
#define RAY_STACK_THREAD_NAMES_H

#include "base/vec.h"
#include "stack/js.h"
#include "stack/role.h"

struct ray_thread_name {
	int tid;
	struct ray_role_info role;
};

struct ray_thread_names {
	RAY_VEC(struct ray_thread_name) at;
	uint64_t asked_ns; /* when threads were last looked at */
};

const struct ray_role_info *ray_thread_names_find(const struct ray_thread_names *n, int tid); /* NULL: not known */
/* A thread that was not there the last time makes all of them be looked at again, but not too often: a program may make threads fast. */
bool ray_thread_names_are_old(const struct ray_thread_names *n);
/* Looks at the threads that js's target has, which must have been refreshed. */
void ray_thread_names_look(struct ray_thread_names *n, struct ray_js *js);
void ray_thread_names_forget(struct ray_thread_names *n);

#endif
