/* uv_files.c - joins libuv's loops and handles with the list of descriptors. See uv_files.h.
 * SPDX-License-Identifier: MIT */
#include "target/uv_files.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"

/* Which kernel types a use can have, as a set of bits. */
#define T(id) (1ull << RAY_FILE_##id)
static const uint64_t any_type = ~0ull;
static const uint64_t inet_stream = T(TCP) | T(TCP6) | T(SOCKET);
static const uint64_t inet_dgram = T(UDP) | T(UDP6) | T(SOCKET);
static const uint64_t pipe_like = T(PIPE) | T(FIFO) | T(UNIX_STREAM) | T(UNIX_DGRAM) | T(UNIX_SEQPACKET) | T(SOCKET);

_Static_assert(RAY_FILE_TYPE_COUNT <= 64, "types are kept as bits of a word");

struct explainer {
	struct ray_target *t;
	const struct ray_uv *uv;
	struct ray_files *files;
	bool failed; /* no memory */
};

/* There may be several workers: the thread tells them apart, unless the caller knows better ("worker 1"). */
static const char *role_text(struct explainer *x, const struct ray_uv_loop *loop)
{
	const char *text = loop->role;

	if (!strcmp(loop->role, "worker") && loop->tid)
		text = ray_arena_printf(x->files->arena, "worker (tid %d)", loop->tid);
	else if (!*loop->role && loop->tid)
		text = ray_arena_printf(x->files->arena, "thread %d", loop->tid);
	else if (!*loop->role)
		text = ray_arena_printf(x->files->arena, "loop %d", loop->backend_fd);
	return text ? text : "";
}

static void claim(struct explainer *x, const struct ray_uv_loop *loop, int fd, uint64_t types,
		  enum ray_file_type if_unlisted, const char *use)
{
	struct ray_file *f;

	if (fd < 0)
		return;
	f = ray_files_find(x->files, fd);
	if (!f && !x->files->listed) {
		f = ray_files_add(x->files, fd);
		if (!f) {
			x->failed = true;
			return;
		}
		f->type = if_unlisted;
		f->from_memory = true;
	}
	/* What the kernel says decides; and who came first stays (a closed descriptor's number is used again). */
	if (!f || f->loop >= 0 || !(f->from_memory || types >> f->type & 1))
		return;
	f->use = ray_arena_strdup(x->files->arena, use);
	if (!f->use) {
		f->use = "";
		x->failed = true;
	}
	f->loop = loop->backend_fd;
	f->loop_role = role_text(x, loop);
}

static const char *const stdio_names[] = { "stdin", "stdout", "stderr" };

/* A pipe to a child that this loop started: the child's descriptor tells which. */
static bool is_child_pipe(const struct explainer *x, const struct ray_uv_loop *loop, const struct ray_uv_handle *h,
			  struct ray_text *text)
{
	const struct ray_file *f = ray_files_find(x->files, h->fd);
	size_t i, k;

	for (i = 0; f && i < f->peer_count; i++) {
		for (k = 0; k < loop->handle_count; k++) {
			if (loop->handles[k].type != RAY_UV_PROCESS || loop->handles[k].pid != f->peers[i].inner_pid)
				continue;
			if (f->peers[i].fd >= 0 && f->peers[i].fd < 3)
				ray_text_printf(text, "%s of child %d", stdio_names[f->peers[i].fd], f->peers[i].pid);
			else
				ray_text_printf(text, "%s to child %d", h->ipc ? "ipc channel" : "pipe",
						f->peers[i].pid);
			return true;
		}
	}
	return false;
}

static void stream_text(const struct explainer *x, const struct ray_uv_loop *loop, const struct ray_uv_handle *h,
			struct ray_text *text)
{
	const char *kind = ray_uv_type_name(h->type);
	char size[8];

	if (h->listens)
		ray_text_printf(text, "%s server", kind);
	else if (h->connecting)
		ray_text_printf(text, "%s connecting", kind);
	else if (h->type == RAY_UV_NAMED_PIPE && is_child_pipe(x, loop, h, text))
		;
	else if (h->ipc)
		ray_text_add(text, "ipc channel");
	else
		ray_text_printf(text, "%s %s", kind, h->type == RAY_UV_TCP ? "connection" : "stream");
	if (h->type == RAY_UV_TCP && !h->listens && !h->connecting && !h->reading && !h->closing)
		ray_text_add(text, ", not reading");
	if (h->write_queue)
		ray_text_printf(text, ", %s to write", ray_format_size(h->write_queue, size));
	if (h->closing)
		ray_text_add(text, ", closing");
}

static void explain_handle(struct explainer *x, const struct ray_uv_loop *loop, const struct ray_uv_handle *h)
{
	ray_auto_text text = { 0 };

	switch (h->type) {
	case RAY_UV_TCP:
		stream_text(x, loop, h, &text);
		claim(x, loop, h->fd, inet_stream, RAY_FILE_SOCKET, ray_text_get(&text));
		break;
	case RAY_UV_NAMED_PIPE:
		stream_text(x, loop, h, &text);
		claim(x, loop, h->fd, pipe_like, RAY_FILE_UNKNOWN, ray_text_get(&text));
		break;
	case RAY_UV_TTY:
		stream_text(x, loop, h, &text);
		claim(x, loop, h->fd, T(CHR), RAY_FILE_CHR, ray_text_get(&text));
		break;
	case RAY_UV_UDP:
		claim(x, loop, h->fd, inet_dgram, RAY_FILE_SOCKET, h->closing ? "udp, closing" : "udp");
		break;
	case RAY_UV_POLL:
		claim(x, loop, h->fd, any_type, RAY_FILE_UNKNOWN, h->active ? "poll" : "poll, stopped");
		break;
	default:
		return;
	}
	claim(x, loop, h->accepted_fd, inet_stream | pipe_like, RAY_FILE_SOCKET,
	      "connection not yet given to the program");
}

static void explain_watches(struct explainer *x, const struct ray_uv_loop *loop)
{
	ray_auto_text text = { 0 };
	const char *first = NULL;
	size_t i, n = 0;

	for (i = 0; i < loop->handle_count; i++) {
		if (loop->handles[i].type != RAY_UV_FS_EVENT || !loop->handles[i].active)
			continue;
		if (!n++)
			first = loop->handles[i].path;
	}
	ray_text_add(&text, "fs.watch");
	if (first && *first) {
		ray_text_add(&text, " ");
		ray_text_add(&text, first);
	}
	if (n > 1)
		ray_text_printf(&text, " and %zu more", n - 1);
	claim(x, loop, loop->inotify_fd, T(INOTIFY), RAY_FILE_INOTIFY, ray_text_get(&text));
}

static void explain_loop(struct explainer *x, const struct ray_uv_loop *loop)
{
	bool has_pipe = loop->async_write_fd >= 0 && loop->async_write_fd != loop->async_fd;
	size_t i;

	claim(x, loop, loop->backend_fd, T(EVENTPOLL), RAY_FILE_EVENTPOLL, "epoll");
	claim(x, loop, loop->async_fd, T(EVENTFD) | T(PIPE), has_pipe ? RAY_FILE_PIPE : RAY_FILE_EVENTFD,
	      "async wakeup");
	claim(x, loop, has_pipe ? loop->async_write_fd : -1, T(PIPE), RAY_FILE_PIPE, "async wakeup");
	claim(x, loop, loop->signal_fds[0], T(PIPE), RAY_FILE_PIPE, "signal pipe");
	claim(x, loop, loop->signal_fds[1], T(PIPE), RAY_FILE_PIPE, "signal pipe");
	claim(x, loop, loop->control_ring, T(IO_URING), RAY_FILE_IO_URING, "io_uring for epoll_ctl");
	claim(x, loop, loop->file_ring, T(IO_URING), RAY_FILE_IO_URING, "io_uring for file operations");
	explain_watches(x, loop);
	for (i = 0; i < loop->handle_count; i++)
		explain_handle(x, loop, &loop->handles[i]);
	claim(x, loop, loop->emfile_fd, T(CHR) | T(DIR), RAY_FILE_UNKNOWN, "spare for when descriptors run out");
}

static bool is_own_pipe(const struct ray_files *files, const int ends[2])
{
	const struct ray_file *a = ray_files_find(files, ends[0]), *b = ray_files_find(files, ends[1]);

	return a && b && a != b && a->type == RAY_FILE_PIPE && b->type == RAY_FILE_PIPE && a->inode == b->inode &&
	       a->loop < 0 && b->loop < 0;
}

/* Without symbols: a pipe that nobody claimed and whose two ends stand beside each other in libuv's data. Only in
 * a small file's data (libuv.so by itself): in megabytes two small numbers stand together by chance. */
static bool search_lock_pipe(struct explainer *x, const struct ray_map *data, int ends[2])
{
	enum { SMALL = 64 << 10 };
	ray_auto_memory unsigned char *bytes = malloc(SMALL);
	size_t i, n = data->end - data->start;

	if (!bytes || n > SMALL)
		return false;
	n = ray_target_read(x->t, data->start, bytes, n);
	for (i = 0; i + 8 <= n; i += 4) {
		memcpy(ends, bytes + i, 8);
		if (is_own_pipe(x->files, ends))
			return true;
	}
	return false;
}

static bool is_lock_symbol(const struct ray_symbol *s, void *arg)
{
	if (strcmp(s->name, "uv__signal_lock_pipefd"))
		return true;
	*(uint64_t *)arg = s->value;
	return false;
}

/* One pipe per process serves as the lock that signal handlers take; a static of libuv's. */
static void explain_lock_pipe(struct explainer *x, const struct ray_uv_loop *loop)
{
	static const char use[] = "signal lock";
	const struct ray_map *data;
	const struct ray_module *m = ray_uv_module(x->t, loop, &data);
	uint64_t vaddr = 0, address;
	int ends[2];

	if (!m || !m->elf)
		return;
	/* One pass over the symbols: an index of them all would take ten times as long. */
	ray_elf_each_symbol(m->elf, is_lock_symbol, &vaddr);
	if (vaddr) {
		if (!ray_target_module_address(x->t, m, vaddr, &address) ||
		    ray_target_read(x->t, address, ends, sizeof(ends)) != sizeof(ends))
			return;
		if (x->files->listed && !is_own_pipe(x->files, ends))
			return;
	} else if (!x->files->listed || !search_lock_pipe(x, data, ends)) {
		return;
	}
	claim(x, loop, ends[0], T(PIPE), RAY_FILE_PIPE, use);
	claim(x, loop, ends[1], T(PIPE), RAY_FILE_PIPE, use);
}

struct ray_error *ray_uv_explain_files(struct ray_target *t, const struct ray_uv *uv, struct ray_files *files)
{
	struct explainer x = { .t = t, .uv = uv, .files = files };
	size_t i;

	/* A core may carry what was known when it was made: that stands when its memory tells nothing. */
	for (i = 0; uv->n && i < files->n; i++) {
		files->at[i].use = "";
		files->at[i].loop = -1;
		files->at[i].loop_role = "";
	}
	for (i = 0; i < uv->n; i++)
		explain_loop(&x, &uv->loops[i]);
	for (i = 0; i < uv->n; i++)
		if (!strcmp(uv->loops[i].role, "main"))
			explain_lock_pipe(&x, &uv->loops[i]);
	return x.failed ? &ray_enomem : NULL;
}
