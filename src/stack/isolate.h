/* isolate.h - which V8 isolate a thread is in.
 * SPDX-License-Identifier: MIT
 *
 * V8 keeps the current isolate in a thread-local variable (since 11) or under a pthread key (before). Which one,
 * and where, is read from the code of v8::Isolate::TryGetCurrent(): a public function of a few instructions that
 * every build exports, stripped ones too, while the variable itself is exported by few. Its symbol is the second
 * choice. A thread with an isolate runs JavaScript: it is the main thread or a worker_threads worker. */
#ifndef RAY_STACK_ISOLATE_H
#define RAY_STACK_ISOLATE_H

#include "target/node.h"

enum ray_isolate_kind {
	RAY_ISOLATE_FIXED,  /* at thread pointer + value */
	RAY_ISOLATE_KEY,    /* under pthread key value */
	RAY_ISOLATE_MODULE, /* at value in the thread's block of the module with this id */
};

struct ray_isolate_slot {
	enum ray_isolate_kind kind;
	int64_t value;
	uint64_t module_id;
};

/* False when it cannot be told, or when V8 has not started yet. */
bool ray_isolate_find_slot(struct ray_target *t, const struct ray_node *node, struct ray_isolate_slot *ret);
/* The isolate of the thread with this thread pointer; 0 when it is in none. False when that cannot be told. */
bool ray_isolate_read(struct ray_target *t, const struct ray_isolate_slot *slot, uint64_t pointer, uint64_t *ret);

/* How many worker_threads run. False when it cannot be told. Stops nothing. */
bool ray_isolate_count_workers(struct ray_target *t, const struct ray_node *node, size_t *ret);

/* What the code of v8::Isolate::TryGetCurrent() at vaddr says; for unit tests. */
enum ray_isolate_access {
	RAY_ACCESS_UNKNOWN,
	RAY_ACCESS_FIXED,      /* value: offset from the thread pointer */
	RAY_ACCESS_FIXED_GOT,  /* value: vaddr of the word that holds that offset */
	RAY_ACCESS_KEY,	       /* value: vaddr of the key */
	RAY_ACCESS_KEY_GOT,    /* value: vaddr of the pointer to the key */
	RAY_ACCESS_MODULE_GOT, /* value: vaddr of module id and offset */
	RAY_ACCESS_LOCAL_GOT,  /* value: vaddr of the module id; extra: the offset */
	RAY_ACCESS_ELSEWHERE,  /* value: vaddr of the function it jumps to */
};
enum ray_isolate_access ray_isolate_decode(const uint8_t *code, size_t size, uint64_t vaddr, int64_t *value_ret,
					   int64_t *extra_ret);

#endif
