/* syscall_struct.c - what the arguments of system calls point to, as text. See syscall.h. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "view/syscall.h"

enum { IOVS_SHOWN = 4, IOVS_WITH_BYTES = 2 };

/* ---- vectors ---- */

static void print_iov(const struct ray_call_seen *s, const struct ray_text *bytes, uint64_t count, bool is_out,
		      struct ray_text *out)
{
	uint64_t left = is_out ? (s->result > 0 ? (uint64_t)s->result : 0) : UINT64_MAX;

	ray_text_add(out, "[");
	for (size_t i = 0; i < IOVS_SHOWN && (i + 1) * 16 <= bytes->length && i < count; i++) {
		const struct ray_call_memory *m = i < IOVS_WITH_BYTES ? &s->extras[i] : NULL;
		uint64_t iov[2], length;

		memcpy(iov, bytes->bytes + i * 16, 16);
		length = iov[1] < left ? iov[1] : left;
		ray_text_printf(out, "%s{iov_base=", i ? ", " : "");
		if (m && m->is_known && m->text.length)
			ray_call_quote(m->text.bytes, m->text.length < length ? m->text.length : length,
				       length > m->text.length, out);
		else
			ray_text_printf(out, "%#" PRIx64, iov[0]);
		ray_text_printf(out, ", iov_len=%" PRIu64 "}", iov[1]);
		left -= length;
	}
	ray_text_add(out, count > IOVS_SHOWN ? ", ...]" : "]");
}

static bool print_msghdr(const struct ray_call_seen *s, const struct ray_text *iovs, bool is_out, struct ray_text *out)
{
	const struct ray_call_memory *head = &s->extras[2], *peer = &s->extras[3];
	uint64_t words[7];

	if (!head->is_known || head->text.length < sizeof(words))
		return false;
	memcpy(words, head->text.bytes, sizeof(words));
	ray_text_add(out, "{msg_name=");
	if (words[0] && peer->is_known && peer->text.length)
		ray_call_print_sockaddr(&peer->text, out);
	else
		ray_text_printf(out, words[0] ? "%#" PRIx64 : "NULL", words[0]);
	ray_text_printf(out, ", msg_namelen=%u, msg_iov=", (unsigned int)words[1]);
	print_iov(s, iovs, words[3], is_out, out);
	ray_text_printf(out, ", msg_iovlen=%" PRIu64 ", msg_controllen=%" PRIu64 ", msg_flags=", words[3], words[5]);
	ray_call_print_names("msg", 3, (uint32_t)words[6], out);
	ray_text_add(out, "}");
	return true;
}

/* ---- structures ---- */

static void print_mode(uint32_t mode, struct ray_text *out)
{
	static const struct {
		uint32_t type;
		const char *name;
	} types[] = { { S_IFREG, "S_IFREG" }, { S_IFDIR, "S_IFDIR" }, { S_IFLNK, "S_IFLNK" }, { S_IFSOCK, "S_IFSOCK" },
		      { S_IFIFO, "S_IFIFO" }, { S_IFCHR, "S_IFCHR" }, { S_IFBLK, "S_IFBLK" } };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((mode & S_IFMT) == types[i].type)
			ray_text_printf(out, "%s|", types[i].name);
	ray_text_printf(out, "0%o", mode & 07777);
}

/* Offsets of the kernel's own structure, which the ABI fixes. */
static bool print_stat(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	uint32_t mode;
	int64_t size;

	if (s->result < 0 || b->length < 56)
		return false;
	memcpy(&mode, b->bytes + 24, 4);
	memcpy(&size, b->bytes + 48, 8);
	ray_text_add(out, "{st_mode=");
	print_mode(mode, out);
	ray_text_printf(out, ", st_size=%" PRId64 ", ...}", size);
	return true;
}

static bool print_statx(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	uint16_t mode;
	uint64_t size;
	uint32_t mask;

	if (s->result < 0 || b->length < 48)
		return false;
	memcpy(&mask, b->bytes, 4);
	memcpy(&mode, b->bytes + 28, 2);
	memcpy(&size, b->bytes + 40, 8);
	ray_text_add(out, "{stx_mask=");
	ray_call_print_names("statx", 5, mask, out);
	ray_text_add(out, ", stx_mode=");
	print_mode(mode, out);
	ray_text_printf(out, ", stx_size=%" PRIu64 ", ...}", size);
	return true;
}

static bool print_timespec(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	int64_t time[2];

	(void)s;
	if (b->length < sizeof(time))
		return false;
	memcpy(time, b->bytes, sizeof(time));
	ray_text_printf(out, "{tv_sec=%" PRId64 ", tv_nsec=%" PRId64 "}", time[0], time[1]);
	return true;
}

static bool print_rlimit(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	static const char *const names[] = { "rlim_cur", "rlim_max" };
	uint64_t limit[2];

	if (s->result < 0 || b->length < sizeof(limit))
		return false;
	memcpy(limit, b->bytes, sizeof(limit));
	for (int i = 0; i < 2; i++) {
		ray_text_printf(out, "%s%s=", i ? ", " : "{", names[i]);
		if (limit[i] == UINT64_MAX)
			ray_text_add(out, "RLIM64_INFINITY");
		else
			ray_text_printf(out, "%" PRIu64, limit[i]);
	}
	ray_text_add(out, "}");
	return true;
}

static bool print_open_how(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	uint64_t how[3];

	(void)s;
	if (b->length < sizeof(how))
		return false;
	memcpy(how, b->bytes, sizeof(how));
	ray_text_add(out, "{flags=");
	ray_call_print_names("open", 4, how[0], out);
	ray_text_printf(out, ", mode=0%03" PRIo64 ", resolve=%#" PRIx64 "}", how[1], how[2]);
	return true;
}

static bool print_two_fds(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	int32_t fds[2];

	if (s->result < 0 || b->length < sizeof(fds))
		return false;
	memcpy(fds, b->bytes, sizeof(fds));
	ray_text_printf(out, "[%d, %d]", fds[0], fds[1]);
	return true;
}

static void print_one_event(const char *bytes, struct ray_text *out)
{
	uint32_t events;
	uint64_t data;

	memcpy(&events, bytes, 4);
	memcpy(&data, bytes + 4, 8);
	ray_text_add(out, "{events=");
	ray_call_print_names("epoll", 5, events, out);
	ray_text_printf(out, ", data={u32=%u, u64=%" PRIu64 "}}", (uint32_t)data, data);
}

static bool print_epoll_event(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	(void)s;
	if (b->length < 12)
		return false;
	print_one_event(b->bytes, out);
	return true;
}

static bool print_epoll_events(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	if (s->result < 0)
		return false;
	ray_text_add(out, "[");
	for (size_t i = 0; (i + 1) * 12 <= b->length; i++) {
		ray_text_add(out, i ? ", " : "");
		print_one_event(b->bytes + i * 12, out);
	}
	ray_text_add(out, (uint64_t)s->result > b->length / 12 ? ", ...]" : "]");
	return true;
}

static bool print_pollfds(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	struct pollfd p;

	ray_text_add(out, "[");
	for (size_t i = 0; (i + 1) * sizeof(p) <= b->length; i++) {
		memcpy(&p, b->bytes + i * sizeof(p), sizeof(p));
		ray_text_printf(out, "%s{fd=%d, events=", i ? ", " : "", p.fd);
		ray_call_print_names("poll", 4, (uint16_t)p.events, out);
		if (s->result > 0 && p.revents) {
			ray_text_add(out, ", revents=");
			ray_call_print_names("poll", 4, (uint16_t)p.revents, out);
		}
		ray_text_add(out, "}");
	}
	ray_text_add(out, s->args[1] > b->length / sizeof(p) ? ", ...]" : "]");
	return true;
}

static bool print_sigset(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	uint64_t set;

	(void)s;
	if (b->length < sizeof(set))
		return false;
	memcpy(&set, b->bytes, sizeof(set));
	ray_call_print_signals(set, out);
	return true;
}

static bool print_clone_args(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	uint64_t words[8];

	(void)s;
	if (b->length < sizeof(words))
		return false;
	memcpy(words, b->bytes, sizeof(words));
	ray_text_add(out, "{flags=");
	ray_call_print_names("clone", 5, words[0], out);
	ray_text_add(out, ", exit_signal=");
	ray_call_print_names("signal", 6, words[4], out);
	ray_text_printf(out, ", stack=%#" PRIx64 ", stack_size=%#" PRIx64 ", ...}", words[5], words[6]);
	return true;
}

static bool print_wait_status(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	int status;

	if (s->result <= 0 || b->length < sizeof(status))
		return false;
	memcpy(&status, b->bytes, sizeof(status));
	if (WIFEXITED(status)) {
		ray_text_printf(out, "[{WIFEXITED(s) && WEXITSTATUS(s) == %d}]", WEXITSTATUS(status));
	} else if (WIFSIGNALED(status)) {
		ray_text_add(out, "[{WIFSIGNALED(s) && WTERMSIG(s) == ");
		ray_call_print_names("signal", 6, (uint64_t)WTERMSIG(status), out);
		ray_text_add(out, "}]");
	} else {
		ray_text_printf(out, "[%#x]", status);
	}
	return true;
}

static bool print_optval(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	int32_t value;

	(void)s;
	if (b->length != sizeof(value)) {
		ray_call_quote(ray_text_get(b), b->length, false, out);
		return true;
	}
	memcpy(&value, b->bytes, sizeof(value));
	ray_text_printf(out, "[%d]", value);
	return true;
}

static bool print_optval_out(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	return s->result >= 0 && print_optval(s, b, out);
}

static bool print_vector(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	print_iov(s, b, s->args[2], false, out);
	return true;
}

static bool print_vector_out(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	print_iov(s, b, s->args[2], true, out);
	return true;
}

static bool print_message(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	return print_msghdr(s, b, false, out);
}

static bool print_message_out(const struct ray_call_seen *s, const struct ray_text *b, struct ray_text *out)
{
	return print_msghdr(s, b, true, out);
}

static const struct {
	const char *word;
	bool (*print)(const struct ray_call_seen *s, const struct ray_text *bytes, struct ray_text *out);
} printers[] = {
	{ "stat", print_stat },
	{ "statx", print_statx },
	{ "timespec", print_timespec },
	{ "timespec_in", print_timespec },
	{ "rlimit", print_rlimit },
	{ "rlimit_out", print_rlimit },
	{ "open_how", print_open_how },
	{ "two_fds", print_two_fds },
	{ "epoll_event", print_epoll_event },
	{ "epoll_events", print_epoll_events },
	{ "pollfds", print_pollfds },
	{ "sigset", print_sigset },
	{ "clone_args", print_clone_args },
	{ "wait_status", print_wait_status },
	{ "optval", print_optval },
	{ "optval_out", print_optval_out },
	{ "iovec", print_vector },
	{ "iovec_out", print_vector_out },
	{ "msghdr", print_message },
	{ "msghdr_out", print_message_out },
};

bool ray_call_print_struct(const struct ray_call_seen *s, const char *word, const struct ray_text *bytes,
			   struct ray_text *out)
{
	for (size_t i = 0; i < sizeof(printers) / sizeof(printers[0]); i++)
		if (strcmp(printers[i].word, word) == 0)
			return printers[i].print(s, bytes, out);
	return false;
}
