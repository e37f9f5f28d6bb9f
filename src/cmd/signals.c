/* signals.c - see signals.h. SPDX-License-Identifier: MIT */
#include "cmd/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/statvfs.h>

#include "base/auto.h"
#include "base/interrupt.h"

static void on_interrupt(int signal)
{
	(void)signal;
	ray_interrupted = 1;
}

void ray_signals_install(void)
{
	/* No SA_RESTART: a blocking read must return, so that its caller looks at the flag. */
	struct sigaction interrupt = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;

	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGTERM, &interrupt, NULL);
	if (sigaction(SIGHUP, NULL, &before) || before.sa_handler != SIG_IGN) /* nohup */
		sigaction(SIGHUP, &interrupt, NULL);
	/* A reader that goes away must not kill us while a target is stopped. */
	sigaction(SIGPIPE, &ignore, NULL);
}

void ray_signals_keep_output(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction now;

	for (size_t i = 0; i < RAY_COUNT(signals); i++) {
		if (sigaction(signals[i], NULL, &now) || now.sa_handler != on_interrupt)
			continue;
		now.sa_flags |= SA_RESTART;
		sigaction(signals[i], &now, NULL);
	}
}

void ray_stdio_reserve(void)
{
	int fd;

	/* Opened the wrong way round: using one that the caller had closed stays an error. */
	for (fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			return;
}

void ray_stdio_batch(FILE *out)
{
	static char room[64 * 1024];

	fflush(out);
	setvbuf(out, room, _IOFBF, sizeof(room));
}

/* A pipe or socket whose other end was closed. */
static bool is_closed(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) == 1 && (p.revents & (POLLERR | POLLHUP));
}

bool ray_stdio_reader_is_gone(FILE *out)
{
	bool failed = fflush(out) == EOF || ferror(out);

	return failed && is_closed(fileno(out));
}

/* Why writing to stdout fails, asked anew, since stdio keeps no errno; 0 if it does not say. */
static int write_error(void)
{
	struct statvfs disk;

	if (write(STDOUT_FILENO, "", 0) < 0)
		return errno;
	return !fstatvfs(STDOUT_FILENO, &disk) && disk.f_blocks && !disk.f_bavail ? ENOSPC : 0;
}

struct ray_error *ray_stdio_finish(void)
{
	bool failed = ferror(stdout);
	int errnum = 0;

	if (fflush(stdout)) {
		failed = true;
		errnum = errno;
	} else if (failed) {
		errnum = write_error();
	}
	if (!failed || errnum == EPIPE || is_closed(STDOUT_FILENO))
		return NULL;
	if (!errnum)
		return ray_error_new(RAY_FAILED, "cannot write all of the output");
	return ray_error_errno(RAY_FAILED, errnum, "cannot write the output");
}
