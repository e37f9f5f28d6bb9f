/* role.c - see role.h. SPDX-License-Identifier: MIT */
#include "stack/role.h"

#include <string.h>

#include "base/text.h"
#include "stack/calls.h"
#include "stack/isolate.h"
#include "stack/start.h"
#include "stack/worker.h"
#include "target/tls.h"

/* What is known of one thread, before and while its role is told. */
struct suspect {
	const struct ray_thread *thread;
	struct ray_role_frames frames;
	struct ray_start start;
	const char *start_symbol; /* "" when it has none */
	const char *start_file;	  /* the last part of the module's path; "" when not known */
	const char *calls; /* when it has no symbol: the first of these that the start function calls; "" if none */
	const char *outer; /* the outermost frame that has a name and is not the C library's; "" if none */
	bool argument_on_stack; /* it was started with the address of somebody's local variable */
	const struct rule *rule;
};

enum where { START, START_IS, START_FILE, CALLS, FRAME, OUTER, OUTER_LOCAL, COMM };

/* The first that fits decides. Symbols are matched in parts, since lambdas are mangled differently by gcc and clang,
 * and anonymous namespaces differently by version. */
struct rule {
	enum where where;
	const char *what;
	enum ray_role role;
	const char *text;
};

static const struct rule rules[] = {
	{ START, "6worker6Worker11StartThread", RAY_ROLE_WORKER, "worker_threads worker" },
	{ START, "20PlatformWorkerThread", RAY_ROLE_PLATFORM, "V8 platform worker" },
	{ START, "20DelayedTaskScheduler", RAY_ROLE_DELAYED, "V8 delayed-task scheduler" },
	{ START, "11InspectorIo10ThreadMain", RAY_ROLE_INSPECTOR, "inspector thread" },
	{ START, "17StartIoThreadMain", RAY_ROLE_SIGNAL, "inspector signal thread" },
	{ START_IS, "worker", RAY_ROLE_POOL, "libuv pool worker" },
	/* libuv starts no other threads of its own on Linux, and calls its users' functions directly. */
	{ START_FILE, "libuv.so", RAY_ROLE_POOL, "libuv pool worker" },
	{ START, "4node8Watchdog3Run", RAY_ROLE_OTHER, "watchdog (timeout of vm code)" },
	{ START, "17RunSigintWatchdog", RAY_ROLE_OTHER, "watchdog (SIGINT in vm or repl)" },
	{ START, "4node7tracing", RAY_ROLE_OTHER, "trace-events writer" },
	{ START, "CACertificates", RAY_ROLE_OTHER, "CA certificate loader" },
	{ START, "ares_event_thread", RAY_ROLE_OTHER, "c-ares event thread" },
	{ FRAME, "23SamplingEventsProcessor3Run", RAY_ROLE_OTHER, "V8 CPU profiler" },
	{ START, "2v84baseL11ThreadEntry", RAY_ROLE_OTHER, "V8 thread" },
	/* From here on: the start function has no symbol. */
	{ FRAME, "6worker6Worker3Run", RAY_ROLE_WORKER, "worker_threads worker" },
	{ FRAME, "20DelayedTaskScheduler", RAY_ROLE_DELAYED, "V8 delayed-task scheduler" },
	{ FRAME, "11InspectorIo10ThreadMain", RAY_ROLE_INSPECTOR, "inspector thread" },
	{ FRAME, "14ThreadPoolWork12ScheduleWork", RAY_ROLE_POOL, "libuv pool worker" },
	{ FRAME, "uv__fs_work", RAY_ROLE_POOL, "libuv pool worker" },
	{ FRAME, "uv__getaddrinfo_work", RAY_ROLE_POOL, "libuv pool worker" },
	{ FRAME, "14CancelableTask3Run", RAY_ROLE_PLATFORM, "V8 platform worker" },
	{ FRAME, "16DefaultJobWorker3Run", RAY_ROLE_PLATFORM, "V8 platform worker" },
	/* Each of them has something to tell its creator, or to wait for, first of all. */
	{ CALLS, "uv_sem_post", RAY_ROLE_POOL, "libuv pool worker" },
	{ CALLS, "uv_sem_wait", RAY_ROLE_SIGNAL, "inspector signal thread" },
	{ CALLS, "uv_cond_signal", RAY_ROLE_PLATFORM, "V8 platform worker" },
	{ OUTER, "uv_sem_wait", RAY_ROLE_SIGNAL, "inspector signal thread" },
	/* The pool hands a semaphore on its creator's stack to its threads; the platform's data is on the heap. */
	{ OUTER_LOCAL, "uv_cond_wait", RAY_ROLE_POOL, "libuv pool worker" },
	{ OUTER, "uv_cond_wait", RAY_ROLE_PLATFORM, "V8 platform worker" },
	/* Names that node and libuv give their threads, from node 22 on. */
	{ COMM, "V8Worker", RAY_ROLE_PLATFORM, "V8 platform worker" },
	{ COMM, "node-V8Worker", RAY_ROLE_PLATFORM, "V8 platform worker" },
	{ COMM, "DelayedTaskSche", RAY_ROLE_DELAYED, "V8 delayed-task scheduler" },
	{ COMM, "libuv-worker", RAY_ROLE_POOL, "libuv pool worker" },
	{ COMM, "TraceEventWorke", RAY_ROLE_OTHER, "trace-events writer" },
	{ COMM, "v8:ProfEvntProc", RAY_ROLE_OTHER, "V8 CPU profiler" }, /* so in all versions */
	{ COMM, "InspectorIo", RAY_ROLE_INSPECTOR, "inspector thread" },
	{ COMM, "SignalInspector", RAY_ROLE_SIGNAL, "inspector signal thread" },
};

static const struct rule main_rule = { START, "", RAY_ROLE_MAIN, "main JS thread" };
static const struct rule worker_rule = { START, "", RAY_ROLE_WORKER, "worker_threads worker" };
static const struct rule kernel_rule = { START, "", RAY_ROLE_OTHER, "io_uring thread of the kernel" };
static const struct rule other_rule = { START, "", RAY_ROLE_OTHER, "other thread" };

static const char *const words[] = {
	[RAY_ROLE_OTHER] = "other",	    [RAY_ROLE_MAIN] = "main",	    [RAY_ROLE_WORKER] = "worker",
	[RAY_ROLE_PLATFORM] = "platform",   [RAY_ROLE_DELAYED] = "delayed", [RAY_ROLE_POOL] = "pool",
	[RAY_ROLE_INSPECTOR] = "inspector", [RAY_ROLE_SIGNAL] = "signal",
};

/* Kinds of which there may be several: their texts carry a number. */
static const bool counted[] = {
	[RAY_ROLE_PLATFORM] = true,
	[RAY_ROLE_POOL] = true,
	[RAY_ROLE_SIGNAL] = false,
};

const char *ray_role_word(enum ray_role role)
{
	return words[role];
}

static bool has_frame(const struct suspect *s, const char *what)
{
	for (size_t i = 0; i < s->frames.count; i++)
		if (s->frames.symbols[i] && strstr(s->frames.symbols[i], what))
			return true;
	return false;
}

static bool fits(const struct rule *r, const struct suspect *s)
{
	switch (r->where) {
	case START:
		return strstr(s->start_symbol, r->what);
	case START_IS:
		return !strcmp(s->start_symbol, r->what);
	case START_FILE:
		return !strncmp(s->start_file, r->what, strlen(r->what));
	case CALLS:
		return !strcmp(s->calls, r->what);
	case FRAME:
		return has_frame(s, r->what);
	case OUTER:
		return !strcmp(s->outer, r->what);
	case OUTER_LOCAL:
		return s->argument_on_stack && !strcmp(s->outer, r->what);
	case COMM:
		return !strcmp(s->thread->name, r->what);
	}
	return false;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What tells the start functions of a node apart; a thread with a loop of its own comes to that first. */
static const char *const telling_calls[] = { "uv_sem_post", "uv_sem_wait",  "uv_cond_signal",
					     "uv_run",	    "uv_loop_init", "" };

static void look_at_start(struct ray_target *t, const struct ray_node *node, struct suspect *s)
{
	const struct ray_module *m;
	struct ray_symbol symbol;
	uint64_t vaddr;

	m = s->start.routine ? ray_target_module_at(t, s->start.routine, &vaddr) : NULL;
	if (!m)
		return;
	s->start_file = last_part(m->path);
	if (m->elf && ray_elf_symbol_at(m->elf, vaddr, &symbol) && symbol.value == vaddr)
		s->start_symbol = symbol.name;
	else if (m == node->module)
		s->calls = telling_calls[ray_calls_first(t, m, vaddr, telling_calls, RAY_COUNT(telling_calls) - 1)];
}

static const char *outermost(const struct ray_role_frames *f)
{
	static const char *const starters[] = { "start_thread", "clone", "clone3", "__clone", "__clone3" };
	size_t i = f->count, k;

	while (i-- > 0) {
		if (!f->symbols[i])
			continue;
		for (k = 0; k < RAY_COUNT(starters) && strcmp(f->symbols[i], starters[k]); k++)
			;
		if (k == RAY_COUNT(starters))
			return f->symbols[i];
	}
	return "";
}

/* Which mapping holds the first thread's stack: the kernel says so, and else the stack pointer. */
static bool is_on_main_stack(struct ray_target *t, const struct ray_thread *main_thread, uint64_t address)
{
	const struct ray_map *map = address ? ray_target_find_map(t, address) : NULL;

	if (!map)
		return false;
	return !strcmp(map->path, "[stack]") ||
	       (main_thread->has_registers && main_thread->registers.rsp >= map->start &&
		main_thread->registers.rsp < map->end);
}

static const struct rule *find_rule(const struct suspect *s)
{
	if (s->thread->is_kernel)
		return &kernel_rule;
	for (size_t i = 0; i < RAY_COUNT(rules); i++)
		if (fits(&rules[i], s))
			return &rules[i];
	return NULL;
}

/* Threads that were started with the same function are of the same kind. */
static void share_rules(struct suspect *suspects, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct suspect *s = &suspects[i];

		for (size_t k = 0; !s->rule && s->start.routine && k < count; k++)
			if (suspects[k].start.routine == s->start.routine)
				s->rule = suspects[k].rule;
	}
}

/* What a Worker object begins with: its vtable's third word on. 0 if this build does not tell. */
static uint64_t worker_vtable(struct ray_target *t, const struct ray_node *node)
{
	struct ray_symbol s;
	uint64_t address;

	if (!node->module || !node->module->elf ||
	    !ray_elf_find_dynamic(node->module->elf, "_ZTVN4node6worker6WorkerE", &s) ||
	    !ray_target_module_address(t, node->module, s.value, &address))
		return 0;
	return address + 16;
}

static void set_worker(const struct ray_worker *w, struct ray_role_info *info)
{
	ray_auto_text safe = { 0 };

	info->worker_id = w->id;
	/* What node calls a worker that was given no name. */
	if (!strcmp(w->name, "WorkerThread"))
		return;
	ray_text_add_safe(&safe, w->name, strlen(w->name));
	snprintf(info->name, sizeof(info->name), "%s", ray_text_get(&safe));
}

static void set_text(const struct suspect *s, struct ray_role_info *info)
{
	int n = snprintf(info->text, sizeof(info->text), "%s", s->rule->text);
	char *rest = info->text + n;
	size_t left = sizeof(info->text) - (size_t)n;

	if (info->role == RAY_ROLE_WORKER && info->worker_id < 0)
		snprintf(rest, left, " ?");
	else if (info->role == RAY_ROLE_WORKER)
		snprintf(rest, left, *info->name ? " %d (%s)" : " %d", info->worker_id, info->name);
	else if ((size_t)info->role < RAY_COUNT(counted) && counted[info->role])
		snprintf(rest, left, " %d", info->index);
}

struct state {
	struct ray_target *t;
	const struct ray_node *node;
	struct suspect *suspects;
	uint64_t *pointers;
	struct ray_start *starts;
	size_t count;
};

static void state_deinit(struct state *s)
{
	free(s->suspects);
	free(s->pointers);
	free(s->starts);
}

static struct ray_error *state_init(struct state *s, const struct ray_thread *threads,
				    const struct ray_role_frames *frames)
{
	ray_auto_memory struct ray_tls_thread *tls = NULL;
	struct ray_error *err;
	size_t count = 0;

	s->suspects = calloc(s->count + 1, sizeof(*s->suspects));
	s->pointers = calloc(s->count + 1, sizeof(*s->pointers));
	s->starts = calloc(s->count + 1, sizeof(*s->starts));
	if (!s->suspects || !s->pointers || !s->starts)
		return &ray_enomem;
	err = ray_tls_threads(s->t, &tls, &count);
	if (err)
		return err;
	for (size_t i = 0; i < s->count && i < count; i++)
		s->pointers[i] = tls[i].pointer;
	ray_start_find(s->t, s->pointers, s->count, s->starts);
	for (size_t i = 0; i < s->count; i++) {
		s->suspects[i] = (struct suspect){ .thread = &threads[i], .start = s->starts[i] };
		s->suspects[i].start_symbol = s->suspects[i].start_file = s->suspects[i].calls = "";
		if (frames)
			s->suspects[i].frames = frames[i];
		s->suspects[i].outer = outermost(&s->suspects[i].frames);
		s->suspects[i].argument_on_stack = is_on_main_stack(s->t, threads, s->starts[i].argument);
		look_at_start(s->t, s->node, &s->suspects[i]);
	}
	return NULL;
}

/* A thread whose start function is known by name and is not the worker's cannot be a worker. */
static bool may_be_worker(const struct suspect *s)
{
	return s->rule ? s->rule->role == RAY_ROLE_WORKER : !*s->start_symbol;
}

static void find_workers(struct state *s, struct ray_role_info *ret)
{
	uint64_t vtable = worker_vtable(s->t, s->node);
	struct ray_worker worker;

	for (size_t i = 1; i < s->count; i++) {
		struct suspect *w = &s->suspects[i];

		if (!may_be_worker(w) ||
		    !ray_worker_read(s->t, s->pointers[i], w->start.argument, vtable, ret[i].isolate, &worker))
			continue;
		w->rule = &worker_rule;
		set_worker(&worker, &ret[i]);
	}
}

static void tell(struct state *s, struct ray_role_info *ret)
{
	struct ray_isolate_slot slot;
	bool has_slot = ray_isolate_find_slot(s->t, s->node, &slot);
	int seen[RAY_COUNT(words)] = { 0 };

	for (size_t i = 0; i < s->count; i++) {
		ret[i] = (struct ray_role_info){ .worker_id = -1 };
		if (has_slot && !ray_isolate_read(s->t, &slot, s->pointers[i], &ret[i].isolate))
			ret[i].isolate = 0;
		s->suspects[i].rule = s->suspects[i].thread->tid == ray_target_pid(s->t) ? &main_rule :
											   find_rule(&s->suspects[i]);
	}
	share_rules(s->suspects, s->count);
	find_workers(s, ret);
	for (size_t i = 0; i < s->count; i++) {
		struct suspect *one = &s->suspects[i];

		if (!one->rule)
			one->rule = &other_rule;
		ret[i].role = one->rule->role;
		if (ret[i].role != RAY_ROLE_OTHER)
			ret[i].index = ++seen[ret[i].role];
		set_text(one, &ret[i]);
	}
}

struct ray_error *ray_role_find(struct ray_target *t, const struct ray_node *node, const struct ray_role_frames *frames,
				struct ray_role_info *ret)
{
	struct state s __attribute__((cleanup(state_deinit))) = { .t = t, .node = node };
	const struct ray_thread *threads = ray_target_threads(t, &s.count);
	struct ray_error *err = state_init(&s, threads, frames);

	if (err)
		return err;
	tell(&s, ret);
	return NULL;
}

void ray_role_unknown(struct ray_target *t, const struct ray_thread *thread, struct ray_role_info *ret)
{
	bool is_main = thread->tid == ray_target_pid(t);

	*ret = (struct ray_role_info){ .role = is_main ? RAY_ROLE_MAIN : RAY_ROLE_OTHER,
				       .worker_id = -1,
				       .index = is_main };
	snprintf(ret->text, sizeof(ret->text), "%s", is_main ? main_rule.text : "thread of unknown role");
}
