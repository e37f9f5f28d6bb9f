/* unpack.c - see unpack.h. SPDX-License-Identifier: MIT
 *
 * One step function per library, all of the same shape: they move bytes from `in` to `out` and say
 * whether a frame has ended, so that files of several frames (as pigz, pzstd and cat make them) work. */
#include "target/unpack.h"

#include <errno.h>
#include <lz4frame.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum {
	INPUT = 1 << 17,
	XZ_MEMORY = 128 << 20, /* xz -9 takes 65 MiB */
};

enum step { STEP_ON, STEP_FRAME_END, STEP_BAD };

struct ray_unpacker {
	int fd;
	enum ray_packing packing;
	enum step (*step)(struct ray_unpacker *u, unsigned char *out, size_t size, size_t *made);
	ZSTD_DStream *zstd;
	LZ4F_dctx *lz4;
	z_stream gzip;
	lzma_stream xz;
	bool has_gzip, has_xz;
	bool in_frame;
	bool ended;
	uint64_t consumed;
	size_t at, filled; /* of input */
	char trouble[160];
	unsigned char input[INPUT];
};

static const struct {
	enum ray_packing packing;
	const char *name;
	unsigned char magic[RAY_PACKING_MAGIC];
	size_t length;
} packings[] = {
	{ RAY_PACKED_ZSTD, "zstd", { 0x28, 0xb5, 0x2f, 0xfd }, 4 },
	{ RAY_PACKED_LZ4, "lz4", { 0x04, 0x22, 0x4d, 0x18 }, 4 },
	{ RAY_PACKED_GZIP, "gzip", { 0x1f, 0x8b, 0x08 }, 3 },
	{ RAY_PACKED_XZ, "xz", { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6 },
	{ RAY_PACKED_BZIP2, "bzip2", { 'B', 'Z', 'h' }, 3 },
	{ RAY_PACKED_LZ4_LEGACY, "lz4 (legacy format)", { 0x02, 0x21, 0x4c, 0x18 }, 4 },
};

enum ray_packing ray_packing_of(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < RAY_COUNT(packings); i++) {
		if (size >= packings[i].length && !memcmp(bytes, packings[i].magic, packings[i].length))
			return packings[i].packing;
	}
	/* pzstd begins with a skippable frame: 0x184d2a50 to 5f, little-endian. */
	if (size >= 4 && (bytes[0] & 0xf0) == 0x50 && bytes[1] == 0x2a && bytes[2] == 0x4d && bytes[3] == 0x18)
		return RAY_PACKED_ZSTD;
	return RAY_PACKED_NOT;
}

const char *ray_packing_name(enum ray_packing packing)
{
	for (size_t i = 0; i < RAY_COUNT(packings); i++) {
		if (packings[i].packing == packing)
			return packings[i].name;
	}
	return "plain";
}

static void say(struct ray_unpacker *u, const char *what)
{
	snprintf(u->trouble, sizeof(u->trouble), "%s", what);
}

static enum step step_zstd(struct ray_unpacker *u, unsigned char *out, size_t size, size_t *made)
{
	ZSTD_inBuffer in = { u->input + u->at, u->filled - u->at, 0 };
	ZSTD_outBuffer to = { out, size, 0 };
	size_t rc = ZSTD_decompressStream(u->zstd, &to, &in);

	u->at += in.pos;
	*made = to.pos;
	if (!ZSTD_isError(rc))
		return rc ? STEP_ON : STEP_FRAME_END;
	say(u, ZSTD_getErrorName(rc));
	return STEP_BAD;
}

static enum step step_lz4(struct ray_unpacker *u, unsigned char *out, size_t size, size_t *made)
{
	size_t taken = u->filled - u->at, rc;

	*made = size;
	rc = LZ4F_decompress(u->lz4, out, made, u->input + u->at, &taken, NULL);
	if (LZ4F_isError(rc)) {
		*made = 0;
		say(u, LZ4F_getErrorName(rc));
		return STEP_BAD;
	}
	u->at += taken;
	return rc ? STEP_ON : STEP_FRAME_END;
}

static enum step step_gzip(struct ray_unpacker *u, unsigned char *out, size_t size, size_t *made)
{
	int rc;

	u->gzip.next_in = u->input + u->at;
	u->gzip.avail_in = (uInt)(u->filled - u->at);
	u->gzip.next_out = out;
	u->gzip.avail_out = (uInt)size;
	rc = inflate(&u->gzip, Z_NO_FLUSH);
	u->at = u->filled - u->gzip.avail_in;
	*made = size - u->gzip.avail_out;
	if (rc == Z_STREAM_END)
		return inflateReset(&u->gzip) == Z_OK ? STEP_FRAME_END : STEP_BAD;
	if (rc == Z_OK || rc == Z_BUF_ERROR)
		return STEP_ON;
	say(u, u->gzip.msg ? u->gzip.msg : "cannot be unpacked");
	return STEP_BAD;
}

/* liblzma goes on to the next stream by itself and ends only when it is told that there is no more. */
static enum step step_xz(struct ray_unpacker *u, unsigned char *out, size_t size, size_t *made)
{
	bool at_end = u->at == u->filled;
	lzma_ret rc;

	u->xz.next_in = u->input + u->at;
	u->xz.avail_in = u->filled - u->at;
	u->xz.next_out = out;
	u->xz.avail_out = size;
	rc = lzma_code(&u->xz, at_end ? LZMA_FINISH : LZMA_RUN);
	u->at = u->filled - u->xz.avail_in;
	*made = size - u->xz.avail_out;
	if (rc == LZMA_OK || rc == LZMA_BUF_ERROR)
		return STEP_ON;
	if (rc == LZMA_STREAM_END) {
		u->ended = true;
		return STEP_FRAME_END;
	}
	say(u, rc == LZMA_MEMLIMIT_ERROR ? "it needs too much memory" : "the data is corrupt");
	return STEP_BAD;
}

static bool fill(struct ray_unpacker *u)
{
	ssize_t n;

	if (u->at < u->filled)
		return true;
	u->at = u->filled = 0;
	do
		n = pread(u->fd, u->input, INPUT, (off_t)u->consumed);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		say(u, strerror(errno));
	if (n <= 0)
		return false;
	u->filled = (size_t)n;
	u->consumed += (size_t)n;
	return true;
}

static struct ray_error *start(struct ray_unpacker *u)
{
	switch (u->packing) {
	case RAY_PACKED_ZSTD:
		u->zstd = ZSTD_createDStream();
		u->step = step_zstd;
		return u->zstd ? NULL : &ray_enomem;
	case RAY_PACKED_LZ4:
		u->step = step_lz4;
		return LZ4F_isError(LZ4F_createDecompressionContext(&u->lz4, LZ4F_VERSION)) ? &ray_enomem : NULL;
	case RAY_PACKED_GZIP:
		u->step = step_gzip;
		u->has_gzip = inflateInit2(&u->gzip, 15 + 16) == Z_OK; /* 16: a gzip header is expected */
		return u->has_gzip ? NULL : &ray_enomem;
	case RAY_PACKED_XZ:
		u->step = step_xz;
		u->has_xz = lzma_stream_decoder(&u->xz, XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
		return u->has_xz ? NULL : &ray_enomem;
	default:
		return ray_error_new(RAY_UNREADABLE, "noderay cannot unpack %s", ray_packing_name(u->packing));
	}
}

struct ray_error *ray_unpacker_create(int fd, enum ray_packing packing, struct ray_unpacker **ret)
{
	ray_auto(ray_unpacker, u) = calloc(1, sizeof(*u));
	struct ray_error *err;

	if (!u)
		return &ray_enomem;
	u->fd = fd;
	u->packing = packing;
	err = start(u);
	if (err)
		return err;
	*ret = ray_take(u);
	return NULL;
}

void ray_unpacker_free(struct ray_unpacker *u)
{
	if (!u)
		return;
	ZSTD_freeDStream(u->zstd);
	LZ4F_freeDecompressionContext(u->lz4);
	if (u->has_gzip)
		inflateEnd(&u->gzip);
	if (u->has_xz)
		lzma_end(&u->xz);
	free(u);
}

/* False when the stream is at its end, for whatever reason. The libraries may hold output back when
 * the input is used up, so a step is taken with no input too. */
static bool step(struct ray_unpacker *u, unsigned char *out, size_t size, size_t *made)
{
	bool has_input = fill(u);
	size_t before = u->at;
	enum step s;

	*made = 0;
	if (!has_input && !u->in_frame)
		return false;
	s = u->step(u, out, size, made);
	u->in_frame = s == STEP_ON;
	if (s == STEP_BAD)
		return false;
	if (*made || u->at != before || s == STEP_FRAME_END)
		return true;
	if (!u->trouble[0])
		say(u, "it ends early");
	return false;
}

size_t ray_unpacker_read(struct ray_unpacker *u, void *buffer, size_t size)
{
	unsigned char *out = buffer;
	size_t done = 0, made;

	while (done < size && !u->ended) {
		if (!step(u, out + done, size - done, &made))
			u->ended = true;
		done += made;
	}
	return done;
}

const char *ray_unpacker_trouble(const struct ray_unpacker *u)
{
	return u->trouble[0] ? u->trouble : NULL;
}

uint64_t ray_unpacker_consumed(const struct ray_unpacker *u)
{
	return u->consumed - (u->filled - u->at);
}
