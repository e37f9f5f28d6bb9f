/* process.c - a running process as a target, read through /proc.
 * SPDX-License-Identifier: MIT
 *
 * Nothing here stops or changes the process (freeze.c does the stopping; process_memory.c reads its memory).
 * Files are opened through /proc/PID/root, which makes containers work from the host. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/text.h"
#include "target/process.h"
#include "target/stop.h"

struct ray_error *ray_process_file(struct ray_target *t, const char *name, char **ret, size_t *size_ret)
{
	ray_auto_text text = { 0 };
	ray_auto_fd int fd = openat(ray_process_of(t)->proc, name, O_RDONLY | O_CLOEXEC);
	char chunk[16384];
	ssize_t n;

	if (fd < 0)
		return ray_error_errno(RAY_FAILED, errno, "/proc/%d/%s", t->pid, name);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		ray_text_add_bytes(&text, chunk, (size_t)n);
	if (n < 0)
		return ray_error_errno(RAY_FAILED, errno, "/proc/%d/%s", t->pid, name);
	ray_text_add(&text, "");
	if (text.failed || !text.bytes)
		return &ray_enomem;
	*size_ret = text.length;
	*ret = ray_take(text.bytes);
	return NULL;
}

/* Most mappings are of a file that is known already: its path is not kept twice, however often maps are read. */
static const char *keep_path(struct ray_target *t, const char *path)
{
	size_t n = t->maps.n;

	if (n && !strcmp(t->maps.at[n - 1].path, path))
		return t->maps.at[n - 1].path;
	for (size_t i = 0; i < t->modules.n; i++) {
		if (!strcmp(t->modules.at[i]->module.path, path))
			return t->modules.at[i]->module.path;
	}
	return ray_arena_strdup(t->arena, path);
}

/* One line of /proc/PID/maps, cut at its newline. */
static bool parse_map(struct ray_target *t, char *line, struct ray_map *m)
{
	unsigned dev_major, dev_minor;
	unsigned long long start, end, offset, inode;
	char mode[5];
	int path_at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, mode, &offset, &dev_major, &dev_minor,
		   &inode, &path_at) < 7)
		return false;
	*m = (struct ray_map){ .start = start,
			       .end = end,
			       .offset = offset,
			       .inode = inode,
			       .dev = makedev(dev_major, dev_minor),
			       .shared = mode[3] == 's',
			       .dumped = end - start };
	m->prot = (mode[0] == 'r' ? PROT_READ : 0) | (mode[1] == 'w' ? PROT_WRITE : 0) |
		  (mode[2] == 'x' ? PROT_EXEC : 0);
	m->path = path_at && line[path_at] ? keep_path(t, line + path_at) : "";
	return m->path != NULL;
}

/* A zombie has no memory any more, a thread of the kernel never had any; whoever asks may know. NULL: it is neither. */
static struct ray_error *never_has_memory(struct ray_target *t)
{
	enum { PF_KTHREAD = 0x00200000 };
	ray_auto_memory char *stat = NULL;
	unsigned flags = 0;
	const char *rest;
	char state = 'X';
	size_t size;

	ray_error_free(ray_process_file(t, "stat", &stat, &size));
	rest = stat ? strrchr(stat, ')') : NULL;
	if (rest && sscanf(rest, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) == 2 && (flags & PF_KTHREAD))
		return ray_error_new(RAY_NOT_NODE, "is a thread of the kernel");
	if (state == 'Z')
		return ray_error_new(RAY_FAILED, "has ended; only its parent has not taken note of it yet (zombie)");
	return rest ? NULL : ray_error_new(RAY_FAILED, "no such process");
}

/* A process that ends has no memory for a moment. */
static struct ray_error *no_memory(struct ray_target *t)
{
	struct ray_error *err = never_has_memory(t);

	return err ? err : ray_error_new(RAY_FAILED, "has just ended");
}

static struct ray_error *process_load_maps(struct ray_target *t)
{
	ray_auto_memory char *text = NULL;
	struct ray_error *err;
	struct ray_map m;
	size_t size;
	char *line, *save = NULL;

	err = ray_process_file(t, "maps", &text, &size);
	if (err && ray_error_code(err) != RAY_DENIED) {
		ray_error_free(err);
		return no_memory(t);
	}
	if (err)
		return err;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (parse_map(t, line, &m) && !ray_vec_push(&t->maps, m))
			return &ray_enomem;
	}
	if (!t->maps.n)
		return no_memory(t);
	return NULL;
}

/* comm may hold anything, ')' too: the state follows the last ')', the flags six numbers later. */
static bool read_thread(struct ray_target *t, int tid, struct ray_thread *ret)
{
	enum { PF_IO_WORKER = 0x10 };
	char path[64], stat[512], *open, *close;
	unsigned flags = 0;
	ssize_t n;
	size_t length;
	ray_auto_fd int fd = -1;

	snprintf(path, sizeof(path), "task/%d/stat", tid);
	fd = openat(ray_process_of(t)->proc, path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, stat, sizeof(stat) - 1) : -1;
	if (n <= 0)
		return false;
	stat[n] = '\0';
	open = strchr(stat, '(');
	close = strrchr(stat, ')');
	if (!open || !close || close < open || close[1] != ' ')
		return false;
	memset(ret, 0, sizeof(*ret));
	ret->tid = tid;
	ret->state = close[2];
	if (sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && flags & PF_IO_WORKER)
		ray_thread_mark_kernel(ret);
	length = (size_t)(close - open - 1);
	if (length >= sizeof(ret->name))
		length = sizeof(ret->name) - 1;
	memcpy(ret->name, open + 1, length);
	return true;
}

static void close_directory(DIR **d)
{
	if (*d)
		closedir(*d);
}

static struct ray_error *process_load_threads(struct ray_target *t)
{
	__attribute__((cleanup(close_directory))) DIR *d = NULL;
	int fd = openat(ray_process_of(t)->proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ray_thread thread;
	struct dirent *entry;
	bool found = false;

	d = fd >= 0 ? fdopendir(fd) : NULL;
	if (!d) {
		int saved = errno;

		if (fd >= 0)
			close(fd);
		return ray_error_errno(RAY_FAILED, saved, "/proc/%d/task", t->pid);
	}
	while ((entry = readdir(d))) {
		int tid = atoi(entry->d_name);

		if (tid <= 0 || !read_thread(t, tid, &thread))
			continue;
		found |= tid == t->only_tid;
		if (!ray_vec_push(&t->threads, thread))
			return &ray_enomem;
	}
	if (t->only_tid && !found)
		return ray_error_new(RAY_FAILED, "process %d has no thread %d", t->pid, t->only_tid);
	return NULL;
}

static struct ray_error *process_args(struct ray_target *t, char **ret, size_t *size_ret)
{
	return ray_process_file(t, "cmdline", ret, size_ret);
}

static struct ray_error *process_env(struct ray_target *t, char **ret, size_t *size_ret)
{
	struct ray_error *err = ray_process_file(t, "environ", ret, size_ret);

	if (ray_error_code(err) == RAY_DENIED && ray_process_environment(t, ret, size_ret)) {
		ray_error_free(err);
		return NULL;
	}
	return err;
}

static struct ray_error *process_auxv(struct ray_target *t, Elf64_auxv_t **ret, size_t *count_ret)
{
	struct ray_error *err;
	size_t size, n = 0;
	char *bytes;

	err = ray_process_file(t, "auxv", &bytes, &size);
	if (err)
		return err;
	*ret = (Elf64_auxv_t *)(void *)bytes;
	while (n < size / sizeof(**ret) && (*ret)[n].a_type != AT_NULL)
		n++;
	*count_ret = n;
	return NULL;
}

static int process_open_path(struct ray_target *t, const char *path)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "root/%s", path) >= (int)sizeof(full)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return openat(ray_process_of(t)->proc, full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Devices differ between what /proc/PID/maps and stat say on overlay and btrfs, so inodes decide. */
static bool is_same_file(int fd, const struct ray_map *map)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_ino == map->inode;
}

/* The file that is mapped, even when its path was deleted or replaced since: the executable through
 * /proc/PID/exe, others through map_files where we have the right. */
static int open_mapped(struct ray_target *t, const struct ray_map *map)
{
	char path[64];
	int fd;

	fd = process_open_path(t, map->path);
	if (is_same_file(fd, map))
		return fd;
	if (fd >= 0)
		close(fd);
	fd = openat(ray_process_of(t)->proc, "exe", O_RDONLY | O_CLOEXEC);
	if (is_same_file(fd, map))
		return fd;
	if (fd >= 0)
		close(fd);
	snprintf(path, sizeof(path), "map_files/%llx-%llx", (unsigned long long)map->start,
		 (unsigned long long)map->end);
	return openat(ray_process_of(t)->proc, path, O_RDONLY | O_CLOEXEC);
}

static struct ray_error *process_open_module(struct ray_target *t, const struct ray_map *map, struct ray_elf **ret)
{
	int fd = open_mapped(t, map);

	if (fd < 0)
		return ray_error_errno(RAY_UNREADABLE, errno, "%s is no longer the file that is mapped", map->path);
	return ray_elf_open_fd(fd, map->path, ret);
}

static void process_close(struct ray_target *t)
{
	struct process *p = ray_process_of(t);

	if (!p)
		return;
	if (p->mem >= 0)
		close(p->mem);
	if (p->proc >= 0)
		close(p->proc);
	if (p->pidfd >= 0)
		close(p->pidfd);
	free(p);
}

static const struct ray_target_ops process_ops = {
	.read = ray_process_read,
	.read_many = ray_process_read_many,
	.load_maps = process_load_maps,
	.load_threads = process_load_threads,
	.args = process_args,
	.env = process_env,
	.auxv = process_auxv,
	.open_module = process_open_module,
	.close = process_close,
};

/* A thread's id names a process too: /proc/TID exists. Then that thread of its process is meant. */
static void resolve_thread_id(struct ray_target *t)
{
	ray_auto_memory char *status = NULL;
	struct ray_error *err;
	const char *line;
	size_t size;
	int tgid;

	err = ray_process_file(t, "status", &status, &size);
	if (err) {
		ray_error_free(err);
		return;
	}
	line = strstr(status, "\nTgid:");
	if (line && sscanf(line, "\nTgid: %d", &tgid) == 1 && tgid != t->pid) {
		if (!t->only_tid)
			t->only_tid = t->pid;
		t->pid = tgid;
	}
}

static struct ray_error *cannot_open_memory(struct ray_target *t, int errnum)
{
	struct ray_error *err;
	char what[64];

	if (errnum != EACCES && errnum != EPERM)
		return no_memory(t);
	err = never_has_memory(t);
	if (err)
		return err;
	snprintf(what, sizeof(what), "cannot read the memory of process %d", t->pid);
	return ray_stop_denied(t->pid, errnum, what);
}

struct ray_error *ray_process_init(struct ray_target *t, int pid)
{
	struct process *p = calloc(1, sizeof(*p));
	char path[64], exe[PATH_MAX];
	ssize_t n;

	if (!p)
		return &ray_enomem;
	p->mem = p->proc = p->pidfd = -1;
	t->data = p;
	t->ops = &process_ops;
	t->kind = RAY_TARGET_PROCESS;
	t->pid = pid;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	p->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->proc < 0)
		return ray_error_new(RAY_FAILED, "no such process");
	resolve_thread_id(t);
	if (t->pid != pid) {
		close(p->proc);
		snprintf(path, sizeof(path), "/proc/%d", t->pid);
		p->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	p->mem = openat(p->proc, "mem", O_RDONLY | O_CLOEXEC);
	if (p->mem < 0 && !ray_process_open_by_pidfd(t))
		return cannot_open_memory(t, errno);
	n = readlinkat(p->proc, "exe", exe, sizeof(exe));
	t->exe = n > 0 ? ray_arena_copy(t->arena, exe, (size_t)n) : "";
	return t->exe ? NULL : &ray_enomem;
}
