/* script.c - see script.h. SPDX-License-Identifier: MIT */
#include "cmd/script.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/interrupt.h"
#include "base/heartbeat.h"
#include "cmd/signals.h"
#include "cmd/trace.h"
#include "probe/watch.h"

enum { ROUND_MS = 20 };

/* ---- the program's text ---- */

static struct ray_error *read_text(struct ray_script *s)
{
	const char *text = ray_script_text(s->name);

	if (s->is_read)
		return NULL;
	if (!text)
		return ray_error_new(RAY_FAILED, "there is no script '%s'", s->name);
	ray_text_add(&s->text, text);
	s->is_read = true;
	return s->text.failed ? &ray_enomem : NULL;
}

/* Puts value between start and end, which are places in the text. */
static struct ray_error *replace(struct ray_script *s, const char *start, const char *end, const char *value)
{
	struct ray_text changed = { 0 };

	ray_text_add_bytes(&changed, s->text.bytes, (size_t)(start - s->text.bytes));
	ray_text_add(&changed, value);
	ray_text_add(&changed, end);
	ray_text_deinit(&s->text);
	s->text = changed;
	return s->text.failed ? &ray_enomem : NULL;
}

/* After the '=' of a line that begins so and has ` name` in front of it. NULL: there is none. */
static const char *find_value(const char *text, const char *begin, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *equals;

		line += *line == '\n';
		if (strncmp(line, begin, strlen(begin)) != 0)
			continue;
		equals = line + strcspn(line, "=\n");
		if (*equals != '=')
			continue;
		const char *end = equals;
		while (end > line && end[-1] == ' ')
			end--;
		if ((size_t)(end - line) > length && strncmp(end - length, name, length) == 0 &&
		    end[-1 - (long)length] == ' ')
			return equals + 1;
	}
	return NULL;
}

static struct ray_error *set_line(struct ray_script *s, const char *begin, const char *name, const char *stop,
				  const char *value)
{
	struct ray_error *err = read_text(s);
	const char *start;

	if (err)
		return err;
	start = find_value(s->text.bytes, begin, name);
	if (!start)
		return ray_error_new(RAY_FAILED, "scripts/%s.d has no %s%s", s->name, begin, name);
	start += *start == ' ';
	return replace(s, start, start + strcspn(start, stop), value);
}

struct ray_error *ray_script_set(struct ray_script *s, const char *name, const char *fmt, ...)
{
	ray_auto_memory char *value = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&value, fmt, args);
	va_end(args);
	return n < 0 ? &ray_enomem : set_line(s, "inline ", name, ";\n", value);
}

struct ray_error *ray_script_set_string(struct ray_script *s, const char *name, const char *value)
{
	ray_auto_text quoted = { 0 };

	ray_text_add(&quoted, "\"");
	for (const char *b = value; *b; b++) {
		if (*b == '"' || *b == '\\')
			ray_text_printf(&quoted, "\\%c", *b);
		else if ((unsigned char)*b < ' ')
			ray_text_printf(&quoted, "\\%03o", (unsigned char)*b);
		else
			ray_text_add_bytes(&quoted, b, 1);
	}
	ray_text_add(&quoted, "\"");
	return quoted.failed ? &ray_enomem : set_line(s, "inline string ", name, ";\n", ray_text_get(&quoted));
}

struct ray_error *ray_script_set_probe(struct ray_script *s, const char *probe, const char *other)
{
	struct ray_error *err = read_text(s);
	ray_auto_memory char *line = NULL;
	const char *at;

	if (err)
		return err;
	if (asprintf(&line, "\n%s\n", probe) < 0)
		return &ray_enomem;
	at = strstr(s->text.bytes, line);
	if (!at)
		return ray_error_new(RAY_FAILED, "scripts/%s.d has no probe %s", s->name, probe);
	return replace(s, at + 1, at + 1 + strlen(probe), other);
}

static const char pragma[] = "#pragma D option ";

/* Before the first pragma there is. */
static struct ray_error *add_pragma(struct ray_script *s, const char *name, const char *value)
{
	const char *first = strstr(s->text.bytes, pragma);
	ray_auto_text line = { 0 };

	ray_text_printf(&line, "%s%s=%s\n", pragma, name, value);
	return line.failed ?
		       &ray_enomem :
		       replace(s, first ? first : s->text.bytes, first ? first : s->text.bytes, ray_text_get(&line));
}

struct ray_error *ray_script_set_option(struct ray_script *s, const char *name, const char *fmt, ...)
{
	ray_auto_memory char *value = NULL;
	struct ray_error *err = read_text(s);
	va_list args;
	int n;

	if (err)
		return err;
	va_start(args, fmt);
	n = vasprintf(&value, fmt, args);
	va_end(args);
	if (n < 0)
		return &ray_enomem;
	return find_value(s->text.bytes, pragma, name) ? set_line(s, pragma, name, "\n", value) :
							 add_pragma(s, name, value);
}

void ray_script_deinit(struct ray_script *s)
{
	ray_text_deinit(&s->text);
}

/* ---- options ---- */

struct ray_error *ray_call_duration(const struct ray_call *call, const char *option, uint64_t unit_ns,
				    uint64_t fallback, uint64_t *ret)
{
	const char *value = ray_call_value(call, option);

	*ret = fallback;
	if (!value || ray_duration_parse(value, unit_ns, ret))
		return NULL;
	return ray_error_new(RAY_USAGE, "%s: --%s needs a time such as 10, 1.5s, 500ms or 2m, not '%s'",
			     ray_call_verb(call)->name, option, value);
}

/* ---- running ---- */

void ray_script_say_doing(const struct ray_script *s, const struct ray_trace_call *t)
{
	if (!s->doing || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "noderay: %s of ", s->doing);
	if (t->pids.n == 1)
		fprintf(stderr, "process %d", t->pids.at[0]);
	else if (t->pids.n)
		fprintf(stderr, "%zu processes", t->pids.n);
	else
		fprintf(stderr, "every node");
	fprintf(stderr, "; Ctrl-C ends it\n");
}

/* The time that is left, at most a round's. */
int ray_script_wait_ms(uint64_t end_ns)
{
	uint64_t now = ray_clock_ns();

	if (!end_ns)
		return ROUND_MS;
	if (now >= end_ns)
		return 0;
	return (end_ns - now) / 1000000 < ROUND_MS ? (int)((end_ns - now) / 1000000) + 1 : ROUND_MS;
}

/* Until exit(), Ctrl-C, the time is over, the targets have ended or nobody reads what is written. */
static struct ray_error *work(struct ray_script *s, struct ray_trace_call *t, struct ray_trace *trace, uint64_t end_ns)
{
	enum ray_trace_status status = RAY_TRACE_GOES_ON;
	struct ray_error *err = NULL;
	int rounds_left = 1;

	while (!err && status == RAY_TRACE_GOES_ON && !ray_interrupted && !s->is_done && rounds_left) {
		ray_heartbeat();
		if (end_ns && ray_clock_ns() >= end_ns)
			break;
		ray_trace_procs_wait(t, ray_trace_fd(trace), ray_trace_wait_ms(trace, ray_script_wait_ms(end_ns)));
		if (ray_trace_procs_ended(t))
			rounds_left--; /* what they did last is in the buffer */
		err = ray_trace_work(trace, 0, &status);
		if (s->on_round)
			s->on_round(s->arg);
		if (ray_stdio_reader_is_gone(stdout))
			break;
	}
	ray_heartbeat_stop();
	return err;
}

static struct ray_error *run_trace(struct ray_script *s, struct ray_trace_call *t, struct ray_trace *trace,
				   uint64_t duration_ns)
{
	struct ray_error *err = ray_trace_start(trace);
	uint64_t start_ns = ray_clock_ns();

	if (err)
		return err;
	ray_interrupt_defer();
	ray_stdio_batch(stdout);
	ray_script_say_doing(s, t);
	s->trace = trace;
	s->has_started = true;
	if (s->on_start)
		s->on_start(s->arg, t->pids.at, t->pids.n);
	err = ray_trace_procs_release(t, trace);
	if (!err)
		err = work(s, t, trace, duration_ns ? start_ns + duration_ns : 0);
	s->duration_ns = ray_clock_ns() - start_ns;
	/* Also after an error: print the collected data. */
	err = ray_error_first(err, ray_trace_stop(trace));
	if (s->on_round)
		s->on_round(s->arg);
	s->trace = NULL;
	return err;
}

static struct ray_error *compile(struct ray_script *s, struct ray_trace_call *t)
{
	ray_auto_memory char *name = NULL;
	struct ray_error *err;

	if (asprintf(&name, "%s.d", s->name) < 0)
		return &ray_enomem;
	ray_trace_options_init(&t->options);
	t->only_family = true;
	t->is_quiet = s->quiet_command;
	s->targets = t;
	t->call = s->call;
	t->out = stdout;
	if (!ray_vec_push(&t->arguments, name) ||
	    !ray_vec_push(&t->given, (struct ray_trace_given){ .kind = RAY_TEXT_SCRIPT,
							       .argument = name,
							       .text = ray_text_get(&s->text) }))
		return &ray_enomem;
	t->argument_used = calloc(1, sizeof(*t->argument_used));
	if (!t->argument_used || !ray_vec_push(&t->buffers, name))
		return &ray_enomem;
	name = NULL; /* the list's now */
	err = ray_script_targets(s, t);
	t->options.zdefs = !s->is_strict || t->children.n; /* targets may still become a node */
	return err ? err : ray_trace_compile(t);
}

bool ray_script_has_event(const struct ray_script *s, const char *name)
{
	for (size_t i = 0; s->targets && s->trace && i < s->targets->program->clauses.n; i++) {
		const struct ray_clause *clause = s->targets->program->clauses.at[i];

		for (size_t k = 0; k < clause->spec_count; k++)
			if (ray_watch_events(&clause->specs[k]) && !strcmp(clause->specs[k].name, name) &&
			    !ray_clause_is_off(clause) && (clause->probes.n || s->targets->children.n))
				return true;
	}
	return false;
}

/* Probes of node that the script has, and that not one target has: nothing would ever be told. */
static struct ray_error *check_events(const struct ray_trace_call *t)
{
	bool wants = false;

	for (size_t i = 0; i < t->program->clauses.n; i++) {
		const struct ray_clause *clause = t->program->clauses.at[i];

		for (size_t k = 0; k < clause->spec_count; k++) {
			if (!ray_watch_events(&clause->specs[k]) || ray_clause_is_off(clause))
				continue;
			wants = true;
			if (clause->probes.n)
				return NULL;
		}
	}
	if (!wants || !t->pids.n || t->children.n)
		return NULL;
	return ray_error_remedy(
		ray_error_new(RAY_UNREADABLE, "this node has none of the functions that would tell its events"),
		"noderay doctor says what is missing");
}

static struct ray_error *execute(struct ray_script *s, struct ray_trace_call *t, uint64_t duration_ns)
{
	struct ray_trace_settings settings = { .options = &t->options,
					       .out = stdout,
					       .notes = stderr,
					       .progname = "noderay",
					       .on_fact = s->on_fact,
					       .arg = s->arg,
					       .is_patient = true,
					       .wants_frames = s->wants_frames,
					       .script_maps = s->script_maps };
	ray_auto(ray_trace, trace) = NULL;
	struct ray_error *err;

	if (s->wants_frames)
		ray_trace_hurry();
	err = compile(s, t);

	if (!err && !s->events_optional)
		err = check_events(t);
	if (!err)
		err = ray_trace_create(t->program, t->catalogue, &settings, &trace);
	if (!err)
		err = run_trace(s, t, trace, duration_ns);
	if (s->plain_hz && ray_error_code(err) == RAY_DENIED && t->pids.n && !s->has_started)
		return ray_script_run_plain(s, t, duration_ns, err);
	return err;
}

struct ray_error *ray_script_run(struct ray_script *s)
{
	bool is_only_shown = s->only_show || ray_call_has(s->call, "show-script");
	struct ray_trace_call t = { 0 };
	struct ray_error *err = read_text(s);
	uint64_t duration_ns = 0;

	if (!err && ray_call_has(s->call, "no-children"))
		err = ray_script_set_option(s, "follow", "targets");
	else if (!err && s->any_process && ray_call_has(s->call, "all"))
		err = ray_script_set_option(s, "follow", "nodes");
	if (!err)
		err = ray_call_duration(s->call, "duration", 1000000000, s->duration_ns, &duration_ns);
	if (!err && !duration_ns && ray_call_has(s->call, "duration"))
		err = ray_error_new(RAY_USAGE, "%s: --duration must be more than 0", ray_call_verb(s->call)->name);
	if (err)
		return err;
	if (is_only_shown) {
		fputs(ray_text_get(&s->text), stdout);
		return NULL;
	}
	err = execute(s, &t, duration_ns);
	s->targets = NULL;
	ray_trace_call_deinit(&t);
	return err;
}
