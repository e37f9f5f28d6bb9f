/* command.c - see command.h. SPDX-License-Identifier: MIT
 *
 * system(3) ignores SIGINT while it waits, and has no timeout. */
#include "engine/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/interrupt.h"

enum { LOOK_MS = 100, SIGNAL_MS = 200 /* the command may handle the same signal */ };

/* Restores the signal dispositions and the mask that a shell would give the command. */
static int start(const char *command, pid_t *ret)
{
	char *words[] = { "sh", "-c", "--", (char *)command, NULL };
	posix_spawnattr_t attributes;
	sigset_t none, usual;
	int errnum;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGXFSZ);
	errnum = posix_spawnattr_init(&attributes);
	if (errnum)
		return errnum;
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	errnum = posix_spawn(ret, "/bin/sh", NULL, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	return errnum;
}

bool ray_command_run(const char *command)
{
	pid_t pid;
	ray_auto_fd int end = -1;

	errno = ray_interrupt_elapsed(SIGNAL_MS) ? ECANCELED : start(command, &pid);
	if (errno)
		return false;
	end = (int)syscall(SYS_pidfd_open, pid, 0);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		struct pollfd p = { .fd = end, .events = POLLIN };

		if (ray_interrupt_elapsed(SIGNAL_MS)) {
			errno = 0;
			return false;
		}
		poll(&p, 1, LOOK_MS);
	}
	return true;
}
