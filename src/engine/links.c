/* links.c - what keeps programs hung in: file descriptors, and how they are closed. SPDX-License-Identifier: MIT
 *
 * For each link that is closed the kernel waits until nobody runs its program any more, tens of milliseconds. Those of functions it lets wait at the same
 * time, if they are closed at the same time: by threads. Those of tracepoints it does not. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/attach.h"

struct ray_error *ray_link_keep(struct ray_trace *t, int fd, pid_t pid)
{
	if (ray_vec_push(&t->links, (struct ray_link){ fd, pid }))
		return NULL;
	close(fd);
	return &ray_enomem;
}

/* ---- closing many ---- */

enum { MOST_THREADS = 32 };

struct job {
	const struct ray_link *links;
	size_t n, next;
};

static void *close_some(void *arg)
{
	struct job *job = arg;
	size_t i;

	while ((i = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED)) < job->n)
		close(job->links[i].fd);
	return NULL;
}

static void close_all(const struct ray_link *links, size_t n)
{
	struct job job = { .links = links, .n = n };
	pthread_t threads[MOST_THREADS];
	size_t started = 0;

	while (started < MOST_THREADS && started + 1 < n && !pthread_create(&threads[started], NULL, close_some, &job))
		started++;
	close_some(&job);
	while (started)
		pthread_join(threads[--started], NULL);
}

static bool is_among(pid_t pid, const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* For processes that come later still. */
static void points_free(struct ray_trace *t, const pid_t *pids, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < t->late_points.n; i++)
		if (!is_among(t->late_points.at[i].pid, pids, count) ||
		    !ray_vec_push(&t->free_points, t->late_points.at[i].point))
			t->late_points.at[n++] = t->late_points.at[i];
	t->late_points.n = n;
}

void ray_links_forget(struct ray_trace *t, const pid_t *pids, size_t count)
{
	RAY_VEC(struct ray_link) gone = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < t->links.n && count; i++)
		if (!is_among(t->links.at[i].pid, pids, count) || !ray_vec_push(&gone, t->links.at[i]))
			t->links.at[n++] = t->links.at[i];
	if (count)
		t->links.n = n;
	close_all(gone.at, gone.n);
	ray_vec_free(&gone);
	points_free(t, pids, count);
}

/* ---- closing everything ---- */

/* A hundred tracepoints would be seconds, in which nobody gets their prompt back. Some are closed by a process of its own then. The programs do nothing
 * any more. */
enum { WORTH_A_PROCESS = 3 };

static size_t slow_links(const struct ray_trace *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->entries.n; i++)
		n += t->entries.at[i]->kind == RAY_SITE_TRACEPOINT;
	return n;
}

static void close_links(struct ray_trace *t)
{
	close_all(t->links.at, t->links.n);
	t->links.n = 0;
}

static bool is_link(const struct ray_trace *t, int fd)
{
	for (size_t i = 0; i < t->links.n; i++)
		if (t->links.at[i].fd == fd)
			return true;
	return false;
}

/* The closer has copies of all file descriptors: it keeps the links, and no pipe that somebody reads to its end. It waits until ours
 * are gone: whoever closes last waits for the kernel. */
static void run_closer(const struct ray_trace *t, const int end[2])
{
	int limit = end[1];
	char byte;

	for (size_t i = 0; i < t->links.n; i++)
		if (t->links.at[i].fd > limit)
			limit = t->links.at[i].fd;
	for (int fd = 0; fd <= limit; fd++)
		if (fd != end[0] && !is_link(t, fd))
			close(fd);
	close_range(limit + 1, ~0U, 0);
	while (read(end[0], &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* As a child's child, so that nobody has to wait for it. */
static void start_closer(const struct ray_trace *t, const int end[2])
{
	pid_t pid = fork();

	if (pid == 0) {
		if (fork() == 0)
			run_closer(t, end);
		_exit(0);
	}
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
}

void ray_entries_detach(struct ray_trace *t)
{
	int end[2];

	if (!t->links.n || slow_links(t) < WORTH_A_PROCESS || pipe2(end, O_CLOEXEC)) {
		close_links(t);
		return;
	}
	start_closer(t, end);
	close(end[0]);
	close_links(t);
	close(end[1]);
}
