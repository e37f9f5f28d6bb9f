/* text.c - see text.h. SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

void ray_text_deinit(struct ray_text *t)
{
	free(t->bytes);
	memset(t, 0, sizeof(*t));
}

void ray_text_clear(struct ray_text *t)
{
	t->length = 0;
	if (t->bytes)
		t->bytes[0] = '\0';
}

static bool reserve(struct ray_text *t, size_t more)
{
	size_t want = t->cap ? t->cap : 64;
	char *grown;

	if (t->length + more + 1 <= t->cap)
		return true;
	while (want < t->length + more + 1)
		want *= 2;
	grown = realloc(t->bytes, want);
	if (!grown) {
		t->failed = 1;
		return false;
	}
	t->bytes = grown;
	t->cap = want;
	return true;
}

void ray_text_add_bytes(struct ray_text *t, const void *bytes, size_t length)
{
	if (!reserve(t, length))
		return;
	if (length)
		memcpy(t->bytes + t->length, bytes, length);
	t->length += length;
	t->bytes[t->length] = '\0';
}

void ray_text_add(struct ray_text *t, const char *text)
{
	ray_text_add_bytes(t, text, strlen(text));
}

void ray_text_printf(struct ray_text *t, const char *fmt, ...)
{
	va_list args, again;
	int n;

	va_start(args, fmt);
	va_copy(again, args);
	/* Most of it fits into what is there: written once, not measured first. */
	n = vsnprintf(t->cap ? t->bytes + t->length : NULL, t->cap - t->length, fmt, args);
	if (n >= 0 && (size_t)n < t->cap - t->length) {
		t->length += (size_t)n;
	} else if (n >= 0 && reserve(t, (size_t)n)) {
		vsnprintf(t->bytes + t->length, (size_t)n + 1, fmt, again);
		t->length += (size_t)n;
	} else if (t->cap) {
		t->bytes[t->length] = '\0'; /* what the first try left behind */
	}
	va_end(again);
	va_end(args);
}

void ray_text_pad(struct ray_text *t, size_t count)
{
	if (!reserve(t, count))
		return;
	memset(t->bytes + t->length, ' ', count);
	t->length += count;
	t->bytes[t->length] = '\0';
}

void ray_text_add_unsigned(struct ray_text *t, uint64_t n, size_t digits)
{
	char text[32], *end = text + sizeof(text), *at = end;

	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	while ((size_t)(end - at) < digits && at > text)
		*--at = '0';
	ray_text_add_bytes(t, at, (size_t)(end - at));
}

void ray_text_add_signed(struct ray_text *t, int64_t n)
{
	if (n < 0)
		ray_text_add_bytes(t, "-", 1);
	ray_text_add_unsigned(t, n < 0 ? -(uint64_t)n : (uint64_t)n, 1);
}

void ray_text_add_codepoint(struct ray_text *t, uint32_t c)
{
	char b[4];

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		b[0] = (char)c;
		ray_text_add_bytes(t, b, 1);
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 63));
		ray_text_add_bytes(t, b, 2);
	} else if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 63));
		b[2] = (char)(0x80 | (c & 63));
		ray_text_add_bytes(t, b, 3);
	} else {
		b[0] = (char)(0xf0 | c >> 18);
		b[1] = (char)(0x80 | (c >> 12 & 63));
		b[2] = (char)(0x80 | (c >> 6 & 63));
		b[3] = (char)(0x80 | (c & 63));
		ray_text_add_bytes(t, b, 4);
	}
}

/* How many of the next bytes are letters and signs of ASCII: one column each, and nothing in them to escape. */
static size_t plain_run(const unsigned char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] >= 0x20 && p[i] < 0x7f)
		i++;
	return i;
}

/* Decodes one UTF-8 sequence; returns its length, or 0 when it is broken. */
static size_t utf8_decode(const unsigned char *p, size_t n, uint32_t *ret)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t need = p[0] < 0x80 ? 1 : p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	uint32_t c;
	size_t i;

	if (need == 1) {
		*ret = p[0];
		return 1;
	}
	if (p[0] < 0xc2 || p[0] > 0xf4 || n < need)
		return 0;
	c = p[0] & (0x7fu >> need);
	for (i = 1; i < need; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 63);
	}
	if (c < least[need] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*ret = c;
	return need;
}

static void add_control(struct ray_text *t, uint32_t c)
{
	switch (c) {
	case '\n':
		ray_text_add(t, "\\n");
		break;
	case '\t':
		ray_text_add(t, "\\t");
		break;
	case '\r':
		ray_text_add(t, "\\r");
		break;
	default:
		ray_text_printf(t, "\\x%02x", c);
	}
}

void ray_text_add_safe(struct ray_text *t, const void *bytes, size_t length)
{
	const unsigned char *p = bytes;
	size_t i = 0, n;
	uint32_t c;

	while (i < length) {
		n = plain_run(p + i, length - i);
		if (n) {
			ray_text_add_bytes(t, p + i, n);
			i += n;
			continue;
		}
		n = utf8_decode(p + i, length - i, &c);
		if (!n) {
			ray_text_add_codepoint(t, 0xfffd);
			i++;
			continue;
		}
		if (c < 0x20 || (c >= 0x7f && c < 0xa0))
			add_control(t, c);
		else
			ray_text_add_bytes(t, p + i, n);
		i += n;
	}
}

void ray_text_add_safe_lines(struct ray_text *t, const char *text)
{
	size_t n;

	for (; *text; text += n) {
		n = strcspn(text, "\n\t");
		ray_text_add_safe(t, text, n);
		if (!text[n])
			return;
		ray_text_add_bytes(t, text + n, 1);
		n++;
	}
}

const char *ray_text_get(const struct ray_text *t)
{
	return t->bytes ? t->bytes : "";
}

size_t ray_text_width(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = strlen(text), i = 0, width = 0, used;
	uint32_t c;
	int w;

	while (i < n) {
		used = plain_run(p + i, n - i);
		if (used) {
			width += used;
			i += used;
			continue;
		}
		used = utf8_decode(p + i, n - i, &c);
		if (!used) {
			used = 1;
			c = '?';
		}
		w = wcwidth((wchar_t)c);
		width += w > 0 ? (size_t)w : w < 0;
		i += used;
	}
	return width;
}

const char *ray_format_size(uint64_t bytes, char out[8])
{
	static const char units[] = "KMGTPE";
	double v = (double)bytes;
	int u = -1;

	while (v >= 999.5 && u < 5) {
		v /= 1024;
		u++;
	}
	if (u < 0)
		snprintf(out, 8, "%u", (unsigned)bytes);
	else if (v < 9.95)
		snprintf(out, 8, "%.1f%c", v, units[u]);
	else
		snprintf(out, 8, "%.0f%c", v, units[u]);
	return out;
}

const char *ray_format_age(uint64_t s, char out[16])
{
	if (s >= 86400)
		snprintf(out, 16, "%ud%02uh", (unsigned)(s / 86400), (unsigned)(s / 3600 % 24));
	else if (s >= 3600)
		snprintf(out, 16, "%uh%02um", (unsigned)(s / 3600), (unsigned)(s / 60 % 60));
	else if (s >= 60)
		snprintf(out, 16, "%um%02us", (unsigned)(s / 60), (unsigned)(s % 60));
	else
		snprintf(out, 16, "%us", (unsigned)s);
	return out;
}
