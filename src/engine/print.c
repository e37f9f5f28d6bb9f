/* print.c - values out of records and keys, and the columns of trace() and of tuples.
 * SPDX-License-Identifier: MIT
 *
 * A field says what its bytes are; nothing here trusts that they are whole. Widths are those of the reference, by
 * the size of the type. */
#include <ctype.h>
#include <inttypes.h>
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

/* ---- names ---- */

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

static bool is_stack(const struct ray_field *f)
{
	return f->kind == RAY_VALUE_STACK || f->kind == RAY_VALUE_USTACK || f->kind == RAY_VALUE_JSTACK;
}

const struct ray_fact_stack *ray_field_stack(struct ray_consumer *c, const struct ray_field *f, const void *bytes)
{
	uint64_t addresses[KERNEL_FRAMES];
	struct ray_stack_ref ref;
	size_t count = 0;

	if (!is_stack(f))
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

/* ---- values ---- */

static bool is_char_array(const struct ray_type *type)
{
	const struct ray_type *element;

	if (!type || type->kind != RAY_TYPE_ARRAY)
		return false;
	element = ray_type_resolve(type->target);
	return element->kind == RAY_TYPE_INTEGER && element->size == 1;
}

void ray_field_value(const struct ray_field *f, const void *bytes, const char *name, size_t name_length,
		     struct ray_value *ret)
{
	const struct ray_type *type = f->type ? ray_type_resolve(f->type) : NULL;

	*ret = (struct ray_value){ .kind = f->kind, .bytes = bytes, .size = f->size };
	if (name) {
		ret->bytes = name;
		ret->length = name_length;
		if (f->kind == RAY_VALUE_STRING) /* with its NUL, as strings of records have it */
			ret->size = (uint32_t)name_length + 1;
		return;
	}
	if (type && type->kind == RAY_TYPE_FLOAT) {
		ret->kind = RAY_VALUE_FLOAT;
		ret->size = (uint32_t)type->size;
	}
	switch (ret->kind) {
	case RAY_VALUE_INTEGER:
		ret->integer = word_at(bytes, 0);
		ret->size = type && type->size && type->size <= 8 ? (uint32_t)type->size : 8;
		ret->is_signed = type && ray_type_is_signed(type);
		ret->is_pointer = type && type->kind == RAY_TYPE_POINTER;
		ret->is_char = type && type->kind == RAY_TYPE_INTEGER && type->flags & RAY_TYPE_CHAR;
		break;
	case RAY_VALUE_STRING:
		ret->length = strnlen(bytes, f->size);
		break;
	case RAY_VALUE_BYTES:
		ret->is_char = is_char_array(type);
		ret->length = f->size;
		break;
	default:
		break;
	}
}

/* Memory of alloca() is nowhere: its address is shown as a distance, from 8 on, as DTrace does. */
static void show_scratch(const struct ray_plan *plan, struct ray_value *v)
{
	if (v->kind == RAY_VALUE_INTEGER && v->is_pointer && (v->integer & RAY_SCRATCH_MASK) == RAY_SCRATCH)
		v->integer = (uint32_t)v->integer - plan->scratch_at + 8;
}

static bool grow(struct ray_consumer *c, size_t count)
{
	while (c->values.n < count)
		if (!ray_vec_push(&c->values, (struct ray_value){ 0 }))
			return false;
	while (c->texts.n < count)
		if (!ray_vec_push(&c->texts, (struct ray_text){ 0 }))
			return false;
	return true;
}

/* Where a packed value's bytes are; NULL: the record is damaged. */
static const char *unpack(const struct ray_field *f, const void *bytes, size_t size, uint32_t *size_ret)
{
	struct ray_packed p;

	if (f->offset > size || sizeof(p) > size - f->offset)
		return NULL;
	memcpy(&p, (const char *)bytes + f->offset, sizeof(p));
	if (p.size > f->size || p.at > size || p.size > size - p.at)
		return NULL;
	*size_ret = p.size;
	return (const char *)bytes + p.at;
}

static uint32_t least_size(const struct ray_field *f)
{
	switch (f->kind) {
	case RAY_VALUE_INTEGER:
	case RAY_VALUE_FLOAT:
		return 8;
	case RAY_VALUE_USTACK:
	case RAY_VALUE_JSTACK:
		return sizeof(struct ray_stack_ref);
	case RAY_VALUE_SYMBOL:
		return 16;
	default:
		return f->size;
	}
}

static bool holds(const struct ray_field *f, size_t size)
{
	uint32_t need = f->size > least_size(f) ? f->size : least_size(f);

	return f->offset <= size && need <= size - f->offset;
}

bool ray_values_read(struct ray_consumer *c, size_t first, const struct ray_field *fields, size_t count,
		     const void *bytes, size_t size)
{
	if (!grow(c, first + count))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct ray_field *f = &fields[i];
		const char *at = (const char *)bytes + f->offset;
		struct ray_text *text = &c->texts.at[first + i];
		struct ray_field whole = *f;

		if (f->is_packed) {
			at = unpack(f, bytes, size, &whole.size);
			if (!at)
				return false;
		} else if (!holds(f, size)) {
			return false;
		}
		ray_text_clear(text);
		if (ray_field_is_named(f) && !(c->t->settings.wants_frames && is_stack(f)))
			ray_field_name(c, &whole, at, text);
		ray_field_value(&whole, at, ray_field_is_named(f) ? ray_text_get(text) : NULL, text->length,
				&c->values.at[first + i]);
		if (c->t->settings.on_fact)
			c->values.at[first + i].stack = ray_field_stack(c, &whole, at);
		show_scratch(c->t->plan, &c->values.at[first + i]);
	}
	return true;
}

/* ---- layouts ---- */

void ray_print_raw(const void *bytes, size_t size, struct ray_text *out)
{
	const unsigned char *b = bytes;

	if (!size)
		return;
	ray_text_printf(out, "\n%11s", "");
	for (int i = 0; i < 16; i++)
		ray_text_printf(out, "  %x", i);
	ray_text_add(out, "  0123456789abcdef\n");
	for (size_t line = 0; line < size; line += 16) {
		size_t n = size - line < 16 ? size - line : 16;

		ray_text_printf(out, "%5s%5zx:", "", line);
		for (size_t i = 0; i < 16; i++) {
			if (i < n)
				ray_text_printf(out, " %02x", b[line + i]);
			else
				ray_text_add(out, "   ");
		}
		ray_text_add(out, "  ");
		for (size_t i = 0; i < n; i++)
			ray_text_printf(out, "%c", b[line + i] < ' ' || b[line + i] > '~' ? '.' : b[line + i]);
		ray_text_add(out, "\n");
	}
}

void ray_print_stack(const struct ray_value *v, uint32_t indent, struct ray_text *out)
{
	const char *line = v->bytes, *end = line + v->length;

	ray_text_add(out, "\n");
	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((newline ? newline : end) - line);

		ray_text_printf(out, "%*s", (int)indent, "");
		ray_text_add_bytes(out, line, length);
		ray_text_add(out, "\n");
		line += length + 1;
	}
}

static void print_padded(const char *text, size_t length, int width, struct ray_text *out)
{
	ray_text_add(out, "  ");
	ray_text_add_bytes(out, text, length);
	if ((size_t)width > length)
		ray_text_printf(out, "%*s", width - (int)length, "");
}

/* Stacks and symbols look the same everywhere; false: it is neither. */
static bool print_named(struct ray_consumer *c, const struct ray_value *v, struct ray_text *out)
{
	switch (v->kind) {
	case RAY_VALUE_STACK:
	case RAY_VALUE_USTACK:
	case RAY_VALUE_JSTACK:
		ray_print_stack(v, c->t->options.stackindent, out);
		return true;
	case RAY_VALUE_SYMBOL:
		print_padded(v->bytes, v->length, 50, out);
		return true;
	default:
		return false;
	}
}

static void print_traced_integer(const struct ray_value *v, bool is_quiet, struct ray_text *out)
{
	int width = v->size == 8 ? 20 - v->is_signed : v->size == 4 ? 10 : v->size == 2 ? 5 : 3;

	if (!is_quiet)
		ray_text_add(out, " ");
	if (v->is_signed)
		ray_text_printf(out, "%*" PRId64, is_quiet ? 0 : width, (int64_t)v->integer);
	else
		ray_text_printf(out, "%*" PRIu64, is_quiet ? 0 : width, v->integer);
}

void ray_print_traced(struct ray_consumer *c, const struct ray_field *f, const struct ray_value *v)
{
	bool is_quiet = c->t->options.quiet;
	bool is_text = v->kind == RAY_VALUE_STRING || (v->kind == RAY_VALUE_BYTES && v->is_char);
	struct ray_text *out = &c->out;

	(void)f;
	if (print_named(c, v, out))
		return;
	if (c->t->options.rawbytes && v->kind == RAY_VALUE_INTEGER)
		ray_print_raw(&v->integer, v->size, out);
	else if (c->t->options.rawbytes)
		ray_print_raw(v->bytes, v->kind == RAY_VALUE_STRING ? c->t->options.strsize + 1 : v->size, out);
	else if (v->kind == RAY_VALUE_INTEGER)
		print_traced_integer(v, is_quiet, out);
	else if (is_text && is_quiet)
		ray_text_add_bytes(out, v->bytes, strnlen(v->bytes, v->length));
	else if (is_text)
		print_padded(v->bytes, strnlen(v->bytes, v->length), 33, out);
	else
		ray_print_raw(v->bytes, v->size, out);
}

static bool is_readable(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char b = (unsigned char)text[i];

		if (!isprint(b) && !isspace(b) && b != '\b' && b != '\a' && b < 0x80)
			return false;
	}
	return true;
}

/* Bytes that read as a text, with nothing but NULs behind it. */
static bool is_text_bytes(const struct ray_value *v, size_t *length)
{
	const char *bytes = v->bytes;

	*length = strnlen(bytes, v->size);
	if (!*length)
		return false;
	for (size_t i = *length; i < v->size; i++)
		if (bytes[i])
			return false;
	return is_readable(bytes, *length);
}

void ray_print_key(struct ray_consumer *c, const struct ray_field *f, const struct ray_value *v, struct ray_text *out)
{
	size_t length;

	(void)f;
	if (print_named(c, v, out))
		return;
	switch (v->kind) {
	case RAY_VALUE_INTEGER:
		if (v->size == 8)
			ray_text_printf(out, " %16lld", (long long)v->integer);
		else if (v->size == 4)
			ray_text_printf(out, " %8d", (int32_t)v->integer);
		else if (v->size == 2)
			ray_text_printf(out, " %5d", (uint16_t)v->integer);
		else
			ray_text_printf(out, " %3d", (uint8_t)v->integer);
		return;
	case RAY_VALUE_STRING:
		if (!c->t->options.rawbytes && is_readable(v->bytes, v->length))
			print_padded(v->bytes, v->length, 50, out);
		else
			ray_print_raw(v->bytes, v->length, out);
		return;
	default:
		if (!c->t->options.rawbytes && v->kind == RAY_VALUE_BYTES && is_text_bytes(v, &length))
			print_padded(v->bytes, length, 50, out);
		else
			ray_print_raw(v->bytes, v->size, out);
		return;
	}
}
