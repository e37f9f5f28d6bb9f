/* syscall_parts.c - puts together what scripts/syscalls.d tells of one call. See syscall.h. SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/vec.h"
#include "view/syscall.h"

/* What one thread has told so far. */
struct thread {
	uint32_t tid;
	bool is_free;
	char name[32]; /* of the call that the parts belong to */
	struct ray_call_seen seen;
};

struct ray_calls {
	RAY_VEC(struct thread *) threads;
	struct thread *shown; /* whose call was given out */
};

struct ray_calls *ray_calls_create(void)
{
	return calloc(1, sizeof(struct ray_calls));
}

static void forget(struct ray_call_memory *m, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		m[i].is_known = false;
		ray_text_clear(&m[i].text);
	}
}

static void forget_all(struct thread *t)
{
	forget(t->seen.memory, RAY_CALL_ARGS);
	forget(t->seen.extras, RAY_CALL_EXTRAS);
	forget(t->seen.files, RAY_CALL_ARGS + 1);
	forget(t->seen.sockets, RAY_CALL_ARGS + 1);
	forget(&t->seen.stack, 1);
	t->name[0] = '\0';
}

static void release(struct ray_call_memory *m, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ray_text_deinit(&m[i].text);
}

void ray_calls_free(struct ray_calls *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->threads.n; i++) {
		release(c->threads.at[i]->seen.memory, RAY_CALL_ARGS);
		release(c->threads.at[i]->seen.extras, RAY_CALL_EXTRAS);
		release(c->threads.at[i]->seen.files, RAY_CALL_ARGS + 1);
		release(c->threads.at[i]->seen.sockets, RAY_CALL_ARGS + 1);
		release(&c->threads.at[i]->seen.stack, 1);
		free(c->threads.at[i]);
	}
	ray_vec_free(&c->threads);
	free(c);
}

/* Places are used again: threads come and go. NULL: no memory. */
static struct thread *thread_of(struct ray_calls *c, uint32_t tid)
{
	struct thread *unused = NULL;

	for (size_t i = 0; i < c->threads.n; i++) {
		if (c->threads.at[i]->is_free)
			unused = c->threads.at[i];
		else if (c->threads.at[i]->tid == tid)
			return c->threads.at[i];
	}
	if (!unused) {
		unused = calloc(1, sizeof(*unused));
		if (!unused || !ray_vec_push(&c->threads, unused)) {
			free(unused);
			return NULL;
		}
	}
	unused->tid = tid;
	unused->is_free = false;
	return unused;
}

static void keep(struct ray_call_memory *m, const struct ray_fact *f, const char *field)
{
	size_t length;
	const void *bytes = ray_fact_bytes(f, field, &length);

	ray_text_clear(&m->text);
	m->is_known = bytes != NULL;
	if (bytes)
		ray_text_add_bytes(&m->text, bytes, length);
}

static void keep_text(struct ray_call_memory *m, const char *text)
{
	ray_text_clear(&m->text);
	m->is_known = true;
	ray_text_add(&m->text, text);
}

/* Extra fields of a fact, by its name. */
static void keep_extras(struct thread *t, const struct ray_fact *f)
{
	static const char *const vectors[RAY_CALL_EXTRAS] = { "first", "second", "head", "peer" };
	static const char *const words[RAY_CALL_EXTRAS] = { "one", "two", "three", "four" };
	bool is_words = ray_fact_is(f, "words");

	for (size_t i = 0; i < RAY_CALL_EXTRAS; i++)
		if (ray_fact_find(f, is_words ? words[i] : vectors[i]))
			keep(&t->seen.extras[i], f, is_words ? words[i] : vectors[i]);
}

static void keep_part(struct thread *t, const struct ray_fact *f)
{
	size_t arg = (size_t)ray_fact_number(f, "arg");

	if (ray_fact_is(f, "stack")) {
		keep_text(&t->seen.stack, ray_fact_text(f, "frames"));
	} else if (ray_fact_is(f, "file") && arg <= RAY_CALL_ARGS) {
		keep_text(&t->seen.files[arg], ray_fact_text(f, "path"));
		keep(&t->seen.sockets[arg], f, "socket");
	} else if (ray_fact_is(f, "string") && arg < RAY_CALL_ARGS) {
		keep(&t->seen.memory[arg], f, "text");
	} else if (ray_fact_is(f, "memory") && arg < RAY_CALL_ARGS) {
		keep(&t->seen.memory[arg], f, "bytes");
	}
	keep_extras(t, f);
}

static void complete(struct ray_call_seen *s, const struct ray_fact *f, const char *name)
{
	static const char *const args[RAY_CALL_ARGS] = { "a", "b", "c", "d", "e", "f" };

	s->call = ray_syscall_find(name, strlen(name));
	s->time_ns = f->time_ns;
	s->ns = (uint64_t)ray_fact_number(f, "ns");
	s->pid = f->pid;
	s->tid = f->tid;
	s->result = ray_fact_number(f, "result");
	for (size_t i = 0; i < RAY_CALL_ARGS; i++)
		s->args[i] = (uint64_t)ray_fact_number(f, args[i]);
}

const struct ray_call_seen *ray_calls_take(struct ray_calls *c, const struct ray_fact *f)
{
	const char *name = ray_fact_text(f, "name");
	struct thread *t;

	if (c->shown) {
		forget_all(c->shown);
		c->shown->is_free = true;
		c->shown = NULL;
	}
	t = thread_of(c, f->tid);
	if (!t)
		return NULL;
	if (strcmp(t->name, name) != 0) { /* parts of a call that was not told after all */
		forget_all(t);
		snprintf(t->name, sizeof(t->name), "%s", name);
	}
	if (!ray_fact_is(f, "call")) {
		keep_part(t, f);
		return NULL;
	}
	complete(&t->seen, f, name);
	c->shown = t;
	return &t->seen;
}
