/* uv_loop.c - reads one uv_loop_t and its handles, checking as it goes. Pure, over a reader; see uv.h.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/vec.h"
#include "target/uv.h"
#include "target/uv_layout.h"

enum { MAX_HANDLES = 1 << 20, MAX_WATCHERS = 1 << 22, MAX_FD = 1 << 30, TRIES = 4, MAX_PATH_BYTES = 4096 };

static uint64_t u64_at(const unsigned char *bytes, size_t offset)
{
	uint64_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static uint32_t u32_at(const unsigned char *bytes, size_t offset)
{
	uint32_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static int fd_at(const unsigned char *bytes, size_t offset)
{
	int fd = (int)u32_at(bytes, offset);

	return fd >= 0 && fd < MAX_FD ? fd : -1;
}

const char *ray_uv_type_name(enum ray_uv_type type)
{
	static const char *const names[RAY_UV_TYPE_COUNT] = {
		"unknown", "async",   "check",	"fs_event", "fs_poll", "handle", "idle", "pipe",   "poll",
		"prepare", "process", "stream", "tcp",	    "timer",   "tty",	 "udp",	 "signal", "file",
	};

	return (size_t)type < RAY_UV_TYPE_COUNT ? names[type] : "unknown";
}

size_t ray_uv_scan(const void *bytes, size_t size, uint64_t address, uint64_t *found, size_t room)
{
	const uint64_t back = UV_LOOP_WQ_ASYNC + UV_HANDLE_LOOP;
	const unsigned char *p = bytes;
	size_t i, n = 0;
	uint64_t word;

	for (i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		if (word == address + i - back && n < room)
			found[n++] = word;
	}
	return n;
}

/* A list is whole at its head when the first element points back at it. */
static bool is_list(const struct ray_reader *r, const unsigned char *loop, uint64_t address, size_t offset)
{
	uint64_t first = u64_at(loop, offset), last = u64_at(loop, offset + 8), back, forth;

	if (!first || !last || first % 8 || last % 8)
		return false;
	return ray_read_u64(r, first + 8, &back) && back == address + offset && ray_read_u64(r, last, &forth) &&
	       forth == address + offset;
}

static bool is_own_handle(const unsigned char *loop, uint64_t address, size_t offset, enum ray_uv_type type)
{
	return u64_at(loop, offset + UV_HANDLE_LOOP) == address && u32_at(loop, offset + UV_HANDLE_TYPE) == type;
}

static bool is_loop(const unsigned char *loop, uint64_t address)
{
	uint32_t watchers = u32_at(loop, UV_LOOP_NWATCHERS);

	return is_own_handle(loop, address, UV_LOOP_WQ_ASYNC, RAY_UV_ASYNC) &&
	       is_own_handle(loop, address, UV_LOOP_CHILD_WATCHER, RAY_UV_SIGNAL) &&
	       fd_at(loop, UV_LOOP_BACKEND_FD) >= 0 && watchers <= MAX_WATCHERS &&
	       (!watchers || u64_at(loop, UV_LOOP_WATCHERS)) && u32_at(loop, UV_LOOP_NFDS) <= watchers + 1;
}

static bool lists_are_whole(const struct ray_reader *r, const unsigned char *loop, uint64_t address)
{
	return is_list(r, loop, address, UV_LOOP_HANDLE_QUEUE) && is_list(r, loop, address, UV_LOOP_WATCHER_QUEUE) &&
	       is_list(r, loop, address, UV_LOOP_PENDING_QUEUE);
}

/* The io_uring state (struct uv__iou) moved between libuv releases; its tail did not change:
 * sizes of the two rings, the larger of them, the size of the entries, the descriptor. Two of them lie
 * behind each other: the first is for epoll_ctl, the second for file operations. */
static void find_rings(const struct ray_reader *r, uint64_t fields, struct ray_uv_loop *ret)
{
	enum { FIRST = 200, END = 480, SECOND_FROM = 400 };
	unsigned char bytes[END];
	uint64_t sq, cq, most, entries;
	size_t at, got;
	int fd;

	got = r->read(r->arg, fields, bytes, sizeof(bytes));
	for (at = FIRST + 32; at + 4 <= got; at += 8) {
		sq = u64_at(bytes, at - 32);
		cq = u64_at(bytes, at - 24);
		most = u64_at(bytes, at - 16);
		entries = u64_at(bytes, at - 8);
		fd = fd_at(bytes, at);
		if (!sq || !cq || most != (sq > cq ? sq : cq) || most > 1 << 24 || !entries || entries % 64 || fd <= 0)
			continue;
		if (at < SECOND_FROM && ret->control_ring < 0)
			ret->control_ring = fd;
		else if (at >= SECOND_FROM && ret->file_ring < 0)
			ret->file_ring = fd;
	}
}

static void take_stream(const unsigned char *bytes, struct ray_uv_handle *h)
{
	h->fd = fd_at(bytes, UV_STREAM_WATCHER + UV_IO_FD);
	h->accepted_fd = fd_at(bytes, UV_STREAM_ACCEPTED_FD);
	h->listens = u64_at(bytes, UV_STREAM_CONNECTION_CB) != 0;
	h->connecting = u64_at(bytes, UV_STREAM_CONNECT_REQ) != 0;
	h->reading = h->flags & UV_FLAG_READING;
	h->write_queue = u64_at(bytes, UV_STREAM_WRITE_QUEUE_SIZE);
}

static const char *read_path(const struct ray_reader *r, uint64_t address, struct ray_arena *arena)
{
	char path[MAX_PATH_BYTES];
	size_t n = address ? r->read(r->arg, address, path, sizeof(path)) : 0;
	size_t length = strnlen(path, n);
	const char *copy = n && length < n ? ray_arena_copy(arena, path, length) : NULL;

	return copy ? copy : "";
}

/* What one type of handle has beyond the common part. have is how many bytes of it could be read. */
static void take_type(const struct ray_reader *r, const unsigned char *bytes, size_t have, struct ray_arena *arena,
		      struct ray_uv_handle *h)
{
	switch (h->type) {
	case RAY_UV_NAMED_PIPE:
		h->ipc = have >= UV_PIPE_SIZE && u32_at(bytes, UV_PIPE_IPC) == 1;
		/* fall through */
	case RAY_UV_TCP:
	case RAY_UV_TTY:
		if (have >= UV_PIPE_IPC)
			take_stream(bytes, h);
		break;
	case RAY_UV_UDP:
		if (have >= UV_UDP_WATCHER + UV_IO_FD + 4)
			h->fd = fd_at(bytes, UV_UDP_WATCHER + UV_IO_FD);
		break;
	case RAY_UV_POLL:
		if (have >= UV_POLL_WATCHER + UV_IO_FD + 4)
			h->fd = fd_at(bytes, UV_POLL_WATCHER + UV_IO_FD);
		break;
	case RAY_UV_FS_EVENT:
		h->path = have >= UV_FS_EVENT_PATH + 8 ? read_path(r, u64_at(bytes, UV_FS_EVENT_PATH), arena) : "";
		break;
	case RAY_UV_PROCESS:
		h->pid = have >= UV_PROCESS_PID + 4 ? (int)u32_at(bytes, UV_PROCESS_PID) : 0;
		break;
	case RAY_UV_ASYNC:
		h->callback = have >= UV_ASYNC_CB + 8 ? u64_at(bytes, UV_ASYNC_CB) : 0;
		break;
	default:
		break;
	}
}

struct handles {
	RAY_VEC(struct ray_uv_handle) list;
};

/* The common part, checked; then what the type has. */
static bool take_handle(const struct ray_reader *r, const unsigned char *bytes, size_t have, uint64_t loop,
			struct ray_arena *arena, struct ray_uv_handle *h)
{
	if (have < UV_HANDLE_SIZE || u64_at(bytes, UV_HANDLE_LOOP) != loop)
		return false;
	h->fd = h->accepted_fd = -1;
	h->path = "";
	h->type = (enum ray_uv_type)u32_at(bytes, UV_HANDLE_TYPE);
	if (h->type == RAY_UV_UNKNOWN || h->type >= RAY_UV_TYPE_COUNT)
		return false;
	h->flags = u32_at(bytes, UV_HANDLE_FLAGS);
	h->closing = h->flags & (UV_FLAG_CLOSING | UV_FLAG_CLOSED);
	h->active = h->flags & UV_FLAG_ACTIVE;
	h->referenced = h->flags & UV_FLAG_REF;
	take_type(r, bytes, have, arena, h);
	return true;
}

/* Follows the list of handles around. False when it does not lead back to the loop: it changed, or is damaged. */
static bool walk_handles(const struct ray_reader *r, uint64_t loop, uint64_t first, struct ray_arena *arena,
			 struct handles *ret)
{
	uint64_t head = loop + UV_LOOP_HANDLE_QUEUE, previous = head, at = first;
	unsigned char bytes[UV_PIPE_SIZE];
	struct ray_uv_handle h;
	size_t have;

	for (ret->list.n = 0; at != head; at = u64_at(bytes, UV_HANDLE_QUEUE)) {
		if (at % 8 || at < UV_HANDLE_QUEUE || ret->list.n >= MAX_HANDLES)
			return false;
		h = (struct ray_uv_handle){ .address = at - UV_HANDLE_QUEUE };
		have = r->read(r->arg, h.address, bytes, sizeof(bytes));
		if (!take_handle(r, bytes, have, loop, arena, &h) || u64_at(bytes, UV_HANDLE_QUEUE + 8) != previous)
			return false;
		if (!ray_vec_push(&ret->list, h))
			return false;
		previous = at;
	}
	return true;
}

static size_t watcher_offset(enum ray_uv_type type)
{
	return type == RAY_UV_UDP ? UV_UDP_WATCHER : type == RAY_UV_POLL ? UV_POLL_WATCHER : UV_STREAM_WATCHER;
}

/* The loop's table of watchers: entries that could not be read are 0, "nobody". */
struct watchers {
	uint64_t *at;
	size_t n;
};

static struct watchers read_watchers(const struct ray_reader *r, const unsigned char *loop)
{
	struct watchers w = { .n = u32_at(loop, UV_LOOP_NWATCHERS) };

	w.at = calloc(w.n ? w.n : 1, sizeof(*w.at));
	if (!w.at)
		w.n = 0;
	if (w.n)
		w.n = r->read(r->arg, u64_at(loop, UV_LOOP_WATCHERS), w.at, w.n * sizeof(*w.at)) / sizeof(*w.at);
	return w;
}

/* The table must name the handle that claims a descriptor, or nobody. */
static void check_watchers(const struct watchers *w, struct handles *handles)
{
	struct ray_uv_handle *h;
	size_t i;

	for (i = 0; i < handles->list.n; i++) {
		h = &handles->list.at[i];
		if (h->fd < 0 || (size_t)h->fd >= w->n)
			continue;
		if (w->at[h->fd] && w->at[h->fd] != h->address + watcher_offset(h->type))
			h->fd = -1;
	}
}

/* The handle around a watcher: what the watcher is embedded in depends on the type, which must fit. */
static bool handle_around(const struct ray_reader *r, uint64_t loop, uint64_t watcher, int fd, struct ray_arena *arena,
			  struct ray_uv_handle *ret)
{
	static const enum ray_uv_type types[] = { RAY_UV_TCP, RAY_UV_NAMED_PIPE, RAY_UV_TTY, RAY_UV_UDP, RAY_UV_POLL };
	unsigned char bytes[UV_PIPE_SIZE];
	size_t i, have;

	for (i = 0; i < RAY_COUNT(types); i++) {
		*ret = (struct ray_uv_handle){ .address = watcher - watcher_offset(types[i]) };
		have = r->read(r->arg, ret->address, bytes, sizeof(bytes));
		if (take_handle(r, bytes, have, loop, arena, ret) && ret->type == types[i] && ret->fd == fd)
			return true;
	}
	return false;
}

/* A busy server changes its list of handles all the time. Then the table of watchers helps: each of its
 * entries can be checked by itself. Handles that watch nothing at the moment are what stays missing. */
static void add_watched(const struct ray_reader *r, uint64_t loop, const struct watchers *w, struct ray_arena *arena,
			struct handles *handles)
{
	ray_auto_memory bool *has = calloc(w->n ? w->n : 1, sizeof(*has));
	struct ray_uv_handle h;
	uint64_t watcher;
	size_t i;

	if (!has)
		return;
	for (i = 0; i < handles->list.n; i++)
		if (handles->list.at[i].fd >= 0 && (size_t)handles->list.at[i].fd < w->n)
			has[handles->list.at[i].fd] = true;
	for (i = 0; i < w->n; i++) {
		watcher = w->at[i];
		/* The loop's own watchers lie inside it. */
		if (has[i] || watcher < UV_HANDLE_SIZE || watcher % 8 || watcher - loop < UV_LOOP_SIZE)
			continue;
		if (handle_around(r, loop, watcher, (int)i, arena, &h) && !ray_vec_push(&handles->list, h))
			return;
	}
}

static bool runs_js(const struct handles *handles)
{
	bool seen[RAY_UV_TYPE_COUNT] = { 0 };
	size_t i;

	for (i = 0; i < handles->list.n; i++)
		seen[handles->list.at[i].type] = true;
	return seen[RAY_UV_CHECK] && seen[RAY_UV_IDLE] && seen[RAY_UV_PREPARE] && seen[RAY_UV_TIMER];
}

static void take_fields(const unsigned char *loop, struct ray_uv_loop *ret)
{
	ret->backend_fd = fd_at(loop, UV_LOOP_BACKEND_FD);
	ret->async_fd = fd_at(loop, UV_LOOP_ASYNC_WATCHER + UV_IO_FD);
	ret->async_write_fd = fd_at(loop, UV_LOOP_ASYNC_WFD);
	ret->signal_fds[0] = fd_at(loop, UV_LOOP_SIGNAL_PIPE);
	ret->signal_fds[1] = fd_at(loop, UV_LOOP_SIGNAL_PIPE + 4);
	ret->inotify_fd = fd_at(loop, UV_LOOP_INOTIFY_FD);
	ret->emfile_fd = fd_at(loop, UV_LOOP_EMFILE_FD);
	ret->time = u64_at(loop, UV_LOOP_TIME);
	ret->active_handles = u32_at(loop, UV_LOOP_ACTIVE_HANDLES);
}

bool ray_uv_read_loop(const struct ray_reader *r, uint64_t address, struct ray_arena *arena, struct ray_uv_loop *ret)
{
	unsigned char loop[UV_LOOP_SIZE];
	struct handles handles = { 0 };
	struct watchers watchers;
	bool whole = false;
	int try;

	*ret = (struct ray_uv_loop){ .address = address, .control_ring = -1, .file_ring = -1, .role = "" };
	for (try = 0; try < TRIES && !whole; try++) {
		if (!ray_read(r, address, loop, sizeof(loop)) || !is_loop(loop, address)) {
			ray_vec_free(&handles.list);
			return false;
		}
		whole = lists_are_whole(r, loop, address) &&
			walk_handles(r, address, u64_at(loop, UV_LOOP_HANDLE_QUEUE), arena, &handles);
	}
	take_fields(loop, ret);
	find_rings(r, u64_at(loop, UV_LOOP_INTERNAL_FIELDS), ret);
	watchers = read_watchers(r, loop);
	if (!whole)
		add_watched(r, address, &watchers, arena, &handles);
	check_watchers(&watchers, &handles);
	free(watchers.at);
	ret->torn = !whole;
	ret->runs_js = runs_js(&handles);
	if (handles.list.n) {
		ret->handles = ray_arena_alloc(arena, handles.list.n * sizeof(*ret->handles));
		if (ret->handles) {
			memcpy(ret->handles, handles.list.at, handles.list.n * sizeof(*ret->handles));
			ret->handle_count = handles.list.n;
		}
	}
	ray_vec_free(&handles.list);
	return true;
}
