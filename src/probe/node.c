/* node.c - provider nodePID: what happens in a node, under the names of node's own probes of old, on any stock binary.
 * SPDX-License-Identifier: MIT
 *
 * node1234:::http-server-request. Probes are rows of node_events.c; what tells them are hooks (watch.h, node_hooks.c) at system calls and at functions of
 * the process, which are found here. An event that a process cannot tell is not listed for it; one that it can tell only in part is, with a warning. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/node_codes.h"
#include "probe/node_events.h"
#include "probe/node_facts.h"
#include "probe/node_symbols.h"
#include "probe/watch.h"

struct search {
	struct ray_catalogue *c;
	const struct ray_provider *provider;
	const struct ray_probe_spec *spec;
	ray_probe_list *matches;
};

/* ---- descriptions ---- */

static bool is_digits(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

/* node*, node123, *; not what names another provider or none. */
static bool handles(const struct ray_catalogue *c, const char *pattern)
{
	size_t plain = strcspn(pattern, "*?[\\");

	(void)c;
	if (!*pattern)
		return false;
	if (!pattern[plain])
		return !strncmp(pattern, "node", 4) && is_digits(pattern + 4);
	if (plain <= 4)
		return !strncmp(pattern, "node", plain);
	return !strncmp(pattern, "node", 4) && strspn(pattern + 4, "0123456789") >= plain - 4;
}

static const char *event_name(uint32_t event)
{
	static const char *const names[] = {
#define NAME(name, text) [RAY_EVENT_##name] = text,
		RAY_NODE_EVENTS(NAME)
#undef NAME
	};

	return names[event];
}

static bool event_matches(const struct ray_probe_spec *spec, uint32_t event)
{
	return ray_glob_matches(spec->name, event_name(event)) &&
	       ray_glob_matches(spec->function, ray_node_events[event].group);
}

/* node*::http-server-request, gc-start: one of ours by its name, and nothing else is called so. */
static bool handles_unnamed(const struct ray_probe_spec *spec)
{
	if (!*spec->name || (!ray_glob_is_plain(spec->name) && !*spec->module))
		return false;
	for (uint32_t i = 1; i < RAY_NODE_EVENT_COUNT; i++)
		if (event_matches(spec, i))
			return true;
	return false;
}

uint64_t ray_watch_events(const struct ray_probe_spec *spec)
{
	uint64_t events = 0;

	if (spec->id || !(*spec->provider ? handles(NULL, spec->provider) : handles_unnamed(spec)))
		return 0;
	for (uint32_t i = 1; i < RAY_NODE_EVENT_COUNT; i++)
		if (event_matches(spec, i))
			events |= 1ULL << i;
	return events;
}

/* ---- the hooks of one process ---- */

static bool is_function(const struct ray_hook *hook)
{
	return hook->kind == RAY_SITE_UPROBE || hook->kind == RAY_SITE_URETPROBE;
}

static bool is_for(const struct ray_hook *hook, const struct ray_node_about *about)
{
	/* A version that could not be read may be any. */
	return !about->major ||
	       ((!hook->from || about->major >= hook->from) && (!hook->to || about->major <= hook->to));
}

/* For each row what it hangs on, and what it stands back for. */
static struct ray_error *find_all(struct ray_catalogue *c, pid_t pid, struct ray_node_found *found)
{
	struct ray_node_want *wants = calloc(2 * ray_hook_count, sizeof(*wants));
	struct ray_error *err;

	if (!wants)
		return &ray_enomem;
	for (size_t i = 0; i < ray_hook_count; i++) {
		memcpy(wants[2 * i].names, ray_hooks[i].names, sizeof(wants->names));
		wants[2 * i].is_libc = ray_hooks[i].is_stand_in;
		wants[2 * i].is_after_call = ray_hooks[i].is_after_call;
		memcpy(wants[2 * i + 1].names, ray_hooks[i].unless, sizeof(wants->names));
	}
	err = ray_node_find_all(c, pid, wants, 2 * ray_hook_count, found);
	free(wants);
	return err;
}

/* A site outlives what is known of the process, which is forgotten when it maps more files. */
static const char *file_keep(struct ray_catalogue *c, const struct ray_watch *watch, const char *file)
{
	for (size_t i = watch->site_count; i; i--)
		if (!strcmp(watch->sites[i - 1].site.uprobe.file, file))
			return watch->sites[i - 1].site.uprobe.file;
	return ray_arena_strdup(ray_catalogue_arena(c), file);
}

static void site_fill(struct ray_watch_site *at, size_t row, const struct ray_node_place *place, pid_t pid)
{
	const struct ray_hook *hook = &ray_hooks[row];

	at->row = row;
	at->site.kind = hook->kind;
	at->site.uprobe.file = place->module->path;
	at->site.uprobe.offset = place->offset;
	at->site.uprobe.pid = pid;
}

/* Whether a row hangs already: looked at again, a process keeps what it has. */
static bool has_site(const struct ray_watch *watch, const struct ray_watch_site *site)
{
	for (size_t i = 0; i < watch->site_count; i++)
		if (watch->sites[i].row == site->row && watch->sites[i].site.uprobe.offset == site->site.uprobe.offset)
			return true;
	return false;
}

/* Makes room for all that was found. */
static struct ray_error *sites_reserve(struct ray_catalogue *c, struct ray_watch *watch,
				       const struct ray_node_found *found)
{
	struct ray_watch_site *sites;
	size_t n = watch->site_count;

	for (size_t i = 0; i < ray_hook_count; i++)
		n += found[2 * i].count;
	sites = ray_arena_alloc(ray_catalogue_arena(c), sizeof(*sites) * (n + 1));
	if (!sites)
		return &ray_enomem;
	if (watch->site_count)
		memcpy(sites, watch->sites, sizeof(*sites) * watch->site_count);
	watch->sites = sites;
	return NULL;
}

static struct ray_error *sites_add(struct ray_catalogue *c, struct ray_watch *watch, size_t row,
				   const struct ray_node_found *found)
{
	for (size_t i = 0; i < found->count; i++) {
		struct ray_watch_site at = { 0 };

		site_fill(&at, row, &found->places[i], watch->pid);
		if (has_site(watch, &at))
			continue;
		at.site.uprobe.file = file_keep(c, watch, at.site.uprobe.file);
		if (!at.site.uprobe.file)
			return &ray_enomem;
		watch->sites[watch->site_count++] = at;
	}
	return NULL;
}

/* An event that lacks a hook it needs cannot be told here. */
static struct ray_error *watch_fill(struct ray_catalogue *c, const struct ray_node_about *about,
				    struct ray_watch *watch)
{
	struct ray_node_found *found = calloc(2 * ray_hook_count + 1, sizeof(*found));
	struct ray_error *err = found ? find_all(c, watch->pid, found) : &ray_enomem;
	uint64_t missing = 0, present = 0;

	if (!err)
		err = sites_reserve(c, watch, found);
	for (size_t i = 0; i < ray_hook_count && !err; i++) {
		const struct ray_hook *hook = &ray_hooks[i];

		if (!is_for(hook, about) || (is_function(hook) && found[2 * i + 1].count))
			continue;
		watch->lacks[i] = is_function(hook) && !found[2 * i].count;
		if (watch->lacks[i]) {
			watch->needs_calls |= hook->is_stand_in && !ray_node_awaits_glibc(about->process);
			missing |= hook->needed_by;
			watch->node.flags |= hook->absent;
			continue;
		}
		present |= hook->needed_by;
		if (is_function(hook))
			err = sites_add(c, watch, i, &found[2 * i]);
	}
	watch->events = present & ~missing;
	free(found);
	return err;
}

/* ---- processes ---- */

static struct ray_watch *watch_known(struct ray_catalogue *c, const struct ray_node_about *about)
{
	ray_watches *all = ray_catalogue_watches(c);

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->pid == about->pid && all->at[i]->inode == about->module->inode)
			return all->at[i];
	return NULL;
}

static struct ray_error *watch_new(struct ray_catalogue *c, pid_t pid, uint64_t inode, const char *module,
				   struct ray_watch **ret)
{
	struct ray_watch *watch = ray_arena_alloc(ray_catalogue_arena(c), sizeof(*watch));

	if (!watch)
		return &ray_enomem;
	watch->pid = pid;
	watch->inode = inode;
	watch->module = ray_arena_strdup(ray_catalogue_arena(c), module);
	watch->lacks = ray_arena_alloc(ray_catalogue_arena(c), ray_hook_count * sizeof(bool));
	if (!watch->module || !watch->lacks || !ray_vec_push(ray_catalogue_watches(c), watch))
		return &ray_enomem;
	*ret = watch;
	return NULL;
}

static struct ray_error *watch_get(struct ray_catalogue *c, const struct ray_node_about *about, struct ray_watch **ret)
{
	struct ray_watch *watch = watch_known(c, about);
	struct ray_error *err;

	if (!watch) {
		err = watch_new(c, about->pid, about->module->inode, about->module->name, &watch);
		if (err)
			return err;
		watch->node.version = about->major * 1000 + about->minor;
	}
	*ret = watch;
	/* It may have mapped more libraries since. */
	if (watch->module_count == about->process->modules.n)
		return NULL;
	watch->module_count = about->process->modules.n;
	ray_node_facts(about, &watch->node);
	err = ray_node_codes(c, about, &watch->node);
	return err ? err : watch_fill(c, about, watch);
}

static struct ray_error *match_one(pid_t pid, void *arg)
{
	const struct search *s = arg;
	const struct ray_node_about *about;
	struct ray_watch *watch;
	struct ray_error *err;
	char provider[32];

	snprintf(provider, sizeof(provider), "node%d", pid);
	if (!ray_glob_matches(s->spec->provider, provider))
		return NULL;
	err = ray_node_about(s->c, pid, &about);
	if (err || !about)
		return err;
	err = watch_get(s->c, about, &watch);
	for (uint32_t i = 1; i < RAY_NODE_EVENT_COUNT && !err; i++) {
		struct ray_probe_names names = { provider, about->module->name, ray_node_events[i].group, event_name(i),
						 0 };
		struct ray_probe *probe;

		if (!(watch->events >> i & 1) || !event_matches(s->spec, i) ||
		    !ray_glob_matches(s->spec->module, about->module->name))
			continue;
		err = ray_catalogue_add(s->c, s->provider, &names, s->matches, &probe);
		if (!err) {
			probe->pid = pid;
			probe->data = watch;
		}
	}
	return err;
}

static struct ray_error *match(struct ray_catalogue *c, const struct ray_provider *p, const struct ray_probe_spec *spec,
			       ray_probe_list *matches)
{
	struct search s = { c, p, spec, matches };

	if (*spec->provider && ray_glob_is_plain(spec->provider))
		return match_one((pid_t)atoi(spec->provider + 4), &s);
	return ray_code_process_each(c, match_one, &s);
}

static struct ray_error *match_late(struct ray_catalogue *c, const struct ray_provider *p,
				    const struct ray_probe_spec *spec, pid_t pid, ray_probe_list *matches)
{
	struct search s = { c, p, spec, matches };

	return match_one(pid, &s);
}

/* ---- processes of the same program ---- */

struct ray_error *ray_watch_reserve(struct ray_catalogue *c, const struct ray_watch *like, uint32_t event,
				    struct ray_probe **ret)
{
	const struct ray_probe_names names = { ray_provider_node.name, like->module, ray_node_events[event].group,
					       event_name(event), 0 };

	return ray_catalogue_reserve(c, &ray_provider_node, &names, ret);
}

struct ray_error *ray_watch_adopt(struct ray_catalogue *c, const struct ray_watch *like, pid_t pid,
				  struct ray_watch **ret)
{
	struct ray_error *err = watch_new(c, pid, like->inode, like->module, ret);

	if (!err)
		(*ret)->events = like->events;
	return err;
}

/* ---- probes ---- */

static uint32_t event_of(const struct ray_probe *probe)
{
	uint32_t i;

	for (i = 1; i + 1 < RAY_NODE_EVENT_COUNT && strcmp(event_name(i), probe->name); i++)
		;
	return i;
}

static struct ray_error *args(struct ray_catalogue *c, struct ray_probe *probe, struct ray_probe_args *ret)
{
	const struct ray_node_event_row *row = &ray_node_events[event_of(probe)];

	(void)c;
	*ret = (struct ray_probe_args){ .at = row->args, .count = row->arg_count, .known = true };
	return NULL;
}

/* The same in every process, also before there is one. */
static struct ray_error *each_args(struct ray_catalogue *c, const struct ray_probe_spec *spec,
				   bool (*take)(const struct ray_probe_args *args, void *arg), void *arg)
{
	uint64_t events = ray_watch_events(spec);

	(void)c;
	for (uint32_t i = 1; i < RAY_NODE_EVENT_COUNT; i++) {
		struct ray_probe_args all = { .at = ray_node_events[i].args,
					      .count = ray_node_events[i].arg_count,
					      .known = true };

		if (events >> i & 1 && !take(&all, arg))
			break;
	}
	return NULL;
}

static struct ray_error *sites(struct ray_catalogue *c, struct ray_probe *probe)
{
	struct ray_site *site = ray_probe_site_add(c, probe);
	struct ray_watch *watch = probe->data;
	const struct ray_node_about *about = NULL;
	struct ray_error *err = NULL;

	if (!site)
		return &ray_enomem;
	if (event_of(probe) == RAY_EVENT_EXCEPTION_THROW)
		err = ray_node_about(c, watch->pid, &about);
	if (about)
		ray_node_facts_v8(about, &watch->node);
	site->kind = RAY_SITE_WATCH;
	site->watch.event = event_of(probe);
	site->watch.watch = watch;
	return err;
}

const struct ray_provider ray_provider_node = {
	.name = "node",
	.has_events = true,
	.prelude = ray_node_prelude,
	.stability = {
		{ "Evolving", "Evolving", "ISA" },
		{ "Private", "Private", "Unknown" },
		{ "Private", "Private", "Unknown" },
		{ "Evolving", "Evolving", "ISA" },
		{ "Evolving", "Evolving", "ISA" },
	},
	.is_costly = true,
	.handles = handles,
	.handles_unnamed = handles_unnamed,
	.match = match,
	.match_process = match_late,
	.args = args,
	.sites = sites,
	.each_args = each_args,
};
