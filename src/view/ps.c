/* ps.c - see ps.h. SPDX-License-Identifier: MIT */
#include "view/ps.h"

#include <string.h>

#include "base/text.h"
#include "view/table.h"

static const struct ray_column columns[] = {
	{ "PID", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	  { "NODE", RAY_ALIGN_LEFT, RAY_CUT_NEVER, 0 },
	{ "V8", RAY_ALIGN_LEFT, RAY_CUT_NEVER, 0 },	  { "USER", RAY_ALIGN_LEFT, RAY_CUT_END, 6 },
	{ "UP", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	  { "RSS", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "THR", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	  { "WRK", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "CONTAINER", RAY_ALIGN_LEFT, RAY_CUT_END, 12 }, { "SCRIPT", RAY_ALIGN_LEFT, RAY_CUT_START, 8 },
};

static const struct ray_column details[] = {
	{ "", RAY_ALIGN_LEFT, RAY_CUT_NEVER, 0 },
	{ "", RAY_ALIGN_LEFT, RAY_CUT_END, 20 },
};

/* A process in a pid namespace of its own whose control group names no container. */
static const char *container_name(const struct ray_about *a)
{
	if (a->in_container)
		return a->container.name;
	return a->same_namespace ? "-" : "unnamed";
}

/* The build and patch numbers are in -v: the columns are few. */
static const char *short_v8(const struct ray_node *n, char out[32])
{
	const char *last = strrchr(n->v8_text, '.');

	snprintf(out, 32, "%.*s", last ? (int)(last - n->v8_text) : 0, n->v8_text);
	return out[0] ? out : "?";
}

static const char *script_text(const struct ray_census_row *row, struct ray_arena *arena)
{
	const char *text = row->script.text;

	if (row->script.kind == RAY_SCRIPT_NONE)
		return "?";
	if (row->script.kind == RAY_SCRIPT_TITLE)
		text = ray_arena_printf(arena, "title: %s", text);
	return text ? text : "?";
}

bool ray_view_ps_table(const struct ray_census *census, size_t width, FILE *out)
{
	ray_auto(ray_table, t) = ray_table_create(columns, RAY_COUNT(columns));
	char size[8], age[16], v8[32];

	if (!t)
		return false;
	for (size_t i = 0; i < census->rows.n; i++) {
		const struct ray_census_row *row = &census->rows.at[i];

		ray_table_printf(t, "%d", row->about.pid);
		ray_table_add(t, row->node.version[0] ? row->node.version : "?");
		ray_table_add(t, short_v8(&row->node, v8));
		ray_table_add(t, row->about.user);
		ray_table_add(t, ray_format_age(row->about.uptime, age));
		ray_table_add(t, ray_format_size(row->about.rss, size));
		ray_table_printf(t, "%ld", row->about.threads);
		if (row->has_workers)
			ray_table_printf(t, "%zu", row->workers);
		else
			ray_table_add(t, "?");
		ray_table_add(t, container_name(&row->about));
		/* The end of a path tells most, and the beginning of anything else. */
		ray_table_add_cut(t, script_text(row, census->arena),
				  row->script.kind == RAY_SCRIPT_FILE ? RAY_CUT_START : RAY_CUT_END);
	}
	return !census->rows.n || ray_table_print(t, &(struct ray_table_print){ .width = width, .gap = 1 }, out);
}

static const char *joined_options(const struct ray_census_row *row, struct ray_arena *arena)
{
	ray_auto_text text = { 0 };
	const char *copy;

	for (size_t i = 0; row->script.options && row->script.options[i]; i++)
		ray_text_printf(&text, "%s%s", i ? " " : "", row->script.options[i]);
	copy = ray_arena_strdup(arena, ray_text_get(&text));
	return copy ? copy : "";
}

static void add_detail(struct ray_table *t, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	ray_table_add(t, name);
	ray_table_add(t, value);
}

static void add_counts(struct ray_table *t, const struct ray_census_row *row, struct ray_arena *arena)
{
	const struct ray_about *a = &row->about;
	char size[8], age[16];

	add_detail(t, "user", ray_arena_printf(arena, "%s (uid %u)", a->user, a->uid));
	add_detail(t, "parent", ray_arena_printf(arena, "%d", a->ppid));
	add_detail(t, "uptime", ray_arena_printf(arena, "%s, CPU time %.2f s", ray_format_age(a->uptime, age), a->cpu));
	add_detail(t, "memory", ray_arena_printf(arena, "%s resident", ray_format_size(a->rss, size)));
	if (row->has_workers)
		add_detail(t, "threads", ray_arena_printf(arena, "%ld, worker_threads %zu", a->threads, row->workers));
	else
		add_detail(t, "threads", ray_arena_printf(arena, "%ld, worker_threads not known", a->threads));
	if (a->files >= 0)
		add_detail(t, "files", ray_arena_printf(arena, "%ld open", a->files));
}

static void add_place(struct ray_table *t, const struct ray_census_row *row, struct ray_arena *arena)
{
	const struct ray_about *a = &row->about;

	if (a->in_container)
		add_detail(t, "container", ray_arena_printf(arena, "%s %s", a->container.runtime, a->container.id));
	if (!a->same_namespace)
		add_detail(t, "inside", ray_arena_printf(arena, "pid %d in its own pid namespace", a->inner_pid));
	add_detail(t, "cgroup", a->cgroup);
}

bool ray_view_ps_details(const struct ray_census *census, size_t width, FILE *out)
{
	for (size_t i = 0; i < census->rows.n; i++) {
		ray_auto(ray_table, t) = ray_table_create(details, RAY_COUNT(details));
		const struct ray_census_row *row = &census->rows.at[i];

		if (!t)
			return false;
		fprintf(out, "%s%d: node %s, V8 %s%s\n", i ? "\n" : "", row->about.pid,
			row->node.version[0] ? row->node.version : "?", row->node.v8_text[0] ? row->node.v8_text : "?",
			row->node.stripped ? ", stripped" : "");
		add_detail(t, "script", script_text(row, census->arena));
		add_detail(t, "options", joined_options(row, census->arena));
		add_detail(t, "cwd", row->about.cwd);
		add_detail(t, "exe", row->about.exe);
		add_counts(t, row, census->arena);
		add_place(t, row, census->arena);
		if (!ray_table_print(t, &(struct ray_table_print){ .width = width, .indent = 4, .no_heading = true },
				     out))
			return false;
	}
	return true;
}
