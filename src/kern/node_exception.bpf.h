/* node_exception.bpf.h - exceptions as they are thrown, and what they say: strings of V8, read in the kernel.
 * SPDX-License-Identifier: MIT
 *
 * V8 moves its objects, so what an exception says is read at once or never. Where things lie in them the process's own V8 has told (struct ray_watched, v8): without
 * that there is no text. The message is the object's own property of that name, if it is a plain one; of a string that is thrown, the string. */
#ifndef RAY_KERN_NODE_EXCEPTION_BPF_H
#define RAY_KERN_NODE_EXCEPTION_BPF_H

#include "kern/node.bpf.h"

enum {
	RAY_JS_PARTS = 32, /* of a string that are still to be copied: the second halves on the way down to the first */
	RAY_JS_UNITS = 128,   /* copied at once */
	RAY_JS_STEPS = 1024,  /* a string that is a ring has no end */
	RAY_JS_ENTRY = 24,    /* key, details, value; in a dictionary key, value, details */
	RAY_JS_ENTRIES = 512, /* of an object that are looked at */
	RAY_JS_TEXT = sizeof(((struct ray_node_area *)0)->text),
};

#define RAY_V8_AT(w, name) ((__u32)(w)->v8[RAY_NODE_V8_##name])

struct ray_js_part {
	__u64 string;
	__u32 from, count;
};

/* In the work area. */
struct ray_js_text {
	__u32 depth;
	__u32 used; /* bytes of the event area's text */
	__u32 high; /* the first half of a character that has two */
	__u32 is_narrow;
	struct ray_js_part parts[RAY_JS_PARTS];
	__u16 units[RAY_JS_UNITS];
};

struct ray_js_loop {
	struct ray_slot *s;
	const struct ray_watched *w;
	__u64 entries;
	__u64 value;
	__u32 details;
	__u8 is_dictionary, is_found;
};

/* ---- objects ---- */

static __always_inline __u64 ray_js_word(__u64 object, __u64 offset)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)(object - 1 + offset));
	return value;
}

static __always_inline __u32 ray_js_u32(__u64 object, __u64 offset)
{
	__u32 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)(object - 1 + offset));
	return value;
}

static __always_inline __u8 ray_js_byte(__u64 object, __u64 offset)
{
	__u8 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)(object - 1 + offset));
	return value;
}

/* Its instance type; ~0 if it is no object. */
static __always_inline __u32 ray_js_type(const struct ray_watched *w, __u64 object)
{
	__u64 map = object & 1 ? ray_js_word(object, 0) : 0;
	__u16 type = 0;

	if (!(map & 1) || bpf_probe_read_user(&type, sizeof(type), (void *)(map - 1 + RAY_V8_AT(w, MAP_INSTANCE_TYPE))))
		return ~0U;
	return type;
}

static __always_inline int ray_js_is_string(const struct ray_watched *w, __u64 object)
{
	return ray_js_type(w, object) < RAY_V8_AT(w, FIRST_NONSTRING);
}

/* ---- text ---- */

static __always_inline void ray_js_put(struct ray_slot *s, struct ray_js_text *t, __u32 byte)
{
	__u64 at = t->used;

	RAY_OPAQUE(at);
	if (at >= RAY_JS_TEXT - 1)
		return;
	ray_node_area(s)->text[at] = byte;
	t->used = at + 1;
}

/* In UTF-8. What does not fit whole is left out. */
static __always_inline void ray_js_put_character(struct ray_slot *s, struct ray_js_text *t, __u32 c)
{
	__u32 size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (t->used + size > RAY_JS_TEXT - 1) {
		t->used = RAY_JS_TEXT - 1;
		return;
	}
	if (size == 1) {
		ray_js_put(s, t, c);
		return;
	}
	ray_js_put(s, t, (size == 2 ? 0xc0 : size == 3 ? 0xe0 : 0xf0) | c >> (6 * (size - 1) & 31));
	if (size > 3)
		ray_js_put(s, t, 0x80 | (c >> 12 & 0x3f));
	if (size > 2)
		ray_js_put(s, t, 0x80 | (c >> 6 & 0x3f));
	ray_js_put(s, t, 0x80 | (c & 0x3f));
}

static long ray_js_unit_step(__u64 i, struct ray_js_loop *c)
{
	struct ray_js_text *t = ray_work(c->s);
	__u32 unit = t->is_narrow ? ((__u8 *)t->units)[i & (RAY_JS_UNITS - 1)] : t->units[i & (RAY_JS_UNITS - 1)];

	if (unit >= 0xd800 && unit < 0xdc00) {
		t->high = unit;
		return 0;
	}
	if (unit >= 0xdc00 && unit < 0xe000 && t->high)
		unit = 0x10000 + ((t->high - 0xd800) << 10 | (unit - 0xdc00));
	t->high = 0;
	ray_js_put_character(c->s, t, unit);
	return 0;
}

static __always_inline void ray_js_push(struct ray_js_text *t, __u64 string, __u32 from, __u32 count)
{
	__u64 at = t->depth;

	RAY_OPAQUE(at);
	if (at >= RAY_JS_PARTS || !count)
		return;
	t->parts[at].string = string;
	t->parts[at].from = from;
	t->parts[at].count = count;
	t->depth = at + 1;
}

/* Units that lie one behind the other; what is more than fits is for the next step. */
static __always_inline void ray_js_copy(struct ray_js_loop *c, struct ray_js_text *t, const struct ray_js_part *p,
					__u32 type)
{
	int is_narrow = (type & RAY_V8_AT(c->w, STRING_ENCODING_MASK)) == RAY_V8_AT(c->w, ONE_BYTE_TAG);
	__u64 at = p->string - 1 + (is_narrow ? RAY_V8_AT(c->w, SEQ_ONE_CHARS) : RAY_V8_AT(c->w, SEQ_TWO_CHARS));
	__u32 count = p->count;
	__u64 size;

	if ((type & RAY_V8_AT(c->w, STRING_REPRESENTATION_MASK)) == RAY_V8_AT(c->w, EXTERNAL_TAG))
		at = ray_js_word(p->string, RAY_V8_AT(c->w, EXTERNAL_DATA));
	if (count > RAY_JS_UNITS) {
		ray_js_push(t, p->string, p->from + RAY_JS_UNITS, count - RAY_JS_UNITS);
		count = RAY_JS_UNITS;
	}
	t->is_narrow = is_narrow;
	size = is_narrow ? count : 2 * count;
	RAY_OPAQUE(size);
	if (size > sizeof(t->units) ||
	    bpf_probe_read_user(t->units, size, (void *)(at + (is_narrow ? p->from : 2 * (__u64)p->from))))
		return;
	bpf_loop(count, ray_js_unit_step, c, 0);
}

static long ray_js_part_step(__u64 i, struct ray_js_loop *c)
{
	struct ray_js_text *t = ray_work(c->s);
	__u64 at = t->depth - 1, other;
	__u32 type, shape, length;
	struct ray_js_part p;

	(void)i;
	RAY_OPAQUE(at);
	if (at >= RAY_JS_PARTS)
		return 1;
	t->depth = at;
	p = t->parts[at];
	type = ray_js_type(c->w, p.string);
	if (type >= RAY_V8_AT(c->w, FIRST_NONSTRING))
		return 1;
	if (t->used >= RAY_JS_TEXT - 1) {
		ray_node_was_cut();
		return 1;
	}
	shape = type & RAY_V8_AT(c->w, STRING_REPRESENTATION_MASK);
	if (shape == RAY_V8_AT(c->w, CONS_TAG)) {
		other = ray_js_word(p.string, RAY_V8_AT(c->w, CONS_SECOND));
		ray_js_push(t, other, 0, ray_js_u32(other, RAY_V8_AT(c->w, STRING_LENGTH)));
		other = ray_js_word(p.string, RAY_V8_AT(c->w, CONS_FIRST));
		length = ray_js_u32(other, RAY_V8_AT(c->w, STRING_LENGTH));
		ray_js_push(t, other, 0, length);
	} else if (shape == RAY_V8_AT(c->w, THIN_TAG)) {
		ray_js_push(t, ray_js_word(p.string, RAY_V8_AT(c->w, THIN_ACTUAL)), p.from, p.count);
	} else if (shape == RAY_V8_AT(c->w, SLICED_TAG)) {
		ray_js_push(t, ray_js_word(p.string, RAY_V8_AT(c->w, SLICED_PARENT)),
			    p.from + (ray_js_word(p.string, RAY_V8_AT(c->w, SLICED_OFFSET)) >> 32), p.count);
	} else {
		ray_js_copy(c, t, &p, type);
	}
	return 0;
}

/* The string, to the event area's text. */
static __always_inline void ray_js_text_make(struct ray_js_loop *c, __u64 string)
{
	struct ray_js_text *t = ray_work(c->s);

	t->depth = t->used = t->high = 0;
	ray_js_push(t, string, 0, ray_js_u32(string, RAY_V8_AT(c->w, STRING_LENGTH)));
	bpf_loop(RAY_JS_STEPS, ray_js_part_step, c, 0);
	ray_node_area(c->s)->text[t->used & (RAY_JS_TEXT - 1)] = 0;
}

/* ---- properties ---- */

static long ray_js_entry_step(__u64 i, struct ray_js_loop *c)
{
	__u64 words[3], name = 0;

	if (bpf_probe_read_user(words, sizeof(words), (void *)(c->entries + i * RAY_JS_ENTRY)))
		return 1;
	if (!ray_js_is_string(c->w, words[0]) || ray_js_u32(words[0], RAY_V8_AT(c->w, STRING_LENGTH)) != 7)
		return 0;
	bpf_probe_read_user(&name, 7, (void *)(words[0] - 1 + RAY_V8_AT(c->w, SEQ_ONE_CHARS)));
	if (name != 0x6567617373656dULL) /* "message" */
		return 0;
	c->details = (c->is_dictionary ? words[2] : words[1]) >> 32;
	c->value = c->is_dictionary ? words[1] : words[2];
	c->is_found = 1;
	return 1;
}

/* Where a property is that lies in the object or in its array. */
static __always_inline __u64 ray_js_field(const struct ray_js_loop *c, __u64 object, __u64 map)
{
	__u32 index = (c->details & RAY_V8_AT(c->w, PROP_INDEX_MASK)) >> (RAY_V8_AT(c->w, PROP_INDEX_SHIFT) & 31);
	__u32 size = ray_js_byte(map, RAY_V8_AT(c->w, MAP_INSTANCE_SIZE));
	__u32 start = ray_js_byte(map, RAY_V8_AT(c->w, MAP_INOBJECT_START));
	__u32 inside = size > start ? size - start : 0;

	if (index < inside)
		return ray_js_word(object, 8 * (start + index));
	return ray_js_word(ray_js_word(object, RAY_V8_AT(c->w, PROPERTIES)),
			   RAY_V8_AT(c->w, ARRAY_DATA) + 8 * (index - inside));
}

/* Where the names of its properties are, and how many. */
static __always_inline __u32 ray_js_entries(struct ray_js_loop *c, __u64 object, __u64 map)
{
	__u32 bits = ray_js_u32(map, RAY_V8_AT(c->w, MAP_BIT_FIELD3)), first;
	__u64 table;

	c->is_dictionary = bits >> (RAY_V8_AT(c->w, DICTIONARY_SHIFT) & 31) & 1;
	if (!c->is_dictionary) {
		c->entries =
			ray_js_word(map, RAY_V8_AT(c->w, MAP_DESCRIPTORS)) - 1 + RAY_V8_AT(c->w, DESCRIPTORS_HEADER);
		return (bits & RAY_V8_AT(c->w, OWN_DESCRIPTORS_MASK)) >> (RAY_V8_AT(c->w, OWN_DESCRIPTORS_SHIFT) & 31);
	}
	table = ray_js_word(object, RAY_V8_AT(c->w, PROPERTIES));
	first = RAY_V8_AT(c->w, DICTIONARY_PREFIX_START) + RAY_V8_AT(c->w, DICTIONARY_PREFIX_SIZE);
	c->entries = table - 1 + RAY_V8_AT(c->w, ARRAY_DATA) + 8 * first;
	/* Its capacity is right before the prefix. */
	return ray_js_word(table, RAY_V8_AT(c->w, ARRAY_DATA) + 8 * (RAY_V8_AT(c->w, DICTIONARY_PREFIX_START) - 1)) >>
	       32;
}

/* The value of the object's own message; 0 if it has none, or another one than a plain value. */
static __always_inline __u64 ray_js_message(struct ray_js_loop *c, __u64 object)
{
	__u64 map = ray_js_word(object, 0);
	__u32 count = ray_js_entries(c, object, map);

	bpf_loop(count < RAY_JS_ENTRIES ? count : RAY_JS_ENTRIES, ray_js_entry_step, c, 0);
	if (!c->is_found || c->details & RAY_V8_AT(c->w, PROP_KIND_MASK))
		return 0;
	if (c->is_dictionary || c->details & RAY_V8_AT(c->w, PROP_LOCATION_MASK))
		return c->value;
	return ray_js_field(c, object, map);
}

/* Isolate::Throw(this, exception, location), Isolate::ThrowInternal in older ones: once for each, wherever it comes from */
RAY_RUNTIME __u64 ray_on_throw(__u64 slot, __u64 step)
{
	struct ray_js_loop c = { .s = ray_slot_get(slot), .w = ray_watched_get() };
	__u64 object;

	if (!c.s || !c.w || step)
		return 0;
	object = c.s->hook_args[1];
	ray_node_area(c.s)->text[0] = 0;
	c.s->args[0] = RAY_AREA_ADDRESS(text);
	c.s->args[1] = object;
	if (!c.w->v8[RAY_NODE_V8_FIRST_NONSTRING] || !(object & 1))
		return RAY_EVENT_EXCEPTION_THROW;
	if (!ray_js_is_string(c.w, object))
		object = ray_js_message(&c, object);
	if (object && ray_js_is_string(c.w, object))
		ray_js_text_make(&c, object);
	return RAY_EVENT_EXCEPTION_THROW;
}

#endif
