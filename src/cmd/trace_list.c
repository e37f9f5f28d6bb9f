/* trace_list.c - `trace -l` and the reports of -v. See trace.h. SPDX-License-Identifier: MIT */
#include <string.h>

#include "cmd/trace.h"
#include "probe/provider.h"

static void print_attributes(FILE *out, const char *title, const struct ray_stability *s)
{
	fprintf(out, "\n\t%s\n\t\tIdentifier Names: %s\n\t\tData Semantics:   %s\n\t\tDependency Class: %s\n", title,
		s->name, s->data, s->dependency);
}

/* From the least stable to the most: what a script may rely on is as good as its worst part. */
static int stability_rank(const char *name)
{
	static const char *const ranks[] = { "Internal", "Private",  "Obsolete", "External",
					     "Unstable", "Evolving", "Stable",	 "Standard" };
	size_t i;

	for (i = 0; i < RAY_COUNT(ranks); i++)
		if (!strcmp(ranks[i], name))
			return (int)i;
	return 0;
}

static int class_rank(const char *name)
{
	static const char *const ranks[] = { "Unknown", "CPU", "Platform", "Group", "ISA", "Common" };
	size_t i;

	for (i = 0; i < RAY_COUNT(ranks); i++)
		if (!strcmp(ranks[i], name))
			return (int)i;
	return 0;
}

static void lower(struct ray_stability *least, const struct ray_stability *other)
{
	if (stability_rank(other->name) < stability_rank(least->name))
		least->name = other->name;
	if (stability_rank(other->data) < stability_rank(least->data))
		least->data = other->data;
	if (class_rank(other->dependency) < class_rank(least->dependency))
		least->dependency = other->dependency;
}

/* A description is as stable as its least stable part that says something; one that leaves the provider open relies on nothing. */
static struct ray_stability description_stability(const struct ray_provider *p, const char *const parts[4])
{
	static const struct ray_stability unknown = { "Unstable", "Unstable", "Common" };
	struct ray_stability least = p->stability[0];
	size_t i;

	if (!ray_glob_is_plain(parts[0]))
		return unknown;
	for (i = 1; i < 4; i++)
		if (ray_glob_is_plain(parts[i]))
			lower(&least, &p->stability[i]);
	return least;
}

static struct ray_error *print_details(struct ray_trace_call *t, struct ray_probe *probe)
{
	struct ray_probe_args args = { 0 };
	struct ray_error *err = ray_probe_args(t->catalogue, probe, &args);
	const char *const parts[] = { probe->provider, probe->module, probe->function, probe->name };
	struct ray_stability description = description_stability(probe->owner, parts);
	ray_auto_text more = { 0 };
	size_t i;

	if (err)
		return err;
	print_attributes(t->out, "Probe Description Attributes", &description);
	print_attributes(t->out, "Argument Attributes", &probe->owner->stability[4]);
	fprintf(t->out, "\n\tArgument Types\n");
	for (i = 0; i < args.count; i++)
		fprintf(t->out, "\t\targs[%zu]: %s\n", i, args.at[i].type);
	for (i = 0; i < args.member_count; i++)
		fprintf(t->out, "\t\targs[0]->%s: %s\n", args.members[i].name,
			args.members[i].native < 0 ? "cannot be read" : args.members[i].type);
	if (!args.count)
		fprintf(t->out, "\t\tNone\n");
	ray_probe_describe(probe, &more);
	fprintf(t->out, "%s\n", ray_text_get(&more));
	return NULL;
}

static struct ray_error *print_matches(struct ray_trace_call *t, const struct ray_probe_spec *spec)
{
	ray_probe_list probes = { 0 };
	struct ray_error *err = ray_catalogue_match(t->catalogue, spec, &probes);
	ray_auto_text name = { 0 };
	struct ray_probe *p;
	size_t i;

	for (i = 0; !err && i < probes.n; i++) {
		p = probes.at[i];
		fprintf(t->out, "%5u %10s %17s %33s %s\n", p->id, p->provider, p->module, p->function, p->name);
		if (t->verbose)
			err = print_details(t, p);
	}
	if (!err && !probes.n) {
		ray_probe_spec_print(spec, &name);
		fflush(t->out);
		fprintf(stderr, "dtrace: failed to match %s: No probe matches description\n", ray_text_get(&name));
	}
	ray_vec_free(&probes);
	return err;
}

struct ray_error *ray_trace_list(struct ray_trace_call *t)
{
	static const struct ray_probe_spec all = { .provider = "", .module = "", .function = "", .name = "" };
	const struct ray_clause *clause;
	struct ray_error *err = NULL;
	size_t i, j;

	fprintf(t->out, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
	if (!t->given.n) {
		err = print_matches(t, &all);
		if (!err && *ray_catalogue_note(t->catalogue))
			fprintf(stderr, "dtrace: %s\n", ray_catalogue_note(t->catalogue));
		return err;
	}
	for (i = 0; !err && i < t->program->clauses.n; i++) {
		clause = t->program->clauses.at[i];
		for (j = 0; !err && j < clause->spec_count; j++)
			err = print_matches(t, &clause->specs[j]);
	}
	return err;
}

static void lower_by_spec(struct ray_stability *least, const struct ray_clause *clause, const struct ray_probe_spec *s)
{
	const char *const parts[] = { s->provider, s->module, s->function, s->name };
	struct ray_stability one;
	size_t i;

	for (i = 0; i < clause->probes.n; i++)
		if (ray_glob_matches(s->provider, clause->probes.at[i]->provider)) {
			one = description_stability(clause->probes.at[i]->owner, parts);
			lower(least, &one);
		}
}

void ray_trace_stability(struct ray_trace_call *t, const struct ray_trace_given *g)
{
	static const struct ray_stability statements = { "Stable", "Stable", "Common" };
	struct ray_stability least = { "Standard", "Standard", "Common" };
	const struct ray_clause *clause;
	struct ray_error *err;
	size_t i, j;

	for (i = 0; i < g->clause_count; i++) {
		clause = t->program->clauses.at[g->first_clause + i];
		for (j = 0; clause->probes.n && j < clause->spec_count; j++)
			lower_by_spec(&least, clause, &clause->specs[j]);
	}
	fprintf(t->out, "\nStability attributes for %s %.*s:\n", g->kind == RAY_TEXT_SCRIPT ? "script" : "description",
		g->kind == RAY_TEXT_SCRIPT ? (int)strlen(g->argument) : (int)strcspn(g->argument, "{/;"), g->argument);
	print_attributes(t->out, "Minimum Probe Description Attributes", &least);
	print_attributes(t->out, "Minimum Statement Attributes", &statements);
	for (i = 0; t->only_compile && i < g->clause_count; i++) {
		clause = t->program->clauses.at[g->first_clause + i];
		for (j = 0; j < clause->probes.n; j++) {
			fprintf(t->out, "\n%s:%s:%s:%s\n", clause->probes.at[j]->provider, clause->probes.at[j]->module,
				clause->probes.at[j]->function, clause->probes.at[j]->name);
			err = print_details(t, clause->probes.at[j]);
			ray_error_free(err);
		}
	}
	if (!t->only_compile)
		fprintf(t->out, "\n");
}
