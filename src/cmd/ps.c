/* ps.c - `noderay ps`: every node on the machine. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"
#include "cmd/cmd.h"
#include "stack/isolate.h"
#include "target/about.h"
#include "target/node.h"
#include "target/script.h"
#include "view/table.h"

struct row {
	struct ray_about about;
	struct ray_node node;
	struct ray_script script;
	bool has_workers; /* their number is known */
	size_t workers;
	const char *note; /* why less is known of it; NULL if all is */
};

struct list {
	RAY_VEC(struct row) rows;
	struct ray_arena *arena;
	size_t unreadable;
	size_t vanished;
};

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

/* What needs its memory. The version is in the files too, the number of workers is not. */
static struct ray_error *look_inside(struct row *row, struct ray_arena *arena)
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
static struct ray_error *add_row(struct list *list, int pid)
{
	struct row row = { 0 };
	struct ray_error *err;

	err = ray_about_read(pid, list->arena, &row.about);
	if (!err)
		err = look_inside(&row, list->arena);
	if (err) {
		list->vanished++;
		ray_error_free(err);
		return NULL;
	}
	if (!ray_script_parse(row.about.args, row.about.args_size, row.about.terminal, list->arena, &row.script))
		return &ray_enomem;
	if (row.node.bundled && row.script.kind != RAY_SCRIPT_TITLE)
		row.script = (struct ray_script){ RAY_SCRIPT_BUNDLED, "<bundled>", NULL };
	if (!ray_vec_push(&list->rows, row))
		return &ray_enomem;
	return NULL;
}

static struct ray_error *collect(struct list *list)
{
	ray_auto_memory int *pids = NULL;
	struct ray_error *err;
	size_t count;

	list->arena = ray_arena_create();
	if (!list->arena)
		return &ray_enomem;
	err = ray_node_list(&pids, &count, &list->unreadable);
	for (size_t i = 0; !err && i < count; i++)
		err = add_row(list, pids[i]);
	return err;
}

static void deinit(struct list *list)
{
	ray_vec_free(&list->rows);
	ray_arena_free(list->arena);
}

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

static const char *script_text(const struct row *row, struct ray_arena *arena)
{
	const char *text = row->script.text;

	if (row->script.kind == RAY_SCRIPT_NONE)
		return "?";
	if (row->script.kind == RAY_SCRIPT_TITLE)
		text = ray_arena_printf(arena, "title: %s", text);
	return text ? text : "?";
}

static void print_notes(const struct list *list)
{
	if (!list->rows.n)
		fprintf(stderr, "noderay: no node found\n");
	for (size_t i = 0; i < list->rows.n; i++)
		if (list->rows.at[i].note)
			fprintf(stderr, "noderay: %d: %s\n", list->rows.at[i].about.pid, list->rows.at[i].note);
	if (list->unreadable && geteuid())
		fprintf(stderr, "noderay: %zu process%s of other users could not be examined; run as root to see %s\n",
			list->unreadable, list->unreadable == 1 ? "" : "es", list->unreadable == 1 ? "it" : "them");
	else if (list->unreadable)
		fprintf(stderr,
			"noderay: %zu process%s could not be examined: more rights are needed than root has here\n",
			list->unreadable, list->unreadable == 1 ? "" : "es");
}

static struct ray_error *print_table(const struct list *list)
{
	ray_auto(ray_table, t) = ray_table_create(columns, RAY_COUNT(columns));
	char size[8], age[16], v8[32];

	if (!t)
		return &ray_enomem;
	for (size_t i = 0; i < list->rows.n; i++) {
		const struct row *row = &list->rows.at[i];

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
		ray_table_add_cut(t, script_text(row, list->arena),
				  row->script.kind == RAY_SCRIPT_FILE ? RAY_CUT_START : RAY_CUT_END);
	}
	if (list->rows.n &&
	    !ray_table_print(t, &(struct ray_table_print){ .width = ray_view_width(stdout), .gap = 1 }, stdout))
		return &ray_enomem;
	return NULL;
}

static const char *joined_options(const struct row *row, struct ray_arena *arena)
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

static void add_counts(struct ray_table *t, const struct row *row, struct ray_arena *arena)
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

static void add_place(struct ray_table *t, const struct row *row, struct ray_arena *arena)
{
	const struct ray_about *a = &row->about;

	if (a->in_container)
		add_detail(t, "container", ray_arena_printf(arena, "%s %s", a->container.runtime, a->container.id));
	if (!a->same_namespace)
		add_detail(t, "inside", ray_arena_printf(arena, "pid %d in its own pid namespace", a->inner_pid));
	add_detail(t, "cgroup", a->cgroup);
}

static struct ray_error *print_details(const struct list *list)
{
	for (size_t i = 0; i < list->rows.n; i++) {
		ray_auto(ray_table, t) = ray_table_create(details, RAY_COUNT(details));
		const struct row *row = &list->rows.at[i];

		if (!t)
			return &ray_enomem;
		printf("%s%d: node %s, V8 %s%s\n", i ? "\n" : "", row->about.pid,
		       row->node.version[0] ? row->node.version : "?", row->node.v8_text[0] ? row->node.v8_text : "?",
		       row->node.stripped ? ", stripped" : "");
		add_detail(t, "script", script_text(row, list->arena));
		add_detail(t, "options", joined_options(row, list->arena));
		add_detail(t, "cwd", row->about.cwd);
		add_detail(t, "exe", row->about.exe);
		add_counts(t, row, list->arena);
		add_place(t, row, list->arena);
		if (!ray_table_print(t,
				     &(struct ray_table_print){
					     .width = ray_view_width(stdout), .indent = 4, .no_heading = true },
				     stdout))
			return &ray_enomem;
	}
	return NULL;
}

static json_t *options_json(const struct row *row)
{
	json_t *array = json_array();

	for (size_t i = 0; row->script.options && row->script.options[i]; i++)
		json_array_append_new(array, ray_json_text(row->script.options[i]));
	return array;
}

static json_t *container_json(const struct ray_about *a)
{
	if (!a->in_container)
		return json_null();
	return json_pack("{s:o,s:o,s:o}", "id", ray_json_text(a->container.id), "name",
			 ray_json_text(a->container.name), "runtime",
			 a->container.runtime[0] ? ray_json_text(a->container.runtime) : json_null());
}

static json_t *text_or_null(const char *text)
{
	return text && *text ? ray_json_text(text) : json_null();
}

static void print_json(const struct row *row)
{
	const struct ray_about *a = &row->about;
	json_t *o = json_object();

	json_object_set_new(o, "pid", json_integer(a->pid));
	json_object_set_new(o, "node", text_or_null(row->node.version));
	json_object_set_new(o, "v8", text_or_null(row->node.v8_text));
	json_object_set_new(o, "stripped", json_boolean(row->node.stripped));
	json_object_set_new(o, "user", ray_json_text(a->user));
	json_object_set_new(o, "uid", json_integer(a->uid));
	json_object_set_new(o, "uptime_s", json_integer((json_int_t)a->uptime));
	json_object_set_new(o, "cpu_s", json_real(a->cpu));
	json_object_set_new(o, "rss", json_integer((json_int_t)a->rss));
	json_object_set_new(o, "threads", json_integer(a->threads));
	json_object_set_new(o, "workers", row->has_workers ? json_integer((json_int_t)row->workers) : json_null());
	json_object_set_new(o, "container", container_json(a));
	json_object_set_new(o, "namespace_pid", json_integer(a->inner_pid));
	json_object_set_new(o, "own_namespace", json_boolean(!a->same_namespace));
	json_object_set_new(o, "script", text_or_null(row->script.text));
	json_object_set_new(o, "script_kind", json_string(ray_script_kind_name(row->script.kind)));
	json_object_set_new(o, "options", options_json(row));
	json_object_set_new(o, "ppid", json_integer(a->ppid));
	json_object_set_new(o, "cwd", text_or_null(a->cwd));
	json_object_set_new(o, "exe", text_or_null(a->exe));
	json_object_set_new(o, "cgroup", text_or_null(a->cgroup));
	json_object_set_new(o, "files", a->files >= 0 ? json_integer(a->files) : json_null());
	json_object_set_new(o, "note", text_or_null(row->note));
	ray_json_print(o);
}

static struct ray_error *run(const struct ray_call *call)
{
	__attribute__((cleanup(deinit))) struct list list = { 0 };
	struct ray_error *err = collect(&list);

	if (err)
		return err;
	if (ray_call_has(call, "json")) {
		for (size_t i = 0; i < list.rows.n; i++)
			print_json(&list.rows.at[i]);
	} else {
		err = ray_call_has(call, "verbose") ? print_details(&list) : print_table(&list);
	}
	print_notes(&list);
	return err;
}

static const struct ray_option options[] = {
	{ 'v', "verbose", NULL, "say more of each: options, directory, CPU time, files, cgroup" },
	RAY_OPTION_JSON,
};

static const char *const examples[] = {
	"noderay ps",
	"every node on the machine",
	"noderay ps -v",
	"with all that is known of each",
	"noderay ps --json | jq .pid",
	"their pids, for a script",
	NULL,
};

const struct ray_verb ray_verb_ps = {
	.name = "ps",
	.summary = "list every node on the machine",
	.operands = "",
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = 0,
	.run = run,
};
