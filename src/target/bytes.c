/* bytes.c - see bytes.h. SPDX-License-Identifier: MIT */
#include "target/bytes.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { WINDOW = 16384, WINDOWS = 64 };

struct window {
	uint64_t number; /* of the window in the file, plus one; 0 is empty */
	size_t length;
	unsigned char *at;
};

struct ray_bytes {
	int fd;
	uint64_t size;
	struct window windows[WINDOWS];
};

struct ray_bytes *ray_bytes_open(int fd)
{
	struct ray_bytes *b = calloc(1, sizeof(*b));
	struct stat st;

	if (!b || fstat(fd, &st)) {
		free(b);
		close(fd);
		return NULL;
	}
	b->fd = fd;
	b->size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	return b;
}

void ray_bytes_close(struct ray_bytes *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < WINDOWS; i++)
		free(b->windows[i].at);
	close(b->fd);
	free(b);
}

uint64_t ray_bytes_size(const struct ray_bytes *b)
{
	return b->size;
}

int ray_bytes_fd(const struct ray_bytes *b)
{
	return b->fd;
}

static size_t read_file(struct ray_bytes *b, uint64_t offset, unsigned char *out, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pread(b->fd, out + done, size - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* NULL when there is no memory. */
static const struct window *load_window(struct ray_bytes *b, uint64_t number)
{
	struct window *w = &b->windows[number % WINDOWS];

	if (w->number == number + 1)
		return w;
	if (!w->at)
		w->at = malloc(WINDOW);
	if (!w->at)
		return NULL;
	w->number = number + 1;
	w->length = read_file(b, number * WINDOW, w->at, WINDOW);
	return w;
}

size_t ray_bytes_read(struct ray_bytes *b, uint64_t offset, void *buffer, size_t size)
{
	unsigned char *out = buffer;
	size_t done = 0, skip, n;
	const struct window *w;

	if (offset >= b->size)
		return 0;
	if (size > b->size - offset)
		size = (size_t)(b->size - offset);
	if (size >= WINDOW)
		return read_file(b, offset, out, size);
	while (done < size) {
		w = load_window(b, (offset + done) / WINDOW);
		skip = (offset + done) % WINDOW;
		if (!w || w->length <= skip)
			break;
		n = w->length - skip < size - done ? w->length - skip : size - done;
		memcpy(out + done, w->at + skip, n);
		done += n;
	}
	return done;
}
