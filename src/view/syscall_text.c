/* syscall_text.c - strings, names and addresses of sockets in system calls, as text. See syscall.h. SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "probe/syscall_names.h"
#include "view/syscall.h"

/* ---- strings and names ---- */

static void quote_byte(unsigned char b, bool next_is_digit, struct ray_text *out)
{
	static const char plain[] = "\t\n\v\f\r", letters[] = "tnvfr";
	const char *at = b ? strchr(plain, b) : NULL;

	if (at)
		ray_text_add_bytes(out, (char[]){ '\\', letters[at - plain] }, 2);
	else if (b == '"' || b == '\\')
		ray_text_add_bytes(out, (char[]){ '\\', (char)b }, 2);
	else
		ray_text_printf(out, next_is_digit ? "\\%03o" : "\\%o", b);
}

/* How many of the next bytes stand for themselves. */
static size_t plain_run(const unsigned char *b, size_t size)
{
	size_t n = 0;

	while (n < size && b[n] >= ' ' && b[n] < 0x7f && b[n] != '"' && b[n] != '\\')
		n++;
	return n;
}

void ray_call_quote(const void *bytes, size_t size, bool is_cut, struct ray_text *out)
{
	const unsigned char *b = bytes;

	ray_text_add(out, "\"");
	for (size_t i = 0; i < size;) {
		size_t n = plain_run(b + i, size - i);

		ray_text_add_bytes(out, b + i, n);
		i += n;
		if (i < size)
			quote_byte(b[i], i + 1 < size && isdigit(b[i + 1]), out);
		i++;
	}
	ray_text_add(out, is_cut ? "\"..." : "\"");
}

static void add_name(struct ray_text *out, size_t start, const char *name)
{
	if (out->length > start)
		ray_text_add(out, "|");
	ray_text_add(out, name);
}

static void print_flags(const struct ray_name_set *set, uint64_t value, struct ray_text *out)
{
	uint64_t rest = value & ~set->choice;
	size_t start = out->length;
	const char *name;

	name = set->choice ? ray_value_name(set, value & set->choice) : value ? NULL : ray_value_name(set, 0);
	if (name)
		add_name(out, start, name);
	else if (value & set->choice)
		rest = value;
	for (size_t i = 0; i < set->count && rest; i++) {
		uint64_t bits = set->rows[i].value;

		if (!bits || bits & set->choice || (rest & bits) != bits)
			continue;
		add_name(out, start, set->rows[i].name);
		rest &= ~bits;
	}
	if (rest || out->length == start)
		ray_text_printf(out, rest ? "%s%#" PRIx64 : "%s%" PRIx64, out->length > start ? "|" : "", rest);
}

void ray_call_print_names(const char *name, size_t length, uint64_t value, struct ray_text *out)
{
	const struct ray_name_set *set = ray_name_set_find(name, length);
	const char *found;

	if (set && set->is_flags) {
		print_flags(set, value, out);
		return;
	}
	found = set ? ray_value_name(set, value) : NULL;
	if (found)
		ray_text_add(out, found);
	else if (value > INT32_MAX)
		ray_text_printf(out, "%#" PRIx64, value);
	else
		ray_text_add_unsigned(out, value, 1);
}

void ray_call_print_signals(uint64_t set, struct ray_text *out)
{
	static const char list[] = "signal";
	bool is_inverted = __builtin_popcountll(set) > 32;
	const char *between = "";

	ray_text_add(out, is_inverted ? "~[" : "[");
	for (int i = 0; i < 64; i++) {
		const struct ray_name_set *names = ray_name_set_find(list, sizeof(list) - 1);
		const char *name = ray_value_name(names, (uint64_t)i + 1);

		if (!!(set >> i & 1) == is_inverted)
			continue;
		if (name)
			ray_text_printf(out, "%s%s", between, name + 3);
		else
			ray_text_printf(out, "%sRT_%d", between, i + 1 - 32);
		between = " ";
	}
	ray_text_add(out, "]");
}

/* ---- addresses of sockets ---- */

static void print_inet(const struct ray_text *bytes, struct ray_text *out)
{
	struct sockaddr_in a = { 0 };
	char text[INET_ADDRSTRLEN];

	memcpy(&a, bytes->bytes, bytes->length < sizeof(a) ? bytes->length : sizeof(a));
	inet_ntop(AF_INET, &a.sin_addr, text, sizeof(text));
	ray_text_printf(out, "{sa_family=AF_INET, sin_port=htons(%u), sin_addr=inet_addr(\"%s\")}", ntohs(a.sin_port),
			text);
}

static void print_inet6(const struct ray_text *bytes, struct ray_text *out)
{
	struct sockaddr_in6 a = { 0 };
	char text[INET6_ADDRSTRLEN];

	memcpy(&a, bytes->bytes, bytes->length < sizeof(a) ? bytes->length : sizeof(a));
	inet_ntop(AF_INET6, &a.sin6_addr, text, sizeof(text));
	ray_text_printf(out, "{sa_family=AF_INET6, sin6_port=htons(%u), sin6_addr=\"%s\"", ntohs(a.sin6_port), text);
	if (a.sin6_flowinfo)
		ray_text_printf(out, ", sin6_flowinfo=%#x", ntohl(a.sin6_flowinfo));
	if (a.sin6_scope_id)
		ray_text_printf(out, ", sin6_scope_id=%u", a.sin6_scope_id);
	ray_text_add(out, "}");
}

/* An abstract name begins with a NUL, and ends with the address. */
static void print_unix(const struct ray_text *bytes, struct ray_text *out)
{
	const char *path = bytes->bytes + offsetof(struct sockaddr_un, sun_path);
	size_t length = bytes->length - offsetof(struct sockaddr_un, sun_path);

	ray_text_add(out, "{sa_family=AF_UNIX");
	if (length && path[0]) {
		ray_text_add(out, ", sun_path=");
		ray_call_quote(path, strnlen(path, length), false, out);
	} else if (length) {
		ray_text_add(out, ", sun_path=@");
		ray_call_quote(path + 1, length - 1, false, out);
	}
	ray_text_add(out, "}");
}

void ray_call_print_sockaddr(const struct ray_text *bytes, struct ray_text *out)
{
	sa_family_t family;

	if (bytes->length < sizeof(family)) {
		ray_text_add(out, "{}");
		return;
	}
	memcpy(&family, bytes->bytes, sizeof(family));
	switch (family) {
	case AF_INET:
		print_inet(bytes, out);
		break;
	case AF_INET6:
		print_inet6(bytes, out);
		break;
	case AF_UNIX:
		print_unix(bytes, out);
		break;
	default:
		ray_text_add(out, "{sa_family=");
		ray_call_print_names("domain", 6, family, out);
		if (bytes->length > sizeof(family)) {
			ray_text_add(out, ", sa_data=");
			ray_call_quote(bytes->bytes + sizeof(family), bytes->length - sizeof(family), false, out);
		}
		ray_text_add(out, "}");
	}
}
