/* syscall.c - provider syscall: entry to and return from every system call.
 * SPDX-License-Identifier: MIT
 *
 * Functions are named as the kernel names them; a description may also say what the C library says (stat for newstat). All probes hang on one pair
 * of raw tracepoints, whatever their number. The table is built in: no tracefs, no rights are needed to list them. */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "probe/params.h"
#include "probe/provider.h"
#include "probe/syscall.h"

static bool is_name(const char *name, const char *text, size_t length)
{
	return name && strlen(name) == length && !memcmp(name, text, length);
}

const struct ray_syscall *ray_syscall_find(const char *name, size_t length)
{
	for (size_t i = 0; i < ray_syscall_count; i++)
		if (is_name(ray_syscalls[i].name, name, length) || is_name(ray_syscalls[i].alias, name, length))
			return &ray_syscalls[i];
	return NULL;
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += n)
		if ((at == text || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

int ray_syscall_is_of(const struct ray_syscall *call, const char *class_name, size_t length)
{
	static const struct {
		const char *name;
		char letter;
	} classes[] = {
		{ "file", 'f' },   { "desc", 'd' },   { "network", 'n' }, { "net", 'n' }, { "process", 'p' },
		{ "memory", 'm' }, { "signal", 's' }, { "clock", 'c' },	  { "ipc", 'i' }, { "creds", 'u' },
	};

	for (size_t i = 0; i < RAY_COUNT(classes); i++) {
		if (!is_name(classes[i].name, class_name, length))
			continue;
		if (strchr(call->classes, classes[i].letter))
			return 1;
		if (classes[i].letter == 'f')
			return has_word(call->shown, "path");
		return classes[i].letter == 'd' && (has_word(call->shown, "fd") || has_word(call->shown, "dirfd") ||
						    has_word(call->shown, "two_fds"));
	}
	return -1;
}

/* -x syscalls */
static bool is_wanted(const struct ray_catalogue *c, const struct ray_syscall *call)
{
	const char *names = ray_catalogue_settings(c)->syscalls;

	for (; names && *names; names += strspn(names, ",")) {
		size_t n = strcspn(names, ",");

		if (is_name(call->name, names, n) || is_name(call->alias, names, n))
			return true;
		names += n;
	}
	return !ray_catalogue_settings(c)->syscalls;
}

static struct ray_error *add(struct ray_catalogue *c, const struct ray_provider *p, const struct ray_syscall *call,
			     const struct ray_probe_spec *spec, bool is_return, ray_probe_list *matches)
{
	struct ray_probe_names names = { p->name, "vmlinux", call->name, is_return ? "return" : "entry",
					 p->first_id + 2 * call->number + is_return };
	struct ray_probe_names alias = names;
	struct ray_probe *probe;
	struct ray_error *err;

	alias.function = call->alias;
	/* A pattern sees the kernel's names only, so that no call is in its matches by a name that is not printed. */
	if (!ray_probe_spec_has(spec, &names) &&
	    !(call->alias && !strcmp(spec->function, call->alias) && ray_probe_spec_has(spec, &alias)))
		return NULL;
	err = ray_catalogue_add(c, p, &names, matches, &probe);
	if (!err)
		probe->data = (void *)call;
	return err;
}

static struct ray_error *syscall_match(struct ray_catalogue *c, const struct ray_provider *p,
				       const struct ray_probe_spec *spec, ray_probe_list *matches)
{
	struct ray_error *err = NULL;

	if (!ray_glob_matches(spec->name, "entry") && !ray_glob_matches(spec->name, "return"))
		return NULL;
	for (size_t i = 0; i < ray_syscall_count && !err; i++) {
		if (!is_wanted(c, &ray_syscalls[i]))
			continue;
		err = add(c, p, &ray_syscalls[i], spec, false, matches);
		if (!err)
			err = add(c, p, &ray_syscalls[i], spec, true, matches);
	}
	return err;
}

static bool is_return(const struct ray_probe *probe)
{
	return probe->name[0] == 'r';
}

static struct ray_error *syscall_args(struct ray_catalogue *c, struct ray_probe *probe, struct ray_probe_args *ret)
{
	const struct ray_syscall *call = probe->data;

	return ray_params_parse(ray_catalogue_arena(c), is_return(probe) ? "long ret" : call->parameters, ret);
}

/* C libraries open files by openat(AT_FDCWD, ...) now, and scripts that say open mean that: such a call is an open() too,
 * unless the script has probes for openat itself and tells them apart. Others of the kind (stat, fork) are not made by node. */
static struct ray_error *open_site_add(struct ray_catalogue *c, struct ray_probe *probe)
{
	static const struct ray_condition here[] = { { RAY_ARGS - 1, RAY_COMPARE_EQ, AT_FDCWD } };
	static const struct ray_fetch enter[RAY_ARGS] = {
		{ .kind = RAY_FETCH_RAW, .value = 1 },
		{ .kind = RAY_FETCH_RAW, .value = 2 },
		{ .kind = RAY_FETCH_RAW, .value = 3 },
		[RAY_ARGS - 1] = { .kind = RAY_FETCH_RAW, .value = 0, .size = 4, .flags = 1 },
	};
	static const struct ray_fetch leave[RAY_ARGS] = {
		{ .kind = RAY_FETCH_RAW },
		{ .kind = RAY_FETCH_RAW },
		/* The registers are those of the call still. */
		[RAY_ARGS - 1] = { .kind = RAY_FETCH_RAW_FIELD,
				   .value = offsetof(struct user_regs_struct, rdi),
				   .size = 4,
				   .flags = 1 },
	};
	struct ray_site *site;

	if (ray_catalogue_probe(c, probe->owner->first_id + 2 * SYS_openat + is_return(probe)))
		return NULL;
	site = ray_probe_site_add(c, probe);
	if (!site)
		return &ray_enomem;
	site->kind = is_return(probe) ? RAY_SITE_SYSCALL_EXIT : RAY_SITE_SYSCALL_ENTER;
	site->number = SYS_openat;
	site->fetch = is_return(probe) ? leave : enter;
	site->fetch_count = RAY_ARGS;
	site->conditions = here;
	site->condition_count = RAY_COUNT(here);
	return NULL;
}

static struct ray_error *syscall_sites(struct ray_catalogue *c, struct ray_probe *probe)
{
	const struct ray_syscall *call = probe->data;
	struct ray_site *site = ray_probe_site_add(c, probe);

	if (!site)
		return &ray_enomem;
	site->kind = is_return(probe) ? RAY_SITE_SYSCALL_EXIT : RAY_SITE_SYSCALL_ENTER;
	site->number = call->number;
	return call->number == SYS_open ? open_site_add(c, probe) : NULL;
}

const struct ray_provider ray_provider_syscall = {
	.name = "syscall",
	.first_id = 100,
	.id_count = 2 * RAY_SYSCALL_LIMIT,
	.stability = { { "Evolving", "Evolving", "Common" },
		       { "Private", "Private", "Unknown" },
		       { "Private", "Private", "ISA" },
		       { "Evolving", "Evolving", "Common" },
		       { "Private", "Private", "ISA" } },
	.match = syscall_match,
	.args = syscall_args,
	.sites = syscall_sites,
};
