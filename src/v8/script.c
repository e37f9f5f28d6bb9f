/* script.c - see script.h. SPDX-License-Identifier: MIT */
#include "v8/script.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/text.h"
#include "v8/function.h"
#include "v8/string.h"
#include "v8/value.h"

enum {
	NAME_LIMIT = 1024,
	CHUNK = 65536,
	LARGE_SOURCE = 100 << 10, /* units; pages of V8 hold objects of up to 128 KiB or 256 KiB */
	MAX_EVAL_DEPTH = 3,
	MAX_OFFSET = 1 << 29,
	MAX_SOURCE = 64 << 20, /* UTF-16 units; beyond that lines are not counted, */
	MAX_LINES = 8 << 20,   /* nor beyond as many of them: only damage makes such scripts */
	MAX_KEPT = 1024,
};

struct ray_v8_script {
	uint64_t script, source;
	int64_t length; /* -1: the source cannot be read */
	int line_offset, column_offset;
	bool in_doubt; /* the heap was forgotten since; then its lines are kept only if it still has the same source */
	RAY_VEC(uint32_t) starts; /* of lines */
};

void ray_v8_scripts_free(struct ray_v8 *v8)
{
	for (size_t i = 0; i < v8->scripts.n; i++) {
		ray_vec_free(&v8->scripts.at[i]->starts);
		free(v8->scripts.at[i]);
	}
	ray_vec_free(&v8->scripts);
}

void ray_v8_scripts_doubt(struct ray_v8 *v8)
{
	if (v8->scripts.n > MAX_KEPT)
		ray_v8_scripts_free(v8);
	for (size_t i = 0; i < v8->scripts.n; i++)
		v8->scripts.at[i]->in_doubt = true;
}

/* The same line ends as V8: LF, CR, CR LF, U+2028 and U+2029. */
static bool is_line_end(uint16_t c, uint16_t next)
{
	return c == '\n' || (c == '\r' && next != '\n') || c == 0x2028 || c == 0x2029;
}

static bool count_lines(struct ray_v8 *v8, struct ray_v8_script *s)
{
	ray_auto_memory uint16_t *units = malloc((CHUNK + 1) * sizeof(*units));
	uint32_t at = 0, n, ahead;

	if (!units || !ray_vec_push(&s->starts, 0))
		return false;
	while (at < s->length) {
		n = s->length - at < CHUNK ? (uint32_t)(s->length - at) : CHUNK;
		ahead = at + n < s->length;
		if (!ray_v8_string_units(v8, s->source, at, n + ahead, units))
			return false;
		if (!ahead)
			units[n] = 0;
		for (uint32_t i = 0; i < n; i++) {
			if (is_line_end(units[i], units[i + 1]) &&
			    (s->starts.n >= MAX_LINES || !ray_vec_push(&s->starts, at + i + 1)))
				return false;
		}
		at += n;
	}
	return true;
}

/* A script may say that its first line is not line 1, or starts at another column. */
static int offset_of(struct ray_v8 *v8, uint64_t script, enum ray_v8_field field)
{
	int32_t offset;

	if (!ray_v8_smi_field(v8, script, field, &offset) || offset > MAX_OFFSET || offset < -MAX_OFFSET)
		return 0;
	return offset;
}

/* Is the source longer than what V8 would move, or not there at all? */
static bool is_for_later(struct ray_v8 *v8, uint64_t script)
{
	uint64_t source;

	return !ray_v8_field(v8, script, RAY_V8_SCRIPT_SOURCE, &source) ||
	       ray_v8_string_length(v8, source) > LARGE_SOURCE;
}

/* Reads what s->script has, from the start. */
static void read_script(struct ray_v8 *v8, struct ray_v8_script *s)
{
	uint64_t script = s->script;

	s->in_doubt = false;
	s->length = -1;
	ray_vec_free(&s->starts);
	if (!ray_v8_is(v8, script, RAY_V8_TYPE_SCRIPT) || !ray_v8_field(v8, script, RAY_V8_SCRIPT_SOURCE, &s->source))
		return;
	s->length = ray_v8_string_length(v8, s->source);
	s->line_offset = offset_of(v8, script, RAY_V8_SCRIPT_LINE_OFFSET);
	s->column_offset = offset_of(v8, script, RAY_V8_SCRIPT_COLUMN_OFFSET);
	if (s->length > MAX_SOURCE || (s->length >= 0 && !count_lines(v8, s))) {
		s->length = -1;
		ray_vec_free(&s->starts);
	}
}

/* Counting lines is most of the work of naming a frame: they are kept as long as the source is the same object. */
static bool is_unchanged(struct ray_v8 *v8, struct ray_v8_script *s)
{
	uint64_t source;

	s->in_doubt = false;
	return s->length >= 0 && ray_v8_is(v8, s->script, RAY_V8_TYPE_SCRIPT) &&
	       ray_v8_field(v8, s->script, RAY_V8_SCRIPT_SOURCE, &source) && source == s->source &&
	       ray_v8_string_length(v8, source) == s->length &&
	       s->line_offset == offset_of(v8, s->script, RAY_V8_SCRIPT_LINE_OFFSET) &&
	       s->column_offset == offset_of(v8, s->script, RAY_V8_SCRIPT_COLUMN_OFFSET);
}

static struct ray_v8_script *load(struct ray_v8 *v8, uint64_t script)
{
	struct ray_v8_script *s;

	for (size_t i = 0; i < v8->scripts.n; i++) {
		s = v8->scripts.at[i];
		if (s->script != script)
			continue;
		if (s->in_doubt && !is_unchanged(v8, s))
			read_script(v8, s);
		return s;
	}
	if (v8->hurry && is_for_later(v8, script))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s || !ray_vec_push(&v8->scripts, s)) {
		free(s);
		return NULL;
	}
	s->script = script;
	read_script(v8, s);
	return s;
}

bool ray_v8_script_place(struct ray_v8 *v8, uint64_t script, int32_t position, int *line_ret, int *column_ret)
{
	struct ray_v8_script *s = load(v8, script);
	size_t line;

	if (!s || s->length < 0 || position < 0 || position > s->length)
		return false;
	line = ray_search(s->starts.at, s->starts.n, one, *one <= (uint32_t)position);
	line -= line > 0;
	*line_ret = (int)line + 1 + s->line_offset;
	*column_ret = position - (int)s->starts.at[line] + 1 + (line == 0 ? s->column_offset : 0);
	return true;
}

const char *ray_v8_script_line(struct ray_v8 *v8, uint64_t script, int line, uint32_t limit)
{
	struct ray_v8_script *s = load(v8, script);
	uint32_t start, end, n;
	uint16_t units[512];
	ray_auto_text text = { 0 };
	int64_t index;

	if (!s || s->length < 0)
		return NULL;
	index = (int64_t)line - 1 - s->line_offset;
	if (index < 0 || (size_t)index >= s->starts.n)
		return NULL;
	start = s->starts.at[index];
	end = (size_t)index + 1 < s->starts.n ? s->starts.at[index + 1] : (uint32_t)s->length;
	n = end - start;
	if (n > limit)
		n = limit;
	if (n > RAY_COUNT(units))
		n = RAY_COUNT(units);
	if (!ray_v8_string_units(v8, s->source, start, n, units))
		return NULL;
	while (n && is_line_end(units[n - 1], 0))
		n--;
	for (uint32_t i = 0; i < n; i++) {
		if (units[i] == '\t')
			units[i] = ' ';
	}
	ray_v8_add_utf16(&text, units, n);
	return ray_arena_copy(v8->arena, ray_text_get(&text), text.length);
}

static const char *name_at(struct ray_v8 *v8, uint64_t script, enum ray_v8_field field)
{
	uint64_t value;

	if (!ray_v8_field(v8, script, field, &value) || !ray_v8_is_string(v8, value))
		return "";
	return ray_v8_string_text(v8, value, NAME_LIMIT);
}

bool ray_v8_script_map_url(struct ray_v8 *v8, uint64_t script, struct ray_text *out)
{
	ray_auto_memory uint16_t *units = NULL;
	int64_t length;
	uint64_t url;

	if (!ray_v8_is(v8, script, RAY_V8_TYPE_SCRIPT) || !ray_v8_field(v8, script, RAY_V8_SCRIPT_MAPPING_URL, &url))
		return false;
	if (ray_v8_is_nullish(v8, url))
		return true;
	length = ray_v8_string_length(v8, url);
	units = length >= 0 && length <= MAX_SOURCE ? malloc(CHUNK * sizeof(*units)) : NULL;
	if (!units)
		return false;
	for (int64_t at = 0, n; at < length; at += n) {
		n = length - at < CHUNK ? length - at : CHUNK;
		if (!ray_v8_string_units(v8, url, (uint32_t)at, (uint32_t)n, units))
			return false;
		ray_v8_add_utf16(out, units, (uint32_t)n);
	}
	return true;
}

static const char *script_name(struct ray_v8 *v8, uint64_t script, int depth);

bool ray_v8_script_is_eval(struct ray_v8 *v8, uint64_t script)
{
	uint64_t shared;

	return ray_v8_field(v8, script, RAY_V8_SCRIPT_EVAL_SHARED, &shared) && ray_v8_is(v8, shared, RAY_V8_TYPE_SFI);
}

/* eval_from_position is a position in the calling script, or minus the bytecode offset of the call: V8
 * translates the latter only when it needs to. */
static const char *eval_name(struct ray_v8 *v8, uint64_t script, int depth)
{
	const char *function, *file;
	uint64_t shared, from;
	int32_t position;
	int line, column;

	if (depth >= MAX_EVAL_DEPTH || !ray_v8_field(v8, script, RAY_V8_SCRIPT_EVAL_SHARED, &shared) ||
	    !ray_v8_is(v8, shared, RAY_V8_TYPE_SFI) || !ray_v8_shared_script(v8, shared, &from))
		return "";
	function = ray_v8_shared_name(v8, shared);
	file = script_name(v8, from, depth + 1);
	if (!function || !function[0])
		function = "<anonymous>";
	if (!ray_v8_smi_field(v8, script, RAY_V8_SCRIPT_EVAL_POSITION, &position) || position <= 0 ||
	    !ray_v8_script_place(v8, from, position, &line, &column))
		return ray_arena_printf(v8->arena, "eval at %s (%s)", function, file ? file : "");
	return ray_arena_printf(v8->arena, "eval at %s (%s:%d:%d)", function, file ? file : "", line, column);
}

static const char *script_name(struct ray_v8 *v8, uint64_t script, int depth)
{
	const char *name;

	if (!ray_v8_is(v8, script, RAY_V8_TYPE_SCRIPT))
		return NULL;
	name = name_at(v8, script, RAY_V8_SCRIPT_NAME);
	if (name && !name[0])
		name = name_at(v8, script, RAY_V8_SCRIPT_SOURCE_URL);
	if (name && !name[0])
		name = eval_name(v8, script, depth);
	return name;
}

const char *ray_v8_script_name(struct ray_v8 *v8, uint64_t script)
{
	return script_name(v8, script, 0);
}
