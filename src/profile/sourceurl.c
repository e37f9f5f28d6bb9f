/* sourceurl.c - see sourceurl.h. SPDX-License-Identifier: MIT */
#include "profile/sourceurl.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { MOST_PATH = 4096 };

static bool has_prefix(const char *text, size_t length, const char *prefix)
{
	return length >= strlen(prefix) && !strncasecmp(text, prefix, strlen(prefix));
}

/* "webpack:", "http:", "file:": how long, with the colon; 0: it has none. */
static size_t scheme_length(const char *url, size_t length)
{
	size_t n = 0;

	while (n < length && (isalnum((unsigned char)url[n]) || strchr("+-.", url[n])) && url[n])
		n++;
	return n > 1 && n < length && url[n] == ':' && isalpha((unsigned char)url[0]) ? n + 1 : 0;
}

static int hex(char c)
{
	return isdigit((unsigned char)c)  ? c - '0' :
	       isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 :
					    -1;
}

/* %20 and its like. A NUL among them would cut a path short: then it is none. */
static char *unescape(const char *text, size_t length)
{
	char *out = malloc(length + 1);
	size_t n = 0;

	for (size_t i = 0; out && i < length; i++) {
		int high = text[i] == '%' && i + 2 < length ? hex(text[i + 1]) : -1,
		    low = high >= 0 ? hex(text[i + 2]) : -1;

		out[n++] = low >= 0 ? (char)(high << 4 | low) : text[i];
		if (low >= 0)
			i += 2;
		if (!out[n - 1]) {
			free(out);
			return NULL;
		}
	}
	if (out)
		out[n] = '\0';
	return out;
}

/* ---- paths ---- */

/* Without "." and "..", as far as that goes. */
static char *normalize(const char *path)
{
	size_t length = strlen(path), n = 0;
	char *out = malloc(length + 2);
	bool absolute = path[0] == '/';

	if (!out)
		return NULL;
	if (absolute)
		out[n++] = '/';
	for (const char *at = path; *at;) {
		size_t part = strcspn(at, "/");
		bool is_up = part == 2 && !strncmp(at, "..", 2);
		size_t last = n;

		while (last > 0 && out[last - 1] != '/')
			last--;
		if (is_up && n > (size_t)absolute && strncmp(out + last, "..", n - last)) {
			n = last > 1 ? last - 1 : last;
		} else if (part && !(part == 1 && *at == '.') && !(is_up && absolute)) {
			if (n && out[n - 1] != '/')
				out[n++] = '/';
			memcpy(out + n, at, part);
			n += part;
		}
		at += part + (at[part] == '/');
	}
	out[n] = '\0';
	return out;
}

/* path, seen from the directory of the file at base. */
static char *join(const char *base, const char *path)
{
	const char *slash = base ? strrchr(base, '/') : NULL;
	ray_auto_text text = { 0 };

	if (path[0] != '/' && slash)
		ray_text_add_bytes(&text, base, (size_t)(slash + 1 - base));
	ray_text_add(&text, path);
	return text.failed || text.length > MOST_PATH ? NULL : normalize(ray_text_get(&text));
}

/* What follows file: is //host/path; the host is nobody, or this one. */
static char *file_url_path(const char *url, size_t length)
{
	const char *path = url + strlen("file:");
	size_t left = length - strlen("file:");

	if (left >= 2 && !strncmp(path, "//", 2)) {
		const char *slash = memchr(path + 2, '/', left - 2);

		if (!slash)
			return NULL;
		left -= (size_t)(slash - path);
		path = slash;
	}
	return left && path[0] == '/' ? unescape(path, left) : NULL;
}

char *ray_source_script_path(const char *name)
{
	size_t length = strlen(name);

	if (has_prefix(name, length, "file:"))
		return file_url_path(name, strcspn(name, "?#"));
	return name[0] == '/' && length <= MOST_PATH ? strdup(name) : NULL;
}

/* ---- the map of a script ---- */

static const char mark[] = "sourceMappingURL=";

/* The last one counts, and only in a comment of its own line. */
static bool is_comment(const char *script, const char *at)
{
	return at - script >= 4 && (at[-1] == ' ' || at[-1] == '\t') && (at[-2] == '#' || at[-2] == '@') &&
	       (!strncmp(at - 4, "//", 2) || !strncmp(at - 4, "/*", 2));
}

const char *ray_source_url_find(const char *script, size_t size, size_t *length_ret)
{
	const char *end = script + size, *url;
	size_t length = sizeof(mark) - 1;

	for (const char *at = size > length ? end - length : script; at > script; at--) {
		if (*at != 's' || memcmp(at, mark, length) || !is_comment(script, at))
			continue;
		url = at + length;
		*length_ret = 0;
		while (url + *length_ret < end && !isspace((unsigned char)url[*length_ret]) &&
		       url[*length_ret] != '*' && url[*length_ret] != '\'' && url[*length_ret] != '"' &&
		       url[*length_ret] != '`')
			++*length_ret;
		if (*length_ret)
			return url;
	}
	return NULL;
}

bool ray_source_url_is_data(const char *url, size_t length)
{
	return has_prefix(url, length, "data:");
}

static int base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static char *decode_base64(const char *text, size_t length, size_t *size_ret)
{
	char *out = malloc(length / 4 * 3 + 4);
	uint32_t bits = 0;
	size_t n = 0;
	int have = 0;

	for (size_t i = 0; out && i < length && text[i] != '='; i++) {
		int value = base64_value(text[i]);

		if (value < 0) {
			free(out);
			return NULL;
		}
		bits = bits << 6 | (uint32_t)value;
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[n++] = (char)(bits >> have);
		}
	}
	*size_ret = n;
	return out;
}

char *ray_source_url_data(const char *url, size_t length, size_t *size_ret)
{
	const char *comma = memchr(url, ',', length);
	static const char base64[] = ";base64";
	size_t head, left;
	char *text;

	if (!comma)
		return NULL;
	head = (size_t)(comma - url);
	left = length - head - 1;
	if (head >= sizeof(base64) - 1 && !strncasecmp(comma - (sizeof(base64) - 1), base64, sizeof(base64) - 1))
		return decode_base64(comma + 1, left, size_ret);
	text = unescape(comma + 1, left);
	*size_ret = text ? strlen(text) : 0;
	return text;
}

char *ray_source_url_path(const char *path, const char *url, size_t length)
{
	ray_auto_memory char *plain = NULL;
	size_t cut = 0;

	while (cut < length && url[cut] != '?' && url[cut] != '#')
		cut++;
	if (has_prefix(url, cut, "file:"))
		return file_url_path(url, cut);
	if (scheme_length(url, cut) || (cut >= 2 && !strncmp(url, "//", 2)))
		return NULL;
	plain = unescape(url, cut);
	return plain && *plain ? join(path, plain) : NULL;
}

/* ---- sources ---- */

/* webpack://pkg/./src/x.ts, webpack:///./src/x.ts, ng://app/x.ts: what follows the name of whose it is. */
static const char *skip_authority(const char *url, size_t scheme)
{
	const char *rest = url + scheme, *slash;

	if (strncmp(rest, "//", 2))
		return rest;
	slash = strchr(rest + 2, '/');
	return slash ? slash + 1 : rest + 2;
}

/* "src/x.ts?1a2b": bundlers tell parts of a source apart. A real query would stand behind an end that a name has not. */
static void cut_query(char *name)
{
	char *query = strrchr(name, '?');

	if (query && query > name)
		*query = '\0';
}

char *ray_source_name(const char *map_path, const char *root, const char *source)
{
	ray_auto_text whole = { 0 };
	ray_auto_memory char *plain = NULL;
	const char *text;
	size_t scheme;

	if (root[0] && source[0] != '/' && !scheme_length(source, strlen(source))) {
		ray_text_add(&whole, root);
		if (root[strlen(root) - 1] != '/')
			ray_text_add(&whole, "/");
	}
	ray_text_add(&whole, source);
	text = ray_text_get(&whole);
	if (whole.failed || whole.length > MOST_PATH || !*text)
		return NULL;
	if (has_prefix(text, whole.length, "file:"))
		return file_url_path(text, strcspn(text, "?#"));
	scheme = scheme_length(text, whole.length);
	plain = strdup(scheme ? skip_authority(text, scheme) : text);
	if (!plain)
		return NULL;
	if (!scheme)
		return join(map_path, plain);
	if (has_prefix(text, whole.length, "http")) /* a page's sources: all of the URL is its name */
		return strdup(text);
	cut_query(plain);
	return normalize(plain);
}
