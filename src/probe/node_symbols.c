/* node_symbols.c - see node_symbols.h. SPDX-License-Identifier: MIT */
#include "probe/node_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "probe/instruction.h"
#include "probe/node_derive.h"

enum { MAX_FUNCTION = 1 << 20 /* bytes of code looked at */ };

/* One name in one file, once looked for. */
struct known_name {
	struct ray_node_name found;
	bool is_derived;
};

/* One file, whoever maps it. */
struct file {
	const struct ray_code_file *file;
	struct ray_elf *elf;
	RAY_HASHMAP(struct known_name *) known;
	struct ray_local_place *derived; /* NULL until a name is missing */
	struct file *next;
};

/* All of it lies in the catalogue's arena. */
struct ray_node_cache {
	struct file *files;
};

static struct ray_node_cache *cache_of(struct ray_catalogue *c)
{
	struct ray_node_cache **cache = ray_catalogue_node_cache(c);

	if (!*cache)
		*cache = ray_arena_alloc(ray_catalogue_arena(c), sizeof(**cache));
	return *cache;
}

/* ---- which files ---- */

/* What a build of node may have in a library of its own, by how the library's name begins. */
static const char *const libraries[] = { "libnode.",  "libuv.",	    "libssl.", "libnghttp2.",
					 "libcares.", "libllhttp.", "libv8" };

static bool may_hold_hooks(const struct ray_code_module *m)
{
	if (m->is_program)
		return true;
	for (size_t i = 0; i < RAY_COUNT(libraries); i++)
		if (!strncmp(m->name, libraries[i], strlen(libraries[i])))
			return true;
	return false;
}

/* Its name before and since 2.34. */
static bool is_glibc(const struct ray_code_module *m)
{
	return !strcmp(m->name, "libc.so.6") || !strncmp(m->name, "libc-2.", 7);
}

static bool may_hold(const struct ray_code_module *m, bool is_libc)
{
	return is_libc ? is_glibc(m) : may_hold_hooks(m);
}

bool ray_node_awaits_glibc(const struct ray_code_process *p)
{
	bool has_loader = false;

	for (size_t i = 0; i < p->modules.n; i++) {
		if (is_glibc(p->modules.at[i]))
			return false;
		has_loader |= !strncmp(p->modules.at[i]->name, "ld-linux", 8);
	}
	return has_loader;
}

/* A file that cannot be opened now, as its process ends, can be when the next one maps it. */
static struct file *file_of(struct ray_catalogue *c, struct ray_node_cache *cache, const struct ray_code_module *m)
{
	struct file *f;

	for (f = cache->files; f && f->file != m->file;)
		f = f->next;
	if (!f) {
		f = ray_arena_alloc(ray_catalogue_arena(c), sizeof(*f));
		if (!f)
			return NULL;
		f->file = m->file;
		f->known.map.arena = ray_catalogue_arena(c);
		f->next = cache->files;
		cache->files = f;
	}
	if (!f->elf && ray_code_module_elf(m))
		f->elf = m->file->elf;
	return f;
}

/* ---- names in a file ---- */

static const struct known_name *known(const struct file *f, const char *name)
{
	struct known_name **k =
		ray_hashmap_find(&f->known, ray_hash_text(0, name), one, !strcmp((*one)->found.name, name));

	return k ? *k : NULL;
}

/* For a name that the file does not have. Not where symbols are: there it is missing because the compiler put the function into
 * another one. */
static struct ray_error *derive(struct ray_catalogue *c, struct file *f, struct ray_node_name *name, bool *done_ret)
{
	int i = ray_local_find(name->name);

	*done_ret = false;
	if (i < 0 || name->count || !ray_elf_is_stripped(f->elf))
		return NULL;
	if (!f->derived) {
		f->derived = ray_arena_alloc(ray_catalogue_arena(c), sizeof(*f->derived) * RAY_LOCAL_FUNCTIONS);
		if (!f->derived)
			return &ray_enomem;
		ray_node_derive(f->elf, f->derived);
	}
	if (!f->derived[i].vaddr)
		return NULL;
	name->bodies[0] = (struct ray_node_body){ .symbol = ray_local_name((enum ray_local_function)i),
						  .vaddr = f->derived[i].vaddr,
						  .size = f->derived[i].size };
	name->count = 1;
	*done_ret = true;
	return NULL;
}

static struct ray_error *remember(struct ray_catalogue *c, struct file *f, struct ray_node_name *name)
{
	struct known_name *k = ray_arena_alloc(ray_catalogue_arena(c), sizeof(*k));
	struct ray_error *err;

	if (!k)
		return &ray_enomem;
	err = derive(c, f, name, &k->is_derived);
	if (err)
		return err;
	k->found = *name;
	k->found.name = ray_arena_strdup(ray_catalogue_arena(c), name->name);
	if (!k->found.name || !ray_hashmap_add(&f->known, ray_hash_text(0, name->name), k))
		return &ray_enomem;
	return NULL;
}

typedef RAY_VEC(struct ray_node_name) name_list;

static bool has_name(const name_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->at[i].name, name))
			return true;
	return false;
}

static struct ray_error *look_up(struct ray_catalogue *c, struct file *f, name_list *list)
{
	struct ray_error *err = ray_node_names_find(f->elf, list->at, list->n);

	for (size_t i = 0; !err && i < list->n; i++)
		err = remember(c, f, &list->at[i]);
	return err;
}

/* Looks for all names that were not looked for in this file before. */
static struct ray_error *learn(struct ray_catalogue *c, struct file *f, const struct ray_node_want *wants, size_t count,
			       bool is_libc)
{
	struct ray_error *err = NULL;
	name_list list = { 0 };

	if (!f->elf)
		return NULL;
	for (size_t i = 0; !err && i < count; i++)
		for (size_t j = 0; !err && wants[i].is_libc == is_libc && j < RAY_NODE_NAMES && wants[i].names[j];
		     j++) {
			struct ray_node_name name = { .name = wants[i].names[j] };

			if (!known(f, name.name) && !has_name(&list, name.name) && !ray_vec_push(&list, name))
				err = &ray_enomem;
		}
	if (!err && list.n)
		err = look_up(c, f, &list);
	ray_vec_free(&list);
	return err;
}

/* ---- from names to places ---- */

/* Where probes go in the body, counted from its beginning. */
static size_t choose_offsets(struct ray_catalogue *c, const struct ray_node_want *want, const uint8_t *code,
			     size_t size, uint64_t *ret)
{
	if (want->is_after_call)
		return ray_instruction_after_calls(code, size, ret, RAY_NODE_BODIES);
	ret[0] = ray_catalogue_settings(c)->exact_entry ? 0 : ray_instruction_entry(code, size, RAY_REGISTER_ARGUMENTS);
	return !want->is_libc || (ret[0] < size && ray_instruction_is_cheap(code + ret[0], size - ret[0]));
}

static void place(struct ray_catalogue *c, const struct file *f, const struct ray_code_module *m,
		  const struct ray_node_want *want, const struct ray_node_body *body, struct ray_node_found *ret)
{
	size_t size = body->size < MAX_FUNCTION ? body->size : MAX_FUNCTION, count;
	ray_auto_memory uint8_t *code = malloc(size + 1);
	uint64_t offsets[RAY_NODE_BODIES] = { 0 };

	count = code ? choose_offsets(c, want, code, ray_elf_read(f->elf, body->vaddr, code, size), offsets) : 1;
	for (size_t i = 0; i < count && ret->count < RAY_NODE_BODIES; i++) {
		struct ray_node_place *at = &ret->places[ret->count];

		*at = (struct ray_node_place){ .module = m,
					       .symbol = body->symbol,
					       .vaddr = body->vaddr,
					       .size = body->size,
					       .is_clone = body->is_clone };
		ret->count += ray_elf_vaddr_to_offset(f->elf, body->vaddr + offsets[i], &at->offset);
	}
}

static void take(struct ray_catalogue *c, const struct file *f, const struct ray_code_module *m,
		 const struct ray_node_want *want, const struct known_name *k, struct ray_node_found *ret)
{
	ret->count = 0;
	for (size_t i = 0; i < k->found.count; i++)
		place(c, f, m, want, &k->found.bodies[i], ret);
	for (size_t i = 0; i < ret->count; i++)
		ret->places[i].is_derived = k->is_derived;
}

/* The preferred name, in whichever file; the program itself before its libraries, as the dynamic linker does it. */
static struct ray_error *choose(struct ray_catalogue *c, const struct ray_code_process *p,
				const struct ray_node_want *want, struct ray_node_found *ret)
{
	struct ray_node_cache *cache = cache_of(c);
	const struct known_name *k;
	struct file *f;

	*ret = (struct ray_node_found){ 0 };
	for (size_t j = 0; j < RAY_NODE_NAMES && want->names[j]; j++)
		for (size_t i = 0; i < p->modules.n; i++) {
			if (!may_hold(p->modules.at[i], want->is_libc))
				continue;
			f = file_of(c, cache, p->modules.at[i]);
			if (!f)
				return &ray_enomem;
			k = f->elf ? known(f, want->names[j]) : NULL;
			if (!k || !k->found.count)
				continue;
			take(c, f, p->modules.at[i], want, k, ret);
			ret->name = j;
			if (ret->count)
				return NULL;
		}
	return NULL;
}

struct ray_error *ray_node_find_all(struct ray_catalogue *c, pid_t pid, const struct ray_node_want *wants, size_t count,
				    struct ray_node_found *ret)
{
	struct ray_node_cache *cache = cache_of(c);
	const struct ray_code_process *p;
	struct ray_error *err;
	struct file *f;

	if (!cache)
		return &ray_enomem;
	err = ray_code_process_get(c, pid, &p);
	for (size_t i = 0; !err && i < p->modules.n; i++) {
		bool is_libc = is_glibc(p->modules.at[i]);

		if (!may_hold(p->modules.at[i], is_libc))
			continue;
		f = file_of(c, cache, p->modules.at[i]);
		err = f ? learn(c, f, wants, count, is_libc) : &ray_enomem;
	}
	for (size_t i = 0; !err && i < count; i++)
		err = choose(c, p, &wants[i], &ret[i]);
	return err;
}

struct ray_error *ray_node_find(struct ray_catalogue *c, pid_t pid, const struct ray_node_want *want,
				struct ray_node_place *ret, bool *found_ret)
{
	struct ray_node_found found;
	struct ray_error *err = ray_node_find_all(c, pid, want, 1, &found);

	if (err)
		return err;
	*found_ret = found.count > 0;
	if (found.count)
		*ret = found.places[0];
	return NULL;
}

/* ---- the process as a node ---- */

static const struct ray_code_module *module_with(const struct ray_code_process *p, const char *exported)
{
	struct ray_symbol s;
	struct ray_elf *e;

	for (size_t i = 0; i < p->modules.n; i++) {
		if (!may_hold_hooks(p->modules.at[i]))
			continue;
		e = ray_code_module_elf(p->modules.at[i]);
		if (e && ray_elf_find_dynamic(e, exported, &s))
			return p->modules.at[i];
	}
	return NULL;
}

static struct ray_error *identify(struct ray_code_process *p, struct ray_node_about *about)
{
	struct ray_error *err;

	about->pid = p->pid;
	about->process = p;
	about->module = module_with(p, "node_module_register");
	/* Most processes are none: a look at what they export is enough. */
	if (!about->module)
		return NULL;
	err = ray_node_identify(p->target, &about->node);
	if (err && ray_error_code(err) == RAY_NOT_NODE) {
		ray_error_free(err);
		return NULL;
	}
	if (err)
		return err;
	if (sscanf(about->node.version, "%u.%u", &about->major, &about->minor) != 2)
		about->major = about->minor = 0;
	about->uv_module = module_with(p, "uv_run");
	p->node = about;
	return NULL;
}

struct ray_error *ray_node_about(struct ray_catalogue *c, pid_t pid, const struct ray_node_about **ret)
{
	const struct ray_code_process *found;
	struct ray_node_about *about;
	struct ray_code_process *p;
	struct ray_error *err;

	err = ray_code_process_get(c, pid, &found);
	if (err)
		return err;
	p = (struct ray_code_process *)found; /* what is known of it is kept with it */
	if (!p->is_node_known) {
		about = ray_arena_alloc(p->arena, sizeof(*about));
		err = about ? identify(p, about) : &ray_enomem;
		if (err)
			return err;
		p->is_node_known = true;
	}
	*ret = p->node;
	return NULL;
}
