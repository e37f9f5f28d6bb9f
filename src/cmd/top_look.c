/* top_look.c - see top_look.h. SPDX-License-Identifier: MIT */
#include "cmd/top_look.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/vec.h"
#include "target/about.h"
#include "target/cpu.h"
#include "target/node.h"
#include "view/frame.h"

enum { TITLE_BYTES = 200 };

struct process {
	uint32_t pid;
	char version[32]; /* of node */
	struct ray_text title;
	uint64_t heap_limit;
	struct ray_cpu cpu;
	bool is_there;
};

struct ray_top_look {
	ray_top_role_fn *role_of;
	void *arg;
	RAY_VEC(struct process) all;
	RAY_VEC(struct ray_top_process) processes;
	RAY_VEC(struct ray_top_thread) threads;
};

struct ray_top_look *ray_top_look_create(ray_top_role_fn *role_of, void *arg)
{
	struct ray_top_look *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->role_of = role_of;
	l->arg = arg;
	return l;
}

static void process_free(struct process *p)
{
	ray_text_deinit(&p->title);
	ray_cpu_deinit(&p->cpu);
}

void ray_top_look_free(struct ray_top_look *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->all.n; i++)
		process_free(&l->all.at[i]);
	ray_vec_free(&l->all);
	ray_vec_free(&l->processes);
	ray_vec_free(&l->threads);
	free(l);
}

/* ---- who ---- */

/* --max-old-space-size=512, in whatever way it is spelt; the last one counts. */
static void find_limit(const char *word, uint64_t *ret)
{
	static const char name[] = "--max-old-space-size=";
	size_t i = 0;

	for (; name[i]; i++) {
		char letter = word[i] == '_' ? '-' : word[i];

		if (letter != name[i])
			return;
	}
	*ret = strtoull(word + i, NULL, 10) << 20;
}

/* "node server.js --port 80": the program without its directories. */
static void read_title(struct process *p)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_about about;
	struct ray_error *err = arena ? ray_about_read((int)p->pid, arena, &about) : &ray_enomem;

	if (err) {
		ray_error_free(err);
		return;
	}
	ray_text_clear(&p->title);
	for (size_t at = 0; at < about.args_size; at += strlen(about.args + at) + 1) {
		const char *word = at ? about.args + at : ray_frame_module(about.args);

		find_limit(word, &p->heap_limit);
		if (p->title.length >= TITLE_BYTES)
			continue;
		if (at)
			ray_text_add(&p->title, " ");
		ray_text_add_safe(&p->title, word, strnlen(word, TITLE_BYTES));
	}
}

/* NODE_OPTIONS is read before the command line, which overrides it. */
static void read_options(struct process *p)
{
	ray_auto_memory char *entry = NULL;
	ray_auto_file FILE *env = NULL;
	size_t size = 0;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/environ", p->pid);
	env = fopen(path, "re");
	while (env && getdelim(&entry, &size, '\0', env) > 0) {
		if (strncmp(entry, "NODE_OPTIONS=", 13) != 0)
			continue;
		for (char *word = strtok(entry + 13, " \t"); word; word = strtok(NULL, " \t"))
			find_limit(word, &p->heap_limit);
		return;
	}
}

static void open_process(struct process *p)
{
	struct ray_node node = { 0 };
	struct ray_error *err = ray_node_identify_files((int)p->pid, &node);

	if (!err)
		memcpy(p->version, node.version, sizeof(p->version));
	ray_error_free(err);
	read_options(p);
	read_title(p);
}

void ray_top_look_add(struct ray_top_look *l, uint32_t pid)
{
	struct process new = { .pid = pid };

	for (size_t i = 0; i < l->all.n; i++)
		if (l->all.at[i].pid == pid)
			return;
	open_process(&new);
	if (!ray_vec_push(&l->all, new))
		process_free(&new);
}

/* ---- threads ---- */

static void add_thread(struct ray_top_look *l, const struct process *p, struct ray_cpu_thread *c)
{
	const struct ray_role_info *role = l->role_of(l->arg, p->pid, (uint32_t)c->tid);
	struct ray_top_thread thread = { .pid = p->pid,
					 .tid = (uint32_t)c->tid,
					 .role = (uint32_t)c->tid == p->pid ? RAY_ROLE_MAIN : RAY_ROLE_OTHER,
					 .worker = -1,
					 .name = c->name,
					 .cpu_ns = c->ns };

	if (role) {
		thread.role = role->role;
		thread.worker = role->worker_id;
		snprintf(c->name, sizeof(c->name), "%s", role->name); /* a worker's; others have none */
	}
	(void)ray_vec_push(&l->threads, thread); /* the next look has it */
}

static void look_at(struct ray_top_look *l, struct process *p)
{
	struct ray_top_process process = { .pid = p->pid, .version = p->version, .heap_limit = p->heap_limit };

	ray_cpu_deinit(&p->cpu);
	p->is_there = ray_cpu_read((int)p->pid, &p->cpu);
	if (!p->is_there)
		return;
	process.title = ray_text_get(&p->title);
	process.uptime_s = p->cpu.uptime_s;
	process.rss = p->cpu.rss;
	process.cpu_ns = p->cpu.ns;
	(void)ray_vec_push(&l->processes, process);
	for (size_t i = 0; i < p->cpu.count; i++)
		add_thread(l, p, &p->cpu.threads[i]);
}

/* One that has ended may come back under the same number, as another. */
static void drop_ended(struct ray_top_look *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->all.n; i++) {
		if (l->all.at[i].is_there)
			l->all.at[kept++] = l->all.at[i];
		else
			process_free(&l->all.at[i]);
	}
	l->all.n = kept;
}

struct ray_top_moment ray_top_look_now(struct ray_top_look *l)
{
	struct ray_top_moment m = { .time_ns = ray_clock_ns() };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	m.epoch_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	l->processes.n = l->threads.n = 0;
	for (size_t i = 0; i < l->all.n; i++)
		look_at(l, &l->all.at[i]);
	drop_ended(l);
	m.processes = l->processes.at;
	m.process_count = l->processes.n;
	m.threads = l->threads.at;
	m.thread_count = l->threads.n;
	return m;
}
