/* cpu.c - see cpu.h. SPDX-License-Identifier: MIT */
#include "target/cpu.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "target/proc.h"

/* A name may hold anything: fields are counted from the last ')'. */
bool ray_cpu_parse_stat(const char *text, uint64_t *ticks_ret, uint64_t *start_ret, uint64_t *pages_ret)
{
	const char *rest = strrchr(text, ')');
	uint64_t user, system;

	if (!rest || sscanf(rest,
			    ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
			    " %*d %*d %*d %*d %*d %*d %" SCNu64 " %*u %" SCNu64,
			    &user, &system, start_ret, pages_ret) != 4)
		return false;
	*ticks_ret = user + system;
	return true;
}

static uint64_t ns_of_ticks(uint64_t ticks)
{
	long hz = sysconf(_SC_CLK_TCK);

	return hz > 0 ? ticks * (1000000000 / (uint64_t)hz) : 0;
}

/* Nanoseconds where the kernel counts them, else ticks. */
static bool read_thread(int pid, int tid, struct ray_cpu_thread *ret)
{
	char text[1024];
	uint64_t ticks, start, pages;
	size_t n;

	*ret = (struct ray_cpu_thread){ .tid = tid };
	n = ray_proc_read(ret->name, sizeof(ret->name), "/proc/%d/task/%d/comm", pid, tid);
	if (n && ret->name[n - 1] == '\n')
		ret->name[n - 1] = '\0';
	if (ray_proc_read(text, sizeof(text), "/proc/%d/task/%d/schedstat", pid, tid) &&
	    sscanf(text, "%" SCNu64, &ret->ns) == 1)
		return true;
	if (!ray_proc_read(text, sizeof(text), "/proc/%d/task/%d/stat", pid, tid) ||
	    !ray_cpu_parse_stat(text, &ticks, &start, &pages))
		return false;
	ret->ns = ns_of_ticks(ticks);
	return true;
}

static bool read_threads(int pid, struct ray_cpu *ret)
{
	RAY_VEC(struct ray_cpu_thread) threads = { 0 };
	struct ray_cpu_thread thread;
	struct dirent *entry;
	bool is_whole = true;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return false;
	while (is_whole && (entry = readdir(tasks)))
		if (isdigit((unsigned char)entry->d_name[0]) && read_thread(pid, atoi(entry->d_name), &thread))
			is_whole = ray_vec_push(&threads, thread);
	closedir(tasks);
	ret->threads = threads.at;
	ret->count = threads.n;
	return is_whole;
}

static void read_process(const char *stat, struct ray_cpu *ret)
{
	uint64_t ticks = 0, start = 0, pages = 0, up;
	struct timespec now;

	if (!ray_cpu_parse_stat(stat, &ticks, &start, &pages))
		return;
	clock_gettime(CLOCK_BOOTTIME, &now);
	up = (uint64_t)now.tv_sec;
	ret->ns = ns_of_ticks(ticks);
	ret->rss = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	start = ns_of_ticks(start) / 1000000000;
	ret->uptime_s = up > start ? up - start : 0;
}

bool ray_cpu_read(int pid, struct ray_cpu *ret)
{
	char stat[1024];

	*ret = (struct ray_cpu){ 0 };
	if (!ray_proc_read(stat, sizeof(stat), "/proc/%d/stat", pid) || !read_threads(pid, ret) || !ret->count) {
		ray_cpu_deinit(ret);
		return false;
	}
	read_process(stat, ret);
	return true;
}

void ray_cpu_deinit(struct ray_cpu *c)
{
	free(c->threads);
	*c = (struct ray_cpu){ 0 };
}
