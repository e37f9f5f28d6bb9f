/* fuzz_tracefs.c - any text as the format of a tracepoint. SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/tracefs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	ray_auto_memory char *text = malloc(size + 1);
	struct ray_tracefs_format format;

	if (!arena || !text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (ray_tracefs_format_parse(arena, text, &format))
		return 0;
	for (size_t i = 0; i < format.count; i++)
		if (!*format.at[i].name || !*format.at[i].type || format.at[i].offset + format.at[i].size > 8192)
			abort();
	return 0;
}
