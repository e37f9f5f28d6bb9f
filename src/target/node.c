/* node.c - is this a node, and which one? See node.h. SPDX-License-Identifier: MIT */
#include "target/node.h"

#include <ctype.h>
#include <string.h>
#include <sys/mman.h>

#include "elf/notes.h"

/* Exported by every node since 0.10; V8's own version is exported too. Both together are a node,
 * whatever the file is called. */
static const char node_symbol[] = "node_module_register";
static const char *const v8_version_symbols[4] = {
	"_ZN2v88internal7Version6major_E",
	"_ZN2v88internal7Version6minor_E",
	"_ZN2v88internal7Version6build_E",
	"_ZN2v88internal7Version6patch_E",
};
/* node::per_process::metadata; its first member is the std::string versions.node. */
static const char metadata_symbol[] = "_ZN4node11per_process8metadataE";

bool ray_node_is_module(struct ray_elf *e)
{
	struct ray_symbol s;

	return ray_elf_find_dynamic(e, node_symbol, &s) && ray_elf_find_dynamic(e, v8_version_symbols[0], &s);
}

static void read_v8_version(struct ray_elf *e, struct ray_node *n)
{
	int32_t part[4];
	struct ray_symbol s;

	for (int i = 0; i < 4; i++) {
		if (!ray_elf_find_dynamic(e, v8_version_symbols[i], &s) || !ray_elf_read_int(e, s.value, &part[i]) ||
		    part[i] < 0 || part[i] > 65535)
			return;
	}
	n->v8 = RAY_V8(part[0] & 255, part[1] & 255, part[2]);
	snprintf(n->v8_text, sizeof(n->v8_text), "%d.%d.%d.%d", part[0], part[1], part[2], part[3]);
}

static bool is_version(const char *text)
{
	int dots = 0;

	if (!isdigit((unsigned char)text[0]))
		return false;
	for (; *text; text++) {
		if (*text == '.')
			dots++;
		else if (!isalnum((unsigned char)*text) && *text != '-' && *text != '+')
			return false;
	}
	return dots >= 2;
}

/* A std::string in the target: pointer, length, then the bytes themselves when they are short. */
static void read_version_from_memory(struct ray_target *t, struct ray_node *n)
{
	struct {
		uint64_t bytes, length;
	} string;
	char text[sizeof(n->version)];
	struct ray_symbol s;
	uint64_t address;

	if (!ray_elf_find_dynamic(n->module->elf, metadata_symbol, &s) ||
	    !ray_target_module_address(t, n->module, s.value, &address) ||
	    ray_target_read(t, address, &string, sizeof(string)) != sizeof(string) || string.length < 5 ||
	    string.length >= sizeof(text) || ray_target_read(t, string.bytes, text, string.length) != string.length)
		return;
	text[string.length] = '\0';
	if (is_version(text))
		memcpy(n->version, text, string.length + 1);
}

/* The address of its own source archive, ".../node-v22.23.3.tar.gz", is in every node. */
static void read_version_from_file(struct ray_elf *e, struct ray_node *n)
{
	static const char mark[] = "/node-v";
	const char *p, *bytes;
	const void *found;
	uint64_t vaddr;
	size_t size, i;

	if (!ray_elf_section(e, ".rodata", &found, &size, &vaddr))
		return;
	bytes = found;
	for (p = memmem(bytes, size, mark, sizeof(mark) - 1); p;
	     p = memmem(p, size - (size_t)(p - bytes), mark, sizeof(mark) - 1)) {
		char text[sizeof(n->version)] = "";

		p += sizeof(mark) - 1;
		for (i = 0; i + 1 < sizeof(text) && (size_t)(p - bytes) + i < size; i++) {
			if (!isdigit((unsigned char)p[i]) && p[i] != '.')
				break;
			text[i] = p[i];
		}
		while (i && text[i - 1] == '.')
			text[--i] = '\0';
		if (is_version(text)) {
			strcpy(n->version, text);
			return;
		}
	}
}

static bool note_is_bundle(const char *owner, RAY_UNUSED uint32_t type, RAY_UNUSED const void *desc, size_t size,
			   void *arg)
{
	bool *found = arg;

	*found |= size && !strcmp(owner, "NODE_SEA_BLOB");
	return !*found;
}

void ray_node_describe(struct ray_elf *e, struct ray_node *ret)
{
	ret->stripped = ray_elf_is_stripped(e);
	ray_elf_each_note(e, note_is_bundle, &ret->bundled);
	read_v8_version(e, ret);
	read_version_from_file(e, ret);
}

static bool is_executable_image(struct ray_target *t, const struct ray_map *map)
{
	const char *exe = ray_target_exe(t);

	return exe[0] && !strcmp(map->path, exe);
}

/* The executable first; libraries (libnode.so) only if that is none. */
static const struct ray_module *find_module(struct ray_target *t, const char **missing)
{
	const struct ray_module *m, *last = NULL;
	const struct ray_map *maps;
	size_t count;

	maps = ray_target_maps(t, &count);
	for (int libraries = 0; libraries < 2; libraries++) {
		for (size_t i = 0; i < count; i++) {
			if (maps[i].path[0] != '/' || is_executable_image(t, &maps[i]) == (libraries == 1) ||
			    (libraries && !(maps[i].prot & PROT_EXEC)))
				continue;
			m = ray_target_map_module(t, &maps[i]);
			if (!m || m == last)
				continue;
			last = m;
			if (m->elf && ray_node_is_module(m->elf))
				return m;
			if (!m->elf && !*missing)
				*missing = m->error;
		}
	}
	return NULL;
}

/* A core that was cut inside its notes does not even say which files were mapped. */
static bool has_files(struct ray_target *t)
{
	const struct ray_map *maps;
	size_t count;

	maps = ray_target_maps(t, &count);
	for (size_t i = 0; i < count; i++)
		if (maps[i].path[0] == '/')
			return true;
	return false;
}

struct ray_error *ray_node_identify(struct ray_target *t, struct ray_node *ret)
{
	struct ray_node n = { 0 };
	const char *missing = NULL;
	struct ray_error *err;

	n.module = find_module(t, &missing);
	/* Of a process that has ended meanwhile no file can be found either: that is the better answer. */
	if (!n.module && ray_target_kind(t) == RAY_TARGET_PROCESS) {
		err = ray_target_refresh(t);
		if (err)
			return ray_error_wrap(err, "%s", ray_target_name(t));
	}
	if (!n.module && missing)
		return ray_error_remedy(ray_error_new(RAY_UNREADABLE, "%s: its executable cannot be read: %s",
						      ray_target_name(t), missing),
					"--exe FILE or --sysroot DIR says where the binaries are");
	if (!n.module && ray_target_kind(t) == RAY_TARGET_CORE && !has_files(t))
		return ray_error_new(RAY_UNREADABLE, "%s does not say which files were mapped: its notes are missing",
				     ray_target_name(t));
	if (!n.module)
		return ray_error_new(RAY_NOT_NODE, "%s is not a node: neither %s nor a library of it holds V8 and node",
				     ray_target_name(t), ray_target_exe(t)[0] ? ray_target_exe(t) : "its executable");
	n.stripped = ray_elf_is_stripped(n.module->elf);
	ray_elf_each_note(n.module->elf, note_is_bundle, &n.bundled);
	read_v8_version(n.module->elf, &n);
	read_version_from_memory(t, &n);
	if (!n.version[0])
		read_version_from_file(n.module->elf, &n);
	*ret = n;
	return NULL;
}
