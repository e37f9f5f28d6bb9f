/* spool.c - see spool.h. SPDX-License-Identifier: MIT */
#include "target/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/interrupt.h"
#include "base/progress.h"
#include "base/text.h"

enum {
	CHUNK = 1 << 20,
	BLOCK = 4096,		/* zeroes in units of this become holes */
	RESERVE = 64 << 20,	/* bytes that stay free for everybody else on that disk */
	CHECK_EVERY = 64 << 20, /* bytes written between two looks at the free space */
};

struct output {
	const char *directory;
	int fd;
	uint64_t length;  /* with holes */
	uint64_t written; /* without */
	uint64_t checked;
};

/* An open file without a name: nothing to clean up. Old file systems have no O_TMPFILE. */
static int open_nameless(const char *directory)
{
	ray_auto_memory char *path = NULL;
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd;
	if (asprintf(&path, "%s/noderay-XXXXXX", directory) < 0) {
		path = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static struct ray_error *open_output(struct output *out)
{
	const char *set = getenv("TMPDIR");

	out->directory = set && *set ? set : "/var/tmp";
	out->fd = open_nameless(out->directory);
	if (out->fd < 0 && !(set && *set)) {
		out->directory = "/tmp";
		out->fd = open_nameless(out->directory);
	}
	if (out->fd >= 0)
		return NULL;
	return ray_error_remedy(
		ray_error_errno(RAY_FAILED, errno, "cannot make a temporary file in %s", out->directory),
		"set TMPDIR to a directory with room for the unpacked core");
}

static struct ray_error *full(const struct output *out, uint64_t needed, uint64_t free_bytes)
{
	char need[8], have[8];

	return ray_error_remedy(ray_error_new(RAY_FAILED, "unpacking it needs %s%s more in %s, where %s are free",
					      out->length ? "" : "about ", ray_format_size(needed, need),
					      out->directory, ray_format_size(free_bytes, have)),
				"set TMPDIR to a directory with more room, or unpack the core there yourself");
}

/* Is there room for needed bytes more? Before the first byte the packed size is all that is certain: what
 * the stream promises counts holes too, which in a node's core are most of it. */
static struct ray_error *check_room(struct output *out, uint64_t needed)
{
	struct statvfs fs;
	uint64_t free_bytes;

	out->checked = out->written;
	if (fstatvfs(out->fd, &fs))
		return NULL;
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	return free_bytes < needed + RESERVE ? full(out, needed, free_bytes) : NULL;
}

static bool is_zero(const unsigned char *p, size_t n)
{
	return !n || (!p[0] && !memcmp(p, p + 1, n - 1));
}

static struct ray_error *write_all(struct output *out, const unsigned char *p, size_t n, uint64_t offset)
{
	ssize_t did;

	out->written += n;
	while (n) {
		did = pwrite(out->fd, p, n, (off_t)offset);
		if (did < 0 && errno == EINTR)
			continue;
		if (did < 0 && errno == ENOSPC)
			return full(out, n, 0);
		if (did <= 0)
			return ray_error_errno(RAY_FAILED, did < 0 ? errno : EIO, "%s", out->directory);
		p += did;
		offset += (uint64_t)did;
		n -= (size_t)did;
	}
	return NULL;
}

/* Writes what is not zero, in runs of blocks. */
static struct ray_error *write_sparse(struct output *out, const unsigned char *p, size_t n)
{
	struct ray_error *err = NULL;
	size_t at = 0, run, step;

	while (at < n && !err) {
		for (run = at; run < n; run += step) {
			step = n - run < BLOCK ? n - run : BLOCK;
			if (is_zero(p + run, step))
				break;
		}
		if (run > at)
			err = write_all(out, p + at, run - at, out->length + at);
		at = run + (n - run < BLOCK ? n - run : BLOCK);
	}
	out->length += n;
	if (!err && out->written - out->checked >= CHECK_EVERY)
		err = check_room(out, CHECK_EVERY);
	return err;
}

static struct ray_error *check_start(const struct ray_spool *spool, const struct ray_unpacker *u,
				     const unsigned char *chunk, size_t n)
{
	if (!n && ray_unpacker_trouble(u))
		return ray_error_new(RAY_UNREADABLE, "cannot be unpacked: %s", ray_unpacker_trouble(u));
	return spool->check(chunk, n);
}

static struct ray_error *copy(const struct ray_spool *spool, struct ray_unpacker *u, struct output *out,
			      unsigned char *chunk, uint64_t packed_size)
{
	ray_auto_memory char *what = NULL;
	struct ray_progress progress;
	struct ray_error *err = NULL;
	size_t n = CHUNK;

	if (asprintf(&what, "unpacking %s", spool->name) < 0)
		return &ray_enomem;
	ray_progress_start(&progress, what, packed_size);
	while (n == CHUNK && !err) {
		n = ray_unpacker_read(u, chunk, CHUNK);
		if (!out->length)
			err = check_start(spool, u, chunk, n);
		if (!err)
			err = write_sparse(out, chunk, n);
		if (!err && ray_interrupted)
			err = ray_error_new(RAY_FAILED, "interrupted while it was unpacked");
		ray_progress_update(&progress, ray_unpacker_consumed(u));
	}
	ray_progress_end(&progress);
	if (!err && ftruncate(out->fd, (off_t)out->length))
		err = ray_error_errno(RAY_FAILED, errno, "%s", out->directory);
	return err;
}

static struct ray_error *describe_trouble(const struct ray_unpacker *u, enum ray_packing packing, char **ret)
{
	const char *text = ray_unpacker_trouble(u);

	*ret = NULL;
	if (text && asprintf(ret, "the %s file is damaged or cut at byte %llu (%s): what follows is lost",
			     ray_packing_name(packing), (unsigned long long)ray_unpacker_consumed(u), text) < 0)
		return &ray_enomem;
	return NULL;
}

struct ray_error *ray_spool_unpack(const struct ray_spool *spool, int fd, enum ray_packing packing, int *fd_ret,
				   char **trouble_ret)
{
	ray_auto_memory unsigned char *chunk = malloc(CHUNK);
	ray_auto(ray_unpacker, u) = NULL;
	struct output out = { .fd = -1 };
	struct ray_error *err;
	struct stat st;
	uint64_t packed;

	if (!chunk)
		return &ray_enomem;
	packed = fstat(fd, &st) ? 0 : (uint64_t)st.st_size;
	err = ray_unpacker_create(fd, packing, &u);
	if (!err)
		err = open_output(&out);
	if (!err)
		err = check_room(&out, packed);
	if (!err)
		err = copy(spool, u, &out, chunk, packed);
	if (!err)
		err = describe_trouble(u, packing, trouble_ret);
	if (err) {
		if (out.fd >= 0)
			close(out.fd);
		return err;
	}
	*fd_ret = out.fd;
	return NULL;
}
