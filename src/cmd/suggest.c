/* suggest.c - see suggest.h. SPDX-License-Identifier: MIT */
#include "cmd/suggest.h"

#include <string.h>

/* Longer words are not compared: no verb or option comes near it. */
enum { MAX_WORD = 32 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap two neighbours) that turn a into b. */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned d[MAX_WORD + 1][MAX_WORD + 1];
	size_t i, j;

	for (i = 0; i <= n; i++)
		d[i][0] = (unsigned)i;
	for (j = 0; j <= m; j++)
		d[0][j] = (unsigned)j;
	for (i = 1; i <= n; i++) {
		for (j = 1; j <= m; j++) {
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

void ray_suggest_init(struct ray_suggest *s, const char *typed, size_t length)
{
	/* A third of the letters may be wrong: one in "stak", two in "sumry". */
	*s = (struct ray_suggest){ typed, length, NULL, (unsigned)(length + 1) / 3 + 1 };
}

void ray_suggest_offer(struct ray_suggest *s, const char *word)
{
	size_t n = strlen(word);
	unsigned d;

	if (!s->length || s->length > MAX_WORD || n > MAX_WORD)
		return;
	if (s->length >= 3 && !strncmp(word, s->typed, s->length))
		d = 0; /* the beginning of it was typed */
	else
		d = distance(s->typed, s->length, word, n);
	if (d < s->distance) {
		s->distance = d;
		s->word = word;
	}
}
