/* process.c - see process.h. SPDX-License-Identifier: MIT */
#include "probe/process.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "target/proc.h"

void ray_code_process_free(struct ray_code_process *p)
{
	if (!p)
		return;
	ray_target_close(p->target);
	ray_vec_free(&p->modules);
	ray_arena_free(p->arena);
	free(p);
}

/* ---- files ---- */

void ray_code_file_free(struct ray_code_file *f)
{
	if (!f)
		return;
	ray_elf_close(f->elf);
	free(f);
}

static struct ray_code_file *file_of(struct ray_catalogue *c, const struct ray_code_module *m)
{
	ray_code_files *known = ray_catalogue_files(c);
	struct ray_code_file *f;
	struct stat st = { 0 };
	uint64_t changed;

	(void)stat(m->path, &st);
	changed = (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
	for (size_t i = 0; i < known->n; i++) {
		f = known->at[i];
		if (f->inode == m->inode && f->dev == m->dev && f->size == (uint64_t)st.st_size &&
		    f->changed == changed)
			return f;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	*f = (struct ray_code_file){
		.inode = m->inode, .dev = m->dev, .size = (uint64_t)st.st_size, .changed = changed
	};
	if (ray_vec_push(known, f))
		return f;
	free(f);
	return NULL;
}

/* As the target opens it, which knows more ways, where the path leads nowhere. */
static struct ray_elf *elf_of_target(const struct ray_code_module *m)
{
	const struct ray_map *map = m->target ? ray_target_find_map(m->target, m->start) : NULL;
	const struct ray_module *module = map ? ray_target_map_module(m->target, map) : NULL;

	return module ? module->elf : NULL;
}

struct ray_elf *ray_code_module_elf(const struct ray_code_module *m)
{
	if (!m->file->elf) {
		ray_auto(ray_error, err) = ray_elf_open(m->path, &m->file->elf);

		if (err)
			return elf_of_target(m);
	}
	return m->file->elf;
}

/* ---- processes ---- */

/* The path by which the very file that is mapped can be opened from here: the process may live in another mount namespace,
 * and its file may have been replaced. */
static const char *openable_path(struct ray_arena *arena, pid_t pid, const struct ray_map *map, bool is_program)
{
	char *path = ray_arena_printf(arena, "/proc/%d/root%s", pid, map->path);
	struct stat st;

	if (path && !stat(path, &st) && st.st_ino == map->inode)
		return path;
	/* Needs fewer rights than what follows. */
	path = is_program ? ray_arena_printf(arena, "/proc/%d/exe", pid) : NULL;
	if (path && !stat(path, &st) && st.st_ino == map->inode)
		return path;
	return ray_arena_printf(arena, "/proc/%d/map_files/%lx-%lx", pid, (unsigned long)map->start,
				(unsigned long)map->end);
}

static bool is_known(const struct ray_code_process *p, const struct ray_map *map)
{
	size_t i;

	for (i = 0; i < p->modules.n; i++)
		if (p->modules.at[i]->inode == map->inode && p->modules.at[i]->dev == map->dev)
			return true;
	return false;
}

static struct ray_error *add_module(struct ray_catalogue *c, struct ray_code_process *p, const struct ray_map *map,
				    const char *exe)
{
	struct ray_code_module *m = ray_arena_alloc(p->arena, sizeof(*m));
	const char *slash = strrchr(map->path, '/');

	if (!m)
		return &ray_enomem;
	m->name = ray_arena_strdup(p->arena, slash ? slash + 1 : map->path);
	m->is_program = !strcmp(map->path, exe);
	m->path = openable_path(p->arena, p->pid, map, m->is_program);
	m->inode = map->inode;
	m->dev = map->dev;
	m->target = p->target;
	m->start = map->start;
	m->file = m->path ? file_of(c, m) : NULL;
	return m->name && m->file && ray_vec_push(&p->modules, m) ? NULL : &ray_enomem;
}

static struct ray_error *look_at(struct ray_catalogue *c, struct ray_code_process *p)
{
	const struct ray_map *maps;
	struct ray_error *err = NULL;
	const char *exe;
	size_t i, count;

	exe = ray_target_exe(p->target);
	maps = ray_target_maps(p->target, &count);
	for (i = 0; !err && i < count; i++)
		if ((maps[i].prot & PROT_EXEC) && maps[i].path[0] == '/' && maps[i].inode && !is_known(p, &maps[i]))
			err = add_module(c, p, &maps[i], exe);
	return err;
}

static struct ray_error *open_process(struct ray_catalogue *c, pid_t pid, struct ray_code_process **ret)
{
	struct ray_code_process *p = calloc(1, sizeof(*p));
	struct ray_target_options options = { 0 };
	struct ray_error *err;
	char name[32];

	if (!p)
		return &ray_enomem;
	snprintf(name, sizeof(name), "%d", pid);
	options.name = name;
	p->pid = pid;
	p->arena = ray_arena_create();
	err = p->arena ? ray_target_open(&options, &p->target) : &ray_enomem;
	if (!err)
		err = look_at(c, p);
	if (err) {
		ray_code_process_free(p);
		return ray_error_wrap(err, "failed to grab process %d", pid);
	}
	*ret = p;
	return NULL;
}

static bool has_same_modules(const struct ray_code_process *a, const struct ray_code_process *b)
{
	if (a->modules.n != b->modules.n)
		return false;
	for (size_t i = 0; i < a->modules.n; i++)
		if (a->modules.at[i]->file != b->modules.at[i]->file ||
		    a->modules.at[i]->start != b->modules.at[i]->start)
			return false;
	return true;
}

/* Of a process that was let go and is now what it was, the old element is used again: whatever maps code is looked at again, and V8 maps code all
 * the time. Consumes p then. */
static struct ray_code_process *revive(struct ray_catalogue *c, struct ray_code_process *p)
{
	ray_code_processes *known = ray_catalogue_processes(c);

	for (size_t i = 0; i < known->n; i++) {
		struct ray_code_process *old = known->at[i];

		if (old->pid != p->pid || old->target || !has_same_modules(old, p))
			continue;
		old->target = ray_take(p->target);
		old->is_stale = false;
		for (size_t k = 0; k < old->modules.n; k++)
			old->modules.at[k]->target = old->target;
		ray_code_process_free(p);
		return old;
	}
	return NULL;
}

struct ray_error *ray_code_process_get(struct ray_catalogue *c, pid_t pid, const struct ray_code_process **ret)
{
	ray_code_processes *known = ray_catalogue_processes(c);
	struct ray_code_process *p = NULL;
	struct ray_error *err;
	size_t i;

	for (i = 0; i < known->n; i++)
		if (known->at[i]->pid == pid && !known->at[i]->is_stale) {
			*ret = known->at[i];
			return NULL;
		}
	err = open_process(c, pid, &p);
	if (err)
		return err;
	*ret = revive(c, p);
	if (*ret)
		return NULL;
	if (!ray_vec_push(known, p)) {
		ray_code_process_free(p);
		return &ray_enomem;
	}
	*ret = p;
	return NULL;
}

/* ---- all of them ---- */

/* One of -p and -c, or what it has started. */
static bool is_family(struct ray_catalogue *c, pid_t pid)
{
	const struct ray_catalogue_options *o = ray_catalogue_settings(c);

	return !o->only_family || !o->pid_count || ray_proc_is_progeny(pid, o->pids, o->pid_count);
}

/* Threads of the kernel and what has ended have none. */
static bool has_program(pid_t pid)
{
	char path[32], target[8];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return readlink(path, target, sizeof(target)) > 0;
}

static bool candidates_list(struct ray_catalogue *c, ray_pids *list)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool fine = true;

	while (proc && fine && (entry = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;

		if (pid && pid != getpid() && has_program(pid) && is_family(c, pid))
			fine = ray_vec_push(list, pid);
	}
	if (proc)
		closedir(proc);
	return fine;
}

struct ray_error *ray_code_process_each(struct ray_catalogue *c, struct ray_error *(*take)(pid_t pid, void *arg),
					void *arg)
{
	ray_pids *list = ray_catalogue_candidates(c);
	struct ray_error *err = NULL;

	/* A script has many descriptions: /proc is read for the first. */
	if (!list->n && !candidates_list(c, list))
		return &ray_enomem;
	for (size_t i = 0; i < list->n && !err; i++) {
		err = take(list->at[i], arg);
		if (err != &ray_enomem)
			ray_error_free(ray_take(err));
	}
	return err;
}

static bool is_listed(const ray_pids *list, pid_t pid)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i] == pid)
			return true;
	return false;
}

struct ray_error *ray_code_process_each_now(struct ray_catalogue *c, bool only_new,
					    struct ray_error *(*take)(pid_t pid, void *arg), void *arg)
{
	ray_pids *list = ray_catalogue_candidates(c);
	ray_pids now = { 0 };
	struct ray_error *err = candidates_list(c, &now) ? NULL : &ray_enomem;

	for (size_t i = 0; i < now.n && !err; i++)
		if (!only_new || !is_listed(list, now.at[i]))
			err = take(now.at[i], arg);
	ray_vec_free(list);
	*list = now;
	return err;
}

void ray_code_process_forget(struct ray_catalogue *c, pid_t pid)
{
	ray_code_processes *known = ray_catalogue_processes(c);
	size_t i;

	for (i = 0; i < known->n; i++)
		if (known->at[i]->pid == pid)
			known->at[i]->is_stale = true;
}

static const struct ray_code_file *program_of(const struct ray_code_process *p)
{
	for (size_t i = 0; i < p->modules.n; i++)
		if (p->modules.at[i]->is_program)
			return p->modules.at[i]->file;
	return NULL;
}

bool ray_code_process_is_other(struct ray_catalogue *c, pid_t pid)
{
	ray_code_processes *known = ray_catalogue_processes(c);
	const struct ray_code_file *before = NULL;
	const struct ray_code_process *p;
	ray_auto(ray_error, err) = NULL;

	for (size_t i = 0; i < known->n; i++)
		if (known->at[i]->pid == pid && known->at[i]->is_stale)
			before = program_of(known->at[i]);
	if (!before)
		return false;
	err = ray_code_process_get(c, pid, &p);
	return !err && program_of(p) && program_of(p) != before;
}

static bool has_probe(const struct ray_catalogue *c, pid_t pid)
{
	for (uint32_t id = 0; id < ray_catalogue_id_limit(c); id++) {
		const struct ray_probe *probe = ray_catalogue_probe(c, id);

		if (probe && probe->pid == pid)
			return true;
	}
	return false;
}

static void close_target(struct ray_code_process *p)
{
	ray_target_close(ray_take(p->target));
	for (size_t i = 0; i < p->modules.n; i++)
		p->modules.at[i]->target = NULL;
	p->is_stale = true;
}

/* Those of a pid, or all of them if it is 0. */
static void let_go(struct ray_catalogue *c, pid_t pid)
{
	ray_code_processes *known = ray_catalogue_processes(c);
	size_t n = 0;

	for (size_t i = 0; i < known->n; i++) {
		struct ray_code_process *p = known->at[i];
		bool is_meant = (!pid || p->pid == pid) && p->target;

		if (is_meant)
			close_target(p);
		if (is_meant && !has_probe(c, p->pid))
			ray_code_process_free(p);
		else
			known->at[n++] = p;
	}
	known->n = n;
}

void ray_code_process_let_go(struct ray_catalogue *c, pid_t pid)
{
	let_go(c, pid);
}

void ray_code_process_let_all_go(struct ray_catalogue *c)
{
	let_go(c, 0);
}

bool ray_code_module_is(const struct ray_code_module *m, const char *pattern)
{
	size_t length = strlen(pattern);

	if (ray_glob_matches(pattern, m->name) || (m->is_program && !strcmp(pattern, "a.out")))
		return true;
	return ray_glob_is_plain(pattern) && !strncmp(m->name, pattern, length) && !strncmp(m->name + length, ".so", 3);
}
