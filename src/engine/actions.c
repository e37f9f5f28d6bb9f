/* actions.c - what the statements of a clause ask of user space, once their record is there.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/command.h"
#include "engine/consume.h"
#include "lang/functions.h"
#include "view/socket.h"

struct call {
	struct ray_consumer *c;
	const struct ray_record *record;
	const struct ray_probe *probe;
	const struct ray_step *step;
	const struct ray_statement *statement;
	struct ray_value *values; /* one per field */
	size_t count;
};

typedef struct ray_error *action_fn(struct call *k);

/* The clause's fault, though it shows up only here. */
static void complain(struct call *k, const char *fmt, ...) RAY_PRINTF(2, 3);
static void complain(struct call *k, const char *fmt, ...)
{
	const struct ray_probe *p = k->probe;
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	ray_consumer_note(k->c, "error in dt_clause_%u for probe ID %u (%s:%s:%s:%s): %s",
			  ray_clause_number(k->c->t->program, k->record->clause, p), p->id, p->provider, p->module,
			  p->function, p->name, text);
}

/* ---- printing ---- */

/* %a and %A want a name where there is only an address. */
static void name_addresses(struct call *k, const struct ray_format *f)
{
	size_t at = 0;

	for (size_t i = 0; i < f->count; i++) {
		const struct ray_conversion *v = &f->at[i];
		struct ray_value *value;

		if (!v->letter || v->letter == '%')
			continue;
		at += !!(v->flags & RAY_FORMAT_DYNAMIC_WIDTH) + !!(v->flags & RAY_FORMAT_DYNAMIC_PRECISION);
		if (at >= k->count)
			return;
		value = &k->values[at];
		if ((v->letter == 'a' || v->letter == 'A') && value->kind == RAY_VALUE_INTEGER) {
			struct ray_text *text = &k->c->texts.at[at];

			ray_text_clear(text);
			ray_stacker_symbol(k->c->t->stacker, v->letter == 'A' ? k->record->tgid : 0, value->integer,
					   'a', text);
			value->kind = RAY_VALUE_SYMBOL;
			value->bytes = ray_text_get(text);
			value->length = text->length;
		}
		at++;
	}
}

static struct ray_error *do_printf(struct call *k)
{
	if (!k->statement->format)
		return NULL;
	if (k->c->t->settings.on_fact) {
		ray_fact_add_printf(k->c, k->statement->format, k->values, k->count);
		return NULL;
	}
	name_addresses(k, k->statement->format);
	ray_format_print(k->statement->format, k->values, k->count, &k->c->out);
	return NULL;
}

static struct ray_error *do_trace(struct call *k)
{
	for (size_t i = 0; i < k->count; i++) {
		if (k->c->t->settings.on_fact)
			ray_fact_add_value(k->c, &k->values[i]);
		else
			ray_print_traced(k->c, &k->step->fields[i], &k->values[i]);
	}
	return NULL;
}

static struct ray_error *do_tracemem(struct call *k)
{
	size_t size = k->count ? k->values[0].size : 0;

	/* A negative dynamic size means all. */
	if (k->count > 1 && (int64_t)k->values[1].integer >= 0 && k->values[1].integer < size)
		size = k->values[1].integer;
	if (k->c->t->settings.on_fact && k->count) {
		k->values[0].size = (uint32_t)size;
		ray_fact_add_value(k->c, &k->values[0]);
	} else if (size) {
		ray_print_raw(k->values[0].bytes, size, &k->c->out);
	}
	return NULL;
}

/* A string that was cut has a NUL for its last byte. */
static struct ray_error *do_tracebuf(struct call *k)
{
	bool is_text = k->statement->function->id == RAY_FN_TRACESTR;
	int64_t got = k->count > 1 ? (int64_t)k->values[0].integer : -1;
	struct ray_value v = { .kind = RAY_VALUE_BYTES, .is_char = is_text };

	if (got >= 0 && got <= k->values[1].size) {
		v.bytes = k->values[1].bytes;
		v.size = (uint32_t)got;
		v.length = v.size;
	}
	if (k->c->t->settings.on_fact)
		ray_fact_add_value(k->c, &v);
	else if (k->statement->function->id == RAY_FN_TRACESOCK)
		ray_socket_print(v.bytes, v.size, &k->c->out);
	else if (is_text && v.bytes)
		ray_text_add_bytes(&k->c->out, v.bytes, strnlen(v.bytes, v.size));
	else if (v.size)
		ray_print_raw(v.bytes, v.size, &k->c->out);
	return NULL;
}

static struct ray_error *do_print(struct call *k)
{
	const struct ray_field *f;
	size_t size;

	if (!k->count)
		return NULL;
	f = &k->step->fields[k->count - 1];
	size = k->values[k->count - 1].size;
	if (k->count > 1)
		ray_text_printf(&k->c->out, "0x%" PRIx64 " = *\n", k->values[0].integer);
	ray_print_typed(f->type, k->count > 1 ? k->values[1].bytes : &k->values[0].integer, size,
			k->c->t->options.printsize, &k->c->out);
	return NULL;
}

/* ---- aggregations ---- */

static struct ray_agg *agg_of(struct call *k)
{
	for (size_t i = 0; i < k->statement->arg_count; i++) {
		const struct ray_aggregation *a = k->statement->args[i]->aggregation;

		if (a && a->id < k->c->agg_count)
			return &k->c->aggs[a->id];
	}
	return NULL;
}

static struct ray_error *do_printa(struct call *k)
{
	return ray_agg_printa(k->c, k->statement);
}

static struct ray_error *do_clear(struct call *k)
{
	struct ray_agg *a = agg_of(k);

	return a ? ray_agg_clear(k->c, a) : NULL;
}

static struct ray_error *do_trunc(struct call *k)
{
	struct ray_agg *a = agg_of(k);

	return a ? ray_agg_trunc(k->c, a, k->count ? (int64_t)k->values[0].integer : 0) : NULL;
}

static struct ray_error *do_normalize(struct call *k)
{
	struct ray_agg *a = agg_of(k);
	int64_t normal = k->count ? (int64_t)k->values[0].integer : 1;

	if (a && normal)
		a->normal = normal;
	else if (a)
		complain(k, "cannot normalize by 0");
	return NULL;
}

/* ---- the outside ---- */

/* The last one that is seen counts: END may have another opinion than what ended the trace. */
static struct ray_error *do_exit(struct call *k)
{
	if (k->count && k->c->t->state)
		k->c->t->state->exit_code = (uint32_t)k->values[0].integer;
	return NULL;
}

static struct ray_error *do_setopt(struct call *k)
{
	ray_auto_text option = { 0 }, value = { 0 };
	struct ray_error *err;

	if (!k->count)
		return NULL;
	ray_text_add_bytes(&option, k->values[0].bytes, k->values[0].length);
	if (k->count > 1)
		ray_text_add_bytes(&value, k->values[1].bytes, k->values[1].length);
	else
		ray_text_add(&value, "1");
	err = ray_trace_option_set(&k->c->t->options, ray_text_get(&option), ray_text_get(&value), RAY_OPTION_RUNNING);
	if (err) {
		complain(k, "couldn't set option \"%s\" to \"%s\": %s\n", ray_text_get(&option), ray_text_get(&value),
			 ray_error_text(err));
		ray_error_free(err);
	}
	return NULL;
}

static void format_text(struct call *k, struct ray_text *ret)
{
	const struct ray_trace_options *o = &k->c->t->options;

	if (k->statement->format) {
		name_addresses(k, k->statement->format);
		ray_format_print(k->statement->format, k->values, k->count, ret);
	}
	if (ret->length > o->strsize) { /* as long as any string may be */
		ret->length = o->strsize;
		ret->bytes[ret->length] = '\0';
	}
}

static struct ray_error *do_system(struct call *k)
{
	ray_auto_text command = { 0 };

	format_text(k, &command);
	ray_consumer_flush(k->c);
	fflush(k->c->file);
	if (ray_command_run(ray_text_get(&command)))
		return NULL;
	if (errno == ECANCELED)
		k->c->canceled++;
	else
		complain(k, "couldn't run \"%s\": %s", ray_text_get(&command),
			 errno ? strerror(errno) : "it is still running");
	return NULL;
}

/* An empty name leads back to where output went first; the checker writes it as ".", which nobody else can. */
static struct ray_error *do_freopen(struct call *k)
{
	struct ray_consumer *c = k->c;
	ray_auto_text name = { 0 };
	FILE *f = NULL;

	format_text(k, &name);
	if (strcmp(ray_text_get(&name), ".") != 0) {
		f = fopen(ray_text_get(&name), "ae");
		if (!f) {
			complain(k, "couldn't freopen() \"%s\": %s", ray_text_get(&name), strerror(errno));
			return NULL;
		}
	}
	ray_consumer_flush(c);
	if (c->opened)
		fclose(c->opened);
	c->opened = f;
	c->file = f ? f : c->t->settings.out;
	return NULL;
}

static struct ray_error *do_ftruncate(struct call *k)
{
	ray_consumer_flush(k->c);
	fflush(k->c->file);
	if (ftruncate(fileno(k->c->file), 0) == 0)
		fseeko(k->c->file, 0, SEEK_SET);
	return NULL;
}

/* ---- dispatch ---- */

static action_fn *action_of(enum ray_function_id id)
{
	switch (id) {
	case RAY_FN_TRACE:
	case RAY_FN_STACK:
	case RAY_FN_USTACK:
	case RAY_FN_JSTACK:
	case RAY_FN_SYM:
	case RAY_FN_MOD:
	case RAY_FN_FUNC:
	case RAY_FN_USYM:
	case RAY_FN_UMOD:
	case RAY_FN_UFUNC:
	case RAY_FN_UADDR:
		return do_trace;
	case RAY_FN_PRINTF:
		return do_printf;
	case RAY_FN_PRINTA:
		return do_printa;
	case RAY_FN_PRINT:
		return do_print;
	case RAY_FN_TRACEMEM:
		return do_tracemem;
	case RAY_FN_TRACEBUF:
	case RAY_FN_TRACESTR:
	case RAY_FN_TRACESOCK:
		return do_tracebuf;
	case RAY_FN_CLEAR:
		return do_clear;
	case RAY_FN_TRUNC:
		return do_trunc;
	case RAY_FN_NORMALIZE:
	case RAY_FN_DENORMALIZE:
		return do_normalize;
	case RAY_FN_SETOPT:
		return do_setopt;
	case RAY_FN_SYSTEM:
		return do_system;
	case RAY_FN_FREOPEN:
		return do_freopen;
	case RAY_FN_FTRUNCATE:
		return do_ftruncate;
	case RAY_FN_EXIT:
		return do_exit;
	default: /* what the kernel has done already */
		return NULL;
	}
}

struct ray_error *ray_step_do(struct ray_consumer *c, const struct ray_record *r, const struct ray_probe *p,
			      const struct ray_step *step)
{
	const struct ray_statement *s = step->statement;
	struct call k = { .c = c, .record = r, .probe = p, .step = step, .statement = s };
	action_fn *action = s->kind == RAY_STATEMENT_ACTION && s->function ? action_of(s->function->id) : NULL;

	if (!action)
		return NULL;
	/* A fact keeps what the statements before it have read. */
	if (!ray_values_read(c, c->fact_values, step->fields, step->field_count, r, r->size)) {
		ray_consumer_note(c, "a record of clause %u (%u bytes) is damaged: action %u was skipped", r->clause,
				  r->size, step->action);
		return NULL;
	}
	k.values = c->values.at + c->fact_values;
	k.count = step->field_count;
	if (c->t->settings.on_fact)
		c->fact_values += step->field_count;
	return action(&k);
}
