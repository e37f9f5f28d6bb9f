/* provider.h - what a provider is: a row of functions. SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_PROVIDER_H
#define RAY_PROBE_PROVIDER_H

#include "base/arena.h"
#include "probe/catalogue.h"
#include "probe/types.h"

/* Stability of -lv, per part: provider, module, function, name, arguments. */
struct ray_stability {
	const char *name, *data, *dependency; /* "Evolving", "Private", "ISA", "Common"... */
};

struct ray_provider {
	const char *name;    /* "syscall"; "pid" and "usdt" match by pattern, see handles */
	const char *prelude; /* D text; NULL if none */
	struct ray_stability stability[5];
	/* Numbers that only this provider's probes have, whatever was matched before: `-i` means the same probe in every run. 0: none. */
	uint32_t first_id, id_count;
	/* Looks only when the provider field names it or nothing else matched: finding its probes costs something. */
	bool is_costly;
	bool has_other_tasks; /* some of its sites may be is_about_task */
	bool has_events;      /* its sites are RAY_SITE_WATCH */
	/* Whether a provider field of a description can mean us ("pid123", "node*"); NULL: it must match name. */
	bool (*handles)(const struct ray_catalogue *c, const char *pattern);
	/* Whether a description without a provider (node*::http-server-request, a module's) can mean us; NULL: as handles says. */
	bool (*handles_unnamed)(const struct ray_probe_spec *spec);
	/* Adds all probes matching spec through ray_catalogue_add(). */
	struct ray_error *(*match)(struct ray_catalogue *c, const struct ray_provider *p,
				   const struct ray_probe_spec *spec, ray_probe_list *matches);
	/* Those of one process that has just come, or mapped more code; NULL: probes of this provider do not come later. */
	struct ray_error *(*match_process)(struct ray_catalogue *c, const struct ray_provider *p,
					   const struct ray_probe_spec *spec, pid_t pid, ray_probe_list *matches);
	struct ray_error *(*args)(struct ray_catalogue *c, struct ray_probe *probe,
				  struct ray_probe_args *ret); /* NULL: unknown */
	struct ray_error *(*sites)(struct ray_catalogue *c, struct ray_probe *probe);
	/* See ray_catalogue_each_args(); NULL: cannot be told. */
	struct ray_error *(*each_args)(struct ray_catalogue *c, const struct ray_probe_spec *spec,
				       bool (*take)(const struct ray_probe_args *args, void *arg), void *arg);
	/* See ray_probe_describe(). */
	void (*describe)(const struct ray_probe *probe, struct ray_text *out);
	/* What its arguments are made of, and scripts may name: up to one without a name. NULL if there are none. */
	const struct ray_probe_type *types;
	const struct ray_probe_constant *constants;
};

extern const struct ray_provider *const ray_providers[]; /* NULL-ended, in the order of -l */

extern const struct ray_provider ray_provider_dtrace, ray_provider_profile, ray_provider_syscall, ray_provider_proc,
	ray_provider_sched, ray_provider_tracepoint, ray_provider_pid, ray_provider_uv, ray_provider_node,
	ray_provider_usdt;

/* A probe about to be listed. */
struct ray_probe_names {
	const char *provider, *module, *function, *name;
	uint32_t id; /* in the provider's own range; 0: the next free number */
};

/* For providers. Finds the probe of these four names or makes it (strings are copied), and appends it to matches. *ret may be NULL.
 * Does not look at the description: see ray_probe_spec_has(). */
RAY_MUST_USE struct ray_error *ray_catalogue_add(struct ray_catalogue *c, const struct ray_provider *owner,
						 const struct ray_probe_names *names, ray_probe_list *matches,
						 struct ray_probe **ret);
/* A probe that has a number and is found by no description, until it is named: then it is the one of its names. */
RAY_MUST_USE struct ray_error *ray_catalogue_reserve(struct ray_catalogue *c, const struct ray_provider *owner,
						     const struct ray_probe_names *names, struct ray_probe **ret);
RAY_MUST_USE struct ray_error *ray_catalogue_name(struct ray_catalogue *c, struct ray_probe *probe,
						  const char *provider);
/* The directory of tracefs, opened once: remains the catalogue's. */
RAY_MUST_USE struct ray_error *ray_catalogue_tracefs(struct ray_catalogue *c, int *ret);
/* Consumes err: the catalogue's note, if it has none yet. */
void ray_catalogue_set_note(struct ray_catalogue *c, const char *what, struct ray_error *err);
struct ray_arena *ray_catalogue_arena(struct ray_catalogue *c);
const struct ray_catalogue_options *ray_catalogue_settings(const struct ray_catalogue *c);
/* The processes whose code was looked at; see process.h. */
struct ray_code_process;
typedef RAY_VEC(struct ray_code_process *) ray_code_processes;
ray_code_processes *ray_catalogue_processes(struct ray_catalogue *c);
struct ray_code_file;
typedef RAY_VEC(struct ray_code_file *) ray_code_files;
ray_code_files *ray_catalogue_files(struct ray_catalogue *c);
/* What node_symbols.c has found out, NULL at first; lies in the arena. */
struct ray_node_cache;
struct ray_node_cache **ray_catalogue_node_cache(struct ray_catalogue *c);
/* The processes there were when the first description asked for all; see ray_code_process_each(). */
typedef RAY_VEC(pid_t) ray_pids;
ray_pids *ray_catalogue_candidates(struct ray_catalogue *c);
/* The processes that the node provider watches; see watch.h. */
struct ray_watch;
typedef RAY_VEC(struct ray_watch *) ray_watches;
ray_watches *ray_catalogue_watches(struct ray_catalogue *c);
bool ray_probe_spec_has(const struct ray_probe_spec *spec, const struct ray_probe_names *names);
/* The name behind a number that ray_catalogue_slot() has given; NULL: it has not. */
const char *ray_catalogue_slot_name(struct ray_catalogue *c, int number);
const char **ray_catalogue_slots(struct ray_catalogue *c);
/* Whether the description can mean probes of this provider. */
bool ray_provider_is_meant(const struct ray_catalogue *c, const struct ray_provider *p,
			   const struct ray_probe_spec *spec);
/* One site, zeroed, in the catalogue's arena: probe->sites. NULL when there is no memory. */
struct ray_site *ray_probe_site_add(struct ray_catalogue *c, struct ray_probe *probe);

#endif
