/* files.c - `noderay files`: what a node has open. SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/json.h"
#include "base/vec.h"
#include "cmd/cmd.h"
#include "stack/loops.h"
#include "target/uv_files.h"
#include "view/files.h"
#include "view/table.h"

/* Notes never stop the list from being shown. */
static void note(const struct ray_target *t, struct ray_error *err)
{
	if (err)
		fprintf(stderr, "noderay: %s: %s\n", ray_target_name(t), ray_error_text(err));
	ray_error_free(err);
}

static struct ray_error *find_loops(struct ray_target *t, const struct ray_files *files, struct ray_uv **ret)
{
	RAY_VEC(int) epolls = { 0 };
	struct ray_error *err = NULL;
	size_t i;

	for (i = 0; i < files->n && !err; i++)
		if (files->at[i].type == RAY_FILE_EVENTPOLL && !ray_vec_push(&epolls, files->at[i].fd))
			err = &ray_enomem;
	if (!err)
		err = ray_uv_find(t, epolls.at, epolls.n, ret);
	ray_vec_free(&epolls);
	return err;
}

static void print_notes(const struct ray_target *t, const struct ray_files *files, const struct ray_uv *uv)
{
	const char *name = ray_target_name(t);
	size_t i;

	if (!files->listed && !files->note)
		fprintf(stderr,
			"noderay: %s: this core has no list of open files (those of 'noderay core' have one): "
			"shown is what libuv's memory tells\n",
			name);
	if (files->note)
		fprintf(stderr, "noderay: %s: %s\n", name, files->note);
	if (files->vanished)
		fprintf(stderr, "noderay: %s: %zu files were closed while being looked at\n", name, files->vanished);
	if (files->unreadable)
		fprintf(stderr, "noderay: %s: the kernel tells nothing of %zu sockets\n", name, files->unreadable);
	if (uv->cut)
		fprintf(stderr,
			"noderay: %s: not all of its memory was searched for event loops: uses may be missing\n", name);
	for (i = 0; i < uv->n; i++)
		if (uv->loops[i].torn)
			fprintf(stderr, "noderay: %s: the loop of fd %d %s: uses may be missing\n", name,
				uv->loops[i].backend_fd,
				ray_target_kind(t) == RAY_TARGET_CORE ? "is damaged or not all there" :
									"changed while being read");
}

/* Takes facts; the pid comes first, as everywhere. */
static void print_object(const struct ray_target *t, json_t *facts)
{
	json_t *o = json_object();

	json_object_set_new(o, "pid", json_integer(ray_target_pid(t)));
	json_object_update(o, facts);
	json_decref(facts);
	ray_json_print(o);
}

static void print_json(const struct ray_target *t, const struct ray_files *files, bool summary)
{
	size_t i;

	if (summary)
		print_object(t, ray_view_files_summary_json(files));
	for (i = 0; !summary && i < files->n; i++)
		print_object(t, ray_file_to_json(&files->at[i]));
}

static void print_text(const struct ray_call *call, const struct ray_target *t, const struct ray_node *node,
		       const struct ray_files *files)
{
	ray_auto_text heading = { 0 };

	ray_view_files_heading(files, &heading);
	printf("%d: node %s, %s\n", ray_target_pid(t), node->version[0] ? node->version : "?", ray_text_get(&heading));
	if (ray_call_has(call, "summary"))
		ray_view_files_summary(files, stdout);
	else if (ray_call_has(call, "verbose"))
		ray_view_files_verbose(files, stdout);
	else
		ray_view_files(files, ray_view_width(stdout), stdout);
}

static struct ray_error *show(const struct ray_call *call, struct ray_target *t, const struct ray_node *node)
{
	ray_auto(ray_files, files) = NULL;
	ray_auto(ray_uv, uv) = NULL;
	struct ray_error *err;

	err = ray_files_list(t, &files);
	if (!err)
		err = find_loops(t, files, &uv);
	if (err)
		return err;
	if (node->module)
		note(t, ray_loops_name(t, node, uv));
	err = ray_uv_explain_files(t, uv, files);
	if (err)
		return err;
	if (!files->listed && !files->n)
		return ray_error_remedy(
			ray_error_new(RAY_UNREADABLE,
				      "%s: this core has no list of open files, and no event loop in its memory%s%s",
				      ray_target_name(t), files->note ? "; " : "", files->note ? files->note : ""),
			"cores written by 'noderay core' have such a list");
	if (ray_call_has(call, "json"))
		print_json(t, files, ray_call_has(call, "summary"));
	else
		print_text(call, t, node, files);
	print_notes(t, files, uv);
	return NULL;
}

static struct ray_error *run(const struct ray_call *call)
{
	ray_auto(ray_target, t) = NULL;
	struct ray_node node = { 0 };
	struct ray_error *err;

	err = ray_call_target(call, &t);
	if (err)
		return err;
	err = ray_node_identify(t, &node);
	/* A core without its executable may still have the list. */
	if (err && (ray_target_kind(t) == RAY_TARGET_PROCESS || ray_error_code(err) == RAY_NOT_NODE))
		return err;
	note(t, err);
	return show(call, t, &node);
}

static const struct ray_option options[] = {
	RAY_OPTIONS_TARGET,
	{ 's', "summary", NULL, "count by type, TCP state and use instead" },
	{ 'v', "verbose", NULL, "say all that is known of each" },
	RAY_OPTION_JSON,
};

static const char *const examples[] = {
	"noderay files 4711",
	"what process 4711 has open",
	"noderay files -s 4711",
	"how many of what",
	"noderay files --json core.4711 | jq 'select(.type == \"tcp\")'",
	"TCP sockets in a core",
	NULL,
};

const struct ray_verb ray_verb_files = {
	.name = "files",
	.alias = "pfiles",
	.summary = "list the open files and sockets of a node",
	.operands = "[TARGET]",
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = 1,
	.run = run,
};
