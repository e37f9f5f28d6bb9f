/* syscalls.c - `noderay syscalls`: the system calls of node, as they happen or counted. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "base/duration.h"
#include "base/json.h"
#include "cmd/script.h"
#include "view/live.h"

static const struct ray_option options[] = {
	{ 'c', "count", NULL, "count calls, errors and time by call" },
	RAY_OPTIONS_SCRIPT,
};

static const char *const examples[] = {
	"noderay syscalls 4242",
	"every system call of process 4242, its threads and children",
	"noderay syscalls -c -d 10 4242",
	"a table of 10 seconds",
	"noderay syscalls -- node app.js",
	"those of a program, from its first one on",
	NULL,
};

struct view {
	bool is_json, is_counting;
	struct ray_table *table;
	struct ray_text out;
};

static const struct ray_column columns[] = {
	{ "CALL", RAY_ALIGN_LEFT, RAY_CUT_NEVER, 0 },
	{ "COUNT", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "ERRORS", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "TOTAL", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
};

static void on_fact(void *arg, const struct ray_fact *f)
{
	struct view *v = arg;
	char time[24];

	if (ray_fact_is(f, "call"))
		printf("%u %s = %" PRId64 " <%s>\n", f->tid, ray_fact_text(f, "name"), ray_fact_number(f, "result"),
		       ray_duration_format((uint64_t)ray_fact_number(f, "ns"), time));
	if (!ray_fact_is(f, "calls") || f->is_end)
		return;
	ray_table_add(v->table, ray_fact_text(f, "name"));
	ray_table_printf(v->table, "%" PRId64, ray_fact_number(f, "count"));
	ray_table_printf(v->table, "%" PRId64, ray_fact_number(f, "errors"));
	ray_table_add(v->table, ray_duration_format((uint64_t)ray_fact_number(f, "ns"), time));
}

static struct ray_error *run(const struct ray_call *call)
{
	struct view v = { .is_counting = ray_call_has(call, "count") };
	struct ray_script s = { .call = call, .name = "syscalls", .any_process = true, .on_fact = on_fact, .arg = &v };
	struct ray_error *err = NULL;
	bool is_shown;

	v.table = ray_table_create(columns, RAY_COUNT(columns));
	if (v.is_counting) {
		s.doing = "counting system calls";
		err = ray_script_set(&s, "counting", "1");
	}
	if (!err)
		err = ray_script_run(&s, &is_shown);
	if (!err && !is_shown && v.is_counting)
		ray_table_print(v.table, &(struct ray_table_print){ .width = ray_view_width(stdout) }, stdout);
	ray_table_free(v.table);
	ray_script_deinit(&s);
	return err;
}

const struct ray_verb ray_verb_syscalls = {
	.name = "syscalls",
	.summary = "list system calls as they happen, or count them",
	.operands = RAY_SCRIPT_OPERANDS,
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = RAY_SCRIPT_MAX_OPERANDS,
	.run = run,
};
