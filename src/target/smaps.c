/* smaps.c - see smaps.h. SPDX-License-Identifier: MIT */
#include "target/smaps.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/json.h"
#include "base/search.h"
#include "base/text.h"
#include "base/vec.h"
#include "target/stop.h"

enum { MAX_ROWS = 1 << 20 };

struct list {
	RAY_VEC(struct ray_smap) maps;
};

static const struct {
	char name[3];
	enum ray_smap_flag flag;
} flag_names[] = {
	{ "dd", RAY_SMAP_DONTDUMP }, { "io", RAY_SMAP_IO },	    { "pf", RAY_SMAP_PFNMAP },
	{ "dc", RAY_SMAP_DONTCOPY }, { "wf", RAY_SMAP_WIPEONFORK }, { "ht", RAY_SMAP_HUGETLB },
};

static unsigned parse_flags(const char *p)
{
	unsigned flags = 0;

	for (; *p; p++) {
		if (isspace((unsigned char)*p))
			continue;
		for (size_t i = 0; i < RAY_COUNT(flag_names); i++)
			if (p[0] == flag_names[i].name[0] && p[1] == flag_names[i].name[1])
				flags |= flag_names[i].flag;
		if (p[1])
			p++;
	}
	return flags;
}

/* "7f01-7f02 rw-p 00000000 08:01 123    /path" */
static bool parse_head(struct ray_arena *arena, const char *line, struct ray_smap *ret)
{
	unsigned long long start, end;
	int name_at = 0;
	char mode[5];

	if (sscanf(line, "%llx-%llx %4s %*x %*x:%*x %*u %n", &start, &end, mode, &name_at) < 3 || !name_at)
		return false;
	*ret = (struct ray_smap){ .start = start, .end = end };
	memcpy(ret->mode, mode, sizeof(mode));
	ret->name = ray_arena_strdup(arena, line + name_at);
	return ret->name != NULL;
}

static void parse_count(struct ray_smap *m, const char *line)
{
	static const struct {
		const char *key;
		size_t at;
	} counts[] = {
		{ "Rss:", offsetof(struct ray_smap, rss) },
		{ "Shared_Dirty:", offsetof(struct ray_smap, dirty) },
		{ "Private_Dirty:", offsetof(struct ray_smap, dirty) },
		{ "Anonymous:", offsetof(struct ray_smap, anonymous) },
		{ "Swap:", offsetof(struct ray_smap, swap) },
	};

	for (size_t i = 0; i < RAY_COUNT(counts); i++) {
		size_t n = strlen(counts[i].key);

		if (!strncmp(line, counts[i].key, n)) {
			*(uint64_t *)((char *)m + counts[i].at) += strtoull(line + n, NULL, 10) * 1024;
			return;
		}
	}
	if (!strncmp(line, "VmFlags:", 8))
		m->flags = parse_flags(line + 8);
}

/* Hands the rows over: the list then owns nothing. */
static struct ray_error *finish(struct list *list, struct ray_arena *arena, struct ray_smaps **ret)
{
	struct ray_smaps *s = calloc(1, sizeof(*s));

	if (!s)
		return &ray_enomem;
	*s = (struct ray_smaps){ .arena = arena, .at = list->maps.at, .n = list->maps.n };
	list->maps.at = NULL;
	*ret = s;
	return NULL;
}

static void free_list(struct list *list)
{
	ray_vec_free(&list->maps);
}

struct ray_error *ray_smaps_parse(char *text, struct ray_smaps **ret)
{
	__attribute__((cleanup(free_list))) struct list list = { 0 };
	ray_auto(ray_arena, arena) = ray_arena_create();
	char *save = NULL;
	struct ray_error *err;
	struct ray_smap map;

	if (!arena)
		return &ray_enomem;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (isupper((unsigned char)line[0])) {
			if (list.maps.n)
				parse_count(&list.maps.at[list.maps.n - 1], line);
		} else if (parse_head(arena, line, &map) && !ray_vec_push(&list.maps, map)) {
			return &ray_enomem;
		}
	}
	err = finish(&list, arena, ret);
	if (!err)
		ray_take(arena);
	return err;
}

struct ray_error *ray_smaps_read(int pid, struct ray_smaps **ret)
{
	ray_auto_text text = { 0 };
	ray_auto_fd int fd = -1;
	char path[32], what[64], chunk[16384];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	snprintf(what, sizeof(what), "cannot read %s", path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ray_stop_denied(pid, errno, what);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		ray_text_add_bytes(&text, chunk, (size_t)n);
	if (n < 0)
		return ray_stop_denied(pid, errno, what);
	ray_text_add(&text, "");
	if (text.failed || !text.bytes)
		return &ray_enomem;
	return ray_smaps_parse(text.bytes, ret);
}

static json_t *row_to_json(const struct ray_smap *m)
{
	json_t *row = json_array();
	char flags[RAY_COUNT(flag_names) * 2 + 1] = "";

	for (size_t i = 0; i < RAY_COUNT(flag_names); i++)
		if (m->flags & flag_names[i].flag)
			strcat(flags, flag_names[i].name);
	json_array_append_new(row, ray_json_hex(m->start));
	json_array_append_new(row, ray_json_hex(m->end));
	json_array_append_new(row, json_string(m->mode));
	json_array_append_new(row, ray_json_text(m->name));
	json_array_append_new(row, json_integer((json_int_t)m->rss));
	json_array_append_new(row, json_integer((json_int_t)m->dirty));
	json_array_append_new(row, json_integer((json_int_t)m->anonymous));
	json_array_append_new(row, json_integer((json_int_t)m->swap));
	json_array_append_new(row, json_string(flags));
	return row;
}

json_t *ray_smaps_to_json(const struct ray_smaps *s)
{
	json_t *rows = json_array(), *whole;

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(rows, row_to_json(&s->at[i]));
	whole = json_pack("{s:[sssssssss], s:o}", "columns", "start", "end", "mode", "name", "rss", "dirty",
			  "anonymous", "swap", "flags", "rows", rows);
	return whole;
}

static bool row_from_json(struct ray_arena *arena, json_t *row, struct ray_smap *ret)
{
	const char *start, *end, *mode, *name, *flags;
	json_int_t rss, dirty, anonymous, swap;

	if (json_unpack(row, "[s,s,s,s,I,I,I,I,s]", &start, &end, &mode, &name, &rss, &dirty, &anonymous, &swap,
			&flags))
		return false;
	if (strlen(mode) != 4 || rss < 0 || dirty < 0 || anonymous < 0 || swap < 0)
		return false;
	*ret = (struct ray_smap){ .start = strtoull(start, NULL, 16),
				  .end = strtoull(end, NULL, 16),
				  .name = ray_arena_strdup(arena, name),
				  .rss = (uint64_t)rss,
				  .dirty = (uint64_t)dirty,
				  .anonymous = (uint64_t)anonymous,
				  .swap = (uint64_t)swap,
				  .flags = parse_flags(flags) };
	memcpy(ret->mode, mode, 5);
	return ret->name && ret->start < ret->end;
}

static struct ray_error *rows_from_json(json_t *rows, struct ray_smaps **ret)
{
	__attribute__((cleanup(free_list))) struct list list = { 0 };
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_error *err;
	struct ray_smap map;

	if (!arena)
		return &ray_enomem;
	if (!json_is_array(rows) || json_array_size(rows) > MAX_ROWS)
		return ray_error_new(RAY_UNREADABLE, "the note \"maps\" has no rows");
	for (size_t i = 0; i < json_array_size(rows); i++) {
		if (!row_from_json(arena, json_array_get(rows, i), &map) ||
		    (list.maps.n && map.start < list.maps.at[list.maps.n - 1].end))
			return ray_error_new(RAY_UNREADABLE, "the note \"maps\" is damaged in row %zu", i);
		if (!ray_vec_push(&list.maps, map))
			return &ray_enomem;
	}
	err = finish(&list, arena, ret);
	if (!err)
		ray_take(arena);
	return err;
}

struct ray_error *ray_smaps_from_json(const char *text, struct ray_smaps **ret)
{
	json_t *whole = json_loads(text, 0, NULL);
	struct ray_error *err;

	if (!whole)
		return ray_error_new(RAY_UNREADABLE, "the note \"maps\" is no JSON");
	err = rows_from_json(json_object_get(whole, "rows"), ret);
	json_decref(whole);
	return err;
}

const struct ray_smap *ray_smaps_find(const struct ray_smaps *s, uint64_t address)
{
	size_t i = ray_search(s->at, s->n, one, one->end <= address);

	return i < s->n && address >= s->at[i].start ? &s->at[i] : NULL;
}

void ray_smaps_free(struct ray_smaps *s)
{
	if (!s)
		return;
	ray_arena_free(s->arena);
	free(s->at);
	free(s);
}
