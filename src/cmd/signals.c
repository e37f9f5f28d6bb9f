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

void ray_signals_install(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	ray_interrupt_install();
	/* EPIPE and EFBIG are reported as errors; the signals would kill noderay while a target is stopped. */
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL);
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

/* errno of a failed write: stdio does not store it, so write again. 0: unknown. */
static int write_error(int fd)
{
	struct statvfs disk;

	if (write(fd, "", 0) < 0)
		return errno;
	return !fstatvfs(fd, &disk) && disk.f_blocks && !disk.f_bavail ? ENOSPC : 0;
}

struct ray_error *ray_stdio_finish(FILE *out)
{
	bool failed = ferror(out);
	int errnum = 0;

	if (fflush(out)) {
		failed = true;
		errnum = errno;
	} else if (failed) {
		errnum = write_error(fileno(out));
	}
	if (!failed || errnum == EPIPE || is_closed(fileno(out)))
		return NULL;
	if (!errnum)
		return ray_error_new(RAY_FAILED, "cannot write all of the output");
	return ray_error_errno(RAY_FAILED, errnum, "cannot write the output");
}
