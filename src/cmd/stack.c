/* stack.c - `noderay stack`: what every thread is doing, JavaScript named. SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "stack/stack.h"
#include "view/stack.h"
#include "view/table.h"

enum { DEFAULT_FRAMES = 400, SOURCE_AROUND = 2, LEFT_OF_COMMAND = 9 /* "1234567: " */ };

/* --thread main,worker,4711: role words and thread ids. Steps to the next; false past the last. */
static bool next_choice(const char **rest, const char **word, size_t *length)
{
	*word = *rest;
	*length = strcspn(*rest, ",");
	*rest += *length + ((*rest)[*length] == ',');
	return *length > 0;
}

static bool is_role(const char *word, size_t length, enum ray_role role)
{
	const char *name = ray_role_word(role);

	return strlen(name) == length && !memcmp(name, word, length);
}

/* NULL is everybody. */
static bool is_chosen(const char *choice, const struct ray_stack *stack)
{
	const char *word;
	size_t n;

	while (choice && next_choice(&choice, &word, &n))
		if (is_role(word, n, stack->role.role) || atoi(word) == stack->thread->tid)
			return true;
	return !choice;
}

/* Before the target is stopped for nothing. */
static struct ray_error *check_words(const char *choice)
{
	const char *word;
	size_t n, known;

	if (choice && !*choice)
		return ray_error_new(RAY_USAGE, "--thread needs a kind of thread or a thread id");
	while (choice && next_choice(&choice, &word, &n)) {
		for (known = RAY_ROLE_OTHER; known <= RAY_ROLE_SIGNAL; known++)
			if (is_role(word, n, (enum ray_role)known))
				break;
		if (known > RAY_ROLE_SIGNAL && strspn(word, "0123456789") != n)
			return ray_error_remedy(
				ray_error_new(RAY_USAGE, "no kind of thread is '%.*s'", (int)n, word),
				"--thread takes main, worker, platform, delayed, pool, inspector, signal, other,\n"
				"or a thread id");
	}
	return NULL;
}

static struct ray_error *check_choice(const char *choice, const struct ray_stacks *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (is_chosen(choice, &s->at[i]))
			return NULL;
	}
	return ray_error_remedy(ray_error_new(RAY_FAILED, "no thread is '%s'", choice),
				"without --thread all are shown, each with its kind");
}

static void print_heading(const struct ray_stacks *s, size_t width)
{
	struct ray_target *t = s->js->target;
	ray_auto_memory char *args = NULL;
	ray_auto_text line = { 0 }, cut = { 0 };
	struct ray_error *err;
	size_t size = 0;

	err = ray_target_args(t, &args, &size);
	ray_error_free(err);
	for (size_t i = 0; args && i < size; i += strlen(args + i) + 1) {
		if (i)
			ray_text_add(&line, " ");
		ray_text_add_safe(&line, args + i, strlen(args + i));
	}
	if (!line.length)
		ray_text_add_safe(&line, ray_target_exe(t), strlen(ray_target_exe(t)));
	printf("%d: ", ray_target_pid(t));
	ray_view_cut(&cut, ray_text_get(&line), width ? width - LEFT_OF_COMMAND : SIZE_MAX, RAY_CUT_END);
	printf("%s\n", ray_text_get(&cut));
	if (s->js->blind)
		printf("its executable is missing: addresses only");
	else
		printf("node %s, V8 %s", s->js->node.version[0] ? s->js->node.version : "(unknown)",
		       s->js->node.v8_text);
	if (ray_target_signal(t))
		printf(", ended by signal %d (%s)", ray_target_signal(t), strsignal(ray_target_signal(t)));
	printf("\n");
}

static void report(const struct ray_stacks *s, bool nonblocking)
{
	size_t unnamed = 0, no_symbol = 0, torn = 0, guessed = 0, ended = 0;

	for (size_t i = 0; i < s->count; i++) {
		unnamed += s->at[i].unnamed;
		no_symbol += s->at[i].no_symbol;
		torn += s->at[i].thread->torn;
		ended += s->at[i].ended;
		guessed += s->at[i].guessed_fp;
	}
	if (s->js->why && !s->js->blind)
		fprintf(stderr, "noderay: JavaScript cannot be named: %s\n", s->js->why);
	if (unnamed)
		fprintf(stderr, "noderay: %zu frames of JavaScript or V8 could not be named\n", unnamed);
	if (ended)
		fprintf(stderr, "noderay: %zu threads ended after the pause: names and lines may be missing\n", ended);
	if (no_symbol)
		fprintf(stderr, "noderay: %zu native frames have no symbol%s\n", no_symbol,
			s->js->node.stripped ? " (this node is stripped)" : "");
	if (s->report.stack_cut)
		fprintf(stderr, "noderay: %llu bytes of stack were not copied\n",
			(unsigned long long)s->report.stack_cut);
	if (s->report.missed)
		fprintf(stderr, "noderay: %zu threads could not be read\n", s->report.missed);
	if (ray_target_kind(s->js->target) != RAY_TARGET_PROCESS)
		return;
	if (!nonblocking)
		fprintf(stderr, "noderay: paused for %.2f ms (%zu threads)\n", (double)s->report.pause_ns / 1e6,
			s->report.stopped);
	else
		fprintf(stderr,
			"noderay: not paused; %zu threads torn, %zu with a frame pointer that was searched for\n", torn,
			guessed);
}

static void print_all(const struct ray_stacks *s, const char *choice, bool json, const struct ray_stack_view *view)
{
	size_t printed = 0;

	if (!json)
		print_heading(s, view->width);
	for (size_t i = 0; i < s->count; i++) {
		if (!s->at[i].wanted || !is_chosen(choice, &s->at[i]))
			continue;
		if (json) {
			ray_stack_print_json(s, &s->at[i], view);
		} else if (ray_stack_is_wanted(&s->at[i], view)) {
			printf("\n");
			ray_stack_print(s, &s->at[i], view, stdout);
			printed++;
		}
	}
	if (!json && !printed)
		printf("\nno thread is in JavaScript\n");
}

static struct ray_error *run(const struct ray_call *call)
{
	struct ray_stack_view view = { .verbose = ray_call_has(call, "verbose"),
				       .only_js = ray_call_has(call, "js"),
				       .only_native = ray_call_has(call, "native"),
				       .arguments = ray_call_has(call, "args"),
				       .source = ray_call_has(call, "source") ? SOURCE_AROUND : 0 };
	bool json = ray_call_has(call, "json"), nonblocking = ray_call_has(call, "nonblocking");
	const char *choice = ray_call_value(call, "thread");
	ray_auto(ray_target, t) = NULL;
	ray_auto(ray_stacks, s) = NULL;
	struct ray_error *err;
	long frames;

	if (view.only_js && view.only_native)
		return ray_error_new(RAY_USAGE, "--js and --native exclude each other");
	err = ray_call_number(call, "frames", json ? 0 : DEFAULT_FRAMES, &frames);
	if (!err && frames < 0)
		err = ray_error_new(RAY_USAGE, "--frames takes a number of frames, or 0 for all");
	if (!err)
		err = check_words(choice);
	if (!err)
		err = ray_call_target(call, &t);
	if (!err)
		err = ray_stacks_take(t, nonblocking, &s);
	if (!err && choice)
		err = check_choice(choice, s);
	if (err)
		return err;
	view.max_frames = (size_t)frames;
	view.width = view.verbose ? 0 : ray_view_width(stdout);
	print_all(s, choice, json, &view);
	fflush(stdout);
	report(s, nonblocking);
	if (s->js->blind)
		return ray_error_remedy(ray_error_new(RAY_UNREADABLE, "%s", s->js->why),
					"--exe FILE or --sysroot DIR says where the binaries are");
	return NULL;
}

static const struct ray_option options[] = {
	{ 'a', "args", NULL, "print this and the arguments of JS frames" },
	{ 's', "source", NULL, "print the source around the current line" },
	{ 'v', "verbose", NULL, "print builtins, stubs and addresses too" },
	{ 0, "js", NULL, "only JavaScript and wasm, and threads in it" },
	{ 0, "native", NULL, "only native frames" },
	{ 't', "thread", "WHICH", "only main, worker, pool..., or a thread id" },
	{ 'n', "frames", "N", "at most N frames a thread (400); 0 for all" },
	{ 0, "nonblocking", NULL, "do not pause the target; say what is torn" },
	RAY_OPTIONS_TARGET,
	RAY_OPTION_JSON,
};

static const char *const examples[] = {
	"noderay stack 4711",
	"all threads of process 4711",
	"noderay stack -as --thread main core.4711",
	"the main thread of a core, with arguments and source",
	"noderay stack --js --json",
	"JavaScript only, for the one node on this machine",
	NULL,
};

const struct ray_verb ray_verb_stack = {
	.name = "stack",
	.alias = "pstack",
	.summary = "what every thread is doing, JavaScript named",
	.operands = "[TARGET]",
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = 1,
	.run = run,
};
