/* usdt.c - static probes of processes: provider PROVIDERPID, from the notes in its executable and libraries.
 * SPDX-License-Identifier: MIT
 *
 * app123:::request-start is the probe that a program declares as app, request__start, in process 123. A provider with a wildcard is looked
 * for in every process on the machine; files are read once, however many processes map them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/demangle.h"
#include "elf/usdt.h"
#include "probe/process.h"

struct file {
	dev_t dev;
	uint64_t inode;
};

struct search {
	struct ray_catalogue *c;
	const struct ray_provider *provider;
	const struct ray_probe_spec *spec;
	ray_probe_list *matches;
	const struct ray_code_module *module;
	struct ray_elf *elf;
	pid_t pid;
	struct ray_error *err;
	RAY_VEC(struct file) without; /* files that have no static probes: most of them */
};

/* What a probe of ours remembers of one site. */
struct place {
	const struct ray_code_module *module;
	uint64_t vaddr, semaphore;
	struct ray_fetch fetch[RAY_ARGS];
	size_t fetch_count;
	struct place *next;
};

static bool handles(const struct ray_catalogue *c, const char *pattern)
{
	size_t length = strlen(pattern);
	size_t i;

	(void)c;
	if (!length || !strncmp(pattern, "pid", 3))
		return false;
	for (i = 0; ray_providers[i]; i++)
		if (ray_providers[i]->name[0] && !strcmp(pattern, ray_providers[i]->name))
			return false;
	return !ray_glob_is_plain(pattern) || isdigit((unsigned char)pattern[length - 1]);
}

/* log__info -> log-info */
static void dashes(const char *name, char *out, size_t size)
{
	size_t n = 0;

	for (; *name && n + 1 < size; name++, n++) {
		out[n] = *name;
		if (name[0] == '_' && name[1] == '_') {
			out[n] = '-';
			name++;
		}
	}
	out[n] = 0;
}

/* The function that the probe stands in, or "". malloc'ed. */
static char *function_at(struct ray_elf *elf, uint64_t vaddr)
{
	struct ray_symbol symbol;

	return ray_elf_symbol_at(elf, vaddr, &symbol) ? ray_demangle(symbol.name, 0) : strdup("");
}

static struct ray_error *remember(struct search *s, const struct ray_usdt *usdt, struct ray_probe *probe)
{
	struct place *place;

	for (place = probe->data; place; place = place->next)
		if (place->vaddr == usdt->vaddr && place->module->inode == s->module->inode)
			return NULL;
	place = ray_arena_alloc(ray_catalogue_arena(s->c), sizeof(*place));
	if (!place)
		return &ray_enomem;
	place->module = s->module;
	place->vaddr = usdt->vaddr;
	place->semaphore = usdt->semaphore;
	place->fetch_count = ray_usdt_arguments(s->elf, usdt, place->fetch);
	place->next = probe->data;
	probe->data = place;
	probe->pid = s->pid;
	return NULL;
}

static bool take(const struct ray_usdt *usdt, void *arg)
{
	struct search *s = arg;
	char provider[128], name[128];
	struct ray_probe_names names = { provider, s->module->name, NULL, name, 0 };
	ray_auto_memory char *function = NULL;
	struct ray_probe *probe;

	snprintf(provider, sizeof(provider), "%s%d", usdt->provider, s->pid);
	dashes(usdt->name, name, sizeof(name));
	if (!ray_glob_matches(s->spec->provider, provider) || !ray_glob_matches(s->spec->name, name) ||
	    !ray_glob_matches(s->spec->module, s->module->name))
		return true;
	function = function_at(s->elf, usdt->vaddr);
	names.function = function;
	if (!function || !ray_glob_matches(s->spec->function, function))
		return function != NULL;
	s->err = ray_catalogue_add(s->c, s->provider, &names, s->matches, &probe);
	if (!s->err)
		s->err = remember(s, usdt, probe);
	return !s->err;
}

static bool is_without(const struct search *s, const struct ray_code_module *m)
{
	size_t i;

	for (i = 0; i < s->without.n; i++)
		if (s->without.at[i].inode == m->inode && s->without.at[i].dev == m->dev)
			return true;
	return false;
}

static struct ray_error *match_module(struct search *s, const struct ray_code_module *m)
{
	const void *bytes;
	uint64_t vaddr;
	size_t size;

	if (is_without(s, m))
		return NULL;
	s->module = m;
	s->elf = ray_code_module_elf(m);
	if (s->elf && ray_elf_section(s->elf, ".note.stapsdt", &bytes, &size, &vaddr)) {
		ray_usdt_each(s->elf, take, s);
		return s->err;
	}
	return ray_vec_push(&s->without, (struct file){ m->dev, m->inode }) ? NULL : &ray_enomem;
}

/* Whether provider `PATTERN` can be one of this process at all: the pattern ends like its number. */
static bool can_be_of(const char *pattern, pid_t pid)
{
	size_t length = strlen(pattern), digits = length;
	char number[16];

	while (digits && isdigit((unsigned char)pattern[digits - 1]))
		digits--;
	snprintf(number, sizeof(number), "%d", pid);
	if (digits == length)
		return true;
	return length - digits >= strlen(number) ? !strcmp(pattern + length - strlen(number), number) :
						   strstr(number, pattern + digits) != NULL;
}

static struct ray_error *match_process(struct search *s, pid_t pid)
{
	const struct ray_code_process *process;
	struct ray_error *err;
	size_t i;

	if (!can_be_of(s->spec->provider, pid))
		return NULL;
	err = ray_code_process_get(s->c, pid, &process);
	if (err)
		return err;
	s->pid = pid;
	for (i = 0; !s->err && i < process->modules.n; i++)
		s->err = match_module(s, process->modules.at[i]);
	return s->err;
}

static struct ray_error *match_any(pid_t pid, void *arg)
{
	return match_process(arg, pid);
}

/* app21234 may be app2 in 1234 or app in 21234: whichever is a process with such a probe. */
static struct ray_error *match_numbered(struct search *s)
{
	const char *pattern = s->spec->provider;
	const char *digits = pattern + strlen(pattern);
	struct ray_error *err;
	size_t before;

	while (digits > pattern && isdigit((unsigned char)digits[-1]))
		digits--;
	for (; *digits; digits++) {
		if (*digits == '0' || strlen(digits) > 9)
			continue;
		before = s->matches->n;
		err = match_process(s, (pid_t)atoi(digits));
		if (err && err == s->err)
			return err;
		ray_error_free(err); /* no such process: the next reading of the digits may be one */
		if (s->matches->n > before)
			return NULL;
	}
	return NULL;
}

static struct ray_error *match(struct ray_catalogue *c, const struct ray_provider *p, const struct ray_probe_spec *spec,
			       ray_probe_list *matches)
{
	struct search s = { .c = c, .provider = p, .spec = spec, .matches = matches };
	struct ray_error *err = ray_glob_is_plain(spec->provider) ? match_numbered(&s) :
								    ray_code_process_each(c, match_any, &s);

	ray_vec_free(&s.without);
	return err;
}

static struct ray_error *match_late(struct ray_catalogue *c, const struct ray_provider *p,
				    const struct ray_probe_spec *spec, pid_t pid, ray_probe_list *matches)
{
	struct search s = { .c = c, .provider = p, .spec = spec, .matches = matches };
	struct ray_error *err = match_process(&s, pid);

	ray_vec_free(&s.without);
	return err;
}

static struct ray_error *args(struct ray_catalogue *c, struct ray_probe *probe, struct ray_probe_args *ret)
{
	static const char *const types[2][9] = {
		{ [1] = "uint8_t", [2] = "uint16_t", [4] = "uint32_t", [8] = "uint64_t" },
		{ [1] = "int8_t", [2] = "int16_t", [4] = "int32_t", [8] = "int64_t" },
	};
	const struct place *place = probe->data;
	struct ray_probe_arg *list = ray_arena_alloc(ray_catalogue_arena(c), sizeof(*list) * (place->fetch_count + 1));
	const char *type;
	size_t i;

	if (!list)
		return &ray_enomem;
	for (i = 0; i < place->fetch_count; i++) {
		type = place->fetch[i].size <= 8 ? types[place->fetch[i].flags & 1][place->fetch[i].size] : NULL;
		list[i] = (struct ray_probe_arg){ .type = type ? type : "uint64_t", .native = (int)i };
	}
	*ret = (struct ray_probe_args){ .at = list, .count = place->fetch_count, .known = true };
	return NULL;
}

static struct ray_error *sites(struct ray_catalogue *c, struct ray_probe *probe)
{
	const struct place *place;
	struct ray_site *site;
	struct ray_elf *elf;

	for (place = probe->data; place; place = place->next) {
		elf = ray_code_module_elf(place->module);
		site = ray_probe_site_add(c, probe);
		if (!site)
			return &ray_enomem;
		site->kind = RAY_SITE_UPROBE;
		site->fetch = place->fetch;
		site->fetch_count = place->fetch_count;
		site->uprobe.file = place->module->path;
		site->uprobe.pid = probe->pid;
		if (!elf || !ray_elf_vaddr_to_offset(elf, place->vaddr, &site->uprobe.offset) ||
		    (place->semaphore && !ray_elf_vaddr_to_offset(elf, place->semaphore, &site->uprobe.semaphore)))
			return ray_error_new(RAY_FAILED, "its place is not in the file %s", place->module->path);
	}
	return NULL;
}

const struct ray_provider ray_provider_usdt = {
	.name = "",
	.stability = {
		{ "Unstable", "Unstable", "Common" },
		{ "Private", "Private", "Unknown" },
		{ "Private", "Private", "Unknown" },
		{ "Unstable", "Unstable", "Common" },
		{ "Unstable", "Unstable", "Common" },
	},
	.is_costly = true,
	.handles = handles,
	.match = match,
	.match_process = match_late,
	.args = args,
	.sites = sites,
};
