/* syscalls_table.h - system calls counted: the tables of `noderay syscalls`. SPDX-License-Identifier: MIT */
#ifndef RAY_VIEW_SYSCALLS_TABLE_H
#define RAY_VIEW_SYSCALLS_TABLE_H

#include "view/syscalls.h"

struct ray_syscalls_table;

struct ray_syscalls_table *ray_syscalls_table_create(const struct ray_syscalls_settings *settings);
void ray_syscalls_table_free(struct ray_syscalls_table *t);
/* A row: calls, callers or latency. */
void ray_syscalls_table_tell(struct ray_syscalls_table *t, const struct ray_fact *f);
void ray_syscalls_table_print(struct ray_syscalls_table *t, uint64_t duration_ns);

#endif
