/* http.c - see http.h. SPDX-License-Identifier: MIT */
#include "view/http.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/http_internal.h"

enum { MOST_SENT = 65536 /* responses begun and not ended whose stacks are kept */ };

static const struct ray_live_column columns[] = {
	{ "time", "TIME", 12, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "seconds since the start" },
	{ "pid", "PID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "process" },
	{ "tid", "TID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "thread" },
	{ "probe", "PROBE", 6, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "server, client or gc" },
	{ "which", "", 2, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "-> begins, <- ends" },
	{ "id", "ID", 6, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "number of the request in this run" },
	{ "fd", "FD", 4, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "file descriptor of the connection" },
	{ "latency", "LATENCY", 10, RAY_ALIGN_RIGHT, RAY_CUT_NEVER,
	  "from the request's head to the response's last byte" },
	{ "ttfb", "TTFB", 10, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "to the response's first byte" },
	{ "status", "STATUS", 6, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "status; ! behind it: cut off in the middle" },
	{ "bytes", "BYTES", 8, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "body of the response" },
	{ "reqbytes", "REQBYTES", 8, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "body of the request" },
	{ "raddr", "RADDR", 16, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "address of the other end" },
	{ "rport", "RPORT", 5, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "port of the other end" },
	{ "lport", "LPORT", 5, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "own port" },
	{ "version", "HTTP", 4, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "1.0, 1.1 or 2; + over TLS" },
	{ "host", "HOST", 20, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "header Host" },
	{ "method", "METHOD", 6, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "method" },
	{ "path", "PATH", 20, RAY_ALIGN_LEFT, RAY_CUT_END, "URL up to ?" },
	{ "url", "URL", 20, RAY_ALIGN_LEFT, RAY_CUT_END, "URL" },
};

/* ---- life ---- */

struct ray_error *ray_http_view_create(const struct ray_http_options *options, FILE *out, struct ray_http_view **ret)
{
	const char *usual = options->begins ? "time,pid,probe,which,latency,method,status,path" :
					      "time,pid,probe,latency,method,status,bytes,path";
	ray_auto(ray_http_view, v) = calloc(1, sizeof(*v));
	struct ray_error *err;

	if (!v || !(v->tally = ray_tally_create()))
		return &ray_enomem;
	v->options = *options;
	v->out = out;
	err = ray_live_create(columns, RAY_COUNT(columns), usual, options->columns, options->width, &v->live);
	if (err)
		return err;
	*ret = ray_take(v);
	return NULL;
}

void ray_http_view_free(struct ray_http_view *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->sent.n; i++)
		free(v->sent.at[i].stack);
	ray_vec_free(&v->sent);
	ray_live_free(v->live);
	ray_tally_free(v->tally);
	ray_text_deinit(&v->line);
	free(v);
}

void ray_http_view_start(struct ray_http_view *v, uint64_t epoch_ns)
{
	v->start_ns = epoch_ns;
	if (v->options.is_json || v->options.top || v->options.bars)
		return;
	ray_live_heading(v->live, &v->line);
	fputs(ray_text_get(&v->line), v->out);
	ray_text_clear(&v->line);
}

bool ray_http_is_wanted(const struct ray_http_view *v, const char *url)
{
	return !v->options.url || !fnmatch(v->options.url, url, 0);
}

/* ---- who sent it ---- */

static void keep_stack(struct ray_http_view *v, const struct ray_fact *f)
{
	struct ray_http_sent sent = { (uint64_t)ray_fact_number(f, "id"), strdup(ray_fact_text(f, "stack")) };

	/* A response that never ends keeps its place no longer than that. */
	if (v->sent.n >= MOST_SENT) {
		free(v->sent.at[0].stack);
		memmove(v->sent.at, v->sent.at + 1, --v->sent.n * sizeof(*v->sent.at));
	}
	if (!sent.stack || !ray_vec_push(&v->sent, sent))
		free(sent.stack);
}

/* The caller's to free; NULL: it is not known. The newest is the likeliest. */
static char *take_stack(struct ray_http_view *v, uint64_t id)
{
	for (size_t i = v->sent.n; i; i--) {
		char *stack = v->sent.at[i - 1].stack;

		if (v->sent.at[i - 1].id != id)
			continue;
		memmove(&v->sent.at[i - 1], &v->sent.at[i], (v->sent.n - i) * sizeof(*v->sent.at));
		v->sent.n--;
		return stack;
	}
	return NULL;
}

/* Frames of JavaScript only: what is below them is the same for every response. Native ones name their module before a `. */
static void each_frame(const char *stack, void (*take)(void *arg, const char *frame), void *arg)
{
	while (stack && *stack) {
		const char *line = stack + strspn(stack, " ");
		size_t length = strcspn(line, "\n");
		ray_auto_memory char *frame = strndup(line, length);

		if (frame && *frame && !strchr(frame, '`'))
			take(arg, frame);
		stack = line + length + (line[length] == '\n');
	}
}

static void frame_json(void *arg, const char *frame)
{
	json_array_append_new(arg, ray_json_text(frame));
}

static json_t *stack_json(const char *stack)
{
	json_t *frames = json_array();

	each_frame(stack, frame_json, frames);
	return frames;
}

static void frame_line(void *arg, const char *frame)
{
	ray_auto_text safe = { 0 };

	ray_text_add_safe(&safe, frame, strlen(frame));
	fprintf(arg, "    %s\n", ray_text_get(&safe));
}

/* ---- JSON ---- */

static const char *probe_text(const struct ray_fact *f)
{
	return ray_fact_number(f, "server") ? "server" : "client";
}

static const char *version_text(int64_t version)
{
	return version == 20 ? "2" : version == 10 ? "1.0" : "1.1";
}

static void head_json(struct ray_text *o, const struct ray_fact *f, const char *probe)
{
	ray_json_line_seconds(o, "time", f->time_ns);
	ray_json_line_integer(o, "pid", f->pid);
	ray_json_line_integer(o, "tid", f->tid);
	ray_json_line_text(o, "probe", probe);
}

static void number_json(struct ray_text *o, const char *key, const struct ray_fact *f, const char *field)
{
	ray_json_line_integer(o, key, ray_fact_number(f, field));
}

static void ms_json(struct ray_text *o, const char *key, const struct ray_fact *f, const char *field)
{
	ray_json_line_ms(o, key, (uint64_t)ray_fact_number(f, field));
}

static void print_json(struct ray_http_view *v, const struct ray_fact *f, bool is_end)
{
	ray_auto_memory char *stack = is_end ? take_stack(v, (uint64_t)ray_fact_number(f, "id")) : NULL;
	const char *url = ray_fact_text(f, "url");
	struct ray_text *o = &v->line;

	head_json(o, f, probe_text(f));
	if (v->options.begins)
		ray_json_line_text(o, "which", is_end ? "end" : "begin");
	number_json(o, "id", f, "id");
	number_json(o, "fd", f, "fd");
	ray_json_line_text(o, "method", ray_fact_text(f, "method"));
	ray_json_line_text(o, "url", url);
	ray_json_line_bytes(o, "path", url, strcspn(url, "?"));
	number_json(o, "url_length", f, "length");
	if (is_end) {
		number_json(o, "status", f, "status");
		ms_json(o, "latency_ms", f, "latency");
		ms_json(o, "ttfb_ms", f, "ttfb");
		number_json(o, "bytes", f, "bytes");
		number_json(o, "request_bytes", f, "request");
		ray_json_line_boolean(o, "aborted", ray_fact_number(f, "aborted"));
	}
	ray_json_line_text(o, "raddr", ray_fact_text(f, "raddr"));
	number_json(o, "rport", f, "rport");
	number_json(o, "lport", f, "lport");
	ray_json_line_text(o, "host", ray_fact_text(f, "host"));
	ray_json_line_text(o, "version", version_text(ray_fact_number(f, "version")));
	ray_json_line_boolean(o, "tls", ray_fact_number(f, "tls"));
	if (stack)
		ray_json_line_value(o, "stack", stack_json(stack));
	ray_json_line_end(o);
}

static void print_gc_json(struct ray_http_view *v, const struct ray_fact *f)
{
	head_json(&v->line, f, "gc");
	ray_json_line_text(&v->line, "type", ray_fact_text(f, "type"));
	ray_json_line_text(&v->line, "reason", ray_fact_text(f, "reason"));
	ms_json(&v->line, "latency_ms", f, "latency");
	ray_json_line_end(&v->line);
}

/* ---- lines ---- */

static void add_time(struct ray_http_view *v, const struct ray_fact *f)
{
	uint64_t us = f->time_ns > v->start_ns ? (f->time_ns - v->start_ns) / 1000 : 0, seconds = us / 1000000;
	struct ray_text *cell = ray_live_cell(v->live);

	if (cell) { /* [  1.234567] */
		ray_text_add(cell, seconds < 10 ? "[  " : seconds < 100 ? "[ " : "[");
		ray_text_add_unsigned(cell, seconds, 1);
		ray_text_add(cell, ".");
		ray_text_add_unsigned(cell, us % 1000000, 6);
		ray_text_add(cell, "]");
	}
	ray_live_number(v->live, f->pid);
	ray_live_number(v->live, f->tid);
}

static void add_ms(struct ray_http_view *v, const struct ray_fact *f, const char *field, bool is_there)
{
	struct ray_text *cell = ray_live_cell(v->live);
	uint64_t us;

	if (cell && is_there) {
		us = (uint64_t)ray_fact_number(f, field) / 1000;
		ray_text_add_unsigned(cell, us / 1000, 1);
		ray_text_add(cell, ".");
		ray_text_add_unsigned(cell, us % 1000, 3);
		ray_text_add(cell, "ms");
	} else if (cell) {
		ray_text_add(cell, "-");
	}
}

static void add_number(struct ray_http_view *v, const struct ray_fact *f, const char *field, bool is_there)
{
	struct ray_text *cell = ray_live_cell(v->live);

	if (cell && is_there && ray_fact_find(f, field))
		ray_text_add_signed(cell, ray_fact_number(f, field));
	else if (cell)
		ray_text_add(cell, "-");
}

static void add_text(struct ray_http_view *v, const struct ray_fact *f, const char *field)
{
	struct ray_text *cell = ray_live_cell(v->live);
	const char *text = cell ? ray_fact_text(f, field) : "";

	if (cell)
		ray_text_add_safe(cell, text, strlen(text));
}

static void add_status(struct ray_http_view *v, const struct ray_fact *f, bool is_end)
{
	struct ray_text *cell = ray_live_cell(v->live);
	int64_t status;
	bool aborted;

	if (!cell)
		return;
	status = is_end ? ray_fact_number(f, "status") : 0;
	aborted = is_end && ray_fact_number(f, "aborted");
	if (status)
		ray_text_add_signed(cell, status);
	ray_text_add(cell, status ? (aborted ? "!" : "") : aborted ? "abort" : "-");
}

/* The path, and all of it. What did not fit into its place is marked. */
static void add_urls(struct ray_http_view *v, const struct ray_fact *f)
{
	struct ray_text *path = ray_live_cell(v->live), *whole = ray_live_cell(v->live);
	const char *url = ray_fact_text(f, "url"), *more;
	size_t length = strlen(url), path_length = strcspn(url, "?");

	more = (size_t)ray_fact_number(f, "length") > length ? "..." : "";
	if (path) {
		ray_text_add_safe(path, url, path_length);
		ray_text_add(path, url[path_length] ? "" : more);
	}
	if (whole) {
		ray_text_add_safe(whole, url, length);
		ray_text_add(whole, more);
	}
}

static void add_version(struct ray_http_view *v, const struct ray_fact *f)
{
	struct ray_text *cell = ray_live_cell(v->live);

	if (!cell)
		return;
	ray_text_add(cell, version_text(ray_fact_number(f, "version")));
	ray_text_add(cell, ray_fact_number(f, "tls") ? "+" : "");
}

static void end_line(struct ray_http_view *v)
{
	ray_live_end(v->live, &v->line);
	fwrite(ray_text_get(&v->line), 1, v->line.length, v->out);
	ray_text_clear(&v->line);
}

static void print_line(struct ray_http_view *v, const struct ray_fact *f, bool is_end)
{
	ray_auto_memory char *stack = is_end ? take_stack(v, (uint64_t)ray_fact_number(f, "id")) : NULL;

	add_time(v, f);
	ray_live_add(v->live, probe_text(f));
	ray_live_add(v->live, is_end ? "<-" : "->");
	add_number(v, f, "id", true);
	add_number(v, f, "fd", true);
	add_ms(v, f, "latency", is_end);
	add_ms(v, f, "ttfb", is_end && ray_fact_number(f, "status"));
	add_status(v, f, is_end);
	add_number(v, f, "bytes", is_end);
	add_number(v, f, "request", is_end);
	add_text(v, f, "raddr");
	add_number(v, f, "rport", true);
	add_number(v, f, "lport", true);
	add_version(v, f);
	add_text(v, f, "host");
	add_text(v, f, "method");
	add_urls(v, f);
	end_line(v);
	each_frame(stack, frame_line, v->out);
}

static void print_gc_line(struct ray_http_view *v, const struct ray_fact *f)
{
	add_time(v, f);
	ray_live_add(v->live, "gc");
	ray_live_add(v->live, "<-");
	ray_live_add(v->live, "-");
	ray_live_add(v->live, "-");
	add_ms(v, f, "latency", true);
	for (size_t i = 8; i < RAY_COUNT(columns); i++) /* what a collection has none of */
		ray_live_add(v->live, "-");
	end_line(v);
}

void ray_http_view_take(struct ray_http_view *v, const struct ray_fact *f)
{
	bool is_end = ray_fact_is(f, "end");

	if (ray_fact_is(f, "sent")) {
		keep_stack(v, f);
	} else if (ray_fact_is(f, "gc")) {
		if (v->options.is_json)
			print_gc_json(v, f);
		else
			print_gc_line(v, f);
	} else if (is_end || ray_fact_is(f, "begin")) {
		if (!ray_http_is_wanted(v, ray_fact_text(f, "url")))
			free(take_stack(v, (uint64_t)ray_fact_number(f, "id")));
		else if (v->options.is_json)
			print_json(v, f, is_end);
		else
			print_line(v, f, is_end);
	} else {
		ray_http_top_take(v, f);
	}
}

void ray_http_view_finish(struct ray_http_view *v, uint64_t epoch_ns)
{
	if (v->options.top || v->options.bars)
		ray_http_top_print(v, epoch_ns);
}
