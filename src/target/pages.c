/* pages.c - see pages.h. SPDX-License-Identifier: MIT */
#include "target/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/interrupt.h"

/* The kernel's interface since 6.7; older headers do not have it. */
struct scan_region {
	uint64_t start, end, categories;
};

struct scan_request {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define SCAN _IOWR('f', 16, struct scan_request)

enum { IS_FILE = 1 << 2, IS_PRESENT = 1 << 3, IS_SWAPPED = 1 << 4, IS_ZERO_PAGE = 1 << 5 };

enum { REGIONS = 8192, ENTRIES = 8192 };

#define USER_END (1ull << 63) /* the vsyscall page lies above */

void ray_page_runs_deinit(struct ray_page_runs *r)
{
	ray_vec_free(&r->runs);
}

static bool add(struct ray_page_runs *r, uint64_t start, uint64_t end, bool file)
{
	struct ray_page_run *last = r->runs.n ? &r->runs.at[r->runs.n - 1] : NULL;

	if (last && last->end == start && last->file == file) {
		last->end = end;
		return true;
	}
	return ray_vec_push(&r->runs, (struct ray_page_run){ start, end, file });
}

static uint64_t last_address(const struct ray_map *maps, size_t count)
{
	while (count && maps[count - 1].start >= USER_END)
		count--;
	return count ? maps[count - 1].end : 0;
}

/* ENOTTY or EINVAL, untouched, when the kernel does not know the request. */
static int scan(int pagemap, uint64_t from, uint64_t to, struct scan_region *regions, struct ray_page_runs *ret)
{
	struct scan_request r = { .size = sizeof(r),
				  .start = from,
				  .end = to,
				  .vec = (uintptr_t)regions,
				  .vec_len = REGIONS,
				  .category_inverted = IS_ZERO_PAGE,
				  .category_mask = IS_ZERO_PAGE,
				  .category_anyof_mask = IS_PRESENT | IS_SWAPPED,
				  .return_mask = IS_FILE };
	long n;

	while (r.start < to) {
		n = ioctl(pagemap, SCAN, &r);
		if (n < 0 && errno == EINTR && !ray_interrupted)
			continue;
		if (n < 0)
			return errno;
		for (long i = 0; i < n; i++)
			if (!add(ret, regions[i].start, regions[i].end, regions[i].categories & IS_FILE))
				return ENOMEM;
		if (r.walk_end <= r.start)
			break;
		r.start = r.walk_end;
	}
	return 0;
}

static struct ray_error *failed(int errnum)
{
	return ray_error_errno(RAY_FAILED, errnum, "cannot look at the target's page tables");
}

struct ray_error *ray_pages_find(int pagemap, const struct ray_map *maps, size_t count, struct ray_page_runs *ret)
{
	ray_auto_memory struct scan_region *regions = calloc(REGIONS, sizeof(*regions));
	int e;

	if (!regions)
		return &ray_enomem;
	ret->runs.n = 0;
	if (!count)
		return NULL;
	e = scan(pagemap, maps[0].start, last_address(maps, count), regions, ret);
	if (e == ENOTTY || e == EINVAL)
		return ray_pages_find_slowly(pagemap, maps, count, ret);
	return e ? failed(e) : NULL;
}

/* The entries of one stretch of pages. */
static bool add_entries(struct ray_page_runs *ret, uint64_t address, const uint64_t *entries, size_t n)
{
	const uint64_t present = 1ull << 63, swapped = 1ull << 62, file = 1ull << 61;

	for (size_t i = 0; i < n; i++, address += RAY_PAGE) {
		if ((entries[i] & (present | swapped)) && !add(ret, address, address + RAY_PAGE, entries[i] & file))
			return false;
	}
	return true;
}

static int read_map(int pagemap, const struct ray_map *m, uint64_t *entries, struct ray_page_runs *ret)
{
	uint64_t at = m->start;
	size_t want;
	ssize_t n;

	while (at < m->end) {
		want = (m->end - at) / RAY_PAGE;
		if (want > ENTRIES)
			want = ENTRIES;
		n = pread(pagemap, entries, want * sizeof(*entries), (off_t)(at / RAY_PAGE * sizeof(*entries)));
		if (ray_interrupted)
			return EINTR;
		if (n < 0)
			return errno;
		if (n < (ssize_t)sizeof(*entries))
			break; /* past the end of the user's half */
		n /= (ssize_t)sizeof(*entries);
		if (!add_entries(ret, at, entries, (size_t)n))
			return ENOMEM;
		at += (uint64_t)n * RAY_PAGE;
	}
	return 0;
}

struct ray_error *ray_pages_find_slowly(int pagemap, const struct ray_map *maps, size_t count,
					struct ray_page_runs *ret)
{
	ray_auto_memory uint64_t *entries = calloc(ENTRIES, sizeof(*entries));
	int e;

	if (!entries)
		return &ray_enomem;
	ret->runs.n = 0;
	for (size_t i = 0; i < count && maps[i].start < USER_END; i++) {
		e = read_map(pagemap, &maps[i], entries, ret);
		if (e)
			return failed(e);
	}
	return NULL;
}

/* ------------------------------------------------------------------------- shared memory */

/* Shared memory without a file on disk: the kernel marks its path as deleted. */
static bool is_shared_memory(const struct ray_map *m)
{
	size_t n = strlen(m->path);

	return m->shared && m->path[0] == '/' && n > 10 && !strcmp(m->path + n - 10, " (deleted)");
}

static bool add_data(int fd, const struct ray_map *m, struct ray_page_runs *ret)
{
	uint64_t end = m->offset + (m->end - m->start), start, stop;
	off_t data = lseek(fd, (off_t)m->offset, SEEK_DATA), hole;

	for (; data >= 0 && (uint64_t)data < end; data = lseek(fd, hole, SEEK_DATA)) {
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole < 0)
			break;
		start = (uint64_t)data & ~(uint64_t)(RAY_PAGE - 1);
		stop = (uint64_t)hole < end ? ((uint64_t)hole + RAY_PAGE - 1) & ~(uint64_t)(RAY_PAGE - 1) : end;
		if (!ray_vec_push(&ret->runs, (struct ray_page_run){ m->start + (start - m->offset),
								     m->start + (stop - m->offset), true }))
			return false;
	}
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct ray_page_run *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

void ray_page_runs_sort(struct ray_page_runs *r)
{
	size_t kept = 0;

	if (r->runs.n)
		qsort(r->runs.at, r->runs.n, sizeof(*r->runs.at), by_start);
	for (size_t i = 0; i < r->runs.n; i++) {
		struct ray_page_run run = r->runs.at[i], *last = kept ? &r->runs.at[kept - 1] : NULL;

		if (last && run.start < last->end)
			run.start = last->end;
		if (run.start >= run.end)
			continue;
		if (last && last->end == run.start && last->file == run.file)
			last->end = run.end;
		else
			r->runs.at[kept++] = run;
	}
	r->runs.n = kept;
}

static uint64_t bytes_known(const struct ray_page_runs *r, const struct ray_map *m)
{
	uint64_t known = 0;

	for (size_t i = 0; i < r->runs.n; i++) {
		uint64_t from = r->runs.at[i].start > m->start ? r->runs.at[i].start : m->start;
		uint64_t to = r->runs.at[i].end < m->end ? r->runs.at[i].end : m->end;

		known += from < to ? to - from : 0;
	}
	return known;
}

struct ray_error *ray_pages_add_shared(int pid, const struct ray_map *maps, size_t count, struct ray_page_runs *ret,
				       uint64_t *unseen_ret)
{
	bool added = false;

	*unseen_ret = 0;
	for (size_t i = 0; i < count; i++) {
		char path[96];
		int fd;

		if (!is_shared_memory(&maps[i]))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)maps[i].start,
			 (unsigned long long)maps[i].end);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0) {
			*unseen_ret += maps[i].end - maps[i].start - bytes_known(ret, &maps[i]);
			continue;
		}
		added = true;
		if (!add_data(fd, &maps[i], ret)) {
			close(fd);
			return &ray_enomem;
		}
		close(fd);
	}
	if (added)
		ray_page_runs_sort(ret);
	return NULL;
}
