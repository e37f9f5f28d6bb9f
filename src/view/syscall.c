/* syscall.c - the arguments and the result of a call as text. See syscall.h. SPDX-License-Identifier: MIT */
#include "view/syscall.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "view/socket.h"

const char *ray_call_name(const struct ray_syscall *call)
{
	return call->alias ? call->alias : call->name;
}

/* ---- what the table says ---- */

struct word {
	const char *at;
	size_t length;
};

static bool is_word(const struct word *w, const char *text)
{
	return strlen(text) == w->length && memcmp(text, w->at, w->length) == 0;
}

/* The word of argument i; false past the last. */
static bool word_at(const struct ray_call_seen *s, size_t i, struct word *ret)
{
	const char *at = s->call ? s->call->shown : "";

	for (;; i--) {
		ret->at = at;
		ret->length = strcspn(at, " ");
		if (!ret->length || *at == '=')
			return false;
		if (!i)
			return true;
		at += ret->length;
		at += *at == ' ';
	}
}

/* The C type of argument i is as wide as a register. */
static bool is_wide(const struct ray_call_seen *s, size_t i)
{
	const char *at = s->call->parameters, *end;

	for (; i && at; i--) {
		at = strstr(at, ", ");
		at = at ? at + 2 : NULL;
	}
	if (!at)
		return true;
	end = strstr(at, ", ");
	for (const char *const *w =
		     (const char *const[]){ "long", "size_t", "off_t", "loff_t", "u64", "aio_context_t", "*", NULL };
	     *w; w++) {
		const char *found = strstr(at, *w);

		if (found && (!end || found < end))
			return true;
	}
	return false;
}

/* What the other registers hold is nobody's. */
static size_t futex_args(const struct ray_call_seen *s)
{
	switch (s->args[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_UNLOCK_PI:
		return 3;
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
		return 4;
	default:
		return 6;
	}
}

size_t ray_call_arg_count(const struct ray_call_seen *s)
{
	struct word w;
	size_t n = 0;

	if (!s->call)
		return RAY_CALL_ARGS;
	if (s->call->number == SYS_futex)
		return futex_args(s);
	if (s->call->number == SYS_prctl)
		return s->args[0] == PR_SET_VMA ? 5 : 2;
	if (s->call->number == SYS_fcntl && (s->args[1] == F_GETFD || s->args[1] == F_GETFL))
		return 2;
	if (s->call->number == SYS_execve && s->result == 0)
		return 2; /* a new program has new registers */
	while (n < RAY_CALL_ARGS && word_at(s, n, &w)) {
		/* A mode is passed only when a file may be made. */
		if (is_word(&w, "mode") && n && word_at(s, n - 1, &w) && is_word(&w, "flags:open") &&
		    !(s->args[n - 1] & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))))
			break;
		n++;
	}
	return n;
}

/* ---- plain values ---- */

static void print_int(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	ray_text_add_signed(out, is_wide(s, i) ? (int64_t)s->args[i] : (int64_t)(int32_t)s->args[i]);
}

static void print_uint(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	ray_text_add_unsigned(out, is_wide(s, i) ? s->args[i] : (uint64_t)(uint32_t)s->args[i], 1);
}

static void print_id(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	ray_text_add_signed(out, (int)s->args[i]);
}

static void print_hex(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	uint64_t value = is_wide(s, i) ? s->args[i] : (uint32_t)s->args[i];

	ray_text_printf(out, value ? "%#" PRIx64 : "%" PRIx64, value);
}

static void print_pointer(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	if (s->args[i])
		ray_text_printf(out, "%#" PRIx64, s->args[i]);
	else
		ray_text_add(out, "NULL");
}

static void print_mode(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	ray_text_printf(out, "0%03o", (unsigned int)s->args[i]);
}

void ray_call_print_file(const struct ray_call_seen *s, int64_t fd, size_t name, struct ray_text *out)
{
	const struct ray_call_memory *socket = &s->sockets[name];
	ray_auto_text ends = { 0 };

	ray_text_add_signed(out, fd);
	if (fd < 0 || !s->files[name].is_known || !s->files[name].text.length)
		return;
	if (socket->is_known)
		ray_socket_print(socket->text.bytes, socket->text.length, &ends);
	if (ends.length) {
		ray_text_printf(out, "<%s>", ray_text_get(&ends));
		return;
	}
	if (strcmp(ray_text_get(&s->files[name].text), "<none>") == 0 ||
	    strcmp(ray_text_get(&s->files[name].text), "<unknown>") == 0)
		return;
	ray_text_add(out, "<");
	ray_text_add_safe(out, ray_text_get(&s->files[name].text), s->files[name].text.length);
	ray_text_add(out, ">");
}

static void print_fd(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	ray_call_print_file(s, (int32_t)s->args[i], i, out);
}

static void print_dirfd(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	if ((int32_t)s->args[i] == AT_FDCWD)
		ray_text_add(out, "AT_FDCWD");
	else
		print_fd(s, i, out);
}

/* ---- memory ---- */

/* A string that was cut ends with a NUL of its own. */
static void print_string(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	const struct ray_call_memory *m = &s->memory[i];
	bool is_cut = m->text.length && !m->text.bytes[m->text.length - 1];

	if (m->is_known)
		ray_call_quote(ray_text_get(&m->text), m->text.length - is_cut, is_cut, out);
	else
		print_pointer(s, i, out);
}

static void print_bytes(const struct ray_call_seen *s, size_t i, uint64_t total, struct ray_text *out)
{
	const struct ray_call_memory *m = &s->memory[i];

	if (m->is_known && s->args[i])
		ray_call_quote(ray_text_get(&m->text), m->text.length, total > m->text.length, out);
	else
		print_pointer(s, i, out);
}

static void print_in(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	print_bytes(s, i, s->args[i + 1], out);
}

/* What was not filled has no contents. */
static void print_out(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	if (s->result < 0)
		print_pointer(s, i, out);
	else
		print_bytes(s, i, (uint64_t)s->result, out);
}

static void print_sockaddr(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	if (s->args[i] && s->memory[i].is_known && s->memory[i].text.length >= sizeof(sa_family_t))
		ray_call_print_sockaddr(&s->memory[i].text, out);
	else
		print_pointer(s, i, out);
}

/* The first words of a program's arguments. */
static void print_words(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	size_t n = 0;

	while (n < RAY_CALL_EXTRAS && s->extras[n].is_known)
		n++;
	if (!n) {
		print_pointer(s, i, out);
		return;
	}
	for (size_t k = 0; k < n; k++) {
		const struct ray_text *word = &s->extras[k].text;
		bool is_cut = word->length && !word->bytes[word->length - 1];

		ray_text_add(out, k ? ", " : "[");
		ray_call_quote(ray_text_get(word), word->length - is_cut, is_cut, out);
	}
	ray_text_add(out, n == RAY_CALL_EXTRAS ? ", ...]" : "]");
}

/* Where the kernel stores how long the address is: that is in the address already. */
static void print_length(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	if (i && s->memory[i - 1].is_known && s->args[i] && s->result >= 0)
		ray_text_printf(out, "[%zu]", s->memory[i - 1].text.length);
	else
		print_pointer(s, i, out);
}

/* ---- values that depend on others ---- */

static void print_sockopt(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	switch ((int)s->args[i - 1]) {
	case SOL_SOCKET:
		ray_call_print_names("so", 2, s->args[i], out);
		break;
	case IPPROTO_TCP:
		ray_call_print_names("tcp", 3, s->args[i], out);
		break;
	case IPPROTO_IP:
		ray_call_print_names("ip", 2, s->args[i], out);
		break;
	case IPPROTO_IPV6:
		ray_call_print_names("ipv6", 4, s->args[i], out);
		break;
	default:
		print_int(s, i, out);
	}
}

/* Numbers of protocols mean something within a family. */
static void print_protocol(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	if (s->args[0] == AF_INET || s->args[0] == AF_INET6)
		ray_call_print_names("protocol", 8, s->args[i], out);
	else
		print_int(s, i, out);
}

static void print_futex_op(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	ray_call_print_names("futex", 5, s->args[i] & FUTEX_CMD_MASK, out);
	if (s->args[i] & FUTEX_PRIVATE_FLAG)
		ray_text_add(out, "_PRIVATE");
	if (s->args[i] & FUTEX_CLOCK_REALTIME)
		ray_text_add(out, "|FUTEX_CLOCK_REALTIME");
}

static void print_fcntl_arg(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	switch (s->args[i - 1]) {
	case F_SETFD:
		ray_call_print_names("fd_flags", 8, s->args[i], out);
		break;
	case F_SETFL:
		ray_call_print_names("open", 4, s->args[i], out);
		break;
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
		print_pointer(s, i, out);
		break;
	default:
		print_int(s, i, out);
	}
}

static void print_prctl_arg(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	if (s->args[0] == PR_SET_NAME)
		print_string(s, i, out);
	else
		print_hex(s, i, out);
}

/* ---- all ---- */

static const struct {
	const char *word;
	void (*print)(const struct ray_call_seen *s, size_t i, struct ray_text *out);
} printers[] = {
	{ "int", print_int },
	{ "uint", print_uint },
	{ "id", print_id },
	{ "hex", print_hex },
	{ "ptr", print_pointer },
	{ "mode", print_mode },
	{ "fd", print_fd },
	{ "dirfd", print_dirfd },
	{ "path", print_string },
	{ "str", print_string },
	{ "in", print_in },
	{ "out", print_out },
	{ "sockaddr", print_sockaddr },
	{ "sockaddr_out", print_sockaddr },
	{ "argv", print_words },
	{ "prctl_arg", print_prctl_arg },
	{ "length", print_length },
	{ "sockopt", print_sockopt },
	{ "protocol", print_protocol },
	{ "futex_op", print_futex_op },
	{ "fcntl_arg", print_fcntl_arg },
};

/* "flags:open": behind the colon. */
static bool named_list(const struct word *w, struct word *ret)
{
	const char *colon = memchr(w->at, ':', w->length);

	if (!colon)
		return false;
	*ret = (struct word){ colon + 1, w->length - (size_t)(colon + 1 - w->at) };
	return true;
}

void ray_call_print_arg(const struct ray_call_seen *s, size_t i, struct ray_text *out)
{
	struct word w, list;
	char name[32];

	if (!word_at(s, i, &w)) {
		ray_text_printf(out, "%#" PRIx64, s->args[i]);
		return;
	}
	if (named_list(&w, &list)) {
		ray_call_print_names(list.at, list.length, is_wide(s, i) ? s->args[i] : (uint32_t)s->args[i], out);
		return;
	}
	for (size_t k = 0; k < sizeof(printers) / sizeof(printers[0]); k++)
		if (is_word(&w, printers[k].word)) {
			printers[k].print(s, i, out);
			return;
		}
	snprintf(name, sizeof(name), "%.*s", (int)w.length, w.at);
	if (!s->args[i] || !s->memory[i].is_known || !ray_call_print_struct(s, name, &s->memory[i].text, out))
		print_pointer(s, i, out);
}
