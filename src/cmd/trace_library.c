/* trace_library.c - D libraries of -L and -x libdir: what scripts may use without declaring it. SPDX-License-Identifier: MIT
 *
 * Every *.d file of such a directory is compiled before the first script, those that others depend on first. A
 * library whose module or provider is not there is left out with all that need it, silently: that is what
 * `depends_on` is for. */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "cmd/trace.h"

struct library {
	char *path, *name; /* name points into path */
	char *text;
	size_t length;
	RAY_VEC(char *) needs; /* names of libraries */
	bool is_left_out, is_done, is_open /* being looked into: met again it depends on itself */;
};

typedef RAY_VEC(struct library) library_list;

static void free_libraries(library_list *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct library *l = &all->at[i];

		for (size_t k = 0; k < l->needs.n; k++)
			free(l->needs.at[k]);
		ray_vec_free(&l->needs);
		free(l->path);
		free(l->text);
	}
	ray_vec_free(all);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_library(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 2 && strcmp(e->d_name + n - 2, ".d") == 0;
}

static bool is_there(struct ray_trace_call *t, const char *class, const char *name)
{
	struct ray_probe_spec spec = { .provider = name, .module = "", .function = "", .name = "" };
	ray_probe_list list = { 0 };
	char path[300];
	bool found;

	if (strcmp(class, "module") == 0) {
		snprintf(path, sizeof(path), "/sys/module/%s", name);
		return strcmp(name, "vmlinux") == 0 || access(path, F_OK) == 0;
	}
	ray_error_free(ray_catalogue_match(t->catalogue, &spec, &list));
	found = list.n > 0;
	ray_vec_free(&list);
	return found;
}

/* Its depends_on pragmas; the compiler checks how they are written. */
static bool read_needs(struct ray_trace_call *t, struct library *l)
{
	for (const char *line = l->text; line; line = strchr(line, '\n')) {
		char class[16], name[128], *copy;

		line += *line == '\n';
		if (sscanf(line, " # pragma D depends_on %15s %127s", class, name) != 2)
			continue;
		if (strcmp(class, "library") != 0) {
			l->is_left_out |= !is_there(t, class, name);
			continue;
		}
		copy = strdup(name);
		if (!copy || !ray_vec_push(&l->needs, copy)) {
			free(copy);
			return false;
		}
	}
	return true;
}

static struct ray_error *read_library(struct ray_trace_call *t, const char *directory, const char *name,
				      library_list *all)
{
	struct library l = { 0 };
	ray_auto_text text = { 0 };
	char buffer[4096];
	size_t got;

	if (asprintf(&l.path, "%s/%s", directory, name) < 0)
		return &ray_enomem;
	l.name = l.path + strlen(directory) + 1;
	if (!ray_vec_push(all, l)) {
		free(l.path);
		return &ray_enomem;
	}
	ray_auto_file FILE *f = fopen(l.path, "re");
	if (!f)
		return ray_error_new(RAY_FAILED, "failed to open %s: %s", l.path, strerror(errno));
	while ((got = fread(buffer, 1, sizeof(buffer), f)) > 0)
		ray_text_add_bytes(&text, buffer, got);
	ray_text_add_bytes(&text, "", 0);
	all->at[all->n - 1].length = text.length;
	all->at[all->n - 1].text = text.bytes;
	text.bytes = NULL;
	if (text.failed || !all->at[all->n - 1].text || !read_needs(t, &all->at[all->n - 1]))
		return &ray_enomem;
	return NULL;
}

static struct ray_error *read_directory(struct ray_trace_call *t, const char *directory, library_list *all)
{
	struct ray_error *err = NULL;
	struct dirent **entries;
	int n = scandir(directory, &entries, is_library, by_name);

	for (int i = 0; i < n; i++) {
		if (!err)
			err = read_library(t, directory, entries[i]->d_name, all);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return err; /* a directory that is not there has no libraries */
}

static struct library *find(library_list *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->at[i].name, name) == 0)
			return &all->at[i];
	return NULL;
}

static struct ray_error *compile(struct ray_trace_call *t, const struct library *l)
{
	struct ray_source source = {
		.kind = RAY_TEXT_SCRIPT, .file = l->path, .text = l->text, .length = l->length, .is_library = true
	};
	struct ray_lang_options options = { .error_tags = t->options.errtags,
					    .allow_empty = true,
					    .allow_no_match = true,
					    .strsize = (uint32_t)t->options.strsize };
	size_t clauses = t->program->clauses.n;
	struct ray_diagnostic d = { 0 };
	struct ray_error *err;

	err = ray_program_parse(t->program, &source, &options, &t->macros, &d);
	if (!err)
		err = ray_program_check(t->program, t->catalogue, &options, &t->macros, &d);
	if (err && d.message && d.where.line > 0) {
		ray_error_free(err);
		err = ray_error_new(RAY_FAILED, "%s%s%s\"%s\", line %d: %s", options.error_tags && d.tag ? "[" : "",
				    options.error_tags && d.tag ? d.tag : "", options.error_tags && d.tag ? "] " : "",
				    l->path, d.where.line, d.message);
	}
	ray_diagnostic_deinit(&d);
	t->program->clauses.n = clauses; /* a library declares; what it would do is not done */
	return err;
}

static struct ray_error *compile_after_needs(struct ray_trace_call *t, library_list *all, struct library *l)
{
	struct ray_error *err = NULL;

	if (l->is_done)
		return NULL;
	if (l->is_open)
		return ray_error_new(RAY_FAILED, "library \"%s\" depends on itself", l->path);
	l->is_open = true;
	for (size_t i = 0; i < l->needs.n && !err; i++) {
		struct library *need = find(all, l->needs.at[i]);

		if (!need)
			return ray_error_new(RAY_FAILED, "library \"%s\" depends on \"%s\", which is not there",
					     l->path, l->needs.at[i]);
		err = compile_after_needs(t, all, need);
		l->is_left_out |= need->is_left_out;
	}
	if (!err && !l->is_left_out)
		err = compile(t, l);
	l->is_open = false;
	l->is_done = true;
	return err;
}

struct ray_error *ray_trace_libraries(struct ray_trace_call *t)
{
	struct ray_error *err = NULL;
	library_list all = { 0 };

	if (t->options.nolibs)
		return NULL;
	for (char **d = t->options.libdirs; d && *d && !err; d++)
		err = read_directory(t, *d, &all);
	for (size_t i = 0; i < all.n && !err; i++)
		err = compile_after_needs(t, &all, &all.at[i]);
	free_libraries(&all);
	return err;
}
