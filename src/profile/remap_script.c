/* remap_script.c - see remap_script.h. SPDX-License-Identifier: MIT */
#include "profile/remap_script.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profile/sourceurl.h"

/* ---- the map ---- */

/* Takes the bytes of a map over. */
static bool take_map(struct ray_remap_script *s, const char *path, char *bytes, size_t size, struct ray_text *why)
{
	struct ray_error *err = ray_source_map_parse(bytes, size, &s->map);

	free(bytes);
	if (!err)
		return true;
	s->is_broken = true;
	ray_text_printf(why, "%s: %s", path, ray_error_text(err));
	ray_error_free(err);
	return false;
}

static void read_named(struct ray_remap_script *s, const char *path, const char *url, size_t length,
		       const struct ray_remap_options *options, struct ray_text *why)
{
	ray_auto_memory char *map_path = NULL;
	char *bytes;
	size_t size;

	if (ray_source_url_is_data(url, length)) {
		bytes = ray_source_url_data(url, length, &size);
		s->folder = strdup(path);
		if (bytes) {
			take_map(s, path, bytes, size, why);
			return;
		}
		s->is_broken = true;
		ray_text_printf(why, "%s: the map in it is no base64", path);
		return;
	}
	map_path = ray_source_url_path(path, url, length);
	if (!map_path)
		return;
	if (!options->read(options->arg, map_path, &bytes, &size)) {
		s->is_broken = true;
		ray_text_printf(why, "%s: cannot be read", map_path);
		return;
	}
	s->folder = strdup(map_path);
	take_map(s, map_path, bytes, size, why);
}

static void read_beside(struct ray_remap_script *s, const char *path, const struct ray_remap_options *options,
			struct ray_text *why)
{
	ray_auto_text map_path = { 0 };
	char *bytes;
	size_t size;

	ray_text_printf(&map_path, "%s.map", path);
	if (map_path.failed || !options->read(options->arg, ray_text_get(&map_path), &bytes, &size))
		return;
	free((char *)s->folder);
	s->folder = strdup(ray_text_get(&map_path));
	if (take_map(s, ray_text_get(&map_path), bytes, size, why)) {
		s->is_broken = false;
		ray_text_clear(why);
	}
}

/* ---- the text ---- */

/* The next character of UTF-8; what is broken counts as one each, as V8 reads it. */
static uint32_t next_character(const unsigned char **at, const unsigned char *end)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	unsigned char first = *(*at)++;
	int more = first >= 0xf0 && first < 0xf8 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : 0;
	uint32_t c = more == 3 ? first & 7u : more == 2 ? first & 15u : first & 31u;

	if (first < 0x80)
		return first;
	if (!more || first >= 0xf8 || end - *at < more)
		return 0xfffd;
	for (int i = 0; i < more; i++) {
		if (((*at)[i] & 0xc0) != 0x80)
			return 0xfffd;
		c = c << 6 | ((*at)[i] & 0x3fu);
	}
	if (c < least[more] || c > 0x10ffff)
		return 0xfffd;
	*at += more;
	return c;
}

/* Columns count units of UTF-16. */
static bool make_units(struct ray_remap_script *s)
{
	const unsigned char *at = (const unsigned char *)s->text, *end = at + s->size;

	s->unit_count = s->size;
	for (size_t i = 0; i < s->size && !s->units; i++)
		if (at[i] >= 0x80)
			s->units = calloc(s->size + 1, sizeof(*s->units));
		else if (i + 1 == s->size)
			return true;
	if (!s->units)
		return s->size == 0;
	s->unit_count = 0;
	while (at < end) {
		uint32_t c = next_character(&at, end);

		if (c >= 0x10000)
			s->units[s->unit_count++] = (uint16_t)(0xd7c0 + (c >> 10));
		s->units[s->unit_count++] = (uint16_t)(c >= 0x10000 ? 0xdc00 | (c & 0x3ff) : c);
	}
	return true;
}

static uint16_t unit_at(const struct ray_remap_script *s, size_t i)
{
	return i >= s->unit_count ? 0 : s->units ? s->units[i] : (unsigned char)s->text[i];
}

static bool is_line_end(const struct ray_remap_script *s, size_t i)
{
	uint16_t c = unit_at(s, i);

	return c == '\n' || c == 0x2028 || c == 0x2029 || (c == '\r' && unit_at(s, i + 1) != '\n');
}

static bool make_lines(struct ray_remap_script *s)
{
	size_t count = 1;

	for (size_t i = 0; i < s->unit_count; i++)
		count += is_line_end(s, i);
	s->lines = calloc(count, sizeof(*s->lines));
	if (!s->lines)
		return false;
	s->line_count = 1;
	for (size_t i = 0; i < s->unit_count; i++)
		if (is_line_end(s, i))
			s->lines[s->line_count++] = i + 1;
	return true;
}

static bool is_word_unit(uint16_t c)
{
	return c >= 0x80 || isalnum(c) || c == '_' || c == '$';
}

bool ray_remap_script_has_word(struct ray_remap_script *s, int line, int column, const char *word)
{
	const unsigned char *at = (const unsigned char *)word, *end = at + strlen(word);
	size_t i;

	if (!s->text || line < 1 || column < 1 || at == end)
		return false;
	if (!s->lines && (!make_units(s) || !make_lines(s)))
		return false;
	if ((size_t)line > s->line_count)
		return false;
	i = s->lines[line - 1] + (size_t)column - 1;
	if (unit_at(s, i) == '#') /* a private name: V8's has it, too */
		return *at == '#' && ray_remap_script_has_word(s, line, column + 1, word + 1);
	for (; at < end; i++) {
		uint32_t c = next_character(&at, end);

		if (c >= 0x10000 ? unit_at(s, i) != 0xd7c0 + (c >> 10) || unit_at(s, ++i) != (0xdc00 | (c & 0x3ff)) :
				   unit_at(s, i) != c)
			return false;
	}
	return !is_word_unit(unit_at(s, i));
}

/* ---- all of it ---- */

/* The file need not hold what ran: a loader may have compiled it in memory. */
static void forget_text(struct ray_remap_script *s)
{
	free(s->text);
	s->text = NULL;
	s->size = 0;
}

static bool is_what_ran(const struct ray_remap_script *s)
{
	size_t length = 0;
	const char *url = s->text && s->url ? ray_source_url_find(s->text, s->size, &length) : NULL;

	return !s->url || (url ? length == strlen(s->url) && !memcmp(url, s->url, length) : !*s->url);
}

bool ray_remap_script_read(struct ray_remap_script *s, const struct ray_remap_options *options, struct ray_text *why)
{
	ray_auto_memory char *path = ray_source_script_path(s->name);
	const char *url = s->url;
	size_t length = url ? strlen(url) : 0;

	s->is_read = true;
	if (path && !options->read(options->arg, path, &s->text, &s->size))
		s->text = NULL;
	if (!url && s->text)
		url = ray_source_url_find(s->text, s->size, &length);
	if (length && url)
		read_named(s, path ? path : s->name, url, length, options, why);
	if (!s->map && s->text)
		read_beside(s, path, options, why);
	if (!s->map || !is_what_ran(s))
		forget_text(s);
	free(s->url);
	s->url = NULL;
	return !s->map || s->folder;
}

void ray_remap_script_deinit(struct ray_remap_script *s)
{
	ray_source_map_free(s->map);
	free((char *)s->folder);
	free(s->url);
	free(s->text);
	free(s->units);
	free(s->lines);
}
