/* module.c - the files that are mapped into a target, and the way from an address to a file's vaddr.
 * SPDX-License-Identifier: MIT
 *
 * Always mapping by mapping, never by one load bias: V8 maps its embedded builtins a second time,
 * near the JIT's code, from the same file. */
#include <string.h>

#include "base/search.h"
#include "target/internal.h"

enum { MAX_MODULES = 16384 }; /* a damaged core can name files without end */

static int compare_entry(const struct module_entry *m, const struct ray_map *map)
{
	int paths = strcmp(m->module.path, map->path);

	if (paths)
		return paths;
	if (m->inode != map->inode)
		return m->inode < map->inode ? -1 : 1;
	return m->dev < map->dev ? -1 : m->dev > map->dev;
}

/* Modules are sorted; *slot_ret is where this one is, or belongs. */
static struct module_entry *find_entry(const struct ray_target *t, const struct ray_map *map, size_t *slot_ret)
{
	size_t slot = ray_search(t->modules.at, t->modules.n, one, compare_entry(*one, map) < 0);

	*slot_ret = slot;
	return slot < t->modules.n && !compare_entry(t->modules.at[slot], map) ? t->modules.at[slot] : NULL;
}

static bool insert_entry(struct ray_target *t, size_t slot, struct module_entry *m)
{
	if (t->modules.n >= MAX_MODULES || !ray_vec_push(&t->modules, NULL))
		return false;
	memmove(&t->modules.at[slot + 1], &t->modules.at[slot], (t->modules.n - 1 - slot) * sizeof(m));
	t->modules.at[slot] = m;
	return true;
}

/* The vdso has no file: its image lies in the target. */
static struct ray_error *open_vdso(struct ray_target *t, const struct ray_map *map, struct ray_elf **ret)
{
	size_t size = (size_t)(map->end - map->start), n;
	ray_auto_memory unsigned char *image = NULL;

	if (size > 1 << 20)
		return ray_error_new(RAY_UNREADABLE, "%s is too large", map->path);
	image = malloc(size);
	if (!image)
		return &ray_enomem;
	n = ray_target_read(t, map->start, image, size);
	if (!n)
		return ray_error_new(RAY_UNREADABLE, "%s cannot be read", map->path);
	return ray_elf_open_image(image, n, map->path, ret);
}

static bool is_module(const struct ray_map *map)
{
	return map->path[0] == '/' || !strcmp(map->path, "[vdso]");
}

const struct ray_module *ray_target_map_module(struct ray_target *t, const struct ray_map *map)
{
	struct module_entry *m;
	struct ray_error *err;
	size_t slot;

	if (!is_module(map))
		return NULL;
	m = find_entry(t, map, &slot);
	if (m)
		return &m->module;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->inode = map->inode;
	m->dev = map->dev;
	m->module.path = ray_arena_strdup(t->arena, map->path);
	if (!m->module.path || !insert_entry(t, slot, m)) {
		free(m);
		return NULL;
	}
	err = map->path[0] == '/' ? t->ops->open_module(t, map, &m->module.elf) : open_vdso(t, map, &m->module.elf);
	if (err) {
		m->module.elf = NULL;
		m->module.error = ray_arena_strdup(t->arena, ray_error_text(err));
		ray_error_free(err);
	}
	return &m->module;
}

const struct ray_module *ray_target_module_at(struct ray_target *t, uint64_t address, uint64_t *vaddr_ret)
{
	const struct ray_map *map = ray_target_find_map(t, address);
	const struct ray_module *m = map ? ray_target_map_module(t, map) : NULL;
	uint64_t offset;

	if (!m)
		return NULL;
	offset = address - map->start + map->offset;
	if (!m->elf || !ray_elf_offset_to_vaddr(m->elf, offset, vaddr_ret))
		*vaddr_ret = offset;
	return m;
}

/* The mapping that holds the ELF header: the second mapping of the builtins may well lie lower. */
static const struct ray_map *first_map(struct ray_target *t, const struct ray_module *m)
{
	const struct ray_map *first = NULL;
	size_t slot;

	for (size_t i = 0; i < t->maps.n; i++) {
		const struct ray_map *map = &t->maps.at[i];
		const struct module_entry *e = is_module(map) ? find_entry(t, map, &slot) : NULL;

		if (!e || &e->module != m)
			continue;
		if (map->offset == 0)
			return map;
		if (!first)
			first = map;
	}
	return first;
}

bool ray_target_module_address(struct ray_target *t, const struct ray_module *m, uint64_t vaddr, uint64_t *ret)
{
	const struct ray_map *first = m->elf ? first_map(t, m) : NULL;
	uint64_t first_vaddr;

	if (!first || !ray_elf_offset_to_vaddr(m->elf, first->offset, &first_vaddr))
		return false;
	*ret = first->start + (vaddr - first_vaddr);
	return true;
}
