/* deopt.c - see deopt.h. SPDX-License-Identifier: MIT */
#include "stack/deopt.h"

#include <stdio.h>
#include <string.h>

#include "base/auto.h"

/* What stands around the loop that moves the frame: lea rdx, [rbx + content]; jmp; here: pop [rdx]; add rdx, 8; cmp rcx, rsp; jne; push rax */
static const uint8_t loop[] = { 0x8f, 0x02, 0x48, 0x83, 0xc2, 0x08 };
static const uint8_t load_content[] = { 0x48, 0x8d, 0x93 };
static const uint8_t jump[] = { 0xe9, 0x06, 0, 0, 0 };
static const uint8_t loop_end[] = { 0x75, 0xf5, 0x50 };
/* mov rbx, [rax + input]; pop [rbx + where r15 is kept] */
static const uint8_t load_input[] = { 0x48, 0x8b, 0x58 };
static const uint8_t save_r15[] = { 0x8f, 0x83 };
static const uint8_t call[] = { 0xff, 0xd0 };			/* call rax */
static const uint8_t restore_sp[] = { 0x48, 0x8b, 0x24, 0x24 }; /* mov rsp, [rsp], after each call */
static const uint8_t leave[] = { 0xc3, 0xcc };			/* ret; what V8 puts behind */

enum {
	LOOP_COMPARE = sizeof(loop),  /* in one of two encodings */
	LOOP_BACK = LOOP_COMPARE + 3, /* jne */
	CONTENT_BEFORE = 12,	      /* bytes from there to the loop */
	INPUT_SIZE = 10,    /* bytes of the instructions that take the description's address, and r15 from the stack */
	SAVED_BEFORE = 512, /* at most from there to the loop: the other registers are in between */
	CALL_AFTER = 96,    /* at most from the loop to behind the second call */
	RESTORE_AFTER = 16, /* at most between a call and the restored stack pointer */
	FROM_BEFORE = 128,  /* at most to the first call */
	BUILTIN_AFTER = 1024,			 /* at most from the loop to its end */
	R15_TO_RBP = (15 - 5) * 8,		 /* registers are kept by their numbers */
	MOST_INPUT = RAY_DEOPT_OBJECT_WORDS * 8, /* as much of a Deoptimizer as is looked at */
	MOST_CONTENT = 4096,
	MOST_SAVED = 2048,
};

static bool is_at(const uint8_t *code, size_t size, size_t at, const uint8_t *bytes, size_t count)
{
	return at <= size && size - at >= count && !memcmp(code + at, bytes, count);
}

#define IS_AT(code, size, at, bytes) is_at(code, size, at, bytes, sizeof(bytes))

static uint32_t number_at(const uint8_t *code)
{
	uint32_t value;

	memcpy(&value, code, sizeof(value));
	return value;
}

/* The last place before `from`, at most `most` bytes away, that has these bytes. */
static bool find_before(const uint8_t *code, size_t from, size_t most, const uint8_t *bytes, size_t count, size_t *ret)
{
	for (size_t back = count; back <= most && back <= from; back++) {
		if (memcmp(code + from - back, bytes, count))
			continue;
		*ret = from - back;
		return true;
	}
	return false;
}

/* Where the call returns to whose stack pointer is restored at `restored`. */
static bool find_call(const uint8_t *code, size_t restored, uint64_t *ret)
{
	size_t at;

	if (!find_before(code, restored, RESTORE_AFTER, call, sizeof(call), &at))
		return false;
	*ret = at + sizeof(call);
	return true;
}

/* mov some register, [rsp + where the address is, above the registers, that called the builtin]: the last of its kind before the call. */
static bool find_from(const uint8_t *code, size_t made, uint32_t *ret)
{
	for (size_t back = 8; back <= FROM_BEFORE && back <= made; back++) {
		const uint8_t *b = code + made - back;

		if (b[0] != 0x48 || b[1] != 0x8b || (b[2] & 0xc7) != 0x84 || b[3] != 0x24)
			continue;
		*ret = number_at(b + 4);
		return true;
	}
	return false;
}

/* The last place before `from` where the description's address is taken from the object, and then r15 from the stack. */
static bool find_input(const uint8_t *code, size_t from, size_t *ret)
{
	for (size_t back = INPUT_SIZE; back <= SAVED_BEFORE && back <= from; back++) {
		const uint8_t *b = code + from - back;

		if (memcmp(b, load_input, sizeof(load_input)) || memcmp(b + 4, save_r15, sizeof(save_r15)))
			continue;
		*ret = from - back;
		return true;
	}
	return false;
}

/* The first call, and what follows it: the object's description of the frame, and how that keeps registers. */
static bool decode_first(const uint8_t *code, size_t at, struct ray_deopt_entry *entry,
			 struct ray_deopt_distances *distances)
{
	size_t input, restored;
	uint32_t r15;

	if (!find_input(code, at, &input) ||
	    !find_before(code, input, RESTORE_AFTER, restore_sp, sizeof(restore_sp), &restored) ||
	    !find_call(code, restored, &entry->made) || !find_from(code, entry->made, &distances->from))
		return false;
	r15 = number_at(code + input + 6);
	distances->input = code[input + 3];
	distances->fp = r15 - R15_TO_RBP;
	return r15 >= R15_TO_RBP && r15 < MOST_CONTENT;
}

/* The second call, and the end. */
static bool decode_second(const uint8_t *code, size_t size, size_t at, struct ray_deopt_entry *entry)
{
	size_t restored = at, end;

	while (!IS_AT(code, size, restored, restore_sp))
		if (++restored - at > CALL_AFTER || restored >= size)
			return false;
	if (!find_call(code, restored, &entry->computed) || entry->computed <= at)
		return false;
	for (end = restored; end < size && end - at < BUILTIN_AFTER && !IS_AT(code, size, end, leave); end++)
		;
	entry->end = end;
	return true;
}

static bool is_plausible(const struct ray_deopt_distances *l)
{
	return !((l->input | l->content | l->fp | l->from) & 7) && l->input && l->input < MOST_INPUT &&
	       l->content <= MOST_CONTENT && l->fp && l->fp < l->content && l->from && l->from <= MOST_SAVED;
}

/* The loop is at `at`: is the rest as it should be? */
static bool decode_at(const uint8_t *code, size_t size, size_t at, struct ray_deopt_entry *entry,
		      struct ray_deopt_distances *distances)
{
	size_t content = at - CONTENT_BEFORE;

	if (at < CONTENT_BEFORE + 16 || !IS_AT(code, size, content, load_content) ||
	    !IS_AT(code, size, at - sizeof(jump), jump) || !IS_AT(code, size, at + LOOP_BACK, loop_end))
		return false;
	*distances = (struct ray_deopt_distances){ .content = number_at(code + content + sizeof(load_content)) };
	*entry = (struct ray_deopt_entry){ .moving = at };
	return decode_first(code, content, entry, distances) &&
	       decode_second(code, size, at + LOOP_BACK + sizeof(loop_end), entry) && is_plausible(distances);
}

bool ray_deopt_decode(const uint8_t *code, size_t size, size_t *at, struct ray_deopt_entry *entry,
		      struct ray_deopt_distances *distances)
{
	while (*at < size) {
		const uint8_t *found = memmem(code + *at, size - *at, loop, sizeof(loop));

		if (!found)
			break;
		*at = (size_t)(found - code) + 1;
		if (decode_at(code, size, *at - 1, entry, distances))
			return true;
	}
	*at = size;
	return false;
}

/* All of them must say the same. */
static bool add_entries(struct ray_deopt *d, const uint8_t *code, size_t size, uint64_t vaddr)
{
	struct ray_deopt_distances distances;
	struct ray_deopt_entry e;
	size_t at = 0;

	while (ray_deopt_decode(code, size, &at, &e, &distances)) {
		if (d->count == RAY_COUNT(d->entries) ||
		    (d->count && memcmp(&distances, &d->distances, sizeof(distances))))
			return false;
		d->distances = distances;
		d->entries[d->count++] =
			(struct ray_deopt_entry){ e.made + vaddr, e.moving + vaddr, e.computed + vaddr, e.end + vaddr };
	}
	return true;
}

static bool add_symbols(struct ray_elf *e, struct ray_deopt *d)
{
	static const char *const names[] = { "Eager", "Soft", "Bailout", "Lazy", "Unused" };
	enum { MOST = 8192 };
	uint8_t code[MOST];
	struct ray_symbol s;
	char name[64];
	bool ok = true;

	for (size_t i = 0; i < RAY_COUNT(names) && ok; i++) {
		snprintf(name, sizeof(name), "Builtins_DeoptimizationEntry_%s", names[i]);
		if (!ray_elf_find_symbol(e, name, &s))
			continue;
		ok = s.size <= sizeof(code) && ray_elf_read(e, s.value, code, s.size) == s.size &&
		     add_entries(d, code, s.size, s.value);
	}
	return ok;
}

void ray_deopt_read(struct ray_elf *e, struct ray_deopt *ret)
{
	const void *code;
	uint64_t vaddr;
	size_t size;
	bool ok;

	memset(ret, 0, sizeof(*ret));
	if (!ray_elf_is_stripped(e))
		ok = add_symbols(e, ret);
	else
		ok = ray_elf_section(e, ".text", &code, &size, &vaddr) && add_entries(ret, code, size, vaddr);
	if (!ok)
		ret->count = 0;
}

bool ray_deopt_has(const struct ray_deopt *d, uint64_t vaddr)
{
	for (size_t i = 0; i < d->count; i++)
		if (vaddr >= d->entries[i].made - 1 && vaddr < d->entries[i].end)
			return true;
	return false;
}

bool ray_deopt_is_moved(const struct ray_deopt *d, uint64_t vaddr)
{
	for (size_t i = 0; i < d->count; i++)
		if (vaddr >= d->entries[i].moving && vaddr < d->entries[i].end)
			return true;
	return false;
}
