/* base64.c - see base64.h. SPDX-License-Identifier: MIT */
#include "base/base64.h"

#include <string.h>

enum { LINE = 160, PIECE = LINE / 4 * 3, WHITE = 64, PADDING = 65, WRONG = 66 };

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static size_t encode_line(const uint8_t *bytes, size_t length, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i += 3) {
		uint32_t word = (uint32_t)bytes[i] << 16 | (i + 1 < length ? (uint32_t)bytes[i + 1] << 8 : 0) |
				(i + 2 < length ? bytes[i + 2] : 0);

		out[n++] = alphabet[word >> 18];
		out[n++] = alphabet[word >> 12 & 63];
		out[n++] = i + 1 < length ? alphabet[word >> 6 & 63] : '=';
		out[n++] = i + 2 < length ? alphabet[word & 63] : '=';
	}
	out[n++] = '\n';
	return n;
}

void ray_base64_add(struct ray_text *t, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;
	char line[LINE + 1];

	for (size_t i = 0; i < length; i += PIECE)
		ray_text_add_bytes(t, line, encode_line(at + i, length - i < PIECE ? length - i : PIECE, line));
}

static void fill_values(uint8_t values[256])
{
	memset(values, WRONG, 256);
	for (int i = 0; i < 64; i++)
		values[(uint8_t)alphabet[i]] = (uint8_t)i;
	for (const char *white = " \t\r\n"; *white; white++)
		values[(uint8_t)*white] = WHITE;
	values['='] = PADDING;
}

bool ray_base64_decode(struct ray_text *t, const char *text, size_t length)
{
	uint8_t values[256], piece[3];
	uint32_t word = 0;
	int digits = 0, padding = 0;

	fill_values(values);
	for (size_t i = 0; i < length; i++) {
		uint8_t value = values[(uint8_t)text[i]];

		if (value == WHITE)
			continue;
		/* Nothing follows the padding, and it is in the last two places only. */
		if (value == WRONG || (padding && (value != PADDING || !digits)) || (value == PADDING && digits < 2))
			return false;
		padding += value == PADDING;
		word = word << 6 | (value & 63);
		if (++digits < 4)
			continue;
		if (padding)
			word &= padding == 1 ? 0xffff00 : 0xff0000;
		piece[0] = (uint8_t)(word >> 16), piece[1] = (uint8_t)(word >> 8), piece[2] = (uint8_t)word;
		ray_text_add_bytes(t, piece, 3 - (size_t)padding);
		word = 0, digits = 0;
	}
	return !digits && !t->failed;
}
