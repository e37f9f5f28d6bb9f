/* core_memory.c - a core's memory: from the core, or from the files that were mapped.
 * SPDX-License-Identifier: MIT
 *
 * The kernel leaves file pages out that nobody has written to. Those come from the file itself, if it
 * is there and is the right one. Bytes that a core should hold and has lost never do: they were
 * dumped because they differ from the file. Nor does data in a core that leaves written pages out. */
#include <string.h>
#include <sys/mman.h>

#include "base/search.h"
#include "target/core.h"

/* Both tables are sorted and free of overlaps; their rows begin with start and end. The hint is where the last one was. */
#define FIND(vec, hint, address)                                                                           \
	({                                                                                                 \
		size_t at_ = (hint);                                                                       \
                                                                                                           \
		if (at_ >= (vec).n || (address) < (vec).at[at_].start || (address) >= (vec).at[at_].end)   \
			at_ = ray_search((vec).at, (vec).n, one, one->end <= (address));                   \
		at_ < (vec).n && (address) >= (vec).at[at_].start ? ((hint) = at_, &(vec).at[at_]) : NULL; \
	})

const struct core_segment *core_find_segment(struct core *c, uint64_t address)
{
	return FIND(c->segments, c->last_segment, address);
}

const struct core_mapping *core_find_mapping(struct core *c, uint64_t address)
{
	return FIND(c->mappings, c->last_mapping, address);
}

static size_t read_dumped(struct core *c, uint64_t address, unsigned char *out, size_t size)
{
	const struct core_segment *s = core_find_segment(c, address);
	uint64_t skip;

	if (!s || address - s->start >= s->dumped)
		return 0;
	skip = address - s->start;
	return ray_bytes_read(c->bytes, s->offset + skip, out, (size_t)core_min(size, s->dumped - skip));
}

size_t core_segment_from(const struct core *c, uint64_t address)
{
	return ray_search(c->segments.at, c->segments.n, one, one->end <= address);
}

/* Where the next dumped byte after address, which is in no segment, may be: the file must not be read past it. */
static uint64_t next_segment(const struct core *c, uint64_t address)
{
	size_t next = core_segment_from(c, address);

	return next < c->segments.n ? c->segments.at[next].start : UINT64_MAX;
}

static size_t read_from_file(struct ray_target *t, uint64_t address, unsigned char *out, size_t size)
{
	struct core *c = core_of(t);
	const struct core_segment *s = core_find_segment(c, address);
	const struct core_mapping *m = core_find_mapping(c, address);
	struct core_file *f;
	uint64_t offset, end;

	if (!m || (s && address - s->start < s->promised))
		return 0;
	f = core_get_file(t, m->file);
	if (!f || !f->bytes)
		return 0;
	offset = m->offset + (address - m->start);
	if (c->no_private && ((s && s->prot & PROT_WRITE) || offset >= f->data))
		return 0;
	end = core_min(m->end, s ? s->end : next_segment(c, address));
	if (c->no_private && offset < f->data)
		end = core_min(end, address + (f->data - offset));
	return ray_bytes_read(f->bytes, offset, out, (size_t)core_min(size, end - address));
}

size_t core_read(struct ray_target *t, uint64_t address, void *buffer, size_t size)
{
	unsigned char *out = buffer;
	size_t done = 0, n;

	while (done < size) {
		n = read_dumped(core_of(t), address + done, out + done, size - done);
		if (!n)
			n = read_from_file(t, address + done, out + done, size - done);
		if (!n)
			break;
		done += n;
	}
	return done;
}

static size_t dumped_read(void *arg, uint64_t address, void *buffer, size_t size)
{
	unsigned char *out = buffer;
	size_t done = 0, n;

	while (done < size) {
		n = read_dumped(core_of(arg), address + done, out + done, size - done);
		if (!n)
			break;
		done += n;
	}
	return done;
}

struct ray_reader core_dumped_reader(struct ray_target *t)
{
	return (struct ray_reader){ dumped_read, t };
}
