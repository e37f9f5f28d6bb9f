/* top_screen.c - what is chosen on the screen, and the keys that change it. See top_screen.h. SPDX-License-Identifier: MIT */
#include "view/top_screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "view/keys.h"

enum { USUAL_WINDOW = 2 /* 5 s */ };

void ray_top_screen_init(struct ray_top_screen *s)
{
	*s = (struct ray_top_screen){ .source = "", .window = USUAL_WINDOW, .width = 80, .rows = 1 };
}

void ray_top_screen_deinit(struct ray_top_screen *s)
{
	if (s->has_regex)
		regfree(&s->regex);
	ray_vec_free(&s->list);
	ray_vec_free(&s->trail);
	ray_vec_free(&s->relations);
	ray_vec_free(&s->boxes);
	ray_vec_free(&s->path);
}

struct ray_top_query ray_top_screen_query(const struct ray_top_screen *s)
{
	return (struct ray_top_query){ .window_ns = ray_top_windows[s->window],
				       .is_cumulative = s->is_cumulative,
				       .hidden = s->hidden,
				       .group = s->group };
}

/* ---- functions by what they are ---- */

uint64_t ray_top_function_id(const struct ray_profile_function *f)
{
	uint64_t hash = ray_hash_text(ray_hash_text((uint64_t)f->kind, f->name), f->file);

	hash = ray_hash_word(hash, (uint64_t)(uint32_t)f->line << 32 | (uint32_t)f->column);
	return hash ? hash : 1;
}

uint32_t ray_top_function_find(const struct ray_top_answer *a, uint64_t id)
{
	for (size_t i = 1; i < a->profile->functions.n; i++)
		if (ray_top_function_id(&a->profile->functions.at[i]) == id)
			return (uint32_t)i;
	return 0;
}

/* ---- the filter ---- */

/* A pattern that is no regular expression is a text to look for. */
static void compile(struct ray_top_screen *s)
{
	if (s->has_regex)
		regfree(&s->regex);
	s->has_regex = *s->pattern && !regcomp(&s->regex, s->pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB);
}

bool ray_top_screen_filter(struct ray_top_screen *s, const char *pattern)
{
	if (strlen(pattern) >= sizeof(s->pattern))
		return false;
	strcpy(s->pattern, pattern);
	compile(s);
	return true;
}

static bool has(const struct ray_top_screen *s, const char *text)
{
	return s->has_regex ? !regexec(&s->regex, text, 0, NULL, 0) : strcasestr(text, s->pattern) != NULL;
}

bool ray_top_screen_matches(const struct ray_top_screen *s, const struct ray_profile_function *f)
{
	return !*s->pattern || has(s, f->name) || has(s, f->file) || has(s, ray_profile_kind_word(f->kind));
}

/* ---- the list ---- */

struct sorting {
	const struct ray_top_answer *answer;
	enum ray_top_order order;
};

static int compare(const void *x, const void *y, void *arg)
{
	const struct sorting *by = arg;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct ray_profile_row *a = &by->answer->rows[i], *b = &by->answer->rows[k];
	int names;

	if (by->order == RAY_TOP_BY_TOTAL && a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (by->order == RAY_TOP_BY_NAME) {
		names = strcasecmp(by->answer->profile->functions.at[a->function].name,
				   by->answer->profile->functions.at[b->function].name);
		if (names)
			return names;
	}
	return i < k ? -1 : i > k; /* as they come: by self */
}

static uint64_t id_at(const struct ray_top_screen *s, const struct ray_top_answer *a, size_t at)
{
	return ray_top_function_id(&a->profile->functions.at[a->rows[s->list.at[at]].function]);
}

/* The line that was chosen follows its function; the first line stays the first. */
static void find_cursor(struct ray_top_screen *s, const struct ray_top_answer *a)
{
	for (size_t i = 0; s->selected && i < s->list.n; i++) {
		if (id_at(s, a, i) != s->selected)
			continue;
		s->cursor = i;
		return;
	}
	if (s->cursor >= s->list.n)
		s->cursor = s->list.n ? s->list.n - 1 : 0;
}

static void update_list(struct ray_top_screen *s, const struct ray_top_answer *a)
{
	struct sorting by = { a, s->order };

	s->list.n = 0;
	for (uint32_t i = 0; i < a->row_count; i++)
		if (ray_top_screen_matches(s, &a->profile->functions.at[a->rows[i].function]) &&
		    !ray_vec_push(&s->list, i))
			s->failed = true;
	if (s->list.n)
		qsort_r(s->list.at, s->list.n, sizeof(*s->list.at), compare, &by);
	find_cursor(s, a);
}

void ray_top_screen_update(struct ray_top_screen *s, const struct ray_top_answer *a)
{
	update_list(s, a);
	if (s->view == RAY_TOP_DETAIL)
		ray_top_detail_update(s, a);
	if (s->view == RAY_TOP_FLAME)
		ray_top_flame_update(s, a);
}

static void move_to(struct ray_top_screen *s, const struct ray_top_answer *a, size_t at)
{
	s->cursor = at >= s->list.n ? (s->list.n ? s->list.n - 1 : 0) : at;
	s->selected = s->cursor ? id_at(s, a, s->cursor) : 0;
}

static bool list_key(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t key)
{
	size_t page = s->rows > 1 ? s->rows - 1 : 1;

	switch (key) {
	case RAY_KEY_UP:
	case 'k':
		move_to(s, a, s->cursor ? s->cursor - 1 : 0);
		return true;
	case RAY_KEY_DOWN:
	case 'j':
		move_to(s, a, s->cursor + 1);
		return true;
	case RAY_KEY_PAGE_UP:
		move_to(s, a, s->cursor > page ? s->cursor - page : 0);
		return true;
	case RAY_KEY_PAGE_DOWN:
		move_to(s, a, s->cursor + page);
		return true;
	case RAY_KEY_HOME:
	case 'g':
		move_to(s, a, 0);
		return true;
	case RAY_KEY_END:
	case 'G':
		move_to(s, a, SIZE_MAX);
		return true;
	case RAY_KEY_ENTER:
	case RAY_KEY_RIGHT:
		if (s->cursor < s->list.n && ray_vec_push(&s->trail, id_at(s, a, s->cursor)))
			s->view = RAY_TOP_DETAIL;
		s->relations.n = 0;
		return true;
	default:
		return false;
	}
}

/* ---- keys for all of it ---- */

/* Bytes of the last letter go together. */
static void delete_letter(char *text)
{
	size_t n = strlen(text);

	while (n && (text[--n] & 0xc0) == 0x80)
		;
	text[n] = '\0';
}

static void type(struct ray_top_screen *s, uint32_t key)
{
	ray_auto_text typed = { 0 };

	switch (key) {
	case RAY_KEY_ENTER:
		s->is_typing = false;
		return;
	case RAY_KEY_ESCAPE:
		s->is_typing = false;
		strcpy(s->pattern, s->typed_over);
		break;
	case RAY_KEY_BACKSPACE:
		delete_letter(s->pattern);
		break;
	case 'U' - '@': /* as shells have it: all of it */
		*s->pattern = '\0';
		break;
	default:
		if (key < ' ' || key >= RAY_KEY_UP)
			return;
		ray_text_add_codepoint(&typed, key);
		if (typed.failed || strlen(s->pattern) + typed.length >= sizeof(s->pattern))
			return;
		strcat(s->pattern, ray_text_get(&typed));
	}
	compile(s);
}

/* Which kinds go with one key. The program's own code always stays. */
static const struct {
	char key;
	uint32_t kinds;
} toggles[] = {
	{ '1', 1u << RAY_KIND_PACKAGE },
	{ '2', 1u << RAY_KIND_NODE },
	{ '3', 1u << RAY_KIND_BUILTIN | 1u << RAY_KIND_WASM },
	{ '4', 1u << RAY_KIND_NATIVE | 1u << RAY_KIND_UNKNOWN },
	{ '5', 1u << RAY_KIND_GC | 1u << RAY_KIND_COMPILER },
	{ '6', 1u << RAY_KIND_KERNEL },
};

static bool toggle_kinds(struct ray_top_screen *s, uint32_t key)
{
	for (size_t i = 0; i < RAY_COUNT(toggles); i++) {
		if ((uint32_t)toggles[i].key != key)
			continue;
		s->hidden ^= toggles[i].kinds;
		s->wants_answer = true;
		return true;
	}
	if (key != '0')
		return false;
	s->hidden = 0;
	s->wants_answer = true;
	return true;
}

/* The next group, or the one before; all of them stand before the first. */
static void choose_group(struct ray_top_screen *s, const struct ray_top_answer *a, bool is_back)
{
	size_t count = a->figures.group_count, at = 0;

	for (size_t i = 0; i < count; i++)
		if (a->figures.groups[i].id == s->group)
			at = i + 1;
	at = (at + (is_back ? count : 1)) % (count + 1);
	s->group = at ? a->figures.groups[at - 1].id : 0;
	s->wants_answer = true;
}

static void choose_window(struct ray_top_screen *s, bool is_back)
{
	size_t count = 0;

	while (ray_top_windows[count])
		count++;
	s->window = (s->window + (is_back ? count - 1 : 1)) % count;
	s->is_cumulative = false;
	s->wants_answer = true;
}

static void choose_order(struct ray_top_screen *s, enum ray_top_order order)
{
	s->order = order;
	s->selected = 0;
	s->cursor = 0;
}

/* One step out: of what is typed, of a view, of a filter. */
static void leave(struct ray_top_screen *s)
{
	if (s->view == RAY_TOP_HELP) {
		s->view = s->view_before;
	} else if (s->view != RAY_TOP_LIST) {
		s->view = RAY_TOP_LIST;
		s->trail.n = 0;
	} else if (*s->pattern) {
		ray_top_screen_filter(s, "");
	} else if (s->group) {
		s->group = 0;
		s->wants_answer = true;
	}
}

static bool order_key(struct ray_top_screen *s, uint32_t key)
{
	static const char keys[] = "stn";
	const char *at = key < 128 && key ? strchr(keys, (int)key) : NULL;

	if (!at)
		return false;
	choose_order(s, (enum ray_top_order)(at - keys));
	return true;
}

static bool switch_key(struct ray_top_screen *s, uint32_t key)
{
	switch (key) {
	case ' ':
		s->is_paused = !s->is_paused;
		s->wants_answer = true;
		return true;
	case 'c':
		s->is_cumulative = !s->is_cumulative;
		s->wants_answer = true;
		return true;
	case '%':
		s->in_cpus = !s->in_cpus;
		return true;
	case 'r':
		s->wants_reset = s->wants_answer = true;
		s->is_paused = false;
		return true;
	case 'f':
		s->view = s->view == RAY_TOP_FLAME ? RAY_TOP_LIST : RAY_TOP_FLAME;
		return true;
	case '/':
		s->is_typing = true;
		strcpy(s->typed_over, s->pattern);
		return true;
	case '?':
	case 'h':
	case RAY_KEY_F1:
		s->view_before = s->view;
		s->view = RAY_TOP_HELP;
		return true;
	default:
		return false;
	}
}

static void common_key(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t key)
{
	if (key == 'q')
		s->wants_quit = true;
	else if (key == RAY_KEY_ESCAPE)
		leave(s);
	else if (key == RAY_KEY_TAB || key == RAY_KEY_BACK_TAB)
		choose_group(s, a, key == RAY_KEY_BACK_TAB);
	else if (key == 'w' || key == 'W')
		choose_window(s, key == 'W');
	else if (!toggle_kinds(s, key) && !order_key(s, key))
		switch_key(s, key);
}

static bool view_key(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t key)
{
	switch (s->view) {
	case RAY_TOP_LIST:
		return list_key(s, a, key);
	case RAY_TOP_DETAIL:
		return ray_top_detail_key(s, a, key);
	case RAY_TOP_FLAME:
		return ray_top_flame_key(s, a, key);
	default: /* any key leaves the help */
		leave(s);
		return true;
	}
}

void ray_top_screen_key(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t key)
{
	*s->message = '\0';
	if (s->is_typing)
		type(s, key);
	else if (!view_key(s, a, key))
		common_key(s, a, key);
	ray_top_screen_update(s, a);
}
