/* top_batch.c - see top_batch.h. SPDX-License-Identifier: MIT */
#include "view/top_batch.h"

#include <string.h>

#include "base/json.h"
#include "view/live.h"
#include "view/tally.h"

enum { USUAL_COLUMNS = 100, HEAD_LINES = 5 };

/* ---- text ---- */

static const struct ray_column columns[] = {
	{ "SELF", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	{ "TOTAL", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "KIND", RAY_ALIGN_LEFT, RAY_CUT_NEVER, 0 },	{ "FUNCTION", RAY_ALIGN_LEFT, RAY_CUT_END, 24 },
	{ "PLACE", RAY_ALIGN_LEFT, RAY_CUT_START, 16 },
};

/* The lines above the list are the screen's, without its colours. */
static void print_head(const struct ray_top_batch *b, struct ray_top_screen *s, const struct ray_top_answer *a,
		       uint64_t epoch_ns)
{
	size_t height = HEAD_LINES + a->figures.group_count;
	struct ray_page page = { 0 };
	char text[32];

	if (!ray_page_start(&page, b->width ? b->width : USUAL_COLUMNS, height, RAY_LOOKS_PLAIN))
		return;
	ray_page_printf(&page, RAY_STYLE_NONE, "%s ", ray_view_clock(epoch_ns, 0, text));
	ray_top_draw_all_head(s, a, &page);
	for (size_t i = 0; i < page.line; i++) {
		struct ray_text *line = &page.lines[i];

		while (line->length && line->bytes[line->length - 1] == ' ')
			line->bytes[--line->length] = '\0';
		fprintf(b->out, "%s\n", ray_text_get(line));
	}
	ray_page_deinit(&page);
}

static bool print_text(const struct ray_top_batch *b, struct ray_top_screen *s, const struct ray_top_answer *a,
		       uint64_t epoch_ns, bool is_first)
{
	struct ray_table_print how = { .width = b->width };
	ray_auto(ray_table, table) = ray_table_create(columns, RAY_COUNT(columns));
	char text[32];

	if (!table)
		return false;
	if (!is_first)
		fputc('\n', b->out);
	print_head(b, s, a, epoch_ns);
	for (size_t i = 0; i < s->list.n && (!b->rows || i < b->rows); i++) {
		const struct ray_profile_row *row = &a->rows[s->list.at[i]];
		const struct ray_profile_function *f = &a->profile->functions.at[row->function];
		ray_auto_text place = { 0 };

		ray_top_place(f, &place);
		ray_table_add(table, ray_top_percent(s, a, row->self, text));
		ray_table_add(table, ray_top_percent(s, a, row->total, text));
		ray_table_add(table, ray_profile_kind_word(f->kind));
		ray_table_add(table, f->name);
		ray_table_add(table, ray_text_get(&place));
	}
	return ray_table_print(table, &how, b->out);
}

/* ---- JSON ---- */

static double share(int64_t weight, const struct ray_top_answer *a)
{
	return a->weight ? (double)weight / (double)a->weight : 0;
}

static json_t *loop_json(const struct ray_top_loop *l)
{
	json_t *o;

	if (!l->is_known)
		return json_null();
	o = json_pack("{s:f,s:I}", "utilization", l->utilization, "iterations", (json_int_t)l->iterations);
	json_object_set_new(o, "lag_ms",
			    json_pack("{s:o,s:o,s:o}", "p50", l->iterations ? ray_json_ms(l->p50) : json_null(), "p99",
				      l->iterations ? ray_json_ms(l->p99) : json_null(), "max", ray_json_ms(l->max)));
	return o;
}

static json_t *groups_json(const struct ray_top_answer *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->figures.group_count; i++) {
		const struct ray_top_group *g = &a->figures.groups[i];
		json_t *o = json_object();

		json_object_set_new(o, "pid", json_integer(g->pid));
		json_object_set_new(o, "tid", g->tid ? json_integer(g->tid) : json_null());
		json_object_set_new(o, "role", ray_json_text(ray_role_word(g->role)));
		json_object_set_new(o, "worker", g->worker >= 0 ? json_integer(g->worker) : json_null());
		json_object_set_new(o, "name", ray_json_text(g->label));
		json_object_set_new(o, "threads", json_integer((json_int_t)g->threads));
		json_object_set_new(o, "cpu", json_real(g->cpu));
		json_object_set_new(o, "samples", json_integer((json_int_t)g->weight));
		json_object_set_new(o, "loop", loop_json(&g->loop));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *functions_json(const struct ray_top_batch *b, const struct ray_top_screen *s,
			      const struct ray_top_answer *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->list.n && (!b->rows || i < b->rows); i++) {
		const struct ray_profile_row *row = &a->rows[s->list.at[i]];
		const struct ray_profile_function *f = &a->profile->functions.at[row->function];
		json_t *o = json_object();

		json_object_set_new(o, "name", ray_json_text(f->name));
		json_object_set_new(o, "kind", ray_json_text(ray_profile_kind_word(f->kind)));
		json_object_set_new(o, "file", *f->file ? ray_json_text(f->file) : json_null());
		json_object_set_new(o, "line", f->line > 0 ? json_integer(f->line) : json_null());
		json_object_set_new(o, "column", f->column > 0 ? json_integer(f->column) : json_null());
		json_object_set_new(o, "package", *f->package ? ray_json_text(f->package) : json_null());
		json_object_set_new(o, "self", json_real(share(row->self, a)));
		json_object_set_new(o, "total", json_real(share(row->total, a)));
		json_object_set_new(o, "self_samples", json_integer((json_int_t)row->self));
		json_object_set_new(o, "total_samples", json_integer((json_int_t)row->total));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *kinds_json(const struct ray_top_answer *a)
{
	json_t *o = json_object();
	int64_t all = 0;

	for (int i = 0; i < RAY_KIND_COUNT; i++)
		all += i == RAY_KIND_IDLE ? 0 : a->kinds[i];
	for (int i = 0; i < RAY_KIND_COUNT; i++)
		if (i != RAY_KIND_IDLE && a->kinds[i])
			json_object_set_new(o, ray_profile_kind_word((enum ray_profile_kind)i),
					    json_real((double)a->kinds[i] / (double)all));
	return o;
}

static void process_json(json_t *o, const struct ray_top_figures *f)
{
	json_object_set_new(o, "pid", f->process.pid ? json_integer(f->process.pid) : json_null());
	json_object_set_new(o, "title", ray_json_text(f->title));
	json_object_set_new(o, "node", *f->version ? ray_json_text(f->version) : json_null());
	json_object_set_new(o, "uptime_s", json_integer((json_int_t)f->process.uptime_s));
	json_object_set_new(o, "processes", json_integer((json_int_t)f->processes));
	json_object_set_new(o, "cpu", json_real(f->cpu));
	json_object_set_new(o, "rss", json_integer((json_int_t)f->rss));
	json_object_set_new(o, "heap", f->heap ? json_integer((json_int_t)f->heap) : json_null());
	json_object_set_new(o, "heap_limit",
			    f->process.heap_limit ? json_integer((json_int_t)f->process.heap_limit) : json_null());
}

static void events_json(json_t *o, const struct ray_top_figures *f)
{
	json_object_set_new(o, "loop", loop_json(&f->loop));
	json_object_set_new(o, "gc",
			    f->has_gc ? json_pack("{s:f,s:I,s:o}", "share", f->gc_share, "count",
						  (json_int_t)f->gc_count, "max_ms", ray_json_ms(f->gc_longest)) :
					json_null());
	json_object_set_new(o, "requests_per_s", f->has_requests ? json_real(f->requests) : json_null());
}

static void print_json(const struct ray_top_batch *b, const struct ray_top_screen *s, const struct ray_top_answer *a,
		       uint64_t epoch_ns)
{
	json_t *o = json_object();

	json_object_set_new(o, "time", json_real((double)epoch_ns / 1e9));
	json_object_set_new(o, "interval_ms", ray_json_ms(a->length_ns));
	json_object_set_new(o, "source", ray_json_text(s->source));
	json_object_set_new(o, "samples", json_integer((json_int_t)a->weight));
	json_object_set_new(o, "lost", json_integer((json_int_t)a->lost_samples));
	process_json(o, &a->figures);
	events_json(o, &a->figures);
	json_object_set_new(o, "kinds", kinds_json(a));
	json_object_set_new(o, "threads", groups_json(a));
	json_object_set_new(o, "functions", functions_json(b, s, a));
	ray_json_print(o);
}

bool ray_top_batch_print(const struct ray_top_batch *b, struct ray_top_screen *s, const struct ray_top_answer *a,
			 uint64_t epoch_ns, bool is_first)
{
	if (!b->is_json)
		return print_text(b, s, a, epoch_ns, is_first);
	print_json(b, s, a, epoch_ns);
	return true;
}
