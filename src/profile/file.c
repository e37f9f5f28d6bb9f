/* file.c - profiles on disk, in pipes, packed or not: the part of format.h that reads and writes files. SPDX-License-Identifier: MIT
 *
 * What is read is first put into memory as a whole, because formats want to look ahead; how much that may be is bounded. */
#include "profile/format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "target/unpack.h"

enum { BUFFER_SIZE = 1 << 20, MOST_THREADS = 1 << 16 };
static const size_t largest = (size_t)1 << 30; /* unpacked; a profile of hours has a tenth of that */

/* ---- reading ---- */

static struct ray_error *too_large(void)
{
	return ray_error_new(RAY_UNREADABLE, "is larger than %zu MiB, which no profile is", largest >> 20);
}

/* A pipe becomes a file without a name, so that all that follows is the same. */
static struct ray_error *keep_pipe(int from, int *ret)
{
	ray_auto_memory char *buffer = malloc(BUFFER_SIZE);
	ray_auto_fd int fd = memfd_create("profile", MFD_CLOEXEC);
	size_t sum = 0;

	if (fd < 0 || !buffer)
		return fd < 0 ? ray_error_errno(RAY_FAILED, errno, "cannot keep it in memory") : &ray_enomem;
	for (;;) {
		ssize_t n = read(from, buffer, BUFFER_SIZE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ray_error_errno(RAY_UNREADABLE, errno, "cannot read it");
		if (!n)
			break;
		sum += (size_t)n;
		if (sum > largest)
			return too_large();
		if (write(fd, buffer, (size_t)n) != n)
			return ray_error_errno(RAY_FAILED, errno, "cannot keep it in memory");
	}
	*ret = fd;
	fd = -1;
	return NULL;
}

static struct ray_error *open_input(const char *path, int *ret)
{
	bool is_stdin = !strcmp(path, "-");
	ray_auto_fd int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return ray_error_errno(RAY_UNREADABLE, errno, "cannot be opened");
	if (S_ISDIR(st.st_mode))
		return ray_error_new(RAY_UNREADABLE, "is a directory");
	if (!S_ISREG(st.st_mode) || is_stdin)
		return keep_pipe(fd, ret);
	*ret = fd;
	fd = -1;
	return NULL;
}

static struct ray_error *add(struct ray_text *bytes, const char *buffer, size_t n)
{
	if (bytes->length + n > largest)
		return too_large();
	ray_text_add_bytes(bytes, buffer, n);
	return bytes->failed ? &ray_enomem : NULL;
}

static struct ray_error *read_plain(int fd, char *buffer, struct ray_text *bytes)
{
	struct ray_error *err = NULL;
	off_t at = 0;

	while (!err) {
		ssize_t n = pread(fd, buffer, BUFFER_SIZE, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ray_error_errno(RAY_UNREADABLE, errno, "cannot be read");
		if (!n)
			break;
		at += n;
		err = add(bytes, buffer, (size_t)n);
	}
	return err;
}

static struct ray_error *read_packed(int fd, enum ray_packing packing, char *buffer, struct ray_text *bytes)
{
	ray_auto(ray_unpacker, unpacker) = NULL;
	struct ray_error *err = ray_unpacker_create(fd, packing, &unpacker);
	size_t n = BUFFER_SIZE;

	while (!err && n == BUFFER_SIZE) {
		n = ray_unpacker_read(unpacker, buffer, BUFFER_SIZE);
		err = add(bytes, buffer, n);
	}
	if (!err && ray_unpacker_trouble(unpacker))
		err = ray_error_new(RAY_UNREADABLE, "the %s file %s", ray_packing_name(packing),
				    ray_unpacker_trouble(unpacker));
	return err;
}

static struct ray_error *read_all(const char *path, struct ray_text *bytes)
{
	ray_auto_memory char *buffer = malloc(BUFFER_SIZE);
	ray_auto_fd int fd = -1;
	struct ray_error *err = buffer ? open_input(path, &fd) : &ray_enomem;
	unsigned char magic[RAY_PACKING_MAGIC];
	enum ray_packing packing;
	ssize_t n;

	if (err)
		return err;
	n = pread(fd, magic, sizeof(magic), 0);
	packing = n > 0 ? ray_packing_of(magic, (size_t)n) : RAY_PACKED_NOT;
	return packing == RAY_PACKED_NOT ? read_plain(fd, buffer, bytes) : read_packed(fd, packing, buffer, bytes);
}

struct ray_error *ray_profile_parse(const char *bytes, size_t size, struct ray_profile **ret)
{
	const struct ray_profile_format *format;
	ray_auto(ray_profile, p) = NULL;
	struct ray_error *err;
	const char *wrong;

	if (!size)
		return ray_error_new(RAY_UNREADABLE, "is empty");
	for (size_t i = 0; (format = ray_profile_format_at(i)); i++)
		if (format->looks_like && format->looks_like(bytes, size))
			break;
	if (!format)
		return ray_error_remedy(ray_error_new(RAY_UNREADABLE, "is no profile of a kind that can be read"),
					"'noderay convert --help' lists what can");
	err = format->read(bytes, size, &p);
	if (err)
		return ray_error_wrap(err, "as %s", format->name);
	wrong = ray_profile_check(p);
	if (wrong)
		return ray_error_new(RAY_UNREADABLE, "as %s: %s", format->name, wrong);
	if (p->failed)
		return &ray_enomem;
	if (p->threads.n > MOST_THREADS)
		return ray_error_new(RAY_UNREADABLE, "as %s: more than %d threads", format->name, MOST_THREADS);
	*ret = ray_take(p);
	return NULL;
}

struct ray_error *ray_profile_read(const char *path, struct ray_profile **ret)
{
	ray_auto_text bytes = { 0 };
	struct ray_error *err = read_all(path, &bytes);

	if (!err)
		err = ray_profile_parse(ray_text_get(&bytes), bytes.length, ret);
	return ray_error_wrap(err, "%s", strcmp(path, "-") ? path : "standard input");
}

/* ---- writing ---- */

/* The name that is free to write under, in the directory where the file itself is to be; a link is followed, so that it stays one. */
struct output {
	char *path, *partial;
	FILE *file;
	bool is_pipe; /* standard output: whoever reads it may go before the end */
};

/* Async-signal-safe. */
static void remove_partial(void *path)
{
	unlink(path);
}

static void close_output(struct output *o)
{
	if (o->file)
		fclose(o->file);
	if (o->partial) {
		ray_interrupt_cleanup_remove(remove_partial, o->partial);
		unlink(o->partial);
	}
	free(o->partial);
	free(o->path);
}

static struct ray_error *open_stdout(struct output *o)
{
	int fd;

	fflush(stdout);
	o->is_pipe = true;
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	o->file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!o->file && fd >= 0)
		close(fd);
	return o->file ? NULL : ray_error_errno(RAY_FAILED, errno, "cannot write to standard output");
}

static struct ray_error *open_partial(struct output *o, mode_t mode)
{
	int fd;

	if (asprintf(&o->partial, "%s.partial-%d", o->path, getpid()) < 0) {
		o->partial = NULL;
		return &ray_enomem;
	}
	fd = open(o->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0) {
		free(ray_take(o->partial));
		return ray_error_errno(RAY_FAILED, errno, "cannot be written");
	}
	ray_interrupt_cleanup_add(remove_partial, o->partial);
	ray_interrupt_writing(RAY_WRITING_FILE, fd);
	o->file = fdopen(fd, "w");
	if (!o->file)
		close(fd);
	return o->file ? NULL : &ray_enomem;
}

static struct ray_error *open_output(const char *path, struct output *o)
{
	struct stat st;
	bool is_there;

	if (!strcmp(path, "-"))
		return open_stdout(o);
	is_there = !stat(path, &st);
	if (is_there && S_ISDIR(st.st_mode))
		return ray_error_new(RAY_FAILED, "is a directory");
	if (is_there && !S_ISREG(st.st_mode)) {
		ray_interrupt_writing(RAY_WRITING_NOTHING, -1); /* opening a FIFO blocks until it has a reader */
		o->file = fopen(path, "we");
		if (o->file)
			ray_interrupt_writing(RAY_WRITING_OUTPUT, fileno(o->file));
		return o->file ? NULL : ray_error_errno(RAY_FAILED, errno, "cannot be written");
	}
	o->path = is_there ? realpath(path, NULL) : strdup(path);
	if (!o->path)
		return ray_error_errno(RAY_FAILED, errno, "cannot be written");
	if (is_there && access(path, W_OK))
		return ray_error_errno(RAY_FAILED, errno, "cannot be written");
	return open_partial(o, is_there ? st.st_mode & 0777 : 0666);
}

static struct ray_error *finish(struct output *o)
{
	bool failed = fflush(o->file) || ferror(o->file);
	int errnum = errno;

	if (fclose(ray_take(o->file)) && !failed) {
		failed = true;
		errnum = errno;
	}
	if (failed && o->is_pipe && errnum == EPIPE)
		return NULL;
	if (failed)
		return ray_error_errno(RAY_FAILED, errnum, "cannot be written");
	if (o->partial && rename(o->partial, o->path))
		return ray_error_errno(RAY_FAILED, errno, "cannot be written");
	if (o->partial)
		ray_interrupt_cleanup_remove(remove_partial, o->partial);
	free(ray_take(o->partial));
	return NULL;
}

static struct ray_error *write_to(struct output *o, ray_profile_write_fn *write, const void *arg)
{
	ray_auto_memory char *buffer = malloc(BUFFER_SIZE);
	struct ray_error *err;

	/* Without one of its own, stdio finds a smaller buffer. */
	if (buffer)
		setvbuf(o->file, buffer, _IOFBF, BUFFER_SIZE);
	errno = 0;
	err = write(arg, o->file);
	if (!err)
		err = finish(o);
	/* The buffer goes before the file does. */
	if (o->file)
		fclose(ray_take(o->file));
	return err;
}

struct ray_error *ray_profile_write_with(ray_profile_write_fn *write, const void *arg, const char *path)
{
	struct output o = { 0 };
	struct ray_error *err = open_output(path, &o);

	if (!err)
		err = write_to(&o, write, arg);
	close_output(&o);
	return ray_error_wrap(err, "%s", strcmp(path, "-") ? path : "standard output");
}

struct task {
	const struct ray_profile *p;
	const struct ray_profile_format *format;
};

static struct ray_error *write_profile(const void *arg, FILE *out)
{
	const struct task *task = arg;

	return task->format->write(task->p, out);
}

struct ray_error *ray_profile_write(const struct ray_profile *p, const struct ray_profile_format *format,
				    const char *path)
{
	return ray_profile_write_with(write_profile, &(struct task){ p, format }, path);
}

bool ray_profile_is_same_file(const char *in, const char *out)
{
	struct stat a, b;

	return strcmp(in, "-") && strcmp(out, "-") && !stat(in, &a) && !stat(out, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino && S_ISREG(a.st_mode);
}

/* ---- names ---- */

static void add_time(struct ray_text *out)
{
	time_t now = time(NULL);
	struct tm local;
	char text[32];

	if (localtime_r(&now, &local) && strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &local))
		ray_text_add(out, text);
}

static void add_host(struct ray_text *out)
{
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1) || !*host)
		strcpy(host, "localhost");
	for (char *c = host; *c; c++)
		if (*c == '/')
			*c = '_';
	ray_text_add(out, host);
}

char *ray_profile_expand(const char *pattern, uint32_t pid)
{
	ray_auto_text out = { 0 };

	for (; *pattern; pattern++) {
		if (pattern[0] != '%' || !pattern[1] || !strchr("pth%", pattern[1])) {
			ray_text_add_bytes(&out, pattern, 1);
			continue;
		}
		pattern++;
		if (*pattern == 'p')
			ray_text_printf(&out, "%u", pid);
		else if (*pattern == 't')
			add_time(&out);
		else if (*pattern == 'h')
			add_host(&out);
		else
			ray_text_add(&out, "%");
	}
	return out.failed ? NULL : strdup(ray_text_get(&out));
}
