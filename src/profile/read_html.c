/* read_html.c - the profile that a report carries. SPDX-License-Identifier: MIT */
#include <string.h>
#include <strings.h>

#include "profile/markup.h"
#include "profile/formats.h"

static const char beginning[] = "<!doctype html>";

bool ray_is_html(const char *bytes, size_t size)
{
	while (size && strchr(" \t\r\n", *bytes))
		bytes++, size--;
	return size >= sizeof(beginning) - 1 && !strncasecmp(bytes, beginning, sizeof(beginning) - 1);
}

struct ray_error *ray_read_html(const char *bytes, size_t size, struct ray_profile **ret)
{
	return ray_markup_read(bytes, size, ret);
}
