/* asked.c - see asked.h. SPDX-License-Identifier: MIT */
#include "view/asked.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096, MOST = 1 << 18 /* operations that never end must not fill the memory */ };

struct entry {
	struct entry *next;
	uint64_t id;
	uint32_t pid;
	char *stack;
};

struct ray_asked {
	struct entry *buckets[BUCKETS];
	size_t count;
};

struct ray_asked *ray_asked_create(void)
{
	return calloc(1, sizeof(struct ray_asked));
}

static void entry_free(struct entry *e)
{
	free(e->stack);
	free(e);
}

void ray_asked_free(struct ray_asked *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (a->buckets[i]) {
			struct entry *e = a->buckets[i];

			a->buckets[i] = e->next;
			entry_free(e);
		}
	free(a);
}

/* Where the entry hangs, or would. */
static struct entry **place(struct ray_asked *a, uint32_t pid, uint64_t id)
{
	uint64_t hash = (id ^ (uint64_t)pid << 32) * 0x9e3779b97f4a7c15u;
	struct entry **at = &a->buckets[hash >> 52];

	while (*at && ((*at)->id != id || (*at)->pid != pid))
		at = &(*at)->next;
	return at;
}

const char *ray_asked_find(struct ray_asked *a, uint32_t pid, uint64_t id)
{
	const struct entry *e = *place(a, pid, id);

	return e ? e->stack : NULL;
}

char *ray_asked_take(struct ray_asked *a, uint32_t pid, uint64_t id)
{
	struct entry **at = place(a, pid, id), *e = *at;
	char *stack;

	if (!e)
		return NULL;
	*at = e->next;
	a->count--;
	stack = e->stack;
	free(e);
	return stack;
}

void ray_asked_put(struct ray_asked *a, uint32_t pid, uint64_t id, const char *stack)
{
	struct entry **at, *e;

	free(ray_asked_take(a, pid, id));
	e = a->count < MOST ? calloc(1, sizeof(*e)) : NULL;
	if (!e)
		return;
	e->pid = pid;
	e->id = id;
	e->stack = strdup(stack);
	if (!e->stack) {
		free(e);
		return;
	}
	at = place(a, pid, id);
	*at = e;
	a->count++;
}

/* Lines of a stack: "node`uv__fs_work+0x12" is native, "read (/app/x.js:3:4)" is JavaScript. */
static bool is_native(const char *line, size_t length)
{
	size_t n = 0;

	while (n < length && line[n] != '`' && line[n] != ' ' && line[n] != '(')
		n++;
	return (n < length && line[n] == '`') || !strncmp(line, "0x", 2);
}

/* The next line that is shown, without the blanks before it; NULL: that was all. With JavaScript in it, native frames are not. */
static const char *next_line(const char **at, bool shows_native, size_t *length_ret)
{
	while (**at) {
		const char *line = *at + strspn(*at, " ");
		size_t length = strcspn(line, "\n");

		*at = line + length + (line[length] == '\n');
		*length_ret = length;
		if (length && (shows_native || !is_native(line, length)))
			return line;
	}
	return NULL;
}

static bool has_javascript(const char *lines)
{
	size_t length;

	return next_line(&lines, false, &length) != NULL;
}

json_t *ray_view_stack_json(const char *lines)
{
	bool shows_native = !has_javascript(lines);
	json_t *frames = json_array();
	const char *line;
	size_t length;

	while ((line = next_line(&lines, shows_native, &length))) {
		ray_auto_memory char *copy = strndup(line, length);

		if (copy)
			json_array_append_new(frames, ray_json_text(copy));
	}
	return frames;
}

void ray_view_stack_lines(const char *lines, struct ray_text *out)
{
	bool shows_native = !has_javascript(lines);
	const char *line;
	size_t length;

	while ((line = next_line(&lines, shows_native, &length))) {
		ray_text_add(out, "    ");
		ray_text_add_safe(out, line, length);
		ray_text_add(out, "\n");
	}
}
