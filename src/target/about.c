/* about.c - see about.h. SPDX-License-Identifier: MIT */
#include "target/about.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/text.h"

/* Reads a file below /proc/PID; false when it cannot be had. */
static bool read_file(int proc, const char *name, struct ray_text *ret)
{
	ray_auto_fd int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	char chunk[4096];
	ssize_t n = -1;

	ray_text_clear(ret);
	while (fd >= 0 && (n = read(fd, chunk, sizeof(chunk))) > 0)
		ray_text_add_bytes(ret, chunk, (size_t)n);
	return n == 0 && !ret->failed;
}

static const char *read_link(int proc, const char *name, struct ray_arena *arena)
{
	char path[PATH_MAX];
	ssize_t n = readlinkat(proc, name, path, sizeof(path));
	const char *copy = n > 0 ? ray_arena_copy(arena, path, (size_t)n) : NULL;

	return copy ? copy : "";
}

/* comm may hold anything: fields are counted from the last ')'. */
static bool read_stat(int proc, struct ray_about *a)
{
	ray_auto_text text = { 0 };
	unsigned long long utime, stime, start;
	struct timespec now;
	long hz = sysconf(_SC_CLK_TCK);
	const char *rest;
	double age;

	if (!read_file(proc, "stat", &text))
		return false;
	rest = strrchr(ray_text_get(&text), ')');
	if (!rest || sscanf(rest, ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %ld %*d %llu",
			    &a->state, &a->ppid, &utime, &stime, &a->threads, &start) != 6)
		return false;
	a->cpu = (double)(utime + stime) / (double)hz;
	clock_gettime(CLOCK_BOOTTIME, &now);
	age = (double)now.tv_sec + (double)now.tv_nsec / 1e9 - (double)start / (double)hz;
	a->uptime = age > 0 ? (uint64_t)age : 0;
	return true;
}

static void read_status(int proc, struct ray_about *a)
{
	ray_auto_text text = { 0 };
	const char *line;
	unsigned long long kib;

	a->inner_pid = a->pid;
	if (!read_file(proc, "status", &text))
		return;
	line = strstr(ray_text_get(&text), "\nUid:");
	if (line)
		sscanf(line, "\nUid: %u", &a->uid);
	line = strstr(ray_text_get(&text), "\nVmRSS:");
	if (line && sscanf(line, "\nVmRSS: %llu", &kib) == 1)
		a->rss = kib * 1024;
	/* One number for each namespace, the innermost last. */
	line = strstr(ray_text_get(&text), "\nNSpid:");
	for (line = line ? line + 7 : NULL; line && *line == '\t'; line += 1 + strcspn(line + 1, "\t\n"))
		a->inner_pid = atoi(line + 1);
}

static const char *user_name(uid_t uid, struct ray_arena *arena)
{
	struct passwd entry, *found = NULL;
	char buffer[4096];
	const char *name;

	if (!getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) && found)
		name = ray_arena_strdup(arena, found->pw_name);
	else
		name = ray_arena_printf(arena, "%u", uid);
	return name ? name : "";
}

static long count_entries(int proc, const char *name)
{
	int fd = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	long n = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while ((entry = readdir(d)))
		n += entry->d_name[0] != '.';
	closedir(d);
	return n;
}

/* Version 1 has a line for each hierarchy, most of them just "/": the longest path tells most. */
static void read_cgroup(int proc, struct ray_arena *arena, struct ray_about *a)
{
	ray_auto_text text = { 0 };
	const char *line, *path, *best = "";
	size_t length, best_length = 0;

	a->cgroup = "";
	if (!read_file(proc, "cgroup", &text))
		return;
	a->in_container = ray_container_parse(ray_text_get(&text), &a->container);
	for (line = ray_text_get(&text); *line; line += length + (line[length] == '\n')) {
		length = strcspn(line, "\n");
		path = memchr(line, ':', length);
		path = path ? memchr(path + 1, ':', length - (size_t)(path + 1 - line)) : NULL;
		if (path && length - (size_t)(path + 1 - line) > best_length) {
			best = path + 1;
			best_length = length - (size_t)(path + 1 - line);
		}
	}
	path = ray_arena_copy(arena, best, best_length);
	a->cgroup = path ? path : "";
}

static bool is_same_namespace(int proc)
{
	struct stat own, its;

	return stat("/proc/self/ns/pid", &own) || fstatat(proc, "ns/pid", &its, 0) ||
	       (own.st_ino == its.st_ino && own.st_dev == its.st_dev);
}

static bool is_terminal(const char *path)
{
	return !strncmp(path, "/dev/pts/", 9) || !strncmp(path, "/dev/tty", 8) || !strcmp(path, "/dev/console");
}

struct ray_error *ray_about_read(int pid, struct ray_arena *arena, struct ray_about *ret)
{
	struct ray_about a = { .pid = pid };
	ray_auto_text args = { 0 };
	ray_auto_fd int proc = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0 || !read_stat(proc, &a))
		return ray_error_new(RAY_FAILED, "no such process: %d", pid);
	read_status(proc, &a);
	a.user = user_name(a.uid, arena);
	a.exe = read_link(proc, "exe", arena);
	a.cwd = read_link(proc, "cwd", arena);
	a.files = count_entries(proc, "fd");
	a.same_namespace = is_same_namespace(proc);
	a.terminal = is_terminal(read_link(proc, "fd/0", arena));
	read_cgroup(proc, arena, &a);
	read_file(proc, "cmdline", &args);
	a.args_size = args.length;
	a.args = ray_arena_copy(arena, ray_text_get(&args), args.length);
	if (!a.args)
		return &ray_enomem;
	*ret = a;
	return NULL;
}
