/* place.c - see place.h. SPDX-License-Identifier: MIT */
#include "probe/place.h"

#include <elf.h>
#include <stdlib.h>

enum { MAX_FUNCTION = 1 << 20 /* bytes of code looked at */, UNKNOWN_SIZE = 64 };

bool ray_symbol_is_function(const struct ray_symbol *symbol)
{
	return symbol->type == STT_FUNC && symbol->value;
}

struct ray_error *ray_place_add(struct ray_catalogue *c, struct ray_probe *probe,
				const struct ray_function_place *place)
{
	struct ray_function_place *copy;

	for (copy = probe->data; copy; copy = copy->next)
		if (copy->module->inode == place->module->inode && copy->vaddr == place->vaddr &&
		    copy->offset == place->offset)
			return NULL;
	copy = ray_arena_alloc(ray_catalogue_arena(c), sizeof(*copy));
	if (!copy)
		return &ray_enomem;
	*copy = *place;
	copy->next = probe->data;
	probe->data = copy;
	return NULL;
}

/* The function's code; how much of it could be read. */
static size_t read_code(const struct ray_function_place *place, struct ray_elf *elf, uint8_t **ret)
{
	size_t size = place->size && place->size < MAX_FUNCTION ? place->size : UNKNOWN_SIZE;

	*ret = malloc(size);
	return *ret ? ray_elf_read(elf, place->vaddr, *ret, size) : 0;
}

static struct ray_error *add_site(struct ray_catalogue *c, struct ray_probe *probe,
				  const struct ray_function_place *place)
{
	struct ray_elf *elf = ray_code_module_elf(place->module);
	ray_auto_memory uint8_t *code = NULL;
	uint64_t offset = place->offset, in_file;
	struct ray_site *site;
	size_t size;

	if (!elf)
		return ray_error_new(RAY_FAILED, "%s cannot be read any more", place->module->path);
	size = read_code(place, elf, &code);
	if (place->where == RAY_PLACE_OFFSET && !ray_instruction_starts_at(code, size, offset))
		return ray_error_new(RAY_FAILED, "no instruction of %s starts at offset 0x%lx", probe->function,
				     (unsigned long)offset);
	if (place->where != RAY_PLACE_OFFSET && !ray_catalogue_settings(c)->exact_entry && place->size)
		offset = ray_instruction_entry(code, size, place->arguments);
	if (!ray_elf_vaddr_to_offset(elf, place->vaddr + offset, &in_file))
		return ray_error_new(RAY_FAILED, "%s: its code is not in the file", probe->function);
	site = ray_probe_site_add(c, probe);
	if (!site)
		return &ray_enomem;
	site->kind = place->where == RAY_PLACE_RETURN ? RAY_SITE_URETPROBE : RAY_SITE_UPROBE;
	site->uprobe.file = place->module->path;
	site->uprobe.offset = in_file;
	site->uprobe.pid = probe->pid;
	return NULL;
}

struct ray_error *ray_place_sites(struct ray_catalogue *c, struct ray_probe *probe)
{
	const struct ray_function_place *place;
	struct ray_error *err = NULL;

	for (place = probe->data; !err && place; place = place->next)
		err = add_site(c, probe, place);
	return err;
}
