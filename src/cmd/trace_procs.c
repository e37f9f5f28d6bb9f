/* trace_procs.c - the processes of -p and -c: opened before anything is compiled, let go when probes are on, watched until they
 * end. See trace.h. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "cmd/trace.h"

enum { MAX_WORDS = 1000 };

struct ray_error *ray_trace_procs_add(struct ray_trace_call *t, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0 && errno == ESRCH) /* DTrace's words */
		return ray_error_new(RAY_FAILED, "%s", strerror(errno));
	if (fd < 0)
		return ray_error_new(RAY_FAILED, "failed to grab pid %d: %s", pid, strerror(errno));
	if (!ray_vec_push(&t->pidfds, fd)) {
		close(fd);
		return &ray_enomem;
	}
	return ray_vec_push(&t->pids, pid) ? NULL : &ray_enomem;
}

static struct ray_error *grab(struct ray_trace_call *t, const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (errno || end == text || *end || pid <= 0 || pid > INT32_MAX)
		return ray_error_new(RAY_FAILED, "invalid pid: %s", text);
	return ray_trace_procs_add(t, (pid_t)pid);
}

struct ray_error *ray_trace_procs_start(struct ray_trace_call *t, char *const *words)
{
	ray_auto(ray_spawn, child) = NULL;
	struct ray_error *err;

	fflush(NULL); /* or the child would own what we have not written yet */
	err = t->is_quiet ? ray_spawn_create_quiet(words, &child) : ray_spawn_create(words, &child);
	if (!err)
		err = ray_trace_procs_add(t, ray_spawn_pid(child));
	if (err)
		return err;
	if (!ray_vec_push(&t->children, child))
		return &ray_enomem;
	child = NULL; /* the list's now */
	return NULL;
}

/* Words are separated by white space, as DTrace has it: no quotes. */
static struct ray_error *spawn(struct ray_trace_call *t, const char *command)
{
	ray_auto_memory char *copy = strdup(command);
	char *words[MAX_WORDS + 1], *rest = copy, *word;
	size_t n = 0;

	if (!copy)
		return &ray_enomem;
	while ((word = strsep(&rest, " \t\n\v\f\r")) && n < MAX_WORDS)
		if (*word)
			words[n++] = word;
	if (!n)
		words[n++] = copy;
	words[n] = NULL;
	return ray_trace_procs_start(t, words);
}

struct ray_error *ray_trace_procs_open(struct ray_trace_call *t)
{
	const struct ray_option *o;
	struct ray_error *err = NULL;
	const char *value;
	size_t i;

	for (i = 0; !err && (o = ray_call_given(t->call, i, &value)); i++)
		if (o->letter == 'p')
			err = grab(t, value);
		else if (o->letter == 'c')
			err = spawn(t, value);
	return err;
}

static struct ray_error *settle(struct ray_trace_call *t, struct ray_trace *trace)
{
	struct ray_error *err = NULL;

	for (; !err && t->advanced < t->children.n; t->advanced++) {
		err = ray_spawn_run_to_entry(t->children.at[t->advanced]);
		if (!err)
			ray_trace_look_at(trace, ray_spawn_pid(t->children.at[t->advanced]));
	}
	return err;
}

struct ray_error *ray_trace_procs_release(struct ray_trace_call *t, struct ray_trace *trace)
{
	bool watch_exit = ray_trace_wants_exit(trace);
	struct ray_error *err = watch_exit ? settle(t, trace) : NULL;
	sigset_t child;
	size_t i;

	if (watch_exit && t->children.n) {
		sigemptyset(&child);
		sigaddset(&child, SIGCHLD);
		sigprocmask(SIG_BLOCK, &child, NULL);
	}
	for (i = 0; !err && i < t->children.n; i++)
		err = ray_spawn_release(t->children.at[i], watch_exit);
	return err;
}

enum { MAX_WATCHED = 256 };

void ray_trace_procs_wait(struct ray_trace_call *t, int data_fd, int timeout_ms)
{
	struct pollfd fds[MAX_WATCHED + 2];
	ray_auto_fd int signals = -1;
	struct signalfd_siginfo info;
	sigset_t child;
	size_t i, n = 1;

	fds[0] = (struct pollfd){ .fd = data_fd, .events = POLLIN };
	for (i = 0; i < t->pidfds.n && i < MAX_WATCHED; i++)
		if (t->pidfds.at[i] >= 0)
			fds[n++] = (struct pollfd){ .fd = t->pidfds.at[i], .events = POLLIN };
	if (t->children.n) {
		sigemptyset(&child);
		sigaddset(&child, SIGCHLD);
		signals = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
		fds[n++] = (struct pollfd){ .fd = signals, .events = POLLIN };
	}
	poll(fds, n, timeout_ms);
	if (signals >= 0)
		while (read(signals, &info, sizeof(info)) == sizeof(info))
			;
}

/* A child that stops at its exit counts as ended; the next call lets it go. */
static bool has_ended(const struct ray_trace_call *t, size_t index)
{
	struct pollfd p = { .fd = t->pidfds.at[index], .events = POLLIN };
	size_t i;

	for (i = 0; i < t->children.n; i++)
		if (ray_spawn_pid(t->children.at[i]) == t->pids.at[index])
			return ray_spawn_poll(t->children.at[i]) != RAY_SPAWN_RUNS;
	return poll(&p, 1, 0) == 1;
}

bool ray_trace_procs_ended(const struct ray_trace_call *t)
{
	size_t i, ended = 0;

	for (i = 0; i < t->pids.n; i++)
		ended += has_ended(t, i);
	return t->pids.n && ended == t->pids.n;
}
