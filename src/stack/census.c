/* census.c - see census.h. SPDX-License-Identifier: MIT */
#include "stack/census.h"

#include <stdio.h>

#include "stack/isolate.h"

/* What needs its memory. The version is in the files too, the number of workers is not. */
static struct ray_error *look_inside(struct ray_census_row *row, struct ray_arena *arena)
{
	ray_auto(ray_target, t) = NULL;
	struct ray_error *err;
	char name[16];

	snprintf(name, sizeof(name), "%d", row->about.pid);
	err = ray_target_open(&(struct ray_target_options){ .name = name }, &t);
	if (!err)
		err = ray_node_identify(t, &row->node);
	if (err && ray_error_code(err) != RAY_NOT_NODE) {
		row->note = ray_arena_strdup(arena, ray_error_text(err));
		ray_error_free(err);
		return ray_node_identify_files(row->about.pid, &row->node);
	}
	if (err)
		return err;
	row->has_workers = ray_isolate_count_workers(t, &row->node, &row->workers);
	row->node.module = NULL; /* goes with t */
	return NULL;
}

/* A process that ends while it is looked at is no error: there is nothing left to list. */
static struct ray_error *add_row(struct ray_census *census, int pid)
{
	struct ray_census_row row = { 0 };
	struct ray_error *err;

	err = ray_about_read(pid, census->arena, &row.about);
	if (!err)
		err = look_inside(&row, census->arena);
	if (err) {
		ray_error_free(err);
		return NULL;
	}
	if (!ray_script_parse(row.about.args, row.about.args_size, row.about.terminal, census->arena, &row.script))
		return &ray_enomem;
	if (row.node.bundled && row.script.kind != RAY_SCRIPT_TITLE)
		row.script = (struct ray_script){ RAY_SCRIPT_BUNDLED, "<bundled>", NULL };
	if (!ray_vec_push(&census->rows, row))
		return &ray_enomem;
	return NULL;
}

struct ray_error *ray_census_take(struct ray_census **ret)
{
	ray_auto(ray_census, census) = calloc(1, sizeof(*census));
	ray_auto_memory int *pids = NULL;
	struct ray_error *err;
	size_t count;

	if (!census)
		return &ray_enomem;
	census->arena = ray_arena_create();
	if (!census->arena)
		return &ray_enomem;
	err = ray_node_list(&pids, &count, &census->unreadable);
	for (size_t i = 0; !err && i < count; i++)
		err = add_row(census, pids[i]);
	if (err)
		return err;
	*ret = ray_take(census);
	return NULL;
}

void ray_census_free(struct ray_census *census)
{
	if (!census)
		return;
	ray_vec_free(&census->rows);
	ray_arena_free(census->arena);
	free(census);
}
