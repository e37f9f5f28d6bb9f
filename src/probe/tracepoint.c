/* tracepoint.c - provider tracepoint: every tracepoint of the kernel, tracepoint:GROUP::NAME.
 * SPDX-License-Identifier: MIT
 *
 * tracepoint:GROUP:NAME, as other tools write it, is accepted too: by D's rules its fields are module, function and name. args[] are the fields of the
 * tracepoint's record, in its order; character arrays are strings. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "probe/provider.h"
#include "probe/syscall.h"
#include "probe/tracefs.h"

/* What is looked for: patterns. */
struct wanted {
	const char *group, *name;
};

/* ---- listing ---- */

static struct ray_error *id_read(int tracefs, const char *group, const char *name, uint32_t *ret)
{
	ray_auto_memory char *path = NULL;
	ray_auto_memory char *text = NULL;
	struct ray_error *err;

	if (asprintf(&path, "events/%s/%s/id", group, name) < 0) {
		path = NULL;
		return &ray_enomem;
	}
	err = ray_tracefs_read(tracefs, path, &text);
	if (!err)
		*ret = strtoul(text, NULL, 10);
	return err;
}

/* A tracepoint without a number (ftrace's own records) cannot be hung on. */
static struct ray_error *tracepoint_add(struct ray_catalogue *c, const struct ray_provider *p, int tracefs,
					const char *group, const char *name, ray_probe_list *matches)
{
	struct ray_probe_names names = { p->name, group, "", name, 0 };
	struct ray_probe *probe;
	uint32_t id = 0;
	struct ray_error *err;

	ray_error_free(id_read(tracefs, group, name, &id));
	if (!id)
		return NULL;
	names.id = id < p->id_count ? p->first_id + id : 0;
	err = ray_catalogue_add(c, p, &names, matches, &probe);
	if (!err)
		probe->data = (void *)(uintptr_t)id;
	return err;
}

static DIR *directory_open(int tracefs, const char *group)
{
	ray_auto_memory char *path = NULL;
	int fd;
	DIR *dir;

	if (asprintf(&path, "events/%s", group) < 0) {
		path = NULL;
		return NULL;
	}
	fd = openat(tracefs, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static struct ray_error *group_match(struct ray_catalogue *c, const struct ray_provider *p, int tracefs,
				     const char *group, const char *name, ray_probe_list *matches)
{
	struct ray_error *err = NULL;
	struct dirent *entry;
	DIR *dir;

	if (ray_glob_is_plain(name))
		return strchr(name, '/') ? NULL : tracepoint_add(c, p, tracefs, group, name, matches);
	dir = directory_open(tracefs, group);
	while (dir && !err && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && entry->d_type == DT_DIR && ray_glob_matches(name, entry->d_name))
			err = tracepoint_add(c, p, tracefs, group, entry->d_name, matches);
	if (dir)
		closedir(dir);
	return err;
}

static struct ray_error *groups_match(struct ray_catalogue *c, const struct ray_provider *p,
				      const struct wanted *wanted, ray_probe_list *matches)
{
	struct ray_error *err = NULL;
	struct dirent *entry;
	int tracefs;
	DIR *dir;

	err = ray_catalogue_tracefs(c, &tracefs);
	if (err)
		return err;
	if (ray_glob_is_plain(wanted->group))
		return strchr(wanted->group, '/') ? NULL :
						    group_match(c, p, tracefs, wanted->group, wanted->name, matches);
	dir = directory_open(tracefs, ".");
	while (dir && !err && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && entry->d_type == DT_DIR && strcmp(entry->d_name, "ftrace") != 0 &&
		    ray_glob_matches(wanted->group, entry->d_name))
			err = group_match(c, p, tracefs, entry->d_name, wanted->name, matches);
	if (dir)
		closedir(dir);
	return err;
}

static struct ray_error *tracepoint_match(struct ray_catalogue *c, const struct ray_provider *p,
					  const struct ray_probe_spec *spec, ray_probe_list *matches)
{
	bool is_three_fields = !*spec->provider && !strcmp(spec->module, p->name);
	bool is_named = is_three_fields || !strcmp(spec->provider, p->name);
	struct wanted wanted = { is_three_fields ? spec->function : spec->module, spec->name };
	struct ray_error *err;

	if (!is_three_fields && !ray_glob_matches(spec->function, ""))
		return NULL;
	err = groups_match(c, p, &wanted, matches);
	/* Who asked for something else need not fail because there is no tracefs. */
	if (err && !is_named) {
		ray_catalogue_set_note(c, "tracepoints are left out", err);
		err = NULL;
	}
	return err;
}

/* ---- arguments ---- */

static struct ray_error *format_read(struct ray_catalogue *c, const struct ray_probe *probe,
				     struct ray_tracefs_format *ret)
{
	ray_auto_memory char *path = NULL;
	ray_auto_memory char *text = NULL;
	struct ray_error *err;
	int tracefs;

	if (asprintf(&path, "events/%s/%s/format", probe->module, probe->name) < 0) {
		path = NULL;
		return &ray_enomem;
	}
	err = ray_catalogue_tracefs(c, &tracefs);
	if (!err)
		err = ray_tracefs_read(tracefs, path, &text);
	return err ? err : ray_tracefs_format_parse(ray_catalogue_arena(c), text, ret);
}

static const char *field_type(struct ray_arena *arena, const struct ray_tracefs_field *f)
{
	if (f->kind == RAY_FIELD_NUMBER)
		return f->type;
	if (!strcmp(f->type, "char") || !strcmp(f->type, "const char"))
		return "string";
	return ray_arena_printf(arena, "%s *", f->type);
}

static struct ray_error *tracepoint_args(struct ray_catalogue *c, struct ray_probe *probe, struct ray_probe_args *ret)
{
	struct ray_arena *arena = ray_catalogue_arena(c);
	struct ray_tracefs_format format;
	struct ray_error *err = format_read(c, probe, &format);
	struct ray_probe_arg *args;

	if (err)
		return err;
	if (format.count > RAY_ARGS)
		format.count = RAY_ARGS;
	args = ray_arena_alloc(arena, (format.count + 1) * sizeof(*args));
	if (!args)
		return &ray_enomem;
	for (size_t i = 0; i < format.count; i++) {
		args[i] = (struct ray_probe_arg){ field_type(arena, &format.at[i]), format.at[i].name, (int)i, NULL };
		if (!args[i].type)
			return &ray_enomem;
	}
	*ret = (struct ray_probe_args){ .at = args, .count = format.count, .known = true };
	return NULL;
}

static struct ray_fetch field_fetch(const struct ray_tracefs_field *f)
{
	struct ray_fetch fetch = { .value = f->offset };

	switch (f->kind) {
	case RAY_FIELD_NUMBER:
		fetch.kind = RAY_FETCH_CONTEXT;
		fetch.size = f->size;
		fetch.flags = f->is_signed;
		break;
	case RAY_FIELD_ARRAY:
		fetch.kind = RAY_FETCH_CONTEXT_ADDR;
		break;
	case RAY_FIELD_DATA:
		fetch.kind = RAY_FETCH_CONTEXT_ADDR;
		fetch.flags = 2;
		break;
	case RAY_FIELD_REL:
		fetch.kind = RAY_FETCH_CONTEXT_ADDR;
		fetch.flags = 8;
		break;
	}
	return fetch;
}

/* System calls' own tracepoints: a perf event for each takes the kernel tens of milliseconds to take away again, and there are hundreds. The one
 * pair that provider syscall has tells the same. False: no call of that name is known. */
static bool syscall_site(const struct ray_probe *probe, struct ray_site *site)
{
	static const struct ray_fetch enter[] = {
		{ .kind = RAY_FETCH_RAW, .value = RAY_RAW_NUMBER },
		{ .kind = RAY_FETCH_RAW, .value = 0 },
		{ .kind = RAY_FETCH_RAW, .value = 1 },
		{ .kind = RAY_FETCH_RAW, .value = 2 },
		{ .kind = RAY_FETCH_RAW, .value = 3 },
		{ .kind = RAY_FETCH_RAW, .value = 4 },
		{ .kind = RAY_FETCH_RAW, .value = 5 },
	};
	bool is_enter = !strncmp(probe->name, "sys_enter_", 10);
	const char *call = is_enter ? probe->name + 10 : probe->name + 9;

	if (strcmp(probe->module, "syscalls") != 0 || (!is_enter && strncmp(probe->name, "sys_exit_", 9) != 0))
		return false;
	for (size_t i = 0; i < ray_syscall_count; i++) {
		if (strcmp(ray_syscalls[i].name, call) != 0)
			continue;
		site->kind = is_enter ? RAY_SITE_SYSCALL_ENTER : RAY_SITE_SYSCALL_EXIT;
		site->number = ray_syscalls[i].number;
		site->fetch = enter; /* of a return: the number, then the value */
		site->fetch_count = is_enter ? RAY_COUNT(enter) : 2;
		return true;
	}
	return false;
}

static struct ray_error *tracepoint_sites(struct ray_catalogue *c, struct ray_probe *probe)
{
	struct ray_site *site = ray_probe_site_add(c, probe);
	struct ray_tracefs_format format;
	struct ray_error *err;
	struct ray_fetch *fetch;

	if (!site)
		return &ray_enomem;
	if (syscall_site(probe, site))
		return NULL;
	err = format_read(c, probe, &format);
	if (err)
		return err;
	fetch = ray_arena_alloc(ray_catalogue_arena(c), (format.count + 1) * sizeof(*fetch));
	if (!fetch)
		return &ray_enomem;
	for (size_t i = 0; i < format.count; i++)
		fetch[i] = field_fetch(&format.at[i]);
	site->kind = RAY_SITE_TRACEPOINT;
	site->fetch = fetch;
	site->fetch_count = format.count;
	site->tracepoint.group = probe->module;
	site->tracepoint.name = probe->name;
	site->tracepoint.id = (uint32_t)(uintptr_t)probe->data;
	return NULL;
}

const struct ray_provider ray_provider_tracepoint = {
	.name = "tracepoint",
	.first_id = 2000,
	.id_count = 8000,
	.is_costly = true,
	.stability = { { "Evolving", "Evolving", "Common" },
		       { "Private", "Private", "Unknown" },
		       { "Private", "Private", "Unknown" },
		       { "Evolving", "Evolving", "Common" },
		       { "Private", "Private", "ISA" } },
	.match = tracepoint_match,
	.args = tracepoint_args,
	.sites = tracepoint_sites,
};
