/* core_files.c - the files that a core names: where are they, and are they the ones that ran?
 * SPDX-License-Identifier: MIT
 *
 * Looked for at --exe (the executable), below --sysroot (which the path may have in it already), or else at the path
 * the core gives. A file is held against what the core holds of it: the build-id, which lies in the first page, or at
 * least the segments. A wrong executable is an error, because everything read through it would be wrong; a wrong library
 * is left out. --force takes both. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/text.h"
#include "target/core.h"

enum { MAX_CHECKED = 4096, MAX_NAMED = 3 };

static const char deleted[] = " (deleted)";

/* Never waits for a FIFO, never opens a device: the path comes from the core. */
static int open_file(int directory, const char *path, uint64_t resolve)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, .resolve = resolve };
	struct stat st;
	int fd;

	fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(directory, path + (resolve ? strspn(path, "/") : 0), (int)how.flags);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* What of path lies below the sysroot when it has that in it already, as the kernel of the machine outside a container
 * sees it; NULL if it has not. */
static const char *inside(const char *sysroot, const char *path)
{
	ray_auto_memory char *real = realpath(sysroot, NULL);
	size_t length = real ? strlen(real) : 0;

	return length && !strncmp(path, real, length) && path[length] == '/' ? path + length : NULL;
}

/* Below the sysroot, by its path or, in a folder of collected files, by its name. Links that point to
 * absolute paths stay inside. */
static int open_below(const char *sysroot, const char *path)
{
	ray_auto_fd int root = open(sysroot, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *slash = strrchr(path, '/'), *rest = inside(sysroot, path);
	int fd;

	if (root < 0)
		return -1;
	fd = open_file(root, path, RESOLVE_IN_ROOT);
	if (fd < 0 && errno == ENOENT && rest)
		fd = open_file(root, rest, RESOLVE_IN_ROOT);
	if (fd < 0 && errno == ENOENT && slash && slash[1])
		fd = open_file(root, slash + 1, RESOLVE_IN_ROOT);
	return fd;
}

static int open_as_named(struct ray_target *t, const char *path)
{
	return t->sysroot ? open_below(t->sysroot, path) : open_file(AT_FDCWD, path, 0);
}

static int core_open_path(struct ray_target *t, const char *path)
{
	if (t->exe_override && !strcmp(path, t->exe))
		return open_file(AT_FDCWD, t->exe_override, 0);
	return open_as_named(t, path);
}

/* A file that was deleted, or replaced by an upgrade, may be back under its old name. */
static int open_core_file(struct ray_target *t, const char *path)
{
	ray_auto_memory char *old = NULL;
	int fd = core_open_path(t, path);
	size_t length = strlen(path);

	if (fd >= 0 || length <= strlen(deleted) || strcmp(path + length - strlen(deleted), deleted))
		return fd;
	old = strndup(path, length - strlen(deleted));
	return old ? open_as_named(t, old) : -1;
}

bool core_find_image(struct ray_target *t, size_t file, struct ray_image *ret)
{
	const struct core_file *f = &core_of(t)->files.at[file];
	struct ray_reader r = core_dumped_reader(t);

	return f->has_base && ray_image_read(&r, f->base, RAY_IMAGE_MEMORY, ret);
}

static size_t read_bytes(void *arg, uint64_t address, void *buffer, size_t size)
{
	return ray_bytes_read(arg, address, buffer, size);
}

/* Without its first page, the executable can still be told by its entry point and program headers. */
static bool is_entered_alike(const struct core *c, const struct ray_image *file)
{
	uint64_t entry = core_auxv(c, AT_ENTRY), headers = core_auxv(c, AT_PHDR), vaddr;

	return ray_image_vaddr(file, file->header.e_phoff, &vaddr) && entry - headers == file->header.e_entry - vaddr &&
	       core_auxv(c, AT_PHNUM) == file->header.e_phnum;
}

/* What was looked at in place of the core's file. */
static const char *found_name(const struct ray_target *t, const struct core_file *f)
{
	return f->is_exe && t->exe_override ? t->exe_override : f->shown;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *describe_mismatch(struct ray_target *t, const struct core_file *f, const struct ray_image *file,
				     const struct ray_image *core)
{
	char found[RAY_BUILD_ID_MAX * 2 + 1], wanted[RAY_BUILD_ID_MAX * 2 + 1];

	if (!core || ray_image_compare(file, core) == RAY_IMAGE_OTHER_LAYOUT)
		return ray_arena_printf(t->arena, "%s is of another build than the %s in the core: its segments differ",
					found_name(t, f), base_name(f->shown));
	return ray_arena_printf(t->arena, "%s has build-id %s, the %s in the core has build-id %s", found_name(t, f),
				ray_image_id_text(file, found), base_name(f->shown), ray_image_id_text(core, wanted));
}

/* Compares the file with what the core holds of it; sets state and trouble. */
static void compare_file(struct ray_target *t, size_t index, struct ray_bytes *bytes)
{
	struct core_file *f = &core_of(t)->files.at[index];
	struct ray_reader r = { read_bytes, bytes };
	struct ray_image file, core;
	bool has_core = core_find_image(t, index, &core);
	bool can_enter = f->is_exe && core_auxv(core_of(t), AT_ENTRY) && core_auxv(core_of(t), AT_PHDR);
	bool is_right;

	if (!ray_image_read(&r, 0, RAY_IMAGE_FILE, &file)) {
		f->state = has_core || f->is_exe ? CORE_FILE_WRONG : CORE_FILE_NO_ELF;
		f->trouble = ray_arena_printf(t->arena, "%s is not a 64-bit ELF file", found_name(t, f));
		return;
	}
	f->data = ray_image_data(&file);
	is_right = has_core  ? ray_image_compare(&file, &core) <= RAY_IMAGE_SAME_LAYOUT :
		   can_enter ? is_entered_alike(core_of(t), &file) :
			       ray_bytes_size(bytes) + 4096 > f->length;
	f->state = !is_right ? CORE_FILE_WRONG : has_core || can_enter ? CORE_FILE_USABLE : CORE_FILE_UNCERTAIN;
	if (!is_right)
		f->trouble = describe_mismatch(t, f, &file, has_core ? &core : NULL);
}

static void check_file(struct ray_target *t, size_t index)
{
	struct core_file *f = &core_of(t)->files.at[index];
	int fd = open_core_file(t, f->path);
	ray_auto(ray_bytes, bytes) = NULL;

	f->state = CORE_FILE_MISSING;
	if (fd < 0)
		f->trouble = ray_arena_printf(t->arena, "%s: %s", f->shown,
					      errno == EINVAL ? "not a regular file" : strerror(errno));
	bytes = fd < 0 ? NULL : ray_bytes_open(fd);
	if (!bytes)
		return;
	compare_file(t, index, bytes);
	if (f->state == CORE_FILE_WRONG && t->force) {
		ray_target_warn(t, "%s: used nevertheless (--force), so what follows may be wrong",
				f->trouble ? f->trouble : f->shown);
		f->state = CORE_FILE_USABLE;
		f->trouble = NULL;
	}
	if (f->state == CORE_FILE_USABLE || f->state == CORE_FILE_UNCERTAIN)
		f->bytes = ray_take(bytes);
}

struct core_file *core_get_file(struct ray_target *t, size_t index)
{
	struct core *c = core_of(t);

	if (index >= c->files.n)
		return NULL;
	if (c->files.at[index].state == CORE_FILE_UNCHECKED)
		check_file(t, index);
	return &c->files.at[index];
}

static int compare_to_path(const void *key, const void *row)
{
	return strcmp(key, ((const struct core_file *)row)->path);
}

/* Files are sorted by path. */
static struct core_file *find_file(struct core *c, const char *path)
{
	return c->files.n ? bsearch(path, c->files.at, c->files.n, sizeof(*c->files.at), compare_to_path) : NULL;
}

struct ray_error *core_open_module(struct ray_target *t, const struct ray_map *map, struct ray_elf **ret)
{
	struct core *c = core_of(t);
	struct core_file *f = find_file(c, map->path);
	int fd;

	if (!f)
		return ray_error_new(RAY_UNREADABLE, "%s is not among the core's files", map->path);
	f = core_get_file(t, (size_t)(f - c->files.at));
	if (!f->bytes)
		return ray_error_new(RAY_UNREADABLE, "%s", f->trouble ? f->trouble : f->shown);
	fd = fcntl(ray_bytes_fd(f->bytes), F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? ray_error_errno(RAY_FAILED, errno, "%s", map->path) : ray_elf_open_fd(fd, map->path, ret);
}

/* What the mappings tell of each file. */
static struct ray_error *describe_files(struct ray_target *t)
{
	struct core *c = core_of(t);

	for (size_t i = 0; i < c->files.n; i++) {
		ray_auto_text shown = { 0 };

		ray_text_add_safe(&shown, c->files.at[i].path, strlen(c->files.at[i].path));
		c->files.at[i].shown = ray_arena_strdup(t->arena, ray_text_get(&shown));
		if (!c->files.at[i].shown)
			return &ray_enomem;
	}
	for (size_t i = 0; i < c->mappings.n; i++) {
		const struct core_mapping *m = &c->mappings.at[i];
		const struct core_segment *s = core_find_segment(c, m->start);
		struct core_file *f = &c->files.at[m->file];

		if (m->offset == 0 && !f->has_base) {
			f->has_base = true;
			f->base = m->start;
		}
		f->has_code |= s && (s->prot & PROT_EXEC);
		if (m->offset + (m->end - m->start) > f->length)
			f->length = m->offset + (m->end - m->start);
	}
	return NULL;
}

/* The executable is what the entry point lies in; the kernel gives it, and the program headers. */
static void find_exe(struct ray_target *t)
{
	static const uint64_t types[] = { AT_ENTRY, AT_PHDR };
	struct core *c = core_of(t);
	const struct core_mapping *m = NULL;

	for (size_t i = 0; i < RAY_COUNT(types) && !m; i++) {
		uint64_t address = core_auxv(c, types[i]);

		m = address ? core_find_mapping(c, address) : NULL;
	}
	if (!m)
		m = c->mappings.at; /* lowest: where programs are, below their libraries */
	if (!m)
		return;
	c->files.at[m->file].is_exe = true;
	t->exe = c->files.at[m->file].path;
}

static struct ray_error *check_options(struct ray_target *t)
{
	struct stat st;
	int fd;

	if (t->sysroot && stat(t->sysroot, &st))
		return ray_error_errno(RAY_FAILED, errno, "--sysroot %s", t->sysroot);
	if (t->sysroot && !S_ISDIR(st.st_mode))
		return ray_error_errno(RAY_FAILED, ENOTDIR, "--sysroot %s", t->sysroot);
	if (!t->exe_override)
		return NULL;
	if (!stat(t->exe_override, &st) && S_ISDIR(st.st_mode))
		return ray_error_remedy(ray_error_errno(RAY_FAILED, EISDIR, "--exe %s", t->exe_override),
					"--sysroot DIR names a directory below which the core's files lie");
	fd = open_file(AT_FDCWD, t->exe_override, 0);
	if (fd < 0)
		return ray_error_errno(RAY_FAILED, errno, "--exe %s", t->exe_override);
	close(fd);
	return NULL;
}

static struct ray_error *check_exe(struct ray_target *t, const struct core_file *f)
{
	if (f->state == CORE_FILE_WRONG)
		return ray_error_remedy(
			ray_error_new(RAY_UNREADABLE, "%s", f->trouble ? f->trouble : f->shown),
			"give the right executable with --exe FILE or --sysroot DIR, or go on with --force");
	if (f->state == CORE_FILE_MISSING)
		ray_target_warn(t,
				"the executable is not here (%s): functions have no names, and code cannot be read; "
				"give it with --exe FILE or --sysroot DIR",
				f->trouble ? f->trouble : f->shown);
	return NULL;
}

/* One sentence for all libraries in the same state. */
static void warn_of_libraries(struct ray_target *t, enum core_file_state state, const char *what)
{
	ray_auto_text names = { 0 };
	const struct core *c = core_of(t);
	size_t count = 0;

	for (size_t i = 0; i < c->files.n; i++) {
		const struct core_file *f = &c->files.at[i];
		const char *shown = f->trouble && state != CORE_FILE_MISSING ? f->trouble : f->shown;

		if (f->is_exe || f->state != state || count++ >= MAX_NAMED)
			continue;
		ray_text_printf(&names, "%s%s", count > 1 ? "; " : "", shown);
	}
	if (count)
		ray_target_warn(t, "%zu %s %s (%s%s)", count, count == 1 ? "library" : "libraries", what,
				ray_text_get(&names), count > MAX_NAMED ? "; ..." : "");
}

struct ray_error *core_check_files(struct ray_target *t)
{
	struct core *c = core_of(t);
	struct ray_error *err = check_options(t);
	size_t checked = 0;

	if (!err)
		err = describe_files(t);
	if (err)
		return err;
	find_exe(t);
	for (size_t i = 0; i < c->files.n && !err && checked < MAX_CHECKED; i++) {
		if (!c->files.at[i].is_exe && !c->files.at[i].has_code)
			continue;
		checked++;
		core_get_file(t, i);
		if (c->files.at[i].is_exe)
			err = check_exe(t, &c->files.at[i]);
	}
	if (err)
		return err;
	warn_of_libraries(t, CORE_FILE_MISSING, "could not be found: use --sysroot DIR");
	warn_of_libraries(t, CORE_FILE_WRONG, "not used, being of another build: use --sysroot DIR, or --force");
	warn_of_libraries(t, CORE_FILE_UNCERTAIN, "used unchecked: the core holds nothing to tell the build by");
	return NULL;
}
