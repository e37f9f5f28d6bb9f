/* gcore_write.c - the bytes of a core: head, notes, segments. SPDX-License-Identifier: MIT
 *
 * The notes come before the segments, so that a core that is cut still names its threads; only when
 * segments were written while the target stood still, before the length of the pause was known, do
 * they come last. */
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/json.h"
#include "base/version.h"
#include "target/gcore_internal.h"

enum { PIECE = 8 << 20 };

/* A stretch of the plan that fits into the buffer. */
struct batch {
	RAY_VEC(struct ray_extent) extents;
	uint64_t size;
	size_t next;   /* where in the plan the next one begins */
	uint64_t skip; /* bytes of that extent which are done */
};

static void free_batch(struct batch *b)
{
	ray_vec_free(&b->extents);
}

static struct ray_error *next_batch(struct gcore *g, struct batch *b)
{
	b->extents.n = 0;
	b->size = 0;
	while (b->next < g->plan.extents.n && b->size < g->buffer_size) {
		struct ray_extent e = g->plan.extents.at[b->next];

		e.start += b->skip;
		e.offset += b->skip;
		e.size -= b->skip;
		if (e.copy)
			e.copy += b->skip;
		if (e.size > g->buffer_size - b->size) {
			e.size = g->buffer_size - b->size;
			b->skip += e.size;
		} else {
			b->skip = 0;
			b->next++;
		}
		b->size += e.size;
		if (!ray_vec_push(&b->extents, e))
			return &ray_enomem;
	}
	return NULL;
}

static struct ray_error *copy(struct gcore *g, const struct ray_extent *extents, size_t count)
{
	struct ray_copy c = { .pid = g->source, .mem = g->mem, .threads = g->processors };
	uint64_t lost = 0;

	if (!ray_copy_extents(&c, extents, count, g->buffer, &lost))
		return ray_error_new(RAY_FAILED, "interrupted; %s was not written", g->options->path);
	/* Nothing at all: it was killed while we copied. */
	if (lost && lost == g->plan.copied)
		return ray_error_new(RAY_FAILED, "process %d ended while it was being copied", g->pid);
	g->report->unreadable += lost;
	return NULL;
}

/* What lies in the buffer, in pieces that are small enough for the user to see them go. */
static struct ray_error *put(struct gcore *g, struct ray_out *out, const struct ray_extent *extents, size_t count)
{
	const unsigned char *from = g->buffer;
	struct ray_error *err = NULL;

	for (size_t i = 0; i < count; i++) {
		uint64_t done = 0, n;

		for (; !err && done < extents[i].size; done += n) {
			n = extents[i].size - done < PIECE ? extents[i].size - done : PIECE;
			err = ray_out_put(out, extents[i].offset + done, from + done, n);
			g->written += n;
			ray_progress_update(&g->progress, g->written);
		}
		if (err)
			return err;
		from += extents[i].size;
	}
	return NULL;
}

static void start_progress(struct gcore *g)
{
	ray_progress_start(&g->progress, "writing the core", g->plan.copied);
	g->progress.lines = g->options->progress;
	g->written = 0;
}

/* ------------------------------------------------------------------------- head and notes */

static struct ray_error *build_notes(struct gcore *g)
{
	struct ray_gcore_notes n = { .pid = g->pid, .threads = &g->threads, .process = g->process, .files = g->files };
	struct ray_error *err;
	time_t now = time(NULL);
	struct tm tm;
	char at[32];

	n.maps = ray_target_maps(g->t, &n.map_count);
	strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	json_object_set_new(g->process, "noderay", json_string(RAY_VERSION));
	json_object_set_new(g->process, "taken_at", json_string(at));
	json_object_set_new(g->process, "mode", json_string(g->options->fork ? "fork" : "stop"));
	json_object_set_new(g->process, "full", json_boolean(g->options->full));
	json_object_set_new(g->process, "pause_ns", json_integer((json_int_t)g->report->pause_ns));
	json_object_set_new(g->process, "missed", json_integer((json_int_t)g->report->missed));
	n.smaps = ray_smaps_to_json(g->smaps);
	err = ray_gcore_notes_build(&n, &g->notes);
	json_decref(n.smaps);
	return err;
}

static bool is_extended(const struct gcore *g)
{
	return g->plan.segments.n + 1 >= PN_XNUM;
}

/* Everything before the notes. */
static uint64_t head_size(const struct gcore *g)
{
	return sizeof(Elf64_Ehdr) + (g->plan.segments.n + 1) * sizeof(Elf64_Phdr) +
	       (is_extended(g) ? sizeof(Elf64_Shdr) : 0);
}

static void add_headers(struct gcore *g, uint64_t notes_at, struct ray_text *head)
{
	Elf64_Phdr p = { .p_type = PT_NOTE, .p_offset = notes_at, .p_filesz = g->notes.length, .p_align = 4 };

	ray_text_add_bytes(head, &p, sizeof(p));
	for (size_t i = 0; i < g->plan.segments.n; i++) {
		const struct ray_segment *s = &g->plan.segments.at[i];

		p = (Elf64_Phdr){ .p_type = PT_LOAD,
				  .p_offset = s->offset,
				  .p_vaddr = s->start,
				  .p_filesz = s->stored,
				  .p_memsz = s->size,
				  .p_align = RAY_PAGE };
		p.p_flags = (s->prot & PROT_READ ? PF_R : 0u) | (s->prot & PROT_WRITE ? PF_W : 0u) |
			    (s->prot & PROT_EXEC ? PF_X : 0u);
		ray_text_add_bytes(head, &p, sizeof(p));
	}
}

static struct ray_error *write_head(struct gcore *g, uint64_t notes_at)
{
	ray_auto_text head = { 0 };
	size_t count = g->plan.segments.n + 1;
	Elf64_Ehdr e = { .e_type = ET_CORE,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(e),
			 .e_ehsize = sizeof(e),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_shentsize = sizeof(Elf64_Shdr) };

	memcpy(e.e_ident, ELFMAG, SELFMAG);
	e.e_ident[EI_CLASS] = ELFCLASS64;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	e.e_ident[EI_VERSION] = EV_CURRENT;
	e.e_phnum = (Elf64_Half)(is_extended(g) ? PN_XNUM : count);
	if (is_extended(g)) {
		e.e_shoff = sizeof(e) + count * sizeof(Elf64_Phdr);
		e.e_shnum = 1;
	}
	ray_text_add_bytes(&head, &e, sizeof(e));
	add_headers(g, notes_at, &head);
	if (is_extended(g)) {
		Elf64_Shdr s = { .sh_size = 1, .sh_info = (Elf64_Word)count };

		ray_text_add_bytes(&head, &s, sizeof(s));
	}
	if (head.failed)
		return &ray_enomem;
	return ray_out_put(g->out, 0, head.bytes, head.length);
}

/* Head and notes at the front, which fixes the place of everything else. */
static struct ray_error *write_front(struct gcore *g)
{
	struct ray_error *err = build_notes(g);

	if (err)
		return err;
	ray_gcore_plan_place(&g->plan, head_size(g) + g->notes.length);
	g->file_size = g->plan.size;
	err = ray_out_check_room(g->out, g->plan.copied, g->plan.size);
	if (!err)
		err = write_head(g, head_size(g));
	if (!err)
		err = ray_out_put(g->out, head_size(g), g->notes.bytes, g->notes.length);
	return err;
}

/* ------------------------------------------------------------------------- the three ways */

struct ray_error *ray_gcore_copy_all(struct gcore *g)
{
	return copy(g, g->plan.extents.at, g->plan.extents.n);
}

static struct ray_error *copy_and_put(struct gcore *g, struct ray_out *out)
{
	__attribute__((cleanup(free_batch))) struct batch b = { 0 };
	struct ray_error *err = NULL;

	start_progress(g);
	while (!err && b.next < g->plan.extents.n) {
		err = next_batch(g, &b);
		if (!err)
			err = copy(g, b.extents.at, b.extents.n);
		if (!err)
			err = put(g, out, b.extents.at, b.extents.n);
	}
	ray_progress_end(&g->progress);
	return err;
}

struct ray_error *ray_gcore_write_while_stopped(struct gcore *g)
{
	struct ray_out_options o = { .path = g->options->path, .force = true };
	struct ray_error *err = NULL;

	g->spool_head = (head_size(g) + RAY_PAGE - 1) & ~(uint64_t)(RAY_PAGE - 1);
	ray_gcore_plan_place(&g->plan, g->spool_head);
	g->file_size = g->plan.size;
	if (g->options->zstd)
		err = ray_out_open(&o, &g->spool);
	return err ? err : copy_and_put(g, g->spool ? g->spool : g->out);
}

/* The segments lie in the file already: the notes follow them. */
static struct ray_error *write_back(struct gcore *g)
{
	struct ray_error *err = build_notes(g);

	if (!err)
		err = write_head(g, g->plan.size);
	if (!err)
		err = ray_out_put(g->out, g->plan.size, g->notes.bytes, g->notes.length);
	g->file_size = g->plan.size + g->notes.length;
	return err;
}

/* From the spool, where everything has the same distance from its place as the first byte. */
static struct ray_error *write_spooled(struct gcore *g)
{
	__attribute__((cleanup(free_batch))) struct batch b = { 0 };
	struct ray_error *err = write_front(g);
	uint64_t shift;

	if (err || !g->plan.segments.n)
		return err;
	shift = g->plan.segments.at[0].offset - g->spool_head;
	start_progress(g);
	while (!err && b.next < g->plan.extents.n) {
		unsigned char *to = g->buffer;

		err = next_batch(g, &b);
		for (size_t i = 0; !err && i < b.extents.n; to += b.extents.at[i++].size)
			err = ray_out_get(g->spool, b.extents.at[i].offset - shift, to, b.extents.at[i].size);
		if (!err)
			err = put(g, g->out, b.extents.at, b.extents.n);
	}
	ray_progress_end(&g->progress);
	return err;
}

struct ray_error *ray_gcore_write(struct gcore *g)
{
	struct ray_error *err;

	if (g->spool)
		return write_spooled(g);
	if (g->report->slow)
		return write_back(g);
	err = write_front(g);
	start_progress(g);
	if (!err)
		err = put(g, g->out, g->plan.extents.at, g->plan.extents.n);
	ray_progress_end(&g->progress);
	return err;
}

struct ray_error *ray_gcore_write_frozen(struct gcore *g)
{
	struct ray_error *err = write_front(g);

	return err ? err : copy_and_put(g, g->out);
}
