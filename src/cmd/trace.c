/* trace.c - `noderay trace`, also called dtrace: runs D scripts. SPDX-License-Identifier: MIT */
#include "cmd/trace.h"

#include <errno.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/heartbeat.h"
#include "base/version.h"
#include "cmd/signals.h"

static const struct ray_option options[] = {
	{ 'n', "name", "PROBE", "probe by name [[[provider:]module:]function:]name, with /predicate/ { actions }" },
	{ 's', "script", "FILE", "D script" },
	{ 'P', "provider", "PROBE", "probes of a provider" },
	{ 'm', "module", "PROBE", "probes by [provider:]module" },
	{ 'f', "function", "PROBE", "probes by [[provider:]module:]function" },
	{ 'i', "id", "NUMBER", "probe by its number" },
	{ 'l', "list", NULL, "list probes instead of enabling them" },
	{ 'e', "compile-only", NULL, "compile, then exit without enabling anything" },
	{ 'q', "quiet", NULL, "print only what the script prints" },
	{ 'v', "verbose", NULL, "report stability and arguments; with -l too" },
	{ 'w', "destructive", NULL, "permit destructive actions" },
	{ 'Z', "no-match", NULL, "permit descriptions that match no probe (yet)" },
	{ 'p', "pid", "PID", "trace this process: $target; may be repeated" },
	{ 'c', "command", "COMMAND", "run COMMAND, hold it until probes are on, exit with it: $target" },
	{ 'x', "option", "OPT[=VAL]", "set an option" },
	{ 'o', "output", "FILE", "append the output to FILE" },
	{ 'b', "buffer", "SIZE", "size of the trace buffer" },
	{ 'C', "cpp", NULL, "run the C preprocessor over scripts" },
	{ 'D', "define", "NAME[=DEF]", "define a symbol for the preprocessor" },
	{ 'U', "undefine", "NAME", "undefine a symbol for the preprocessor" },
	{ 'I', "include", "DIR", "look for included files in DIR" },
	{ 'H', "headers", NULL, "print the names of included files" },
	{ 'L', "library", "DIR", "look for D libraries in DIR" },
	{ 'X', "stdc", "a|c|s|t", "how strictly the preprocessor follows ISO C" },
	{ 'F', "flow", NULL, "indent by function entry and return" },
	{ 'S', "show-code", NULL, "print the generated BPF" },
	{ 'V', "version", NULL, "print the version of D" },
};

static const char *const examples[] = {
	"noderay trace -p 4242 -n 'syscall:::entry { @[probefunc] = count(); }'",
	"count system calls until Ctrl-C; /pid == $target/ keeps to that process",
	"noderay trace -p 4242 -n 'profile-97 /pid==$target/ { @[jstack()]=count(); }'",
	"where it spends its time, JavaScript named",
	"noderay trace -p 4242 -n 'uv$target::uv_fs_open:entry{trace(args[0]->path)}'",
	"which files it opens; man noderay-uv has all of libuv's functions",
	"noderay trace -s latency.d -c 'node app.js'",
	"run a program under a script",
	"noderay trace -lv -n 'syscall::open*:entry'",
	"list probes with their arguments",
	NULL,
};

static struct ray_error *print_version(const struct ray_trace_call *t)
{
	printf("dtrace: Oracle D 2.0\n");
	if (t->verbose)
		printf("This is noderay %s\n", RAY_VERSION);
	return NULL;
}

static struct ray_error *open_output(struct ray_trace_call *t)
{
	if (!t->out_name)
		return NULL;
	t->out = fopen(t->out_name, "ae");
	if (!t->out)
		return ray_error_new(RAY_FAILED, "failed to open output file '%s': %s", t->out_name, strerror(errno));
	setvbuf(t->out, NULL, _IOLBF, 0);
	return NULL;
}

/* "script 'x.d' matched 3 probes"; the sum of them all in total_ret. */
static void report_matches(struct ray_trace_call *t, size_t *total_ret)
{
	const struct ray_trace_given *g;
	size_t i, j, matches;

	*total_ret = 0;
	for (i = 0; i < t->given.n; i++) {
		g = &t->given.at[i];
		matches = 0;
		for (j = 0; j < g->clause_count; j++)
			matches += t->program->clauses.at[g->first_clause + j]->probes.n;
		*total_ret += matches;
		if (!t->only_compile)
			ray_trace_notice(t, "%s '%.*s' matched %zu probe%s",
					 g->kind == RAY_TEXT_SCRIPT ? "script" : "description",
					 g->kind == RAY_TEXT_SCRIPT ? (int)strlen(g->argument) :
								      (int)strcspn(g->argument, "{/;"),
					 g->argument, matches, matches == 1 ? "" : "s");
		if (t->verbose)
			ray_trace_stability(t, g);
	}
}

enum { ROUND_MS = 20 };

/* Until exit(), Ctrl-C or the end of every -p and -c. */
static struct ray_error *work(struct ray_trace_call *t, struct ray_trace *trace)
{
	enum ray_trace_status status = RAY_TRACE_GOES_ON;
	struct ray_error *err = NULL;
	int rounds_left = 1;

	while (!err && status == RAY_TRACE_GOES_ON && !ray_interrupted && rounds_left) {
		ray_heartbeat();
		ray_trace_procs_wait(t, ray_trace_fd(trace), ROUND_MS);
		if (ray_trace_procs_ended(t))
			rounds_left--; /* what they did last is in the buffer */
		err = ray_trace_work(trace, 0, &status);
		if (ray_stdio_reader_is_gone(t->out))
			break;
	}
	ray_heartbeat_stop();
	if (ray_interrupted && !t->is_testing)
		fputc('\n', t->out);
	return err;
}

static struct ray_error *run_trace(struct ray_trace_call *t, struct ray_trace *trace)
{
	struct ray_error *err = ray_trace_start(trace);

	if (err)
		return err;
	ray_interrupt_defer();
	if (t->options.destructive)
		ray_trace_notice(t, "allowing destructive actions");
	err = ray_trace_procs_release(t, trace);
	if (!err)
		err = work(t, trace);
	/* Also after an error: print the collected data. */
	err = ray_error_first(err, ray_trace_stop(trace));
	ray_call_exit_with(ray_trace_exit_code(trace));
	return err;
}

static struct ray_error *execute(struct ray_trace_call *t)
{
	struct ray_trace_settings settings = { .options = &t->options,
					       .out = t->out,
					       .notes = stderr,
					       .progname = "dtrace",
					       .is_testing = t->is_testing };
	ray_auto(ray_trace, trace) = NULL;
	struct ray_error *err;
	size_t total;

	report_matches(t, &total);
	if (!total && !t->no_probes_ok && !t->only_compile)
		return ray_error_new(RAY_FAILED, "no probes %s", t->given.n ? "matched" : "specified");
	if (t->only_compile && !t->show_code)
		return NULL;
	err = ray_trace_create(t->program, t->catalogue, &settings, &trace);
	if (!err && t->show_code)
		ray_trace_print_code(trace, stderr);
	if (err || t->only_compile)
		return err;
	return run_trace(t, trace);
}

static struct ray_error *run_all(struct ray_trace_call *t)
{
	struct ray_error *err;

	if (t->version)
		return print_version(t);
	err = open_output(t);
	if (!err)
		err = ray_trace_procs_open(t);
	if (!err)
		err = ray_trace_compile(t);
	if (err)
		return err;
	return t->list ? ray_trace_list(t) : execute(t);
}

static struct ray_error *run(const struct ray_call *call)
{
	struct ray_trace_call t = { 0 };
	struct ray_error *err = ray_trace_call_init(&t, call);

	if (!err)
		err = run_all(&t);
	if (t.out && t.out != stdout)
		err = ray_error_first(err, ray_error_wrap(ray_stdio_finish(t.out), "%s", t.out_name));
	ray_trace_call_deinit(&t);
	return err;
}

const struct ray_verb ray_verb_trace = {
	.name = "trace",
	.alias = "dtrace",
	.summary = "run D scripts (DTrace's language) on processes and the kernel",
	.operands = "[ARGUMENT...]",
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = 1000,
	.voice = "dtrace",
	.run = run,
};
