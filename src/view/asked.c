/* asked.c - see asked.h. SPDX-License-Identifier: MIT */
#include "view/asked.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"

enum { MOST = 1 << 18 /* operations that never end must not fill the memory */ };

struct entry {
	uint64_t id;
	uint32_t pid;
	char *stack;
};

struct ray_asked {
	RAY_HASHMAP(struct entry) entries;
};

struct ray_asked *ray_asked_create(void)
{
	return calloc(1, sizeof(struct ray_asked));
}

void ray_asked_free(struct ray_asked *a)
{
	if (!a)
		return;
	ray_hashmap_each(&a->entries, one) free(one->stack);
	ray_hashmap_free(&a->entries);
	free(a);
}

static uint64_t hash_of(uint32_t pid, uint64_t id)
{
	return ray_hash_word(pid, id);
}

static struct entry *find(struct ray_asked *a, uint32_t pid, uint64_t id)
{
	return ray_hashmap_find(&a->entries, hash_of(pid, id), one, one->id == id && one->pid == pid);
}

const char *ray_asked_find(struct ray_asked *a, uint32_t pid, uint64_t id)
{
	const struct entry *e = find(a, pid, id);

	return e ? e->stack : NULL;
}

char *ray_asked_take(struct ray_asked *a, uint32_t pid, uint64_t id)
{
	struct entry *e = find(a, pid, id);
	char *stack;

	if (!e)
		return NULL;
	stack = e->stack;
	ray_hashmap_remove(&a->entries, e);
	return stack;
}

void ray_asked_put(struct ray_asked *a, uint32_t pid, uint64_t id, const char *stack)
{
	struct entry new = { id, pid, NULL };

	free(ray_asked_take(a, pid, id));
	if (ray_hashmap_count(&a->entries) < MOST)
		new.stack = strdup(stack);
	if (new.stack && !ray_hashmap_add(&a->entries, hash_of(pid, id), new))
		free(new.stack);
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
