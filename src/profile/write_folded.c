/* write_folded.c - stacks as lines: "main-4242/4242;outer (/srv/a.js:3:1)_[j];inner 12". SPDX-License-Identifier: MIT
 *
 * The form of stackcollapse-perf.pl --tid, which flamegraph.pl, speedscope and many others read: the thread, then the functions from the root,
 * then the weight. JavaScript has its file and where the function begins behind its name, and _[j] after it, by which flamegraph.pl --color=js
 * knows it; V8's builtins have _[j] alone, the kernel has _[k]. A semicolon within a name becomes \x3b. Lines, times and units are not kept. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "profile/formats.h"
#include "profile/merge.h"

static bool is_script(enum ray_profile_kind kind)
{
	return kind == RAY_KIND_JS || kind == RAY_KIND_PACKAGE || kind == RAY_KIND_NODE || kind == RAY_KIND_WASM;
}

static const char *suffix(enum ray_profile_kind kind)
{
	if (is_script(kind) || kind == RAY_KIND_BUILTIN)
		return "_[j]";
	return kind == RAY_KIND_KERNEL ? "_[k]" : "";
}

static void add_name(struct ray_text *out, const char *name)
{
	ray_auto_text safe = { 0 };
	const char *text;

	ray_text_add_safe(&safe, name, strlen(name));
	for (text = ray_text_get(&safe); *text;) {
		size_t length = strcspn(text, ";");

		ray_text_add_bytes(out, text, length);
		text += length;
		if (*text) {
			ray_text_add(out, "\\x3b");
			text++;
		}
	}
}

void ray_folded_frame(const struct ray_profile_function *f, struct ray_text *out)
{
	add_name(out, f->name);
	if (is_script(f->kind)) {
		ray_text_add(out, " (");
		add_name(out, *f->file ? f->file : "<anonymous>");
		if (f->line)
			ray_text_printf(out, ":%d", f->line);
		if (f->line && f->column)
			ray_text_printf(out, ":%d", f->column);
		ray_text_add(out, ")");
	}
	ray_text_add(out, suffix(f->kind));
}

/* The texts of all functions, one after the other, each with its NUL; where each begins. */
struct names {
	struct ray_text text;
	RAY_VEC(size_t) at;
};

static bool write_names(const struct ray_profile *p, struct names *names)
{
	for (size_t i = 0; i < p->functions.n; i++) {
		if (!ray_vec_push(&names->at, names->text.length))
			return false;
		ray_folded_frame(&p->functions.at[i], &names->text);
		ray_text_add_bytes(&names->text, "", 1);
	}
	return !names->text.failed;
}

static void write_thread(const struct ray_profile_thread *t, FILE *out)
{
	ray_auto_text text = { 0 };

	if (!t->pid && !t->tid && !*t->name)
		return;
	add_name(&text, *t->name ? t->name : "thread");
	fprintf(out, "%s-%" PRIu32 "/%" PRIu32 ";", ray_text_get(&text), t->pid, t->tid);
}

typedef RAY_VEC(uint32_t) path_vec;

static bool write_sample(const struct ray_profile *p, const struct ray_profile_sample *s, const struct names *names,
			 path_vec *path, FILE *out)
{
	path->n = 0;
	for (uint32_t at = s->node; at; at = p->nodes.at[at].parent)
		if (!ray_vec_push(path, p->frames.at[p->nodes.at[at].frame].function))
			return false;
	write_thread(&p->threads.at[s->thread], out);
	if (!path->n)
		fputs("(no stack)", out);
	for (size_t i = path->n; i-- > 0;) {
		fputs(names->text.bytes + names->at.at[path->at[i]], out);
		if (i)
			putc(';', out);
	}
	fprintf(out, " %" PRId64 "\n", s->weight);
	return true;
}

struct ray_error *ray_write_folded(const struct ray_profile *p, FILE *out)
{
	ray_auto(ray_profile, merged) = ray_profile_merge(p);
	struct names names = { 0 };
	path_vec path = { 0 };
	bool ok = merged && write_names(merged, &names);

	for (size_t i = 0; ok && i < merged->samples.n; i++)
		if (merged->samples.at[i].weight)
			ok = write_sample(merged, &merged->samples.at[i], &names, &path, out);
	ray_text_deinit(&names.text);
	ray_vec_free(&names.at);
	ray_vec_free(&path);
	return ok ? NULL : &ray_enomem;
}
