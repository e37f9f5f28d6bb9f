/* reading.c - see reading.h. SPDX-License-Identifier: MIT */
#include "profile/reading.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/kind.h"

static bool is_plain(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)bytes[i] < 0x20 || (unsigned char)bytes[i] >= 0x7f)
			return false;
	return true;
}

const char *ray_reading_text(struct ray_profile *p, const char *bytes, size_t length)
{
	ray_auto_text safe = { 0 };

	if (is_plain(bytes, length))
		return ray_profile_text_n(p, bytes, length);
	ray_text_add_safe(&safe, bytes, length);
	if (safe.failed)
		p->failed = true;
	return ray_profile_text_n(p, ray_text_get(&safe), safe.length);
}

/* ---- what a function is ---- */

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t n = strlen(end);

	return n <= length && !memcmp(text + length - n, end, n);
}

bool ray_reading_is_script(const char *file)
{
	static const char *const starts[] = { "node:",	  "internal/",	 "file:",    "http:",	 "https:",
					      "webpack:", "vm:",	 "data:",    "wasm:",	 "evalmachine.",
					      "[eval",	  "<anonymous>", "ext:core", "electron/" };
	static const char *const ends[] = { ".js",  ".mjs", ".cjs", ".ts",     ".mts", ".cts",
					    ".jsx", ".tsx", ".vue", ".svelte", ".wasm" };
	size_t length = strcspn(file, "?#");

	for (size_t i = 0; i < RAY_COUNT(starts); i++)
		if (!strncmp(file, starts[i], strlen(starts[i])))
			return true;
	for (size_t i = 0; i < RAY_COUNT(ends); i++)
		if (ends_with(file, length, ends[i]))
			return true;
	return false;
}

/* V8's own names for what is no function, and perf's for what it could not name. */
static bool known_name(const char *name, enum ray_profile_kind *ret)
{
	static const struct {
		const char *name;
		enum ray_profile_kind kind;
	} rows[] = {
		{ "(idle)", RAY_KIND_IDLE },	   { "(garbage collector)", RAY_KIND_GC },
		{ "(program)", RAY_KIND_NATIVE },  { "(root)", RAY_KIND_NATIVE },
		{ "[unknown]", RAY_KIND_UNKNOWN }, { "(unresolved function)", RAY_KIND_UNKNOWN },
		{ "(unknown)", RAY_KIND_UNKNOWN },
	};

	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		if (!strcmp(rows[i].name, name)) {
			*ret = rows[i].kind;
			return true;
		}
	}
	return false;
}

static bool is_address(const char *name)
{
	return name[0] == '0' && name[1] == 'x' && isxdigit((unsigned char)name[2]) &&
	       !name[2 + strspn(name + 2, "0123456789abcdefABCDEF")];
}

static enum ray_profile_kind guess(const struct ray_reading_function *f, const char **package_ret, size_t *length_ret)
{
	enum ray_profile_kind kind;

	*package_ret = NULL;
	*length_ret = 0;
	if (!*f->file && known_name(f->name, &kind))
		return kind;
	if (ray_reading_is_script(f->file))
		return ray_kind_of_script(f->file, package_ret, length_ret);
	if (!strncmp(f->file, "[kernel", strlen("[kernel")))
		return RAY_KIND_KERNEL;
	return is_address(f->name) ? RAY_KIND_UNKNOWN : ray_kind_of_native(f->name);
}

uint32_t ray_reading_function(struct ray_profile *p, const struct ray_reading_function *f)
{
	struct ray_profile_function own = { .name = f->name, .file = f->file, .line = f->line, .column = f->column };
	const char *package;
	size_t length;

	if (!f->kind || !ray_profile_kind_parse(f->kind, &own.kind))
		own.kind = guess(f, &package, &length);
	else if (own.kind == RAY_KIND_PACKAGE)
		ray_kind_of_script(f->file, &package, &length);
	else
		package = NULL;
	if (own.kind == RAY_KIND_PACKAGE && package)
		own.package = ray_profile_text_n(p, package, length);
	return ray_profile_function(p, &own);
}

uint32_t ray_reading_node(struct ray_profile *p, uint32_t parent, uint32_t function, int line, int column)
{
	struct ray_profile_frame frame = { .function = function, .line = line, .column = column };

	return ray_profile_node(p, parent, ray_profile_frame(p, &frame));
}

bool ray_reading_is_json(const char *bytes, size_t size, const char *key, bool is_array)
{
	size_t at = size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;

	while (at < size && isspace((unsigned char)bytes[at]))
		at++;
	if (at == size || (bytes[at] != '{' && (!is_array || bytes[at] != '[')))
		return false;
	return memmem(bytes + at, size - at, key, strlen(key)) != NULL;
}

/* ---- numbers ---- */

int64_t ray_reading_weight(double value)
{
	/* So large that no profile comes near, and so small that a billion of them do not overflow a sum. */
	const double bound = 9e15;

	if (!(value > -bound))
		return value == value ? -(int64_t)bound : 0;
	return value < bound ? (int64_t)(value < 0 ? value - 0.5 : value + 0.5) : (int64_t)bound;
}

uint64_t ray_reading_time(double ns)
{
	return ns > 0 ? ns < 9e18 ? (uint64_t)(ns + 0.5) : (uint64_t)9e18 : 0;
}

int ray_reading_line(double value)
{
	return value >= 1 && value < INT_MAX ? (int)value : 0;
}

/* ---- order ---- */

static int by_time(const void *a, const void *b)
{
	const struct ray_profile_sample *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

void ray_reading_order(struct ray_profile *p)
{
	bool sorted = true;

	for (size_t i = 1; sorted && i < p->samples.n; i++)
		sorted = p->samples.at[i - 1].time_ns <= p->samples.at[i].time_ns;
	if (!sorted)
		qsort(p->samples.at, p->samples.n, sizeof(*p->samples.at), by_time);
	if (!p->duration_ns && p->samples.n)
		p->duration_ns = p->samples.at[p->samples.n - 1].time_ns;
}
