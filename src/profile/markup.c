/* markup.c - see markup.h. SPDX-License-Identifier: MIT
 *
 * The profile stands between an opening tag of our own, which nothing else in such a file can hold as it is (names in it are escaped), and the next '<':
 * base64 has none. */
#include "profile/markup.h"

#include <string.h>

#include "profile/pack.h"

/* As report/report.html and svg.c write it. */
static const char opening[] = "\"application/x-noderay-profile\">";

static const char *entity_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void ray_markup_add(struct ray_text *t, const char *text)
{
	for (const char *at = text; *at; at++) {
		const char *entity = entity_of(*at);
		/* U+FFFE and U+FFFF are no characters of XML. */
		bool is_forbidden = ((unsigned char)*at < 0x20 && !strchr("\t\n\r", *at)) || *at == 0x7f;

		if (entity)
			ray_text_add(t, entity);
		else if (is_forbidden)
			ray_text_add(t, "\xef\xbf\xbd");
		else if (!strncmp(at, "\xef\xbf\xbe", 3) || !strncmp(at, "\xef\xbf\xbf", 3))
			ray_text_add(t, "\xef\xbf\xbd"), at += 2;
		else
			ray_text_add_bytes(t, at, 1);
	}
}

bool ray_markup_has_profile(const char *bytes, size_t size)
{
	return memmem(bytes, size, opening, sizeof(opening) - 1);
}

struct ray_error *ray_markup_read(const char *bytes, size_t size, struct ray_profile **ret)
{
	const char *start = memmem(bytes, size, opening, sizeof(opening) - 1), *end;
	ray_auto(ray_profile, p) = NULL;
	struct ray_error *err;

	if (!start)
		return ray_error_remedy(ray_error_new(RAY_UNREADABLE, "no profile is in it"),
					"only a report that noderay wrote carries one");
	start += sizeof(opening) - 1;
	end = memchr(start, '<', (size_t)(bytes + size - start));
	if (!end)
		return ray_error_new(RAY_UNREADABLE, "the file is cut: the profile inside has no end");
	err = ray_profile_unpack(start, (size_t)(end - start), &p);
	if (err)
		return err;
	/* As one profile, what was before and what was after would be added up. */
	if (p->before_threads)
		return ray_error_remedy(ray_error_new(RAY_UNREADABLE, "it holds a difference of two profiles, not one"),
					"use the two files that it was made from");
	*ret = ray_take(p);
	return NULL;
}
