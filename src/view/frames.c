/* frames.c - see frames.h. SPDX-License-Identifier: MIT */
#include "view/frames.h"

#include <string.h>

#include "view/table.h"

/* The next line that says something, without blanks around it. False: there is none. */
static bool next(const char **stack, struct ray_text *line)
{
	while (**stack) {
		const char *at = *stack + strspn(*stack, " \t");
		size_t length = strcspn(at, "\n");

		*stack = at + length + (at[length] == '\n');
		if (!length)
			continue;
		ray_text_clear(line);
		ray_text_add_safe(line, at, length);
		return true;
	}
	return false;
}

json_t *ray_frames_json(const char *stack)
{
	json_t *frames = json_array();
	ray_auto_text line = { 0 };

	while (next(&stack, &line))
		json_array_append_new(frames, ray_json_text(ray_text_get(&line)));
	return frames;
}

void ray_frames_print(const char *stack, size_t indent, size_t width, struct ray_text *out)
{
	ray_auto_text line = { 0 };

	while (next(&stack, &line)) {
		ray_text_printf(out, "%*s", (int)indent, "");
		ray_view_cut(out, ray_text_get(&line), width > indent ? width - indent : 0,
			     width > indent ? RAY_CUT_END : RAY_CUT_NEVER);
		ray_text_add(out, "\n");
	}
}
