/* catalogue.h - which probes there are, and where each one fires.
 * SPDX-License-Identifier: MIT
 *
 * A provider is a row in a table (provider.h): it lists the probes that match a description, tells their argument
 * types as C text, and turns a probe into sites: places in the kernel or in a file where a program is hung in. Probes are made when
 * a description first matches them and keep their number (ID) for the life of the catalogue; dtrace:::BEGIN, END and
 * ERROR are 1, 2 and 3. Runs nothing and attaches nothing. */
#ifndef RAY_PROBE_CATALOGUE_H
#define RAY_PROBE_CATALOGUE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "probe/site.h"
#include "probe/spec.h"

struct ray_provider; /* provider.h */
struct ray_catalogue;

struct ray_probe {
	uint32_t id;
	const char *provider, *module, *function, *name;
	const struct ray_provider *owner;
	pid_t pid;	  /* the process it belongs to (pid, usdt); 0: none */
	void *data;	  /* the provider's */
	bool is_reserved; /* for a process that nobody knows yet: its provider has no number */
	/* Set by the first call of ray_probe_sites(). */
	struct ray_site *sites;
	size_t site_count;
	bool sites_known;
};

struct ray_catalogue_options {
	const pid_t *pids; /* -p and -c */
	size_t pid_count;
	bool only_family;     /* descriptions of all processes mean those and what they start */
	bool exact_entry;     /* -x exactentry: hang entry probes on the first instruction */
	const char *syscalls; /* -x syscalls: the only calls that provider syscall has, "read,write"; NULL: all */
};

RAY_MUST_USE struct ray_error *ray_catalogue_create(const struct ray_catalogue_options *options,
						    struct ray_catalogue **ret);
void ray_catalogue_free(struct ray_catalogue *c);
RAY_DEFINE_AUTO(ray_catalogue, ray_catalogue_free)

/* Of a pragma, which is read when there is a catalogue already: options.syscalls. Before anything is matched. */
RAY_MUST_USE struct ray_error *ray_catalogue_limit_syscalls(struct ray_catalogue *c, const char *names);
/* The processes of -p and -c. */
const pid_t *ray_catalogue_pids(const struct ray_catalogue *c, size_t *count_ret);

typedef RAY_VEC(struct ray_probe *) ray_probe_list;

/* Appends every probe that matches, in the order of their numbers, without those that are there already. Zero matches are no error;
 * an error is a description that its provider refuses ("invalid probe", no such process, no right to look). */
RAY_MUST_USE struct ray_error *ray_catalogue_match(struct ray_catalogue *c, const struct ray_probe_spec *spec,
						   ray_probe_list *matches);
/* Whether a description can match more than it does now, when processes start or load libraries. */
bool ray_catalogue_may_grow(const struct ray_catalogue *c, const struct ray_probe_spec *spec);
/* Looks at one process again; appends its probes that match, also those that are known. A process that is gone has none. */
RAY_MUST_USE struct ray_error *ray_catalogue_match_process(struct ray_catalogue *c, const struct ray_probe_spec *spec,
							   pid_t pid, ray_probe_list *matches);
/* A process has ended: the next one of its number has nothing to do with it. Its probes keep their numbers and names. */
void ray_catalogue_forget(struct ray_catalogue *c, pid_t pid);
const struct ray_probe *ray_catalogue_probe(const struct ray_catalogue *c, uint32_t id); /* NULL if there is none */
/* All numbers are below; there are gaps, as providers that know all their probes have numbers of their own. */
uint32_t ray_catalogue_id_limit(const struct ray_catalogue *c);

/* Types of args[], as C text ("const char *", "struct sockaddr *"). count 0 with known false: the provider cannot tell. */
struct ray_probe_arg {
	const char *type; /* in D */
	const char *name; /* NULL if it has none */
	int native;	  /* which argN holds it */
	/* NULL: same; "string *": an address of text, no text if it is 0; else a translator leads from it to type. */
	const char *native_type;
};
struct ray_probe_args {
	const struct ray_probe_arg *at;
	size_t count;
	bool known;
	/* Not NULL: args[0] is no value but the whole call, and args[0]->name its member of that name, found as an argument is; native < 0: that
	 * cannot be. */
	const struct ray_probe_arg *members;
	size_t member_count;
};
RAY_MUST_USE struct ray_error *ray_probe_args(struct ray_catalogue *c, struct ray_probe *probe,
					      struct ray_probe_args *ret);
/* Calls take() with the args[] of every probe that a description can match, of processes too that do not run yet; until it returns false. Whether
 * they can be told so: if not, only the probes that there are know. */
RAY_MUST_USE struct ray_error *ray_catalogue_each_args(struct ray_catalogue *c, const struct ray_probe_spec *spec,
						       bool (*take)(const struct ray_probe_args *args, void *arg),
						       void *arg, bool *is_known_ret);
/* The number of an argument that all probes have the member `name` of args[0] in, wherever each of them finds it; -1: there are no more such numbers. */
int ray_catalogue_slot(struct ray_catalogue *c, const char *name);
/* Fills probe->sites. */
RAY_MUST_USE struct ray_error *ray_probe_sites(struct ray_catalogue *c, struct ray_probe *probe);

/* Lines about a probe for -lv that no other provider's have; "" if there are none. */
void ray_probe_describe(const struct ray_probe *probe, struct ray_text *out);

/* What could not be looked at by a description that did not name it, and why; "" if nothing. For -l to tell. */
const char *ray_catalogue_note(const struct ray_catalogue *c);

/* D declarations and translators that the provider's argument types need; "" if none. All providers' are given to the parser. */
const char *ray_catalogue_prelude(const struct ray_catalogue *c);

#endif
