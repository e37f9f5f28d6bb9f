/* node_names.c - see node_names.h. SPDX-License-Identifier: MIT */
#include "probe/node_names.h"

#include <elf.h>
#include <string.h>

#include "base/auto.h"
#include "base/hashmap.h"

/* Names are found by how they begin: by few letters if they are short, else by so many that the thousands of functions of
 * v8::internal fall apart. */
enum { SHORT_KEY = 4, LONG_KEY = 24 };

struct search {
	struct ray_node_name *names;
	RAY_HASHMAP(uint32_t) short_keys, long_keys; /* numbers of names, several under one key */
};

/* What may follow a name in a symbol of the same function. Whatever else begins with a dot is only a piece of one. */
static const struct {
	const char *suffix;
	bool is_clone;
} suffixes[] = {
	{ ".constprop.", true }, { ".isra.", true },   { ".lto_priv.", false },
	{ ".llvm.", false },	 { ".__uniq", false }, { ".localalias", false },
};

/* Passes over suffixes; false at one that is none of these. */
static bool is_whole(const char *tail, bool *is_clone_ret)
{
	size_t i;

	*is_clone_ret = false;
	while (*tail == '.') {
		for (i = 0; i < RAY_COUNT(suffixes); i++)
			if (!strncmp(tail, suffixes[i].suffix, strlen(suffixes[i].suffix)))
				break;
		if (i == RAY_COUNT(suffixes))
			return false;
		*is_clone_ret |= suffixes[i].is_clone;
		tail += strlen(suffixes[i].suffix);
		tail += strcspn(tail, ".@");
	}
	return !*tail || *tail == '@';
}

bool ray_node_name_is(const char *name, const char *symbol, bool *is_clone_ret)
{
	size_t length = strlen(name);
	bool is_prefix = length && name[length - 1] == '*';

	length -= is_prefix;
	if (strncmp(name, symbol, length))
		return false;
	symbol += length;
	return is_whole(is_prefix ? symbol + strcspn(symbol, ".@") : symbol, is_clone_ret);
}

/* Two names of one address are one body. A plain body goes to the front. */
static void add_body(struct ray_node_name *name, const struct ray_node_body *body)
{
	for (size_t i = 0; i < name->count; i++)
		if (name->bodies[i].vaddr == body->vaddr) {
			if (name->bodies[i].is_clone && !body->is_clone)
				name->bodies[i] = *body;
			return;
		}
	if (name->count == RAY_NODE_BODIES)
		return;
	name->bodies[name->count++] = *body;
	if (!body->is_clone && name->bodies[0].is_clone) {
		name->bodies[name->count - 1] = name->bodies[0];
		name->bodies[0] = *body;
	}
}

static bool is_function(const struct ray_symbol *s)
{
	return (s->type == STT_FUNC || s->type == STT_GNU_IFUNC) && s->value && s->size;
}

static void try_name(struct ray_node_name *name, const struct ray_symbol *s)
{
	struct ray_node_body body = { s->name, s->value, s->size, false };

	if (ray_node_name_is(name->name, s->name, &body.is_clone))
		add_body(name, &body);
}

static bool look_at(const struct ray_symbol *s, void *arg)
{
	struct search *search = arg;
	size_t length = strnlen(s->name, LONG_KEY);

	if (length < SHORT_KEY || !is_function(s))
		return true;
	ray_hashmap_each_of(&search->short_keys, ray_hash_bytes(0, s->name, SHORT_KEY), one)
		try_name(&search->names[*one], s);
	if (length < LONG_KEY)
		return true;
	ray_hashmap_each_of(&search->long_keys, ray_hash_bytes(0, s->name, LONG_KEY), one)
		try_name(&search->names[*one], s);
	return true;
}

static bool search_for(struct search *search, size_t index)
{
	const char *name = search->names[index].name;
	size_t length = strcspn(name, "*");

	if (length < SHORT_KEY)
		return true;
	if (length >= LONG_KEY)
		return ray_hashmap_add(&search->long_keys, ray_hash_bytes(0, name, LONG_KEY), (uint32_t)index);
	return ray_hashmap_add(&search->short_keys, ray_hash_bytes(0, name, SHORT_KEY), (uint32_t)index);
}

/* An exported function is its own only body, unless the compiler made copies: those are found in the pass, if there is one. */
static bool find_exported(struct ray_elf *e, struct ray_node_name *name)
{
	struct ray_symbol s;

	if (strchr(name->name, '*') || !ray_elf_find_dynamic(e, name->name, &s) || !is_function(&s))
		return false;
	add_body(name, &(struct ray_node_body){ s.name, s.value, s.size, false });
	return true;
}

static bool find_all(struct ray_elf *e, struct search *search, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ray_node_name *name = &search->names[i];

		name->count = 0;
		/* C is not cloned when it is exported, or not in a way that matters: the exported body is what others call. */
		if (find_exported(e, name) && strncmp(name->name, "_Z", 2))
			continue;
		if (!search_for(search, i))
			return false;
	}
	if (ray_hashmap_count(&search->short_keys) || ray_hashmap_count(&search->long_keys))
		ray_elf_each_symbol(e, look_at, search);
	return true;
}

struct ray_error *ray_node_names_find(struct ray_elf *e, struct ray_node_name *names, size_t count)
{
	struct search search = { .names = names };
	bool is_done = find_all(e, &search, count);

	ray_hashmap_free(&search.short_keys);
	ray_hashmap_free(&search.long_keys);
	return is_done ? NULL : &ray_enomem;
}
