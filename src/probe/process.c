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

void ray_code_process_free(struct ray_code_process *p)
{
	if (!p)
		return;
	ray_target_close(p->target);
	ray_vec_free(&p->modules);
	free(p);
}

/* The path by which the very file that is mapped can be opened from here: the process may live in another mount namespace,
 * and its file may have been replaced. */
static const char *openable_path(struct ray_catalogue *c, pid_t pid, const struct ray_map *map)
{
	struct ray_arena *arena = ray_catalogue_arena(c);
	char *path = ray_arena_printf(arena, "/proc/%d/root%s", pid, map->path);
	struct stat st;

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
	struct ray_code_module *m = ray_arena_alloc(ray_catalogue_arena(c), sizeof(*m));
	const char *slash = strrchr(map->path, '/');

	if (!m)
		return &ray_enomem;
	m->name = ray_arena_strdup(ray_catalogue_arena(c), slash ? slash + 1 : map->path);
	m->path = openable_path(c, p->pid, map);
	m->is_program = !strcmp(map->path, exe);
	m->inode = map->inode;
	m->dev = map->dev;
	m->target = p->target;
	m->start = map->start;
	return m->name && m->path && ray_vec_push(&p->modules, m) ? NULL : &ray_enomem;
}

struct ray_elf *ray_code_module_elf(const struct ray_code_module *m)
{
	const struct ray_map *map = ray_target_find_map(m->target, m->start);
	const struct ray_module *module = map ? ray_target_map_module(m->target, map) : NULL;

	return module ? module->elf : NULL;
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
	err = ray_target_open(&options, &p->target);
	if (!err)
		err = look_at(c, p);
	if (err) {
		ray_code_process_free(p);
		return ray_error_wrap(err, "failed to grab process %d", pid);
	}
	*ret = p;
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
	if (!ray_vec_push(known, p)) {
		ray_code_process_free(p);
		return &ray_enomem;
	}
	*ret = p;
	return NULL;
}

struct ray_error *ray_code_process_each(struct ray_error *(*take)(pid_t pid, void *arg), void *arg)
{
	DIR *proc = opendir("/proc");
	struct ray_error *err = NULL;
	struct dirent *entry;

	while (proc && !err && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]) || atoi(entry->d_name) == getpid())
			continue;
		err = take((pid_t)atoi(entry->d_name), arg);
		if (err != &ray_enomem)
			ray_error_free(ray_take(err));
	}
	if (proc)
		closedir(proc);
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

bool ray_code_module_is(const struct ray_code_module *m, const char *pattern)
{
	size_t length = strlen(pattern);

	if (ray_glob_matches(pattern, m->name) || (m->is_program && !strcmp(pattern, "a.out")))
		return true;
	return ray_glob_is_plain(pattern) && !strncmp(m->name, pattern, length) && !strncmp(m->name + length, ".so", 3);
}
