/* profile.c - see profile.h. SPDX-License-Identifier: MIT
 *
 * Five maps lead from what something is to its number. */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"

struct ray_profile_index {
	RAY_HASHMAP(uint32_t) functions, frames, nodes, threads;
	RAY_HASHMAP(const char *) texts;
};

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
		ray_hashmap_free(&p->index->texts);
		ray_hashmap_free(&p->index->functions);
		ray_hashmap_free(&p->index->frames);
		ray_hashmap_free(&p->index->nodes);
		ray_hashmap_free(&p->index->threads);
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

const char *ray_profile_text_n(struct ray_profile *p, const char *text, size_t length)
{
	size_t size = text ? strnlen(text, length) : 0;
	uint64_t hash = ray_hash_bytes(0, text, size);
	const char **known;
	char *copy;

	if (!size)
		return "";
	known = ray_hashmap_find(&p->index->texts, hash, one, !strncmp(*one, text, size) && !(*one)[size]);
	if (known)
		return *known;
	copy = ray_arena_copy(p->arena, text, size);
	if (copy && ray_hashmap_add(&p->index->texts, hash, copy))
		return copy;
	fail(p);
	return "";
}

const char *ray_profile_text(struct ray_profile *p, const char *text)
{
	return ray_profile_text_n(p, text, text ? strlen(text) : 0);
}

/* ---- what there is once ---- */

/* Pushes the element, and remembers its number: that of the last one. */
#define KEEP(p, list, hash, ...)                                                               \
	(ray_vec_push(&(p)->list, __VA_ARGS__) &&                                              \
			 ray_hashmap_add(&(p)->index->list, hash, (uint32_t)(p)->list.n - 1) ? \
		 (uint32_t)(p)->list.n - 1 :                                                   \
		 fail(p))

/* Texts are kept once: the same text is the same pointer. */
static bool is_same_function(const struct ray_profile_function *a, const struct ray_profile_function *b)
{
	return a->kind == b->kind && a->name == b->name && a->file == b->file && a->line == b->line &&
	       a->column == b->column && a->package == b->package;
}

uint32_t ray_profile_function(struct ray_profile *p, const struct ray_profile_function *f)
{
	struct ray_profile_function own = *f;
	const uint32_t *known;
	uint64_t hash;

	own.name = ray_profile_text(p, f->name && *f->name ? f->name : "(anonymous)");
	own.file = ray_profile_text(p, f->file);
	own.package = ray_profile_text(p, f->package);
	hash = ray_hash_pointer(ray_hash_pointer((uint64_t)own.kind, own.name), own.file);
	hash = ray_hash_word(hash, (uint64_t)(uint32_t)own.line << 32 | (uint32_t)own.column);
	known = ray_hashmap_find(&p->index->functions, hash, one, is_same_function(&p->functions.at[*one], &own));
	return known ? *known : KEEP(p, functions, hash, own);
}

static bool is_same_frame(const struct ray_profile_frame *a, const struct ray_profile_frame *b)
{
	return a->function == b->function && a->line == b->line && a->column == b->column &&
	       a->is_inlined == b->is_inlined;
}

uint32_t ray_profile_frame(struct ray_profile *p, const struct ray_profile_frame *f)
{
	uint64_t hash = ray_hash_word((uint64_t)f->function << 1 | f->is_inlined,
				      (uint64_t)(uint32_t)f->line << 32 | (uint32_t)f->column);
	const uint32_t *known = ray_hashmap_find(&p->index->frames, hash, one, is_same_frame(&p->frames.at[*one], f));

	return known ? *known : KEEP(p, frames, hash, *f);
}

uint32_t ray_profile_node(struct ray_profile *p, uint32_t parent, uint32_t frame)
{
	struct ray_profile_node node = { parent, frame };
	uint64_t hash = ray_hash_word(0, (uint64_t)parent << 32 | frame);
	const uint32_t *known = ray_hashmap_find(
		&p->index->nodes, hash, one, p->nodes.at[*one].parent == parent && p->nodes.at[*one].frame == frame);

	return known ? *known : KEEP(p, nodes, hash, node);
}

uint32_t ray_profile_thread(struct ray_profile *p, const struct ray_profile_thread *t)
{
	struct ray_profile_thread own = { t->pid, t->tid, ray_profile_text(p, t->name),
					  ray_profile_text(p, t->process) };
	uint64_t hash = ray_hash_word(0, (uint64_t)t->pid << 32 | t->tid);
	const uint32_t *number = ray_hashmap_find(
		&p->index->threads, hash, one, p->threads.at[*one].pid == t->pid && p->threads.at[*one].tid == t->tid);
	struct ray_profile_thread *known;

	if (!number)
		return KEEP(p, threads, hash, own);
	known = &p->threads.at[*number];
	if (!*known->name)
		known->name = own.name;
	if (!*known->process)
		known->process = own.process;
	return *number;
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
