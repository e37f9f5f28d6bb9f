/* asked.h - who asked for what is still going on: JavaScript stacks by the operation's id, until its end is told.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_VIEW_ASKED_H
#define RAY_VIEW_ASKED_H

#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/json.h"
#include "base/text.h"

struct ray_asked;

struct ray_asked *ray_asked_create(void); /* NULL: no memory */
void ray_asked_free(struct ray_asked *a);
RAY_DEFINE_AUTO(ray_asked, ray_asked_free)

/* An older one of the same id is forgotten: its end was never told. */
void ray_asked_put(struct ray_asked *a, uint32_t pid, uint64_t id, const char *stack);
/* Stays known; valid until the next call. NULL: it is not known. */
const char *ray_asked_find(struct ray_asked *a, uint32_t pid, uint64_t id);
/* The caller's to free; NULL: it is not known. */
char *ray_asked_take(struct ray_asked *a, uint32_t pid, uint64_t id);

/* A stack's lines as an array of strings; below a line of output, indented. Of one with JavaScript in it only that: how node comes from there to libuv
 * is nobody's question. */
json_t *ray_view_stack_json(const char *lines);
void ray_view_stack_lines(const char *lines, struct ray_text *out);

#endif
