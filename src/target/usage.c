/* usage.c - see usage.h. SPDX-License-Identifier: MIT */
#include "target/usage.h"

#include "target/smaps.h"

enum { TRIES = 3 };

void ray_usage_match(const struct ray_smaps *smaps, const struct ray_map *maps, size_t count, struct ray_usage *usage)
{
	for (size_t i = 0; i < count; i++) {
		const struct ray_smap *found = ray_smaps_find(smaps, maps[i].start);

		usage[i] = (struct ray_usage){ 0 };
		if (found && found->start == maps[i].start && found->end == maps[i].end)
			usage[i] = (struct ray_usage){ found->rss, found->dirty, found->swap, true };
	}
}

static size_t unknown(const struct ray_usage *usage, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += !usage[i].known;
	return n;
}

static struct ray_error *read_process(struct ray_target *t, struct ray_usage **ret)
{
	/* A busy process maps and unmaps between our two reads: then take both again. */
	for (int try = 1;; try++) {
		ray_auto_memory struct ray_usage *usage = NULL;
		ray_auto(ray_smaps, smaps) = NULL;
		const struct ray_map *maps;
		struct ray_error *err;
		size_t count;

		err = ray_target_refresh(t);
		if (!err)
			err = ray_smaps_read(ray_target_pid(t), &smaps);
		if (err)
			return err;
		maps = ray_target_maps(t, &count);
		usage = calloc(count ? count : 1, sizeof(*usage));
		if (!usage)
			return &ray_enomem;
		ray_usage_match(smaps, maps, count, usage);
		if (try < TRIES && unknown(usage, count))
			continue;
		*ret = ray_take(usage);
		return NULL;
	}
}

static struct ray_error *read_core(struct ray_target *t, struct ray_usage **ret)
{
	ray_auto(ray_smaps, smaps) = NULL;
	const char *note = ray_target_note(t, "maps");
	const struct ray_map *maps;
	struct ray_usage *usage;
	size_t count;

	maps = ray_target_maps(t, &count);
	usage = calloc(count ? count : 1, sizeof(*usage));
	if (!usage)
		return &ray_enomem;
	/* A note that cannot be read leaves everything unknown, as in a core that others wrote. */
	if (note)
		ray_error_free(ray_smaps_from_json(note, &smaps));
	if (smaps)
		ray_usage_match(smaps, maps, count, usage);
	*ret = usage;
	return NULL;
}

struct ray_error *ray_usage_read(struct ray_target *t, struct ray_usage **ret)
{
	return ray_target_kind(t) == RAY_TARGET_PROCESS ? read_process(t, ret) : read_core(t, ret);
}
