/* read_svg.c - the profile that an SVG flame graph carries. SPDX-License-Identifier: MIT */
#include <string.h>

#include "profile/formats.h"
#include "profile/markup.h"

/* Other programs' SVGs are told apart by what is in them, when they are read: the message is better then. */
bool ray_is_svg(const char *bytes, size_t size)
{
	while (size && strchr(" \t\r\n", *bytes))
		bytes++, size--;
	return (size > 5 && !memcmp(bytes, "<?xml", 5) && memmem(bytes, size < 4096 ? size : 4096, "<svg", 4)) ||
	       (size > 4 && !memcmp(bytes, "<svg", 4));
}

struct ray_error *ray_read_svg(const char *bytes, size_t size, struct ray_profile **ret)
{
	return ray_markup_read(bytes, size, ret);
}
