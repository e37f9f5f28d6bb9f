/* file.bpf.h - open files of the process that runs, and paths as the process sees them. SPDX-License-Identifier: MIT
 *
 * A path is walked upwards from its dentry, over mount points, to the root of the process; names are collected and then written the other way
 * round. Nothing is locked: a path that is renamed at this moment may come out half old, half new. */
#ifndef RAY_KERN_FILE_BPF_H
#define RAY_KERN_FILE_BPF_H

#include "kern/task.bpf.h"

enum { RAY_PATH_NAMES = 192 };

struct ray_walk_path {
	__u64 dentry;
	__u64 mount; /* struct mount */
	__u64 root_dentry, root_mount;
	__u64 count;
	__u64 length; /* of the text */
	__u64 names[RAY_PATH_NAMES];
};

static long ray_path_up(__u64 i, struct ray_slot **c)
{
	struct ray_walk_path *w = ray_work(*c);
	__u64 dentry = w->dentry, parent, name, count;

	(void)i;
	if (dentry == w->root_dentry && w->mount == w->root_mount)
		return 1;
	if (dentry == ray_kernel_pointer(w->mount + RAY_CONST(MOUNT_MNT) + RAY_CONST(VFSMOUNT_ROOT))) {
		parent = ray_kernel_pointer(w->mount + RAY_CONST(MOUNT_PARENT));
		if (!parent || parent == w->mount)
			return 1;
		w->dentry = ray_kernel_pointer(w->mount + RAY_CONST(MOUNT_MOUNTPOINT));
		w->mount = parent;
		return 0;
	}
	parent = ray_kernel_pointer(dentry + RAY_CONST(DENTRY_PARENT));
	/* A root that is not the mount's hangs nowhere (memfd): its name is all there is. */
	name = ray_kernel_pointer(dentry + RAY_CONST(DENTRY_NAME));
	count = w->count;
	if (!parent || (parent == dentry && count))
		return 1;
	RAY_OPAQUE(count);
	if (count >= RAY_PATH_NAMES)
		return 1;
	w->names[count] = name;
	w->count = count + 1;
	w->dentry = parent;
	return parent == dentry;
}

/* Its name was taken away; the root of a mount never had one. */
static __always_inline int ray_path_is_gone(__u64 dentry, __u64 mount)
{
	return !ray_kernel_pointer(dentry + RAY_CONST(DENTRY_HASHED)) &&
	       dentry != ray_kernel_pointer(mount + RAY_CONST(MOUNT_MNT) + RAY_CONST(VFSMOUNT_ROOT));
}

/* Adds text of the kernel to the string at dst. */
static __always_inline void ray_path_add(struct ray_slot *s, struct ray_walk_path *w, __u64 dst, __u64 text)
{
	__u64 length = w->length, room;
	long got;

	if (length >= RAY_CONST(STRSIZE))
		return;
	room = ray_string_size() - length;
	if (room > ray_string_size())
		return;
	got = bpf_probe_read_kernel_str(ray_at(s, dst + length), room, (void *)text);
	if (got > 0)
		w->length = length + got - 1;
}

static __always_inline void ray_path_add_char(struct ray_slot *s, struct ray_walk_path *w, __u64 dst, char c)
{
	if (w->length >= RAY_CONST(STRSIZE))
		return;
	*ray_at(s, dst + w->length) = c;
	*ray_at(s, dst + w->length + 1) = 0;
	w->length++;
}

struct ray_path_loop {
	struct ray_slot *s;
	__u64 dst;
};

static long ray_path_down(__u64 i, struct ray_path_loop *c)
{
	struct ray_walk_path *w = ray_work(c->s);
	__u64 at = w->count - 1 - i;

	if (at >= RAY_PATH_NAMES)
		return 1;
	ray_path_add_char(c->s, w, c->dst, '/');
	ray_path_add(c->s, w, c->dst, w->names[at]);
	return 0;
}

/* ---- what is no path: pipes, sockets and their like have names of their own ---- */

static __always_inline long ray_path_add_number(struct ray_path_loop *c, __u64 value)
{
	struct ray_walk_path *w = ray_work(c->s);
	char *digits = (char *)&w->names[8]; /* free: nothing was walked */
	int at = 23;

	digits[23] = 0;
	/* Not unrolled: the stack is as deep as it may be here. */
#pragma clang loop unroll(disable)
	for (int i = 22; i > 0; i--) {
		digits[i] = '0' + value % 10;
		at = i;
		value /= 10;
		if (!value)
			break;
	}
	ray_path_add(c->s, w, c->dst, (__u64)(digits + (at & 31)));
	return 0;
}

/* Whether a text of the kernel (of less than 16 bytes) is this one; both as two words. */
static __always_inline int ray_kernel_is(__u64 text, __u64 low, __u64 high)
{
	__u64 words[2] = { 0, 0 };

	bpf_probe_read_kernel_str((char *)words, sizeof(words), (void *)text);
	return words[0] == low && words[1] == high;
}

static __always_inline __u64 ray_dentry_fs(__u64 dentry)
{
	__u64 sb = ray_kernel_pointer(dentry + RAY_CONST(DENTRY_SB));

	return ray_kernel_pointer(ray_kernel_pointer(sb + RAY_CONST(SB_TYPE)) + RAY_CONST(FSTYPE_NAME));
}

static __always_inline void ray_path_add_text(struct ray_slot *s, struct ray_walk_path *w, __u64 dst, __u64 text)
{
	w->names[0] = text;
	w->names[1] = 0;
	ray_path_add(s, w, dst, (__u64)&w->names[0]);
}

/* "pipe:[123]", "socket:[123]", "anon_inode:[eventpoll]". 0: it is a path. */
static __noinline long ray_path_special(struct ray_path_loop *c, __u64 dentry)
{
	struct ray_walk_path *w = ray_work(c->s);
	__u64 fs = ray_dentry_fs(dentry);
	int is_pipe = ray_kernel_is(fs, RAY_WORD('p', 'i', 'p', 'e', 'f', 's', 0, 0), 0);
	int is_socket = ray_kernel_is(fs, RAY_WORD('s', 'o', 'c', 'k', 'f', 's', 0, 0), 0);

	if (ray_kernel_is(fs, RAY_WORD('a', 'n', 'o', 'n', '_', 'i', 'n', 'o'),
			  RAY_WORD('d', 'e', 'f', 's', 0, 0, 0, 0))) {
		ray_path_add_text(c->s, w, c->dst, RAY_WORD('a', 'n', 'o', 'n', '_', 'i', 'n', 'o'));
		ray_path_add_text(c->s, w, c->dst, RAY_WORD('d', 'e', ':', 0, 0, 0, 0, 0));
		ray_path_add(c->s, w, c->dst, ray_kernel_pointer(dentry + RAY_CONST(DENTRY_NAME)));
		return 1;
	}
	if (!is_pipe && !is_socket)
		return 0;
	ray_path_add_text(c->s, w, c->dst,
			  is_pipe ? RAY_WORD('p', 'i', 'p', 'e', ':', '[', 0, 0) :
				    RAY_WORD('s', 'o', 'c', 'k', 'e', 't', ':', '['));
	ray_path_add_number(
		c, ray_kernel_pointer(ray_kernel_pointer(dentry + RAY_CONST(DENTRY_INODE)) + RAY_CONST(INODE_INO)));
	ray_path_add_char(c->s, w, c->dst, ']');
	return 1;
}

/* ---- paths ---- */

/* path is a struct path in the kernel; root another one, or 0: walk up to where everything hangs. */
static __noinline long ray_path_text(struct ray_path_loop *c, __u64 path, __u64 root)
{
	struct ray_slot *s = c->s;
	struct ray_walk_path *w = ray_work(s);
	__u64 dentry = ray_kernel_pointer(path + RAY_CONST(PATH_DENTRY));
	int is_gone;

	w->count = w->length = 0;
	*ray_at(s, c->dst) = 0;
	if (!dentry)
		return -1;
	if (ray_path_special(c, dentry))
		return 0;
	w->dentry = dentry;
	w->mount = ray_kernel_pointer(path + RAY_CONST(PATH_MNT)) - RAY_CONST(MOUNT_MNT);
	w->root_dentry = root ? ray_kernel_pointer(root + RAY_CONST(PATH_DENTRY)) : 0;
	w->root_mount = root ? ray_kernel_pointer(root + RAY_CONST(PATH_MNT)) - RAY_CONST(MOUNT_MNT) : 0;
	is_gone = ray_path_is_gone(dentry, w->mount);
	bpf_loop(RAY_PATH_NAMES * 2, ray_path_up, &s, 0);
	if (!w->count)
		ray_path_add_char(s, w, c->dst, '/');
	bpf_loop(RAY_PATH_NAMES, ray_path_down, c, 0);
	if (is_gone) {
		ray_path_add_text(s, w, c->dst, RAY_WORD(' ', '(', 'd', 'e', 'l', 'e', 't', 'e'));
		ray_path_add_text(s, w, c->dst, RAY_WORD('d', ')', 0, 0, 0, 0, 0, 0));
	}
	return 0;
}

static __always_inline __u64 ray_current_fs(void)
{
	return ray_kernel_pointer(bpf_get_current_task() + RAY_CONST(TASK_FS));
}

static __always_inline __u64 ray_current_root(void)
{
	return ray_current_fs() + RAY_CONST(FS_ROOT);
}

RAY_RUNTIME __u64 ray_d_path(__u64 slot, __u64 dst, __u64 path)
{
	struct ray_path_loop c = { .s = ray_slot_get(slot), .dst = dst };

	if (!c.s)
		return 0;
	if (!ray_path_text(&c, path, ray_current_root()))
		return RAY_SCRATCH | dst;
	ray_fault_set(c.s, RAY_FAULT_BADADDR, path);
	return 0;
}

RAY_RUNTIME __u64 ray_cwd(__u64 slot, __u64 dst)
{
	struct ray_path_loop c = { .s = ray_slot_get(slot), .dst = dst };

	if (!c.s)
		return 0;
	ray_path_text(&c, ray_current_fs() + RAY_CONST(FS_PWD), ray_current_root());
	return RAY_SCRATCH | dst;
}

RAY_RUNTIME __u64 ray_root(__u64 slot, __u64 dst)
{
	struct ray_path_loop c = { .s = ray_slot_get(slot), .dst = dst };

	if (!c.s)
		return 0;
	ray_path_text(&c, ray_current_root(), 0);
	return RAY_SCRATCH | dst;
}

/* ---- open files ---- */

/* struct file of a descriptor, or 0. */
static __always_inline __u64 ray_fd_file(__u64 fd)
{
	__u64 table = ray_kernel_pointer(bpf_get_current_task() + RAY_CONST(TASK_FILES));

	table = ray_kernel_pointer(table + RAY_CONST(FILES_FDT));
	if (!table || fd >= ray_kernel_word(table + RAY_CONST(FDT_MAX)))
		return 0;
	return ray_kernel_pointer(ray_kernel_pointer(table + RAY_CONST(FDT_FD)) + fd * 8);
}

static __always_inline __u64 ray_fd_none(struct ray_slot *s, __u64 dst)
{
	*(__u64 *)ray_at(s, RAY_CONST(WORK_AT)) = RAY_WORD('<', 'n', 'o', 'n', 'e', '>', 0, 0);
	return ray_result(s, dst, RAY_CONST(WORK_AT), RAY_CONST(STRSIZE));
}

RAY_RUNTIME __u64 ray_fd_path(__u64 slot, __u64 dst, __u64 fd)
{
	struct ray_path_loop c = { .s = ray_slot_get(slot), .dst = dst };
	__u64 file = ray_fd_file(fd);

	if (!c.s)
		return 0;
	if (!file || ray_path_text(&c, file + RAY_CONST(FILE_PATH), ray_current_root()))
		return ray_fd_none(c.s, dst);
	return RAY_SCRATCH | dst;
}

/* Of the dentry: the last component. */
RAY_RUNTIME __u64 ray_fd_name(__u64 slot, __u64 dst, __u64 fd)
{
	struct ray_path_loop c = { .s = ray_slot_get(slot), .dst = dst };
	__u64 file = ray_fd_file(fd), dentry;
	struct ray_walk_path *w;

	if (!c.s)
		return 0;
	if (!file)
		return ray_fd_none(c.s, dst);
	w = ray_work(c.s);
	w->length = 0;
	*ray_at(c.s, dst) = 0;
	dentry = ray_kernel_pointer(file + RAY_CONST(FILE_PATH) + RAY_CONST(PATH_DENTRY));
	if (!ray_path_special(&c, dentry))
		ray_path_add(c.s, w, dst, ray_kernel_pointer(dentry + RAY_CONST(DENTRY_NAME)));
	return RAY_SCRATCH | dst;
}

RAY_RUNTIME __u64 ray_fd_fs(__u64 slot, __u64 dst, __u64 fd)
{
	struct ray_slot *s = ray_slot_get(slot);
	__u64 file = ray_fd_file(fd), dentry;

	if (!s)
		return 0;
	dentry = ray_kernel_pointer(file + RAY_CONST(FILE_PATH) + RAY_CONST(PATH_DENTRY));
	if (!file || bpf_probe_read_kernel_str(ray_at(s, dst), ray_string_size(), (void *)ray_dentry_fs(dentry)) < 0)
		return ray_fd_none(s, dst);
	return RAY_SCRATCH | dst;
}

/* Where the file system that holds the file hangs: "/" for the root's. */
RAY_RUNTIME __u64 ray_fd_mount(__u64 slot, __u64 dst, __u64 fd)
{
	struct ray_path_loop c = { .s = ray_slot_get(slot), .dst = dst };
	__u64 file = ray_fd_file(fd), at;
	struct ray_walk_path *w;

	if (!c.s)
		return 0;
	if (!file)
		return ray_fd_none(c.s, dst);
	w = ray_work(c.s);
	/* A struct path of our own: the root of the mount, on the mount itself. */
	at = ray_kernel_pointer(file + RAY_CONST(FILE_PATH) + RAY_CONST(PATH_MNT));
	w->names[RAY_PATH_NAMES - 2] = at;
	w->names[RAY_PATH_NAMES - 1] = ray_kernel_pointer(at + RAY_CONST(VFSMOUNT_ROOT));
	if (ray_path_text(&c, (__u64)&w->names[RAY_PATH_NAMES - 2], ray_current_root()))
		return ray_fd_none(c.s, dst);
	return RAY_SCRATCH | dst;
}

/* which: enum ray_fd_number. 0 when it is not open. */
RAY_RUNTIME __u64 ray_fd_number(__u64 slot, __u64 fd, __u64 which)
{
	__u64 file = ray_fd_file(fd);

	(void)slot;
	if (!file)
		return 0;
	if (which == RAY_FD_OFLAGS)
		return ray_kernel_word(file + RAY_CONST(FILE_FLAGS));
	if (which == RAY_FD_OFFSET)
		return ray_kernel_pointer(file + RAY_CONST(FILE_POS));
	return ray_kernel_pointer(ray_kernel_pointer(file + RAY_CONST(FILE_INODE)) + RAY_CONST(INODE_INO));
}

#endif
