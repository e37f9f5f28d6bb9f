/* syscalls.c - `noderay syscalls`: system calls as they happen, or counted. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/script.h"
#include "cmd/suggest.h"
#include "view/syscalls.h"
#include "view/table.h"

static const struct ray_option options[] = {
	{ 'c', "count", NULL, "a table of calls, errors and times instead of a list" },
	{ 0, "latency", NULL, "how the times of each call are spread" },
	{ 'k', "stack", NULL, "who called, in JavaScript" },
	{ 'e', "only", "CALLS", "only these: open,read or classes: %file, %network" },
	{ 0, "failed", NULL, "only calls that failed" },
	{ 0, "slow", "TIME", "only calls that took at least TIME: 10 (ms), 200us" },
	{ 0, "thread", "TID", "only this thread; 'main' is the first of a process" },
	{ 's', "size", "BYTES", "how much of a buffer is shown (32)" },
	{ 'o', "columns", "COL,...", "time, pid, tid, latency, error, call; +COL adds one" },
	{ 0, "no-names", NULL, "do not say what file descriptors are open on" },
	RAY_OPTIONS_SCRIPT,
};

static const char *const examples[] = {
	"noderay syscalls 4242",
	"every system call of process 4242, its threads and children",
	"noderay syscalls -c -d 10 4242",
	"what was called in 10 seconds, and what it cost",
	"noderay syscalls -e %file --failed -- node app.js",
	"which files a program looks for in vain, from its first call on",
	"noderay syscalls --slow 10ms --thread main --stack 4242",
	"what holds up the main thread, and which JavaScript called it",
	NULL,
};

enum { MAX_SIZE = 4096 };

/* ---- -e ---- */

static struct ray_error *no_such_call(const char *name, size_t length)
{
	struct ray_error *err = ray_error_new(RAY_USAGE, "syscalls: there is no system call '%.*s'", (int)length, name);
	struct ray_suggest best;

	ray_suggest_init(&best, name, length);
	for (size_t i = 0; i < ray_syscall_count; i++)
		ray_suggest_offer(&best, ray_call_name(&ray_syscalls[i]));
	if (best.word)
		return ray_error_remedy(err, "did you mean '%s'?", best.word);
	return ray_error_remedy(err, "'noderay trace -l -P syscall' lists them");
}

static void add_call(struct ray_text *list, const struct ray_syscall *call)
{
	ray_text_printf(list, "%s%s", list->length ? "," : "", call->name);
}

static struct ray_error *add_class(struct ray_text *list, const char *name, size_t length)
{
	for (size_t i = 0; i < ray_syscall_count; i++) {
		int is_of = ray_syscall_is_of(&ray_syscalls[i], name, length);

		if (is_of < 0)
			return ray_error_remedy(
				ray_error_new(RAY_USAGE, "syscalls: there is no class '%%%.*s'", (int)length, name),
				"classes are %%file %%desc %%network %%process %%memory %%signal "
				"%%clock %%ipc %%creds");
		if (is_of)
			add_call(list, &ray_syscalls[i]);
	}
	return NULL;
}

/* Programs say open and mean openat. */
static void add_named(struct ray_text *list, const struct ray_syscall *call)
{
	add_call(list, call);
	if (strcmp(call->name, "open") == 0)
		ray_text_add(list, ",openat");
}

static struct ray_error *choose_calls(struct ray_script *s, const char *only)
{
	ray_auto_text list = { 0 };
	struct ray_error *err = NULL;

	for (; only && *only && !err; only += strspn(only, ",")) {
		size_t n = strcspn(only, ",");
		const struct ray_syscall *call = ray_syscall_find(only, n);

		if (*only == '%')
			err = add_class(&list, only + 1, n - 1);
		else if (call)
			add_named(&list, call);
		else
			err = no_such_call(only, n);
		only += n;
	}
	if (err || !only)
		return err;
	if (!list.length)
		return ray_error_new(RAY_USAGE, "syscalls: --only needs names of system calls");
	return ray_script_set_option(s, "syscalls", "%s", ray_text_get(&list));
}

/* ---- the others ---- */

static struct ray_error *choose_thread(struct ray_script *s, const char *thread)
{
	char *end;
	long tid;

	if (!thread)
		return NULL;
	if (strcmp(thread, "main") == 0)
		return ray_script_set(s, "main_only", "1");
	tid = strtol(thread, &end, 10);
	if (end == thread || *end || tid <= 0 || tid > INT32_MAX)
		return ray_error_remedy(ray_error_new(RAY_USAGE,
						      "syscalls: --thread needs 'main' or a thread's number, not '%s'",
						      thread),
					"'noderay stack PID' shows the threads of a process");
	return ray_script_set(s, "thread", "%ld", tid);
}

static struct ray_error *choose_size(const struct ray_call *call, struct ray_script *s)
{
	struct ray_error *err;
	long size;

	err = ray_call_number(call, "size", 32, &size);
	if (!err && (size < 1 || size > MAX_SIZE))
		err = ray_error_new(RAY_USAGE, "syscalls: --size must be from 1 to %d", MAX_SIZE);
	return err ? err : ray_script_set(s, "size", "%ld", size);
}

static struct ray_error *set_flag(const struct ray_call *call, const char *option, struct ray_script *s,
				  const char *name, int value)
{
	return ray_call_has(call, option) ? ray_script_set(s, name, "%d", value) : NULL;
}

static struct ray_error *configure(const struct ray_call *call, struct ray_script *s)
{
	static const struct {
		const char *option, *name;
		int value;
	} flags[] = {
		{ "count", "counting", 1 }, { "latency", "measuring", 1 }, { "stack", "stacks", 1 },
		{ "failed", "failed", 1 },  { "no-names", "naming", 0 },
	};
	bool is_table = ray_call_has(call, "count") || ray_call_has(call, "latency");
	struct ray_error *err = NULL;
	uint64_t slow;

	for (size_t i = 0; i < RAY_COUNT(flags) && !err; i++)
		err = set_flag(call, flags[i].option, s, flags[i].name, flags[i].value);
	if (!err && is_table)
		err = ray_script_set(s, "listing", "0");
	if (!err)
		err = ray_call_duration(call, "slow", 1000000, 0, &slow);
	if (!err && slow)
		err = ray_script_set(s, "slow", "%" PRIu64, slow);
	if (!err)
		err = choose_thread(s, ray_call_value(call, "thread"));
	if (!err)
		err = choose_size(call, s);
	if (!err)
		err = choose_calls(s, ray_call_value(call, "only"));
	s->doing = is_table ? "counting system calls" : NULL;
	return err;
}

static void on_fact(void *arg, const struct ray_fact *f)
{
	ray_syscalls_tell(arg, f);
}

static struct ray_error *run(const struct ray_call *call)
{
	struct ray_script s = { .call = call, .name = "syscalls", .any_process = true, .on_fact = on_fact };
	const struct ray_syscalls_settings settings = { .out = stdout,
							.width = ray_view_width(stdout),
							.is_json = ray_call_has(call, "json"),
							.columns = ray_call_value(call, "columns") };
	ray_auto(ray_syscalls_view, view) = NULL;
	struct ray_error *err;

	err = ray_syscalls_create(&settings, &view);
	s.arg = view;
	if (!err)
		err = configure(call, &s);
	if (!err)
		err = ray_script_run(&s);
	if (s.has_started)
		ray_syscalls_finish(view, s.duration_ns);
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
