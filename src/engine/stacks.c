/* stacks.c - user stacks and symbols, from ids and addresses to text. SPDX-License-Identifier: MIT */
#include "engine/stacks.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "engine/kernel_names.h"
#include "stack/name.h"
#include "view/frame.h"

/* A script that ends takes its heap down, and with it the names of its last stacks: on a busy machine only who comes first sees them.
 * Without the right to it nothing changes; children of ours do not inherit it. */
void ray_trace_hurry(void)
{
	struct sched_param none = { 0 };

	if (!sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none))
		setpriority(PRIO_PROCESS, 0, -20);
}

static void open_targets(struct ray_stacker *s)
{
	size_t count;
	const pid_t *pids = ray_catalogue_pids(s->trace->catalogue, &count);

	for (size_t i = 0; i < count; i++) {
		struct ray_stack_process *p = ray_stack_process_find(s, (uint32_t)pids[i]);

		if (p)
			ray_stack_process_tell(s, p);
	}
}

void ray_stacker_look(struct ray_stacker *s, uint32_t tgid)
{
	struct ray_stack_process *p;

	/* Afresh: what it is may depend on a library that it has only now. */
	ray_stack_process_forget(s, tgid);
	p = ray_stack_process_find(s, tgid);
	if (p)
		ray_stack_process_tell(s, p);
}

static bool has_names(const struct ray_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fields[i].kind == RAY_VALUE_USTACK || fields[i].kind == RAY_VALUE_JSTACK ||
		    fields[i].kind == RAY_VALUE_SYMBOL)
			return true;
	}
	return false;
}

static bool clause_wants_names(const struct ray_trace *t, const struct ray_clause_plan *c)
{
	for (size_t k = 0; k < c->step_count; k++)
		if (has_names(c->steps[k].fields, c->steps[k].field_count))
			return true;
	for (size_t k = 0; k < c->clause->statement_count; k++) {
		const struct ray_aggregation *a = c->clause->statements[k].aggregation;

		if (a &&
		    has_names(t->plan->aggregations[a->id].key.fields, t->plan->aggregations[a->id].key.field_count))
			return true;
	}
	return false;
}

/* Does the program show anything that only a process can name? Then targets are held at their exit. */
static bool wants_names(const struct ray_trace *t)
{
	for (size_t i = 0; i < t->program->clauses.n; i++)
		if (!ray_clause_is_off(t->program->clauses.at[i]) && clause_wants_names(t, &t->plan->clauses[i]))
			return true;
	return false;
}

/* Keys of an aggregation are read at the end: what they name must be known then. */
static bool holds_stacks(const struct ray_trace *t)
{
	for (size_t i = 0; i < t->program->clauses.n; i++) {
		const struct ray_clause *c = t->program->clauses.at[i];

		for (size_t k = 0; k < c->statement_count; k++) {
			const struct ray_aggregation *a = c->statements[k].aggregation;

			if (a && has_names(t->plan->aggregations[a->id].key.fields,
					   t->plan->aggregations[a->id].key.field_count))
				return true;
		}
	}
	return false;
}

/* Who never asks needs no program for it. */
static bool ask_kernel(void *arg, uint64_t address, char *text, size_t size)
{
	struct ray_stacker *s = arg;

	if (!s->kernel_names)
		s->kernel_names = ray_kernel_names_create();
	return s->kernel_names && ray_kernel_names_ask(s->kernel_names, address, text, size);
}

struct ray_error *ray_stacker_create(struct ray_trace *t, struct ray_stacker **ret)
{
	ray_auto(ray_stacker, s) = calloc(1, sizeof(*s));
	struct ray_error *err;

	if (!s)
		return &ray_enomem;
	s->trace = t;
	s->kernel = ray_kernel_create();
	if (!s->kernel || !ray_stack_table_init(&s->table) || !ray_stack_table_init(&s->before) ||
	    !ray_stack_known_init(&s->known))
		return &ray_enomem;
	ray_kernel_ask(s->kernel, ask_kernel, s);
	err = ray_stack_maps_create(s);
	if (err)
		return err;
	t->wants_stacks = wants_names(t);
	s->forgets = !holds_stacks(t);
	s->begun_ns = ray_clock_ns();
	s->clock_ns = ray_stack_clock(t);
	/* Other programs need no process, and start faster. */
	if (t->wants_stacks || t->maps[RAY_LINK_STACK_SCRATCH] >= 0)
		open_targets(s);
	if (t->wants_stacks && s->processes.n)
		ray_trace_hurry();
	*ret = ray_take(s);
	return NULL;
}

void ray_stacker_free(struct ray_stacker *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->processes.n; i++)
		ray_stack_process_close(s, s->processes.at[i]);
	ray_vec_free(&s->processes);
	ray_stack_maps_deinit(s);
	ray_stack_table_deinit(&s->table);
	ray_stack_table_deinit(&s->before);
	ray_stack_known_deinit(&s->known);
	ray_kernel_free(s->kernel);
	ray_kernel_names_free(s->kernel_names);
	free(s);
}

static const struct ray_stack_entry *find(const struct ray_stacker *s, uint64_t id)
{
	const struct ray_stack_entry *e = ray_stack_table_find(&s->table, id);

	return e ? e : ray_stack_table_find(&s->before, id);
}

/* ---- as frames ---- */

const struct ray_fact_stack *ray_stacker_frames(struct ray_stacker *s, const struct ray_stack_ref *ref)
{
	static const struct ray_fact_stack lost = { .is_cut = true, .is_lost = true };
	const struct ray_stack_entry *e = ref->id ? find(s, ref->id) : NULL;

	return e ? e->stack : ref->id ? &lost : NULL;
}

const struct ray_fact_stack *ray_stacker_kernel_frames(struct ray_stacker *s, const uint64_t *addresses, size_t count)
{
	size_t own = 0;

	/* What looks at the kernel is no part of what is looked at. */
	while (own < count && own < RAY_STACK_OWN && ray_stacker_is_own(s, addresses[own]))
		own++;
	return count > own ? ray_stack_kernel(s, addresses + own, count - own) : NULL;
}

/* ---- printing ---- */

bool ray_stacker_has(const struct ray_stacker *s, const struct ray_stack_ref *ref)
{
	return !ref->id || find(s, ref->id);
}

void ray_stacker_print(struct ray_stacker *s, const struct ray_stack_ref *ref, enum ray_value_kind kind,
		       uint32_t frames, struct ray_text *out)
{
	const struct ray_stack_entry *e = ref->id ? find(s, ref->id) : NULL;
	uint32_t printed = 0;

	if (ref->id && !e)
		ray_text_add(out, "<stack dropped>\n");
	for (uint32_t i = 0; e && i < e->count && printed < frames; i++) {
		if (kind == RAY_VALUE_JSTACK && e->lines[i]->is_plumbing)
			continue;
		ray_text_add(out, ray_stack_line_text(e->lines[i]));
		ray_text_add(out, "\n");
		printed++;
	}
}

static void print_kernel_symbol(struct ray_stacker *s, uint64_t address, char kind, struct ray_text *out)
{
	struct ray_kernel_symbol symbol;

	if (!ray_kernel_symbol_at(s->kernel, address, &symbol)) {
		ray_text_printf(out, "0x%" PRIx64, address);
		return;
	}
	ray_text_add(out, symbol.module);
	if (kind == 'm')
		return;
	ray_text_printf(out, "`%s", symbol.name);
	if (kind == 'a' && address > symbol.start)
		ray_text_printf(out, "+0x%" PRIx64, address - symbol.start);
}

bool ray_stacker_is_own(struct ray_stacker *s, uint64_t address)
{
	static const char *const callers[] = { "bpf_trace_run", "__bpf_trace_", "__traceiter_", "perf_trace_",
					       "trace_call_bpf" };
	struct ray_kernel_symbol symbol;

	if (!ray_kernel_symbol_at(s->kernel, address, &symbol))
		return false;
	for (size_t i = 0; i < RAY_COUNT(callers); i++) {
		if (!strncmp(symbol.name, callers[i], strlen(callers[i])))
			return true;
	}
	return !strcmp(symbol.module, "bpf");
}

/* The frame that a stack would have at this address. */
static void print_frame(struct ray_stack_process *p, uint64_t address, char kind, struct ray_text *out)
{
	struct ray_raw_frame raw = { .pc = address, .at = address, .exact = true, .leaf_offset = -1 };
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_walk walk = { .frames = { &raw, 1, 1 } };
	struct ray_stack stack = { 0 };
	const struct ray_module *m;
	struct ray_error *err;
	uint64_t vaddr;

	raw.region = ray_walk_region(p->js, address, &m, &vaddr);
	if (raw.region == RAY_WALK_JIT)
		raw.frameless = true;
	err = arena ? ray_js_forget(p->js) : &ray_enomem;
	if (!err)
		err = ray_name_frames(p->js, &walk, arena, &stack);
	if (err || !stack.count) {
		ray_error_free(err);
		ray_text_printf(out, "0x%" PRIx64, address);
		return;
	}
	if (kind == 's')
		stack.frames[0].offset = 0;
	ray_frame_line(&stack.frames[0], out);
}

void ray_stacker_symbol(struct ray_stacker *s, uint32_t tgid, uint64_t address, char kind, struct ray_text *out)
{
	struct ray_stack_process *p;
	const struct ray_map *map;

	if (kind == 'f')
		kind = 's';
	if (!tgid) {
		print_kernel_symbol(s, address, kind, out);
		return;
	}
	p = ray_stack_process_find(s, tgid);
	if (p)
		ray_stack_process_cover(p, address);
	map = p && p->target ? ray_target_find_map(p->target, address) : NULL;
	if (!map || !p->js)
		ray_text_printf(out, "0x%" PRIx64, address);
	else if (kind == 'm' && map->path[0])
		ray_text_add(out, ray_frame_module(map->path));
	else if (kind == 'm')
		ray_text_printf(out, "0x%" PRIx64, address);
	else
		print_frame(p, address, kind, out);
}
