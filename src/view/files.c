/* files.c - the list of open descriptors on a terminal. See files.h. SPDX-License-Identifier: MIT */
#include "view/files.h"

#include <inttypes.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "view/table.h"

enum { GAP = 2, FD_WIDTH = 4, FLAGS_WIDTH = 6 };

struct layout {
	FILE *out;
	size_t width;  /* 0: no limit */
	size_t indent; /* where names begin */
	size_t column; /* where we are in the line */
};

static size_t type_width(const struct ray_files *files)
{
	size_t i, width = strlen("TYPE"), n;

	for (i = 0; i < files->n; i++) {
		n = strlen(ray_file_type_name(files->at[i].type));
		if (n > width)
			width = n;
	}
	return width;
}

/* One fact: on this line if it fits, else on the next; cut only where it is longer than a whole line. */
static void put(struct layout *l, const char *text, enum ray_cut cut)
{
	size_t width = ray_text_width(text), room;
	ray_auto_text shown = { 0 };

	if (!*text)
		return;
	if (l->column > l->indent && l->width && l->column + GAP + width > l->width) {
		fprintf(l->out, "\n%*s", (int)l->indent, "");
		l->column = l->indent;
	} else if (l->column > l->indent) {
		fprintf(l->out, "%*s", GAP, "");
		l->column += GAP;
	}
	room = l->width > l->column + 8 ? l->width - l->column : 8;
	if (l->width && width > room) {
		ray_view_cut(&shown, text, room, cut);
		text = ray_text_get(&shown);
		width = room;
	}
	fputs(text, l->out);
	l->column += width;
}

static void print_line(struct layout *l, const struct ray_file *f, size_t types)
{
	ray_auto_text name = { 0 }, detail = { 0 }, use = { 0 }, bracketed = { 0 };
	char flags[16];

	ray_view_file_flags(f, flags);
	ray_view_file_name(f, &name);
	ray_view_file_detail(f, &detail);
	ray_view_file_use(f, &use);
	if (use.length)
		ray_text_printf(&bracketed, "[%s]", ray_text_get(&use));
	fprintf(l->out, "%*d %-*s %-*s", FD_WIDTH, f->fd, (int)types, ray_file_type_name(f->type), FLAGS_WIDTH, flags);
	if (name.length + detail.length + use.length)
		fputc(' ', l->out);
	l->column = l->indent;
	put(l, ray_text_get(&name), RAY_CUT_START);
	put(l, ray_text_get(&detail), RAY_CUT_END);
	put(l, ray_text_get(&bracketed), RAY_CUT_END);
	fputc('\n', l->out);
}

void ray_view_files(const struct ray_files *files, size_t width, FILE *out)
{
	size_t i, types = type_width(files);
	struct layout l = { .out = out, .width = width, .indent = FD_WIDTH + 1 + types + 1 + FLAGS_WIDTH + 1 };

	if (!files->n)
		return;
	fprintf(out, "%*s %-*s %-*s %s\n", FD_WIDTH, "FD", (int)types, "TYPE", FLAGS_WIDTH, "FLAGS",
		"NAME, STATE, [USE BY LIBUV]");
	for (i = 0; i < files->n; i++)
		print_line(&l, &files->at[i], types);
}

static void fact(FILE *out, const char *key, const char *value)
{
	if (*value)
		fprintf(out, "      %-7s %s\n", key, value);
}

static void print_stat(const struct ray_file *f, FILE *out)
{
	ray_auto_text text = { 0 };

	if (f->inode)
		ray_text_printf(&text, "%" PRIu64, f->inode);
	if (f->has_stat)
		ray_text_printf(&text, " on device %u:%u, mode %04o", major(f->dev), minor(f->dev), f->mode & 07777);
	if (f->has_stat && f->rdev)
		ray_text_printf(&text, ", is device %u:%u", major(f->rdev), minor(f->rdev));
	fact(out, "inode", ray_text_get(&text));
}

static void print_queues(const struct ray_socket *s, FILE *out)
{
	bool listens = !strcmp(s->state, "LISTEN");
	ray_auto_text text = { 0 };

	if (!s->has_queues)
		return;
	ray_text_printf(&text, "%" PRIu64 "%s", s->recv_queue, listens ? " to accept" : " bytes to read");
	if (!listens)
		ray_text_printf(&text, ", %" PRIu64 " bytes to send", s->send_queue);
	else if (s->has_backlog)
		ray_text_printf(&text, ", backlog %" PRIu64, s->send_queue);
	if (s->retransmits)
		ray_text_printf(&text, ", %u retransmits", s->retransmits);
	fact(out, "queues", ray_text_get(&text));
}

static void print_peers(const struct ray_file *f, FILE *out)
{
	ray_auto_text text = { 0 };
	size_t i;

	for (i = 0; i < f->peer_count; i++) {
		ray_text_clear(&text);
		ray_text_printf(&text, "process %d", f->peers[i].pid);
		if (*f->peers[i].comm) {
			ray_text_add(&text, " (");
			ray_text_add_safe(&text, f->peers[i].comm, strlen(f->peers[i].comm));
			ray_text_add(&text, ")");
		}
		ray_text_printf(&text, ", fd %d", f->peers[i].fd);
		fact(out, "peer", ray_text_get(&text));
	}
}

static void print_socket(const struct ray_socket *s, FILE *out)
{
	ray_auto_text text = { 0 };

	fact(out, "state", s->state);
	ray_text_add_safe(&text, s->local, strlen(s->local));
	fact(out, "local", ray_text_get(&text));
	ray_text_clear(&text);
	ray_text_add_safe(&text, s->remote, strlen(s->remote));
	fact(out, "remote", ray_text_get(&text));
	print_queues(s, out);
}

static void print_all(const struct ray_file *f, FILE *out)
{
	ray_auto_text text = { 0 };
	char flags[256];

	ray_view_file_name(f, &text);
	fprintf(out, "%*d: %s%s%s\n", FD_WIDTH, f->fd, ray_file_type_name(f->type), text.length ? "  " : "",
		ray_text_get(&text));
	if (f->info.has_flags) {
		ray_file_flags_text(f->info.flags, flags, sizeof(flags));
		fact(out, "flags", flags);
	}
	if (!f->socket) {
		ray_text_clear(&text);
		ray_view_file_detail(f, &text);
		fact(out, "offset", ray_text_get(&text));
	}
	print_stat(f, out);
	if (f->socket)
		print_socket(f->socket, out);
	print_peers(f, out);
	ray_text_clear(&text);
	ray_view_file_use(f, &text);
	if (text.length && f->loop >= 0)
		ray_text_printf(&text, " (loop of fd %d)", f->loop);
	fact(out, "libuv", ray_text_get(&text));
}

void ray_view_files_verbose(const struct ray_files *files, FILE *out)
{
	size_t i;

	for (i = 0; i < files->n; i++)
		print_all(&files->at[i], out);
}
