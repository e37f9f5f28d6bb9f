/* words.c - see words.h. SPDX-License-Identifier: MIT */
#include "view/words.h"

#include <ctype.h>
#include <string.h>

bool ray_view_next_word(const char *list, size_t size, size_t *at, struct ray_word *ret)
{
	if (*at >= size)
		return false;
	ret->bytes = list + *at;
	ret->length = strnlen(ret->bytes, size - *at);
	*at += ret->length + 1;
	return true;
}

static bool is_plain(const struct ray_word *w)
{
	for (size_t i = 0; i < w->length; i++) {
		if (!isalnum((unsigned char)w->bytes[i]) && !strchr("%+,-./:=@_", w->bytes[i]))
			return false;
	}
	return w->length > 0;
}

/* Does the word stay as it is when it is made safe? */
static bool is_safe(const struct ray_word *w)
{
	ray_auto_text safe = { 0 };

	if (memchr(w->bytes, '\\', w->length))
		return false;
	ray_text_add_safe(&safe, w->bytes, w->length);
	return safe.length == w->length && !memcmp(ray_text_get(&safe), w->bytes, w->length);
}

/* $'...': always three octal digits, so that a digit that follows is not taken for a part of them. */
static void quote_hard(struct ray_text *out, const struct ray_word *w)
{
	ray_text_add(out, "$'");
	for (size_t i = 0; i < w->length; i++) {
		unsigned char c = (unsigned char)w->bytes[i];

		if (c == '\'' || c == '\\')
			ray_text_printf(out, "\\%c", c);
		else if (c == '\n')
			ray_text_add(out, "\\n");
		else if (c == '\t')
			ray_text_add(out, "\\t");
		else if (c < 0x20 || c >= 0x7f)
			ray_text_printf(out, "\\%03o", c);
		else
			ray_text_add_bytes(out, &c, 1);
	}
	ray_text_add(out, "'");
}

void ray_view_quote(struct ray_text *out, const struct ray_word *word)
{
	if (is_plain(word)) {
		ray_text_add_bytes(out, word->bytes, word->length);
	} else if (is_safe(word) && !memchr(word->bytes, '\'', word->length)) {
		ray_text_add(out, "'");
		ray_text_add_bytes(out, word->bytes, word->length);
		ray_text_add(out, "'");
	} else {
		quote_hard(out, word);
	}
}
