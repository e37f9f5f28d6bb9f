/* gcore.c - see gcore.h. The order of things; each of them is done elsewhere:
 *   before   what /proc tells (gcore_notes.c, smaps.c, files.c), room on disk and in memory
 *   stopped  registers, mappings, page tables (pages.c), the plan (gcore_plan.c), the copy (gcore_copy.c);
 *            or a fork (gcore_fork.c), after which the target runs on and the child is copied
 *   after    head and notes, then the copy, in the file's order (gcore_write.c)
 * SPDX-License-Identifier: MIT */
#include "target/gcore.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "target/files.h"
#include "target/gcore_internal.h"
#include "target/internal.h"

enum { MIN_BUFFER = 16 << 20, FORK_BUFFER = 64 << 20, MARGIN = 64 << 20 };

/* ------------------------------------------------------------------------- before */

int ray_gcore_open_proc(int pid, const char *name, struct ray_error **err_ret)
{
	char path[64], what[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		snprintf(what, sizeof(what), "cannot open %s", path);
		*err_ret = ray_stop_denied(pid, errno, what);
	}
	return fd;
}

static struct ray_error *read_files(struct gcore *g)
{
	ray_auto(ray_files, files) = NULL;
	struct ray_error *err = ray_files_list(g->t, &files);

	if (err)
		return err;
	g->files = ray_files_to_json(files);
	return g->files ? NULL : &ray_enomem;
}

/* Names and states of threads: once stopped, all of them are "tracing stop". */
static struct ray_error *read_threads(struct gcore *g)
{
	const struct ray_thread *threads;
	struct ray_error *err = ray_target_refresh(g->t);

	if (err)
		return ray_error_wrap(err, "%d", g->pid);
	threads = ray_target_threads(g->t, &g->known_count);
	g->known = calloc(g->known_count + 1, sizeof(*g->known));
	if (!g->known)
		return &ray_enomem;
	memcpy(g->known, threads, g->known_count * sizeof(*threads));
	return NULL;
}

static struct ray_error *look(struct gcore *g)
{
	struct ray_error *err = NULL;

	g->pagemap = ray_gcore_open_proc(g->pid, "pagemap", &err);
	if (!err)
		g->mem = ray_gcore_open_proc(g->pid, "mem", &err);
	if (!err)
		err = read_threads(g);
	if (!err)
		err = ray_smaps_read(g->pid, &g->smaps);
	if (!err)
		err = read_files(g);
	if (!err && g->options->fork)
		err = ray_gadgets_find(g->t, &g->gadgets);
	if (!err)
		err = ray_gcore_process_json(g->pid, &g->process);
	return err;
}

/* ------------------------------------------------------------------------- the plan */

static bool is_elf(struct gcore *g, const struct ray_map *map)
{
	char magic[4];
	struct iovec local = { magic, sizeof(magic) }, remote = { (void *)(uintptr_t)map->start, sizeof(magic) };

	return map->path[0] == '/' && map->offset == 0 && (map->prot & PROT_READ) &&
	       process_vm_readv(g->source, &local, 1, &remote, 1, 0) == sizeof(magic) && !memcmp(magic, "\177ELF", 4);
}

/* What the kernel counted a moment ago, if the mapping is still the same. */
static unsigned flags_of(struct gcore *g, const struct ray_map *map)
{
	const struct ray_smap *s = ray_smaps_find(g->smaps, map->start);

	return s && s->start <= map->start && s->end >= map->end ? s->flags : 0;
}

struct ray_error *ray_gcore_read_maps(struct gcore *g)
{
	struct ray_error *err;

	g->t->maps.n = 0;
	err = g->t->ops->load_maps(g->t);
	if (err)
		return ray_error_wrap(err, "%d", g->pid);
	g->maps.n = 0;
	for (size_t i = 0; i < g->t->maps.n; i++) {
		const struct ray_map *map = &g->t->maps.at[i];
		struct ray_gcore_map m = { .map = map, .flags = flags_of(g, map) };

		if (map->start >= 1ull << 63) /* the vsyscall page is the same everywhere */
			continue;
		m.is_elf = is_elf(g, map);
		if (!ray_vec_push(&g->maps, m))
			return &ray_enomem;
	}
	return NULL;
}

struct ray_error *ray_gcore_make_plan(struct gcore *g, int pagemap)
{
	struct ray_error *err = ray_pages_find(pagemap, g->t->maps.at, g->t->maps.n, &g->pages);

	if (!err)
		err = ray_pages_add_shared(g->source, g->t->maps.at, g->t->maps.n, &g->pages, &g->report->unseen);
	if (!err)
		err = ray_gcore_plan_make(g->maps.at, g->maps.n, &g->pages, g->options->full, &g->plan);
	return err;
}

/* A plan of the running target tells what to expect: for the room on disk, and for the buffer. */
static struct ray_error *prepare(struct gcore *g)
{
	struct ray_error *err = ray_gcore_read_maps(g);
	uint64_t want, budget = g->options->max_memory;

	if (!err)
		err = ray_gcore_make_plan(g, g->pagemap);
	if (err)
		return err;
	ray_gcore_plan_place(&g->plan, 1 << 20);
	err = ray_out_check_room(g->out, g->plan.copied + g->plan.copied / 64 + (1 << 20), g->plan.size);
	if (err)
		return err;
	if (!budget)
		budget = ray_copy_budget();
	want = g->options->fork ? FORK_BUFFER : g->plan.copied + g->plan.copied / 8 + MARGIN;
	g->buffer_size = (size_t)(want < budget ? want : budget) & ~(size_t)(RAY_PAGE - 1);
	if (g->buffer_size < MIN_BUFFER)
		g->buffer_size = MIN_BUFFER;
	while (!(g->buffer = ray_copy_buffer(g->buffer_size)) && g->buffer_size > MIN_BUFFER)
		g->buffer_size = g->buffer_size / 2 > MIN_BUFFER ? g->buffer_size / 2 & ~(size_t)(RAY_PAGE - 1) :
								   MIN_BUFFER;
	return g->buffer ? NULL : &ray_enomem;
}

/* ------------------------------------------------------------------------- stopped */

static struct ray_error *read_registers(struct gcore *g, struct ray_stop *stop)
{
	struct ray_error *err;

	err = ray_gcore_threads_read(stop, g->known, g->known_count, ray_target_only_tid(g->t), &g->threads);
	if (err)
		return err;
	for (size_t i = 0; i < g->threads.list.n; i++) {
		if (g->threads.list.at[i].has_registers)
			g->report->threads++;
		else
			g->report->missed++;
	}
	if (!g->report->threads)
		return ray_error_new(RAY_UNREADABLE, "process %d is not a 64-bit program: its registers cannot be read",
				     g->pid);
	return NULL;
}

static struct ray_error *copy_target(struct gcore *g)
{
	struct ray_error *err = ray_gcore_read_maps(g);

	if (!err)
		err = ray_gcore_make_plan(g, g->pagemap);
	if (err)
		return err;
	if (g->plan.copied <= g->buffer_size)
		return ray_gcore_copy_all(g);
	g->report->slow = true;
	return ray_gcore_write_while_stopped(g);
}

static struct ray_error *while_stopped(struct ray_stop *stop, void *arg)
{
	struct gcore *g = arg;
	struct ray_error *err = read_registers(g, stop);

	if (err)
		return err;
	return g->options->fork ? ray_gcore_dump_fork(g, stop) : copy_target(g);
}

/* ------------------------------------------------------------------------- all of it */

static void deinit(struct gcore *g)
{
	ray_out_close(g->spool);
	ray_out_close(g->out);
	ray_copy_buffer_free(g->buffer, g->buffer_size);
	ray_gcore_plan_deinit(&g->plan);
	ray_page_runs_deinit(&g->pages);
	ray_gcore_threads_deinit(&g->threads);
	ray_smaps_free(g->smaps);
	ray_text_deinit(&g->notes);
	ray_vec_free(&g->maps);
	json_decref(g->process);
	json_decref(g->files);
	free(g->known);
	if (g->pagemap >= 0)
		close(g->pagemap);
	if (g->mem >= 0)
		close(g->mem);
}

static struct ray_error *run(struct gcore *g)
{
	const struct ray_gcore_options *o = g->options;
	struct ray_out_options out = { .path = o->path, .force = o->force, .zstd = o->zstd, .threads = g->processors };
	struct ray_stop_report stopped = { 0 };
	struct ray_error *err = ray_out_open(&out, &g->out);

	if (!err)
		err = look(g);
	if (!err)
		err = prepare(g);
	if (!err)
		err = ray_stop_run(g->pid, o->timeout_ms ? o->timeout_ms : RAY_STOP_TIMEOUT_MS, while_stopped, g,
				   &stopped);
	if (err)
		return err;
	if (!o->fork) {
		g->report->pause_ns = stopped.pause_ns;
		err = ray_gcore_write(g);
	}
	if (!err)
		err = ray_out_finish(g->out, g->file_size);
	return err;
}

struct ray_error *ray_gcore(struct ray_target *t, const struct ray_gcore_options *options, struct ray_gcore_report *ret)
{
	struct ray_gcore_report report = { 0 };
	struct gcore g = { .t = t, .options = options, .report = &report, .pagemap = -1, .mem = -1 };
	uint64_t begun = ray_clock_ns();
	struct ray_error *err;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (ray_target_kind(t) != RAY_TARGET_PROCESS)
		return ray_error_new(RAY_USAGE, "%s: is a core already; a process is needed", ray_target_name(t));
	g.pid = g.source = ray_target_pid(t);
	g.processors = processors > 0 ? (unsigned)processors : 1;
	err = run(&g);
	if (!err) {
		ray_out_sizes(g.out, &report.disk, &report.length);
		report.copied = g.plan.copied;
		report.left_out = g.plan.left_out;
		report.total_ns = ray_clock_ns() - begun;
		*ret = report;
	}
	deinit(&g);
	return err;
}
