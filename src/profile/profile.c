/* profile.c - see profile.h. SPDX-License-Identifier: MIT
 *
 * Five tables with open addressing lead from what something is to its number; none is ever more than half full. */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256 };

struct slot {
	uint32_t hash;
	uint32_t number; /* plus 1; 0: empty */
};

struct table {
	struct slot *slots;
	size_t room, used;
};

struct ray_profile_index {
	struct table texts, functions, frames, nodes, threads;
	RAY_VEC(const char *) text_list;
};

/* ---- tables ---- */

static uint32_t mix(uint32_t hash, uint64_t word)
{
	uint64_t x = (hash ^ word) * 0x9e3779b97f4a7c15ULL;

	x ^= x >> 32;
	return (uint32_t)(x * 0xff51afd7ed558ccdULL >> 32);
}

static uint32_t hash_bytes(const char *bytes, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)bytes[i]) * 16777619u;
	return hash;
}

static bool grow(struct table *t)
{
	size_t room = t->room ? t->room * 2 : FIRST_ROOM;
	struct slot *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < t->room; i++) {
		size_t at = t->slots[i].hash & (room - 1);

		if (!t->slots[i].number)
			continue;
		while (slots[at].number)
			at = (at + 1) & (room - 1);
		slots[at] = t->slots[i];
	}
	free(t->slots);
	t->slots = slots;
	t->room = room;
	return true;
}

typedef bool same_fn(const struct ray_profile *p, uint32_t number, const void *key);

/* The slot where it is, or where it goes: then its number is 0. NULL without memory. */
static struct slot *find(const struct ray_profile *p, struct table *t, uint32_t hash, same_fn *same, const void *key)
{
	size_t at;

	if (t->used * 2 >= t->room && !grow(t))
		return NULL;
	for (at = hash & (t->room - 1); t->slots[at].number; at = (at + 1) & (t->room - 1))
		if (t->slots[at].hash == hash && same(p, t->slots[at].number - 1, key))
			break;
	return &t->slots[at];
}

static void take(struct table *t, struct slot *slot, uint32_t hash, size_t number)
{
	*slot = (struct slot){ hash, (uint32_t)number + 1 };
	t->used++;
}

static uint32_t fail(struct ray_profile *p)
{
	p->failed = true;
	return 0;
}

/* ---- all of it ---- */

struct ray_profile *ray_profile_create(void)
{
	struct ray_profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->arena = ray_arena_create();
	p->index = calloc(1, sizeof(*p->index));
	p->title = p->event = p->command = p->host = p->node_version = p->before_title = "";
	if (!p->arena || !p->index ||
	    !ray_vec_push(&p->functions, (struct ray_profile_function){ .name = "", .file = "", .package = "" }) ||
	    !ray_vec_push(&p->frames, (struct ray_profile_frame){ 0 }) ||
	    !ray_vec_push(&p->nodes, (struct ray_profile_node){ 0 })) {
		ray_profile_free(p);
		return NULL;
	}
	return p;
}

void ray_profile_free(struct ray_profile *p)
{
	if (!p)
		return;
	if (p->index) {
		free(p->index->texts.slots);
		free(p->index->functions.slots);
		free(p->index->frames.slots);
		free(p->index->nodes.slots);
		free(p->index->threads.slots);
		ray_vec_free(&p->index->text_list);
		free(p->index);
	}
	ray_arena_free(p->arena);
	ray_vec_free(&p->functions);
	ray_vec_free(&p->frames);
	ray_vec_free(&p->nodes);
	ray_vec_free(&p->threads);
	ray_vec_free(&p->samples);
	free(p);
}

/* ---- texts ---- */

struct text_key {
	const char *bytes;
	size_t length;
};

static bool same_text(const struct ray_profile *p, uint32_t number, const void *key)
{
	const struct text_key *k = key;
	const char *text = p->index->text_list.at[number];

	return !strncmp(text, k->bytes, k->length) && !text[k->length];
}

const char *ray_profile_text_n(struct ray_profile *p, const char *text, size_t length)
{
	struct text_key key = { text, text ? strnlen(text, length) : 0 };
	uint32_t hash = hash_bytes(text, key.length);
	struct ray_profile_index *index = p->index;
	struct slot *slot;
	char *copy;

	if (!key.length)
		return "";
	slot = find(p, &index->texts, hash, same_text, &key);
	if (slot && slot->number)
		return index->text_list.at[slot->number - 1];
	copy = slot ? ray_arena_copy(p->arena, text, key.length) : NULL;
	if (!copy || !ray_vec_push(&index->text_list, copy)) {
		fail(p);
		return "";
	}
	take(&index->texts, slot, hash, index->text_list.n - 1);
	return copy;
}

const char *ray_profile_text(struct ray_profile *p, const char *text)
{
	return ray_profile_text_n(p, text, text ? strlen(text) : 0);
}

/* ---- what there is once ---- */

/* Texts are kept once: the same text is the same pointer. */
static bool same_function(const struct ray_profile *p, uint32_t number, const void *key)
{
	const struct ray_profile_function *a = &p->functions.at[number], *b = key;

	return a->kind == b->kind && a->name == b->name && a->file == b->file && a->line == b->line &&
	       a->column == b->column && a->package == b->package;
}

uint32_t ray_profile_function(struct ray_profile *p, const struct ray_profile_function *f)
{
	struct ray_profile_function own = *f;
	struct slot *slot;
	uint32_t hash;

	own.name = ray_profile_text(p, f->name && *f->name ? f->name : "(anonymous)");
	own.file = ray_profile_text(p, f->file);
	own.package = ray_profile_text(p, f->package);
	hash = mix(mix(mix((uint32_t)own.kind, (uintptr_t)own.name), (uintptr_t)own.file),
		   (uint64_t)(uint32_t)own.line << 32 | (uint32_t)own.column);
	slot = find(p, &p->index->functions, hash, same_function, &own);
	if (slot && slot->number)
		return slot->number - 1;
	if (!slot || !ray_vec_push(&p->functions, own))
		return fail(p);
	take(&p->index->functions, slot, hash, p->functions.n - 1);
	return (uint32_t)p->functions.n - 1;
}

static bool same_frame(const struct ray_profile *p, uint32_t number, const void *key)
{
	const struct ray_profile_frame *a = &p->frames.at[number], *b = key;

	return a->function == b->function && a->line == b->line && a->column == b->column &&
	       a->is_inlined == b->is_inlined;
}

uint32_t ray_profile_frame(struct ray_profile *p, const struct ray_profile_frame *f)
{
	uint32_t hash = mix(mix(f->function, f->is_inlined), (uint64_t)(uint32_t)f->line << 32 | (uint32_t)f->column);
	struct slot *slot = find(p, &p->index->frames, hash, same_frame, f);

	if (slot && slot->number)
		return slot->number - 1;
	if (!slot || !ray_vec_push(&p->frames, *f))
		return fail(p);
	take(&p->index->frames, slot, hash, p->frames.n - 1);
	return (uint32_t)p->frames.n - 1;
}

static bool same_node(const struct ray_profile *p, uint32_t number, const void *key)
{
	const struct ray_profile_node *a = &p->nodes.at[number], *b = key;

	return a->parent == b->parent && a->frame == b->frame;
}

uint32_t ray_profile_node(struct ray_profile *p, uint32_t parent, uint32_t frame)
{
	struct ray_profile_node node = { parent, frame };
	uint32_t hash = mix(parent, frame);
	struct slot *slot = find(p, &p->index->nodes, hash, same_node, &node);

	if (slot && slot->number)
		return slot->number - 1;
	if (!slot || !ray_vec_push(&p->nodes, node))
		return fail(p);
	take(&p->index->nodes, slot, hash, p->nodes.n - 1);
	return (uint32_t)p->nodes.n - 1;
}

static bool same_thread(const struct ray_profile *p, uint32_t number, const void *key)
{
	const struct ray_profile_thread *a = &p->threads.at[number], *b = key;

	return a->pid == b->pid && a->tid == b->tid;
}

uint32_t ray_profile_thread(struct ray_profile *p, const struct ray_profile_thread *t)
{
	struct ray_profile_thread own = { t->pid, t->tid, ray_profile_text(p, t->name),
					  ray_profile_text(p, t->process) };
	uint32_t hash = mix(t->pid, t->tid);
	struct slot *slot = find(p, &p->index->threads, hash, same_thread, &own);
	struct ray_profile_thread *known;

	if (slot && slot->number) {
		known = &p->threads.at[slot->number - 1];
		if (!*known->name)
			known->name = own.name;
		if (!*known->process)
			known->process = own.process;
		return slot->number - 1;
	}
	if (!slot || !ray_vec_push(&p->threads, own))
		return fail(p);
	take(&p->index->threads, slot, hash, p->threads.n - 1);
	return (uint32_t)p->threads.n - 1;
}

void ray_profile_add(struct ray_profile *p, const struct ray_profile_sample *s)
{
	if (!ray_vec_push(&p->samples, *s))
		fail(p);
}

void ray_profile_describe(struct ray_profile *p, const struct ray_profile *from)
{
	p->title = ray_profile_text(p, from->title);
	p->event = ray_profile_text(p, from->event);
	p->command = ray_profile_text(p, from->command);
	p->host = ray_profile_text(p, from->host);
	p->node_version = ray_profile_text(p, from->node_version);
	p->unit = from->unit;
	p->start_ns = from->start_ns;
	p->duration_ns = from->duration_ns;
	p->period_ns = from->period_ns;
	p->lost_samples = from->lost_samples;
	p->cut_stacks = from->cut_stacks;
	p->unnamed_frames = from->unnamed_frames;
}

/* ---- checks and words ---- */

const char *ray_profile_check(const struct ray_profile *p)
{
	for (size_t i = 1; i < p->frames.n; i++)
		if (!p->frames.at[i].function || p->frames.at[i].function >= p->functions.n)
			return "a frame of no function";
	for (size_t i = 1; i < p->nodes.n; i++)
		if (!p->nodes.at[i].frame || p->nodes.at[i].frame >= p->frames.n || p->nodes.at[i].parent >= i)
			return "a call from nowhere";
	for (size_t i = 0; i < p->samples.n; i++)
		if (p->samples.at[i].node >= p->nodes.n || p->samples.at[i].thread >= p->threads.n)
			return "a sample of no thread or stack";
	return NULL;
}

static const char *const kind_words[RAY_KIND_COUNT] = {
	[RAY_KIND_JS] = "js",	  [RAY_KIND_PACKAGE] = "package",   [RAY_KIND_NODE] = "node",
	[RAY_KIND_WASM] = "wasm", [RAY_KIND_BUILTIN] = "builtin",   [RAY_KIND_NATIVE] = "native",
	[RAY_KIND_GC] = "gc",	  [RAY_KIND_COMPILER] = "compiler", [RAY_KIND_KERNEL] = "kernel",
	[RAY_KIND_IDLE] = "idle", [RAY_KIND_UNKNOWN] = "unknown",
};

const char *ray_profile_kind_word(enum ray_profile_kind kind)
{
	return kind < RAY_KIND_COUNT ? kind_words[kind] : "unknown";
}

bool ray_profile_kind_parse(const char *word, enum ray_profile_kind *ret)
{
	for (int i = 0; i < RAY_KIND_COUNT; i++) {
		if (!strcmp(word, kind_words[i])) {
			*ret = (enum ray_profile_kind)i;
			return true;
		}
	}
	return false;
}

const char *ray_profile_unit_word(enum ray_profile_unit unit)
{
	static const char *const words[] = { "samples", "nanoseconds", "bytes", "count" };

	return words[unit];
}
