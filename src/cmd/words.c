/* words.c - see words.h. SPDX-License-Identifier: MIT */
#include "cmd/words.h"

#include <stdio.h>

#include "base/json.h"
#include "view/table.h"

void ray_words_heading(struct ray_target *t, const char *args, size_t size)
{
	ray_auto_text line = { 0 }, cut = { 0 };
	size_t width = ray_view_width(stdout), at = 0;
	struct ray_word word;

	ray_text_printf(&line, "%d:", ray_target_pid(t));
	while (line.length < 7)
		ray_text_add(&line, " ");
	while (ray_view_next_word(args, size, &at, &word)) {
		if (!word.length)
			continue; /* what is left behind a title */
		ray_text_add(&line, " ");
		ray_text_add_safe(&line, word.bytes, word.length);
	}
	if (width)
		ray_view_cut(&cut, ray_text_get(&line), width, RAY_CUT_END);
	puts(ray_text_get(width ? &cut : &line));
}

void ray_words_line(const char *list, size_t size)
{
	ray_auto_text line = { 0 };
	struct ray_word word;
	size_t at = 0;

	while (ray_view_next_word(list, size, &at, &word)) {
		if (line.length)
			ray_text_add(&line, " ");
		ray_view_quote(&line, &word);
	}
	puts(ray_text_get(&line));
}

json_t *ray_words_json(const struct ray_word *word)
{
	ray_auto_text text = { 0 };

	ray_text_add_bytes(&text, word->bytes, word->length);
	return ray_json_text(ray_text_get(&text));
}
