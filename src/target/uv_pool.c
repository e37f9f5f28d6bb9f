/* uv_pool.c - see uv_pool.h. SPDX-License-Identifier: MIT */
#include "target/uv_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "elf/elf.h"
#include "target/node.h"

enum { USUAL = 4, MOST = 1024 }; /* libuv's own limits */

struct pool {
	int pid;
	struct ray_target *target; /* NULL: it could not be opened */
	uint64_t variable;	   /* address of nthreads; 0: not known */
	unsigned int asked;	   /* by the environment, then */
};

struct ray_uv_pools {
	RAY_VEC(struct pool) all;
};

struct ray_uv_pools *ray_uv_pools_create(void)
{
	return calloc(1, sizeof(struct ray_uv_pools));
}

void ray_uv_pools_free(struct ray_uv_pools *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->all.n; i++)
		ray_target_close(p->all.at[i].target);
	ray_vec_free(&p->all);
	free(p);
}

/* threads, nthreads and idle_threads are libuv's, and local to it: only together are they its own. */
static uint64_t find_variable(struct ray_target *t)
{
	struct ray_symbol threads, idle, count;
	struct ray_node node;
	struct ray_error *err = ray_node_identify(t, &node);
	uint64_t address;

	if (err) {
		ray_error_free(err);
		return 0;
	}
	if (!node.module->elf || !ray_elf_find_symbol(node.module->elf, "nthreads", &count) ||
	    !ray_elf_find_symbol(node.module->elf, "idle_threads", &idle) ||
	    !ray_elf_find_symbol(node.module->elf, "threads", &threads) || count.size != sizeof(unsigned int))
		return 0;
	return ray_target_module_address(t, node.module, count.value, &address) ? address : 0;
}

/* As libuv reads it: 0 or no number is 1. */
static unsigned int read_environment(struct ray_target *t)
{
	static const char name[] = "UV_THREADPOOL_SIZE=";
	ray_auto_memory char *all = NULL;
	struct ray_error *err;
	size_t size = 0;

	err = ray_target_env(t, &all, &size);
	if (err) {
		ray_error_free(err);
		return USUAL;
	}
	for (size_t at = 0; at < size; at += strnlen(all + at, size - at) + 1) {
		size_t length = strnlen(all + at, size - at);
		unsigned long value;

		if (at + length == size || strncmp(all + at, name, strlen(name)) != 0)
			continue;
		value = strtoul(all + at + strlen(name), NULL, 10);
		return value < 1 ? 1 : value > MOST ? MOST : (unsigned int)value;
	}
	return USUAL;
}

static struct pool open_pool(int pid)
{
	struct pool pool = { .pid = pid };
	struct ray_error *err;
	char name[16];

	snprintf(name, sizeof(name), "%d", pid);
	err = ray_target_open(&(struct ray_target_options){ .name = name }, &pool.target);
	if (err) {
		ray_error_free(err);
		pool.target = NULL;
		return pool;
	}
	pool.variable = find_variable(pool.target);
	if (!pool.variable)
		pool.asked = read_environment(pool.target);
	return pool;
}

unsigned int ray_uv_pools_threads(struct ray_uv_pools *p, int pid)
{
	unsigned int value = 0;
	struct pool *pool = NULL;

	for (size_t i = 0; i < p->all.n && !pool; i++)
		if (p->all.at[i].pid == pid)
			pool = &p->all.at[i];
	if (!pool) {
		if (!ray_vec_push(&p->all, open_pool(pid)))
			return 0;
		pool = &p->all.at[p->all.n - 1];
	}
	if (!pool->variable)
		return pool->asked;
	if (ray_target_read(pool->target, pool->variable, &value, sizeof(value)) != sizeof(value) || value > MOST)
		return 0;
	return value;
}
