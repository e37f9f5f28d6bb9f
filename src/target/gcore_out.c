/* gcore_out.c - see gcore_out.h. SPDX-License-Identifier: MIT */
#include "target/gcore_out.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <zstd.h>

#include "base/interrupt.h"
#include "base/text.h"

enum { BLOCK = 4096, MAX_WRITE = 8 << 20, ZSTD_LEVEL = 1 };

struct ray_out {
	char *path;
	char *partial; /* the name it has meanwhile; NULL: none */
	int fd;
	bool force, finished;
	uint64_t disk, length;
	ZSTD_CCtx *zstd; /* NULL: plain */
	unsigned char *packed;
	size_t packed_size;
	uint64_t taken; /* how much the compressor was given */
};

static const unsigned char zeros[BLOCK];

static struct ray_error *cannot_write(const struct ray_out *o, int e)
{
	struct ray_error *err = ray_error_errno(RAY_FAILED, e, "cannot write %s", o->path);

	if (e == ENOSPC || e == EDQUOT)
		return ray_error_remedy(err, "write to another file system with -o%s",
					o->zstd ? "" : ", or compress with --zstd");
	if (e == EFBIG)
		return ray_error_remedy(err,
					"ulimit -f or the file system bounds the size of a file: try %sanother place",
					o->zstd ? "" : "--zstd or ");
	return err;
}

/* ------------------------------------------------------------------------- making it */

static struct ray_error *check_free_name(const struct ray_out *o)
{
	struct stat st;

	if (lstat(o->path, &st))
		return errno == ENOENT ? NULL : cannot_write(o, errno);
	if (!S_ISREG(st.st_mode))
		return ray_error_new(RAY_FAILED, "%s: is there already and is no regular file", o->path);
	if (!o->force)
		return ray_error_remedy(ray_error_new(RAY_FAILED, "%s: file exists", o->path),
					"-f replaces it, -o FILE names another");
	return NULL;
}

/* Async-signal-safe. */
static void remove_partial(void *path)
{
	unlink(path);
}

static struct ray_error *create(struct ray_out *o)
{
	ray_auto_memory char *copy = strdup(o->path);

	if (!copy)
		return &ray_enomem;
	o->fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (o->fd >= 0)
		return NULL;
	/* Not every file system can; EISDIR comes from kernels that do not know the flag. */
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return cannot_write(o, errno);
	if (asprintf(&o->partial, "%s.partial-%d", o->path, getpid()) < 0) {
		o->partial = NULL;
		return &ray_enomem;
	}
	o->fd = open(o->partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (o->fd < 0) {
		free(ray_take(o->partial));
		return cannot_write(o, errno);
	}
	ray_interrupt_cleanup_add(remove_partial, o->partial);
	return NULL;
}

static struct ray_error *start_zstd(struct ray_out *o, unsigned threads)
{
	o->zstd = ZSTD_createCCtx();
	o->packed_size = ZSTD_CStreamOutSize();
	o->packed = malloc(o->packed_size);
	if (!o->zstd || !o->packed)
		return &ray_enomem;
	ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_checksumFlag, 1);
	/* Refused by a library built without threads: then it works without. */
	if (threads > 1)
		ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_nbWorkers, (int)threads);
	return NULL;
}

struct ray_error *ray_out_open(const struct ray_out_options *options, struct ray_out **ret)
{
	ray_auto(ray_out, o) = calloc(1, sizeof(*o));
	struct ray_error *err;

	if (!o)
		return &ray_enomem;
	o->fd = -1;
	o->force = options->force;
	o->path = strdup(options->path);
	if (!o->path)
		return &ray_enomem;
	err = check_free_name(o);
	if (!err)
		err = create(o);
	if (!err && options->zstd)
		err = start_zstd(o, options->threads);
	if (err)
		return err;
	*ret = ray_take(o);
	return NULL;
}

void ray_out_close(struct ray_out *o)
{
	if (!o)
		return;
	if (o->partial)
		ray_interrupt_cleanup_remove(remove_partial, o->partial);
	if (o->partial && !o->finished)
		unlink(o->partial);
	if (o->fd >= 0)
		close(o->fd);
	ZSTD_freeCCtx(o->zstd);
	free(o->packed);
	free(o->partial);
	free(o->path);
	free(o);
}

struct ray_error *ray_out_check_room(struct ray_out *o, uint64_t bytes, uint64_t size)
{
	struct statvfs fs;
	struct rlimit limit;
	char need[8], there[8];
	uint64_t room;

	/* Heaps shrink to a third or less; nobody can know before. */
	if (o->zstd) {
		bytes /= 8;
		size = 0;
	}
	if (!fstatvfs(o->fd, &fs)) {
		room = (uint64_t)fs.f_bavail * fs.f_frsize;
		if (bytes > room)
			return ray_error_remedy(
				ray_error_new(RAY_FAILED, "%s: about %s needed, %s free on that file system", o->path,
					      ray_format_size(bytes, need), ray_format_size(room, there)),
				"write to another one with -o%s", o->zstd ? "" : ", or compress with --zstd");
	}
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur)
		return ray_error_remedy(
			ray_error_new(RAY_FAILED, "%s: would be %s long, and files may be %s long at most", o->path,
				      ray_format_size(size, need), ray_format_size(limit.rlim_cur, there)),
			"ulimit -f unlimited");
	return NULL;
}

/* ------------------------------------------------------------------------- writing */

static struct ray_error *write_at(struct ray_out *o, uint64_t offset, const unsigned char *bytes, size_t size)
{
	ssize_t n;

	while (size) {
		if (ray_interrupted)
			return ray_error_new(RAY_FAILED, "interrupted; %s was not written", o->path);
		n = pwrite(o->fd, bytes, size < MAX_WRITE ? size : MAX_WRITE, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return cannot_write(o, n < 0 ? errno : ENOSPC);
		bytes += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return NULL;
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
	return !bytes[0] && !memcmp(bytes, zeros, size);
}

/* Leaves holes where whole blocks are zero. */
static struct ray_error *put_plain(struct ray_out *o, uint64_t offset, const unsigned char *bytes, size_t size)
{
	struct ray_error *err;
	size_t at = 0, from;

	while (at < size) {
		from = at;
		while (at < size && !is_zero(bytes + at, size - at < BLOCK ? size - at : BLOCK))
			at += size - at < BLOCK ? size - at : BLOCK;
		err = write_at(o, offset + from, bytes + from, at - from);
		if (err)
			return err;
		while (at < size && is_zero(bytes + at, size - at < BLOCK ? size - at : BLOCK))
			at += size - at < BLOCK ? size - at : BLOCK;
	}
	return NULL;
}

static struct ray_error *compress(struct ray_out *o, const void *bytes, size_t size, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { bytes, size, 0 };
	struct ray_error *err;
	size_t left;

	do {
		ZSTD_outBuffer out = { o->packed, o->packed_size, 0 };

		left = ZSTD_compressStream2(o->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return ray_error_new(RAY_FAILED, "%s: zstd: %s", o->path, ZSTD_getErrorName(left));
		err = write_at(o, o->length, o->packed, out.pos);
		if (err)
			return err;
		o->length += out.pos;
	} while (in.pos < in.size || (how == ZSTD_e_end && left));
	o->taken += size;
	return NULL;
}

static struct ray_error *pad_zstd(struct ray_out *o, uint64_t offset)
{
	static const unsigned char many_zeros[1 << 18];
	struct ray_error *err = NULL;

	while (!err && o->taken < offset) {
		uint64_t n = offset - o->taken;

		if (ray_interrupted)
			return ray_error_new(RAY_FAILED, "interrupted; %s was not written", o->path);
		err = compress(o, many_zeros, n < sizeof(many_zeros) ? (size_t)n : sizeof(many_zeros), ZSTD_e_continue);
	}
	return err;
}

struct ray_error *ray_out_put(struct ray_out *o, uint64_t offset, const void *bytes, size_t size)
{
	const unsigned char *p = bytes;
	struct ray_error *err;
	size_t n;

	if (!o->zstd)
		return put_plain(o, offset, bytes, size);
	err = pad_zstd(o, offset);
	for (; !err && size; size -= n, p += n) {
		n = size < MAX_WRITE ? size : MAX_WRITE;
		err = ray_interrupted ? ray_error_new(RAY_FAILED, "interrupted; %s was not written", o->path) :
					compress(o, p, n, ZSTD_e_continue);
	}
	return err;
}

struct ray_error *ray_out_get(struct ray_out *o, uint64_t offset, void *bytes, size_t size)
{
	unsigned char *p = bytes;
	ssize_t n;

	while (size) {
		n = pread(o->fd, p, size, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ray_error_errno(RAY_FAILED, errno, "cannot read back %s", o->path);
		if (!n) {
			memset(p, 0, size);
			return NULL;
		}
		p += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return NULL;
}

/* ------------------------------------------------------------------------- its name */

/* link(2) replaces nothing: to replace, it gets a name beside first. */
static struct ray_error *give_name(struct ray_out *o)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	if (!o->partial && !linkat(AT_FDCWD, self, AT_FDCWD, o->path, AT_SYMLINK_FOLLOW))
		return NULL;
	if (!o->partial && errno != EEXIST)
		return cannot_write(o, errno);
	if (!o->partial) {
		if (!o->force)
			return cannot_write(o, EEXIST);
		if (asprintf(&o->partial, "%s.partial-%d", o->path, getpid()) < 0) {
			o->partial = NULL;
			return &ray_enomem;
		}
		ray_interrupt_cleanup_add(remove_partial, o->partial);
		if (linkat(AT_FDCWD, self, AT_FDCWD, o->partial, AT_SYMLINK_FOLLOW))
			return cannot_write(o, errno);
	}
	if (renameat2(AT_FDCWD, o->partial, AT_FDCWD, o->path, o->force ? 0 : RENAME_NOREPLACE) &&
	    (errno != EINVAL || rename(o->partial, o->path)))
		return cannot_write(o, errno);
	return NULL;
}

struct ray_error *ray_out_finish(struct ray_out *o, uint64_t size)
{
	struct ray_error *err = NULL;
	struct stat st;

	if (o->zstd) {
		err = pad_zstd(o, size);
		if (!err)
			err = compress(o, zeros, 0, ZSTD_e_end);
	} else {
		o->length = size;
		if (ftruncate(o->fd, (off_t)size))
			err = cannot_write(o, errno);
	}
	if (!err)
		err = give_name(o);
	if (err)
		return err;
	o->finished = true;
	if (!fstat(o->fd, &st))
		o->disk = (uint64_t)st.st_blocks * 512;
	/* Network file systems tell of a failed write only here. */
	if (close(o->fd) && errno != EINTR) {
		err = cannot_write(o, errno);
		unlink(o->path);
	}
	o->fd = -1;
	return err;
}

void ray_out_sizes(const struct ray_out *o, uint64_t *disk_ret, uint64_t *length_ret)
{
	*disk_ret = o->disk;
	*length_ret = o->length;
}
