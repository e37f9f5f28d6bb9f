/* ring.c - the ring buffer, mapped: what the kernel gave, in its order.
 * SPDX-License-Identifier: MIT
 *
 * Two pages of positions and then the data, twice, so that a record never wraps. The kernel writes `given` and the
 * heads of records, we write `taken`: only then is the room free again, so it is moved on every so often and not
 * once per record. */
#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "engine/consume.h"

enum {
	HEAD = 8,
	BATCH = 64 * 1024, /* bytes after which room is given back */
	LOOKS = 16,	   /* records after which the clock is looked at */
};

struct ray_error *ray_ring_open(int fd, size_t size, struct ray_ring *ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *taken = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *given;

	if (taken == MAP_FAILED)
		return ray_error_errno(RAY_FAILED, errno, "cannot map the buffer");
	given = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (given == MAP_FAILED) {
		struct ray_error *err = ray_error_errno(RAY_FAILED, errno, "cannot map the buffer of %zu bytes", size);

		munmap(taken, page);
		return err;
	}
	*ret = (struct ray_ring){
		.taken = taken, .given = given, .data = (char *)given + page, .size = size, .page = page
	};
	return NULL;
}

void ray_ring_close(struct ray_ring *r)
{
	if (!r->taken)
		return;
	munmap((void *)r->taken, r->page);
	munmap((void *)r->given, r->page + 2 * r->size);
	r->taken = NULL;
}

/* After a signal the clock is checked for each record: symbolizing a stack or an action can be slow. */
static bool is_time_up(uint32_t n, uint64_t end_ns, uint32_t signal_ms)
{
	if (ray_interrupted)
		return ray_interrupt_elapsed(signal_ms);
	return end_ns && n % LOOKS == 0 && ray_clock_ns() >= end_ns;
}

/* One after the other from `at` to `end`. *stopped: a record is still being written, or time is up. */
static struct ray_error *take_until(struct ray_ring *r, unsigned long *at, unsigned long end,
				    const struct ray_ring_limit *limit, ray_ring_fn *fn, void *arg, bool *stopped)
{
	struct ray_error *err = NULL;
	unsigned long told = *at;

	for (uint32_t n = 1; *at < end && !err && !*stopped; n++) {
		const uint32_t *head = (const uint32_t *)(r->data + (*at & (r->size - 1)));
		uint32_t length = __atomic_load_n(head, __ATOMIC_ACQUIRE);
		uint32_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (length & BPF_RINGBUF_BUSY_BIT) {
			*stopped = true;
			break;
		}
		r->at = *at;
		if (!(length & BPF_RINGBUF_DISCARD_BIT))
			err = fn(arg, head + HEAD / sizeof(*head), size);
		*at += (size + HEAD + 7UL) & ~7UL;
		if (*at - told > BATCH) {
			__atomic_store_n(r->taken, *at, __ATOMIC_RELEASE);
			told = *at;
		}
		*stopped = is_time_up(n, limit->end_ns, limit->signal_ms);
	}
	__atomic_store_n(r->taken, *at, __ATOMIC_RELEASE);
	return err;
}

struct ray_error *ray_ring_take(struct ray_ring *r, const struct ray_ring_limit *limit, ray_ring_fn *fn, void *arg)
{
	unsigned long at = *r->taken, most = at + 2 * r->size;
	struct ray_error *err = NULL;
	bool stopped = false;

	while (!err && !stopped && at < most) {
		unsigned long end = __atomic_load_n(r->given, __ATOMIC_ACQUIRE);

		if (at >= end)
			break;
		err = take_until(r, &at, end, limit, fn, arg, &stopped);
	}
	r->at = at;
	return err;
}

static struct ray_error *count_one(void *arg, const void *record, size_t size)
{
	(void)record;
	(void)size;
	++*(uint64_t *)arg;
	return NULL;
}

uint64_t ray_ring_skip(struct ray_ring *r)
{
	static const struct ray_ring_limit no_limit = { .signal_ms = UINT32_MAX };
	uint64_t count = 0;

	ray_error_free(ray_ring_take(r, &no_limit, count_one, &count));
	return count;
}

unsigned long ray_ring_end(const struct ray_ring *r)
{
	return __atomic_load_n(r->given, __ATOMIC_ACQUIRE);
}

struct ray_error *ray_ring_look_ahead(struct ray_ring *r, ray_ring_fn *fn, void *arg)
{
	unsigned long at = *r->taken > r->looked ? *r->taken : r->looked;
	unsigned long end = __atomic_load_n(r->given, __ATOMIC_ACQUIRE);
	struct ray_error *err = NULL;

	while (at < end && !err) {
		const uint32_t *head = (const uint32_t *)(r->data + (at & (r->size - 1)));
		uint32_t length = __atomic_load_n(head, __ATOMIC_ACQUIRE);
		uint32_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(length & BPF_RINGBUF_DISCARD_BIT))
			err = fn(arg, head + HEAD / sizeof(*head), size);
		at += (size + HEAD + 7UL) & ~7UL;
	}
	r->looked = at;
	return err;
}
