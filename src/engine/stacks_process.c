/* stacks_process.c - the processes whose stacks were seen. SPDX-License-Identifier: MIT
 *
 * One is opened when its first stack arrives, or before the start when it was named with -p or -c, and stays open: its files are held, so that
 * symbols can be told when it has ended. Programs that are no node are named as well as node's native part. */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "engine/stacks.h"
#include "target/target.h"

enum {
	PROCESSES = 128,	  /* that are held open */
	LOOK_AGAIN_NS = 20000000, /* how long a place that is not mapped is not looked for again */
};

/* Where its stack starts, field 28 of /proc/PID/stat: 25 words after the state. 0: it has ended. */
static uint64_t read_space(uint32_t tgid)
{
	char path[64], stat[1024];
	ray_auto_file FILE *f = NULL;
	uint64_t value = 0;
	const char *at;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", tgid);
	f = fopen(path, "re");
	n = f ? fread(stat, 1, sizeof(stat) - 1, f) : 0;
	stat[n] = '\0';
	at = strrchr(stat, ')');
	for (int i = 0; at && i < 26; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at && sscanf(at, "%" SCNu64, &value) == 1 ? value : 0;
}

static void open_js(struct ray_stack_process *p, const struct ray_script_maps *maps)
{
	struct ray_error *err = ray_js_open(p->target, &p->js);

	if (err) {
		p->js = NULL;
		ray_error_free(err);
		err = ray_js_open_native(p->target, &p->js);
	}
	if (err) {
		p->js = NULL;
		ray_error_free(err);
	} else {
		p->js->script_maps = maps;
	}
}

static void open_process(struct ray_stack_process *p, const struct ray_script_maps *maps)
{
	char name[32];
	struct ray_target_options options = { .name = name };
	struct ray_error *err;

	if (!p->space || read_space(p->tgid) != p->space)
		return;
	snprintf(name, sizeof(name), "%" PRIu32, p->tgid);
	err = ray_target_open(&options, &p->target);
	if (err) {
		ray_error_free(err);
		p->target = NULL;
		return;
	}
	p->looked_ns = ray_clock_ns();
	open_js(p, maps);
	p->is_changed = true;
}

void ray_stack_process_close(struct ray_stacker *s, struct ray_stack_process *p)
{
	if (!p)
		return;
	ray_stack_maps_forget(s, p);
	ray_thread_names_forget(&p->threads);
	ray_js_close(p->js);
	ray_target_close(p->target);
	free(p);
}

static void drop(struct ray_stacker *s, size_t i)
{
	ray_stack_process_close(s, s->processes.at[i]);
	memmove(&s->processes.at[i], &s->processes.at[i + 1], (s->processes.n - i - 1) * sizeof(s->processes.at[0]));
	s->processes.n--;
}

static struct ray_stack_process *find(struct ray_stacker *s, uint32_t tgid, uint64_t space)
{
	struct ray_stack_process *p;

	for (size_t i = s->processes.n; i-- > 0;) {
		p = s->processes.at[i];
		if (p->tgid == tgid && (!space || p->space == space)) {
			p->used = ++s->clock;
			return p;
		}
	}
	return NULL;
}

/* Makes room by closing the process that was not needed longest. */
static void make_room(struct ray_stacker *s)
{
	size_t oldest = 0;

	if (s->processes.n < PROCESSES)
		return;
	for (size_t i = 1; i < s->processes.n; i++) {
		if (s->processes.at[i]->used < s->processes.at[oldest]->used)
			oldest = i;
	}
	drop(s, oldest);
}

void ray_stack_process_forget(struct ray_stacker *s, uint32_t tgid)
{
	for (size_t i = s->processes.n; i-- > 0;)
		if (s->processes.at[i]->tgid == tgid)
			drop(s, i);
}

struct ray_stack_process *ray_stack_process_get(struct ray_stacker *s, uint32_t tgid, uint64_t space)
{
	struct ray_stack_process *p = find(s, tgid, space);

	if (p)
		return p;
	make_room(s);
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->tgid = tgid;
	p->space = space;
	p->used = ++s->clock;
	if (!ray_vec_push(&s->processes, p)) {
		free(p);
		return NULL;
	}
	open_process(p, s->trace->settings.script_maps);
	return p;
}

struct ray_stack_process *ray_stack_process_find(struct ray_stacker *s, uint32_t tgid)
{
	struct ray_stack_process *p = find(s, tgid, 0);
	uint64_t space;

	if (p)
		return p;
	space = read_space(tgid);
	return space ? ray_stack_process_get(s, tgid, space) : NULL;
}

static void refresh(struct ray_stack_process *p)
{
	struct ray_error *err;

	p->looked_ns = ray_clock_ns();
	if (!p->target || read_space(p->tgid) != p->space)
		return;
	err = ray_target_refresh_maps(p->target);
	if (!err)
		p->is_changed = true;
	ray_error_free(err);
}

bool ray_stack_process_refresh(struct ray_stack_process *p)
{
	struct ray_error *err;

	if (!p->target || read_space(p->tgid) != p->space)
		return false;
	err = ray_target_refresh(p->target);
	if (err) {
		ray_error_free(err);
		return false;
	}
	p->looked_ns = ray_clock_ns();
	p->is_changed = true;
	return true;
}

static bool is_code(const struct ray_stack_process *p, uint64_t pc)
{
	const struct ray_map *map = ray_target_find_map(p->target, pc);

	return map && map->prot & PROT_EXEC;
}

void ray_stack_process_cover(struct ray_stack_process *p, uint64_t pc)
{
	if (!p->target || is_code(p, pc) || ray_clock_ns() - p->looked_ns < LOOK_AGAIN_NS)
		return;
	refresh(p);
	/* Only who looked in vain waits: workers that start together map their code one after the other. */
	if (is_code(p, pc))
		p->looked_ns = 0;
}

void ray_stack_process_tell(struct ray_stacker *s, struct ray_stack_process *p)
{
	struct ray_symbol unused;

	if (!p->is_changed || !p->js)
		return;
	p->is_changed = false;
	ray_stack_maps_push(s, p);
	/* The index of symbols is made at the first question; better now than when a stack waits. */
	if (p->js->node.module && p->js->node.module->elf)
		ray_elf_symbol_at(p->js->node.module->elf, 0, &unused);
}
