/* source_maps.c - see source_maps.h. SPDX-License-Identifier: MIT */
#include "cmd/source_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profile/remap.h"
#include "target/root_file.h"

enum { MOST_BYTES = 512 << 20 }; /* of a script or a map */

struct ray_source_maps {
	struct ray_remap *remap;
	struct ray_script_maps listener;
	bool is_live;
	const struct ray_profile *profile; /* that is being told */
};

/* Processes of one profile mostly have one root: the first that has the file is the one. */
static bool read_file(void *arg, const char *path, char **bytes_ret, size_t *size_ret)
{
	const struct ray_source_maps *m = arg;
	uint32_t last = 0;

	for (size_t i = 0; m->is_live && i < m->profile->threads.n; i++) {
		uint32_t pid = m->profile->threads.at[i].pid;

		if (pid != last && ray_root_file_read((pid_t)pid, path, MOST_BYTES, bytes_ret, size_ret))
			return true;
		last = pid;
	}
	return ray_root_file_read(0, path, MOST_BYTES, bytes_ret, size_ret);
}

static void take_url(void *arg, const char *file, const char *url)
{
	ray_remap_tell_url(((struct ray_source_maps *)arg)->remap, file, url);
}

struct ray_source_maps *ray_source_maps_create(bool is_live)
{
	ray_auto(ray_source_maps, m) = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->is_live = is_live;
	m->listener = (struct ray_script_maps){ take_url, m };
	m->remap = ray_remap_create(&(struct ray_remap_options){ .read = read_file, .arg = m });
	return m->remap ? ray_take(m) : NULL;
}

void ray_source_maps_free(struct ray_source_maps *m)
{
	if (m)
		ray_remap_free(m->remap);
	free(m);
}

const struct ray_script_maps *ray_source_maps_listener(const struct ray_source_maps *m)
{
	return &m->listener;
}

struct ray_error *ray_source_maps_tell(struct ray_source_maps *m, struct ray_profile **p)
{
	struct ray_profile *told;
	struct ray_error *err;

	m->profile = *p;
	err = ray_remap_profile(m->remap, *p, &told);
	m->profile = NULL;
	if (err)
		return err;
	ray_profile_free(*p);
	*p = told;
	return NULL;
}

void ray_source_maps_say(const struct ray_source_maps *m)
{
	struct ray_remap_report report = ray_remap_report(m->remap), *r = &report;

	if (!r->maps && !r->broken)
		fprintf(stderr, "noderay: --source-maps: none of %zu scripts has a source map\n", r->scripts);
	if (r->broken)
		fprintf(stderr, "noderay: --source-maps: %zu source map%s cannot be used: %s%s\n", r->broken,
			r->broken > 1 ? "s" : "", r->why_broken, r->broken > 1 ? " ..." : "");
	if (r->unmapped)
		fprintf(stderr, "noderay: --source-maps: %" PRIu64 " of %" PRIu64 " places come from no source\n",
			r->unmapped, r->mapped + r->unmapped);
}

struct ray_error *ray_source_maps_apply(struct ray_profile **p)
{
	ray_auto(ray_source_maps, m) = ray_source_maps_create(false);
	struct ray_error *err = m ? ray_source_maps_tell(m, p) : &ray_enomem;

	if (!err)
		ray_source_maps_say(m);
	return err;
}
