/* files.c - the list of open descriptors: storage, and how it is read from /proc. See files.h.
 * SPDX-License-Identifier: MIT
 *
 * One readlink and one fdinfo per descriptor, a stat only for what has a path, then one pass over
 * the kernel's socket tables for all sockets together: ten thousand sockets must not take seconds.
 * Knows nothing of JSON, of libuv, or of who holds the other ends (files_peers.c). */
#include "target/files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "base/search.h"
#include "base/text.h"
#include "base/vec.h"
#include "target/files_peers.h"
#include "target/stop.h"

struct ray_files *ray_files_create(void)
{
	ray_auto(ray_files, files) = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->arena = ray_arena_create();
	if (!files->arena)
		return NULL;
	return ray_take(files);
}

void ray_files_free(struct ray_files *files)
{
	if (!files)
		return;
	ray_arena_free(files->arena);
	free(files->at);
	free(files);
}

struct ray_file *ray_files_find(const struct ray_files *files, int fd)
{
	size_t i = ray_search(files->at, files->n, one, one->fd < fd);

	return i < files->n && files->at[i].fd == fd ? &files->at[i] : NULL;
}

struct ray_file *ray_files_add(struct ray_files *files, int fd)
{
	struct ray_file *grown;
	size_t at = files->n;

	/* Doubles at every power of two: no capacity needs to be kept. */
	if (!(files->n & (files->n - 1))) {
		grown = reallocarray(files->at, files->n ? files->n * 2 : 1, sizeof(*grown));
		if (!grown)
			return NULL;
		files->at = grown;
	}
	while (at > 0 && files->at[at - 1].fd > fd)
		at--;
	memmove(files->at + at + 1, files->at + at, (files->n - at) * sizeof(*files->at));
	files->n++;
	files->at[at] = (struct ray_file){ .fd = fd, .path = "", .use = "", .loop = -1, .loop_role = "" };
	return &files->at[at];
}

static int by_fd(const void *a, const void *b)
{
	const struct ray_file *x = a, *y = b;

	return (x->fd > y->fd) - (x->fd < y->fd);
}

/* What an epoll or an inotify says may be long; the others fit one read, and looking for their end by a second
 * one adds up with thousands of sockets. False when it is gone. */
static bool read_info(int dir, const char *name, bool is_short, struct ray_text *text)
{
	ray_auto_fd int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	char chunk[4096];
	ssize_t n;

	ray_text_clear(text);
	if (fd < 0)
		return false;
	do {
		n = read(fd, chunk, sizeof(chunk));
		if (n > 0)
			ray_text_add_bytes(text, chunk, (size_t)n);
	} while (n > 0 && !is_short);
	return n >= 0;
}

/* A name may really end in " (deleted)": the number of links decides. */
static void take_deleted(char *link, const struct statx *st, struct ray_file *f)
{
	static const char mark[] = " (deleted)";
	size_t length = strlen(link);

	if (length < sizeof(mark) || strcmp(link + length - (sizeof(mark) - 1), mark) || st->stx_nlink > 0)
		return;
	link[length - (sizeof(mark) - 1)] = '\0';
	f->deleted = true;
}

static void take_stat(int dir, const char *name, char *link, struct ray_file *f)
{
	struct statx st;

	/* Do not ask a network file system's server: it may be what hangs the target. */
	if (statx(dir, name, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st))
		return;
	f->has_stat = true;
	f->dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	f->rdev = makedev(st.stx_rdev_major, st.stx_rdev_minor);
	f->inode = st.stx_ino;
	f->mode = st.stx_mode;
	f->size = st.stx_size;
	if (f->type == RAY_FILE_UNKNOWN)
		f->type = ray_file_type_from_mode(st.stx_mode);
	take_deleted(link, &st, f);
}

static bool needs_stat(enum ray_file_type type)
{
	return type == RAY_FILE_UNKNOWN || type == RAY_FILE_MEMFD;
}

/* False when the descriptor went away meanwhile. */
static bool look_at(int fd_dir, int info_dir, const char *name, struct ray_text *text, struct ray_file *f,
		    struct ray_arena *arena)
{
	char link[PATH_MAX + 1];
	ssize_t n = readlinkat(fd_dir, name, link, PATH_MAX);
	bool watches;

	if (n < 0)
		return false;
	link[n] = '\0';
	f->type = ray_file_type_from_link(link, &f->inode);
	if (needs_stat(f->type))
		take_stat(fd_dir, name, link, f);
	watches = f->type == RAY_FILE_EVENTPOLL || f->type == RAY_FILE_INOTIFY || f->type == RAY_FILE_FANOTIFY;
	if (!read_info(info_dir, name, !watches, text))
		return false;
	ray_fdinfo_parse(ray_text_get(text), &f->info);
	f->info.has_watched |= watches;
	f->path = ray_arena_strdup(arena, link);
	return f->path != NULL;
}

static int open_dir(int pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static struct ray_error *look_at_all(int fd_dir, int info_dir, DIR *dir, struct ray_files *files)
{
	ray_auto_text text = { 0 };
	struct ray_file f, *added;
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		f = (struct ray_file){ .fd = atoi(entry->d_name), .path = "", .use = "", .loop = -1, .loop_role = "" };
		if (!look_at(fd_dir, info_dir, entry->d_name, &text, &f, files->arena)) {
			files->vanished++;
			continue;
		}
		/* Appended by what would be the highest number, sorted in the end: a table with holes
		 * that fills up is not in order, and inserting ten thousand in place is slow. */
		added = ray_files_add(files, INT_MAX);
		if (!added)
			return &ray_enomem;
		*added = f;
	}
	qsort(files->at, files->n, sizeof(*files->at), by_fd);
	return NULL;
}

static struct ray_error *list_descriptors(int pid, struct ray_files *files)
{
	ray_auto_fd int fd_dir = open_dir(pid, "fd");
	ray_auto_fd int info_dir = -1;
	struct ray_error *err;
	char what[64];
	DIR *dir;

	snprintf(what, sizeof(what), "cannot list the files of process %d", pid);
	if (fd_dir < 0)
		return ray_stop_denied(pid, errno, what);
	info_dir = open_dir(pid, "fdinfo");
	if (info_dir < 0)
		return ray_stop_denied(pid, errno, what);
	dir = fdopendir(dup(fd_dir));
	if (!dir)
		return ray_error_errno(RAY_FAILED, errno, "%s", what);
	err = look_at_all(fd_dir, info_dir, dir, files);
	closedir(dir);
	return err;
}

static void read_limits(int pid, struct ray_files *files)
{
	static const char row[] = "Max open files";
	ray_auto_file FILE *f = NULL;
	char line[256], soft[32], hard[32];

	snprintf(line, sizeof(line), "/proc/%d/limits", pid);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, row, sizeof(row) - 1) || sscanf(line + sizeof(row) - 1, "%31s %31s", soft, hard) != 2)
			continue;
		files->soft_limit = isdigit((unsigned char)soft[0]) ? strtoull(soft, NULL, 10) : UINT64_MAX;
		files->hard_limit = isdigit((unsigned char)hard[0]) ? strtoull(hard, NULL, 10) : UINT64_MAX;
		files->has_limits = true;
	}
}

static int by_inode(const void *a, const void *b)
{
	const struct ray_socket *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

/* The socket tables do not list what is neither bound nor connected; its protocol has a name still. */
static const char *protocol_name(int fd_dir, int fd, struct ray_arena *arena)
{
	char path[64], name[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%d", fd_dir, fd);
	n = getxattr(path, "system.sockprotoname", name, sizeof(name) - 1);
	if (n <= 0)
		return "";
	name[n] = '\0';
	return ray_arena_strdup(arena, name);
}

static void attach_socket(int fd_dir, struct ray_file *f, struct ray_socket *s, struct ray_files *files)
{
	f->socket = s;
	if (s->family < 0 && !*s->proto_name) {
		s->proto_name = protocol_name(fd_dir, f->fd, files->arena);
		if (!s->proto_name || !*s->proto_name) {
			s->proto_name = "";
			files->unreadable++;
		}
		/* A TCP socket that is in no table is neither bound nor connected. */
		if (!strncmp(s->proto_name, "TCP", 3))
			s->state = "CLOSE";
	}
	f->type = ray_file_type_from_socket(s);
}

static struct ray_error *read_sockets(int pid, struct ray_files *files)
{
	ray_auto_fd int fd_dir = open_dir(pid, "fd");
	struct ray_socket *sockets, *found, key;
	size_t i, n = 0, unique = 0;

	for (i = 0; i < files->n; i++)
		n += files->at[i].type == RAY_FILE_SOCKET;
	if (!n || fd_dir < 0)
		return NULL;
	sockets = ray_arena_alloc(files->arena, n * sizeof(*sockets));
	if (!sockets)
		return &ray_enomem;
	for (i = 0, n = 0; i < files->n; i++)
		if (files->at[i].type == RAY_FILE_SOCKET)
			ray_socket_init(&sockets[n++], files->at[i].inode);
	qsort(sockets, n, sizeof(*sockets), by_inode);
	for (i = 0; i < n; i++)
		if (!unique || sockets[unique - 1].inode != sockets[i].inode)
			sockets[unique++] = sockets[i];
	ray_sockets_read(RAY_SOCKETS_BEST, pid, sockets, unique, files->arena);
	for (i = 0; i < files->n; i++) {
		key.inode = files->at[i].inode;
		if (files->at[i].type != RAY_FILE_SOCKET)
			continue;
		found = bsearch(&key, sockets, unique, sizeof(*sockets), by_inode);
		if (found)
			attach_socket(fd_dir, &files->at[i], found, files);
	}
	return NULL;
}

static struct ray_error *list_process(int pid, struct ray_files **ret)
{
	ray_auto(ray_files, files) = ray_files_create();
	struct ray_error *err;

	if (!files)
		return &ray_enomem;
	err = list_descriptors(pid, files);
	if (err)
		return err;
	err = read_sockets(pid, files);
	if (err)
		return err;
	read_limits(pid, files);
	ray_files_find_peers(pid, files);
	files->listed = true;
	*ret = ray_take(files);
	return NULL;
}

static struct ray_error *list_core(struct ray_target *t, struct ray_files **ret)
{
	const char *note = ray_target_note(t, "files");
	struct ray_error *err = note ? ray_files_from_json(note, ret) : NULL;

	if (note && !err)
		return NULL;
	/* Without a list that can be read there is still the memory. */
	*ret = ray_files_create();
	if (*ret && err)
		(*ret)->note = ray_arena_printf((*ret)->arena, "noderay's note on open files is not used: %s",
						ray_error_text(err));
	ray_error_free(err);
	return *ret ? NULL : &ray_enomem;
}

struct ray_error *ray_files_list(struct ray_target *t, struct ray_files **ret)
{
	if (ray_target_kind(t) == RAY_TARGET_PROCESS)
		return list_process(ray_target_pid(t), ret);
	return list_core(t, ret);
}
