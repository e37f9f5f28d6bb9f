/* uv.c - provider uvPID: the public functions of libuv in a process, with their arguments by name.
 * SPDX-License-Identifier: MIT
 *
 * uv123:module:function:entry|return, wherever libuv lies: in node itself, in libnode.so or in a libuv.so of its own. What is known of the functions
 * is in uv_table.c; a newer libuv's that are not there are found too, only without args[]. Attaching is that of the pid provider. */
#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>

#include "probe/place.h"
#include "probe/uv.h"

enum { LINE = 72 /* columns of -lv */ };

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
	pid_t pid;
	struct ray_error *err;
	RAY_VEC(struct file) without; /* files without libuv: most of them */
};

static bool is_digits(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

/* uv and a number, or a pattern of it. */
static bool handles(const struct ray_catalogue *c, const char *pattern)
{
	(void)c;
	return !strncmp(pattern, "uv", 2) && (is_digits(pattern + 2) || (pattern[2] && !ray_glob_is_plain(pattern)));
}

/* ---- finding ---- */

/* How many arguments a function has in registers. */
static int in_registers(const char *function)
{
	const struct ray_uv_function *f = ray_uv_public_find(function);
	int count = f && *f->parameters ? 1 : 0;

	/* A list that is open has whatever its caller gives. */
	if (!f || strstr(f->parameters, "..."))
		return RAY_REGISTER_ARGUMENTS;
	for (const char *p = f->parameters; *p; p++)
		count += *p == ',';
	return count < RAY_REGISTER_ARGUMENTS ? count : RAY_REGISTER_ARGUMENTS;
}

static struct ray_error *add(const struct search *s, const struct ray_symbol *symbol, const char *name,
			     enum ray_place_where where)
{
	char provider[32];
	struct ray_probe_names names = { provider, s->module->name, symbol->name, name, 0 };
	struct ray_function_place place = { .module = s->module,
					    .vaddr = symbol->value,
					    .size = symbol->size,
					    .where = where,
					    .arguments = in_registers(symbol->name) };
	struct ray_probe *probe;
	struct ray_error *err;

	snprintf(provider, sizeof(provider), "uv%d", s->pid);
	if (!ray_glob_matches(s->spec->name, name))
		return NULL;
	err = ray_catalogue_add(s->c, s->provider, &names, s->matches, &probe);
	if (err)
		return err;
	probe->pid = s->pid;
	return ray_place_add(s->c, probe, &place);
}

static bool take_symbol(const struct ray_symbol *symbol, void *arg)
{
	struct search *s = arg;

	/* uv__ are libuv's own; of those that are not in the table, what is not for all to see is something else. */
	if (strncmp(symbol->name, "uv_", 3) || symbol->name[3] == '_' || !ray_symbol_is_function(symbol) ||
	    (symbol->bind == STB_LOCAL && !ray_uv_public_find(symbol->name)) ||
	    !ray_glob_matches(s->spec->function, symbol->name))
		return true;
	s->err = add(s, symbol, "entry", RAY_PLACE_ENTRY);
	if (!s->err)
		s->err = add(s, symbol, "return", RAY_PLACE_RETURN);
	return !s->err;
}

/* A library shows what others call; a program may have libuv inside and show nothing of it. */
static bool has_libuv(const struct ray_code_module *m, struct ray_elf *elf)
{
	struct ray_symbol symbol;

	return m->is_program ? ray_elf_find_symbol(elf, "uv_loop_init", &symbol) :
			       ray_elf_find_dynamic(elf, "uv_loop_init", &symbol);
}

static bool is_without(const struct search *s, const struct ray_code_module *m)
{
	for (size_t i = 0; i < s->without.n; i++)
		if (s->without.at[i].inode == m->inode && s->without.at[i].dev == m->dev)
			return true;
	return false;
}

static struct ray_error *match_module(struct search *s, const struct ray_code_module *m)
{
	struct ray_symbol symbol;
	struct ray_elf *elf;

	if (!ray_code_module_is(m, s->spec->module) || is_without(s, m))
		return NULL;
	elf = ray_code_module_elf(m);
	if (!elf || !has_libuv(m, elf))
		return ray_vec_push(&s->without, (struct file){ m->dev, m->inode }) ? NULL : &ray_enomem;
	s->module = m;
	if (!ray_glob_is_plain(s->spec->function))
		ray_elf_each_symbol(elf, take_symbol, s);
	else if (ray_elf_find_symbol(elf, s->spec->function, &symbol))
		take_symbol(&symbol, s);
	return s->err;
}

static struct ray_error *match_process(pid_t pid, void *arg)
{
	struct search *s = arg;
	const struct ray_code_process *process;
	struct ray_error *err;
	char provider[32];

	snprintf(provider, sizeof(provider), "uv%d", pid);
	if (!ray_glob_matches(s->spec->provider, provider))
		return NULL;
	err = ray_code_process_get(s->c, pid, &process);
	s->pid = pid;
	for (size_t i = 0; !err && i < process->modules.n; i++)
		err = match_module(s, process->modules.at[i]);
	return err;
}

static struct ray_error *match(struct ray_catalogue *c, const struct ray_provider *p, const struct ray_probe_spec *spec,
			       ray_probe_list *matches)
{
	struct search s = { .c = c, .provider = p, .spec = spec, .matches = matches };
	struct ray_error *err;

	if (is_digits(spec->provider + 2))
		err = match_process((pid_t)atol(spec->provider + 2), &s);
	else
		err = ray_code_process_each(c, match_process, &s);
	ray_vec_free(&s.without);
	return err;
}

static struct ray_error *match_late(struct ray_catalogue *c, const struct ray_provider *p,
				    const struct ray_probe_spec *spec, pid_t pid, ray_probe_list *matches)
{
	struct search s = { .c = c, .provider = p, .spec = spec, .matches = matches };
	struct ray_error *err = match_process(pid, &s);

	ray_vec_free(&s.without);
	return err;
}

/* ---- arguments ---- */

static bool is_return(const char *name)
{
	return name[0] == 'r';
}

static struct ray_error *args_of(struct ray_catalogue *c, const struct ray_uv_function *f, bool at_return,
				 struct ray_probe_args *ret)
{
	struct ray_arena *arena = ray_catalogue_arena(c);

	return at_return ? ray_uv_return_args(arena, f, ret) : ray_uv_entry_args(arena, f, ret);
}

static struct ray_error *args(struct ray_catalogue *c, struct ray_probe *probe, struct ray_probe_args *ret)
{
	const struct ray_uv_function *f = ray_uv_public_find(probe->function);

	return f ? args_of(c, f, is_return(probe->name), ret) : NULL;
}

static struct ray_error *each_args(struct ray_catalogue *c, const struct ray_probe_spec *spec,
				   bool (*take)(const struct ray_probe_args *args, void *arg), void *arg)
{
	static const char *const names[] = { "entry", "return" };
	struct ray_probe_args one;
	struct ray_error *err;

	for (size_t i = 0; i < ray_uv_function_count; i++) {
		if (!ray_glob_matches(spec->function, ray_uv_functions[i].name))
			continue;
		for (size_t k = 0; k < RAY_COUNT(names); k++) {
			if (!ray_glob_matches(spec->name, names[k]))
				continue;
			err = args_of(c, &ray_uv_functions[i], is_return(names[k]), &one);
			if (err || !take(&one, arg))
				return err;
		}
	}
	return NULL;
}

/* ---- sites ---- */

#define REGISTER(name) (offsetof(struct user_regs_struct, name) / sizeof(long))

/* Where the calling convention has argument i. */
static struct ray_fetch place_of(int i)
{
	static const uint8_t registers[] = { REGISTER(rdi), REGISTER(rsi), REGISTER(rdx),
					     REGISTER(rcx), REGISTER(r8),  REGISTER(r9) };
	int in_registers = RAY_COUNT(registers);

	if (i < in_registers)
		return (struct ray_fetch){ .kind = RAY_FETCH_REG, .reg = registers[i], .index = 0xff, .size = 8 };
	return (struct ray_fetch){ .kind = RAY_FETCH_MEM,
				   .reg = REGISTER(rsp),
				   .index = 0xff,
				   .size = 8,
				   .value = 8 * (i - in_registers + 1) };
}

/* What is above an int in its register is nobody's. */
static void set_size(struct ray_fetch *f, const char *type)
{
	const struct ray_probe_type *known = ray_probe_type_find(type, false);

	if (known && known->is)
		type = known->is;
	if (strcmp(type, "int") && strcmp(type, "unsigned int") && strcmp(type, "unsigned"))
		return;
	f->size = 4;
	f->flags = type[0] == 'i';
}

/* The member of that name; what a function has not is 0. */
static struct ray_fetch place_named(const struct ray_probe_args *call, const char *name)
{
	for (size_t i = 0; i < call->member_count; i++) {
		const struct ray_probe_arg *member = &call->members[i];
		struct ray_fetch rule;

		if (strcmp(member->name, name) || member->native < 0)
			continue;
		rule = place_of(member->native);
		set_size(&rule, member->type);
		return rule;
	}
	return (struct ray_fetch){ .kind = RAY_FETCH_CONST };
}

/* Members that some clause wants of functions that have them in different places: each probe gives them under the number that they have for all. */
static struct ray_error *add_named(struct ray_catalogue *c, struct ray_probe *probe)
{
	struct ray_fetch *rules = ray_arena_alloc(ray_catalogue_arena(c), sizeof(*rules) * RAY_POINT_ARGS);
	struct ray_probe_args call = { 0 };
	struct ray_error *err = args(c, probe, &call);

	if (err || !rules)
		return err ? err : &ray_enomem;
	for (int i = 0; i < RAY_POINT_ARGS; i++)
		rules[i] = i < RAY_POINT_NAMED		 ? place_of(i) :
			   ray_catalogue_slot_name(c, i) ? place_named(&call, ray_catalogue_slot_name(c, i)) :
							   (struct ray_fetch){ 0 };
	for (size_t i = 0; i < probe->site_count; i++) {
		probe->sites[i].fetch = rules;
		probe->sites[i].fetch_count = RAY_POINT_ARGS;
	}
	return NULL;
}

static struct ray_error *sites(struct ray_catalogue *c, struct ray_probe *probe)
{
	struct ray_error *err = ray_place_sites(c, probe);

	if (err || is_return(probe->name) || !ray_catalogue_slot_name(c, RAY_POINT_NAMED))
		return err;
	return add_named(c, probe);
}

/* ---- -lv ---- */

/* A list that breaks after commas. */
static void add_list(struct ray_text *out, const char *text, size_t column, int indent)
{
	while (*text) {
		size_t length = strcspn(text, ",");

		length += text[length] == ',';
		if (column + length > LINE) {
			ray_text_printf(out, "\n\t\t%*s", indent, "");
			column = 16 + (size_t)indent;
		}
		ray_text_printf(out, "%.*s", (int)length, text);
		column += length;
		text += length;
		if (*text == ' ' && column + 1 + strcspn(text, ",") <= LINE) {
			ray_text_add(out, " ");
			column++;
		}
		text += *text == ' ';
	}
}

static void describe(const struct ray_probe *probe, struct ray_text *out)
{
	const struct ray_uv_function *f = ray_uv_public_find(probe->function);
	bool is_pointer;

	if (!f) {
		ray_text_add(out, "\n\tFunction\n\t\tnot in the catalogue: its arguments are not known\n");
		return;
	}
	is_pointer = f->returns[strlen(f->returns) - 1] == '*';
	ray_text_printf(out, "\n\tFunction\n\t\t%s%s%s(", f->returns, is_pointer ? "" : " ", f->name);
	add_list(out, *f->parameters ? f->parameters : "void", 16 + strlen(f->returns) + strlen(f->name) + 2, 4);
	ray_text_add(out, ")\n\n\tFrom JavaScript\n\t\t");
	add_list(out, *f->js ? f->js : "nothing of node's own calls it, addons may", 16, 0);
	ray_text_add(out, "\n");
}

const struct ray_provider ray_provider_uv = {
	.name = "uv",
	.stability = {
		{ "Evolving", "Evolving", "Common" },
		{ "Private", "Private", "Unknown" },
		{ "Evolving", "Evolving", "Common" },
		{ "Evolving", "Evolving", "Common" },
		{ "Evolving", "Evolving", "Common" },
	},
	.is_costly = true,
	.handles = handles,
	.match = match,
	.match_process = match_late,
	.args = args,
	.sites = sites,
	.each_args = each_args,
	.describe = describe,
	.types = ray_uv_types,
	.constants = ray_uv_constants,
};
