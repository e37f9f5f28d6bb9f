/* consume.c - records to text: heads, statements, faults. See consume.h.
 * SPDX-License-Identifier: MIT
 *
 * A record carries its clause's number; the plan says what lies where in it and which statements are due, in their
 * order. Nothing of a record is believed: one whose size or clause cannot be is told and skipped. */
#include "engine/consume.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/interrupt.h"

enum {
	FLUSH_AT = 256 * 1024,
	TURN_NS =
		100000000, /* naming may be slower than what comes: whoever waits for the end, or for Ctrl-C, has a turn, too */
};

void ray_consumer_flush(struct ray_consumer *c)
{
	bool is_cut = c->out.failed;

	if (c->out.length)
		fwrite(c->out.bytes, 1, c->out.length, c->file);
	ray_text_clear(&c->out);
	c->out.failed = 0;
	if (is_cut)
		ray_consumer_note(c, "no memory: some of the output is missing");
}

void ray_consumer_note(struct ray_consumer *c, const char *fmt, ...)
{
	FILE *notes = c->t->settings.notes;
	va_list args;

	/* On a terminal both must stay in order. */
	ray_consumer_flush(c);
	fflush(c->file);
	fprintf(notes, "%s: ", c->t->settings.progname);
	va_start(args, fmt);
	vfprintf(notes, fmt, args);
	va_end(args);
	fputc('\n', notes);
}

/* ---- heads ---- */

enum flow { FLOW_NONE, FLOW_ENTRY, FLOW_RETURN };

static bool ends_with_word(const char *name, const char *word)
{
	size_t n = strlen(name), w = strlen(word);

	return n >= w && strcmp(name + n - w, word) == 0 && (n == w || name[n - w - 1] == '-');
}

static struct ray_flow *flow_of(struct ray_consumer *c, uint32_t tid)
{
	for (size_t i = 0; i < c->flows.n; i++)
		if (c->flows.at[i].tid == tid)
			return &c->flows.at[i];
	return ray_vec_push(&c->flows, (struct ray_flow){ tid, 0 }) ? &c->flows.at[c->flows.n - 1] : NULL;
}

/* Threads have each their own depth: one ring mixes them. */
static void print_flow_head(struct ray_consumer *c, const struct ray_record *r, const struct ray_probe *p)
{
	bool is_syscall = strcmp(p->provider, "syscall") == 0;
	struct ray_flow *f = flow_of(c, r->tid);
	const char *prefix = "| ";
	enum flow flow = FLOW_NONE;
	ray_auto_text name = { 0 };
	struct ray_flow spare = { 0 };

	if (!f)
		f = &spare;
	if (ends_with_word(p->name, "entry")) {
		flow = FLOW_ENTRY;
		prefix = is_syscall ? " => " : " -> ";
	} else if (ends_with_word(p->name, "return")) {
		flow = FLOW_RETURN;
		prefix = is_syscall ? " <= " : " <- ";
	}
	/* A second clause of the same firing goes no deeper. */
	if (flow == FLOW_ENTRY && r->probe == c->last_probe && r->clause != c->last_clause) {
		flow = FLOW_NONE;
		prefix = "| ";
	}
	if (flow == FLOW_RETURN && f->indent > 0)
		f->indent -= 2;
	ray_text_printf(&name, "%*s%s%s", f->indent, "", prefix, p->function);
	if (flow == FLOW_NONE)
		ray_text_printf(&name, ":%s", p->name);
	if (!c->t->settings.is_testing)
		ray_text_printf(&c->out, "%3u ", r->cpu);
	ray_text_printf(&c->out, "%-41s ", ray_text_get(&name));
	if (flow == FLOW_ENTRY)
		f->indent += 2;
	if (!f->indent && f != &spare) /* threads come and go: only those that are inside something are kept */
		*f = c->flows.at[--c->flows.n];
}

static void print_heading(struct ray_consumer *c)
{
	const struct ray_trace_options *o = &c->t->options;
	const char *cpu = c->t->settings.is_testing ? "" : "CPU ";

	c->has_heading = true;
	if (o->flowindent)
		ray_text_printf(&c->out, "%s%-41s\n", cpu, "FUNCTION");
	else if (!o->quiet)
		ray_text_printf(&c->out, "%s%s%32s\n", cpu, *cpu ? "    ID " : "", "FUNCTION:NAME");
}

static void print_head(struct ray_consumer *c, const struct ray_record *r, const struct ray_probe *p)
{
	ray_auto_text name = { 0 };

	if (!c->has_heading)
		print_heading(c);
	if (c->t->options.flowindent) {
		print_flow_head(c, r, p);
		return;
	}
	if (c->t->options.quiet)
		return;
	ray_text_printf(&name, "%s:%s", p->function, p->name);
	if (!c->t->settings.is_testing)
		ray_text_printf(&c->out, "%3u %6u ", r->cpu, p->id);
	ray_text_printf(&c->out, "%32s ", ray_text_get(&name));
}

/* ---- records ---- */

static struct ray_error *damaged(struct ray_consumer *c, const struct ray_record *r)
{
	ray_consumer_note(c, "a record of clause %u (%u bytes) is damaged and was skipped", r->clause, r->size);
	return NULL;
}

struct ray_error *ray_consume_data(struct ray_consumer *c, const struct ray_record *r)
{
	const struct ray_plan *plan = c->t->plan;
	const struct ray_probe *p = ray_trace_probe(c->t, r->probe);
	const struct ray_clause_plan *clause;
	struct ray_error *err = NULL;

	if (!p || r->clause >= plan->program->clauses.n)
		return damaged(c, r);
	clause = &plan->clauses[r->clause];
	if (r->size < clause->sent_size)
		return damaged(c, r);
	c->printing = r;
	c->fact_values = 0;
	if (c->t->settings.on_fact)
		ray_fact_begin(c);
	else
		print_head(c, r, p);
	for (size_t i = 0; i < clause->step_count && !err; i++)
		err = ray_step_do(c, r, p, &clause->steps[i]);
	c->printing = NULL;
	if (c->t->settings.on_fact)
		ray_fact_end(c, r);
	else if (!c->t->options.quiet)
		ray_text_add(&c->out, "\n");
	c->last_probe = r->probe;
	c->last_clause = r->clause;
	return err;
}

static const char *fault_text(uint32_t fault)
{
	static const char *const texts[] = {
		[RAY_FAULT_BADADDR] = "invalid address",
		[RAY_FAULT_BADALIGN] = "invalid alignment",
		[RAY_FAULT_ILLOP] = "illegal operation",
		[RAY_FAULT_DIVZERO] = "divide-by-zero",
		[RAY_FAULT_NOSCRATCH] = "out of scratch space",
		[RAY_FAULT_KPRIV] = "invalid kernel access",
		[RAY_FAULT_UPRIV] = "invalid user access",
		[RAY_FAULT_TUPOFLOW] = "tuple stack overflow",
		[RAY_FAULT_BADSTACK] = "bad stack",
		[RAY_FAULT_BADSIZE] = "invalid size",
		[RAY_FAULT_BADINDEX] = "index out of bounds",
		[RAY_FAULT_LIBRARY] = "library-level fault",
	};

	return fault < sizeof(texts) / sizeof(texts[0]) && texts[fault] ? texts[fault] : "unknown fault";
}

static struct ray_error *consume_error(struct ray_consumer *c, const struct ray_record *r)
{
	const struct ray_record_error *e = (const struct ray_record_error *)r;
	const struct ray_probe *p = ray_trace_probe(c->t, r->probe);
	char value[32] = "";

	if (r->size < sizeof(*e) || !p)
		return damaged(c, r);
	switch (e->fault) {
	case RAY_FAULT_BADADDR:
		if (e->value == UINT64_MAX)
			break;
		/* fall through */
	case RAY_FAULT_BADALIGN:
	case RAY_FAULT_BADSTACK:
	case RAY_FAULT_BADSIZE:
		snprintf(value, sizeof(value), " (0x%llx)", (unsigned long long)e->value);
		break;
	case RAY_FAULT_BADINDEX:
		snprintf(value, sizeof(value), " (%lld)", (long long)e->value);
		break;
	default:
		break;
	}
	ray_consumer_note(c, "error in dt_clause_%u for probe ID %u (%s:%s:%s:%s): %s%s at BPF pc %u",
			  ray_clause_number(c->t->program, r->clause, p), p->id, p->provider, p->module, p->function,
			  p->name, fault_text(e->fault), value, e->pc);
	return NULL;
}

static struct ray_error *take_record(void *arg, const void *record, size_t size)
{
	struct ray_consumer *c = arg;
	const struct ray_record *r = record;
	struct ray_error *err = NULL;

	if (size < sizeof(*r) || r->size < sizeof(*r) || r->size > size) {
		ray_consumer_note(c, "a record of %zu bytes is damaged and was skipped", size);
		return NULL;
	}
	switch (r->kind) {
	case RAY_RECORD_DATA:
		if (r->speculation)
			ray_speculation_hold(c, r);
		else
			err = ray_consume_data(c, r);
		break;
	case RAY_RECORD_ERROR:
		err = consume_error(c, r);
		break;
	case RAY_RECORD_STACK:
		ray_stacker_take(c->t->stacker, r);
		break;
	case RAY_RECORD_COMMIT:
		err = ray_speculation_commit(c, r->speculation);
		break;
	case RAY_RECORD_DISCARD:
		ray_speculation_discard(c, r->speculation);
		break;
	default:
		break;
	}
	if (c->out.length > FLUSH_AT)
		ray_consumer_flush(c);
	return err;
}

/* ---- life ---- */

/* The reference counts 8 bytes of its buffer for each record, and always has room for a fault's. */
static bool fits_buffer(const struct ray_trace *t)
{
	uint32_t most = RAY_RECORD_HEAD_EXTRA + 56;

	for (size_t i = 0; i < t->plan->program->clauses.n; i++)
		if (t->plan->clauses[i].record_size > most)
			most = t->plan->clauses[i].record_size;
	return t->options.bufsize + RAY_RECORD_HEAD_EXTRA >= most + 8;
}

struct ray_error *ray_consumer_create(struct ray_trace *t, struct ray_consumer **ret)
{
	struct ray_consumer *c;
	struct ray_error *err;

	if (!fits_buffer(t))
		return ray_error_new(RAY_FAILED, "could not enable tracing: Enabling exceeds size of buffer");
	c = calloc(1, sizeof(*c));
	if (!c)
		return &ray_enomem;
	c->t = t;
	c->file = t->settings.out;
	c->last_probe = c->last_clause = UINT32_MAX;
	if (t->options.debug)
		fprintf(t->settings.notes, "noderay DEBUG %llu: a buffer of %u bytes, %zu programs, %zu points\n",
			(unsigned long long)time(NULL), t->ring_size, t->entries.n, t->points.n);
	err = ray_ring_open(t->maps[RAY_LINK_RING], t->ring_size, &c->ring);
	if (!err)
		err = ray_aggs_create(c);
	if (err) {
		ray_consumer_free(c);
		return err;
	}
	*ret = c;
	return NULL;
}

void ray_consumer_free(struct ray_consumer *c)
{
	if (!c)
		return;
	ray_ring_close(&c->ring);
	ray_aggs_free(c);
	ray_speculations_free(c);
	ray_text_deinit(&c->out);
	ray_vec_free(&c->flows);
	ray_vec_free(&c->values);
	for (size_t i = 0; i < c->texts.n; i++)
		ray_text_deinit(&c->texts.at[i]);
	ray_vec_free(&c->texts);
	ray_facts_free(c);
	if (c->opened)
		fclose(c->opened);
	free(c);
}

static bool holds_records(const struct ray_consumer *c)
{
	for (size_t i = 0; i < c->speculations.n; i++)
		if (c->speculations.at[i].size)
			return true;
	return false;
}

/* Shares of the second that noderay has after a terminating signal. */
static const uint32_t signal_ms[] = { [RAY_DRAIN_END] = 400, [RAY_DRAIN_AFTER_END] = 600 };

struct ray_error *ray_consumer_drain(struct ray_consumer *c, enum ray_drain how)
{
	bool is_end = how == RAY_DRAIN_END || how == RAY_DRAIN_AFTER_END;
	struct ray_ring_limit limit = { .end_ns = how == RAY_DRAIN_TURN ? ray_clock_ns() + TURN_NS : 0,
					.signal_ms = is_end ? signal_ms[how] : 0 };
	struct ray_error *err = ray_ring_take(&c->ring, &limit, take_record, c);

	if (is_end && ray_interrupt_elapsed(limit.signal_ms))
		c->unread += ray_ring_skip(&c->ring);

	if (!holds_records(c))
		ray_stacker_age(c->t->stacker);

	if (!err)
		err = ray_aggs_name(c);
	if (!err)
		err = ray_aggs_end_epochs(c);
	ray_consumer_flush(c);
	if (c->opened)
		fflush(c->opened);
	return err;
}

struct ray_error *ray_consumer_finish(struct ray_consumer *c)
{
	struct ray_error *err = NULL;

	if (!c->t->settings.on_fact) { /* what a view is to be told, its script prints */
		ray_text_add(&c->out, "\n");
		err = ray_aggs_dump(c);
	}
	ray_consumer_flush(c);
	ray_consumer_tell_drops(c);
	return err;
}
