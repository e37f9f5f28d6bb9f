/* ps_json.c - the list of nodes for programs; see ps.h. SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "view/ps.h"

static json_t *options_json(const struct ray_census_row *row)
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

static void print_row(const struct ray_census_row *row)
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

void ray_view_ps_json(const struct ray_census *census)
{
	for (size_t i = 0; i < census->rows.n; i++)
		print_row(&census->rows.at[i]);
}
