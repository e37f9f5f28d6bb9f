/* progress.c - see progress.h. SPDX-License-Identifier: MIT */
#include "base/progress.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

static double seconds_since(uint64_t then_ns)
{
	return (double)(ray_clock_ns() - then_ns) / 1e9;
}

void ray_progress_start(struct ray_progress *p, const char *what, uint64_t total)
{
	*p = (struct ray_progress){ .what = what, .total = total, .is_terminal = isatty(STDERR_FILENO) };
	p->started_ns = ray_clock_ns();
}

/* A terminal held with ^S, or a pipe that nobody reads, must not hold us: a target may be waiting. */
static bool has_room(void)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

/* Whether it is time to say something again. */
static bool is_due(const struct ray_progress *p)
{
	if (!p->is_terminal)
		return p->lines && seconds_since(p->is_shown ? p->shown_ns : p->started_ns) >= 5;
	return seconds_since(p->started_ns) >= 1 && (!p->is_shown || seconds_since(p->shown_ns) >= 0.2);
}

void ray_progress_update(struct ray_progress *p, uint64_t done)
{
	char size[8], total[8];

	if (!is_due(p) || !has_room())
		return;
	fprintf(stderr, "%snoderay: %s: %s", p->is_terminal ? "\r\033[K" : "", p->what, ray_format_size(done, size));
	if (p->total)
		fprintf(stderr, " of %s, %u%%", ray_format_size(p->total, total),
			(unsigned)(done >= p->total ? 100 : (double)done * 100 / (double)p->total));
	if (!p->is_terminal)
		fputc('\n', stderr);
	fflush(stderr);
	p->shown_ns = ray_clock_ns();
	p->is_shown = true;
}

void ray_progress_end(struct ray_progress *p)
{
	if (p->is_shown && p->is_terminal) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	p->is_shown = false;
}
