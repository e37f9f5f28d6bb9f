/* discover.c - every node on the machine; see node.h. SPDX-License-Identifier: MIT
 *
 * A machine has a thousand processes of a hundred programs, so each file is judged once and remembered by device
 * and inode, and files too small to hold V8 are not opened. Only reads /proc: no process notices. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/text.h"
#include "base/vec.h"
#include "target/node.h"

enum { LEAST_V8 = 4 << 20 }; /* bytes; V8's code alone takes over ten million */

struct judged {
	dev_t dev;
	ino_t inode;
	bool is_node;
};

struct search {
	RAY_VEC(struct judged) judged;
	RAY_VEC(int) found;
	size_t unreadable;
	bool failed; /* out of memory */
};

enum verdict { NOT_NODE, IS_NODE, NOT_ALLOWED };

static const struct judged *recall(const struct search *s, dev_t dev, ino_t inode)
{
	for (size_t i = 0; i < s->judged.n; i++)
		if (s->judged.at[i].inode == inode && s->judged.at[i].dev == dev)
			return &s->judged.at[i];
	return NULL;
}

/* Takes fd over. */
static bool judge(struct search *s, int fd, dev_t dev, ino_t inode)
{
	ray_auto(ray_elf, e) = NULL;
	struct ray_error *err = ray_elf_open_fd(fd, "executable", &e);
	bool is_node = !err && ray_node_is_module(e);

	ray_error_free(err);
	if (!ray_vec_push(&s->judged, (struct judged){ dev, inode, is_node }))
		s->failed = true;
	return is_node;
}

/* To others the kernel's own threads look like processes that may not be looked at. */
static bool is_kernel_thread_or_dead(int proc)
{
	ray_auto_fd int fd = openat(proc, "stat", O_RDONLY | O_CLOEXEC);
	enum { PF_KTHREAD = 0x00200000 };
	char text[512], state = 0, *rest;
	unsigned flags = 0;
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (n <= 0)
		return true;
	text[n] = '\0';
	rest = strrchr(text, ')');
	return !rest || sscanf(rest, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2 || state == 'Z' ||
	       state == 'X' || (flags & PF_KTHREAD);
}

static enum verdict judge_executable(struct search *s, int proc)
{
	const struct judged *known;
	struct stat st;
	int fd;

	if (fstatat(proc, "exe", &st, 0))
		return (errno == EACCES || errno == EPERM) && !is_kernel_thread_or_dead(proc) ? NOT_ALLOWED : NOT_NODE;
	known = recall(s, st.st_dev, st.st_ino);
	if (known)
		return known->is_node ? IS_NODE : NOT_NODE;
	if (!S_ISREG(st.st_mode) || st.st_size < LEAST_V8)
		return NOT_NODE;
	fd = openat(proc, "exe", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES || errno == EPERM ? NOT_ALLOWED : NOT_NODE;
	return judge(s, fd, st.st_dev, st.st_ino) ? IS_NODE : NOT_NODE;
}

/* A line of maps that may be the code of a library with V8 in it. */
struct code {
	unsigned long long start, end, inode;
	dev_t dev;
	const char *path;
};

static bool parse_code(char *line, struct code *ret)
{
	unsigned dev_major, dev_minor;
	int path_at = 0;
	char mode[5];

	if (sscanf(line, "%llx-%llx %4s %*x %x:%x %llu %n", &ret->start, &ret->end, mode, &dev_major, &dev_minor,
		   &ret->inode, &path_at) < 6 ||
	    mode[2] != 'x' || ret->end - ret->start < LEAST_V8 || !ret->inode || !path_at || line[path_at] != '/')
		return false;
	line[strcspn(line, "\n")] = '\0';
	ret->dev = makedev(dev_major, dev_minor);
	ret->path = line + path_at;
	return true;
}

/* The mapped file itself: its path may lead elsewhere by now. */
static int open_library(int proc, const struct code *code)
{
	char name[PATH_MAX];
	struct stat st;
	int fd;

	if (snprintf(name, sizeof(name), "root/%s", code->path) < (int)sizeof(name)) {
		fd = openat(proc, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_ino == code->inode)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	snprintf(name, sizeof(name), "map_files/%llx-%llx", code->start, code->end);
	return openat(proc, name, O_RDONLY | O_CLOEXEC);
}

static enum verdict judge_code(struct search *s, int proc, const struct code *code)
{
	const struct judged *known = recall(s, code->dev, code->inode);
	int fd;

	if (known)
		return known->is_node ? IS_NODE : NOT_NODE;
	fd = open_library(proc, code);
	if (fd < 0)
		return errno == EACCES || errno == EPERM ? NOT_ALLOWED : NOT_NODE;
	return judge(s, fd, code->dev, code->inode) ? IS_NODE : NOT_NODE;
}

static FILE *open_maps(int proc)
{
	int fd = openat(proc, "maps", O_RDONLY | O_CLOEXEC);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (!f && fd >= 0)
		close(fd);
	return f;
}

static enum verdict judge_libraries(struct search *s, int proc)
{
	ray_auto_file FILE *f = NULL;
	ray_auto_memory char *line = NULL;
	enum verdict v, all = NOT_NODE;
	struct code code;
	struct stat st;
	size_t cap = 0;

	/* V8 is never alone in its process: a directory of one thread has three links. */
	if (fstatat(proc, "task", &st, 0) || st.st_nlink < 4)
		return NOT_NODE;
	f = open_maps(proc);
	if (!f)
		return errno == EACCES || errno == EPERM ? NOT_ALLOWED : NOT_NODE;
	while (all != IS_NODE && getline(&line, &cap, f) > 0) {
		if (!parse_code(line, &code))
			continue;
		v = judge_code(s, proc, &code);
		if (v != NOT_NODE)
			all = v;
	}
	return all;
}

static void judge_process(struct search *s, int pid)
{
	char path[32];
	enum verdict v;
	ray_auto_fd int proc = -1;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return;
	v = judge_executable(s, proc);
	if (v == NOT_NODE)
		v = judge_libraries(s, proc);
	if (v == NOT_ALLOWED)
		s->unreadable++;
	else if (v == IS_NODE && !ray_vec_push(&s->found, pid))
		s->failed = true;
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

struct ray_error *ray_node_list(int **ret, size_t *count_ret, size_t *unreadable_ret)
{
	struct search s = { 0 };
	DIR *d = opendir("/proc");
	struct dirent *entry;

	if (!d || access("/proc/self/stat", R_OK)) {
		if (d)
			closedir(d);
		return ray_error_remedy(ray_error_new(RAY_FAILED, "/proc is not there, or not the kernel's"),
					"mount -t proc proc /proc");
	}
	while ((entry = readdir(d)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			judge_process(&s, atoi(entry->d_name));
	closedir(d);
	ray_vec_free(&s.judged);
	if (s.failed) {
		ray_vec_free(&s.found);
		return &ray_enomem;
	}
	if (s.found.n)
		qsort(s.found.at, s.found.n, sizeof(*s.found.at), by_number);
	*ret = s.found.at;
	*count_ret = s.found.n;
	*unreadable_ret = s.unreadable;
	return NULL;
}

static struct ray_error *none_found(size_t unreadable)
{
	struct ray_error *err = ray_error_new(RAY_NOT_NODE, "no node runs on this machine");

	if (!unreadable)
		return ray_error_remedy(err, "name a core file, or start a node");
	ray_error_free(err);
	err = ray_error_new(RAY_NOT_NODE, "no node found that you may look at");
	return ray_error_remedy(err, "%zu processes of other users could not be examined; run as root to see them",
				unreadable);
}

struct ray_error *ray_node_only(int *ret)
{
	enum { SHOWN = 8 };
	ray_auto_memory int *pids = NULL;
	ray_auto_text list = { 0 };
	struct ray_error *err;
	size_t count, unreadable;

	err = ray_node_list(&pids, &count, &unreadable);
	if (err)
		return err;
	if (!count)
		return none_found(unreadable);
	if (count == 1) {
		*ret = pids[0];
		return NULL;
	}
	for (size_t i = 0; i < count && i < SHOWN; i++)
		ray_text_printf(&list, "%s%d", i ? ", " : "", pids[i]);
	if (count > SHOWN)
		ray_text_printf(&list, " and %zu more", count - SHOWN);
	err = ray_error_new(RAY_USAGE, "which of %zu nodes? %s", count, ray_text_get(&list));
	return ray_error_remedy(err, "name one of them; 'noderay ps' tells what they are");
}

/* Describes the file behind fd, which it takes over, if that is a node. */
static bool describe(int fd, struct ray_node *ret)
{
	ray_auto(ray_elf, e) = NULL;
	struct ray_error *err = fd >= 0 ? ray_elf_open_fd(fd, "executable", &e) : NULL;
	bool is_node = !err && e && ray_node_is_module(e);

	ray_error_free(err);
	if (is_node)
		ray_node_describe(e, ret);
	return is_node;
}

struct ray_error *ray_node_identify_files(int pid, struct ray_node *ret)
{
	ray_auto_file FILE *f = NULL;
	ray_auto_memory char *line = NULL;
	ray_auto_fd int proc = -1;
	struct ray_node n = { 0 };
	struct code code;
	size_t cap = 0;
	char path[32];
	bool found;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return ray_error_new(RAY_FAILED, "no such process: %d", pid);
	found = describe(openat(proc, "exe", O_RDONLY | O_CLOEXEC), &n);
	f = found ? NULL : open_maps(proc);
	while (f && !found && getline(&line, &cap, f) > 0)
		found = parse_code(line, &code) && describe(open_library(proc, &code), &n);
	if (!found)
		return ray_error_new(RAY_NOT_NODE, "%d is not a node", pid);
	*ret = n;
	return NULL;
}
