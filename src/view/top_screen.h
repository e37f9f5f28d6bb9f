/* top_screen.h - the screen of `noderay top`: what is chosen on it, what keys do, and how it looks at any size.
 * SPDX-License-Identifier: MIT
 *
 * A screen is state and nothing else: keys change it, an answer of the model (view/top.h) fills it, and it is drawn into a page. Whatever was chosen (a function, a
 * place in the flame graph) is remembered by what it is, not by where it stood: answers change each second. Pure: knows no terminal and no clock. */
#ifndef RAY_VIEW_TOP_SCREEN_H
#define RAY_VIEW_TOP_SCREEN_H

#include <regex.h>

#include "base/vec.h"
#include "view/page.h"
#include "view/top.h"

enum ray_top_view { RAY_TOP_LIST, RAY_TOP_DETAIL, RAY_TOP_FLAME, RAY_TOP_HELP };
enum ray_top_order { RAY_TOP_BY_SELF, RAY_TOP_BY_TOTAL, RAY_TOP_BY_NAME };
enum { RAY_TOP_PATTERN = 128 };

/* A caller, a callee or a line of the function that is looked at. */
struct ray_top_relation {
	enum { RAY_TOP_LINE, RAY_TOP_CALLER, RAY_TOP_CALLEE } what;
	uint32_t function; /* 0: nobody, it is a thread's first */
	int line;
	int64_t self, total; /* self of a caller: -1, it does not matter */
};

/* A box of the flame graph: calls of one function by one caller. */
struct ray_top_box {
	uint32_t function, parent, first, next; /* boxes; 0 is the root, and the end of a list */
	int64_t self, total;
};

struct ray_top_screen {
	/* How samples come, for the heading: "99 Hz"; set by the owner. */
	const char *source;
	bool is_batch;	    /* no screen: the heading says how long the interval was */
	uint64_t period_ns; /* between two samples of a thread that runs; 0: not known */
	/* A line for the user; "" if there is none. */
	char message[256];
	/* What is chosen */
	enum ray_top_view view, view_before; /* before: of the help */
	enum ray_top_order order;
	size_t window; /* index into ray_top_windows */
	bool is_cumulative, is_paused, in_cpus /* percent of a processor, not of the samples */;
	uint32_t hidden;
	uint64_t group; /* 0: all */
	char pattern[RAY_TOP_PATTERN];
	bool is_typing;
	char typed_over[RAY_TOP_PATTERN]; /* the pattern before, for escape */
	/* Wishes; whoever fulfils them takes them back. */
	bool wants_quit, wants_reset, wants_answer;
	/* Its own: */
	regex_t regex;
	bool has_regex;
	RAY_VEC(uint32_t) list; /* rows of the answer, in order */
	size_t cursor, first, rows;
	uint64_t selected;	 /* a function; 0: whichever comes first */
	RAY_VEC(uint64_t) trail; /* functions that were looked into, the last one now */
	RAY_VEC(struct ray_top_relation) relations;
	RAY_VEC(struct ray_top_box) boxes;
	RAY_VEC(uint64_t) path; /* functions from the root to the box that is chosen */
	size_t place;		/* in the details: which caller or callee */
	size_t zoom;		/* how many of them lead to the box that fills the screen */
	uint32_t box, zoom_box; /* the same in this answer */
	size_t width;		/* as last drawn */
	bool failed;
};

void ray_top_screen_init(struct ray_top_screen *s);
void ray_top_screen_deinit(struct ray_top_screen *s);
/* What to ask the model for. */
struct ray_top_query ray_top_screen_query(const struct ray_top_screen *s);
/* Fits the screen to a new answer, or to what keys have changed. */
void ray_top_screen_update(struct ray_top_screen *s, const struct ray_top_answer *a);
void ray_top_screen_key(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t key);
bool ray_top_screen_filter(struct ray_top_screen *s, const char *pattern); /* false: it is too long */
/* All of the page: begins and fills it. */
void ray_top_screen_draw(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page);

/* ---- its parts ---- */

uint64_t ray_top_function_id(const struct ray_profile_function *f); /* the same in each answer; never 0 */
bool ray_top_screen_matches(const struct ray_top_screen *s, const struct ray_profile_function *f);
uint32_t ray_top_function_find(const struct ray_top_answer *a, uint64_t id); /* 0: it has none */
/* Where a function is: "/srv/app.js:16", "node", "vmlinux". */
void ray_top_place(const struct ray_profile_function *f, struct ray_text *out);
/* "45.1%", of the samples or of a processor. */
const char *ray_top_percent(const struct ray_top_screen *s, const struct ray_top_answer *a, int64_t weight,
			    char out[16]);
/* Lines of heading: all of them, and what fits on a page of this height. */
void ray_top_draw_all_head(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page);
void ray_top_draw_head(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page);
void ray_top_draw_list(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page, size_t lines);
void ray_top_draw_function(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page,
			   const struct ray_profile_row *row, bool is_selected);
void ray_top_draw_detail(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page, size_t lines);
void ray_top_draw_flame(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page, size_t lines);
void ray_top_draw_help(const struct ray_top_screen *s, struct ray_page *page, size_t lines);
/* top_detail.c, top_flame.c: what is shown, out of an answer; what keys do there. False: the key is none of theirs. */
void ray_top_detail_update(struct ray_top_screen *s, const struct ray_top_answer *a);
bool ray_top_detail_key(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t key);
void ray_top_flame_update(struct ray_top_screen *s, const struct ray_top_answer *a);
bool ray_top_flame_key(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t key);

#endif
