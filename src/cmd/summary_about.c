/* summary_about.c - see summary_about.h. SPDX-License-Identifier: MIT */
#include "cmd/summary_about.h"

#include <string.h>

#include "stack/regions.h"
#include "target/about.h"
#include "target/files.h"
#include "target/node.h"
#include "target/script.h"
#include "view/maps.h"

static void look_at_proc(int pid, struct ray_arena *arena, const struct ray_node *node, struct ray_summary_about *ret)
{
	struct ray_about about = { 0 };
	struct ray_script script = { 0 };
	struct ray_error *err = ray_about_read(pid, arena, &about);

	if (err) {
		ray_error_free(err);
		return;
	}
	ret->rss = about.rss;
	ret->threads = about.threads > 0 ? (size_t)about.threads : 0;
	if (!node->bundled && ray_script_parse(about.args, about.args_size, about.terminal, arena, &script) &&
	    script.text)
		ret->script = script.text;
}

/* Groups of memory, the largest first. */
static void look_at_memory(struct ray_target *t, const struct ray_node *node, struct ray_summary_about *ret)
{
	ray_auto(ray_regions, regions) = NULL;
	struct ray_maps_totals totals;
	struct ray_error *err = ray_regions_create(t, node, &regions);

	if (err) {
		ray_error_free(err);
		return;
	}
	ray_maps_add_up(regions, &totals);
	for (int group = 0; group < RAY_GROUP_COUNT; group++) {
		uint64_t rss = totals.groups[group].rss;
		size_t at = 0;

		while (at < RAY_SUMMARY_KINDS && ret->memory[at].name && ret->memory[at].rss >= rss)
			at++;
		if (!rss || at >= RAY_SUMMARY_KINDS)
			continue;
		memmove(&ret->memory[at + 1], &ret->memory[at], (RAY_SUMMARY_KINDS - at - 1) * sizeof(ret->memory[0]));
		ret->memory[at].name = ray_region_group_text(group);
		ret->memory[at].rss = rss;
	}
}

static void look_at_files(struct ray_target *t, struct ray_summary_about *ret)
{
	ray_auto(ray_files, files) = NULL;
	struct ray_error *err = ray_files_list(t, &files);

	if (err) {
		ray_error_free(err);
		return;
	}
	ret->files = files->n;
	ret->file_limit = files->has_limits ? files->soft_limit : 0;
}

void ray_summary_look(int pid, struct ray_arena *arena, struct ray_summary_about *ret)
{
	struct ray_target_options options = { 0 };
	ray_auto(ray_target, t) = NULL;
	struct ray_node node = { 0 };
	struct ray_error *err;
	char name[16];

	*ret = (struct ray_summary_about){ .pid = pid, .version = "", .script = "" };
	snprintf(name, sizeof(name), "%d", pid);
	options.name = name;
	err = ray_target_open(&options, &t);
	if (!err)
		err = ray_node_identify(t, &node);
	look_at_proc(pid, arena, &node, ret);
	if (err) {
		ray_error_free(err);
		return;
	}
	ret->version = ray_arena_strdup(arena, node.version);
	if (!ret->version)
		ret->version = "";
	look_at_memory(t, &node, ret);
	look_at_files(t, ret);
}
