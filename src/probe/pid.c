/* pid.c - provider pidPID: any function of a process, at its entry, its return, or an instruction of it.
 * SPDX-License-Identifier: MIT
 *
 * pid123:module:function:entry|return|hex-offset. Functions are named as their symbols are or as C++ writes them, without
 * arguments; a pattern is tried on both. Several functions of one name (overloads, copies the compiler made) are one probe with several sites. */
#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/demangle.h"
#include "probe/place.h"

enum { LONGEST_PIECE = 64 };

struct function {
	const char *name; /* for people */
	uint64_t vaddr, size;
	bool is_global;
};

struct search {
	struct ray_catalogue *c;
	const struct ray_code_module *module;
	struct ray_elf *elf;
	const char *pattern;
	char piece[LONGEST_PIECE]; /* of the pattern, without wildcards: what a mangled name must contain */
	RAY_VEC(struct function) found;
	bool failed;
};

static bool is_digits(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

static bool handles(const struct ray_catalogue *c, const char *pattern)
{
	(void)c;
	return !strncmp(pattern, "pid", 3) && (is_digits(pattern + 3) || !strcmp(pattern + 3, "*"));
}

/* The longest run of letters, digits and _ in the pattern. C++ names keep theirs when they are mangled. */
static void find_piece(struct search *s)
{
	const char *p = s->pattern, *best = p;
	size_t n, longest = 0;

	for (; *p; p += n ? n : 1) {
		n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
		if (n > longest && (p == s->pattern || p[-1] != '[')) {
			longest = n;
			best = p;
		}
	}
	if (longest >= LONGEST_PIECE)
		longest = LONGEST_PIECE - 1;
	snprintf(s->piece, sizeof(s->piece), "%.*s", (int)longest, best);
}

/* The name to show if the symbol is one that is meant; NULL if not. malloc'ed. */
static char *matching_name(const struct search *s, const char *symbol)
{
	ray_auto_memory char *full = NULL;
	char *plain;

	if (*s->piece && !strstr(symbol, s->piece))
		return NULL;
	if (strncmp(symbol, "_Z", 2) && strncmp(symbol, "_R", 2))
		return ray_glob_matches(s->pattern, symbol) ? strndup(symbol, strcspn(symbol, "@")) : NULL;
	plain = ray_demangle(symbol, 0);
	if (!plain || ray_glob_matches(s->pattern, plain) || ray_glob_matches(s->pattern, symbol))
		return plain;
	full = ray_demangle(symbol, 1);
	if (full && ray_glob_matches(s->pattern, full))
		return plain;
	free(plain);
	return NULL;
}

static bool take_symbol(const struct ray_symbol *symbol, void *arg)
{
	struct search *s = arg;
	struct function f = { .vaddr = symbol->value, .size = symbol->size, .is_global = symbol->bind != STB_LOCAL };
	ray_auto_memory char *name = NULL;

	if (!ray_symbol_is_function(symbol))
		return true;
	name = matching_name(s, symbol->name);
	if (!name)
		return true;
	f.name = ray_arena_strdup(ray_catalogue_arena(s->c), name);
	s->failed |= !f.name || !ray_vec_push(&s->found, f);
	return !s->failed;
}

/* Of several names for one address the global one, and of those the shortest: poll, not __poll. */
static int by_address(const void *a, const void *b)
{
	const struct function *left = a, *right = b;

	if (left->vaddr != right->vaddr)
		return left->vaddr < right->vaddr ? -1 : 1;
	if (left->is_global != right->is_global)
		return right->is_global - left->is_global;
	return (int)strlen(left->name) - (int)strlen(right->name);
}

static void drop_aliases(struct search *s)
{
	size_t i, n = 0;

	if (s->found.n)
		qsort(s->found.at, s->found.n, sizeof(*s->found.at), by_address);
	for (i = 0; i < s->found.n; i++)
		if (!n || s->found.at[n - 1].vaddr != s->found.at[i].vaddr)
			s->found.at[n++] = s->found.at[i];
	s->found.n = n;
}

/* A plain C name is found by hash; everything else goes through all symbols. */
static void search_module(struct search *s)
{
	struct ray_symbol symbol;

	s->found.n = 0;
	s->elf = ray_code_module_elf(s->module);
	if (!s->elf)
		return;
	if (ray_glob_is_plain(s->pattern) && !strchr(s->pattern, ':') &&
	    ray_elf_find_symbol(s->elf, s->pattern, &symbol) && ray_symbol_is_function(&symbol)) {
		take_symbol(&symbol, s);
		return;
	}
	find_piece(s);
	ray_elf_each_symbol(s->elf, take_symbol, s);
	if (!ray_glob_is_plain(s->pattern))
		drop_aliases(s);
}

/* "2f" -> 0x2f; false if the name is no offset. */
static bool parse_offset(const char *name, uint64_t *ret)
{
	char *end;

	if (!isxdigit((unsigned char)*name))
		return false;
	*ret = strtoull(name, &end, 16);
	return !*end;
}

static struct ray_error *add(struct search *s, const struct ray_provider *p, const struct function *f,
			     const char *provider, const char *name, enum ray_place_where where, uint64_t offset,
			     ray_probe_list *matches)
{
	struct ray_probe_names names = { provider, s->module->name, f->name, name, 0 };
	struct ray_function_place place = { .module = s->module,
					    .vaddr = f->vaddr,
					    .size = f->size,
					    .offset = offset,
					    .where = where,
					    .arguments = RAY_REGISTER_ARGUMENTS };
	struct ray_probe *probe;
	struct ray_error *err = ray_catalogue_add(s->c, p, &names, matches, &probe);

	if (err)
		return err;
	probe->pid = (pid_t)atoi(provider + 3);
	return ray_place_add(s->c, probe, &place);
}

static struct ray_error *add_function(struct search *s, const struct ray_provider *p, const struct ray_probe_spec *spec,
				      const char *provider, const struct function *f, ray_probe_list *matches)
{
	struct ray_error *err = NULL;
	uint64_t offset;

	if (ray_glob_matches(spec->name, "entry"))
		err = add(s, p, f, provider, "entry", RAY_PLACE_ENTRY, 0, matches);
	if (!err && ray_glob_matches(spec->name, "return"))
		err = add(s, p, f, provider, "return", RAY_PLACE_RETURN, 0, matches);
	if (!err && parse_offset(spec->name, &offset) && offset < f->size)
		err = add(s, p, f, provider, spec->name, RAY_PLACE_OFFSET, offset, matches);
	return err;
}

static struct ray_error *match_process(struct ray_catalogue *c, const struct ray_provider *p,
				       const struct ray_probe_spec *spec, pid_t pid, ray_probe_list *matches)
{
	struct search s = { .c = c, .pattern = spec->function };
	const struct ray_code_process *process;
	struct ray_error *err;
	char provider[32];
	size_t i, j;

	err = ray_code_process_get(c, pid, &process);
	if (err)
		return err;
	snprintf(provider, sizeof(provider), "pid%d", pid);
	for (i = 0; !err && i < process->modules.n; i++) {
		s.module = process->modules.at[i];
		if (!ray_code_module_is(s.module, spec->module))
			continue;
		search_module(&s);
		if (s.failed)
			err = &ray_enomem;
		for (j = 0; !err && j < s.found.n; j++)
			err = add_function(&s, p, spec, provider, &s.found.at[j], matches);
	}
	ray_vec_free(&s.found);
	return err;
}

/* Libraries that are loaded later. */
static struct ray_error *match_late(struct ray_catalogue *c, const struct ray_provider *p,
				    const struct ray_probe_spec *spec, pid_t pid, ray_probe_list *matches)
{
	const struct ray_catalogue_options *options = ray_catalogue_settings(c);
	bool is_meant = is_digits(spec->provider + 3) && atol(spec->provider + 3) == pid;
	size_t i;

	for (i = 0; !is_digits(spec->provider + 3) && i < options->pid_count; i++)
		is_meant |= options->pids[i] == pid;
	return is_meant ? match_process(c, p, spec, pid, matches) : NULL;
}

static struct ray_error *match(struct ray_catalogue *c, const struct ray_provider *p, const struct ray_probe_spec *spec,
			       ray_probe_list *matches)
{
	const struct ray_catalogue_options *options = ray_catalogue_settings(c);
	struct ray_error *err = NULL;
	size_t i;

	if (is_digits(spec->provider + 3))
		return match_process(c, p, spec, (pid_t)atol(spec->provider + 3), matches);
	for (i = 0; !err && i < options->pid_count; i++)
		err = match_process(c, p, spec, options->pids[i], matches);
	return err;
}

const struct ray_provider ray_provider_pid = {
	.name = "pid",
	.stability = {
		{ "Evolving", "Evolving", "Common" },
		{ "Private", "Private", "Unknown" },
		{ "Private", "Private", "Unknown" },
		{ "Evolving", "Evolving", "Common" },
		{ "Private", "Private", "Unknown" },
	},
	.is_costly = true,
	.handles = handles,
	.match = match,
	.match_process = match_late,
	.sites = ray_place_sites,
};
