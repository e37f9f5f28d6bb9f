/* way.c - see way.h. SPDX-License-Identifier: MIT */
#include "view/way.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "view/table.h"

/* Frames of one stack, from the outermost on. */
struct frames {
	RAY_VEC(char *) at;
	uint64_t ns; /* 0: it went another way */
};

static bool is_native(const char *frame)
{
	return strchr(frame, '`') != NULL;
}

static void frames_free(struct frames *all, size_t count)
{
	for (size_t i = 0; all && i < count; i++) {
		for (size_t k = 0; k < all[i].at.n; k++)
			free(all[i].at.at[k]);
		ray_vec_free(&all[i].at);
	}
	free(all);
}

/* The line that ends there, without blanks around it; *start_ret is where it begins. */
static char *line_before(const char *text, const char *end, const char **start_ret)
{
	const char *start = end - 1;
	size_t blanks;
	char *line;

	while (start > text && start[-1] != '\n')
		start--;
	*start_ret = start;
	blanks = strspn(start, " \t");
	if (blanks > (size_t)(end - start))
		blanks = (size_t)(end - start);
	line = strndup(start + blanks, (size_t)(end - start) - blanks);
	if (line)
		line[strcspn(line, "\n")] = '\0';
	return line;
}

static bool frames_add(struct frames *f, const char *text, bool only_js)
{
	const char *end = text + strlen(text);

	while (end > text) {
		char *line = line_before(text, end, &end);

		if (!line)
			return false;
		if (!*line || (only_js && is_native(line))) {
			free(line);
		} else if (!ray_vec_push(&f->at, line)) {
			free(line);
			return false;
		}
	}
	return true;
}

static struct frames *frames_of(const struct ray_way_stack *stacks, size_t count)
{
	struct frames *all = calloc(count + 1, sizeof(*all));
	bool is_fine = all != NULL;

	for (size_t i = 0; i < count && is_fine; i++) {
		all[i].ns = stacks[i].ns;
		is_fine = frames_add(&all[i], stacks[i].text, true);
		if (is_fine && !all[i].at.n)
			is_fine = frames_add(&all[i], stacks[i].text, false);
	}
	if (is_fine)
		return all;
	frames_free(all, count);
	return NULL;
}

static uint64_t time_of(const struct frames *all, size_t count, size_t depth, const char *frame)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < count; i++)
		if (all[i].ns && depth < all[i].at.n && !strcmp(all[i].at.at[depth], frame))
			ns += all[i].ns;
	return ns;
}

/* The frame at this depth that took most of the time. NULL: there is none. Stacks with another one are set aside. */
static const char *heaviest(struct frames *all, size_t count, size_t depth, uint64_t *ns_ret)
{
	const char *best = NULL;

	*ns_ret = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t ns = all[i].ns && depth < all[i].at.n ? time_of(all, count, depth, all[i].at.at[depth]) : 0;

		if (ns > *ns_ret) {
			*ns_ret = ns;
			best = all[i].at.at[depth];
		}
	}
	for (size_t i = 0; i < count && best; i++)
		if (depth >= all[i].at.n || strcmp(all[i].at.at[depth], best) != 0)
			all[i].ns = 0;
	return best;
}

static void add_frame(const char *frame, double share, size_t width, struct ray_text *out)
{
	ray_auto_text line = { 0 };

	ray_text_printf(&line, "  %3.0f%%  ", 100 * share);
	ray_text_add_safe(&line, frame, strlen(frame));
	ray_view_cut(out, ray_text_get(&line), width, width ? RAY_CUT_END : RAY_CUT_NEVER);
	ray_text_add(out, "\n");
}

bool ray_way_print(const struct ray_way_stack *stacks, size_t count, size_t width, struct ray_text *out)
{
	struct frames *all = frames_of(stacks, count);
	RAY_VEC(const char *) way = { 0 };
	RAY_VEC(uint64_t) times = { 0 };
	uint64_t total = 0, ns;
	bool is_fine = all != NULL;
	const char *frame;

	for (size_t i = 0; i < count; i++)
		total += stacks[i].ns;
	while (is_fine && (frame = heaviest(all, count, way.n, &ns)) && ns * 2 >= total)
		is_fine = ray_vec_push(&way, frame) && ray_vec_push(&times, ns);
	for (size_t i = way.n; i && is_fine; i--)
		add_frame(way.at[i - 1], (double)times.at[i - 1] / (double)total, width, out);
	frames_free(all, count);
	ray_vec_free(&way);
	ray_vec_free(&times);
	return is_fine && !out->failed;
}
