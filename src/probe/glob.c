/* glob.c - shell patterns of probe descriptions: * ? [a-z] [!a] and \ for a plain character.
 * SPDX-License-Identifier: MIT
 *
 * Takes time proportional to pattern times text, whatever the pattern: only the last star is ever tried again. */
#include <string.h>

#include "probe/spec.h"

/* Whether c is in the class that starts after '['; *end is then past its ']'. A class that is never closed is no class:
 * *end is NULL. */
static bool class_has(const char *class, unsigned char c, const char **end)
{
	const char *p = class;
	bool negated = *p == '!' || *p == '^';
	bool found = false;

	if (negated)
		p++;
	for (const char *first = p; *p && (*p != ']' || p == first); p++) {
		unsigned char low = *p;
		unsigned char high = low;

		if (p[1] == '-' && p[2] && p[2] != ']') {
			high = p[2];
			p += 2;
		}
		found |= c >= low && c <= high;
	}
	*end = *p ? p + 1 : NULL;
	return found != negated;
}

/* One element of the pattern against one character; *next is the element after it. */
static bool one_matches(const char *p, char c, const char **next)
{
	bool found;

	*next = p + 1;
	if (*p == '?')
		return true;
	if (*p == '[') {
		found = class_has(p + 1, c, next);
		if (*next)
			return found;
		*next = p + 1;
	}
	if (*p == '\\' && p[1]) {
		*next = p + 2;
		return p[1] == c;
	}
	return *p == c;
}

bool ray_glob_matches(const char *pattern, const char *text)
{
	const char *p = pattern;
	const char *star = NULL, *retry = NULL, *next;

	if (!*pattern)
		return true;
	while (*text) {
		if (*p == '*') {
			star = ++p;
			retry = text;
		} else if (*p && one_matches(p, *text, &next)) {
			p = next;
			text++;
		} else if (star) {
			p = star;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return !*p;
}

bool ray_glob_is_plain(const char *pattern)
{
	return *pattern && !strpbrk(pattern, "*?[\\");
}
