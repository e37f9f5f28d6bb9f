/* json.bpf.h - json(): one value out of a text of JSON. SPDX-License-Identifier: MIT
 *
 * One pass over the text, a byte per step. Of all the containers that are open only the chain that the path leads into is *followed*: its
 * keys or positions are compared; whatever else is inside is only counted in and out. The text need not be whole: what comes after the value is
 * never looked at. */
#ifndef RAY_KERN_JSON_BPF_H
#define RAY_KERN_JSON_BPF_H

#include "kern/search.bpf.h"

enum { RAY_JSON_PARTS = 32, RAY_JSON_NO_INDEX = 1 << 24 };

enum ray_json_next { /* what the next value is to us */
		     RAY_JSON_SKIP,
		     RAY_JSON_FOLLOW, /* must be a container, which the next part of the path is about */
		     RAY_JSON_TARGET,
};

enum ray_json_taking { RAY_JSON_NOTHING, RAY_JSON_STRING, RAY_JSON_SCALAR, RAY_JSON_CONTAINER };

struct ray_json_part {
	__u64 at, length; /* in work string 1 */
	__u64 index;	  /* when all of it are digits; else NO_INDEX or more */
};

struct ray_json {
	__u64 part_count;
	__u64 depth;	/* containers open */
	__u64 followed; /* of them; the next part of the path is number followed - 1 */
	__u64 next;
	__u64 taking;
	__u64 start, end; /* of the value in work string 0; end 0: not found */
	__u64 in_string, is_escaped;
	__u64 is_key;	/* the string is a key of the followed container */
	__u64 is_array; /* the followed one */
	__u64 wants_key;
	__u64 matched; /* bytes of the key that agree; more than the part has: it does not */
	__u64 index;   /* in the followed array */
	struct ray_json_part parts[RAY_JSON_PARTS];
};

static __always_inline struct ray_json_part *ray_json_part(struct ray_json *j, __u64 i)
{
	RAY_OPAQUE(i);
	return &j->parts[i & (RAY_JSON_PARTS - 1)];
}

/* ---- the path: a.b[3].c ---- */

static long ray_json_path_step(__u64 i, struct ray_slot **c)
{
	struct ray_slot *s = *c;
	struct ray_json *j = ray_work(s);
	__u8 byte = ray_byte(s, ray_work_string(1) + i);
	struct ray_json_part *part = ray_json_part(j, j->part_count);

	if (!byte || byte == '.' || byte == '[' || byte == ']') {
		if (part->length && j->part_count < RAY_JSON_PARTS - 1) {
			j->part_count++;
			part = ray_json_part(j, j->part_count);
			part->length = 0;
		}
		return !byte;
	}
	if (!part->length) {
		part->at = i;
		part->index = 0;
	}
	part->length++;
	if (byte >= '0' && byte <= '9' && part->index < RAY_JSON_NO_INDEX)
		part->index = part->index * 10 + (byte - '0');
	else
		part->index = RAY_JSON_NO_INDEX;
	return 0;
}

/* ---- the text ---- */

static __always_inline void ray_json_expect(struct ray_json *j, int is_it)
{
	if (!is_it)
		j->next = RAY_JSON_SKIP;
	else
		j->next = j->followed >= j->part_count ? RAY_JSON_TARGET : RAY_JSON_FOLLOW;
}

static __always_inline void ray_json_expect_element(struct ray_json *j)
{
	ray_json_expect(j, j->index == ray_json_part(j, j->followed - 1)->index);
}

static __always_inline long ray_json_in_string(struct ray_slot *s, struct ray_json *j, __u64 i, __u8 byte)
{
	struct ray_json_part *part = ray_json_part(j, j->followed - 1);

	if (byte == '"' && !j->is_escaped) {
		j->in_string = 0;
		if (j->taking == RAY_JSON_STRING) {
			j->end = i + 1;
			return 1;
		}
		if (j->is_key && j->matched != part->length)
			j->matched = RAY_LOOPS_MAX;
		return 0;
	}
	j->is_escaped = byte == '\\' && !j->is_escaped;
	if (!j->is_key)
		return 0;
	if (j->matched < part->length && ray_byte(s, ray_work_string(1) + part->at + j->matched) == byte)
		j->matched++;
	else
		j->matched = RAY_LOOPS_MAX;
	return 0;
}

static __always_inline long ray_json_open(struct ray_json *j, __u64 i, __u8 byte)
{
	if (j->next == RAY_JSON_TARGET && !j->taking) {
		j->taking = RAY_JSON_CONTAINER;
		j->start = i;
		j->followed = j->depth; /* closed when we are back here */
	} else if (j->next == RAY_JSON_FOLLOW && !j->taking) {
		j->followed++;
		j->is_array = byte == '[';
		j->wants_key = !j->is_array;
		j->index = 0;
		j->next = RAY_JSON_SKIP;
		if (j->is_array)
			ray_json_expect_element(j);
	}
	j->depth++;
	return 0;
}

static __always_inline long ray_json_close(struct ray_json *j, __u64 i)
{
	j->depth--;
	if (j->taking == RAY_JSON_SCALAR) {
		j->end = i + 1;
		return 1;
	}
	if (j->taking == RAY_JSON_CONTAINER) {
		if (j->depth == j->followed)
			j->end = i + 2;
		return j->depth == j->followed;
	}
	return j->depth < j->followed; /* the followed one is through: it had none */
}

static __always_inline long ray_json_separator(struct ray_json *j, __u64 i, __u8 byte)
{
	if (j->taking == RAY_JSON_SCALAR) {
		j->end = i + 1;
		return 1;
	}
	if (j->depth != j->followed || j->taking)
		return 0;
	if (byte == ':') {
		j->wants_key = 0;
		ray_json_expect(j, j->matched == ray_json_part(j, j->followed - 1)->length);
	} else if (j->is_array) {
		j->index++;
		ray_json_expect_element(j);
	} else {
		j->wants_key = 1;
		j->next = RAY_JSON_SKIP;
	}
	return 0;
}

static __always_inline long ray_json_other(struct ray_json *j, __u64 i, __u8 byte)
{
	if (j->taking || j->depth != j->followed)
		return 0;
	if (byte == '"') {
		j->is_key = j->wants_key;
		j->matched = 0;
	}
	if (j->next == RAY_JSON_TARGET) {
		j->taking = byte == '"' ? RAY_JSON_STRING : RAY_JSON_SCALAR;
		j->start = byte == '"' ? i + 1 : i;
	}
	return j->next == RAY_JSON_FOLLOW; /* the path goes on, the text does not */
}

static long ray_json_step(__u64 i, struct ray_slot **c)
{
	struct ray_slot *s = *c;
	struct ray_json *j = ray_work(s);
	__u8 byte = ray_byte(s, ray_work_string(0) + i);

	if (!byte) {
		if (j->taking == RAY_JSON_SCALAR)
			j->end = i + 1;
		return 1;
	}
	if (j->in_string)
		return ray_json_in_string(s, j, i, byte);
	if (byte == '{' || byte == '[')
		return ray_json_open(j, i, byte);
	if (byte == '}' || byte == ']')
		return ray_json_close(j, i);
	if (byte == ':' || byte == ',')
		return ray_json_separator(j, i, byte);
	if (byte == ' ' || (byte >= '\t' && byte <= '\r')) {
		if (j->taking == RAY_JSON_SCALAR)
			j->end = i + 1;
		return j->taking == RAY_JSON_SCALAR;
	}
	if (byte == '"') {
		j->in_string = 1;
		j->is_escaped = 0;
		j->is_key = 0;
	}
	return ray_json_other(j, i, byte);
}

/* A string comes without its quotes (escapes stay), anything else as it is written. NULL if it is not there. */
RAY_RUNTIME __u64 ray_json(__u64 slot, __u64 dst, __u64 address, __u64 path)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_json *j;

	if (!s || ray_argument(s, 0, address) < 0 || ray_argument(s, 1, path) < 0)
		return 0;
	j = ray_work(s);
	ray_clear((char *)j, sizeof(*j));
	bpf_loop(ray_string_size(), ray_json_path_step, &s, 0);
	j->next = RAY_JSON_FOLLOW;
	if (!j->part_count)
		return 0;
	bpf_loop(ray_string_size(), ray_json_step, &s, 0);
	if (!j->end)
		return 0;
	return ray_result(s, dst, ray_work_string(0) + j->start, j->end - 1 - j->start);
}

#endif
