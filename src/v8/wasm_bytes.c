/* wasm_bytes.c - see wasm_bytes.h. SPDX-License-Identifier: MIT */
#include "v8/wasm_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"

/* V8 takes no more than a million functions and a gibibyte. */
enum { MAX_FUNCTIONS = 1000000, MAX_MODULE = 1 << 30, WINDOW = 4096 };

enum section_id { CUSTOM = 0, IMPORT = 2, FUNCTION = 3, EXPORT = 7, CODE = 10 };
enum name_id { MODULE_NAME = 0, FUNCTION_NAMES = 1 };
enum import_kind { IMPORT_FUNCTION, IMPORT_TABLE, IMPORT_MEMORY, IMPORT_GLOBAL, IMPORT_TAG };

/* Reads forward through a stretch of the module. Once it has failed it stays failed and yields zeros. */
struct cursor {
	const struct ray_wasm_bytes *w;
	uint64_t at, end;
	bool failed;
	uint64_t window_start;
	size_t window_size;
	uint8_t window[WINDOW];
};

static void cursor_init(struct cursor *c, const struct ray_wasm_bytes *w, struct ray_wasm_section s)
{
	c->w = w;
	c->failed = s.offset > w->size || s.size > w->size - s.offset;
	c->at = s.offset;
	c->end = c->failed ? s.offset : s.offset + s.size;
	c->window_start = 0;
	c->window_size = 0;
}

static bool has_more(const struct cursor *c)
{
	return !c->failed && c->at < c->end;
}

static uint8_t next(struct cursor *c)
{
	if (!has_more(c)) {
		c->failed = true;
		return 0;
	}
	if (c->at < c->window_start || c->at - c->window_start >= c->window_size) {
		uint64_t left = c->end - c->at;

		c->window_start = c->at;
		c->window_size = c->w->reader->read(c->w->reader->arg, c->w->address + c->at, c->window,
						    left < WINDOW ? left : WINDOW);
		if (!c->window_size) {
			c->failed = true;
			return 0;
		}
	}
	return c->window[c->at++ - c->window_start];
}

/* LEB128 of up to 64 bits; longer ones are broken. */
static uint64_t next_number(struct cursor *c)
{
	uint64_t value = 0;
	uint8_t byte;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		byte = next(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return c->failed ? 0 : value;
	}
	c->failed = true;
	return 0;
}

static uint32_t next_u32(struct cursor *c)
{
	uint64_t value = next_number(c);

	if (value > UINT32_MAX)
		c->failed = true;
	return c->failed ? 0 : (uint32_t)value;
}

static void skip(struct cursor *c, uint64_t count)
{
	if (c->failed || count > c->end - c->at)
		c->failed = true;
	else
		c->at += count;
}

/* Length, then so many bytes, as a stretch of its own. */
static struct ray_wasm_section next_block(struct cursor *c)
{
	struct ray_wasm_section s = { .size = next_u32(c) };

	s.offset = c->at;
	skip(c, s.size);
	if (c->failed)
		s.offset = s.size = 0;
	return s;
}

/* Length-prefixed text into out, cut to fit. */
static bool next_text(struct cursor *c, char *out, size_t size)
{
	struct ray_wasm_section s = next_block(c);
	uint64_t want = s.size < size ? s.size : size - 1;

	if (c->failed || !s.size || !ray_read(c->w->reader, c->w->address + s.offset, out, want))
		return false;
	out[want] = '\0';
	return strlen(out) == want;
}

static void skip_value_type(struct cursor *c)
{
	uint8_t type = next(c);

	/* References to a heap type carry it behind them. */
	if (type == 0x63 || type == 0x64)
		next_number(c);
}

static void skip_limits(struct cursor *c)
{
	uint32_t flags = next_u32(c);

	next_number(c);
	if (flags & 1)
		next_number(c);
	if (flags & 8) /* a page size of its own */
		next_number(c);
}

static void skip_import(struct cursor *c, struct ray_wasm_bytes *w)
{
	next_block(c);
	next_block(c);
	switch (next(c)) {
	case IMPORT_FUNCTION:
		next_u32(c);
		w->imported += !c->failed;
		break;
	case IMPORT_TABLE:
		skip_value_type(c);
		skip_limits(c);
		break;
	case IMPORT_MEMORY:
		skip_limits(c);
		break;
	case IMPORT_GLOBAL:
		skip_value_type(c);
		next(c);
		break;
	case IMPORT_TAG:
		next(c);
		next_u32(c);
		break;
	default:
		c->failed = true;
	}
}

static bool read_imports(struct ray_wasm_bytes *w, struct ray_wasm_section s)
{
	struct cursor c;
	uint32_t count;

	cursor_init(&c, w, s);
	count = next_u32(&c);
	for (uint32_t i = 0; i < count && !c.failed; i++)
		skip_import(&c, w);
	return !c.failed;
}

static bool read_function_count(struct ray_wasm_bytes *w, struct ray_wasm_section s)
{
	struct cursor c;
	uint32_t count;

	cursor_init(&c, w, s);
	count = next_u32(&c);
	if (c.failed || count > MAX_FUNCTIONS || count > s.size)
		return false;
	w->declared = count;
	return true;
}

static void read_names(struct ray_wasm_bytes *w, struct ray_wasm_section s)
{
	struct cursor c;
	char name[8];

	cursor_init(&c, w, s);
	if (!next_text(&c, name, sizeof(name)) || strcmp(name, "name"))
		return;
	while (has_more(&c)) {
		uint8_t id = next(&c);
		struct ray_wasm_section part = next_block(&c);

		if (id == MODULE_NAME)
			w->module_name = part;
		else if (id == FUNCTION_NAMES)
			w->function_names = part;
	}
}

static bool read_section(struct ray_wasm_bytes *w, uint8_t id, struct ray_wasm_section s)
{
	switch (id) {
	case CUSTOM:
		read_names(w, s);
		return true;
	case IMPORT:
		return read_imports(w, s);
	case FUNCTION:
		return read_function_count(w, s);
	case EXPORT:
		w->exports = s;
		return true;
	case CODE:
		w->code = s;
		return true;
	default:
		return true;
	}
}

bool ray_wasm_bytes_read(const struct ray_reader *reader, uint64_t address, uint64_t size, struct ray_wasm_bytes *ret)
{
	static const uint8_t magic[8] = { 0, 'a', 's', 'm', 1, 0, 0, 0 };
	struct ray_wasm_bytes w = { .reader = reader, .address = address, .size = size };
	uint8_t start[8];
	struct cursor c;

	if (size < sizeof(magic) || size > MAX_MODULE || !ray_read(reader, address, start, sizeof(start)) ||
	    memcmp(start, magic, sizeof(magic)))
		return false;
	cursor_init(&c, &w, (struct ray_wasm_section){ sizeof(magic), size - sizeof(magic) });
	while (has_more(&c)) {
		uint8_t id = next(&c);
		struct ray_wasm_section s = next_block(&c);

		if (c.failed || !read_section(&w, id, s))
			break;
	}
	/* What comes behind the functions may be broken or missing: then the names are. */
	if ((c.failed && !w.code.size) || w.imported > MAX_FUNCTIONS)
		return false;
	*ret = w;
	return true;
}

bool ray_wasm_bytes_module_name(const struct ray_wasm_bytes *w, char *out, size_t size)
{
	struct cursor c;

	cursor_init(&c, w, w->module_name);
	return next_text(&c, out, size);
}

/* Offsets in the module, 0 for none: of a name's length, of a body's length. */
struct ray_wasm_places {
	uint32_t name, exported, body;
};

static uint32_t function_count(const struct ray_wasm_bytes *w)
{
	return w->imported + w->declared;
}

static void find_names(struct ray_wasm_bytes *w)
{
	struct cursor c;
	uint32_t count;

	cursor_init(&c, w, w->function_names);
	count = next_u32(&c);
	for (uint32_t i = 0; i < count && !c.failed; i++) {
		uint32_t index = next_u32(&c), start = (uint32_t)c.at;

		next_block(&c);
		if (!c.failed && index < function_count(w) && !w->places[index].name)
			w->places[index].name = start;
	}
}

static void find_exports(struct ray_wasm_bytes *w)
{
	struct cursor c;
	uint32_t count;

	cursor_init(&c, w, w->exports);
	count = next_u32(&c);
	for (uint32_t i = 0; i < count && !c.failed; i++) {
		uint32_t start = (uint32_t)c.at, index;
		bool is_function;

		next_block(&c);
		is_function = next(&c) == IMPORT_FUNCTION;
		index = next_u32(&c);
		if (!c.failed && is_function && index < function_count(w) && !w->places[index].exported)
			w->places[index].exported = start;
	}
}

static void find_bodies(struct ray_wasm_bytes *w)
{
	struct cursor c;

	cursor_init(&c, w, w->code);
	if (next_u32(&c) != w->declared)
		return;
	for (uint32_t i = 0; i < w->declared && !c.failed; i++) {
		uint32_t start = (uint32_t)c.at;

		next_block(&c);
		if (!c.failed)
			w->places[w->imported + i].body = start;
	}
}

/* One pass over each section serves every frame of every stack. */
static const struct ray_wasm_places *places_of(struct ray_wasm_bytes *w, uint32_t index)
{
	if (index >= function_count(w))
		return NULL;
	if (!w->places) {
		w->places = calloc(function_count(w), sizeof(*w->places));
		if (!w->places)
			return NULL;
		find_names(w);
		find_exports(w);
		find_bodies(w);
	}
	return &w->places[index];
}

void ray_wasm_bytes_deinit(struct ray_wasm_bytes *w)
{
	free(w->places);
	w->places = NULL;
}

static bool text_at(const struct ray_wasm_bytes *w, uint32_t offset, char *out, size_t size)
{
	struct cursor c;

	if (!offset)
		return false;
	cursor_init(&c, w, (struct ray_wasm_section){ offset, w->size - offset });
	return next_text(&c, out, size);
}

bool ray_wasm_bytes_function_name(struct ray_wasm_bytes *w, uint32_t index, char *out, size_t size)
{
	const struct ray_wasm_places *p = places_of(w, index);

	return p && text_at(w, p->name, out, size);
}

bool ray_wasm_bytes_export_name(struct ray_wasm_bytes *w, uint32_t index, char *out, size_t size)
{
	const struct ray_wasm_places *p = places_of(w, index);

	return p && text_at(w, p->exported, out, size);
}

bool ray_wasm_bytes_body(struct ray_wasm_bytes *w, uint32_t index, struct ray_wasm_section *ret)
{
	const struct ray_wasm_places *p = places_of(w, index);
	struct ray_wasm_section body;
	struct cursor c;

	if (!p || !p->body)
		return false;
	cursor_init(&c, w, (struct ray_wasm_section){ p->body, w->size - p->body });
	body = next_block(&c);
	if (c.failed)
		return false;
	*ret = body;
	return true;
}
