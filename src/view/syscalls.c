/* syscalls.c - the live list, and who gets which fact. See syscalls.h. SPDX-License-Identifier: MIT */
#include "view/syscalls.h"

#include <string.h>

#include "base/duration.h"
#include "base/json.h"
#include "view/asked.h"
#include "view/live.h"
#include "view/syscalls_table.h"

struct ray_syscalls_view {
	struct ray_syscalls_settings settings;
	struct ray_calls *calls;
	struct ray_live *live;
	struct ray_syscalls_table *table;
	struct ray_text line, args, result;
};

static const struct ray_live_column columns[] = {
	{ "time", "TIME", 15, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "when it returned" },
	{ "pid", "PID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "process" },
	{ "tid", "TID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "thread" },
	{ "latency", "LATENCY", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "time that it took" },
	{ "error", "ERROR", 10, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "name of its error" },
	{ "call", "CALL", 0, RAY_ALIGN_LEFT, RAY_CUT_END, "name, arguments and result" },
};

void ray_syscalls_free(struct ray_syscalls_view *v)
{
	if (!v)
		return;
	ray_calls_free(v->calls);
	ray_live_free(v->live);
	ray_syscalls_table_free(v->table);
	ray_text_deinit(&v->line);
	ray_text_deinit(&v->args);
	ray_text_deinit(&v->result);
	free(v);
}

struct ray_error *ray_syscalls_create(const struct ray_syscalls_settings *settings, struct ray_syscalls_view **ret)
{
	ray_auto(ray_syscalls_view, v) = calloc(1, sizeof(*v));
	struct ray_error *err;

	if (!v)
		return &ray_enomem;
	v->settings = *settings;
	v->calls = ray_calls_create();
	v->table = ray_syscalls_table_create(settings);
	if (!v->calls || !v->table)
		return &ray_enomem;
	err = ray_live_create(columns, RAY_COUNT(columns), "time,tid,latency,call", settings->columns, settings->width,
			      &v->live);
	if (err)
		return err;
	*ret = ray_take(v);
	return NULL;
}

static const char *name_of(const struct ray_call_seen *s)
{
	return s->call ? ray_call_name(s->call) : "unknown call";
}

/* ---- for people ---- */

/* "name(args) = result"; what is too long is cut in the arguments, as the result matters more. */
static void make_call(struct ray_syscalls_view *v, const struct ray_call_seen *s, struct ray_text *out)
{
	size_t count = ray_call_arg_count(s), room = ray_live_room(v->live), fixed;

	ray_text_clear(&v->args);
	ray_text_clear(&v->result);
	for (size_t i = 0; i < count; i++) {
		ray_text_add(&v->args, i ? ", " : "");
		ray_call_print_arg(s, i, &v->args);
	}
	ray_call_print_result(s, &v->result);
	fixed = strlen(name_of(s)) + strlen("() = ") + ray_text_width(ray_text_get(&v->result));
	ray_text_add(out, name_of(s));
	ray_text_add(out, "(");
	if (room == SIZE_MAX || fixed + ray_text_width(ray_text_get(&v->args)) <= room)
		ray_text_add(out, ray_text_get(&v->args));
	else
		ray_view_cut(out, ray_text_get(&v->args), room > fixed + 4 ? room - fixed : 4, RAY_CUT_END);
	ray_text_add(out, ") = ");
	ray_text_add(out, ray_text_get(&v->result));
}

static void write_line(struct ray_syscalls_view *v, const struct ray_call_seen *s)
{
	ray_auto_text call = { 0 };
	char text[32];

	make_call(v, s, &call);
	ray_live_add(v->live, ray_view_clock(s->time_ns, 6, text));
	ray_live_number(v->live, s->pid);
	ray_live_number(v->live, s->tid);
	ray_live_add(v->live, s->ns ? ray_duration_format(s->ns, text) : "-");
	ray_live_add(v->live, ray_call_error(s));
	ray_live_add(v->live, ray_text_get(&call));
	ray_text_clear(&v->line);
	ray_live_end(v->live, &v->line);
	if (s->stack.is_known)
		ray_view_stack_lines(ray_text_get(&s->stack.text), &v->line);
	fwrite(ray_text_get(&v->line), 1, v->line.length, v->settings.out);
}

/* ---- for programs ---- */

static json_t *args_json(struct ray_syscalls_view *v, const struct ray_call_seen *s)
{
	size_t count = ray_call_arg_count(s);
	json_t *args = json_array();

	for (size_t i = 0; i < count; i++) {
		ray_text_clear(&v->args);
		ray_call_print_arg(s, i, &v->args);
		json_array_append_new(args, ray_json_text(ray_text_get(&v->args)));
	}
	return args;
}

static void write_json(struct ray_syscalls_view *v, const struct ray_call_seen *s)
{
	struct ray_text *o = &v->line;

	ray_json_line_seconds(o, "time", s->time_ns);
	ray_json_line_integer(o, "pid", s->pid);
	ray_json_line_integer(o, "tid", s->tid);
	ray_json_line_text(o, "name", name_of(s));
	ray_json_line_value(o, "args", args_json(v, s));
	ray_json_line_integer(o, "result", ray_call_error(s) ? -1 : s->result);
	ray_json_line_text(o, "error", ray_call_error(s));
	ray_json_line_ms(o, "ms", s->ns);
	if (s->stack.is_known)
		ray_json_line_value(o, "stack", ray_view_stack_json(ray_text_get(&s->stack.text)));
	ray_json_line_end(o);
}

void ray_syscalls_tell(struct ray_syscalls_view *v, const struct ray_fact *f)
{
	const struct ray_call_seen *s;

	if (f->is_row) {
		ray_syscalls_table_tell(v->table, f);
		return;
	}
	s = ray_calls_take(v->calls, f);
	if (s && v->settings.is_json)
		write_json(v, s);
	else if (s)
		write_line(v, s);
}

void ray_syscalls_finish(struct ray_syscalls_view *v, uint64_t duration_ns)
{
	ray_syscalls_table_print(v->table, duration_ns);
}
