/* gcore_copy.c - see gcore_copy.h. SPDX-License-Identifier: MIT */
#include "target/gcore_copy.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "base/interrupt.h"

enum { PIECE = 2 << 20, MAX_THREADS = 4, IOVECS = 512 };

/* A part of the work: from a place in one extent on, as many bytes as size says. */
struct piece {
	size_t extent;
	uint64_t skip; /* bytes into the extent */
	uint64_t size;
	unsigned char *to;
};

struct job {
	const struct ray_copy *copy;
	const struct ray_extent *extents;
	RAY_VEC(struct piece) pieces;
	atomic_size_t next;
	atomic_ullong lost;
};

/* Page by page where there is no other way. */
static void read_by_force(struct job *j, uint64_t address, unsigned char *to, uint64_t size)
{
	ssize_t n;

	while (size && !ray_interrupted) {
		n = pread(j->copy->mem, to, size, (off_t)address);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			n = (ssize_t)(size < RAY_PAGE ? size : RAY_PAGE);
			memset(to, 0, (size_t)n);
			atomic_fetch_add(&j->lost, (unsigned long long)n);
		}
		address += (uint64_t)n;
		to += n;
		size -= (uint64_t)n;
	}
}

/* Reads the ranges into one stretch; whatever a read stops at is tried by force, and the rest goes on. */
static void read_ranges(struct job *j, struct iovec *remote, size_t n, unsigned char *to)
{
	size_t i = 0, step;

	while (i < n && !ray_interrupted) {
		struct iovec local = { to, 0 };
		ssize_t got;

		for (size_t k = i; k < n; k++)
			local.iov_len += remote[k].iov_len;
		got = process_vm_readv(j->copy->pid, &local, 1, remote + i, n - i, 0);
		for (; got > 0; got -= (ssize_t)step) {
			step = (size_t)got < remote[i].iov_len ? (size_t)got : remote[i].iov_len;
			to += step;
			remote[i].iov_base = (char *)remote[i].iov_base + step;
			remote[i].iov_len -= step;
			if (!remote[i].iov_len)
				i++;
		}
		if (i >= n || (got < 0 && errno == EINTR))
			continue;
		step = remote[i].iov_len < RAY_PAGE ? remote[i].iov_len : RAY_PAGE;
		read_by_force(j, (uintptr_t)remote[i].iov_base, to, step);
		to += step;
		remote[i].iov_base = (char *)remote[i].iov_base + step;
		remote[i].iov_len -= step;
		if (!remote[i].iov_len)
			i++;
	}
}

static void do_piece(struct job *j, const struct piece *p)
{
	struct iovec remote[IOVECS];
	uint64_t left = p->size, skip = p->skip, size, batch = 0;
	unsigned char *to = p->to;
	size_t n = 0;

	for (size_t i = p->extent; left; i++, skip = 0) {
		const struct ray_extent *e = &j->extents[i];

		size = e->size - skip < left ? e->size - skip : left;
		left -= size;
		if (!e->unreadable && !e->copy) {
			remote[n++] = (struct iovec){ (void *)(uintptr_t)(e->start + skip), size };
			batch += size;
		}
		if (n && (e->unreadable || e->copy || n == IOVECS || !left)) {
			read_ranges(j, remote, n, to);
			to += batch;
			n = batch = 0;
		}
		if (e->copy)
			memcpy(to, e->copy + skip, size);
		else if (e->unreadable)
			read_by_force(j, e->start + skip, to, size);
		if (e->copy || e->unreadable)
			to += size;
	}
}

static void *work(void *arg)
{
	struct job *j = arg;
	size_t i;

	while (!ray_interrupted && (i = atomic_fetch_add(&j->next, 1)) < j->pieces.n)
		do_piece(j, &j->pieces.at[i]);
	return NULL;
}

/* Pieces of equal size, so that no thread is left with the one large mapping. */
static bool cut(struct job *j, size_t count, unsigned char *buffer)
{
	struct piece p = { .to = buffer };

	for (size_t i = 0; i < count; i++) {
		uint64_t skip = 0, take;

		for (; skip < j->extents[i].size; skip += take) {
			if (!p.size) {
				p.extent = i;
				p.skip = skip;
			}
			take = j->extents[i].size - skip;
			if (take > PIECE - p.size)
				take = PIECE - p.size;
			p.size += take;
			if (p.size < PIECE)
				continue;
			if (!ray_vec_push(&j->pieces, p))
				return false;
			p.to += p.size;
			p.size = 0;
		}
	}
	return !p.size || ray_vec_push(&j->pieces, p);
}

bool ray_copy_extents(const struct ray_copy *c, const struct ray_extent *extents, size_t count, unsigned char *buffer,
		      uint64_t *lost_ret)
{
	struct job j = { .copy = c, .extents = extents };
	pthread_t threads[MAX_THREADS];
	unsigned n = 0, most = c->threads < MAX_THREADS ? c->threads : MAX_THREADS;

	if (!cut(&j, count, buffer)) {
		/* No memory for the list: extent by extent. */
		for (size_t i = 0; i < count && !ray_interrupted; buffer += extents[i++].size)
			do_piece(&j, &(struct piece){ .extent = i, .size = extents[i].size, .to = buffer });
	} else {
		while (n + 1 < most && n + 1 < j.pieces.n && !pthread_create(&threads[n], NULL, work, &j))
			n++;
		work(&j);
		while (n)
			pthread_join(threads[--n], NULL);
	}
	ray_vec_free(&j.pieces);
	*lost_ret += j.lost;
	return !ray_interrupted;
}

/* ------------------------------------------------------------------------- memory */

void *ray_copy_buffer(size_t size)
{
	enum { POPULATE_WRITE = 23 }; /* MADV_POPULATE_WRITE, Linux 5.14 */
	unsigned char *p;

	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (madvise(p, size, POPULATE_WRITE)) {
		if (errno != EINVAL) {
			munmap(p, size);
			return NULL;
		}
		for (size_t i = 0; i < size; i += RAY_PAGE)
			((volatile unsigned char *)p)[i] = 0;
	}
	return p;
}

void ray_copy_buffer_free(void *buffer, size_t size)
{
	if (buffer)
		munmap(buffer, size);
}

static bool read_number(const char *path, uint64_t *ret)
{
	ray_auto_file FILE *f = fopen(path, "re");
	unsigned long long v;

	if (!f || fscanf(f, "%llu", &v) != 1)
		return false;
	*ret = v;
	return true;
}

/* One control group: what its limit leaves. "max" is no number: no limit. */
static uint64_t group_room(const char *group, const char *limit, const char *usage)
{
	char path[4200];
	uint64_t most, used;

	snprintf(path, sizeof(path), "%s/%s", group, limit);
	if (!read_number(path, &most))
		return UINT64_MAX;
	snprintf(path, sizeof(path), "%s/%s", group, usage);
	if (!read_number(path, &used))
		return UINT64_MAX;
	return most > used ? most - used : 0;
}

/* A group's parents bound it too. */
static uint64_t groups_room(const char *mount, char *path, const char *limit, const char *usage)
{
	uint64_t room = UINT64_MAX, here;
	char group[4100], *slash;

	for (;;) {
		snprintf(group, sizeof(group), "%s%s", mount, path);
		here = group_room(group, limit, usage);
		room = here < room ? here : room;
		slash = strrchr(path, '/');
		if (!slash || !*path)
			return room;
		*slash = '\0';
	}
}

static uint64_t own_groups_room(void)
{
	ray_auto_file FILE *f = fopen("/proc/self/cgroup", "re");
	uint64_t room = UINT64_MAX, here;
	char line[4096], *path;

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		here = UINT64_MAX;
		if (!strncmp(line, "0::", 3))
			here = groups_room("/sys/fs/cgroup", line + 3, "memory.max", "memory.current");
		else if ((path = strstr(line, ":memory:")))
			here = groups_room("/sys/fs/cgroup/memory", path + 8, "memory.limit_in_bytes",
					   "memory.usage_in_bytes");
		room = here < room ? here : room;
	}
	return room;
}

uint64_t ray_copy_budget(void)
{
	ray_auto_file FILE *f = fopen("/proc/meminfo", "re");
	uint64_t room = own_groups_room();
	unsigned long long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
			break;
	if (kib * 1024 < room)
		room = kib * 1024;
	return room / 2;
}
