/* spawn.c - see spawn.h. SPDX-License-Identifier: MIT */
#include "target/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/interrupt.h"

struct ray_spawn {
	pid_t pid;
	bool traced;
	bool exiting;	     /* stopped in PTRACE_EVENT_EXIT */
	volatile bool ended; /* read by a signal handler */
	char *program;
};

/* Async-signal-safe. The PID cannot be reused before this process has waited for the child. */
static void kill_it(void *arg)
{
	const struct ray_spawn *s = arg;

	if (!s->ended)
		kill(s->pid, SIGKILL);
}

void ray_spawn_free(struct ray_spawn *s)
{
	if (!s)
		return;
	ray_interrupt_cleanup_remove(kill_it, s);
	/* As the reference does: what a trace started ends with it, or it would hold our output open for ever. */
	if (!s->ended)
		kill(s->pid, SIGKILL);
	if (s->traced && !s->ended)
		ptrace(PTRACE_DETACH, s->pid, NULL, NULL);
	free(s->program);
	free(s);
}

pid_t ray_spawn_pid(const struct ray_spawn *s)
{
	return s->pid;
}

static void leave_terminal(void)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2 && nothing >= 0; fd++)
		if (isatty(fd))
			dup2(nothing, fd);
}

/* The child: waits until it is seized, then becomes the program. What exec says goes back through the pipe. */
static void become(char *const *argv, bool is_quiet, int go, int failed)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t none;
	char byte;
	int errnum;

	sigaction(SIGPIPE, &plain, NULL); /* which we ignore ourselves */
	sigaction(SIGXFSZ, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	while (read(go, &byte, 1) < 0 && errno == EINTR)
		;
	if (is_quiet)
		leave_terminal();
	execvp(argv[0], argv);
	errnum = errno;
	if (write(failed, &errnum, sizeof(errnum)) < 0)
		_exit(126);
	_exit(127);
}

/* Waits for a stop of the wanted event, handing signals on; false: it ended. */
static bool wait_for_event(struct ray_spawn *s, int event)
{
	int status;

	for (;;) {
		if (waitpid(s->pid, &status, __WALL) < 0) {
			if (errno == EINTR)
				continue;
			s->ended = true;
			return false;
		}
		if (!WIFSTOPPED(status)) {
			s->ended = true;
			return false;
		}
		if (status >> 8 == (SIGTRAP | event << 8))
			return true;
		ptrace(PTRACE_CONT, s->pid, NULL, status >> 16 ? NULL : (void *)(intptr_t)WSTOPSIG(status));
	}
}

static struct ray_error *hold_at_exec(struct ray_spawn *s, int go, int failed)
{
	int errnum = 0;
	char byte = 0;

	if (ptrace(PTRACE_SEIZE, s->pid, NULL, PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT))
		return ray_error_errno(RAY_FAILED, errno, "cannot hold %s", s->program);
	s->traced = true;
	if (write(go, &byte, 1) != 1)
		return ray_error_errno(RAY_FAILED, errno, "failed to execute %s", s->program);
	if (wait_for_event(s, PTRACE_EVENT_EXEC))
		return NULL;
	if (read(failed, &errnum, sizeof(errnum)) != sizeof(errnum))
		errnum = ECHILD;
	/* Not by ray_error_errno(): EACCES here is the file's, and no lack of rights to trace. */
	return ray_error_new(RAY_FAILED, "failed to execute %s: %s", s->program, strerror(errnum));
}

static struct ray_error *create(char *const *argv, bool is_quiet, struct ray_spawn **ret)
{
	ray_auto(ray_spawn, s) = calloc(1, sizeof(*s));
	ray_auto_fd int go_read = -1, go_write = -1, failed_read = -1, failed_write = -1;
	struct ray_error *err;
	int go[2], failed[2];

	if (!s || !(s->program = strdup(argv[0])))
		return &ray_enomem;
	if (pipe2(go, O_CLOEXEC))
		return ray_error_errno(RAY_FAILED, errno, "failed to execute %s", argv[0]);
	go_read = go[0];
	go_write = go[1];
	if (pipe2(failed, O_CLOEXEC))
		return ray_error_errno(RAY_FAILED, errno, "failed to execute %s", argv[0]);
	failed_read = failed[0];
	failed_write = failed[1];
	s->pid = fork();
	if (s->pid < 0)
		return ray_error_errno(RAY_FAILED, errno, "failed to execute %s", argv[0]);
	if (!s->pid)
		become(argv, is_quiet, go_read, failed_write);
	ray_interrupt_cleanup_add(kill_it, s);
	close(failed_write);
	failed_write = -1;
	err = hold_at_exec(s, go_write, failed_read);
	if (err) {
		if (!s->ended) {
			kill(s->pid, SIGKILL);
			waitpid(s->pid, NULL, __WALL);
			s->ended = true;
		}
		return err;
	}
	*ret = ray_take(s);
	return NULL;
}

struct ray_error *ray_spawn_create(char *const *argv, struct ray_spawn **ret)
{
	return create(argv, false, ret);
}

struct ray_error *ray_spawn_create_quiet(char *const *argv, struct ray_spawn **ret)
{
	return create(argv, true, ret);
}

/* AT_ENTRY of the program that the child has just become; 0 if it does not say. */
static uint64_t entry_of(pid_t pid)
{
	uint64_t pair[2];
	ray_auto_file FILE *f = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = fopen(path, "re");
	while (f && fread(pair, sizeof(pair), 1, f) == 1 && pair[0] != AT_NULL)
		if (pair[0] == AT_ENTRY)
			return pair[1];
	return 0;
}

/* Runs until the breakpoint at entry traps; other signals are handed on. */
static bool run_to_trap(struct ray_spawn *s)
{
	int status, hand_on = 0;

	for (;;) {
		if (ptrace(PTRACE_CONT, s->pid, NULL, (void *)(intptr_t)hand_on))
			return false;
		while (waitpid(s->pid, &status, __WALL) < 0)
			if (errno != EINTR)
				return false;
		if (!WIFSTOPPED(status)) {
			s->ended = true;
			return false;
		}
		if (status >> 16 == PTRACE_EVENT_EXIT) {
			s->exiting = true;
			return false;
		}
		hand_on = status >> 16 ? 0 : WSTOPSIG(status);
		if (hand_on == SIGTRAP)
			return true;
	}
}

struct ray_error *ray_spawn_run_to_entry(struct ray_spawn *s)
{
	uint64_t entry = entry_of(s->pid);
	struct user_regs_struct regs;
	long original;

	errno = 0;
	original = entry ? ptrace(PTRACE_PEEKTEXT, s->pid, (void *)entry, NULL) : -1;
	if (!entry || errno)
		return ray_error_new(RAY_FAILED, "%s: its entry point cannot be found", s->program);
	if (ptrace(PTRACE_POKETEXT, s->pid, (void *)entry, (void *)((original & ~0xffL) | 0xcc)))
		return ray_error_errno(RAY_FAILED, errno, "%s: cannot be held at its start", s->program);
	if (!run_to_trap(s))
		return NULL; /* it ended before its start; whoever waits for it will see that */
	if (ptrace(PTRACE_POKETEXT, s->pid, (void *)entry, (void *)original) ||
	    ptrace(PTRACE_GETREGS, s->pid, NULL, &regs))
		return ray_error_errno(RAY_FAILED, errno, "%s: cannot be held at its start", s->program);
	if (regs.rip == entry + 1) {
		regs.rip = entry;
		ptrace(PTRACE_SETREGS, s->pid, NULL, &regs);
	}
	return NULL;
}

struct ray_error *ray_spawn_release(struct ray_spawn *s, bool watch_exit)
{
	if (s->ended)
		return NULL;
	if (!watch_exit) {
		s->traced = false;
		if (ptrace(PTRACE_DETACH, s->pid, NULL, NULL))
			return ray_error_errno(RAY_FAILED, errno, "%s: cannot be let go", s->program);
		return NULL;
	}
	s->exiting = false;
	if (ptrace(PTRACE_CONT, s->pid, NULL, NULL))
		return ray_error_errno(RAY_FAILED, errno, "%s: cannot be let go", s->program);
	return NULL;
}

/* One stop of the running child: what it is, and how it goes on. */
static enum ray_spawn_state pass_on(struct ray_spawn *s, int status)
{
	int signal = WSTOPSIG(status);

	if (status >> 16 == PTRACE_EVENT_EXIT) {
		s->exiting = true;
		return RAY_SPAWN_EXITING;
	}
	if (status >> 16 == PTRACE_EVENT_STOP && signal != SIGTRAP)
		ptrace(PTRACE_LISTEN, s->pid, NULL, NULL); /* job control holds it */
	else
		ptrace(PTRACE_CONT, s->pid, NULL, (void *)(intptr_t)(status >> 16 ? 0 : signal));
	return RAY_SPAWN_RUNS;
}

enum ray_spawn_state ray_spawn_poll(struct ray_spawn *s)
{
	int status;
	pid_t got;

	if (s->exiting) {
		s->exiting = false;
		s->traced = false;
		ptrace(PTRACE_DETACH, s->pid, NULL, NULL);
	}
	while (!s->ended) {
		got = waitpid(s->pid, &status, WNOHANG | __WALL);
		if (!got)
			return RAY_SPAWN_RUNS;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || !WIFSTOPPED(status))
			s->ended = true;
		else if (pass_on(s, status) == RAY_SPAWN_EXITING)
			return RAY_SPAWN_EXITING;
	}
	return RAY_SPAWN_ENDED;
}
