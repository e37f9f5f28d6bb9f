/* field_name.c - what a field of a record stands for and does not hold: stacks, symbols and probes by name.
 * SPDX-License-Identifier: MIT
 *
 * Knows nothing of how they are laid out when they are printed (print.c). Who calls has made sure that the bytes are there (field_value.c). */
#include <string.h>

#include "engine/consume.h"
#include "lang/functions.h"

enum { KERNEL_FRAMES = 512 }; /* more than the kernel walks */

static uint64_t word_at(const void *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, (const char *)bytes + offset, sizeof(word));
	return word;
}

static bool is_probe_part(const struct ray_field *f)
{
	return f->kind == RAY_VALUE_STRING && f->size == 8 && f->expr && f->expr->kind == RAY_EXPR_VARIABLE &&
	       f->expr->variable->builtin >= RAY_BUILTIN_PROBEPROV &&
	       f->expr->variable->builtin <= RAY_BUILTIN_PROBENAME;
}

bool ray_field_is_named(const struct ray_field *f)
{
	switch (f->kind) {
	case RAY_VALUE_STACK:
	case RAY_VALUE_USTACK:
	case RAY_VALUE_JSTACK:
	case RAY_VALUE_SYMBOL:
		return true;
	default:
		return is_probe_part(f);
	}
}

bool ray_field_is_fleeting(const struct ray_field *f)
{
	if (f->kind != RAY_VALUE_SYMBOL || !f->expr || !f->expr->function)
		return false;
	switch (f->expr->function->id) {
	case RAY_FN_USYM:
	case RAY_FN_UMOD:
	case RAY_FN_UFUNC:
	case RAY_FN_UADDR:
		return true;
	default:
		return false;
	}
}

static const char *probe_part(const struct ray_consumer *c, uint64_t id, enum ray_builtin which)
{
	const struct ray_probe *p = id <= UINT32_MAX ? ray_trace_probe(c->t, (uint32_t)id) : NULL;

	if (!p)
		return "";
	switch (which) {
	case RAY_BUILTIN_PROBEPROV:
		return p->provider;
	case RAY_BUILTIN_PROBEMOD:
		return p->module;
	case RAY_BUILTIN_PROBEFUNC:
		return p->function;
	default:
		return p->name;
	}
}

static char symbol_letter(const struct ray_field *f)
{
	switch (f->expr && f->expr->function ? f->expr->function->id : RAY_FN_SYM) {
	case RAY_FN_MOD:
	case RAY_FN_UMOD:
		return 'm';
	case RAY_FN_FUNC:
	case RAY_FN_UFUNC:
		return 'f';
	case RAY_FN_UADDR:
		return 'a';
	default:
		return 's';
	}
}

/* What looks at the kernel is no part of what is looked at. */
static void name_kernel_stack(struct ray_consumer *c, const struct ray_field *f, const void *bytes,
			      struct ray_text *out)
{
	uint32_t printed = 0;

	for (uint32_t at = 0; at + 8 <= f->size && printed < f->frames; at += 8) {
		uint64_t pc = word_at(bytes, at);

		if (!pc)
			break;
		if (!printed && at < RAY_STACK_OWN * 8 && ray_stacker_is_own(c->t->stacker, pc))
			continue;
		ray_stacker_symbol(c->t->stacker, 0, pc, 'a', out);
		ray_text_add(out, "\n");
		printed++;
	}
}

static struct ray_error *take_stack(void *arg, const void *record, size_t size)
{
	const struct ray_record *r = record;
	struct ray_consumer *c = arg;

	if (size >= sizeof(*r) && r->size <= size && r->kind == RAY_RECORD_STACK)
		ray_stacker_take(c->t->stacker, r);
	return NULL;
}

/* Keys of an aggregation are read while the ring still holds what came after this record: the stack may be among it. */
static struct ray_stack_ref find_user_stack(struct ray_consumer *c, const void *bytes)
{
	struct ray_stack_ref ref;

	memcpy(&ref, bytes, sizeof(ref));
	if (!ray_stacker_has(c->t->stacker, &ref))
		ray_error_free(ray_ring_look_ahead(&c->ring, take_stack, c));
	return ref;
}

static void name_user_stack(struct ray_consumer *c, const struct ray_field *f, const void *bytes, struct ray_text *out)
{
	struct ray_stack_ref ref = find_user_stack(c, bytes);

	ray_stacker_print(c->t->stacker, &ref, f->kind, ref.frames, out);
}

bool ray_field_is_stack(const struct ray_field *f)
{
	return f->kind == RAY_VALUE_STACK || f->kind == RAY_VALUE_USTACK || f->kind == RAY_VALUE_JSTACK;
}

const struct ray_fact_stack *ray_field_stack(struct ray_consumer *c, const struct ray_field *f, const void *bytes)
{
	uint64_t addresses[KERNEL_FRAMES];
	struct ray_stack_ref ref;
	size_t count = 0;

	if (!ray_field_is_stack(f))
		return NULL;
	if (f->kind != RAY_VALUE_STACK) {
		ref = find_user_stack(c, bytes);
		return ray_stacker_frames(c->t->stacker, &ref);
	}
	while (count < f->size / 8 && count < KERNEL_FRAMES && word_at(bytes, count * 8)) {
		addresses[count] = word_at(bytes, count * 8);
		count++;
	}
	return ray_stacker_kernel_frames(c->t->stacker, addresses, count);
}

void ray_field_name(struct ray_consumer *c, const struct ray_field *f, const void *bytes, struct ray_text *out)
{
	switch (f->kind) {
	case RAY_VALUE_STACK:
		name_kernel_stack(c, f, bytes, out);
		break;
	case RAY_VALUE_USTACK:
	case RAY_VALUE_JSTACK:
		name_user_stack(c, f, bytes, out);
		break;
	case RAY_VALUE_SYMBOL:
		ray_stacker_symbol(c->t->stacker, (uint32_t)word_at(bytes, 0), word_at(bytes, 8), symbol_letter(f),
				   out);
		break;
	default:
		if (is_probe_part(f))
			ray_text_add(out, probe_part(c, word_at(bytes, 0), f->expr->variable->builtin));
		break;
	}
}
