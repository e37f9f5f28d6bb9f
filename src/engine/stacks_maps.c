/* stacks_maps.c - tells the walker in the kernel what it needs: which code lies where, and how to leave it.
 * SPDX-License-Identifier: MIT
 *
 * Rows are per file and kept once, whatever the number of processes that map it. The ranges of a process are written to a fresh place before the
 * process's entry leads there, so that the walker never sees half of them. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/rows.h"
#include "engine/stacks.h"
#include "v8/layout.h"

enum {
	PROCESSES = 4096,
	RANGES = 1 << 14,
	RANGES_OF_ONE = 1 << 13, /* as many as the walker's binary search takes */
	ROWS = 3 << 20,		 /* 24 MiB: two big programs with their libraries */
};

static struct ray_error *create(struct ray_stacker *s, uint32_t number, enum bpf_map_type type, uint32_t key_size,
				uint32_t value_size, uint32_t entries, uint32_t flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd = bpf_map_create(type, "stacks", key_size, value_size, entries, &opts);

	if (fd < 0)
		return ray_error_errno(RAY_FAILED, errno,
				       "cannot create a BPF map for stacks (%u elements of %u bytes)", entries,
				       value_size);
	s->trace->maps[number] = fd;
	return NULL;
}

static struct ray_error *create_rows(struct ray_stacker *s)
{
	struct ray_stack_maps *m = &s->maps;
	struct ray_error *err;

	err = create(s, RAY_LINK_UNWIND_ROWS, BPF_MAP_TYPE_ARRAY, 4, sizeof(struct ray_unwind_row), ROWS,
		     BPF_F_MMAPABLE);
	if (!err)
		m->row_room = ROWS;
	return err;
}

struct ray_error *ray_stack_maps_create(struct ray_stacker *s)
{
	bool used[RAY_LINK_MAP_COUNT] = { 0 };
	struct ray_error *err = ray_maps_used(s->trace, used);

	if (err || !used[RAY_LINK_STACK_SCRATCH])
		return err;
	err = create(s, RAY_LINK_STACK_SCRATCH, BPF_MAP_TYPE_ARRAY, 4, RAY_WALKER_SIZE, s->trace->slot_count, 0);
	if (!err)
		err = create(s, RAY_LINK_STACKIDS, BPF_MAP_TYPE_ARRAY, 4, sizeof(struct ray_stackid_set),
			     RAY_STACKID_SETS, 0);
	if (!err)
		err = create(s, RAY_LINK_PROCESSES, BPF_MAP_TYPE_HASH, 4, sizeof(struct ray_process), PROCESSES,
			     BPF_F_NO_PREALLOC);
	if (!err)
		err = create(s, RAY_LINK_UNWIND_RANGES, BPF_MAP_TYPE_ARRAY, 4, sizeof(struct ray_unwind_range), RANGES,
			     0);
	if (!err)
		err = create_rows(s);
	s->maps.range_room = RANGES;
	return err;
}

void ray_stack_maps_deinit(struct ray_stacker *s)
{
	struct ray_stack_maps *m = &s->maps;

	ray_vec_free(&m->modules);
	for (size_t i = 0; i < RAY_COUNT(m->free_ranges); i++)
		ray_vec_free(&m->free_ranges[i]);
}

/* ---- rows ---- */

/* Writes the rows and, behind them, the numbers of the first of each page. Only the part of the map that is written is in our memory, and only for that
 * long. */
static void write_rows(struct ray_stacker *s, const struct ray_rows *rows, struct ray_stack_module *module)
{
	struct ray_stack_maps *m = &s->maps;
	size_t count = rows->rows.n + rows->pages.n, before, size;
	struct ray_unwind_row *to;
	void *p;

	if (!count || count > m->row_room - m->row_count)
		return;
	before = m->row_count * sizeof(*to) % (size_t)sysconf(_SC_PAGESIZE);
	size = before + count * sizeof(*to);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, s->trace->maps[RAY_LINK_UNWIND_ROWS],
		 (off_t)(m->row_count * sizeof(*to) - before));
	if (p == MAP_FAILED)
		return;
	to = (struct ray_unwind_row *)((char *)p + before);
	if (rows->rows.n)
		memcpy(to, rows->rows.at, rows->rows.n * sizeof(*to));
	for (size_t i = 0; i < rows->pages.n; i++)
		to[rows->rows.n + i] = (struct ray_unwind_row){ .start = rows->pages.at[i] };
	munmap(p, size);
	module->base = rows->base;
	module->first_row = m->row_count;
	module->row_count = (uint32_t)rows->rows.n;
	module->first_page = m->row_count + module->row_count;
	module->page_count = rows->pages.n ? (uint32_t)rows->pages.n - 1 : 0;
	m->row_count += (uint32_t)count;
}

static const struct ray_stack_module *module_of(struct ray_stacker *s, const struct ray_map *map, struct ray_elf *elf)
{
	struct ray_stack_maps *m = &s->maps;
	struct ray_stack_module module = { .dev = map->dev, .inode = map->inode };
	struct ray_rows rows;
	struct ray_error *err;

	/* The vdso has no inode, and is the same in all processes. */
	for (size_t i = 0; i < m->modules.n; i++) {
		if (m->modules.at[i].inode == map->inode && m->modules.at[i].dev == map->dev)
			return &m->modules.at[i];
	}
	err = ray_rows_make(elf, &rows);
	if (err) {
		ray_error_free(err);
		return NULL;
	}
	write_rows(s, &rows, &module);
	ray_rows_deinit(&rows);
	return ray_vec_push(&m->modules, module) ? &m->modules.at[m->modules.n - 1] : NULL;
}

/* ---- ranges ---- */

static unsigned log_of(uint32_t count)
{
	unsigned log = 3;

	while (1u << log < count)
		log++;
	return log;
}

/* A place for `count` ranges; false when there is none. */
static bool take_ranges(struct ray_stack_maps *m, uint32_t count, uint32_t *first_ret, uint32_t *room_ret)
{
	unsigned log = log_of(count);

	*room_ret = 1u << log;
	if (log >= RAY_COUNT(m->free_ranges) || count > RANGES_OF_ONE)
		return false;
	if (m->free_ranges[log].n) {
		*first_ret = m->free_ranges[log].at[--m->free_ranges[log].n];
		return true;
	}
	if (*room_ret > m->range_room - m->range_count)
		return false;
	*first_ret = m->range_count;
	m->range_count += *room_ret;
	return true;
}

static void give_ranges(struct ray_stack_maps *m, uint32_t first, uint32_t room)
{
	if (room && !ray_vec_push(&m->free_ranges[log_of(room)], first))
		return; /* that place is lost; there are others */
}

typedef RAY_VEC(struct ray_unwind_range) range_list;

_Static_assert((int)RAY_DEOPTS == (int)RAY_DEOPT_ENTRIES && (int)RAY_BELOW_WORDS == (int)RAY_DEOPT_OBJECT_WORDS,
	       "as the walker has it");

/* The calls of V8's builtin that replaces frames. */
static void add_deopt(struct ray_js *js, const struct ray_stack_module *module, struct ray_process *process)
{
	const struct ray_deopt *deopt = ray_js_deopt(js);

	process->deopt = (struct ray_deopt_layout){ deopt->distances.input, deopt->distances.fp,
						    deopt->distances.content, deopt->distances.from };
	for (size_t i = 0; i < deopt->count; i++) {
		process->deopt_calls[2 * i] = (uint32_t)(deopt->entries[i].made - 1 - module->base);
		process->deopt_calls[2 * i + 1] = (uint32_t)(deopt->entries[i].computed - 1 - module->base);
	}
}

static bool add_range(struct ray_stacker *s, struct ray_stack_process *p, const struct ray_map *map, range_list *list,
		      struct ray_process *process)
{
	const struct ray_module *file = ray_target_map_module(p->target, map);
	const struct ray_stack_module *module;
	struct ray_unwind_range r = { .start = map->start, .end = map->end };
	uint64_t vaddr;

	if (!file)
		return true;
	module = file->elf && ray_elf_offset_to_vaddr(file->elf, map->offset, &vaddr) ? module_of(s, map, file->elf) :
											NULL;
	if (module) {
		r.delta = vaddr - module->base - map->start;
		r.first_row = module->first_row;
		r.row_count = module->row_count;
		r.first_page = module->first_page;
		r.page_count = module->page_count;
	}
	r.is_v8 = p->js->layout && file == p->js->node.module;
	if (r.is_v8 && module)
		add_deopt(p->js, module, process);
	return ray_vec_push(list, r);
}

/* Generated code: from its first mapping to its last, since more appear in between. */
static void add_code(const struct ray_map *map, struct ray_process *process)
{
	if (!process->code_end)
		process->code_start = map->start;
	process->code_end = map->end;
}

static bool list_ranges(struct ray_stacker *s, struct ray_stack_process *p, range_list *list,
			struct ray_process *process)
{
	const struct ray_map *maps;
	size_t count;

	maps = ray_target_maps(p->target, &count);
	for (size_t i = 0; i < count; i++) {
		if (!(maps[i].prot & PROT_EXEC))
			continue;
		if (!maps[i].path[0])
			add_code(&maps[i], process);
		else if (!add_range(s, p, &maps[i], list, process))
			return false;
	}
	return true;
}

static uint64_t hash_of(const range_list *list, const struct ray_process *process)
{
	uint64_t hash = ray_hash_word(process->code_start, process->code_end);

	for (size_t i = 0; i < list->n; i++)
		hash = ray_hash_word(ray_hash_word(ray_hash_word(hash, list->at[i].start), list->at[i].end),
				     list->at[i].delta);
	return hash | 1;
}

static bool write_ranges(struct ray_stacker *s, const range_list *list, struct ray_process *process, uint32_t *room_ret)
{
	int fd = s->trace->maps[RAY_LINK_UNWIND_RANGES];

	if (!take_ranges(&s->maps, (uint32_t)list->n, &process->first_range, room_ret))
		return false;
	process->range_count = (uint32_t)list->n;
	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t key = process->first_range + i;

		if (bpf_map_update_elem(fd, &key, &list->at[i], BPF_ANY)) {
			give_ranges(&s->maps, process->first_range, *room_ret);
			return false;
		}
	}
	return true;
}

void ray_stack_maps_push(struct ray_stacker *s, struct ray_stack_process *p)
{
	struct ray_process process = { .space = p->space };
	range_list list = { 0 };
	uint32_t room;
	uint64_t hash;

	if (s->trace->maps[RAY_LINK_PROCESSES] < 0)
		return;
	if (p->js->layout)
		process.shared_at = (uint32_t)ray_v8_get(p->js->layout, RAY_V8_JSFUNCTION_SHARED);
	p->shared_at = process.shared_at;
	if (!list_ranges(s, p, &list, &process) || (hash = hash_of(&list, &process)) == p->pushed) {
		ray_vec_free(&list);
		return;
	}
	process.version = (uint32_t)(hash >> 32);
	if (write_ranges(s, &list, &process, &room)) {
		if (!bpf_map_update_elem(s->trace->maps[RAY_LINK_PROCESSES], &p->tgid, &process, BPF_ANY)) {
			s->trace->state->process_changes++;
			give_ranges(&s->maps, p->first_range, p->range_room);
			p->first_range = process.first_range;
			p->range_room = room;
			p->pushed = hash;
			p->code_start = process.code_start;
			p->code_end = process.code_end;
		} else {
			give_ranges(&s->maps, process.first_range, room);
		}
	}
	ray_vec_free(&list);
}

void ray_stack_maps_forget(struct ray_stacker *s, struct ray_stack_process *p)
{
	if (!p->range_room)
		return;
	bpf_map_delete_elem(s->trace->maps[RAY_LINK_PROCESSES], &p->tgid);
	s->trace->state->process_changes++;
	give_ranges(&s->maps, p->first_range, p->range_room);
	p->range_room = 0;
}
