/* maps_names.c - the maps that name probes: probeprov, probemod, probefunc and probename in the kernel.
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/mman.h>

#include "engine/internal.h"
#include "engine/maps.h"

enum {
	NAMES_SPARE = 4096, /* probes that come after the start */
	STRINGS_SPARE = 1 << 18,
};

struct names {
	struct ray_name_offsets *probes;
	char *strings;
};

static void part_store(struct ray_trace *t, struct names *n, const struct ray_probe *probe, int part, const char *text)
{
	size_t size = strlen(text) + 1;

	/* Byte 0 of the strings is an empty one: what is missing is empty. */
	n->probes[probe->id].at[part] = t->strings_used;
	memcpy(n->strings + t->strings_used, text, size);
	t->strings_used += (uint32_t)size;
}

static uint64_t names_size(const struct ray_probe *p)
{
	return strlen(p->provider) + strlen(p->module) + strlen(p->function) + strlen(p->name) + 4;
}

static void name_store(struct ray_trace *t, struct names *n, const struct ray_probe *probe)
{
	const char *parts[4] = { probe->provider, probe->module, probe->function, probe->name };
	struct ray_name_offsets *at;

	if (probe->id >= t->probes_size || names_size(probe) > t->strings_size - t->strings_used)
		return;
	at = &n->probes[probe->id];
	if (at->at[0] & RAY_NAME_NUMBERED && !probe->is_reserved)
		part_store(t, n, probe, 0, parts[0]);
	for (int i = 3; i >= 0 && !at->at[0]; i--)
		part_store(t, n, probe, i, parts[i]);
	if (probe->is_reserved)
		at->at[0] |= RAY_NAME_NUMBERED;
}

static struct ray_error *map_names(struct ray_trace *t, struct names *n)
{
	struct ray_error *err;
	void *probes, *strings;

	err = ray_map_array_open(t->maps[RAY_LINK_PROBES], sizeof(struct ray_name_offsets) * t->probes_size, &probes);
	if (err)
		return err;
	err = ray_map_array_open(t->maps[RAY_LINK_STRINGS], t->strings_size, &strings);
	if (err) {
		munmap(probes, sizeof(struct ray_name_offsets) * t->probes_size);
		return err;
	}
	n->probes = probes;
	n->strings = strings;
	return NULL;
}

static void unmap_names(struct ray_trace *t, struct names *n)
{
	munmap(n->probes, sizeof(struct ray_name_offsets) * t->probes_size);
	munmap(n->strings, t->strings_size);
}

struct ray_error *ray_maps_name_probe(struct ray_trace *t, const struct ray_probe *probe)
{
	struct ray_error *err;
	struct names n;

	if (t->maps[RAY_LINK_PROBES] < 0 || t->maps[RAY_LINK_STRINGS] < 0)
		return NULL;
	err = map_names(t, &n);
	if (err)
		return err;
	name_store(t, &n, probe);
	if (probe->id >= t->probes_size || !n.probes[probe->id].at[0])
		err = ray_error_new(RAY_FAILED, "no room for the names of more probes");
	unmap_names(t, &n);
	return err;
}

struct ray_error *ray_maps_create_names(struct ray_trace *t)
{
	uint32_t limit = ray_catalogue_id_limit(t->catalogue);
	uint64_t size = 1 + STRINGS_SPARE;
	const struct ray_probe *probe;
	struct ray_error *err;
	struct names n;

	for (uint32_t id = 1; id < limit; id++)
		if ((probe = ray_catalogue_probe(t->catalogue, id)) != NULL)
			size += names_size(probe);
	t->probes_size = limit + NAMES_SPARE;
	t->strings_size = (uint32_t)size;
	t->strings_used = 1;
	err = ray_map_array_create("probes", sizeof(struct ray_name_offsets), t->probes_size,
				   &t->maps[RAY_LINK_PROBES]);
	if (!err)
		err = ray_map_array_create("strings", t->strings_size, 1, &t->maps[RAY_LINK_STRINGS]);
	if (!err)
		err = map_names(t, &n);
	if (err)
		return err;
	for (uint32_t id = 1; id < limit; id++)
		if ((probe = ray_catalogue_probe(t->catalogue, id)) != NULL)
			name_store(t, &n, probe);
	unmap_names(t, &n);
	return NULL;
}
