/* node_fs.bpf.h - operations on files: uv__fs_work() runs all of them, on a thread of the pool or on the one that asks.
 * SPDX-License-Identifier: MIT
 *
 * Asked for: when it is submitted, or when it begins, if it is synchronous. Done: when it has run, on the thread that ran it. An operation that
 * libuv carries out by others of its own (copyfile: open, sendfile) is one operation. Operations on a descriptor
 * have the path of the file behind it. What libuv does not do is node_files.bpf.h's. */
#ifndef RAY_KERN_NODE_FS_BPF_H
#define RAY_KERN_NODE_FS_BPF_H

#include "kern/node_work.bpf.h"

/* enum uv_fs_type: part of libuv's ABI. */
enum {
	RAY_UV_FS_OPEN = 1,
	RAY_UV_FS_CLOSE = 2,
	RAY_UV_FS_READ = 3,
	RAY_UV_FS_WRITE = 4,
	RAY_UV_FS_SENDFILE = 5,
	RAY_UV_FS_STAT = 6,
	RAY_UV_FS_LSTAT = 7,
	RAY_UV_FS_FSTAT = 8,
	RAY_UV_FS_FTRUNCATE = 9,
	RAY_UV_FS_UTIME = 10,
	RAY_UV_FS_FUTIME = 11,
	RAY_UV_FS_CHMOD = 13,
	RAY_UV_FS_FCHMOD = 14,
	RAY_UV_FS_FSYNC = 15,
	RAY_UV_FS_FDATASYNC = 16,
	RAY_UV_FS_UNLINK = 17,
	RAY_UV_FS_RMDIR = 18,
	RAY_UV_FS_MKDIR = 19,
	RAY_UV_FS_RENAME = 21,
	RAY_UV_FS_LINK = 23,
	RAY_UV_FS_SYMLINK = 24,
	RAY_UV_FS_READLINK = 25,
	RAY_UV_FS_FCHOWN = 27,
	RAY_UV_FS_COPYFILE = 29,
	RAY_UV_FS_OPENDIR = 31,
	RAY_UV_FS_READDIR = 32,
	RAY_UV_FS_CLOSEDIR = 33,
};

#define RAY_FS_BIT(name) (1ULL << RAY_UV_FS_##name)

static __always_inline int ray_fs_has_fd(__u32 type)
{
	const __u64 bits = RAY_FS_BIT(CLOSE) | RAY_FS_BIT(READ) | RAY_FS_BIT(WRITE) | RAY_FS_BIT(SENDFILE) |
			   RAY_FS_BIT(FSTAT) | RAY_FS_BIT(FTRUNCATE) | RAY_FS_BIT(FUTIME) | RAY_FS_BIT(FCHMOD) |
			   RAY_FS_BIT(FSYNC) | RAY_FS_BIT(FDATASYNC) | RAY_FS_BIT(FCHOWN);

	return type < 64 && bits >> type & 1;
}

/* ---- paths ---- */

static __always_inline void ray_node_cut(void)
{
	struct ray_state *state = ray_state_get();

	if (state)
		__sync_fetch_and_add(&state->node_cut, 1);
}

/* A string of the process; one that is longer than its place is counted. */
static __always_inline void ray_node_text(char *dst, __u64 size, __u64 at)
{
	char next = 0;

	if (!at || bpf_probe_read_user_str(dst, size, (void *)at) < (long)size)
		return;
	bpf_probe_read_user(&next, 1, (void *)(at + size - 1));
	if (next)
		ray_node_cut();
}

/* Of the file behind a descriptor. It is put together in the work area, where a string of D has room. */
static __always_inline void ray_fs_fd_path(struct ray_slot *s, char *dst, __s32 fd)
{
	struct ray_walk_path *w = ray_work(s);

	if (fd < 0 || !ray_fd_file(fd))
		return;
	ray_fd_path(s->index, ray_work_string(0), fd);
	bpf_probe_read_kernel_str(dst, RAY_NODE_PATH, ray_at(s, ray_work_string(0)));
	if (w->length >= RAY_NODE_PATH || w->length >= RAY_CONST(STRSIZE))
		ray_node_cut();
}

/* A path that will be needed when the descriptor or the uv_dir_t no longer tells it. */
static __always_inline void ray_fs_path_keep(struct ray_slot *s, __u64 address, const char *path)
{
	struct ray_node_work_state *blank = ray_work_blank(s);

	bpf_probe_read_kernel_str(blank->text, sizeof(blank->text), path);
	ray_work_keep(RAY_TABLE_PATH, address, blank);
}

static __always_inline void ray_fs_path_kept(char *dst, __u64 address)
{
	struct ray_node_work_state *state = ray_work_find(RAY_TABLE_PATH, address);

	if (state)
		bpf_probe_read_kernel_str(dst, RAY_NODE_PATH, state->text);
}

/* Where the request itself has no path. */
static __always_inline void ray_fs_find_path(struct ray_slot *s, struct ray_node_fs *fs, __u32 type, __u64 directory)
{
	if (type == RAY_UV_FS_READDIR || type == RAY_UV_FS_CLOSEDIR)
		ray_fs_path_kept(fs->path, directory);
	else if (ray_fs_has_fd(type))
		ray_fs_fd_path(s, fs->path, fs->fd);
	if ((type == RAY_UV_FS_CLOSE || type == RAY_UV_FS_CLOSEDIR) && !fs->path[0])
		ray_fs_path_kept(fs->path, ray_work_cursor(s)->work);
}

/* ---- what is told ---- */

/* area->fs, for what the cursor says. */
static __always_inline void ray_fs_fill(struct ray_slot *s, const struct ray_watched *node, __u32 event)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_fs *fs = &ray_node_area(s)->fs;
	__u64 request = c->work - node->at.fs_work;
	__u32 type = ray_user_int(request + node->at.fs_type);

	ray_clear((char *)fs, sizeof(*fs));
	ray_work_operation(fs->operation, node, type);
	fs->address = request;
	fs->request = c->request;
	fs->tid = c->tid;
	fs->work = c->kind == RAY_WORK_INNER ? c->function : 0;
	fs->is_sync = c->kind == RAY_WORK_FS && !ray_user_pointer(request + node->at.fs_cb);
	fs->fd = ray_fs_has_fd(type) ? ray_user_int(request + node->at.fs_file) : -1;
	ray_node_text(fs->path, sizeof(fs->path), ray_user_pointer(request + node->at.fs_path));
	ray_node_text(fs->new_path, sizeof(fs->new_path), ray_user_pointer(request + node->at.fs_new_path));
	if (!fs->path[0])
		ray_fs_find_path(s, fs, type, ray_user_pointer(request + node->at.fs_pointer));
	s->args[0] = RAY_AREA_ADDRESS(fs);
	if (event == RAY_EVENT_FS_START)
		return;
	fs->result = c->result == RAY_UNKNOWN_RESULT ? (__s64)ray_user_pointer(request + node->at.fs_result) :
						       c->result;
	if (type == RAY_UV_FS_OPEN && fs->result >= 0)
		fs->fd = fs->result;
	if (c->submitted && c->started)
		fs->wait = c->started - c->submitted;
	if (c->started)
		fs->run = c->now - c->started;
	fs->total = c->now - (c->submitted ? c->submitted : c->started);
	if (type == RAY_UV_FS_OPENDIR && fs->result >= 0)
		ray_fs_path_keep(s, ray_user_pointer(request + node->at.fs_pointer), fs->path);
	if (type == RAY_UV_FS_CLOSE || type == RAY_UV_FS_CLOSEDIR)
		ray_work_forget(RAY_TABLE_PATH, c->work);
}

/* ---- uv__fs_work(w) ---- */

/* A copyfile calls others; anything else that seems to be in the middle of one has lost its return. */
static __always_inline int ray_fs_is_inner(const struct ray_slot *s, const struct ray_node_thread *thread)
{
	return thread->fs && thread->fs_type == RAY_UV_FS_COPYFILE && s->user_sp < thread->fs_sp;
}

/* What is closed has no path afterwards. */
static __always_inline void ray_fs_close_path(struct ray_slot *s, const struct ray_watched *node, __u32 type,
					      __u64 request)
{
	struct ray_node_fs *fs = &ray_node_area(s)->fs;
	__u64 directory = ray_user_pointer(request + node->at.fs_pointer);

	fs->path[0] = 0;
	if (type == RAY_UV_FS_CLOSE) {
		ray_fs_fd_path(s, fs->path, ray_user_int(request + node->at.fs_file));
	} else {
		ray_fs_path_kept(fs->path, directory);
		ray_work_forget(RAY_TABLE_PATH, directory);
	}
	ray_fs_path_keep(s, ray_work_cursor(s)->work, fs->path);
}

/* A work that does several of them (newer nodes read a whole file so): it is no JavaScript that waits for them, and the first one has waited as the
 * work has. */
static __always_inline void ray_fs_inner(struct ray_work_cursor *c, struct ray_node_thread *thread)
{
	struct ray_node_work_state *state = ray_work_find(RAY_TABLE_WORK, thread->work);

	c->kind = RAY_WORK_INNER;
	c->tid = thread->work_tid;
	c->function = thread->work;
	if (!state || state->is_told == 2)
		return;
	state->is_told = 2;
	thread->fs_submitted = state->submitted;
}

static __noinline void ray_fs_enter(struct ray_slot *s, const struct ray_watched *node)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	__u64 work = s->hook_args[0], request = work - node->at.fs_work;
	struct ray_node_thread *thread = ray_node_thread(s);
	__u32 is_told = 0, type = ray_user_int(request + node->at.fs_type);
	int is_sync = !ray_user_pointer(request + node->at.fs_cb);

	ray_work_begin(s, work, RAY_WORK_FS);
	if (!thread || !node->at.fs_work || ray_fs_is_inner(s, thread))
		return;
	c->request = ray_work_request(thread);
	thread->fs_submitted = 0;
	if (!is_sync)
		is_told = ray_work_start(s, thread);
	else if (thread->work)
		ray_fs_inner(c, thread);
	thread->fs = work;
	thread->fs_start = c->now;
	thread->fs_sp = s->user_sp;
	thread->fs_type = type;
	if (type == RAY_UV_FS_CLOSE || type == RAY_UV_FS_CLOSEDIR)
		ray_fs_close_path(s, node, type, request);
	if (!is_told)
		ray_work_push(c, RAY_EVENT_FS_START);
	if (!is_sync)
		ray_work_push(c, RAY_EVENT_WORK_START);
}

static __always_inline void ray_fs_leave(struct ray_slot *s)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_thread *thread = ray_node_thread_known();
	int is_sync;

	ray_work_begin(s, 0, RAY_WORK_FS);
	if (!thread || !thread->fs || s->user_sp <= thread->fs_sp)
		return;
	c->work = thread->fs;
	c->started = thread->fs_start;
	is_sync = thread->work != thread->fs;
	thread->fs = 0;
	if (is_sync)
		c->request = ray_work_request(thread);
	else
		ray_work_done(s, thread);
	if (is_sync && thread->work) {
		c->kind = RAY_WORK_INNER;
		c->tid = thread->work_tid;
		c->function = thread->work;
		c->submitted = thread->fs_submitted;
	}
	ray_work_push(c, RAY_EVENT_FS_DONE);
	if (!is_sync)
		ray_work_push(c, RAY_EVENT_WORK_DONE);
}

/* ---- io_uring ---- */

/* uv__iou_fs_*(loop, request...). The kernel may be done before it returns. */
static __always_inline void ray_ring_enter(struct ray_slot *s, const struct ray_watched *node)
{
	struct ray_node_thread *thread = ray_node_thread(s);
	__u64 request = s->hook_args[1];

	ray_work_begin(s, request + node->at.fs_work, RAY_WORK_RING);
	if (!thread || !node->at.fs_work)
		return;
	thread->ring = request;
	if (ray_user_int(request + node->at.fs_type) == RAY_UV_FS_CLOSE)
		ray_fs_close_path(s, node, RAY_UV_FS_CLOSE, request);
}

/* uv__iou_fs_*(loop, request...) was given one, and the ring had room for it: there is nothing else until node is done with it. */
static __always_inline void ray_ring_submit(struct ray_slot *s, const struct ray_watched *node)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_thread *thread = ray_node_thread_known();
	struct ray_node_work_state *blank;
	__u64 request = thread ? thread->ring : 0;

	ray_work_begin(s, request + node->at.fs_work, RAY_WORK_RING);
	if (!request || !node->at.fs_work)
		return;
	thread->ring = 0;
	if ((__u32)s->hook_args[RAY_HOOK_RESULT] != 1)
		return;
	c->request = ray_work_request(thread);
	blank = ray_work_blank(s);
	blank->submitted = c->now;
	blank->request = c->request;
	blank->kind = RAY_WORK_RING;
	blank->tid = c->tid;
	ray_work_keep(RAY_TABLE_WORK, c->work, blank);
	ray_work_push(c, RAY_EVENT_FS_START);
}

/* node's callback(request): the loop has the result. */
static __always_inline void ray_ring_done(struct ray_slot *s, const struct ray_watched *node)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_work_state *state = ray_work_find(RAY_TABLE_WORK, s->hook_args[0] + node->at.fs_work);

	c->events = 0;
	if (!state || state->kind != RAY_WORK_RING)
		return;
	ray_work_begin(s, s->hook_args[0] + node->at.fs_work, RAY_WORK_RING);
	c->started = state->submitted;
	c->request = state->request;
	c->tid = state->tid;
	ray_work_forget(RAY_TABLE_WORK, c->work);
	ray_work_push(c, RAY_EVENT_FS_DONE);
}

#endif
