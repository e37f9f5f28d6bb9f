/* top_look.c - see top_look.h. SPDX-License-Identifier: MIT */
#include "cmd/top_look.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/vec.h"
#include "target/about.h"
#include "target/cpu.h"
#include "view/frame.h"

enum { TITLE_BYTES = 200, RARELY = 50 /* times what it took: looking costs 2 % at most */ };

struct known_thread {
	int tid;
	struct ray_role_info role;
};

struct process {
	uint32_t pid;
	struct ray_target *target; /* NULL: its memory cannot be read */
	struct ray_node node;
	struct ray_text title;
	uint64_t heap_limit;
	RAY_VEC(struct known_thread) threads; /* whose role is known */
	struct ray_cpu cpu;
	uint64_t next_ns; /* roles are not looked for before */
	bool is_node, is_there;
};

struct ray_top_look {
	RAY_VEC(struct process) all;
	RAY_VEC(struct ray_top_process) processes;
	RAY_VEC(struct ray_top_thread) threads;
};

struct ray_top_look *ray_top_look_create(void)
{
	return calloc(1, sizeof(struct ray_top_look));
}

static void process_free(struct process *p)
{
	ray_target_close(p->target);
	ray_text_deinit(&p->title);
	ray_vec_free(&p->threads);
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
	ray_auto_memory char *env = NULL;
	struct ray_error *err;
	size_t size = 0;

	err = ray_target_env(p->target, &env, &size);
	if (err) {
		ray_error_free(err);
		return;
	}
	for (size_t at = 0; at < size; at += strlen(env + at) + 1) {
		if (strncmp(env + at, "NODE_OPTIONS=", 13) != 0)
			continue;
		for (char *word = strtok(env + at + 13, " \t"); word; word = strtok(NULL, " \t"))
			find_limit(word, &p->heap_limit);
		return;
	}
}

static void open_process(struct process *p)
{
	struct ray_error *err;
	char name[16];

	snprintf(name, sizeof(name), "%u", p->pid);
	err = ray_target_open(&(struct ray_target_options){ .name = name }, &p->target);
	if (!err) {
		read_options(p);
		err = ray_node_identify(p->target, &p->node);
		p->is_node = !err;
	} else {
		ray_error_free(err);
		err = ray_node_identify_files((int)p->pid, &p->node);
	}
	ray_error_free(err);
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

static const struct known_thread *known(const struct process *p, int tid)
{
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.at[i].tid == tid)
			return &p->threads.at[i];
	return NULL;
}

static bool has_news(const struct process *p)
{
	for (size_t i = 0; i < p->cpu.count; i++)
		if (!known(p, p->cpu.threads[i].tid))
			return true;
	return false;
}

static void find_roles(struct process *p)
{
	ray_auto_memory struct ray_role_info *roles = NULL;
	const struct ray_thread *threads;
	struct ray_error *err = ray_target_refresh(p->target);
	size_t count;

	if (!err) {
		threads = ray_target_threads(p->target, &count);
		roles = calloc(count + 1, sizeof(*roles));
		err = roles ? ray_role_find(p->target, &p->node, NULL, roles) : &ray_enomem;
	}
	if (err) {
		ray_error_free(err);
		return;
	}
	p->threads.n = 0;
	for (size_t i = 0; i < count; i++) {
		struct known_thread thread = { threads[i].tid, roles[i] };

		if (!ray_vec_push(&p->threads, thread))
			return;
	}
}

/* Only when somebody is new: a thread keeps its role. */
static void update_roles(struct process *p)
{
	uint64_t begin = ray_clock_ns();

	if (!p->is_node || begin < p->next_ns || !has_news(p))
		return;
	find_roles(p);
	p->next_ns = ray_clock_ns() + RARELY * (ray_clock_ns() - begin);
}

static void add_thread(struct ray_top_look *l, const struct process *p, const struct ray_cpu_thread *c)
{
	const struct known_thread *k = known(p, c->tid);
	struct ray_top_thread thread = { .pid = p->pid,
					 .tid = (uint32_t)c->tid,
					 .role = (uint32_t)c->tid == p->pid ? RAY_ROLE_MAIN : RAY_ROLE_OTHER,
					 .worker = -1,
					 .name = c->name,
					 .cpu_ns = c->ns };

	if (k) {
		thread.role = k->role.role;
		thread.worker = k->role.worker_id;
		thread.name = k->role.name;
	}
	(void)ray_vec_push(&l->threads, thread); /* the next look has it */
}

static void look_at(struct ray_top_look *l, struct process *p)
{
	struct ray_top_process process = { .pid = p->pid, .version = p->node.version, .heap_limit = p->heap_limit };

	ray_cpu_deinit(&p->cpu);
	p->is_there = ray_cpu_read((int)p->pid, &p->cpu);
	if (!p->is_there)
		return;
	update_roles(p);
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
