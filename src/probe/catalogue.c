/* catalogue.c - the probes that have been asked for so far, and who provides them.
 * SPDX-License-Identifier: MIT
 *
 * Probes are found by their four names through a hash map, and by number through an array. Numbers below FIRST_FREE belong to providers that
 * know all their probes beforehand (first_id), so that a number of -l means the same probe in the next run; the others are numbered as they come. */
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "probe/process.h"
#include "probe/provider.h"
#include "probe/tracefs.h"
#include "probe/watch.h"

enum { FIRST_FREE = 10000 };

struct ray_catalogue {
	struct ray_arena *arena;
	struct ray_catalogue_options options;
	RAY_VEC(struct ray_probe *) by_id; /* NULL where no probe is yet */
	RAY_HASHMAP(struct ray_probe *) by_names;
	uint32_t next_id;
	char *prelude;
	const char *note;	      /* NULL if none */
	ray_code_processes processes; /* looked at so far */
	ray_code_files files;
	ray_watches watches;
	ray_pids candidates;
	struct ray_node_cache *node_cache;
	int tracefs;					     /* its directory; -1 until someone needs it */
	const char *slots[RAY_POINT_ARGS - RAY_POINT_NAMED]; /* see ray_catalogue_slot(); NULL: free */
};

static char *preludes_join(struct ray_arena *arena)
{
	ray_auto_text all = { 0 };

	for (const struct ray_provider *const *p = ray_providers; *p; p++)
		ray_text_add(&all, (*p)->prelude ? (*p)->prelude : "");
	return all.failed ? NULL : ray_arena_strdup(arena, ray_text_get(&all));
}

struct ray_error *ray_catalogue_create(const struct ray_catalogue_options *options, struct ray_catalogue **ret)
{
	static const struct ray_probe_spec always = { .provider = "dtrace", .module = "", .function = "", .name = "" };
	ray_auto(ray_catalogue, c) = calloc(1, sizeof(*c));
	ray_probe_list list = { 0 };
	struct ray_error *err;
	pid_t *pids;

	if (!c)
		return &ray_enomem;
	c->next_id = FIRST_FREE;
	c->tracefs = -1;
	c->arena = ray_arena_create();
	if (!c->arena)
		return &ray_enomem;
	c->options = *options;
	pids = ray_arena_alloc(c->arena, sizeof(*pids) * (options->pid_count + 1));
	c->prelude = preludes_join(c->arena);
	if (!pids || !c->prelude)
		return &ray_enomem;
	if (options->pid_count)
		memcpy(pids, options->pids, sizeof(*pids) * options->pid_count);
	c->options.pids = pids;
	/* BEGIN, END and ERROR are there whether or not a script names them. */
	err = ray_catalogue_match(c, &always, &list);
	ray_vec_free(&list);
	if (err)
		return err;
	*ret = ray_take(c);
	return NULL;
}

struct ray_error *ray_catalogue_limit_syscalls(struct ray_catalogue *c, const char *names)
{
	c->options.syscalls = ray_arena_strdup(c->arena, names);
	return c->options.syscalls ? NULL : &ray_enomem;
}

const pid_t *ray_catalogue_pids(const struct ray_catalogue *c, size_t *count_ret)
{
	*count_ret = c->options.pid_count;
	return c->options.pids;
}

void ray_catalogue_free(struct ray_catalogue *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->processes.n; i++)
		ray_code_process_free(c->processes.at[i]);
	ray_vec_free(&c->processes);
	for (size_t i = 0; i < c->files.n; i++)
		ray_code_file_free(c->files.at[i]);
	ray_vec_free(&c->files);
	ray_vec_free(&c->watches);
	ray_vec_free(&c->candidates);
	if (c->tracefs >= 0)
		close(c->tracefs);
	ray_vec_free(&c->by_id);
	ray_hashmap_free(&c->by_names);
	ray_arena_free(c->arena);
	free(c);
}

struct ray_arena *ray_catalogue_arena(struct ray_catalogue *c)
{
	return c->arena;
}

ray_code_processes *ray_catalogue_processes(struct ray_catalogue *c)
{
	return &c->processes;
}

ray_code_files *ray_catalogue_files(struct ray_catalogue *c)
{
	return &c->files;
}

struct ray_node_cache **ray_catalogue_node_cache(struct ray_catalogue *c)
{
	return &c->node_cache;
}

ray_pids *ray_catalogue_candidates(struct ray_catalogue *c)
{
	return &c->candidates;
}

ray_watches *ray_catalogue_watches(struct ray_catalogue *c)
{
	return &c->watches;
}

const char **ray_catalogue_slots(struct ray_catalogue *c)
{
	return c->slots;
}

const struct ray_catalogue_options *ray_catalogue_settings(const struct ray_catalogue *c)
{
	return &c->options;
}

struct ray_error *ray_catalogue_tracefs(struct ray_catalogue *c, int *ret)
{
	struct ray_error *err = c->tracefs < 0 ? ray_tracefs_open(&c->tracefs) : NULL;

	if (!err)
		*ret = c->tracefs;
	return err;
}

void ray_catalogue_set_note(struct ray_catalogue *c, const char *what, struct ray_error *err)
{
	if (!c->note)
		c->note = ray_arena_printf(c->arena, "%s: %s", what, ray_error_text(err));
	ray_error_free(err);
}

const char *ray_catalogue_note(const struct ray_catalogue *c)
{
	return c->note ? c->note : "";
}

const char *ray_catalogue_prelude(const struct ray_catalogue *c)
{
	return c->prelude;
}

const struct ray_probe *ray_catalogue_probe(const struct ray_catalogue *c, uint32_t id)
{
	return id < c->by_id.n ? c->by_id.at[id] : NULL;
}

uint32_t ray_catalogue_id_limit(const struct ray_catalogue *c)
{
	return c->by_id.n;
}

void ray_catalogue_forget(struct ray_catalogue *c, pid_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < c->watches.n; i++)
		if (c->watches.at[i]->pid != pid)
			c->watches.at[n++] = c->watches.at[i];
	c->watches.n = n;
	n = 0;
	for (size_t i = 0; i < c->processes.n; i++)
		if (c->processes.at[i]->pid == pid)
			ray_code_process_free(c->processes.at[i]);
		else
			c->processes.at[n++] = c->processes.at[i];
	c->processes.n = n;
	for (size_t i = 0; i < c->by_id.n; i++) {
		struct ray_probe *probe = c->by_id.at[i];

		if (!probe || probe->pid != pid)
			continue;
		probe->data = NULL;
		probe->sites = NULL;
		probe->site_count = 0;
		probe->sites_known = false;
	}
}

/* ---- finding by name ---- */

static uint64_t hash_names(const struct ray_probe_names *names)
{
	uint64_t hash = ray_hash_text(ray_hash_text(0, names->provider), names->module);

	return ray_hash_text(ray_hash_text(hash, names->function), names->name);
}

static bool probe_is(const struct ray_probe *probe, const struct ray_probe_names *names)
{
	return !strcmp(probe->name, names->name) && !strcmp(probe->function, names->function) &&
	       !strcmp(probe->module, names->module) && !strcmp(probe->provider, names->provider);
}

static struct ray_probe **find(struct ray_catalogue *c, const struct ray_probe_names *names)
{
	return ray_hashmap_find(&c->by_names, hash_names(names), one, probe_is(*one, names));
}

/* ---- adding ---- */

static bool number_take(struct ray_catalogue *c, struct ray_probe *probe, uint32_t wanted)
{
	bool is_free = wanted && wanted < FIRST_FREE && !ray_catalogue_probe(c, wanted);

	probe->id = is_free ? wanted : c->next_id;
	while (c->by_id.n <= probe->id)
		if (!ray_vec_push(&c->by_id, NULL))
			return false;
	c->by_id.at[probe->id] = probe;
	if (!is_free)
		c->next_id++;
	return true;
}

static struct ray_probe *probe_new(struct ray_catalogue *c, const struct ray_provider *owner,
				   const struct ray_probe_names *names)
{
	struct ray_probe *probe = ray_arena_alloc(c->arena, sizeof(*probe));

	if (!probe)
		return NULL;
	probe->owner = owner;
	probe->provider = ray_arena_strdup(c->arena, names->provider);
	probe->module = ray_arena_strdup(c->arena, names->module);
	probe->function = ray_arena_strdup(c->arena, names->function);
	probe->name = ray_arena_strdup(c->arena, names->name);
	if (!probe->provider || !probe->module || !probe->function || !probe->name)
		return NULL;
	return number_take(c, probe, names->id) ? probe : NULL;
}

struct ray_error *ray_catalogue_add(struct ray_catalogue *c, const struct ray_provider *owner,
				    const struct ray_probe_names *names, ray_probe_list *matches,
				    struct ray_probe **ret)
{
	struct ray_probe **found = find(c, names), *probe = found ? *found : probe_new(c, owner, names);

	if (!probe || (!found && !ray_hashmap_add(&c->by_names, hash_names(names), probe)) ||
	    !ray_vec_push(matches, probe))
		return &ray_enomem;
	if (ret)
		*ret = probe;
	return NULL;
}

struct ray_error *ray_catalogue_reserve(struct ray_catalogue *c, const struct ray_provider *owner,
					const struct ray_probe_names *names, struct ray_probe **ret)
{
	*ret = probe_new(c, owner, names);
	if (!*ret)
		return &ray_enomem;
	(*ret)->is_reserved = true;
	return NULL;
}

struct ray_error *ray_catalogue_name(struct ray_catalogue *c, struct ray_probe *probe, const char *provider)
{
	const char *copy = ray_arena_strdup(c->arena, provider);
	struct ray_probe_names names = { copy, probe->module, probe->function, probe->name, 0 };
	struct ray_probe **found;

	if (!copy)
		return &ray_enomem;
	probe->provider = copy;
	probe->is_reserved = false;
	/* The number of a process that has ended is used again: its probes keep their numbers, and are not found any more. */
	found = find(c, &names);
	if (found)
		*found = probe;
	else if (!ray_hashmap_add(&c->by_names, hash_names(&names), probe))
		return &ray_enomem;
	return NULL;
}

bool ray_probe_spec_has(const struct ray_probe_spec *spec, const struct ray_probe_names *names)
{
	return ray_glob_matches(spec->name, names->name) && ray_glob_matches(spec->function, names->function) &&
	       ray_glob_matches(spec->module, names->module) && ray_glob_matches(spec->provider, names->provider);
}

struct ray_site *ray_probe_site_add(struct ray_catalogue *c, struct ray_probe *probe)
{
	struct ray_site *sites = ray_arena_alloc(c->arena, sizeof(*sites) * (probe->site_count + 1));

	if (!sites)
		return NULL;
	if (probe->site_count)
		memcpy(sites, probe->sites, sizeof(*sites) * probe->site_count);
	probe->sites = sites;
	return &sites[probe->site_count++];
}

/* ---- matching ---- */

static int by_number(const void *a, const void *b)
{
	const struct ray_probe *const *left = a;
	const struct ray_probe *const *right = b;

	return (*left)->id < (*right)->id ? -1 : (*left)->id > (*right)->id;
}

/* Sorts what was appended from `first` on, and drops what is there twice or was there before. */
static struct ray_error *matches_tidy(struct ray_catalogue *c, ray_probe_list *matches, size_t first)
{
	ray_auto_memory bool *seen = calloc(c->by_id.n + 1, 1);
	size_t n = first;

	if (!seen)
		return &ray_enomem;
	if (matches->n > first)
		qsort(&matches->at[first], matches->n - first, sizeof(*matches->at), by_number);
	for (size_t i = 0; i < first; i++)
		seen[matches->at[i]->id] = true;
	for (size_t i = first; i < matches->n; i++) {
		if (seen[matches->at[i]->id])
			continue;
		seen[matches->at[i]->id] = true;
		matches->at[n++] = matches->at[i];
	}
	matches->n = n;
	return NULL;
}

static struct ray_error *match_number(struct ray_catalogue *c, uint32_t id, ray_probe_list *matches)
{
	static const struct ray_probe_spec all = { .provider = "", .module = "", .function = "", .name = "" };
	ray_probe_list list = { 0 };
	struct ray_error *err = NULL;

	for (const struct ray_provider *const *p = ray_providers; *p && !ray_catalogue_probe(c, id) && !err; p++)
		if (id >= (*p)->first_id && id - (*p)->first_id < (*p)->id_count)
			err = (*p)->match(c, *p, &all, &list);
	ray_vec_free(&list);
	if (err)
		return err;
	if (ray_catalogue_probe(c, id) && !ray_vec_push(matches, c->by_id.at[id]))
		return &ray_enomem;
	return NULL;
}

bool ray_provider_is_meant(const struct ray_catalogue *c, const struct ray_provider *p,
			   const struct ray_probe_spec *spec)
{
	if (!*spec->provider && p->handles_unnamed)
		return p->handles_unnamed(spec);
	return p->handles ? p->handles(c, spec->provider) : ray_glob_matches(spec->provider, p->name);
}

struct ray_error *ray_catalogue_match(struct ray_catalogue *c, const struct ray_probe_spec *spec,
				      ray_probe_list *matches)
{
	size_t first = matches->n;
	struct ray_error *err = NULL;

	if (spec->id) {
		err = match_number(c, spec->id, matches);
		return err ? err : matches_tidy(c, matches, first);
	}
	for (const struct ray_provider *const *p = ray_providers; *p && !err; p++) {
		/* BEGIN and tick-1s are written without a provider: what they find is not looked for in the kernel's
		 * thousands of tracepoints too. */
		if ((*p)->is_costly && !*spec->provider && ray_glob_is_plain(spec->name) && matches->n > first)
			continue;
		if (ray_provider_is_meant(c, *p, spec))
			err = (*p)->match(c, *p, spec, matches);
	}
	return err ? err : matches_tidy(c, matches, first);
}

bool ray_catalogue_may_grow(const struct ray_catalogue *c, const struct ray_probe_spec *spec)
{
	for (const struct ray_provider *const *p = ray_providers; *p; p++)
		if ((*p)->match_process && !spec->id && ray_provider_is_meant(c, *p, spec))
			return true;
	return false;
}

struct ray_error *ray_catalogue_match_process(struct ray_catalogue *c, const struct ray_probe_spec *spec, pid_t pid,
					      ray_probe_list *matches)
{
	size_t first = matches->n;
	struct ray_error *err;

	for (const struct ray_provider *const *p = ray_providers; *p; p++) {
		if (!(*p)->match_process || !ray_provider_is_meant(c, *p, spec))
			continue;
		err = (*p)->match_process(c, *p, spec, pid, matches);
		/* It may be gone again, or be somebody else's. */
		if (err == &ray_enomem)
			return err;
		ray_error_free(err);
	}
	return matches_tidy(c, matches, first);
}
