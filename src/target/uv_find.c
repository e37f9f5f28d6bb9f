/* uv_find.c - searches a target's memory for event loops. See uv.h.
 * SPDX-License-Identifier: MIT
 *
 * Most promising memory first: static data (the default loop), malloc's heap (node's platform), stacks
 * of threads (workers keep theirs there), then the rest, up to a budget. The JavaScript heap, which can be
 * gigabytes and holds no loop, comes last and is mostly never reached. Pages of a process that were never
 * touched are not read: reading them would make the kernel map them. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vec.h"
#include "target/uv.h"

enum { CHUNK = 1 << 20, PAGE = 4096, ARENA = 64 << 20, MAX_LOOPS = 4096 };
static const uint64_t budget = 512ull << 20;

enum rank { RANK_STATIC, RANK_HEAP, RANK_STACK, RANK_ARENA, RANK_OTHER, RANK_COUNT };

struct finder {
	struct ray_target *t;
	struct ray_reader reader;
	struct ray_uv *uv;
	int pagemap; /* -1 for a core */
	unsigned char *chunk;
	uint64_t resident[CHUNK / PAGE];
	const int *epolls;
	size_t epoll_count;
	RAY_VEC(struct ray_uv_loop) loops;
};

void ray_uv_free(struct ray_uv *uv)
{
	if (!uv)
		return;
	ray_arena_free(uv->arena);
	free(uv);
}

/* before is the mapping that ends where this one begins, or NULL. */
static enum rank rank_of(const struct ray_map *m, const struct ray_map *before)
{
	if (m->path[0] == '/')
		return RANK_STATIC;
	if (!strcmp(m->path, "[heap]") || !strcmp(m->path, "[stack]"))
		return RANK_HEAP;
	/* .bss goes on where the file's data ends. */
	if (before && before->path[0] == '/' && before->prot & PROT_WRITE)
		return RANK_STATIC;
	/* A thread's stack has a guard below it that nothing may touch. Not every core shows it. */
	if (before && before->prot == PROT_NONE && before->end - before->start <= (uint64_t)16 * PAGE)
		return RANK_STACK;
	if (m->start % ARENA == 0 && m->end - m->start <= ARENA)
		return RANK_ARENA;
	return RANK_OTHER;
}

/* A core knows where its threads' stacks are, a process without stopping it does not. */
static void rank_thread_stacks(struct ray_target *t, const struct ray_map *maps, uint8_t *ranks)
{
	const struct ray_thread *threads;
	const struct ray_map *m;
	size_t n;

	threads = ray_target_threads(t, &n);
	for (size_t i = 0; i < n; i++) {
		m = threads[i].has_registers ? ray_target_find_map(t, threads[i].registers.rsp) : NULL;
		if (m && (ranks[m - maps] == RANK_ARENA || ranks[m - maps] == RANK_OTHER))
			ranks[m - maps] = RANK_STACK;
	}
}

static bool is_epoll(const struct finder *f, int fd)
{
	size_t i;

	for (i = 0; i < f->epoll_count; i++)
		if (f->epolls[i] == fd)
			return true;
	return !f->epoll_count;
}

static void take_candidate(struct finder *f, uint64_t address, enum rank rank)
{
	struct ray_uv_loop loop;
	size_t i;

	for (i = 0; i < f->loops.n; i++)
		if (f->loops.at[i].address == address)
			return;
	if (f->loops.n >= MAX_LOOPS || !ray_uv_read_loop(&f->reader, address, f->uv->arena, &loop))
		return;
	if (!is_epoll(f, loop.backend_fd))
		return;
	loop.is_static = rank == RANK_STATIC;
	/* Two with one descriptor: one is what is left of a loop that is no more. The later clock lives. */
	for (i = 0; i < f->loops.n; i++) {
		if (f->loops.at[i].backend_fd != loop.backend_fd)
			continue;
		if (loop.time > f->loops.at[i].time && !loop.torn)
			f->loops.at[i] = loop;
		return;
	}
	(void)!ray_vec_push(&f->loops, loop);
}

static void scan_piece(struct finder *f, uint64_t address, size_t size, enum rank rank)
{
	uint64_t found[64];
	size_t got = ray_target_read(f->t, address, f->chunk, size);
	size_t i, n = ray_uv_scan(f->chunk, got, address, found, RAY_COUNT(found));

	f->uv->searched += got;
	for (i = 0; i < n; i++)
		take_candidate(f, found[i], rank);
}

/* Reads the runs of pages that exist. */
static void scan_chunk(struct finder *f, uint64_t address, size_t size, enum rank rank)
{
	const uint64_t present = 3ull << 62; /* in memory, or swapped out */
	size_t pages = size / PAGE, i, from;
	ssize_t got = -1;

	if (f->pagemap >= 0)
		got = pread(f->pagemap, f->resident, pages * 8, (off_t)(address / PAGE * 8));
	if (got != (ssize_t)(pages * 8)) {
		scan_piece(f, address, size, rank);
		return;
	}
	for (i = 0; i < pages;) {
		from = i;
		if (!(f->resident[i] & present)) {
			i++;
			continue;
		}
		while (i < pages && f->resident[i] & present)
			i++;
		scan_piece(f, address + from * PAGE, (i - from) * PAGE, rank);
	}
}

/* False when there is no need to go on. */
static bool scan_map(struct finder *f, const struct ray_map *m, enum rank rank)
{
	uint64_t at, end = m->end;
	size_t size;

	if (m->dumped < end - m->start)
		end = m->start + m->dumped;
	for (at = m->start; at < end; at += size) {
		if (f->uv->searched >= budget) {
			f->uv->cut = true;
			return false;
		}
		size = end - at < CHUNK ? end - at : CHUNK;
		scan_chunk(f, at, size, rank);
		if (f->epoll_count && f->loops.n >= f->epoll_count)
			return false;
	}
	return true;
}

/* Nobody keeps a loop among generated code, for which V8 reserves half a gigabyte at any address. */
static bool is_searched(const struct ray_map *m)
{
	return (m->prot & PROT_WRITE) && !(m->prot & PROT_EXEC) && !m->shared;
}

static struct ray_error *scan_all(struct finder *f)
{
	ray_auto_memory uint8_t *ranks = NULL;
	const struct ray_map *maps, *before;
	size_t i, n;

	maps = ray_target_maps(f->t, &n);
	ranks = calloc(n + 1, sizeof(*ranks));
	if (!ranks)
		return &ray_enomem;
	for (i = 0; i < n; i++) {
		before = i && maps[i - 1].end == maps[i].start ? &maps[i - 1] : NULL;
		ranks[i] = (uint8_t)rank_of(&maps[i], before);
	}
	rank_thread_stacks(f->t, maps, ranks);
	for (enum rank rank = 0; rank < RANK_COUNT; rank++) {
		for (i = 0; i < n; i++) {
			if (!is_searched(&maps[i]) || ranks[i] != rank)
				continue;
			if (!scan_map(f, &maps[i], rank))
				return NULL;
		}
	}
	return NULL;
}

static int by_descriptor(const void *a, const void *b)
{
	const struct ray_uv_loop *x = a, *y = b;

	if (x->is_static != y->is_static)
		return y->is_static - x->is_static;
	return (x->backend_fd > y->backend_fd) - (x->backend_fd < y->backend_fd);
}

static struct ray_error *keep(struct finder *f)
{
	struct ray_uv *uv = f->uv;

	if (!f->loops.n)
		return NULL;
	uv->loops = ray_arena_alloc(uv->arena, f->loops.n * sizeof(*uv->loops));
	if (!uv->loops)
		return &ray_enomem;
	memcpy(uv->loops, f->loops.at, f->loops.n * sizeof(*uv->loops));
	uv->n = f->loops.n;
	qsort(uv->loops, uv->n, sizeof(*uv->loops), by_descriptor);
	return NULL;
}

static int open_pagemap(struct ray_target *t)
{
	char path[64];

	if (ray_target_kind(t) != RAY_TARGET_PROCESS || sysconf(_SC_PAGESIZE) != PAGE)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", ray_target_pid(t));
	return open(path, O_RDONLY | O_CLOEXEC);
}

struct ray_error *ray_uv_find(struct ray_target *t, const int *epolls, size_t epoll_count, struct ray_uv **ret)
{
	ray_auto(ray_uv, uv) = calloc(1, sizeof(*uv));
	ray_auto_memory struct finder *f = calloc(1, sizeof(*f));
	ray_auto_memory unsigned char *chunk = malloc(CHUNK);
	ray_auto_fd int pagemap = open_pagemap(t);
	struct ray_error *err;

	if (!uv || !f || !chunk)
		return &ray_enomem;
	uv->arena = ray_arena_create();
	if (!uv->arena)
		return &ray_enomem;
	f->t = t;
	f->reader = ray_target_reader(t);
	f->uv = uv;
	f->chunk = chunk;
	f->pagemap = pagemap;
	f->epolls = epolls;
	f->epoll_count = epoll_count;
	err = scan_all(f);
	if (!err)
		err = keep(f);
	ray_vec_free(&f->loops);
	if (err)
		return err;
	ray_uv_name_loops(t, uv);
	*ret = ray_take(uv);
	return NULL;
}

const struct ray_module *ray_uv_module(struct ray_target *t, const struct ray_uv_loop *loop,
				       const struct ray_map **data_ret)
{
	const struct ray_map *m = ray_target_find_map(t, loop->address);

	if (m && m->path[0] != '/')
		m = ray_target_find_map(t, m->start - 1);
	if (!loop->is_static || !m || m->path[0] != '/')
		return NULL;
	*data_ret = m;
	return ray_target_map_module(t, m);
}
