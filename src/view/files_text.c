/* files_text.c - the facts of one descriptor, in words. See files.h. SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "view/files.h"

static void add_safe(struct ray_text *out, const char *text)
{
	ray_text_add_safe(out, text, strlen(text));
}

void ray_view_file_flags(const struct ray_file *f, char out[16])
{
	static const struct {
		uint32_t bits;
		char letter;
	} letters[] = {
		{ O_APPEND, 'a' }, { O_NONBLOCK, 'n' }, { O_DSYNC, 's' },
		{ O_DIRECT, 'd' }, { O_PATH, 'p' },	{ O_CLOEXEC, 'c' },
	};
	static const char *const access[] = { "r-", "-w", "rw", "--" };
	size_t i, n;

	if (!f->info.has_flags) {
		out[0] = '\0';
		return;
	}
	strcpy(out, access[f->info.flags & O_ACCMODE]);
	n = strlen(out);
	for (i = 0; i < RAY_COUNT(letters); i++)
		if ((f->info.flags & letters[i].bits) == letters[i].bits)
			out[n++] = letters[i].letter;
	out[n] = '\0';
}

static void add_peer(const struct ray_file *f, const struct ray_file_peer *p, struct ray_text *out)
{
	bool writes = (f->info.flags & O_ACCMODE) == O_WRONLY;

	ray_text_add(out, f->type != RAY_FILE_PIPE ? "<-> " : writes ? "-> " : "<- ");
	if (p->comm && *p->comm) {
		add_safe(out, p->comm);
		ray_text_printf(out, " %d ", p->pid);
	}
	ray_text_printf(out, "fd %d", p->fd);
}

static void add_peers(const struct ray_file *f, struct ray_text *out)
{
	enum { SHOWN = 2 };
	size_t i;

	for (i = 0; i < f->peer_count && i < SHOWN; i++) {
		if (out->length)
			ray_text_add(out, " ");
		add_peer(f, &f->peers[i], out);
	}
	if (f->peer_count > SHOWN)
		ray_text_printf(out, " and %zu more", f->peer_count - SHOWN);
}

static void socket_name(const struct ray_file *f, struct ray_text *out)
{
	const struct ray_socket *s = f->socket;

	if (!s) {
		if (!f->from_memory)
			add_safe(out, f->path);
		return;
	}
	add_safe(out, s->local);
	if (*s->remote) {
		ray_text_add(out, *s->local ? " <-> " : "<-> ");
		add_safe(out, s->remote);
	}
	add_peers(f, out);
	if (!out->length && s->family < 0)
		ray_text_add(out, "not bound, not connected");
	else if (!out->length)
		add_safe(out, f->path);
}

static void add_time(uint64_t ns, struct ray_text *out)
{
	if (ns < 1000000)
		ray_text_printf(out, "%" PRIu64 "us", ns / 1000);
	else if (ns < 1000000000)
		ray_text_printf(out, "%" PRIu64 "ms", ns / 1000000);
	else
		ray_text_printf(out, "%.1fs", (double)ns / 1e9);
}

static void timer_name(const struct ray_fdinfo *i, struct ray_text *out)
{
	if (!i->timer_ns) {
		ray_text_add(out, "not armed");
		return;
	}
	ray_text_add(out, "expires in ");
	add_time(i->timer_ns, out);
	if (i->period_ns) {
		ray_text_add(out, ", every ");
		add_time(i->period_ns, out);
	}
}

static void signal_name(uint64_t mask, struct ray_text *out)
{
	const char *name;
	int n;

	for (n = 1; n <= 64; n++) {
		if (!(mask >> (n - 1) & 1))
			continue;
		name = sigabbrev_np(n);
		ray_text_add(out, out->length ? " " : "");
		if (name)
			ray_text_printf(out, "SIG%s", name);
		else
			ray_text_printf(out, "signal %d", n);
	}
}

/* What has no name: what it is about. False for a type that has a name. */
static bool anonymous_name(const struct ray_file *f, struct ray_text *out)
{
	const struct ray_fdinfo *i = &f->info;

	switch (f->type) {
	case RAY_FILE_EVENTPOLL:
		if (i->has_watched)
			ray_text_printf(out, "watches %" PRIu64, i->watched);
		return true;
	case RAY_FILE_INOTIFY:
	case RAY_FILE_FANOTIFY:
		if (i->has_watched)
			ray_text_printf(out, "%" PRIu64 " watch%s", i->watched, i->watched == 1 ? "" : "es");
		return true;
	case RAY_FILE_EVENTFD:
		if (i->has_count)
			ray_text_printf(out, "count %" PRIu64, i->count);
		return true;
	case RAY_FILE_TIMERFD:
		if (i->has_timer)
			timer_name(i, out);
		return true;
	case RAY_FILE_SIGNALFD:
		signal_name(i->sigmask, out);
		return true;
	case RAY_FILE_PIDFD:
		if (i->pid > 0)
			ray_text_printf(out, "process %d", i->pid);
		else
			ray_text_add(out, "a process that has ended");
		return true;
	case RAY_FILE_IO_URING:
	case RAY_FILE_PERF_EVENT:
	case RAY_FILE_USERFAULTFD:
		return true;
	default:
		return false;
	}
}

void ray_view_file_name(const struct ray_file *f, struct ray_text *out)
{
	if (anonymous_name(f, out))
		return;
	if (ray_file_is_socket(f->type)) {
		socket_name(f, out);
	} else if (f->type == RAY_FILE_PIPE) {
		add_peers(f, out);
		if (!out->length && !f->from_memory)
			add_safe(out, f->path);
	} else {
		add_safe(out, f->path);
		if (f->deleted)
			ray_text_add(out, " (deleted)");
	}
}

static void socket_detail(const struct ray_file *f, struct ray_text *out)
{
	const struct ray_socket *s = f->socket;

	/* That a unix socket is connected is to be seen by its other end. */
	if (s->family != AF_UNIX || strcmp(s->state, "ESTABLISHED") || !(f->peer_count || *s->remote))
		ray_text_add(out, s->state);
	if (!s->has_queues)
		return;
	if (!strcmp(s->state, "LISTEN")) {
		ray_text_printf(out, ", %" PRIu64, s->recv_queue);
		if (s->has_backlog)
			ray_text_printf(out, " of %" PRIu64, s->send_queue);
		ray_text_add(out, " waiting");
		return;
	}
	if (s->recv_queue)
		ray_text_printf(out, "%s%" PRIu64 " to read", out->length ? ", " : "", s->recv_queue);
	if (s->send_queue)
		ray_text_printf(out, "%s%" PRIu64 " to send", out->length ? ", " : "", s->send_queue);
	if (s->retransmits)
		ray_text_printf(out, ", %u retransmits", s->retransmits);
}

void ray_view_file_detail(const struct ray_file *f, struct ray_text *out)
{
	if (f->socket)
		socket_detail(f, out);
	else if ((f->type == RAY_FILE_REG || f->type == RAY_FILE_MEMFD) && f->has_stat)
		ray_text_printf(out, "at %" PRIu64 " of %" PRIu64, f->info.pos, f->size);
	else if (f->info.pos)
		ray_text_printf(out, "at %" PRIu64, f->info.pos);
}

void ray_view_file_use(const struct ray_file *f, struct ray_text *out)
{
	if (!*f->use)
		return;
	if (*f->loop_role) {
		add_safe(out, f->loop_role);
		ray_text_add(out, ": ");
	}
	add_safe(out, f->use);
}

void ray_view_files_heading(const struct ray_files *files, struct ray_text *out)
{
	ray_text_printf(out, "%zu %s", files->n, files->listed ? "open files" : "files known to libuv");
	if (!files->has_limits)
		return;
	if (files->soft_limit == UINT64_MAX)
		ray_text_add(out, ", no limit");
	else
		ray_text_printf(out, ", limit %" PRIu64, files->soft_limit);
	if (files->hard_limit == UINT64_MAX)
		ray_text_add(out, " (hard: none)");
	else if (files->hard_limit != files->soft_limit)
		ray_text_printf(out, " (hard %" PRIu64 ")", files->hard_limit);
}
