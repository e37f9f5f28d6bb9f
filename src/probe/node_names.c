/* node_names.c - see node_names.h. SPDX-License-Identifier: MIT */
#include "probe/node_names.h"

#include <elf.h>
#include <string.h>

#include "base/auto.h"

/* Names are put into buckets by how they begin: in few letters if they are short, else in so many that the thousands of
 * functions of v8::internal fall apart. */
enum { SHORT_KEY = 4, LONG_KEY = 24, BUCKETS = 1024 };

struct search {
	struct ray_node_name *names;
	size_t *next; /* in the same bucket, plus 1 */
	size_t short_keys[BUCKETS], long_keys[BUCKETS];
	size_t left;
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

static size_t bucket(const char *text, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
	return (hash ^ hash >> 32) % BUCKETS;
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

static void try_bucket(struct search *search, size_t first, const struct ray_symbol *s)
{
	struct ray_node_body body = { s->name, s->value, s->size, false };

	for (; first; first = search->next[first - 1])
		if (ray_node_name_is(search->names[first - 1].name, s->name, &body.is_clone))
			add_body(&search->names[first - 1], &body);
}

static bool look_at(const struct ray_symbol *s, void *arg)
{
	struct search *search = arg;
	size_t length = strnlen(s->name, LONG_KEY);

	if (length < SHORT_KEY || !is_function(s))
		return true;
	try_bucket(search, search->short_keys[bucket(s->name, SHORT_KEY)], s);
	if (length == LONG_KEY)
		try_bucket(search, search->long_keys[bucket(s->name, LONG_KEY)], s);
	return true;
}

static void put_into_bucket(struct search *search, size_t index)
{
	const char *name = search->names[index].name;
	size_t length = strcspn(name, "*");
	size_t *head;

	if (length < SHORT_KEY)
		return;
	if (length >= LONG_KEY)
		head = &search->long_keys[bucket(name, LONG_KEY)];
	else
		head = &search->short_keys[bucket(name, SHORT_KEY)];
	search->next[index] = *head;
	*head = index + 1;
	search->left++;
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

struct ray_error *ray_node_names_find(struct ray_elf *e, struct ray_node_name *names, size_t count)
{
	ray_auto_memory struct search *search = calloc(1, sizeof(*search));
	ray_auto_memory size_t *next = calloc(count + 1, sizeof(*next));

	if (!search || !next)
		return &ray_enomem;
	search->names = names;
	search->next = next;
	for (size_t i = 0; i < count; i++) {
		names[i].count = 0;
		/* C is not cloned when it is exported, or not in a way that matters: the exported body is what others call. */
		if (!find_exported(e, &names[i]) || !strncmp(names[i].name, "_Z", 2))
			put_into_bucket(search, i);
	}
	if (search->left)
		ray_elf_each_symbol(e, look_at, search);
	return NULL;
}
