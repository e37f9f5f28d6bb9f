/* remap.c - see remap.h. SPDX-License-Identifier: MIT */
#include "profile/remap.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "profile/kind.h"
#include "profile/remap_script.h"
#include "profile/sourceurl.h"

enum { NAME_REACH = 256 /* columns before a function's beginning where its name is looked for */ };

struct ray_remap {
	struct ray_remap_options options;
	struct ray_profile *texts; /* holds nothing else */
	RAY_VEC(struct ray_remap_script *) scripts;
	RAY_HASHMAP(struct ray_remap_script *) by_name;
	struct ray_text why;
	struct ray_remap_report report;
};

struct ray_remap *ray_remap_create(const struct ray_remap_options *options)
{
	ray_auto(ray_remap, r) = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->options = *options;
	r->texts = ray_profile_create();
	return r->texts ? ray_take(r) : NULL;
}

void ray_remap_free(struct ray_remap *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->scripts.n; i++) {
		ray_remap_script_deinit(r->scripts.at[i]);
		free(r->scripts.at[i]);
	}
	ray_vec_free(&r->scripts);
	ray_hashmap_free(&r->by_name);
	ray_profile_free(r->texts);
	ray_text_deinit(&r->why);
	free(r);
}

/* ---- scripts ---- */

static void count_script(struct ray_remap *r, const struct ray_remap_script *s, const struct ray_text *why)
{
	r->report.scripts++;
	r->report.maps += s->map != NULL;
	if (!s->is_broken)
		return;
	if (!r->report.broken++)
		ray_text_add_safe(&r->why, ray_text_get(why), why->length);
}

/* NULL without memory. */
static struct ray_remap_script *find_script(struct ray_remap *r, const char *file)
{
	const char *name = ray_profile_text(r->texts, file); /* kept once: a pointer says which it is */
	uint64_t hash = ray_hash_pointer(0, name);
	struct ray_remap_script **known = ray_hashmap_find(&r->by_name, hash, one, (*one)->name == name), *s;

	if (known)
		return *known;
	s = calloc(1, sizeof(*s));
	if (!s || !ray_vec_push(&r->scripts, s)) {
		free(s);
		return NULL;
	}
	s->name = name;
	return ray_hashmap_add(&r->by_name, hash, s) ? s : NULL;
}

/* The same, and what is known of its map. */
static struct ray_remap_script *get_script(struct ray_remap *r, const char *file)
{
	struct ray_remap_script *s = find_script(r, file);
	ray_auto_text why = { 0 };

	if (!s || s->is_read)
		return s;
	if (!ray_remap_script_read(s, &r->options, &why))
		return NULL;
	count_script(r, s, &why);
	return s;
}

void ray_remap_tell_url(struct ray_remap *r, const char *file, const char *url)
{
	struct ray_remap_script *s = find_script(r, file);

	if (s && !s->is_read && !s->url)
		s->url = strdup(url);
}

/* ---- places ---- */

struct place {
	const char *file; /* kept once */
	int line, column;
};

/* Where a place of the script is in its source; false: the map does not tell. */
static bool find_place(struct ray_remap *r, struct ray_remap_script *s, int line, int column, struct place *ret)
{
	struct ray_source_place found;
	ray_auto_memory char *name = NULL;
	ray_auto_text safe = { 0 };

	if (line <= 0 || !ray_source_map_find(s->map, line, column > 0 ? column : 1, &found) || !found.source)
		return false;
	name = ray_source_name(s->folder, found.root, found.source);
	if (!name)
		return false;
	ray_text_add_safe(&safe, name, strlen(name));
	*ret = (struct place){ ray_profile_text(r->texts, ray_text_get(&safe)), found.line, found.column };
	return true;
}

/* ---- names ---- */

/* "handle" of "Server.handle", "new Server" or "get size". */
static const char *last_word(const char *name)
{
	const char *dot = strrchr(name, '.'), *blank = strrchr(name, ' ');
	const char *last = dot > blank ? dot : blank;

	return last ? last + 1 : name;
}

struct name_search {
	struct ray_remap_script *script;
	const char *word;
	const char *found;
};

static bool try_name(void *arg, const struct ray_source_place *place)
{
	struct name_search *search = arg;

	if (!place->name || !*place->name ||
	    !ray_remap_script_has_word(search->script, place->at_line, place->at_column, search->word))
		return true;
	search->found = place->name;
	return false;
}

/* A map tells the names of what it renamed where they stand in the script. The function's own stands before its parameters: "function a(", "a(b) {",
 * "a = (b) =>". Of what is called on an object of a renamed class only the function's own name is known. */
static const char *find_name(struct ray_remap *r, struct ray_remap_script *s, const struct ray_profile_function *f)
{
	struct name_search search = { .script = s, .word = last_word(f->name) };
	int from = f->column > NAME_REACH ? f->column - NAME_REACH : 1;
	ray_auto_text name = { 0 };
	size_t prefix;

	if (f->name[0] == '(' || f->name[0] == '<' || f->line <= 0 || f->column <= 0)
		return f->name;
	ray_source_map_each_back(s->map, f->line, from, f->column, try_name, &search);
	if (!search.found || !strcmp(search.found, search.word))
		return f->name;
	prefix = strcspn(f->name, " ");
	if (f->name[prefix])
		ray_text_add_bytes(&name, f->name, prefix + 1);
	ray_text_add_safe(&name, search.found, strlen(search.found));
	return ray_profile_text(r->texts, ray_text_get(&name));
}

/* ---- functions ---- */

static bool is_script(const struct ray_profile_function *f)
{
	return (f->kind == RAY_KIND_JS || f->kind == RAY_KIND_PACKAGE) && *f->file;
}

/* Of where it begins; or, where that is not known or in no source, of a place in it. */
static void make_function(struct ray_remap *r, const struct ray_profile_function *f, const char *name,
			  const struct place *place, bool is_beginning, struct ray_profile_function *ret)
{
	const char *package;
	size_t length;

	*ret = (struct ray_profile_function){ .name = name, .file = place->file, .package = "" };
	ret->kind = ray_kind_of_script(place->file, &package, &length);
	/* What a bundler or a map calls so is not node's. */
	if (ret->kind == RAY_KIND_NODE || ret->kind == RAY_KIND_WASM)
		ret->kind = f->kind;
	if (package)
		ret->package = ray_profile_text_n(r->texts, package, length);
	if (is_beginning) {
		ret->line = place->line;
		ret->column = place->column;
	}
}

bool ray_remap_function(struct ray_remap *r, const struct ray_profile_function *f, struct ray_profile_function *ret)
{
	struct ray_remap_script *s = is_script(f) ? get_script(r, f->file) : NULL;
	struct place place;

	if (!s || !s->map || !find_place(r, s, f->line, f->column, &place))
		return false;
	make_function(r, f, find_name(r, s, f), &place, true, ret);
	return true;
}

/* ---- profiles ---- */

struct mapping {
	struct ray_remap *remap;
	const struct ray_profile *from;
	struct ray_profile *to;
	uint32_t *frames; /* by number in from: its number in to; 0: not yet */
};

/* A frame in a script with a map. */
static void map_frame(struct mapping *m, struct ray_remap_script *s, struct ray_profile_function *function,
		      struct ray_profile_frame *frame)
{
	struct ray_remap *r = m->remap;
	struct ray_profile_function known = *function;
	bool begins = ray_remap_function(r, &known, function), runs;
	struct place place;

	runs = find_place(r, s, frame->line, frame->column, &place);
	if (!begins && runs)
		make_function(r, &known, known.name, &place, false, function);
	if (begins || runs)
		r->report.mapped++;
	else
		r->report.unmapped++;
	if (!begins && !runs)
		return;
	/* Code of another file that was put into this function: a line of that would say nothing here. */
	if (runs && place.file == function->file) {
		frame->line = place.line;
		frame->column = place.column;
		return;
	}
	r->report.unmapped += frame->line > 0;
	frame->line = frame->column = 0;
}

static uint32_t get_frame(struct mapping *m, uint32_t number)
{
	struct ray_profile_frame frame = m->from->frames.at[number];
	struct ray_profile_function function = m->from->functions.at[frame.function];
	struct ray_remap_script *s;

	if (m->frames[number])
		return m->frames[number];
	s = is_script(&function) ? get_script(m->remap, function.file) : NULL;
	if (s && s->map)
		map_frame(m, s, &function, &frame);
	frame.function = ray_profile_function(m->to, &function);
	m->frames[number] = ray_profile_frame(m->to, &frame);
	return m->frames[number];
}

struct ray_error *ray_remap_profile(struct ray_remap *r, const struct ray_profile *p, struct ray_profile **ret)
{
	ray_auto(ray_profile, to) = ray_profile_create();
	ray_auto_memory uint32_t *frames = calloc(p->frames.n + 1, sizeof(*frames));
	ray_auto_memory uint32_t *nodes = calloc(p->nodes.n + 1, sizeof(*nodes));
	struct mapping m = { r, p, to, frames };

	if (!to || !frames || !nodes)
		return &ray_enomem;
	ray_profile_describe(to, p);
	to->has_times = p->has_times;
	to->failed = p->failed;
	/* A parent's number is smaller than its children's. */
	for (size_t i = 1; i < p->nodes.n; i++)
		nodes[i] = ray_profile_node(to, nodes[p->nodes.at[i].parent], get_frame(&m, p->nodes.at[i].frame));
	for (size_t i = 0; i < p->threads.n; i++)
		ray_profile_thread(to, &p->threads.at[i]);
	for (size_t i = 0; i < p->samples.n; i++) {
		struct ray_profile_sample s = p->samples.at[i];

		s.node = nodes[s.node];
		ray_profile_add(to, &s);
	}
	if (to->failed && !p->failed)
		return &ray_enomem;
	*ret = ray_take(to);
	return NULL;
}

struct ray_remap_report ray_remap_report(const struct ray_remap *r)
{
	struct ray_remap_report report = r->report;

	report.why_broken = ray_text_get(&r->why);
	return report;
}
