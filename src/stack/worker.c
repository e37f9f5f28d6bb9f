/* worker.c - see worker.h. SPDX-License-Identifier: MIT */
#include "stack/worker.h"

#include <string.h>

enum {
	WORDS = 96,	/* how far the members are looked for; they lie within 0x140 bytes up to node 26 */
	ID_WITHIN = 32, /* words from the pthread_t to the id; 11 to 14 up to node 26 */
	MAX_ID = 1 << 30,
};

struct object {
	uint64_t address;
	uint64_t word[WORDS];
	size_t count;
};

/* The word that holds the pthread_t, 0 if none does. */
static size_t find_thread(const struct object *o, uint64_t pointer, uint64_t isolate)
{
	for (size_t i = 2; i < o->count; i++) {
		uint64_t before = o->word[i - 1];

		/* A worker that starts or ends has no isolate. */
		if (o->word[i] == pointer && (!before || !isolate || before == isolate))
			return i;
	}
	return 0;
}

static bool is_id(struct ray_target *t, const struct object *o, size_t i, uint64_t pointer)
{
	const struct ray_map *stack = ray_target_find_map(t, pointer);
	uint64_t id = o->word[i], base = o->word[i + 1];

	return stack && id > 0 && id < MAX_ID && base >= stack->start && base < pointer;
}

/* 0 if there is none or if there are several. */
static size_t find_id(struct ray_target *t, const struct object *o, size_t thread, uint64_t pointer)
{
	size_t found = 0;

	for (size_t i = thread + 1; i + 1 < o->count && i <= thread + ID_WITHIN; i++) {
		if (!is_id(t, o, i, pointer))
			continue;
		if (found)
			return 0;
		found = i;
	}
	return found;
}

/* A std::string of libstdc++ follows in node 18 and up: pointer, length, and short text in place. */
static void read_name(struct ray_target *t, const struct object *o, size_t i, char *name, size_t size)
{
	uint64_t bytes, length, want;
	char text[64];

	if (i + 4 > o->count)
		return;
	bytes = o->word[i];
	length = o->word[i + 1];
	if (!length || length > 4096 || (length < 16) != (bytes == o->address + (i + 2) * 8))
		return;
	want = length < size ? length : size - 1;
	if (ray_target_read(t, bytes + length, text, 1) != 1 || text[0] ||
	    ray_target_read(t, bytes, text, want) != want || memchr(text, 0, want))
		return;
	memcpy(name, text, want);
	name[want] = '\0';
}

bool ray_worker_read(struct ray_target *t, uint64_t pointer, uint64_t object, uint64_t vtable, uint64_t isolate,
		     struct ray_worker *ret)
{
	struct object o = { .address = object };
	struct ray_worker worker = { 0 };
	size_t thread, id;

	_Static_assert(sizeof(worker.name) <= 64, "read_name() copies through 64 bytes");
	if (!object || object % 8)
		return false;
	o.count = ray_target_read(t, object, o.word, sizeof(o.word)) / 8;
	if (!o.count || (vtable && o.word[0] != vtable))
		return false;
	thread = find_thread(&o, pointer, isolate);
	id = thread ? find_id(t, &o, thread, pointer) : 0;
	if (!id)
		return false;
	worker.id = (int)o.word[id];
	read_name(t, &o, id + 2, worker.name, sizeof(worker.name));
	*ret = worker;
	return true;
}
