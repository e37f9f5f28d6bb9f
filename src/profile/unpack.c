/* unpack.c - reads what pack.h describes, and trusts none of it. SPDX-License-Identifier: MIT
 *
 * Every number that counts something is held against the bytes that are left, so that a damaged file can ask for no more memory than it has bytes. What
 * the file numbers is numbered anew here: two functions that are the same become one. */
#include <string.h>
#include <zlib.h>

#include "base/base64.h"
#include "profile/pack.h"

enum { UNPACKED_MAX = 1 << 30 };

struct unpack {
	const uint8_t *at, *end;
	const char *wrong; /* the first thing that was; everything after it reads 0 */
	struct ray_profile *p;
	RAY_VEC(const char *) texts;
	RAY_VEC(enum ray_profile_kind) kinds;
	RAY_VEC(uint32_t) functions, frames, nodes; /* of the file, as numbers here */
};

static uint64_t complain(struct unpack *u, const char *what)
{
	if (!u->wrong)
		u->wrong = what;
	u->at = u->end;
	return 0;
}

static uint64_t get(struct unpack *u)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && u->at < u->end; shift += 7) {
		uint8_t byte = *u->at++;

		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
	return complain(u, "it ends too early");
}

static int64_t get_signed(struct unpack *u)
{
	uint64_t value = get(u);

	return (int64_t)(value >> 1 ^ -(value & 1));
}

/* How many of something of so many columns follow: each number takes at least a byte. */
static size_t get_count(struct unpack *u, size_t columns)
{
	uint64_t count = get(u);

	if (count > (size_t)(u->end - u->at) / columns)
		return (size_t)complain(u, "it says that it holds more than it does");
	return (size_t)count;
}

static size_t get_index(struct unpack *u, size_t count, const char *what)
{
	uint64_t value = get(u);

	return value < count ? (size_t)value : (size_t)complain(u, what);
}

static const char *get_text(struct unpack *u)
{
	size_t index = get_index(u, u->texts.n, "a text that is not there");

	return u->wrong ? "" : u->texts.at[index];
}

static int get_position(struct unpack *u)
{
	return (int)get_index(u, INT32_MAX, "a line past all lines");
}

/* ---- parts ---- */

static void get_texts(struct unpack *u)
{
	size_t count = get_count(u, 1);
	ray_auto_text safe = { 0 };
	RAY_VEC(size_t) lengths = { 0 };

	for (size_t i = 0; i < count && !u->wrong; i++)
		if (!ray_vec_push(&lengths, (size_t)get(u)))
			u->p->failed = true;
	for (size_t i = 0; i < lengths.n && !u->wrong; i++) {
		if (lengths.at[i] > (size_t)(u->end - u->at)) {
			complain(u, "a text is cut");
			break;
		}
		ray_text_clear(&safe);
		ray_text_add_safe(&safe, u->at, lengths.at[i]);
		u->at += lengths.at[i];
		if (safe.failed || !ray_vec_push(&u->texts, ray_profile_text(u->p, ray_text_get(&safe))))
			u->p->failed = true;
	}
	ray_vec_free(&lengths);
}

static void get_kinds(struct unpack *u)
{
	size_t count = get_count(u, 1);

	for (size_t i = 0; i < count && !u->wrong; i++) {
		enum ray_profile_kind kind = RAY_KIND_UNKNOWN;

		ray_profile_kind_parse(get_text(u), &kind);
		if (!ray_vec_push(&u->kinds, kind))
			u->p->failed = true;
	}
}

static void get_head_value(struct unpack *u, size_t which)
{
	struct ray_profile *p = u->p;
	const char **const texts[] = {
		[RAY_PACK_TITLE] = &p->title,
		[RAY_PACK_EVENT] = &p->event,
		[RAY_PACK_COMMAND] = &p->command,
		[RAY_PACK_HOST] = &p->host,
		[RAY_PACK_NODE_VERSION] = &p->node_version,
		[RAY_PACK_BEFORE_TITLE] = &p->before_title,
	};
	uint64_t *const numbers[] = {
		[RAY_PACK_START] = &p->start_ns,   [RAY_PACK_DURATION] = &p->duration_ns,
		[RAY_PACK_PERIOD] = &p->period_ns, [RAY_PACK_LOST] = &p->lost_samples,
		[RAY_PACK_CUT] = &p->cut_stacks,   [RAY_PACK_UNNAMED] = &p->unnamed_frames,
	};

	if (which < RAY_COUNT(texts))
		*texts[which] = get_text(u);
	else if (which == RAY_PACK_UNIT)
		p->unit = (enum ray_profile_unit)get_index(u, RAY_UNIT_COUNT + 1, "a unit that is not known");
	else if (which == RAY_PACK_HAS_TIMES)
		p->has_times = get(u);
	else if (which == RAY_PACK_BEFORE_THREADS)
		p->before_threads = (uint32_t)get_index(u, UINT32_MAX, "too many threads");
	else if (which < RAY_COUNT(numbers) && numbers[which])
		*numbers[which] = get(u);
	else
		get(u);
}

static void get_head(struct unpack *u)
{
	size_t count = get_count(u, 1);

	for (size_t i = 0; i < count && !u->wrong; i++)
		get_head_value(u, i);
}

/* Rows are needed whole, but stand in columns: each column is read into an array of rows first. */
#define COLUMN(rows, count, field, value)                 \
	for (size_t i = 0; i < (count) && !u->wrong; i++) \
		(rows)[i].field = (value);

static void *rows_of(struct unpack *u, size_t count, size_t size)
{
	void *rows = calloc(count + 1, size);

	if (!rows) {
		u->p->failed = true;
		complain(u, "no memory");
	}
	return rows;
}

static void get_functions(struct unpack *u)
{
	size_t count = get_count(u, 6);
	ray_auto_memory struct ray_profile_function *rows = rows_of(u, count, sizeof(*rows));

	COLUMN(rows, count, kind, (enum ray_profile_kind)get_index(u, u->kinds.n, "a kind that is not there"))
	COLUMN(rows, count, name, get_text(u))
	COLUMN(rows, count, file, get_text(u))
	COLUMN(rows, count, line, get_position(u))
	COLUMN(rows, count, column, get_position(u))
	COLUMN(rows, count, package, get_text(u))
	for (size_t i = 0; i < count && !u->wrong; i++) {
		rows[i].kind = u->kinds.at[rows[i].kind];
		if (!ray_vec_push(&u->functions, ray_profile_function(u->p, &rows[i])))
			u->p->failed = true;
	}
}

static uint64_t get_difference(struct unpack *u, uint64_t *last)
{
	*last += (uint64_t)get_signed(u);
	return *last;
}

static void get_frames(struct unpack *u)
{
	size_t count = get_count(u, 4);
	ray_auto_memory struct ray_profile_frame *rows = rows_of(u, count, sizeof(*rows));
	uint64_t last = 0;

	for (size_t i = 0; i < count && !u->wrong; i++) {
		if (!get_difference(u, &last) || last > u->functions.n)
			complain(u, "a frame of no function");
		else
			rows[i].function = u->functions.at[last - 1];
	}
	COLUMN(rows, count, line, get_position(u))
	COLUMN(rows, count, column, get_position(u))
	COLUMN(rows, count, is_inlined, get(u))
	for (size_t i = 0; i < count && !u->wrong; i++)
		if (!ray_vec_push(&u->frames, ray_profile_frame(u->p, &rows[i])))
			u->p->failed = true;
}

static void get_nodes(struct unpack *u)
{
	size_t count = get_count(u, 2);
	ray_auto_memory struct ray_profile_node *rows = rows_of(u, count, sizeof(*rows));

	for (size_t i = 0; i < count && !u->wrong; i++) {
		uint64_t back = get(u);

		if (!back || back > i + 1)
			complain(u, "a call from nowhere");
		else
			rows[i].parent = (uint32_t)(i + 1 - back);
	}
	COLUMN(rows, count, frame, (uint32_t)get_index(u, u->frames.n + 1, "a call of no frame"))
	for (size_t i = 0; i < count && !u->wrong; i++) {
		uint32_t parent = rows[i].parent ? u->nodes.at[rows[i].parent - 1] : 0;

		if (!rows[i].frame)
			complain(u, "a call of no frame");
		else if (!ray_vec_push(&u->nodes, ray_profile_node(u->p, parent, u->frames.at[rows[i].frame - 1])))
			u->p->failed = true;
	}
}

/* Not by pid and tid: a difference has the threads of two profiles. */
static void get_threads(struct unpack *u)
{
	size_t count = get_count(u, 4);
	ray_auto_memory struct ray_profile_thread *rows = rows_of(u, count, sizeof(*rows));

	COLUMN(rows, count, pid, (uint32_t)get(u))
	COLUMN(rows, count, tid, (uint32_t)get(u))
	COLUMN(rows, count, name, get_text(u))
	COLUMN(rows, count, process, get_text(u))
	for (size_t i = 0; i < count && !u->wrong; i++)
		if (!ray_vec_push(&u->p->threads, rows[i]))
			u->p->failed = true;
	if (u->p->before_threads > count)
		complain(u, "more threads before than there are");
}

static void get_samples(struct unpack *u)
{
	size_t count = get_count(u, 5);
	ray_auto_memory struct ray_profile_sample *rows = rows_of(u, count, sizeof(*rows));
	uint64_t last = 0;

	COLUMN(rows, count, time_ns, get_difference(u, &last))
	last = 0;
	for (size_t i = 0; i < count && !u->wrong; i++) {
		if (get_difference(u, &last) > u->nodes.n)
			complain(u, "a sample of no stack");
		else
			rows[i].node = last ? u->nodes.at[last - 1] : 0;
	}
	COLUMN(rows, count, thread, (uint32_t)get_index(u, u->p->threads.n, "a sample of no thread"))
	COLUMN(rows, count, weight, get_signed(u))
	COLUMN(rows, count, count, (uint32_t)get(u))
	for (size_t i = 0; i < count && !u->wrong; i++)
		ray_profile_add(u->p, &rows[i]);
}

/* ---- all of it ---- */

static void get_all(struct unpack *u)
{
	get_texts(u);
	get_kinds(u);
	get_head(u);
	get_functions(u);
	get_frames(u);
	get_nodes(u);
	get_threads(u);
	get_samples(u);
	if (!u->wrong && u->at != u->end)
		complain(u, "something follows its end");
}

static struct ray_error *parse(const struct ray_text *plain, struct ray_profile **ret)
{
	const size_t magic = sizeof(RAY_PACK_MAGIC) - 1;
	ray_auto(ray_profile, p) = ray_profile_create();
	struct unpack u = { .p = p };

	if (!p)
		return &ray_enomem;
	if (plain->length < magic || memcmp(plain->bytes, RAY_PACK_MAGIC, magic))
		return ray_error_new(RAY_UNREADABLE, "the profile inside is of another version of noderay");
	u.at = (const uint8_t *)plain->bytes + magic;
	u.end = (const uint8_t *)plain->bytes + plain->length;
	get_all(&u);
	ray_vec_free(&u.texts);
	ray_vec_free(&u.kinds);
	ray_vec_free(&u.functions);
	ray_vec_free(&u.frames);
	ray_vec_free(&u.nodes);
	if (p->failed)
		return &ray_enomem;
	if (u.wrong)
		return ray_error_new(RAY_UNREADABLE, "the profile inside is damaged: %s", u.wrong);
	*ret = ray_take(p);
	return NULL;
}

/* Its size is not known before: what came out so far grows until the end or the limit. */
static struct ray_error *inflate_all(const struct ray_text *packed, struct ray_text *plain)
{
	z_stream z = { .next_in = (Bytef *)packed->bytes, .avail_in = (uInt)packed->length };
	uint8_t piece[1 << 14];
	int status = inflateInit(&z);

	while (status == Z_OK && plain->length < UNPACKED_MAX) {
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		status = inflate(&z, Z_NO_FLUSH);
		ray_text_add_bytes(plain, piece, sizeof(piece) - z.avail_out);
	}
	inflateEnd(&z);
	if (status == Z_STREAM_END)
		return plain->failed ? &ray_enomem : NULL;
	if (plain->length >= UNPACKED_MAX)
		return ray_error_new(RAY_UNREADABLE, "the profile inside unpacks to more than 1 GiB");
	return ray_error_new(RAY_UNREADABLE, "the profile inside is damaged: it does not unpack");
}

struct ray_error *ray_profile_unpack(const char *text, size_t size, struct ray_profile **ret)
{
	ray_auto_text packed = { 0 }, plain = { 0 };
	struct ray_error *err;

	if (!ray_base64_decode(&packed, text, size) || packed.length > UNPACKED_MAX)
		return ray_error_new(RAY_UNREADABLE, "the profile inside is damaged: it is cut, or no base64");
	err = inflate_all(&packed, &plain);
	return err ? err : parse(&plain, ret);
}
