/* resident.c - which pages of a process are in memory, from /proc/PID/pagemap. See usage.h.
 * SPDX-License-Identifier: MIT
 *
 * Each page has an 8-byte entry. Without CAP_SYS_ADMIN the kernel hides where the page lies, but not
 * whether it is there, which is all that is asked. */
#include <fcntl.h>
#include <stdio.h>

#include "target/usage.h"

enum { PAGE = 4096, BATCH = 8192 };
static const uint64_t is_present = 1ull << 63, is_swapped = 1ull << 62;
/* A file's or shared page; a page that only this process has mapped. The page of zeros is neither, but nor is one
 * that a forked child still shares. */
static const uint64_t is_file = 1ull << 61, is_exclusive = 1ull << 56;

struct ray_resident {
	int fd;
	uint64_t entries[BATCH];
};

struct ray_resident *ray_resident_open(struct ray_target *t)
{
	struct ray_resident *r;
	char path[64];

	if (ray_target_kind(t) != RAY_TARGET_PROCESS)
		return NULL;
	r = malloc(sizeof(*r));
	if (!r)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", ray_target_pid(t));
	r->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0) {
		free(r);
		return NULL;
	}
	return r;
}

void ray_resident_close(struct ray_resident *r)
{
	if (!r)
		return;
	close(r->fd);
	free(r);
}

/* Fills entries for the pages from address on; returns how many. 0 when it cannot be read. */
static size_t read_batch(struct ray_resident *r, uint64_t address, uint64_t end)
{
	uint64_t pages = (end - address + PAGE - 1) / PAGE;
	ssize_t n;

	if (pages > BATCH)
		pages = BATCH;
	n = pread(r->fd, r->entries, pages * sizeof(uint64_t), (off_t)(address / PAGE * sizeof(uint64_t)));
	return n <= 0 ? 0 : (size_t)n / sizeof(uint64_t);
}

bool ray_resident_count(struct ray_resident *r, uint64_t start, uint64_t end, struct ray_pages *ret)
{
	struct ray_pages pages = { 0 };
	size_t n;

	for (uint64_t at = start; at < end; at += n * PAGE) {
		n = read_batch(r, at, end);
		if (!n)
			return false;
		for (size_t i = 0; i < n; i++) {
			bool there = r->entries[i] & is_present;

			pages.present += there ? PAGE : 0;
			pages.counted += there && r->entries[i] & (is_file | is_exclusive) ? PAGE : 0;
			pages.swapped += r->entries[i] & is_swapped ? PAGE : 0;
		}
	}
	*ret = pages;
	return true;
}

bool ray_resident_runs(struct ray_resident *r, uint64_t start, uint64_t end, ray_run_fn *each, void *arg)
{
	uint64_t run = 0; /* where the present run began */
	bool in_run = false;
	size_t n;

	for (uint64_t at = start; at < end; at += n * PAGE) {
		n = read_batch(r, at, end);
		if (!n)
			return false;
		for (size_t i = 0; i < n; i++) {
			bool there = r->entries[i] & (is_present | is_swapped);

			if (there == in_run)
				continue;
			if (in_run && !each(run, at + i * PAGE, arg))
				return false;
			in_run = there;
			run = at + i * PAGE;
		}
	}
	return !in_run || each(run, end, arg);
}
