/* cell.c - see cell.h. SPDX-License-Identifier: MIT */
#include "profile/cell.h"

#include <inttypes.h>
#include <string.h>

#include "base/duration.h"

enum { PLACE_WIDTH = 26 };

const char *ray_cell_value(enum ray_profile_unit unit, int64_t weight, char out[24])
{
	uint64_t size = weight < 0 ? 0 : (uint64_t)weight;

	if (unit == RAY_UNIT_NS)
		return ray_duration_format(size, out);
	if (unit == RAY_UNIT_BYTES) {
		char text[8];

		snprintf(out, 24, "%s", ray_format_size(size, text));
		return out;
	}
	if (weight < 10000000)
		snprintf(out, 24, "%" PRId64, weight);
	else
		snprintf(out, 24, "%.1f%c", (double)weight / (weight < 10000000000 ? 1e6 : 1e9),
			 weight < 10000000000 ? 'M' : 'G');
	return out;
}

/* Bytes of the character that text begins with. */
static size_t character(const char *text)
{
	size_t n = 1;

	while ((text[n] & 0xc0) == 0x80)
		n++;
	return n;
}

size_t ray_cell_cut(struct ray_text *out, const char *text, size_t width)
{
	size_t used = 0;

	if (ray_text_width(text) <= width) {
		ray_text_add(out, text);
		return ray_text_width(text);
	}
	while (*text) {
		char one[8] = "";
		size_t n = character(text), columns;

		memcpy(one, text, n < sizeof(one) ? n : sizeof(one) - 1);
		columns = ray_text_width(one);
		if (used + columns + 1 > width)
			break;
		ray_text_add_bytes(out, text, n);
		used += columns;
		text += n;
	}
	ray_text_add(out, "\xe2\x80\xa6");
	return used + 1;
}

static bool is_script(enum ray_profile_kind kind)
{
	return kind == RAY_KIND_JS || kind == RAY_KIND_PACKAGE || kind == RAY_KIND_NODE || kind == RAY_KIND_WASM;
}

/* "lib/router/index.js:46": of a script as many directories as fit, and the file's name whatever its length; of a binary its name alone. */
static void add_place(struct ray_text *out, const struct ray_profile_function *f)
{
	size_t length = strcspn(f->file, "?#");
	ray_auto_text file = { 0 };
	const char *from, *text;
	char line[16] = "";

	if (!length)
		return;
	if (f->line)
		snprintf(line, sizeof(line), ":%d", f->line);
	ray_text_add_bytes(&file, f->file, length);
	text = ray_text_get(&file);
	from = text + length;
	while (from > text) {
		const char *next = from - 1;

		while (next > text && next[-1] != '/')
			next--;
		if (from < text + length && (!is_script(f->kind) || ray_text_width(next) + strlen(line) > PLACE_WIDTH))
			break;
		from = next;
	}
	ray_text_printf(out, "%s%s", from, line);
}

void ray_cell_function(struct ray_text *out, const struct ray_profile_function *f, size_t room)
{
	ray_auto_text place = { 0 };
	size_t wanted, used;

	add_place(&place, f);
	/* Both whole if they fit; else the place gives way first, down to its own share, then the name. */
	wanted = place.length ? ray_text_width(ray_text_get(&place)) + 2 : 0;
	if (wanted > PLACE_WIDTH + 2)
		wanted = PLACE_WIDTH + 2;
	if (ray_text_width(f->name) + wanted <= room)
		wanted = room - ray_text_width(f->name);
	used = ray_cell_cut(out, f->name, room - wanted);
	if (!place.length)
		return;
	ray_text_add(out, "  ");
	ray_cell_cut(out, ray_text_get(&place), room - used - 2);
}
