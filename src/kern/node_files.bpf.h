/* node_files.bpf.h - operations on files that node leaves to the C++ library: fs.rmSync(), fs.cpSync() and their like, of newer nodes.
 * SPDX-License-Identifier: MIT
 *
 * libuv knows nothing of them. While one of node's functions that do so runs on a thread, its system calls on files are the operations; what libuv does
 * in between is node_fs.bpf.h's. */
#ifndef RAY_KERN_NODE_FILES_BPF_H
#define RAY_KERN_NODE_FILES_BPF_H

#include "kern/node_fs.bpf.h"

enum {
	RAY_SYS_STAT = 4,
	RAY_SYS_LSTAT = 6,
	RAY_SYS_SENDFILE = 40,
	RAY_SYS_FTRUNCATE = 77,
	RAY_SYS_RENAME = 82,
	RAY_SYS_MKDIR = 83,
	RAY_SYS_RMDIR = 84,
	RAY_SYS_LINK = 86,
	RAY_SYS_UNLINK = 87,
	RAY_SYS_SYMLINK = 88,
	RAY_SYS_READLINK = 89,
	RAY_SYS_CHMOD = 90,
	RAY_SYS_FCHMOD = 91,
	RAY_SYS_GETDENTS = 217,
	RAY_SYS_OPENAT = 257,
	RAY_SYS_NEWFSTATAT = 262,
	RAY_SYS_UNLINKAT = 263,
	RAY_SYS_FCHMODAT = 268,
	RAY_SYS_UTIMENSAT = 280,
	RAY_SYS_COPY_RANGE = 326,
	RAY_SYS_STATX = 332,
	RAY_AT_FDCWD_ = -100,
	RAY_AT_NOFOLLOW = 0x100,
	RAY_AT_REMOVEDIR = 0x200,
};

/* What a call is, as an operation, and which of its arguments are what; numbers of arguments, -1 for none. */
struct ray_file_call {
	__u32 type; /* uv_fs_type */
	__s8 directory, path, other, fd;
};

static __always_inline struct ray_file_call ray_file_call(__u32 type, __s8 directory, __s8 path, __s8 other, __s8 fd)
{
	return (struct ray_file_call){ type, directory, path, other, fd };
}

static __always_inline struct ray_file_call ray_file_call_of(const struct ray_slot *s)
{
	__u64 flags;

	switch (s->hook_args[RAY_HOOK_NUMBER]) {
	case RAY_SYS_STAT:
		return ray_file_call(RAY_UV_FS_STAT, -1, 0, -1, -1);
	case RAY_SYS_LSTAT:
		return ray_file_call(RAY_UV_FS_LSTAT, -1, 0, -1, -1);
	case RAY_SYS_NEWFSTATAT:
		flags = s->hook_args[3];
		return ray_file_call(flags & RAY_AT_NOFOLLOW ? RAY_UV_FS_LSTAT : RAY_UV_FS_STAT, 0, 1, -1, -1);
	case RAY_SYS_STATX:
		flags = s->hook_args[2];
		return ray_file_call(flags & RAY_AT_NOFOLLOW ? RAY_UV_FS_LSTAT : RAY_UV_FS_STAT, 0, 1, -1, -1);
	case RAY_SYS_OPENAT:
		return ray_file_call(RAY_UV_FS_OPEN, 0, 1, -1, -1);
	case RAY_SYS_GETDENTS:
		return ray_file_call(RAY_UV_FS_READDIR, -1, -1, -1, 0);
	case RAY_SYS_MKDIR:
		return ray_file_call(RAY_UV_FS_MKDIR, -1, 0, -1, -1);
	case RAY_SYS_RMDIR:
		return ray_file_call(RAY_UV_FS_RMDIR, -1, 0, -1, -1);
	case RAY_SYS_UNLINK:
		return ray_file_call(RAY_UV_FS_UNLINK, -1, 0, -1, -1);
	case RAY_SYS_UNLINKAT:
		flags = s->hook_args[2];
		return ray_file_call(flags & RAY_AT_REMOVEDIR ? RAY_UV_FS_RMDIR : RAY_UV_FS_UNLINK, 0, 1, -1, -1);
	case RAY_SYS_RENAME:
		return ray_file_call(RAY_UV_FS_RENAME, -1, 0, 1, -1);
	case RAY_SYS_LINK:
		return ray_file_call(RAY_UV_FS_LINK, -1, 0, 1, -1);
	case RAY_SYS_SYMLINK:
		return ray_file_call(RAY_UV_FS_SYMLINK, -1, 0, 1, -1);
	case RAY_SYS_READLINK:
		return ray_file_call(RAY_UV_FS_READLINK, -1, 0, -1, -1);
	case RAY_SYS_CHMOD:
		return ray_file_call(RAY_UV_FS_CHMOD, -1, 0, -1, -1);
	case RAY_SYS_FCHMODAT:
		return ray_file_call(RAY_UV_FS_CHMOD, 0, 1, -1, -1);
	case RAY_SYS_FCHMOD:
		return ray_file_call(RAY_UV_FS_FCHMOD, -1, -1, -1, 0);
	case RAY_SYS_UTIMENSAT:
		return ray_file_call(RAY_UV_FS_UTIME, 0, 1, -1, -1);
	case RAY_SYS_FTRUNCATE:
		return ray_file_call(RAY_UV_FS_FTRUNCATE, -1, -1, -1, 0);
	default: /* sendfile() and copy_file_range(): what is copied, from where */
		return ray_file_call(RAY_UV_FS_SENDFILE, -1, -1, -1,
				     s->hook_args[RAY_HOOK_NUMBER] == RAY_SYS_SENDFILE ? 1 : 0);
	}
}

/* ---- what is told ---- */

/* A name below the directory behind a descriptor. */
static __always_inline void ray_file_path_at(struct ray_slot *s, struct ray_node_fs *fs, __s32 directory, __u64 name)
{
	__u64 at = RAY_CONST(EVENT_AT) + __builtin_offsetof(struct ray_node_area, fs.path), length;
	struct ray_walk_path *w = ray_work(s);
	char first = 0;

	bpf_probe_read_user(&first, 1, (void *)name);
	if (directory != RAY_AT_FDCWD_ && first != '/')
		ray_fs_fd_path(s, fs->path, directory);
	if (!fs->path[0]) {
		ray_node_text(fs->path, sizeof(fs->path), name);
		return;
	}
	length = w->length;
	if (!first || length >= RAY_NODE_PATH - 2)
		return;
	*ray_at(s, at + length) = '/';
	ray_node_text(ray_at(s, at + length + 1), (RAY_NODE_PATH - 1 - length) & (RAY_NODE_PATH - 1), name);
}

/* area->fs, of a system call. */
static __always_inline void ray_file_fill(struct ray_slot *s, const struct ray_watched *node, __u32 event)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_fs *fs = &ray_node_area(s)->fs;
	struct ray_file_call call = ray_file_call_of(s);

	ray_clear((char *)fs, sizeof(*fs));
	ray_work_operation(fs->operation, node, call.type);
	fs->address = c->work;
	fs->request = c->request;
	fs->tid = c->tid;
	fs->work = c->function;
	fs->is_sync = !fs->work;
	fs->fd = call.fd >= 0 ? (__s32)s->hook_args[call.fd & 7] : -1;
	if (call.fd >= 0)
		ray_fs_fd_path(s, fs->path, fs->fd);
	else if (call.directory >= 0)
		ray_file_path_at(s, fs, (__s32)s->hook_args[0], s->hook_args[1]);
	else
		ray_node_text(fs->path, sizeof(fs->path), s->hook_args[0]);
	if (call.other >= 0)
		ray_node_text(fs->new_path, sizeof(fs->new_path), s->hook_args[1]);
	s->args[0] = RAY_AREA_ADDRESS(fs);
	if (event == RAY_EVENT_FS_START)
		return;
	fs->result = s->hook_args[RAY_HOOK_RESULT];
	if (call.type == RAY_UV_FS_OPEN && fs->result >= 0)
		fs->fd = fs->result;
	fs->run = fs->total = c->now - c->started;
}

/* ---- the calls ---- */

static __always_inline void ray_file_begin(struct ray_slot *s, struct ray_node_thread *thread)
{
	struct ray_work_cursor *c = ray_work_cursor(s);

	ray_work_begin(s, 0, RAY_WORK_CALL);
	c->work = c->tid;
	c->request = ray_work_request(thread);
	c->function = thread->work;
	if (thread->work)
		c->tid = thread->work_tid;
}

static __always_inline void ray_file_enter(struct ray_slot *s)
{
	struct ray_node_thread *thread = ray_node_thread_known();

	ray_work_cursor(s)->events = 0;
	if (!thread || !thread->files_sp || thread->fs)
		return;
	ray_file_begin(s, thread);
	thread->files_start = ray_work_cursor(s)->now;
	ray_work_push(ray_work_cursor(s), RAY_EVENT_FS_START);
}

static __always_inline void ray_file_leave(struct ray_slot *s)
{
	struct ray_node_thread *thread = ray_node_thread_known();

	ray_work_cursor(s)->events = 0;
	if (!thread || !thread->files_sp || thread->fs || !thread->files_start)
		return;
	ray_file_begin(s, thread);
	ray_work_cursor(s)->started = thread->files_start;
	thread->files_start = 0;
	ray_work_push(ray_work_cursor(s), RAY_EVENT_FS_DONE);
}

/* ---- node's functions ---- */

static __always_inline void ray_files_enter(struct ray_slot *s)
{
	struct ray_node_thread *thread = ray_node_thread(s);

	if (thread && (!thread->files_sp || s->user_sp > thread->files_sp))
		thread->files_sp = s->user_sp;
}

static __always_inline void ray_files_leave(struct ray_slot *s)
{
	struct ray_node_thread *thread = ray_node_thread_known();

	if (thread && s->user_sp > thread->files_sp)
		thread->files_sp = thread->files_start = 0;
}

#endif
